"""Games of schedules and of days: played ones with their score, those to come without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, Final

from gossamer import Page
from gossamer.packs.nba.model import Game, game_key
from gossamer.packs.nba.reference import tables, values
from gossamer.packs.nba.reference.asked import Asked, heading
from gossamer.packs.nba.reference.tables import Row

__all__ = ["daily_index", "month_links", "months_of", "schedule", "team_schedule"]

#: Games of one page.
MOST: Final = 5_000
#: Seasons in which the months say nothing of the playoffs: lockouts, and the pandemic.
_ODD: Final = frozenset({1999, 2012, 2020, 2021})
_MONTH: Final = re.compile(r"_games-([a-z]{3,9})\.html")


def schedule(page: Page, asked: Asked) -> Iterator[Game]:
    """The games of one month of a league."""
    table = tables.first(page, "schedule")
    for row in (table.rows if table else ())[:MOST]:
        on = values.day(row.text("date_game"))
        names = ("visitor_team_name", "home_team_name")
        sides = [(row.text(name), values.team_in(row.link(name))) for name in names]
        scores = [values.whole(row.text(f"{side}_pts")) for side in ("visitor", "home")]
        game = values.game_id(row.link("box_score_text"), row.sorts.get("date_game"), _made_up(on, sides[1][1]))
        if on and game and sides[0][0] and sides[1][0]:
            yield _game(asked, game, on, sides, scores, _said(row, on, asked))


def _made_up(on: str | None, home: str | None) -> str | None:
    """The id of a game that has no page yet: the site makes it of the day and the home team."""
    return f"{on.replace('-', '')}0{home}" if on and home else None


def _said(row: Row, on: str, asked: Asked) -> dict[str, Any]:
    """What a row of a schedule tells beside teams and score."""
    return {
        "tipoff": values.tipoff(on, row.text("game_start_time")),
        "season_type": _season_type(row, on, asked.season),
        "overtimes": row.text("overtimes"),
        "attendance": values.whole(row.text("attendance")),
        "venue": row.text("arena_name"),
        "note": row.text("game_remarks"),
    }


def _season_type(row: Row, on: str, season: int | None) -> str | None:
    if "play-in" in (row.text("game_remarks") or "").lower():
        return "play-in"
    if row.group and "playoff" in row.group.lower():
        return "playoffs"
    if season in _ODD:
        return None
    return "playoffs" if on[5:7] in ("05", "06") else "regular"


def _game(
    asked: Asked,
    game: str,
    on: str,
    sides: list[tuple[str | None, str | None]],
    scores: list[int | None],
    said: dict[str, Any],
) -> Game:
    """A game of two sides, the visitor first: (name, the site's code)."""
    season = asked.season or values.season_of(on, asked.league)
    codes = [values.team(code or name, season, asked.league) or "" for name, code in sides]
    over = None not in scores
    extra = values.overtimes(said.pop("overtimes", None))
    periods = said.pop("periods", None) or ((), ())
    return Game(
        game_id=game,
        source=values.SOURCE,
        game_key=game_key(on, codes[0], codes[1]),
        league=asked.league.upper(),
        date=on,
        season=season,
        home_team=codes[1],
        away_team=codes[0],
        home_name=sides[1][0],
        away_name=sides[0][0],
        home_score=scores[1] if over else None,
        away_score=scores[0] if over else None,
        status="final" if over else "scheduled",
        period=4 + extra if over else None,
        overtimes=extra if over else None,
        home_periods=periods[1],
        away_periods=periods[0],
        url=f"https://{asked.type.host}/boxscores/{game}.html" if over and asked.league == "nba" else None,
        **said,
    )


def team_schedule(page: Page, asked: Asked) -> Iterator[Game]:
    """The games of one team: regular season and playoffs."""
    canonical = page.css('link[rel="canonical"]').attr("href") or page.url
    mine = values.team_in(canonical) or asked.args.get("team")
    for name, table in tables.read(page, "games", "games_playoffs").items():
        for row in table.rows[:MOST]:
            on = row.sorts.get("date_game") or row.text("date_game")
            on = values.day(on) or values.day(row.text("date_game"))
            away = row.text("game_location") == "@"
            pair = [(None, mine), (row.text("opp_name"), values.team_in(row.link("opp_name")))]
            scores = [values.whole(row.text("pts")), values.whole(row.text("opp_pts"))]
            sides, points = (pair, scores) if away else (pair[::-1], scores[::-1])
            game = values.game_id(row.link("box_score_text"), _made_up(on, sides[1][1]))
            if on and game:
                said = _said(row, on, asked) | {"season_type": "playoffs" if name == "games_playoffs" else "regular"}
                yield _game(asked, game, on, sides, points, said)


def daily_index(page: Page, asked: Asked) -> Iterator[Game]:
    """The games of one day."""
    on = values.day(heading(page)) or asked.args.get("date")
    for summary in page.css("div.game_summary")[:MOST]:
        rows = [row for row in summary.css("table.teams tr") if row.css('a[href*="/teams/"]')][:2]
        link = summary.css('td.gamelink a[href*="/boxscores/"]').attr("href")
        if len(rows) != 2 or on is None:
            continue
        sides = [(row.css("td a").text, values.team_in(row.css("td a").attr("href"))) for row in rows]
        scores = [values.whole(row.css("td.right").text) for row in rows]
        game = values.game_id(link, _made_up(on, sides[1][1]))
        if game and sides[0][0] and sides[1][0]:
            yield _game(
                asked,
                game,
                on,
                sides,
                scores,
                {"overtimes": rows[1].css("td")[-1].text, "periods": _periods(summary) if None not in scores else None},
            )


def _periods(summary: Any) -> tuple[tuple[int, ...], ...] | None:
    """Points of each period, of the visitor and the home team: the second small table of a game."""
    found: list[tuple[int, ...]] = []
    for row in summary.css("table:not(.teams):not(.stats) tbody tr")[:2]:
        points = [values.whole(cell.text) for cell in row.css("td")[1:]][:20]
        if not points or None in points:
            return None
        found.append(tuple(point for point in points if point is not None))
    return tuple(found) if len(found) == 2 else None


def month_links(page: Page) -> dict[str, str]:
    """The months of a schedule -> where they are."""
    hrefs = [link.attr("href") or "" for link in page.css("div.filter a")[:30]]
    return {match[1]: href for href in hrefs if (match := _MONTH.search(href))}


def months_of(page: Page) -> set[str]:
    """The months that a page of a schedule shows, in lower case."""
    table = tables.first(page, "schedule")
    days = [values.day(row.text("date_game")) for row in (table.rows if table else ())[:MOST]]
    return {date.fromisoformat(on).strftime("%B").lower() for on in days if on}
