"""ESPN's answers taken apart: nothing in them is sure to be there, or to be what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Any, Final

import msgspec

from gossamer import ReadError
from gossamer.packs.nba import teams
from gossamer.packs.nba.model import Game, Play, PlayerLine, TeamLine, count, eastern_date, text, utc
from gossamer.packs.nba.seasons import season_of

#: Most of anything in one answer: a day has 15 games, a game a few hundred plays.
MOST: Final = 5_000

SOURCE: Final = "espn"
SEASON_TYPES: Final = {1: "preseason", 2: "regular", 3: "playoffs", 5: "play-in"}
#: Four quarters; the rest is overtime.
QUARTERS: Final = 4


class Side(msgspec.Struct, frozen=True):
    """One of the two teams of a game."""

    #: Our code; of a team that is not the league's, the code that ESPN has for it.
    code: str
    team_id: str | None
    name: str | None
    home: bool
    #: What the score is, over or not.
    score: int | None
    periods: tuple[int, ...] = ()
    #: Whether the league has such a team: not that of an All-Star game.
    known: bool = True


class Summary(msgspec.Struct, frozen=True):
    """All that an answer tells of one game."""

    game: Game | None
    teams: tuple[TeamLine, ...] = ()
    players: tuple[PlayerLine, ...] = ()
    plays: tuple[Play, ...] = ()


def at(value: Any, *path: str | int) -> Any:
    """What stands at a path of names and places; None if anything on the way is missing or something else."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and step < len(value) else None
    return value


def records(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list, as far as they are ones; of what is no list, none."""
    for each in value[:MOST] if isinstance(value, list) else ():
        if isinstance(each, dict):
            yield each


def first(record: Any, *names: str) -> Any:
    """What stands under the first of these names that has something."""
    found = (at(record, name) for name in names)
    return next((each for each in found if each not in (None, "", [], {})), None)


def number_of(value: Any) -> str | None:
    """The id of a game: digits, and nothing that would make another URL of the one it becomes part of."""
    found = text(value, 20)
    return found if found and found.isascii() and found.isdecimal() else None


def flag(value: Any) -> bool | None:
    """Yes or no; None for what is neither."""
    return value if isinstance(value, bool) else None


def refuse(data: Any) -> None:
    """Raise ReadError for an answer that says there is nothing: ESPN says so with status 200, too."""
    told = at(data, "code")
    if isinstance(told, int) and not isinstance(told, bool) and told >= 400 and "events" not in data:
        raise ReadError(f"ESPN answers {told}: {text(at(data, 'message'), 200) or 'it says no more'}")


def side(team: Any, home: bool, score: Any, periods: Any, season: int | None) -> Side | None:
    """One team of a game; None if it has no name at all."""
    name = text(first(team, "displayName", "dspNm", "nm"), 100)
    short = text(first(team, "abbreviation", "abbrev", "abbr"), 12)
    # By its name: New York of another league is NY too. Where a list leaves the name out, by the code.
    found = teams.team(name, season) if name else teams.team(short, season)
    if found is None and name is None and short is None:
        return None
    return Side(
        found.code if found else (short or str(name)[:40]).upper(),
        text(at(team, "id"), 20),
        found.name if found else name,
        home,
        points(score),
        tuple(score for each in periods[:20] if (score := points(each)) is not None)
        if isinstance(periods, list)
        else (),
        found is not None,
    )


def points(value: Any) -> int | None:
    """A score, however it is wrapped: "92", 92.0, {"value": 92.0, "displayValue": "92"}."""
    if isinstance(value, dict):
        value = first(value, "displayValue", "value")
    found = count(value)
    return found if found is not None and found >= 0 else None


def moment(value: Any, valid: Any = True) -> tuple[str | None, str | None]:
    """The day of a game and when it begins, from its date; no time where that is not known yet."""
    when = utc(value)
    if when is None:
        day = text(value, 10)
        return (day, None) if day and _is_day(day) else (None, None)
    return eastern_date(when), when if valid is not False else None


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def season_year(value: Any, day: str | None) -> int | None:
    """The season that an answer names, or that the day is of."""
    found = count(value)
    if found is not None and 1947 <= found <= 2200:
        return found
    return season_of(day) if day else None


def status_of(status: Any) -> str:
    """What state a game is in: scheduled, live, final, postponed, canceled or suspended."""
    kind = at(status, "type") if isinstance(at(status, "type"), dict) else status
    said = " ".join(str(at(kind, name)) for name in ("name", "description", "desc", "detail", "det")).lower()
    for word in ("postpone", "cancel", "suspend"):
        if word in said:
            return {"postpone": "postponed", "cancel": "canceled", "suspend": "suspended"}[word]
    state = text(at(kind, "state"), 10)
    if state == "post" and at(kind, "completed") is not False:
        return "final"
    return "live" if state == "in" else "final" if state is None and "final" in said else "scheduled"


def season_type_of(value: Any, home: Side, away: Side, note: str | None) -> str | None:
    """The sort of game. ESPN files All-Star games as regular ones; and the final of the cup counts for no record."""
    number = count(value if not isinstance(value, dict) else first(value, "type", "id"))
    found = SEASON_TYPES.get(number) if number is not None else None
    if found == "regular" and not home.known and not away.known:
        return "all-star"
    said = (note or "").lower()
    if found == "regular" and "championship" in said and ("cup" in said or "tournament" in said):
        return "cup-final"
    return found


def scores(status: str, home: Side, away: Side) -> dict[str, Any]:
    """Scores count when the game is over. Before, ESPN writes 0; while it is played, they are how it stands."""
    if status == "final":
        return {"home_score": home.score, "away_score": away.score}
    return {"live_home_score": home.score, "live_away_score": away.score} if status == "live" else {}


def overtimes(status: str, period: int | None, home: Side) -> int | None:
    """Overtimes of a game that is over, by its last period or by the line score."""
    played = period or len(home.periods)
    return max(0, played - QUARTERS) if status == "final" and played >= QUARTERS else None


def readable(events: Iterable[dict[str, Any]], read: Callable[[dict[str, Any]], Game | None]) -> list[Game]:
    """The games that are listed. Raises ReadError if there are some, and not one can be read."""
    listed = list(events)
    found = [game for event in listed if (game := read(event)) is not None]
    if listed and not found:
        raise ReadError(f"none of {len(listed)} games could be read: they lack an id, a day or two teams")
    return found


def joined(game: Game, listed: Game | None) -> Game:
    """A game as its own page tells it, and what only the schedule told."""
    if listed is None or listed.game_id != game.game_id:
        return game
    empty = [name for name in game.__struct_fields__ if getattr(game, name) in (None, ())]
    return msgspec.structs.replace(game, **{name: getattr(listed, name) for name in empty if name[:4] != "live"})
