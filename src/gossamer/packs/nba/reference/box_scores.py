"""A game and its lines, from the page of its box score: today's layout, and that of before 2019."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from gossamer import Page, ReadError
from gossamer.packs.nba.model import Game, PlayerLine, TeamLine, game_key
from gossamer.packs.nba.reference import tables, values
from gossamer.packs.nba.reference.asked import Asked, heading
from gossamer.packs.nba.reference.tables import SLUG, Row, Table

__all__ = ["Sides", "box_score", "sides"]

_BASIC: Final = re.compile(r"box-([A-Z]{3})-game-basic|box_([a-z]{3})_basic")
_PLAYOFFS: Final = re.compile(r"playoff|finals|first round|semifinal|series", re.IGNORECASE)
_RESERVES: Final = "Reserves"
_ATTENDANCE: Final = re.compile(r"Attendance:\s{0,5}([\d,]{1,9})")


class Sides(msgspec.Struct, frozen=True):
    """Who plays, the visitor first: the site's codes, ours, names and scores; and when and where."""

    game_id: str
    date: str
    codes: tuple[str, str]
    teams: tuple[str, str]
    names: tuple[str, str]
    scores: tuple[int | None, int | None]
    tipoff: str | None = None
    venue: str | None = None
    city: str | None = None

    @property
    def game_key(self) -> str:
        """What the game is called in every source."""
        return game_key(self.date, *self.teams)


def sides(page: Page, asked: Asked) -> Sides:
    """What stands at the top of every page of a game. Raises ReadError where it does not."""
    boxes = [box for box in page.css("div.scorebox > div") if box.css('strong a[href*="/teams/"]')][:2]
    canonical = page.css('link[rel="canonical"]').attr("href")
    game = values.game_id(canonical, asked.args.get("game_id"), page.url)
    meta = page.css("div.scorebox_meta > div").texts()[:10]
    on = values.day(meta[0] if meta else None) or values.game_day(game or "")
    if len(boxes) != 2 or game is None or on is None:
        raise ReadError("this is no page of a game: it does not say who played, and when")
    links = [box.css('strong a[href*="/teams/"]') for box in boxes]
    codes = [values.team_in(link.attr("href")) or (link.text or "")[:60] for link in links]
    season = values.season_of(on, asked.league)
    ours = [values.team(code, season, asked.league) or code for code in codes]
    scores = [values.whole(box.css("div.score").text) for box in boxes]
    place = meta[1] if len(meta) > 1 and "," in meta[1] and "Logos" not in meta[1] else ""
    venue, _, city = place.partition(", ")
    return Sides(
        game,
        on,
        (codes[0], codes[1]),
        (ours[0], ours[1]),
        (links[0].text or codes[0], links[1].text or codes[1]),
        (scores[0], scores[1]),
        values.tipoff(on, meta[0] if meta else None),
        venue or None,
        city or None,
    )


def box_score(page: Page, asked: Asked) -> Iterator[Game | TeamLine | PlayerLine]:
    """The game, the lines of both teams, and those of all players."""
    who = sides(page, asked)
    found = tables.read(page)
    boxes: dict[str, Table] = {}
    for name, table in found.items():
        if match := _BASIC.fullmatch(name):
            boxes[(match[1] or match[2]).upper()] = table
    game = _game(page, who, found.get("line_score"), asked)
    yield game
    for side, code in enumerate(who.codes):
        if code not in boxes:
            if boxes:
                raise ReadError(f"the box score of {code} is missing: there are those of {', '.join(boxes)}")
            continue
        common: dict[str, Any] = {
            "game_id": who.game_id,
            "source": values.SOURCE,
            "game_key": who.game_key,
            "date": who.date,
            "season": game.season,
            "season_type": game.season_type,
            "team": who.teams[side],
            "opponent": who.teams[1 - side],
            "home": side == 1,
        }
        if boxes[code].footer:
            done = values.played(boxes[code].footer[0], boxes[code])
            yield TeamLine(**common, team_id=code, team_name=who.names[side], **_of_team(done, who.scores[side]))
        yield from (made for row in boxes[code].rows if (made := _player(row, boxes[code], common)))


def _of_team(done: dict[str, Any], score: int | None) -> dict[str, Any]:
    return {**done, "points": score if score is not None else done["points"]}


def _player(row: Row, table: Table, common: dict[str, Any]) -> PlayerLine | None:
    player = row.cells.get(SLUG) or values.player_in(row.link("player"))
    if player is None:
        return None
    reason = row.text("reason")
    done: dict[str, Any] = {}
    if reason is None:
        done = {
            "minutes": values.minutes(row.text("mp")),
            "plus_minus": values.whole(row.text("plus_minus")),
            **values.played(row, table),
        }
    return PlayerLine(
        **common,
        player_id=player,
        name=values.name(row.text("player")),
        starter=row.group != _RESERVES if any(each.group == _RESERVES for each in table.rows) else None,
        did_not_play=reason is not None,
        reason=reason,
        **done,
    )


def _game(page: Page, who: Sides, line: Table | None, asked: Asked) -> Game:
    before, colon, _ = heading(page).partition(":")
    note = before.strip() if colon else None
    away, home = _periods(line, who)
    over = None not in who.scores
    officials, attendance = _officials(page)
    kind = "regular"
    if note:
        kind = "playoffs" if _PLAYOFFS.search(note) else "play-in" if "play-in" in note.lower() else "regular"
    return Game(
        game_id=who.game_id,
        source=values.SOURCE,
        game_key=who.game_key,
        league=asked.league.upper(),
        date=who.date,
        tipoff=who.tipoff,
        season=values.season_of(who.date, asked.league),
        season_type=kind,
        home_team=who.teams[1],
        away_team=who.teams[0],
        home_name=who.names[1],
        away_name=who.names[0],
        home_score=who.scores[1] if over else None,
        away_score=who.scores[0] if over else None,
        status="final" if over else "scheduled",
        period=len(home) or None,
        overtimes=max(0, len(home) - 4) if over and home else None,
        home_periods=home,
        away_periods=away,
        attendance=attendance,
        venue=who.venue,
        city=who.city,
        officials=officials,
        note=note,
        url=page.url,
    )


def _periods(line: Table | None, who: Sides) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Points of each period: what stands between the name of a team and its total."""
    found: dict[str, tuple[int, ...]] = {}
    for row in line.rows if line else ():
        code = values.team_in(next((links[0] for links in row.links.values() if links), None))
        points = [values.whole(text) for text in list(row.cells.values())[1:-1]][:20]
        if code and None not in points:
            found[code] = tuple(point for point in points if point is not None)
    return found.get(who.codes[0], ()), found.get(who.codes[1], ())


def _officials(page: Page) -> tuple[tuple[str, ...], int | None]:
    """Who judged, and how many watched: below the tables, without a table."""
    names: tuple[str, ...] = ()
    watched: int | None = None
    for strong in page.tree.css("strong")[:500]:
        said = strong.text().strip()
        around = strong.parent
        if around is None:
            continue
        if said.startswith("Officials") and not names:
            links = around.css('a[href^="/referees/"]')[:10]
            names = tuple(" ".join(link.text().split()) for link in links)
        elif said.startswith("Attendance") and watched is None:
            match = _ATTENDANCE.search(around.text()[:5_000].replace("\xa0", " "))
            watched = values.whole(match[1]) if match else None
    return names, watched
