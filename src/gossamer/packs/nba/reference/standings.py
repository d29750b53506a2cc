"""Where teams stand: by division, with the place in the conference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gossamer import Page
from gossamer.packs.nba.model import Standing
from gossamer.packs.nba.reference import tables, values
from gossamer.packs.nba.reference.asked import Asked
from gossamer.packs.nba.reference.tables import Row, Table

__all__ = ["standings"]

_CONFERENCES: Final = {"E": "East", "W": "West"}
_SEED: Final = re.compile(r"\((\d{1,2})\)")


def standings(page: Page, asked: Asked) -> Iterator[Standing]:
    """The standings of a season page: its divisions, or its conferences where it has no divisions."""
    if asked.season is None:
        return
    found = tables.read(page)
    seeds = _seeds(found, asked)
    sort = "divs_standings_" if any(name.startswith("divs_standings_") for name in found) else "confs_standings_"
    for name, table in found.items():
        if name.startswith(sort):
            conference = _CONFERENCES.get(name.removeprefix(sort)[:1])
            yield from (made for row in table.rows if (made := _standing(row, conference, seeds, asked)))


def _team(row: Row, asked: Asked) -> tuple[str | None, str | None, str]:
    """Our code, the site's code, and the name."""
    code = values.team_in(row.link("team_name"))
    plain = _SEED.sub("", row.text("team_name") or "").strip()
    return asked.team(code or plain), code, values.name(plain)


def _seeds(found: Mapping[str, Table], asked: Asked) -> dict[str, int]:
    """Our code -> the place in the conference, which is the order of its table."""
    seeds: dict[str, int] = {}
    for name, table in found.items():
        if name.startswith("confs_standings_"):
            seeds |= {team: n for n, row in enumerate(table.rows, 1) if (team := _team(row, asked)[0])}
    return seeds


def _standing(row: Row, conference: str | None, seeds: Mapping[str, int], asked: Asked) -> Standing | None:
    team, code, name = _team(row, asked)
    if team is None or asked.season is None:
        return None
    share = values.number(row.text("win_loss_pct"))
    return Standing(
        team=team,
        source=values.SOURCE,
        season=asked.season,
        season_type="regular",
        team_id=code,
        name=name,
        conference=conference,
        division=(row.group or "").removesuffix("Division").strip() or None,
        seed=seeds.get(team),
        wins=values.whole(row.text("wins")),
        losses=values.whole(row.text("losses")),
        win_percentage=share if share is not None and 0 <= share <= 1 else None,
        # The first of a division is behind nobody: the site writes a dash.
        games_behind=0.0 if row.text("gb") == "\N{EM DASH}" else values.number(row.text("gb")),
        points_for=values.number(row.text("pts_per_g")),
        points_against=values.number(row.text("opp_pts_per_g")),
        clinched="x" if "*" in (row.text("team_name") or "") else None,
    )
