"""What two runs of one scraper gave, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

#: Records that are shown of each kind of difference.
MOST_SHOWN = 20

Records = Mapping[tuple[str, str], Any]


class Difference(msgspec.Struct, frozen=True):
    """One record that is not the same."""

    kind: str
    key: str
    #: Fields that differ; empty where a record is missing or new.
    fields: tuple[str, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """What the second run lacks, has twice, has besides, and has otherwise."""

    missing: int = 0
    doubled: int = 0
    new: int = 0
    different: int = 0
    #: Up to twenty of each.
    examples: dict[str, list[Difference]] = {}

    @property
    def same(self) -> bool:
        """Whether both gave the same."""
        return not (self.missing or self.doubled or self.new or self.different)


def unsteady(one: Records, other: Records) -> frozenset[str]:
    """Fields that differ between two undisturbed runs: when a record was made, a number drawn for it."""
    return frozenset(
        field for key in one.keys() & other.keys() for field in _differing(one[key], other[key], frozenset())
    )


def compare(whole: Records, tested: Records, ignore: frozenset[str] = frozenset()) -> Comparison:
    """Compare records by kind and key. A new record with the fields of a known one is that one, doubled."""
    missing = [Difference(*key) for key in whole if key not in tested]
    different = [
        Difference(*key, tuple(fields))
        for key in whole
        if key in tested and (fields := _differing(whole[key], tested[key], ignore))
    ]
    known = {_text(record, ignore) for record in whole.values()}
    fresh = [key for key in tested if key not in whole]
    doubled = [Difference(*key) for key in fresh if _text(tested[key], ignore) in known]
    new = [Difference(*key) for key in fresh if _text(tested[key], ignore) not in known]
    found = {"missing": missing, "doubled": doubled, "new": new, "different": different}
    return Comparison(
        **{name: len(each) for name, each in found.items()},
        examples={name: each[:MOST_SHOWN] for name, each in found.items() if each},
    )


def _differing(one: Any, other: Any, ignore: frozenset[str]) -> Iterable[str]:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return () if one == other else ("",)
    names = [name for name in {**one, **other} if name not in ignore]
    return [name for name in names if name not in one or name not in other or one[name] != other[name]]


def _text(record: Any, ignore: frozenset[str]) -> bytes:
    kept = {name: value for name, value in record.items() if name not in ignore} if isinstance(record, dict) else record
    return msgspec.json.encode(kept, order="sorted")
