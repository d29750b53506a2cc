"""Steps: named functions that every record of a scraper passes before it becomes an item."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Callable
from typing import Any, overload

import msgspec

from gossamer import urls
from gossamer.errors import ConfigError, Rejected
from gossamer.parse.page import Page

Record = dict[str, Any]
#: What an author writes: a record in, a record out, or Rejected raised. It may want to see the page.
StepFunction = Callable[[Record], Record] | Callable[[Record, Page], Record]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.IGNORECASE)
_WORDS = re.compile(r"\w+")


class Step(msgspec.Struct, frozen=True):
    """One named function that records pass. Runs write down which steps, in which version, they used."""

    name: str
    function: StepFunction
    #: Raise it when the step does something else than before, so that old items can be told from new ones.
    version: int = 1
    #: Whether the function takes the page too.
    sees_page: bool = False
    #: For a step that says which records are one item: the record's key.
    key: Callable[[Record], str] | None = None

    def __call__(self, record: Record, page: Page | None = None) -> Record:
        return self.function(record, page) if self.sees_page else self.function(record)  # type: ignore[call-arg,arg-type]

    @property
    def label(self) -> str:
        """Its name and version."""
        return f"{self.name}@{self.version}"


@overload
def step(function: StepFunction, /) -> Step: ...
@overload
def step(*, name: str = "", version: int = 1) -> Callable[[StepFunction], Step]: ...
def step(function: StepFunction | None = None, /, *, name: str = "", version: int = 1) -> Any:
    """Make a function a step: `@step`, or `@step(version=2)`.

    >>> @step(version=2)
    ... def tidy(record):
    ...     return {**record, "title": record["title"].strip()}
    >>> tidy.label
    'tidy@2'
    """

    def make(wanted: StepFunction) -> Step:
        called = name or getattr(wanted, "__name__", "")
        if not callable(wanted):
            raise ConfigError(f"{wanted!r:.80} is no step: write a function that takes a record and returns one")
        if not _NAME.fullmatch(called):
            raise ConfigError(f"a step is called {called!r}: give it a name, like @step(name='tidy')")
        if type(version) is not int or version < 1:
            raise ConfigError(f"step {called}: version = {version!r} cannot be used: write a whole number from 1")
        return Step(called, wanted, version, _takes_page(wanted, called))

    return make if function is None else make(function)


def _takes_page(function: StepFunction, name: str) -> bool:
    """Whether a function takes the page too. Raises ConfigError for one that is no step."""
    odd = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if any(is_so(function) for is_so in odd):
        raise ConfigError(f"step {name} is async, or yields: a step returns the record, and waits for nothing")
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if given and given[0].name == "self":
        raise ConfigError(f"step {name} takes self: write it outside of the class, or as a @staticmethod")
    wanted = [p for p in given if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    some = bool(wanted) or any(p.kind is p.VAR_POSITIONAL for p in given)
    if not some or len(wanted) > 2 or any(p.kind is p.KEYWORD_ONLY for p in wanted):
        told = f"takes {len(wanted)} arguments ({', '.join(p.name for p in wanted)})"
        raise ConfigError(f"step {name} {told}: it gets the record, and the page if it wants it")
    return len(wanted) == 2


def as_step(given: Any) -> Step:
    """A step, from one or from a plain function."""
    if isinstance(given, Step):
        return given
    if given in (tidy, require, dedupe):
        raise ConfigError(f"{given.__name__} makes a step: write {given.__name__}(), with the fields it is about")
    if not callable(given):
        raise ConfigError(f"{given!r:.80} is no step: write a function that takes a record and returns one")
    return step(name=getattr(given, "__name__", "").strip("<>"))(given)


# -- steps that many need --------------------------------------------------------------------------------------


def tidy() -> Step:
    """White space of all texts tidied, and empty ones left as None."""

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return " ".join(value.split()) or None
        if isinstance(value, dict):
            return {name: walk(each) for name, each in value.items()}
        return [walk(each) for each in value] if isinstance(value, list | tuple) else value

    return Step("tidy", walk)


def require(*fields: str) -> Step:
    """Records that lack one of these fields are rejected."""
    _named("require", fields)

    def check(record: Record) -> Record:
        lacking = [name for name in fields if record.get(name) in (None, "", [], {})]
        if lacking:
            raise Rejected(f"it has no {', '.join(lacking)}")
        return record

    return Step("require", check)


def dedupe(*fields: str) -> Step:
    """Records that say the same in these fields, but for case, accents and punctuation, are one item.

    By their key, so it holds over pages, runs and restarts. Records that lack all of them are rejected.
    """
    _named("dedupe", fields)

    def key(record: Record) -> str:
        parts = [_folded(record.get(name)) for name in fields]
        if not any(parts):
            raise Rejected(f"it has no {', '.join(fields)}, by which it would be known")
        return urls.digest(*parts)

    return Step("dedupe", lambda record: record, key=key)


def _named(name: str, fields: tuple[Any, ...]) -> None:
    if not fields or not all(isinstance(field, str) for field in fields):
        raise ConfigError(f"{name}() wants the names of fields, like {name}('title')")


def _folded(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else msgspec.json.encode(value).decode()
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return " ".join(_WORDS.findall(plain))
