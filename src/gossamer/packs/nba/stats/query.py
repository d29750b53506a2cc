"""What a person asks of the NBA's statistics, as the parameters that its endpoints want."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec

from gossamer import ConfigError
from gossamer.packs.nba import seasons, teams
from gossamer.packs.nba.stats.catalogue import ENDPOINTS, STATS, SUBJECT, Endpoint

__all__ = [
    "Wish",
    "game_id",
    "game_season",
    "game_type",
    "is_game",
    "is_number",
    "league_of",
    "player_ids",
    "queries",
    "team_ids",
    "url",
]

#: The leagues, by what people call them and by the number they have.
LEAGUES: Final = {"nba": "00", "wnba": "10", "gleague": "20"}
LEAGUE_NAMES: Final = {"00": "NBA", "10": "WNBA", "20": "G League"}
#: Our words for parts of a season, and the NBA's.
SEASON_TYPES: Final = {
    "regular": "Regular Season",
    "preseason": "Pre Season",
    "playoffs": "Playoffs",
    "all-star": "All Star",
    "play-in": "PlayIn",
}
#: What the third digit of a game's id says.
_TYPES: Final = {
    "1": "preseason",
    "2": "regular",
    "3": "all-star",
    "4": "playoffs",
    "5": "play-in",
    "6": "cup-final",
}
_GAME: Final = re.compile(r"([0-9]{2})([1-9])([0-9]{2})([0-9]{5})")
_DIGITS: Final = re.compile(r"[0-9]{1,12}")
_MORE: Final = 100


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for, besides whom or what it is about."""

    league: str = "00"
    season_type: str = "regular"
    per_mode: str | None = None
    #: The first and the last day, where only some days are wanted.
    since: date | None = None
    until: date | None = None
    #: Further parameters, by the NBA's own names.
    more: Mapping[str, str] = {}

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Wish:
        """What parameters of a run say. Raises ConfigError."""
        days = seasons.dates(params["date"]) if params.get("date") else []
        return cls(
            league=_league(params.get("league", "nba")),
            season_type=_season_type(params.get("season_type", "regular")),
            per_mode=str(params["per_mode"]) if params.get("per_mode") else None,
            since=days[0] if days else None,
            until=days[-1] if days else None,
            more=_more(str(params.get("more", ""))),
        )


def _league(value: Any) -> str:
    word = re.sub(r"[^a-z0-9]", "", str(value).lower())
    found = LEAGUES.get(word) or (word if word in LEAGUES.values() else None)
    if found is None:
        raise ConfigError(f"league={str(value)[:40]} cannot be used: write {', '.join(LEAGUES)}, or 00, 10, 20")
    return found


def _season_type(value: Any) -> str:
    word = re.sub(r"[^a-z]", "", str(value).lower()).removesuffix("season") or "pre"
    for ours, theirs in SEASON_TYPES.items():
        if word in (re.sub(r"[^a-z]", "", each.lower()).removesuffix("season") for each in (ours, theirs)):
            return ours
    raise ConfigError(f"season_type={str(value)[:40]} cannot be used: write {', '.join(SEASON_TYPES)}")


def _more(text: str) -> dict[str, str]:
    """Parameters in the NBA's own words, as a query: `MeasureType=Advanced&PlayerOrTeam=P`."""
    try:
        pairs = dict(parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text.strip()), max_num_fields=_MORE))
    except ValueError:
        raise ConfigError(f"more={text[:60]!r} cannot be read: write MeasureType=Advanced&PlayerOrTeam=P") from None
    known = {name for each in ENDPOINTS.values() for name in each.knows}
    for name in pairs:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"more: no endpoint has a parameter {name[:60]!r}{hint}")
    return pairs


# -- whom and what it is about -------------------------------------------------------------------------------------


def game_id(value: Any) -> str:
    """The id of a game in its ten digits: of "0022300001", "22300001" or 22300001. Raises ConfigError.

    >>> game_id("22300001")
    '0022300001'
    """
    plain = str(value).strip()
    whole = plain.zfill(10)
    if not _DIGITS.fullmatch(plain) or not (match := _GAME.fullmatch(whole)) or match[1] not in LEAGUE_NAMES:
        raise ConfigError(
            f"game={plain[:40]} is no game of the NBA's: write its ten digits, like 0022300001 (2 for the regular"
            " season, then the year it began in)"
        )
    return whole


def is_game(text: str) -> bool:
    """Whether a text that an answer has for a game can be asked for: ten digits, of a league that is known."""
    match = _GAME.fullmatch(text)
    return match is not None and match[1] in LEAGUE_NAMES


def is_number(text: str) -> bool:
    """Whether a text that an answer has for somebody is a number, as all of the NBA's ids are."""
    return _DIGITS.fullmatch(text) is not None


def game_season(game: str) -> int | None:
    """The year in which the season of a game ends; in the WNBA, the year it is played in."""
    match = _GAME.fullmatch(game)
    if match is None:
        return None
    year = int(match[3]) + (1900 if int(match[3]) >= 46 else 2000)
    return year if match[1] == "10" else year + 1


def game_type(game: str) -> str | None:
    """The part of the season that a game's id says it is of."""
    match = _GAME.fullmatch(game)
    return _TYPES.get(match[2]) if match else None


def league_of(game: str) -> str:
    """The league that a game's id says it is of."""
    return LEAGUE_NAMES.get(game[:2], f"league {game[:2]}")


def player_ids(value: Any) -> list[str]:
    """Players, by their numbers: "2544,201939". Raises ConfigError."""
    found = list(dict.fromkeys(each.strip() for each in str(value).split(",") if each.strip()))
    if not found or not all(_DIGITS.fullmatch(each) for each in found):
        raise ConfigError(f"player={str(value)[:40]} cannot be used: write numbers of players, like 2544,201939")
    return found


def team_ids(value: Any) -> list[str]:
    """Teams, by number, code or name: "BOS", "Lakers", "1610612738". Raises ConfigError."""
    found: dict[str, None] = {}
    for each in filter(None, (part.strip() for part in str(value).split(","))):
        if _DIGITS.fullmatch(each) and len(each) == 10:
            found[each] = None
            continue
        info = teams.team(each)
        if info is None or info.nba_id is None:
            raise ConfigError(f"team={each[:40]} is no team of the NBA: write a code like BOS, or a number")
        found[info.nba_id] = None
    if not found:
        raise ConfigError("team cannot be used: it names none")
    return list(found)


# -- queries -------------------------------------------------------------------------------------------------------


def queries(endpoint: Endpoint, wish: Wish, season: int, subject: str | None = None) -> Iterable[dict[str, str]]:
    """What an endpoint is asked with: once, or once for each value that it has to be asked for one by one.

    Raises ConfigError for what is missing, or has a value that the endpoint does not know.
    """
    asked = dict(endpoint.defaults)
    _fill(asked, endpoint, wish, season)
    if subject is not None and endpoint.scope in SUBJECT and SUBJECT[endpoint.scope] in endpoint.needs:
        asked[SUBJECT[endpoint.scope]] = subject
    asked |= {name: value for name, value in wish.more.items() if name in endpoint.knows}
    missing = [name for name in endpoint.needs if not asked.get(name)]
    if missing:
        raise ConfigError(f"{endpoint.name} wants {', '.join(missing)}: give it as more={missing[0]}=...")
    _check(asked, endpoint)
    if endpoint.each is None or endpoint.each[0] in wish.more:
        return [asked]
    name, values = endpoint.each
    return [asked | {name: value} for value in values]


def _fill(asked: dict[str, str], endpoint: Endpoint, wish: Wish, season: int) -> None:
    """What everybody asks for: league, season, its part, the days, the way to count."""
    if endpoint.season:
        asked[endpoint.season] = str(season) if _by_year(endpoint, wish) else seasons.season_text(season)
    given = {
        "LeagueID": wish.league,
        "SeasonType": SEASON_TYPES[wish.season_type],
        "DateFrom": f"{wish.since:%m/%d/%Y}" if wish.since else None,
        "DateTo": f"{wish.until:%m/%d/%Y}" if wish.until else None,
        "PerMode": wish.per_mode if endpoint.per else None,
    }
    asked |= {name: value for name, value in given.items() if value is not None and name in asked}
    for name in asked:
        if name.startswith("Person") and name.endswith("Season"):
            asked[name] = str(season - 1)


def _by_year(endpoint: Endpoint, wish: Wish) -> bool:
    """Whether a season is one year: the WNBA plays within one, and so is a draft."""
    return wish.league == "10" or endpoint.name == "drafthistory"


def _check(asked: Mapping[str, str], endpoint: Endpoint) -> None:
    per = asked.get("PerMode")
    if per is not None and per not in endpoint.per:
        near = difflib.get_close_matches(per, endpoint.per, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"it knows {', '.join(endpoint.per)}"
        raise ConfigError(f"per_mode={per[:40]} cannot be used with {endpoint.name}: {hint}")
    if "GroupQuantity" in asked and asked["GroupQuantity"] not in ("2", "3", "4", "5"):
        raise ConfigError("GroupQuantity is the number of players in a lineup: 2 to 5")
    if asked.get("GameID"):
        game_id(asked["GameID"])


def url(endpoint: Endpoint, asked: Mapping[str, str]) -> str:
    """The URL of a question; its parameters in the order of the alphabet, as the NBA's own site has them."""
    if endpoint.path:
        game = asked.get("GameID", "")
        year = (game_season(game) or 1) - 1
        return endpoint.path.format(game=game, year=year, league=asked.get("LeagueID", "00"))
    return f"{STATS}{endpoint.name}?{urlencode(sorted(asked.items()))}"
