"""The title filter: what a title is worth to somebody who looks for certain jobs. Words and weights are a file's."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from gossamer import ConfigError

__all__ = ["Category", "Filter", "Verdict", "filter_of", "load"]

#: What a category is worth, by a word in its name, where its file does not say.
WEIGHTS: Final = {"core": 3.0, "operative": 2.5, "supervisory": 2.0, "management": 1.5}
OTHERWISE: Final = 1.0
#: A title is a match from here on, and its buckets.
MATCH: Final = 1.5
HIGH: Final = 5.0
MEDIUM: Final = 3.0
#: Phrases are looked for first: enough of them, and single words say nothing more.
ENOUGH: Final = 6.0
SURE: Final = 4.0

_LARGEST: Final = 4 << 20
_MOST_KEYWORDS: Final = 20_000
_LONGEST_KEYWORD: Final = 200
_LONGEST_TITLE: Final = 500
_SHAPE: Final = 'it is {"Filters": [{"FilterType": ..., "Keywords": [...]}]}'


class Category(msgspec.Struct, frozen=True):
    """Keywords that are worth the same."""

    name: str
    weight: float
    keywords: tuple[str, ...]
    #: What a person calls it.
    label: str = ""


class Verdict(msgspec.Struct, frozen=True):
    """What the filter made of a title."""

    match: bool = False
    score: float = 0.0
    #: high, medium or low; None if it is no match.
    level: str | None = None
    primary: str | None = None
    categories: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    #: The word that excludes it, if one does.
    excluded: str | None = None


class Filter:
    """A set of categories and exclusions, ready to be asked."""

    def __init__(self, name: str, categories: tuple[Category, ...], exclusions: tuple[str, ...]) -> None:
        self.name = name
        self.categories = categories
        self.exclusions = exclusions
        self._phrases = [(each, _any(word for word in each.keywords if _is_phrase(word))) for each in categories]
        self._singles = [(each, _any(word for word in each.keywords if not _is_phrase(word))) for each in categories]
        # "IT" is not "it": what is written in capitals is meant so.
        self._loud = _any((word for word in exclusions if word.isupper()), exact=True)
        self._quiet = _any(word for word in exclusions if not word.isupper())

    def judge(self, title: Any) -> Verdict:
        """What a title is worth. An exclusion wins over everything.

        A phrase is worth twice its category's weight, a word once. Words count only where the phrases did not
        settle it.
        """
        text = " ".join(title.split())[:_LONGEST_TITLE] if isinstance(title, str) else ""
        excluded = (self._loud and self._loud.search(text)) or (self._quiet and self._quiet.search(text))
        if not text or excluded:
            return Verdict(excluded=excluded[0] if excluded else None)
        scores: dict[str, float] = {}
        words: dict[str, None] = {}
        for found, factor, limit in ((self._phrases, 2, ENOUGH), (self._singles, 1, SURE)):
            for category, pattern in found:
                for keyword in _hits(pattern, text):
                    # Past this, nothing can change what becomes of it.
                    if sum(scores.values()) >= limit:
                        break
                    scores[category.name] = scores.get(category.name, 0.0) + category.weight * factor
                    words[keyword] = None
        return _verdict(scores, tuple(words))

    def fields(self, title: Any) -> dict[str, Any]:
        """The same, as the fields of a job."""
        verdict = self.judge(title)
        return {
            "filter_match": verdict.match,
            "filter_score": verdict.score,
            "filter_level": verdict.level,
            "primary_category": verdict.primary,
            "matched_categories": verdict.categories,
            "matched_keywords": verdict.keywords,
        }


def _verdict(scores: dict[str, float], words: tuple[str, ...]) -> Verdict:
    score = round(sum(scores.values(), 0.0), 3)
    if score < MATCH:
        return Verdict(score=score, categories=tuple(scores), keywords=words)
    level = "high" if score >= HIGH else "medium" if score >= MEDIUM else "low"
    primary = max(scores, key=lambda name: scores[name])
    return Verdict(True, score, level, primary, tuple(scores), words)


def _hits(pattern: re.Pattern[str] | None, text: str) -> list[str]:
    """The keywords of a title, each once, the longer of two that begin alike."""
    return list(dict.fromkeys(found[0].lower() for found in pattern.finditer(text))) if pattern else []


def _is_phrase(keyword: str) -> bool:
    return len(keyword.split()) > 1


def _any(words: Any, *, exact: bool = False) -> re.Pattern[str] | None:
    """Any of these, as whole words; the longest first, so that a phrase is not taken for its beginning."""
    spelled = sorted({r"[\s/,-]{1,3}".join(map(re.escape, word.split())) for word in words}, key=len, reverse=True)
    if not spelled:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(spelled)})(?!\w)", re.NOFLAG if exact else re.IGNORECASE)


# -- files -------------------------------------------------------------------------------------------------------


def filter_of(params: Mapping[str, Any]) -> Filter:
    """The filter that a run goes by: the built-in one, or that of the file which the parameters name.

    Raises ConfigError if that file cannot be used.
    """
    given = params.get("filter")
    if not given:
        return _built_in()
    path = Path(str(given))
    try:
        stamp = path.stat()
    except (OSError, ValueError):
        raise ConfigError(f"filter={str(path)[:200]!r}: there is no such file") from None
    return _read(str(path.absolute()), stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=1)
def _built_in() -> Filter:
    data = resources.files("gossamer.packs.jobs").joinpath("titles.json").read_bytes()
    return _filter(msgspec.json.decode(data), "titles.json")


@lru_cache(maxsize=8)
def _read(path: str, changed: int, size: int) -> Filter:
    return load(Path(path))


def load(path: Path) -> Filter:
    """The filter of a file, JSON or TOML, in the shape of the one that ships with the pack.

    A file without exclusions gets the built-in ones; an empty list means none. Raises ConfigError, saying what is
    wrong.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as why:
        raise ConfigError(f"{path} cannot be read: {why.strerror}") from None
    if len(data) > _LARGEST:
        raise ConfigError(f"{path} is larger than {_LARGEST >> 20} MB: that is no title filter")
    try:
        toml = path.suffix.lower() == ".toml"
        told = tomllib.loads(data.decode("utf-8-sig")) if toml else msgspec.json.decode(data)
    except (tomllib.TOMLDecodeError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as why:
        raise ConfigError(f"{path} is not {'TOML' if path.suffix.lower() == '.toml' else 'JSON'}: {why}") from None
    return _filter(told, str(path))


def _filter(told: Any, where: str) -> Filter:
    rows = told.get("Filters") if isinstance(told, dict) else None
    if not isinstance(rows, list) or not rows:
        raise ConfigError(f"{where} is no title filter: {_SHAPE}")
    categories = tuple(_category(row, f"{where}, filter {n}") for n, row in enumerate(rows, 1))
    if sum(len(each.keywords) for each in categories) > _MOST_KEYWORDS:
        raise ConfigError(f"{where} has more than {_MOST_KEYWORDS:,} keywords")
    # The heaviest first: with enough of those, the others are not asked.
    ordered = tuple(sorted(categories, key=lambda each: -each.weight))
    given = told.get("Exclusions")
    exclusions = _built_in().exclusions if given is None else _keywords(given, f"{where}: Exclusions")
    return Filter(str(told.get("FilterName") or where)[:200], ordered, exclusions)


def _category(row: Any, where: str) -> Category:
    name = row.get("FilterType") if isinstance(row, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{where} has no FilterType: {_SHAPE}")
    weight = row.get("Weight")
    if weight is None:
        weight = next((worth for word, worth in WEIGHTS.items() if word in name.lower()), OTHERWISE)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 1000:
        raise ConfigError(f"{where}: Weight {str(weight)[:80]!r} cannot be used: write a number above 0")
    label = row.get("DisplayName")
    keywords = _keywords(row.get("Keywords"), f"{where}: Keywords")
    return Category(name.strip(), float(weight), keywords, label if isinstance(label, str) else "")


def _keywords(given: Any, where: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(word, str) and word.strip() for word in given):
        raise ConfigError(f"{where} is a list of words and phrases")
    long = next((word for word in given if len(word) > _LONGEST_KEYWORD), None)
    if long is not None:
        raise ConfigError(f"{where}: {long[:40]!r}... is too long to stand in a title")
    return tuple(dict.fromkeys(" ".join(word.split()) for word in given))
