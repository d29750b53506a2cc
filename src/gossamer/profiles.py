"""What the items of a run are like: how often each field is filled, with what, and how many a page gives."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gossamer.storage.store import RunFacts
from gossamer.values import Run

#: Levels of nested records that are looked into.
DEEPEST = 3
#: Fields of one kind that are remembered.
MOST_FIELDS = 200
#: Shapes of one field that are remembered, and told apart; the rest is one.
MOST_SHAPES = 12
MANY_SHAPES = 500
#: Letters of a field's name; one that is longer is no name.
LONGEST_NAME = 200
#: A text longer than this has the shape of its length.
SHORT = 24

_SATURDAY = 5
_URL = re.compile(r"https?://\S+$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?$")
_RUNS = (
    (re.compile(r"[^\W\d_]+"), "a"),
    (re.compile(r"\d+"), "9"),
    (re.compile(r"\s+"), " "),
)


class FieldProfile(msgspec.Struct, frozen=True):
    """One field over the items of a kind. Shares lie between 0 and 1."""

    #: The share of items that have it.
    filled: float
    #: Of those, the share of each JSON type: "text", "number", "yes/no", "list".
    types: dict[str, float]
    #: Of those, the share of each shape: "£9.9", "url", "a few words" ...
    shapes: dict[str, float]


class KindProfile(msgspec.Struct, frozen=True):
    """The items of one kind."""

    #: How many were looked at.
    n: int
    fields: dict[str, FieldProfile]


class HandlerProfile(msgspec.Struct, frozen=True):
    """The pages of one handler."""

    pages: int
    #: The share of them that gave items, and how many each of those gave.
    giving: float
    each: float


class Profile(msgspec.Struct, frozen=True):
    """What a run was like."""

    items: int
    rejected: int
    pages: int
    #: Mean bytes of a page.
    size: float
    #: Reason -> the share of walks that ended with it.
    endings: dict[str, float]
    handlers: dict[str, HandlerProfile]
    kinds: dict[str, KindProfile]
    #: Whether it ended before all was done: then its totals say nothing.
    partial: bool = False
    #: Whether it began at a weekend, when many sites have less to say.
    weekend: bool = False


def profile(run: Run, facts: RunFacts, sample: Iterable[tuple[str, str, str]], *, partial: bool) -> Profile:
    """The profile of a run, from what its pages were like and a sample of its items: (kind, URL, JSON)."""
    kinds: dict[str, _Tally] = {}
    for kind, _, data in sample:
        kinds.setdefault(kind, _Tally()).add(msgspec.json.decode(data))
    walks = max(1, sum(run.by_reason.values()))
    return Profile(
        items=run.items,
        rejected=run.rejected,
        pages=run.pages,
        size=facts.size,
        endings={reason: n / walks for reason, n in run.by_reason.items()},
        handlers={
            name: HandlerProfile(h.pages, h.giving / max(1, h.pages), h.items / max(1, h.giving))
            for name, h in facts.handlers.items()
            if not name.startswith("@")
        },
        kinds={kind: tally.profile() for kind, tally in kinds.items()},
        partial=partial,
        weekend=time.localtime(run.created).tm_wday >= _SATURDAY,
    )


class _Tally:
    """Counts the fields of one kind of items."""

    def __init__(self) -> None:
        self.n = 0
        self.filled: Counter[str] = Counter()
        self.types: dict[str, Counter[str]] = {}
        self.shapes: dict[str, Counter[str]] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        self.n += 1
        for path, value in flat(record):
            if path not in self.types:
                if len(self.types) >= MOST_FIELDS or len(path) > LONGEST_NAME:
                    continue
                self.types[path], self.shapes[path] = Counter(), Counter()
            if not empty(value):
                self.filled[path] += 1
                self.types[path][kind_of(value)] += 1
                known, seen = self.shapes[path], shape(value)
                known[seen if seen in known or len(known) < MANY_SHAPES else "other"] += 1

    def profile(self) -> KindProfile:
        fields = {}
        for path, types in self.types.items():
            n = self.filled[path]
            common = dict(self.shapes[path].most_common(MOST_SHAPES))
            rest = n - sum(common.values())
            shapes = common | ({"other": rest + common.get("other", 0)} if rest else {})
            fields[path] = FieldProfile(n / self.n, _shares(types, n), _shares(shapes, n))
        return KindProfile(self.n, fields)


def _shares(counts: Mapping[str, int], n: int) -> dict[str, float]:
    return {name: round(each / n, 4) for name, each in counts.items()} if n else {}


def flat(record: Mapping[str, Any], prefix: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """The fields of a record and of those within it: `offers.price`."""
    for name, value in record.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict) and value and depth < DEEPEST:
            yield from flat(value, f"{path}.", depth + 1)
        else:
            yield path, value


def empty(value: Any) -> bool:
    """Whether a field has nothing in it. Zero and no are something."""
    return value is None or (
        isinstance(value, str | list | dict) and not (value.strip() if isinstance(value, str) else value)
    )


def kind_of(value: Any) -> str:
    """The JSON type of a value, in a word."""
    if isinstance(value, bool):
        return "yes/no"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else "record"


def shape(value: Any) -> str:
    """What a value looks like, whatever it says.

    >>> shape("£51.77"), shape("AB-1234"), shape("https://a.org/x"), shape("2026-11-16")
    ('£9.9', 'a-9', 'url', 'date')
    """
    if not isinstance(value, str):
        if isinstance(value, bool | list | dict):
            return kind_of(value)
        return "0" if value == 0 else "number"
    text = value.strip()
    if _URL.match(text):
        return "url"
    if _DATE.match(text):
        return "date"
    if len(text) > SHORT:
        words = text.count(" ") + 1
        return "a few words" if words <= 8 else "a sentence or two" if words <= 60 else "a long text"
    for pattern, short in _RUNS:
        text = pattern.sub(short, text)
    # Names of one, two or three words are alike.
    return re.sub(r"a(?:[ .'’-]+a)+", "a", text)
