"""The catalogue: 234 types of pages in 14 categories and 13 tiers, as `catalogue.toml` has them."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from importlib import resources
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from gossamer import ConfigError

__all__ = ["Catalogue", "Index", "League", "Tier", "Type", "catalogue", "keys"]

#: What a place in a pattern may hold, and how that looks in a URL.
PLACES: Final[Mapping[str, str]] = {
    "season": r"\d{4}",
    "team": r"[A-Za-z0-9-]{2,40}",
    "slug": r"[a-z0-9.'-]{3,60}",
    "initial": r"[a-z]",
    "letter": r"[a-z]",
    "game_id": r"[A-Za-z0-9-]{6,60}",
    "month": r"[a-z]{3,9}",
    "month_number": r"\d{1,2}",
    "day": r"\d{1,2}",
    "year": r"\d{4}",
    "date": r"\d{4}-\d\d-\d\d",
    "award_type": r"[a-z0-9_-]{1,60}",
}
#: Places that follow from others: the first letter of a player, the parts of a date.
FOLLOWS: Final = {"initial": "slug", "month_number": "date", "day": "date", "year": "date"}

_PLACE: Final = re.compile(r"\{([a-z_]+)\}")


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """A step of collecting everything: what is worth the time first."""

    n: int
    priority: str
    title: str


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """A page that lists teams, players or games, and the links on it that name them."""

    page: str
    link: str

    def named(self, hrefs: Iterable[str], args: Mapping[str, str]) -> list[dict[str, str]]:
        """What links name, each once: [{"team": "BOS"}, ...]."""
        pattern = _pattern(self.link, args)
        found: dict[tuple[tuple[str, str], ...], None] = {}
        for href in hrefs:
            if match := pattern.fullmatch(urlsplit(href).path):
                found[tuple(sorted(match.groupdict().items()))] = None
        return [dict(each) for each in found]


class Type(msgspec.Struct, frozen=True, kw_only=True):
    """One sort of page."""

    name: str
    league: str
    host: str
    #: The name of its object in a bucket.
    key: str
    tier: int | None = None
    category: str | None = None
    #: Its address below the host; None: there is nothing to fetch, and `why` says what instead.
    url: str | None = None
    also: str | None = None
    why: str | None = None
    #: Ids of its tables, * for any letters; none: all tables of the page.
    tables: tuple[str, ...] = ()
    #: Its first and last season, by the years in which they end.
    first: int
    last: int | None = None
    #: What makes games, lines, plays ... of it.
    reads: str | None = None
    #: The field that tells its documents apart, if each table of the page is one.
    each: str | None = None

    @property
    def id(self) -> str:
        """Its name with its league: what its documents are filed as."""
        return f"{self.league}.{self.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The parameters that its address needs."""
        return _needs(self.url or "")

    def address(self, args: Mapping[str, str]) -> str:
        """The URL for these parameters."""
        return f"https://{self.host}{filled(self.url or '/', args)}"

    def has(self, table: str) -> bool:
        """Whether a table of this id belongs to it."""
        return not self.tables or _ids(self.tables).fullmatch(table) is not None

    def exists(self, season: int) -> bool:
        """Whether it has anything of a season."""
        return self.first <= season <= (self.last or season)


class League(msgspec.Struct, frozen=True, kw_only=True):
    """A league, its types, and where its teams, players and games are listed."""

    name: str
    host: str
    indexes: Mapping[str, Index]
    types: tuple[Type, ...]


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    prefix: str
    tiers: tuple[Tier, ...]
    leagues: tuple[League, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        """Every type."""
        return tuple(each for league in self.leagues for each in league.types)

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the categories."""
        return tuple(sorted({each.category for each in self.types if each.category}))

    def league(self, name: str) -> League:
        """A league. Raises ConfigError for one that is not here."""
        return next(each for each in self.leagues if each.name == _known(name, self._leagues(), "league"))

    def _leagues(self) -> list[str]:
        return [each.name for each in self.leagues]

    def tier(self, n: Any) -> Tier:
        """A tier by its number. Raises ConfigError."""
        found = [each for each in self.tiers if str(each.n) == str(n).strip()]
        if not found:
            raise ConfigError(f"tier={str(n)[:40]} is none: there are 1 to {len(self.tiers)}")
        return found[0]

    def of_tier(self, n: Any) -> tuple[Type, ...]:
        """The types of a tier. Raises ConfigError for a number that is none."""
        tier = self.tier(n)
        return tuple(each for each in self.types if each.tier == tier.n)

    def of_category(self, name: str) -> tuple[Type, ...]:
        """The types of a category. Raises ConfigError for a name that is none."""
        known = _known(name, self.categories, "category")
        return tuple(each for each in self.types if each.category == known)

    def named(self, name: str, league: str = "nba") -> Type:
        """A type by its name, with or without its league. Raises ConfigError for one that is not here."""
        types = {each.id: each for each in self.types}
        if name in types:
            return types[name]
        mine = {each.name: each for each in self.league(league).types}
        return mine[_known(name, mine, f"type of league {league}")]

    def of_url(self, url: str) -> tuple[Type, dict[str, str]] | None:
        """The type that a URL is of, and its parameters; None for a page that is not here."""
        parts = urlsplit(url)
        asked = unquote(f"{parts.path}?{parts.query}" if parts.query else parts.path)
        found = [
            (each, match)
            for each in self.types
            if each.url and each.host == parts.hostname and (match := _pattern(each.url, {}).fullmatch(asked))
        ]
        there = [one for one in found if one[0].exists(int(one[1].groupdict().get("season") or one[0].first))]
        found = there or found
        if not found:
            return None
        # Of several, the one that says most of it: what is spelled out, and what somebody reads.
        each, match = max(found, key=lambda one: (len(_PLACE.sub("", one[0].url or "")), one[0].reads is not None))
        return each, _whole(match.groupdict())


@cache
def catalogue() -> Catalogue:
    """The catalogue that comes with the pack."""
    given = tomllib.loads(resources.files(__package__).joinpath("catalogue.toml").read_text("utf-8"))
    return Catalogue(
        prefix=given["prefix"],
        tiers=tuple(Tier(**each) for each in given["tier"]),
        leagues=tuple(_league(name, each) for name, each in given["league"].items()),
    )


def keys(types: Iterable[Type] | None = None) -> dict[str, str]:
    """What documents are filed as -> the template of their names in a bucket.

    >>> keys()["nba.play_by_play"]
    'basketball_reference/nba/play_by_play/{season}/{game_id}/pbp.json'
    """
    found = catalogue()
    return {each.id: found.prefix + each.key for each in (found.types if types is None else types)}


def filled(pattern: str, args: Mapping[str, str]) -> str:
    """A pattern with its places filled."""
    whole = {**args}
    if "slug" in args:
        whole["initial"] = args["slug"][:1]
    if "date" in args:
        day = date.fromisoformat(args["date"])
        whole |= {"year": str(day.year), "month_number": str(day.month), "day": str(day.day)}
    return _PLACE.sub(lambda place: whole[place[1]], pattern)


def _league(name: str, given: dict[str, Any]) -> League:
    host, first, last = given["host"], given["first"], given.get("last")
    rows = [*given["types"]]
    for each in given.get("competitions", ()):
        for page in given["each"]:
            places = {"name": each["name"], "path": each["path"]}
            row = {"name": each["name"] + page["page"], "tier": 12, "first": each["first"]}
            rows.append(row | {field: _partly(page[field], places) for field in ("url", "key")})
    types = []
    for each in rows:
        row = {"first": first, "last": last, "key": _key(name, each["name"], each.get("url") or ""), **each}
        row["tables"] = tuple(row.get("tables", ()))
        types.append(Type(league=name, host=host, **row))
    indexes: dict[str, Index] = {of: Index(**given[of]) for of in ("team", "slug", "game_id", "day") if of in given}
    return League(name=name, host=host, indexes=indexes, types=tuple(types))


def _key(league: str, name: str, url: str) -> str:
    """The name in a bucket of a type that has none of its own."""
    return "/".join([league, name, *(f"{{{need}}}" for need in sorted(_needs(url))), f"{name}.json"])


def _partly(pattern: str, places: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: places.get(place[1], place[0]), pattern)


def _needs(pattern: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(FOLLOWS.get(name, name) for name in _PLACE.findall(pattern)))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = _PLACE.split(pattern)
    written: list[str] = []
    seen: set[str] = set()
    for place, part in enumerate(parts):
        if place % 2 == 0:
            written.append(re.escape(part))
        elif part in seen:
            written.append(f"(?P={part})")
        else:
            seen.add(part)
            written.append(f"(?P<{part}>{PLACES[part]})")
    whole = "".join(written)
    return re.compile(whole.removesuffix("/") + "/?" if whole.endswith("/") or "." not in pattern else whole)


def _pattern(pattern: str, args: Mapping[str, str]) -> re.Pattern[str]:
    return _compiled(_partly(pattern, {name: text for name, text in args.items() if name == "season"}))


@cache
def _ids(tables: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(each).replace(r"\*", r"[\w-]{0,40}") for each in tables))


def _whole(found: Mapping[str, str]) -> dict[str, str]:
    """The parameters that the places of a URL name."""
    args = {name: text for name, text in found.items() if name not in FOLLOWS}
    if {"year", "month_number", "day"} <= found.keys():
        args["date"] = f"{found['year']}-{int(found['month_number']):02d}-{int(found['day']):02d}"
    return args


def _known(name: str, names: Iterable[str], what: str) -> str:
    """A name, if it is one of these. Raises ConfigError."""
    given = str(name).strip().lower()
    all_names = sorted(names)
    if given in all_names:
        return given
    near = difflib.get_close_matches(given, all_names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(all_names)}"
    raise ConfigError(f"{given[:40]!r} is no {what}: {hint}")
