"""What two versions of a record differ in, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

#: Levels of nesting that are told apart; what differs below is told as a whole.
DEEPEST = 8
#: A list longer than this is told as a whole.
LONGEST = 1_000


class Delta(msgspec.Struct, frozen=True):
    """One field that differs. A value that is not there is None."""

    #: "price", "offers.price", "tags[2]".
    path: str
    before: Any
    after: Any


def fields(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[Delta]:
    """The fields in which two records differ, in the order of the newer one. The order of fields does not count.

    >>> fields({"price": 3, "name": "pen"}, {"name": "pen", "price": 4})
    [Delta(path='price', before=3, after=4)]
    """
    return list(_mapping("", before or {}, after or {}, 0))


def _mapping(path: str, before: Mapping[str, Any], after: Mapping[str, Any], depth: int) -> Iterator[Delta]:
    for name in dict.fromkeys([*after, *before]):
        yield from _value(f"{path}.{name}" if path else name, before.get(name), after.get(name), depth)


def _value(path: str, before: Any, after: Any, depth: int) -> Iterator[Delta]:
    if before == after and type(before) is type(after):
        return
    if depth < DEEPEST and isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _mapping(path, before, after, depth + 1)
    elif depth < DEEPEST and _alike(before, after):
        for n, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _value(f"{path}[{n}]", old, new, depth + 1)
    elif before != after:
        yield Delta(path, before, after)


def _alike(before: Any, after: Any) -> bool:
    """Lists of one length: their parts can be compared one by one."""
    return isinstance(before, list) and isinstance(after, list) and len(before) == len(after) <= LONGEST
