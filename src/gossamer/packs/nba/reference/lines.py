"""What players did in games, from game logs and from the leaders of a day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gossamer import Page
from gossamer.packs.nba.model import PlayerLine, game_key
from gossamer.packs.nba.reference import tables, values
from gossamer.packs.nba.reference.asked import Asked, heading
from gossamer.packs.nba.reference.tables import SLUG, Row, Table

__all__ = ["daily_leaders", "game_log", "where"]

#: Tables of game logs -> the part of the season.
_LOGS: Final = {
    "player_game_log_reg": "regular",
    "player_game_log_post": "playoffs",
    "pgl_basic": "regular",
    "pgl_basic_playoffs": "playoffs",
    "wnba_pgl_basic": "regular",
    "wnba_pgl_basic_playoffs": "playoffs",
}
#: What game logs write in the place of numbers where a player was not there.
_AWAY: Final = re.compile(r"inactive|did not|not with team|suspended|dnp|dnd|nwt", re.IGNORECASE)
_NAME: Final = re.compile(r"(.+?) (?:\d{4}-\d\d )?Game Log")


def game_log(page: Page, asked: Asked) -> Iterator[PlayerLine]:
    """The games of a player in a season; those that the player missed too, unless they are not wanted."""
    player = asked.args.get("slug") or values.player_in(page.url)
    title = f"{page.title or ''}"
    match = _NAME.match(title)
    name = match[1] if match else heading(page)
    for which, table in tables.read(page, *_LOGS).items():
        for row in table.rows:
            made = _logged(row, table, asked, player or "", name, _LOGS[which])
            if made is not None and (asked.inactive or not made.did_not_play):
                yield made


def _logged(row: Row, table: Table, asked: Asked, player: str, name: str, season_type: str) -> PlayerLine | None:
    on = values.day(row.text("date", "date_game"))
    mine, other = row.text("team_name_abbr", "team_id"), row.text("opp_name_abbr", "opp_id")
    if on is None or mine is None:
        return None
    reason = row.text("reason") or row.text("is_starter", "gs") or ""
    missed = _AWAY.search(reason) is not None
    done: dict[str, Any] = {} if missed else _done(row, table)
    return PlayerLine(
        **where(row, asked, on, mine, other),
        season_type=season_type,
        player_id=player,
        name=name,
        starter=None if missed else (row.text("is_starter", "gs") or "0") in ("1", "*"),
        did_not_play=missed,
        reason=reason if missed else None,
        **done,
    )


def _done(row: Row, table: Table) -> dict[str, Any]:
    return {
        "minutes": values.minutes(row.text("mp")),
        "plus_minus": values.whole(row.text("plus_minus")),
        **values.played(row, table),
    }


def where(row: Row, asked: Asked, on: str, mine: str, other: str | None) -> dict[str, Any]:
    """The game that a row is of, and the sides in it."""
    away = row.text("game_location") == "@"
    made_up = f"{on.replace('-', '')}0{other if away else mine}"
    team, opponent = asked.team(mine), asked.team(other)
    return {
        **asked.common,
        "game_id": values.game_id(row.link("date", "date_game", "game_result"), made_up) or made_up,
        "game_key": game_key(on, *((team, opponent) if away else (opponent, team))) if team and opponent else None,
        "date": on,
        "team": team,
        "opponent": opponent,
        "home": not away,
    }


def daily_leaders(page: Page, asked: Asked) -> Iterator[PlayerLine]:
    """Everybody who played on one day."""
    on = values.day(heading(page)) or asked.args.get("date")
    table = tables.first(page, "stats")
    if table is None or on is None:
        return
    for row in table.rows:
        player = row.cells.get(SLUG) or values.player_in(row.link("player"))
        mine = row.text("team_id")
        if player and mine:
            yield PlayerLine(
                **where(row, asked, on, mine, row.text("opp_id")),
                player_id=player,
                name=values.name(row.text("player")),
                **_done(row, table),
            )
