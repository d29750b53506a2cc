"""From what a handler yields to an Item: through the scraper's steps, past its model, under its key."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gossamer import models, urls
from gossamer.errors import ConfigError, GossamerError, ReadError, Rejected
from gossamer.models import Check
from gossamer.parse.page import Page
from gossamer.steps import Step, as_step
from gossamer.values import Item, Lacking, Reject

_FIELD = re.compile(r"[\w-]{1,100}", re.ASCII)
#: The kind of an item that is a plain dict, unless its scraper says otherwise.
KIND = "item"
#: Letters of the reason why a record was rejected: it may quote the page.
LONGEST_REASON = 1_000


class NoKey(ReadError):
    """A record lacks what its scraper names as key."""


class NotJson(ReadError):
    """A record holds text or depth that JSON has no place for: what a page had in it, not what the author wrote."""


def _foreign(value: Any) -> Any:
    """What msgspec does not know: pydantic models, and things that are no data."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    raise ReadError(f"an item holds a {type(value).__name__}, which JSON cannot: {str(value)[:80]!r}")


_encoder = msgspec.json.Encoder(enc_hook=_foreign)
_sorted_encoder = msgspec.json.Encoder(enc_hook=_foreign, order="deterministic")


class Pipeline:
    """What the records of one scraper pass. Made once for a run."""

    def __init__(self, scraper: Any) -> None:
        """Raises ConfigError for steps or models that cannot be used."""
        name = scraper.__name__ if isinstance(scraper, type) else type(scraper).__name__
        self._key = _key_fields(scraper.key, name)
        self._kind = _kind(scraper.kind, name)
        self._steps = _steps(scraper, name)
        self._checks = _checks(scraper.item, self._kind, name)
        self._known = ", ".join(sorted(kind for kind in self._checks if kind))
        #: Checks of models whose instances were yielded, by their classes.
        self._own: dict[type, Check] = {}
        self._plain = not self._steps and not self._checks
        self._volatile = _volatile(scraper.volatile, name)

    @property
    def reading(self) -> dict[str, Any]:
        """What a run writes down about how its pages were read."""
        told: dict[str, Any] = {"volatile": list(self._volatile)} if self._volatile else {}
        if self._steps:
            told["steps"] = [each.label for each in self._steps]
        if self._checks:
            told["models"] = {kind or KIND: name for kind, (name, _) in self._checks.items()}
        return told

    def item(self, value: Any, page: Page) -> Item | Reject:
        """What a yielded value becomes. Raises ReadError if it is no record at all, or a step is broken."""
        if isinstance(value, Lacking):
            return _rejected(value.kind or self._kind, value.record, value.step, value.reason)
        try:
            if self._plain and (type(value) is dict or isinstance(value, Item)):
                return item_of(value, self._key, self._kind)
            return self._through(value, page)
        except NoKey as why:
            return _rejected(self._kind, value, "key", str(why))
        except NotJson as why:
            return _rejected(self._kind, value, "json", str(why))

    def _through(self, value: Any, page: Page) -> Item | Reject:
        kind, key, record = self._begun(value)
        step = "model"
        try:
            for each in self._steps:
                step = each.name
                record = _stepped(each, record, page)
            step = "model"
            checked = self._checked(value, kind, record)
            step = "key"
            own = next((each.key for each in self._steps if each.key is not None), None)
            if key is None and own is not None:
                key = own(record)
            made = item_of(checked, self._key if key is None else None, kind)
            return made if key is None else msgspec.structs.replace(made, key=key)
        except (Rejected, NoKey) as why:
            return _rejected(kind, record, step, str(why) or "no reason was given")
        except ValueError as why:
            return _rejected(kind, record, step, str(why))

    def _begun(self, value: Any) -> tuple[str, str | None, dict[str, Any]]:
        """The kind of a value, its key if it has one of its own, and its record as the steps get it."""
        if isinstance(value, Item):
            return value.kind, value.key, item_of(value, None).record()
        kind = item_of(value, None, self._kind).kind if type(value) is not dict else self._kind
        if kind == KIND and None in self._checks:
            kind = self._checks[None][0].lower()
        return kind, None, dict(value) if isinstance(value, Mapping) else _plain(value)

    def _checked(self, value: Any, kind: str, record: dict[str, Any]) -> Any:
        """The record, held against the model of its kind, or the one it was made of. Raises ValueError."""
        found = self._checks.get(kind) or self._checks.get(None)
        if found is not None:
            return found[1](record)
        if self._known and kind == KIND and isinstance(value, Mapping):
            raise ValueError(f"a plain dict is of kind {KIND!r}, and only {self._known} have models: say which it is")
        model = type(value)
        if isinstance(value, Item) or not models.is_model(model) or hasattr(model, "model_validate"):
            return record
        if model not in self._own:
            self._own[model] = models.check_of(model, model.__name__)
        return self._own[model](record)


def _key_fields(given: Any, name: str) -> str | tuple[str, ...] | None:
    if given is None or (isinstance(given, str) and given):
        return given
    if isinstance(given, list | tuple) and given and all(isinstance(field, str) and field for field in given):
        return tuple(given)
    raise ConfigError(f"{name}.key = {given!r:.80} cannot be used: write the name of a field, or several in a tuple")


def _kind(given: Any, name: str) -> str:
    if not isinstance(given, str) or not given:
        raise ConfigError(f"{name}.kind = {given!r:.80} cannot be used: write a word, like 'quote'")
    return given


def _steps(scraper: Any, name: str) -> tuple[Step, ...]:
    given = scraper.steps
    if getattr(given, "__self__", None) is scraper and not isinstance(scraper, type):
        given = given.__func__  # one function, which stands in the class and was taken for a method
    try:
        found = tuple(as_step(each) for each in (given if isinstance(given, list | tuple) else (given,)))
    except ConfigError as why:
        raise ConfigError(f"{name}.steps: {why}") from None
    names = [each.name for each in found]
    if len(set(names)) != len(names):
        raise ConfigError(f"{name}.steps: two are called alike ({', '.join(names)}): give each a name of its own")
    return found


def _volatile(given: Any, name: str) -> tuple[str, ...]:
    fields = (given,) if not isinstance(given, list | tuple | set | frozenset) else tuple(given)
    for field in fields:
        if not isinstance(field, str) or not _FIELD.fullmatch(field):
            raise ConfigError(f"{name}.volatile: {field!r} is no name of a field: letters, digits, _ and - make one")
    return fields


def _checks(given: Any, kind: str, name: str) -> dict[str | None, tuple[str, Check]]:
    """Kind -> the model's name and what holds records against it; None: any kind."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return {None if kind == KIND else kind: (_name(given), models.check_of(given, f"{name}.item"))}
    for each in given:
        if not isinstance(each, str) or not each:
            raise ConfigError(f"{name}.item: {each!r} is no kind: write a dict from kinds, which are texts, to models")
    return {each: (_name(model), models.check_of(model, f"{name}.item[{each!r}]")) for each, model in given.items()}


def _name(model: Any) -> str:
    return getattr(model, "__name__", str(model))


def _stepped(step: Step, record: dict[str, Any], page: Page) -> dict[str, Any]:
    try:
        given = step(record, page)
    except GossamerError:
        raise
    except Exception as why:  # a ValueError would pass for a record that is not valid, and this is a broken step
        raise ReadError(f"step {step.name}: {type(why).__name__}: {why}") from why
    if not isinstance(given, dict):
        raise ReadError(
            f"step {step.name} gave {given!r:.80}: return the record, or raise Rejected('why it is not wanted')"
        )
    return given


def _plain(value: Any) -> dict[str, Any]:
    """A struct, dataclass or pydantic model as the dict that its JSON is."""
    found: dict[str, Any] = msgspec.json.decode(_encoder.encode(value))
    return found


def _rejected(kind: str, record: Any, step: str, reason: str) -> Reject:
    return Reject(kind, _json(record), step, reason[:LONGEST_REASON])


def _json(record: Any) -> str:
    """A record as JSON, whatever is in it."""
    try:
        return _encoder.encode(record).decode()
    except (ReadError, TypeError, ValueError, RecursionError):
        return msgspec.json.encode({"record": repr(record)[:10_000]}).decode()


def item_of(value: Any, key: str | tuple[str, ...] | None, kind: str = KIND) -> Item:
    """The Item for a yielded dict, dataclass, msgspec Struct, pydantic model or Item.

    Its key is what the fields named by `key` hold; without them, a digest of the whole record.
    Raises ReadError, saying what was yielded.
    """
    if isinstance(value, Item):
        return _whole(value)
    if isinstance(value, Mapping):
        name = kind
    elif isinstance(value, msgspec.Struct) or dataclasses.is_dataclass(value) or hasattr(value, "model_dump"):
        name = type(value).__name__.lower() if kind == KIND else kind
    else:
        raise ReadError(
            f"a handler yielded {value!r:.80} ({type(value).__name__}): yield a dict, a dataclass, a msgspec "
            "struct, a pydantic model, or a Request"
        )
    try:
        data = _encoder.encode(value).decode()
        if not data.startswith("{"):
            raise ReadError(f"a handler yielded {value!r:.80}, which has no named fields: yield a dict")
        return Item(name, _key(value, data, key), data)
    except (TypeError, ValueError, RecursionError) as why:
        raise NotJson(f"an item cannot be written as JSON: {why}") from None


def _whole(item: Item) -> Item:
    """An Item made by hand, if it is one that can be kept."""
    try:
        if isinstance(item.kind, str) and isinstance(item.key, str) and isinstance(item.record(), dict):
            return item
    except (msgspec.DecodeError, TypeError, ValueError, RecursionError):
        pass
    raise ReadError(f"{item!r:.200} is no item: its kind and key are texts, its data a JSON object; see Item.of")


def _key(value: Any, data: str, key: str | tuple[str, ...] | None) -> str:
    if key is None:
        try:
            return urls.digest(_sorted_encoder.encode(value))
        except TypeError:  # names that are no texts, but become ones in JSON
            return urls.digest(_sorted_encoder.encode(msgspec.json.decode(data)))
    record = msgspec.json.decode(data)
    parts = []
    for name in (key,) if isinstance(key, str) else key:
        part = record.get(name)
        if part is None:
            raise NoKey(f"an item has no {name!r}, which its scraper names as key")
        parts.append(part if isinstance(part, str) else _sorted_encoder.encode(part).decode())
    if len(parts) == 1:
        return parts[0]
    # Escaped, or ("a|b", "c") and ("a", "b|c") would be one item.
    return "|".join(part.replace("\\", "\\\\").replace("|", "\\|") for part in parts)
