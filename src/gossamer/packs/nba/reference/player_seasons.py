"""Tables of a season, a row for each player and team: totals, per game, advanced ..."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gossamer import Page
from gossamer.packs.nba.reference import tables, values
from gossamer.packs.nba.reference.asked import Asked
from gossamer.packs.nba.reference.records import PlayerSeason
from gossamer.packs.nba.reference.tables import SLUG, Row, Table

__all__ = ["player_seasons", "rates"]

#: Columns that say who and where, not what was done.
_WHO: Final = frozenset(
    {"ranker", "name_display", "player", SLUG, "age", "team_name_abbr", "team_id", "team", "pos", "games", "g", "mp"}
    | {"games_started", "gs", "mp_per_g", "DUMMY", "season", "year_id", "lg_id", "comp_name_abbr"}
    | {"awards", "award_summary"}
)
_TABLE: Final = re.compile(r"([a-z_-]+?)(?:_stats)?(_post)?")
_UNIT: Final = re.compile(r"(.+)_(per_g|per_mp|per_minute_36|per_poss|per_100)")


def player_seasons(page: Page, asked: Asked) -> Iterator[PlayerSeason]:
    """A record for each row; those that sum up several teams of a player only if asked for."""
    if asked.season is None:
        return
    for name, table in tables.read(page).items():
        match = _TABLE.fullmatch(name)
        if not asked.type.has(name) or match is None:
            continue
        playoffs = bool(match[2]) or "playoffs" in asked.type.name
        for row in table.kept(combined=asked.combined):
            made = _record(row, table, asked, match[1].replace("-", "_"), "playoffs" if playoffs else "regular")
            if made is not None:
                yield made


def _record(row: Row, table: Table, asked: Asked, name: str, season_type: str) -> PlayerSeason | None:
    player = row.cells.get(SLUG) or values.player_in(row.link(*tables.NAME))
    if player is None or asked.season is None:
        return None
    team = row.text(*tables.TEAM)
    return PlayerSeason(
        source=values.SOURCE,
        league=asked.league,
        season=asked.season,
        season_type=season_type,
        table=name,
        player_id=player,
        name=values.name(row.text(*tables.NAME)),
        team=None if row.is_combined else asked.team(team),
        team_id=team,
        combined=row.is_combined,
        age=values.whole(row.text("age")),
        positions=tuple(filter(None, (row.text("pos") or "").split("-"))),
        games=values.whole(row.text("games", "g")),
        games_started=values.whole(row.text("games_started", "gs")),
        minutes=values.number(row.text("mp", "mp_per_g")),
        stats=rates(row.cells, table.columns),
        awards=tuple(filter(None, (row.text("awards", "award_summary") or "").split(","))),
    )


def rates(cells: Mapping[str, str], columns: tuple[str, ...]) -> dict[str, float | int | None]:
    """Everything that a row counts or works out, under our names: in a table per game, too, "fg_per_g" is
    field_goals_made."""
    found: dict[str, float | int | None] = {}
    for stat in columns:
        if stat in _WHO or stat.startswith(("_", "header_")) or stat.endswith("-dum"):
            continue
        unit = _UNIT.fullmatch(stat)
        plain = unit[1] if unit and stat not in values.RATES else stat
        number = values.number(cells.get(stat))
        exact = number is not None and number == int(number) and "." not in cells.get(stat, "")
        found[values.COUNTS.get(plain) or values.RATES.get(plain) or plain] = (
            int(number) if exact and number is not None else number
        )
    return found
