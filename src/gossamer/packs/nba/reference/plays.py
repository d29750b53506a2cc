"""Play by play, and where shots were taken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gossamer import Page, ReadError
from gossamer.packs.nba.model import Play, seconds
from gossamer.packs.nba.reference import tables, values
from gossamer.packs.nba.reference.asked import Asked
from gossamer.packs.nba.reference.box_scores import Sides, sides
from gossamer.packs.nba.reference.tables import Row

__all__ = ["plays", "shots"]

_PERIOD: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)\s(Q|OT|Half)")
_SCORE: Final = re.compile(r"(\d{1,3})-(\d{1,3})")
_TRIED: Final = re.compile(r"\b([23])-pt")
#: Words of a play -> what it is, the first that fits.
_TYPES: Final = (
    ("jump ball", "jump ball"),
    ("start of", "period"),
    ("end of", "period"),
    ("free throw", "free throw"),
    ("makes", "made shot"),
    ("misses", "missed shot"),
    ("rebound", "rebound"),
    ("turnover", "turnover"),
    ("foul", "foul"),
    ("timeout", "timeout"),
    ("enters the game", "substitution"),
    ("violation", "violation"),
    ("replay", "replay"),
    ("ejected", "ejection"),
)
#: Shots of one page, and how their places are written.
MOST_SHOTS: Final = 2_000
_STYLE: Final = re.compile(r"(top|left):\s{0,3}(-?\d{1,4})px")
_SHOOTER: Final = re.compile(r"\bp-([a-z0-9.'-]{3,60})")
_QUARTER: Final = re.compile(r"\bq-(\d{1,2})\b")


def plays(page: Page, asked: Asked) -> Iterator[Play]:
    """Every line of a game, in order; jump balls and the ends of periods are of no team."""
    table = tables.first(page, "pbp")
    if table is None:
        raise ReadError("the page has no table of plays: the site has them since the season of 1996-97")
    who = sides(page, asked)
    season = values.season_of(who.date, asked.league)
    score = (0, 0)
    for number, row in enumerate(table.rows, 1):
        match = _SCORE.fullmatch(row.text("_3") or "")
        score = (int(match[1]), int(match[2])) if match else score
        yield _play(row, number, score, who, season)


def _play(row: Row, number: int, score: tuple[int, int], who: Sides, season: int | None) -> Play:
    neutral = "_5" not in row.cells
    column = "_1" if neutral or row.text("_1") else "_5"
    text = row.text(column)
    made = values.whole(row.text("_2", "_4"))
    kind = _type(text or "")
    tried = _TRIED.search(text or "")
    return Play(
        game_id=who.game_id,
        source=values.SOURCE,
        game_key=who.game_key,
        season=season,
        play_id=str(number),
        sequence=number,
        period=_period(row.group),
        clock=seconds(row.text("_0")),
        text=text,
        type=kind,
        team=None if neutral else who.teams[0 if column == "_1" else 1],
        player_ids=values.players_in(row.links.get(column, ())),
        home_score=score[1],
        away_score=score[0],
        scoring=None if neutral else made is not None and made > 0,
        points=made if made and made > 0 else None,
        points_attempted=int(tried[1]) if tried else 1 if kind == "free throw" else None,
        shooting=None if neutral else kind in ("made shot", "missed shot", "free throw"),
    )


def _period(group: str | None) -> int | None:
    """The period that a header names: the first overtime is the fifth."""
    match = _PERIOD.match(group or "")
    if match is None:
        return None
    return int(match[1]) + (4 if match[2] == "OT" else 0)


def _type(text: str) -> str | None:
    plain = text.lower()
    return next((kind for words, kind in _TYPES if words in plain), None)


def shots(page: Page) -> list[dict[str, Any]]:
    """Where shots were taken, in pixels of the site's picture of half a court; the pictures stand in comments."""
    found: list[dict[str, Any]] = []
    for part in (page, *(Page.of(each, page.url) for each in tables.comments(page.text, "shot-area"))):
        for area in part.tree.css('div[id^="shots-"]')[:10]:
            code = (area.attributes.get("id") or "").removeprefix("shots-")[:10]
            marks = area.css("div[tip]")[: MOST_SHOTS - len(found)]
            found += [_shot(mark.attributes, code) for mark in marks]
    return found


def _shot(given: Any, code: str) -> dict[str, Any]:
    classes = (given.get("class") or "")[:300]
    at = dict(_STYLE.findall((given.get("style") or "")[:200]))
    shooter, quarter = _SHOOTER.search(classes), _QUARTER.search(classes)
    said = [" ".join(part.split()) for part in (given.get("tip") or "")[:500].split("<br>")]
    return {
        "team": code,
        "player_id": shooter[1] if shooter else None,
        "period": int(quarter[1]) if quarter else None,
        "made": "make" in classes.split(),
        "x": int(at["left"]) if "left" in at else None,
        "y": int(at["top"]) if "top" in at else None,
        "when": said[0] if said else None,
        "text": said[1] if len(said) > 1 else None,
        "score": said[2] if len(said) > 2 else None,
    }
