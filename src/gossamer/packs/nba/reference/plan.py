"""From parameters to pages: which types are wanted, what they need, and where what is missing is listed."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import product
from typing import Any, Final
from urllib.parse import quote_plus

import msgspec

from gossamer import ConfigError, Request
from gossamer.packs.nba import seasons, teams
from gossamer.packs.nba.reference.catalogue import Type, catalogue, filled

__all__ = ["MONTHS", "TAKES", "Wanted", "pages", "scrape_tier", "wanted"]

#: What the scraper takes, and what each means.
TAKES: Final[dict[str, str]] = {
    "tier": "a tier of the catalogue, 1 to 13: all its types, for the season, teams, players or games named",
    "category": "a category, or several with commas: per_game, awards, schedules ...",
    "type": "a type of the catalogue, or several with commas: lineups, wnba.standings ...",
    "league": "the league of the types: nba (unless given), wnba, gleague, aba, baa, international or college",
    "season": "the year in which the season ends: 2024, 2023-24, or several: 2022..2024",
    "date": "a day, 2024-01-29, or days: 2024-01-29..2024-02-04; yesterday if nothing at all is asked for",
    "game": "the site's id of a game, or several with commas: 201810160GSW",
    "player": "the site's id of a player, or several with commas: hardeja01",
    "team": "a team, or several with commas: PHO, PHX or Suns",
    "month": "a month of a schedule: october",
    "search": "a name to search for",
    "inactive": "yes (unless given), or no to leave out the games of a game log that the player missed",
    "combined": "no (unless given), or yes for rows that sum up the teams of a player (TOT, 2TM)",
    "items": "rows (unless given): games, lines, plays ...; documents: one for each page, for a bucket; or both",
}
MONTHS: Final = ("october", "november", "december", "january", "february", "march", "april", "may", "june")
_ALL_MONTHS: Final = (*MONTHS, "july", "august", "september")

#: What a type may need -> the parameter that gives it, and an example.
_PARAMS: Final = {
    "season": ("season", "2024"),
    "team": ("team", "PHO"),
    "slug": ("player", "hardeja01"),
    "game_id": ("game", "201810160GSW"),
    "date": ("date", "2024-01-29"),
    "month": ("month", "october"),
}
#: What is read where only this is said.
_OF_GAME: Final = ("box_score", "play_by_play")
_OF_DAY: Final = ("daily_scores", "box_score", "play_by_play")
_SLUG: Final = re.compile(r"[a-z0-9.'-]{3,60}")
_GAME: Final = re.compile(r"\d{8}\d[A-Z]{3}|\d{4}-\d\d-\d\d-[a-z0-9-]{3,50}")
#: Most values of one parameter.
_MOST: Final = 2_000
_HOST: Final = "https://www.basketball-reference.com"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    types: tuple[Type, ...]
    #: Need -> what was given for it: {"season": ["2024"], "team": ["PHO"]}.
    given: dict[str, list[str]]
    #: Whether a type that cannot be had is left out, because it came with others, or refused, because it was named.
    lenient: bool = False
    search: str | None = None


def wanted(params: Mapping[str, Any]) -> Wanted:
    """What parameters ask for. Raises ConfigError, in one sentence."""
    given = _given(params)
    league = str(params.get("league") or "nba").strip().lower()
    known = catalogue()
    known.league(league)
    said = [name for name in ("tier", "category", "type", "search") if _is_said(params.get(name))]
    if len(said) > 1:
        raise ConfigError(f"{said[0]} and {said[1]} cannot be used together: name one of them")
    types: Iterable[Type]
    lenient = True
    if params.get("search"):
        return Wanted(types=(), given=given, search=str(params["search"]).strip()[:200])
    if _is_said(params.get("tier")):
        types = known.of_tier(params["tier"])
    elif params.get("category"):
        types = [each for name in _names(params["category"]) for each in known.of_category(name)]
    elif params.get("type"):
        types = [known.named(name, league) for name in _names(params["type"])]
        lenient = False
    elif league != "nba":
        types = known.league(league).types
    else:
        types, given = _unsaid(given)
    return Wanted(types=_fetched(types), given=given, lenient=lenient)


def _is_said(value: Any) -> bool:
    """Whether a parameter is there: 0 is, and is refused as what it is."""
    return value not in (None, "")


def _unsaid(given: dict[str, list[str]]) -> tuple[list[Type], dict[str, list[str]]]:
    """The types that are meant where only a game, a day, a player, a team or a season is named."""
    named = catalogue().named
    if "game_id" in given:
        return [named(name) for name in _OF_GAME], given
    if "slug" in given:
        return [named("player"), *([named("player_game_logs")] if "season" in given else [])], given
    if "team" in given:
        return [named("team_schedule") if "season" in given else named("franchise")], given
    if "season" in given and "date" not in given:
        return [each for name in catalogue().categories for each in catalogue().of_category(name)], given
    yesterday = (seasons.today() - timedelta(1)).isoformat()
    return [named(name) for name in _OF_DAY], {"date": [yesterday], **given}


def _fetched(types: Iterable[Type]) -> tuple[Type, ...]:
    """Those that have a page. Raises ConfigError, saying why, if none of them has."""
    found = tuple(dict.fromkeys(types))
    kept = tuple(each for each in found if each.url)
    if found and not kept:
        told = "; ".join(f"{each.name}: {each.why}" for each in found)
        raise ConfigError(f"there is no page to fetch for what was asked: {told}")
    return kept


def _names(value: Any) -> list[str]:
    return [each.strip() for each in str(value).split(",")[:_MOST] if each.strip()]


def _given(params: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if params.get("season"):
        found["season"] = [str(year) for year in seasons.seasons(params["season"])]
    if params.get("date"):
        found["date"] = [day.isoformat() for day in seasons.dates(params["date"])]
    for need, check in (("game_id", _game), ("slug", _player), ("month", _month)):
        name = _PARAMS[need][0]
        if params.get(name):
            found[need] = [check(each) for each in _names(params[name])]
    if params.get("team"):
        found["team"] = _names(params["team"])
    return found


def _game(text: str) -> str:
    if not _GAME.fullmatch(text):
        raise ConfigError(f"game={text[:40]} cannot be used: the site's ids are day, 0 and home team: 201810160GSW")
    return text


def _player(text: str) -> str:
    if not _SLUG.fullmatch(text):
        raise ConfigError(f"player={text[:40]} cannot be used: the site's ids are like hardeja01; search= finds them")
    return text


def _month(text: str) -> str:
    if text.lower() not in _ALL_MONTHS:
        raise ConfigError(f"month={text[:40]} cannot be used: write it in full, like october")
    return text.lower()


# --- from what is wanted to requests ------------------------------------------------------------------------------


class _Page:
    """A page to fetch, and everything it is wanted for: several types may share it."""

    def __init__(self, args: dict[str, str]) -> None:
        self.args = args
        self.types: dict[str, None] = {}
        #: Need -> the types whose pages follow from what this one lists.
        self.expand: dict[str, dict[str, None]] = {}
        self.stays = True

    @property
    def carry(self) -> dict[str, Any]:
        expand = {need: list(types) for need, types in self.expand.items()}
        return {"types": list(self.types), "args": self.args, **({"expand": expand} if expand else {})}


def pages(asked: Wanted, to: str = "parse") -> Iterator[Request]:
    """The requests that a run begins with, for that handler. Raises ConfigError for what is missing."""
    if asked.search is not None:
        yield Request(f"{_HOST}/search/search.fcgi?search={quote_plus(asked.search)}", to="searched", revisit=True)
        return
    found: dict[str, _Page] = {}
    refused: list[ConfigError] = []
    for each in asked.types:
        try:
            for url, args, need in _of_type(each, asked):
                page = found.setdefault(url, _Page(args))
                page.args = {**args, **page.args}
                page.stays &= each.needs == ("game_id",) and need is None and "game_id" not in asked.given
                if need is None:
                    page.types[each.id] = None
                else:
                    page.expand.setdefault(need, {})[each.id] = None
        except ConfigError as why:
            if not asked.lenient:
                raise
            refused.append(why)
    if not found:
        raise refused[0] if refused else ConfigError("nothing is asked for: name a tier, a category or a type")
    for url, page in found.items():
        # What lists others is asked for each time; a game that is over stays as it is.
        yield Request(url, to=to, carry=page.carry, revisit=not page.stays)


def _of_type(each: Type, asked: Wanted) -> Iterator[tuple[str, dict[str, str], str | None]]:
    """(URL, its parameters, None); or the page that lists what is missing, and what that is."""
    given = _for_type(each, asked)
    needs = each.needs
    if "letter" in needs:
        given["letter"] = list(string.ascii_lowercase)
    missing = [need for need in needs if need not in given]
    if missing == ["month"]:  # the page of the season leads to its months
        yield from _of_type(catalogue().named("schedules", each.league), asked)
    elif missing:
        yield from _listed(each, missing, given)
    else:
        for args in _products(given, needs):
            yield each.address(args), {**_alike(given, each), **args}, None


def _listed(each: Type, missing: list[str], given: dict[str, list[str]]) -> Iterator[tuple[str, dict[str, str], str]]:
    """The pages that list the teams, players or games which were not named."""
    league = catalogue().league(each.league)
    indexes = league.indexes
    need = missing[0]
    by = "day" if need == "game_id" and "date" in given and "day" in indexes else need
    if "season" in missing or len(missing) > 1 or by not in indexes:
        raise _lacking(each, "season" if "season" in missing else need)
    over = "date" if by == "day" else "season"
    if over not in given:
        raise _lacking(each, over)
    for value in given[over]:
        page = filled(indexes[by].page, {over: value})
        yield f"https://{league.host}{page}", {over: value}, by


def _for_type(each: Type, asked: Wanted) -> dict[str, list[str]]:
    """What was given, as this type takes it."""
    given = {need: list(found) for need, found in asked.given.items()}
    if "season" in each.needs and "season" not in given:
        days = [*given.get("date", ()), *(f"{game[:4]}-{game[4:6]}-{game[6:8]}" for game in given.get("game_id", ()))]
        if days and each.league == "nba":
            given["season"] = sorted({str(seasons.season_of(day)) for day in days})
    if "season" in given:
        known = [year for year in given["season"] if each.exists(int(year))]
        if not known and ("season" in each.needs or "game_id" in each.needs):
            until = f" and ended in {each.last}" if each.last else ""
            raise ConfigError(f"{each.id} began in {each.first}{until}: there is none of {given['season'][0]}")
        given["season"] = known or given["season"]
    if "team" in given and each.league == "nba":
        given["team"] = [_team(name, given.get("season", [])) for name in given["team"]]
    if "team" in each.needs and "season" not in each.needs and "season" not in given:
        given["season"] = [str(seasons.season_of(seasons.today()))]  # the teams of today
    return given


def _team(name: str, years: list[str]) -> str:
    """The site's code for a team. Raises ConfigError for what is no team."""
    found = teams.team(name, int(years[0]) if len(years) == 1 else None) or teams.team(name)
    if found is None:
        raise ConfigError(f"team={name[:40]} is no team of the NBA: write its code or its name, like PHO or Suns")
    return found.reference_code


def _lacking(each: Type, need: str) -> ConfigError:
    name, example = _PARAMS.get(need, (need, "..."))
    return ConfigError(f"{each.id} needs a {name}: add --param {name}={example}")


def _products(given: Mapping[str, list[str]], needs: Iterable[str]) -> Iterator[dict[str, str]]:
    names = list(needs)
    for values in product(*(given[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def _alike(given: Mapping[str, list[str]], each: Type) -> dict[str, str]:
    """What the name of a document takes though its address does not: the season of a page without one."""
    own = {need: given[need][0] for need in ("season", "slug", "team") if len(given.get(need, ())) == 1}
    return {need: value for need, value in own.items() if f"{{{need}}}" in each.key}


def scrape_tier(
    n: int,
    *,
    season: int | str | None = None,
    team: str | None = None,
    player: str | None = None,
    game: str | None = None,
    date: str | None = None,
) -> list[Request]:
    """The requests that begin the collection of a tier. Raises ConfigError for what is missing.

    >>> [each.url for each in scrape_tier(9, season=1970)][-1]
    'https://www.basketball-reference.com/leagues/ABA_1970.html'
    """
    params = {"tier": n, "season": season, "team": team, "player": player, "game": game, "date": date}
    return list(pages(wanted({name: value for name, value in params.items() if value is not None})))
