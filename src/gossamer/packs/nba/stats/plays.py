"""Play-by-play, from the four forms in which the NBA tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gossamer.packs.nba import model
from gossamer.packs.nba.model import Play
from gossamer.packs.nba.stats.query import game_season
from gossamer.packs.nba.stats.values import About, flag, node, nodes, team_code

__all__ = ["of_actions", "of_mobile", "of_rows"]

#: What the numbers of events mean, in sets of rows and in the mobile files.
_EVENTS: Final = {
    1: "Made Shot",
    2: "Missed Shot",
    3: "Free Throw",
    4: "Rebound",
    5: "Turnover",
    6: "Foul",
    7: "Violation",
    8: "Substitution",
    9: "Timeout",
    10: "Jump Ball",
    11: "Ejection",
    12: "Start Period",
    13: "End Period",
    18: "Instant Replay",
    20: "Stoppage",
}
_MADE, _MISSED, _FREE = 1, 2, 3
_SCORE: Final = re.compile(r"\s{0,3}(\d{1,3})\s{0,3}-\s{0,3}(\d{1,3})\s{0,3}")
_MISS: Final = re.compile(r"\bmiss(?:ed)?\b", re.IGNORECASE)
_THREE: Final = re.compile(r"\b3pt\b|\b3-?point", re.IGNORECASE)
#: Who takes part in a live action besides the one it is about.
_OTHERS: Final = ("assistPersonId", "blockPersonId", "stealPersonId", "foulDrawnPersonId", "jumpBallLostPersonId")
#: Numbers of teams, which stand in the place of a player's where a team did it.
_TEAM_IDS: Final = re.compile(r"1[56]\d{8}")


def of_rows(records: Iterable[Mapping[str, Any]], about: About) -> Iterator[Play]:
    """Of rows with a description for each side, and a score where it changed."""
    score: tuple[int, int] = (0, 0)
    for place, record in enumerate(records, 1):
        game_id = model.text(record.get("GAME_ID"), 20) or about.game_id
        number = model.count(record.get("EVENTNUM"))
        if game_id is None or number is None:
            continue
        told = _SCORE.fullmatch(str(record.get("SCORE") or ""))
        if told:  # the guests' first
            score = (int(told[2]), int(told[1]))
        event = model.count(record.get("EVENTMSGTYPE"))
        said = [model.text(record.get(f"{side}DESCRIPTION")) for side in ("HOME", "NEUTRAL", "VISITOR")]
        text = " | ".join(filter(None, said)) or None
        people = [record.get(f"PLAYER{n}_ID") for n in (1, 2, 3)]
        team_id = record.get("PLAYER1_TEAM_ID") or next((each for each in people[:1] if _is_team(each)), None)
        yield Play(
            **about.game(game_id),
            play_id=str(number),
            sequence=place,
            period=model.count(record.get("PERIOD")),
            clock=model.seconds(record.get("PCTIMESTRING")),
            text=text,
            type=_EVENTS.get(event or 0),
            type_id=None if event is None else str(event),
            team=team_code(team_id, record.get("PLAYER1_TEAM_ABBREVIATION"), game_season(game_id)),
            player_ids=_people(people),
            home_score=score[0],
            away_score=score[1],
            **_shot(event, text or ""),
        )


def of_mobile(found: Mapping[str, Any], about: About) -> Iterator[Play]:
    """Of the mobile file: periods, each with its plays."""
    game = node(found.get("g"))
    game_id = model.text(game.get("gid"), 20)
    if game_id is None:
        return
    place = 0
    for period in nodes(game.get("pd")):
        for record in nodes(period.get("pla")):
            place += 1
            number, event = model.count(record.get("evt")), model.count(record.get("etype"))
            if number is None:
                continue
            text = model.text(record.get("de"))
            shot = _shot(event, text or "")
            yield Play(
                **about.game(game_id),
                play_id=str(number),
                sequence=place,
                period=model.count(period.get("p")),
                clock=model.seconds(record.get("cl")),
                text=text,
                type=_EVENTS.get(event or 0),
                type_id=None if event is None else str(event),
                team=team_code(record.get("tid"), None, game_season(game_id)),
                player_ids=_people([record.get("pid"), record.get("opid"), record.get("epid")]),
                home_score=model.count(record.get("hs")),
                away_score=model.count(record.get("vs")),
                x=model.number(record.get("locX")) if shot["shooting"] else None,
                y=model.number(record.get("locY")) if shot["shooting"] else None,
                **shot,
            )


def _shot(event: int | None, text: str) -> dict[str, Any]:
    """What an event that is told in words says of points."""
    tried = 1 if event == _FREE else (3 if _THREE.search(text) else 2) if event in (_MADE, _MISSED) else None
    if tried is None:
        return {"scoring": False, "shooting": False}
    made = event != _MISSED and not _MISS.search(text)
    return {"scoring": made, "shooting": True, "points": tried if made else 0, "points_attempted": tried}


# -- actions -------------------------------------------------------------------------------------------------------


def of_actions(found: Mapping[str, Any], about: About) -> Iterator[Play]:
    """Of the actions of V3, and of the live files."""
    game = node(found.get("game"))
    game_id = model.text(game.get("gameId"), 20)
    if game_id is None:
        return
    score: dict[str, Any] = {"home_score": 0, "away_score": 0}
    seen: dict[int, int] = {}
    for place, record in enumerate(nodes(game.get("actions")), 1):
        number = model.count(record.get("actionNumber"))
        if number is None:
            continue
        # In V3 a shot and its block have one number, that of the event in the other forms.
        seen[number] = seen.get(number, 0) + 1
        for side, name in (("home_score", "scoreHome"), ("away_score", "scoreAway")):
            now = model.count(record.get(name))
            score[side] = score[side] if now is None else now
        field_goal = flag(record.get("isFieldGoal")) is True
        yield Play(
            **about.game(game_id),
            play_id=str(number) if seen[number] == 1 else f"{number}-{seen[number]}",
            sequence=place,
            period=model.count(record.get("period")),
            clock=model.seconds(record.get("clock")),
            text=model.text(record.get("description")),
            type=model.text(record.get("actionType"), 60) or model.text(record.get("subType"), 60),
            team=team_code(record.get("teamId"), record.get("teamTricode"), game_season(game_id)),
            player_ids=_people([record.get("personId"), *(record.get(other) for other in _OTHERS)]),
            **score,
            x=model.number(record.get("xLegacy")) if field_goal else None,
            y=model.number(record.get("yLegacy")) if field_goal else None,
            wallclock=model.utc(record.get("timeActual")),
            **_attempt(record, field_goal=field_goal),
        )


def _attempt(record: Mapping[str, Any], *, field_goal: bool) -> dict[str, Any]:
    kind = re.sub(r"[^a-z0-9]", "", str(record.get("actionType")).lower())
    if kind != "freethrow" and not field_goal:
        return {"scoring": False, "shooting": False}
    tried = 1 if kind == "freethrow" else model.count(record.get("shotValue")) or (3 if kind == "3pt" else 2)
    result = str(record.get("shotResult") or "").lower()
    made = result == "made" if result else not _MISS.search(str(record.get("description")))
    return {"scoring": made, "shooting": True, "points": tried if made else 0, "points_attempted": tried}


# -- small things --------------------------------------------------------------------------------------------------


def _is_team(value: Any) -> bool:
    return _TEAM_IDS.fullmatch(str(value)) is not None


def _people(given: Iterable[Any]) -> tuple[str, ...]:
    """The players among the numbers of an event; teams have numbers too, and 0 and nothing are nobody."""
    found = (model.text(each, 20) for each in given)
    return tuple(dict.fromkeys(each for each in found if each and each != "0" and not _is_team(each)))
