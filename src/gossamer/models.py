"""Records held against the model their author declared: a msgspec Struct, a dataclass or a pydantic model."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gossamer.errors import ConfigError

#: A record in, the validated one out; raises ValueError with a sentence that names the field.
Check = Callable[[Mapping[str, Any]], Any]

_AT = re.compile(r"^(.*?)(?: - at `\$?\.?(.*?)`)?$", re.DOTALL)


def is_model(value: Any) -> bool:
    """Whether this is a class that records can be held against."""
    return isinstance(value, type) and (
        issubclass(value, msgspec.Struct) or dataclasses.is_dataclass(value) or hasattr(value, "model_validate")
    )


def check_of(model: Any, where: str) -> Check:
    """What holds records against a model. Raises ConfigError if the model cannot be used."""
    if not is_model(model):
        if hasattr(model, "parse_obj") and hasattr(model, "__fields__"):
            raise ConfigError(f"{where}: {model.__name__} is a model of pydantic 1: make it one of pydantic 2")
        raise ConfigError(
            f"{where} = {model!r:.80} cannot be used: give a msgspec Struct, a dataclass or a pydantic model"
        )
    wrong = _wrong(model)
    if wrong:
        raise ConfigError(f"{where}: {model.__name__} has a type that records cannot be held against: {wrong}")
    return _pydantic(model) if hasattr(model, "model_validate") else _msgspec(model)


def _wrong(model: Any) -> str:
    """Why a model cannot be used; empty if it can."""
    try:
        if hasattr(model, "model_validate"):
            model.model_rebuild()  # what it names may have come after it
            return ""
        info = msgspec.inspect.type_info(model)
    except Exception as why:  # noqa: BLE001 - pydantic's own, which is not imported for it
        return str(why).partition("\n")[0]
    if getattr(info, "array_like", False):
        return "it is array_like, and has no named fields"
    foreign = _foreign(info, set())
    return f"{foreign} is no type that JSON has" if foreign else ""


def _foreign(info: Any, known: set[int]) -> str:
    """A type within another that no JSON can become; empty if there is none."""
    if id(info) in known:  # records may hold records of their own kind
        return ""
    known.add(id(info))
    if isinstance(info, msgspec.inspect.CustomType):
        return getattr(info.cls, "__name__", str(info.cls))
    if isinstance(info, tuple | list):
        return next(filter(None, (_foreign(each, known) for each in info)), "")
    if not isinstance(info, msgspec.inspect.Type | msgspec.inspect.Field):
        return ""
    parts = (getattr(info, name) for name in info.__struct_fields__ if name not in ("default", "default_factory"))
    return next(filter(None, (_foreign(each, known) for each in parts)), "")


def _msgspec(model: Any) -> Check:
    def check(record: Mapping[str, Any]) -> Any:
        try:
            # Texts become numbers and dates where the model wants those: pages hold nothing but text.
            return msgspec.convert(record, model, strict=False, from_attributes=False)
        except msgspec.ValidationError as why:
            raise ValueError(_told(str(why))) from None

    return check


def _told(said: str) -> str:
    """msgspec's `Expected `int`, got `str` - at `$.price`` as a sentence that begins with the field."""
    match = _AT.match(said)
    what, path = (match[1], match[2]) if match else (said, None)
    plain = what.replace("`", "").replace("Expected", "expected").replace("Object missing", "it lacks the")
    return f"{path}: {plain}" if path else plain


def _pydantic(model: Any) -> Check:
    def check(record: Mapping[str, Any]) -> Any:
        try:
            return model.model_validate(dict(record))
        except ValueError as why:  # pydantic's own is one
            errors = getattr(why, "errors", None)
            raise ValueError(_told_all(errors(include_url=False)) if errors else str(why)) from None

    return check


def _told_all(errors: list[dict[str, Any]]) -> str:
    told = [f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}" for each in errors[:5]]
    return "; ".join(told)
