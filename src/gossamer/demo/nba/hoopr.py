"""Files in the layouts and columns of hoopR's: the week of the invented season, as a source of whole seasons has it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from gossamer.demo.nba import league
from gossamer.demo.nba.league import Game, Line
from gossamer.packs.nba import teams
from gossamer.packs.nba.hoopr import files as hoopr_files
from gossamer.testing import Answer, Hit, Site

_RAW, _GITHUB, _ASSETS = "raw.githubusercontent.com", "github.com", "release-assets.githubusercontent.com"
#: The hosts they stand in for.
HOSTS: tuple[str, ...] = (_RAW, _GITHUB, _ASSETS)
#: What the scraper is asked for here.
PARAMS: Mapping[str, str] = {"season": "2024", "dataset": "all"}
_SEASON = 2024


def install(site: Site) -> None:
    """Add the files to a site, each host below a path of its own name."""
    for dataset in hoopr_files.DATASETS:
        for layout, forms in hoopr_files.LAYOUTS.items():
            for form in forms:
                real = urlsplit(hoopr_files.url(dataset, _SEASON, layout, form))
                path = f"/{real.netloc}{real.path}"
                if real.netloc == _GITHUB:  # downloads of releases are elsewhere
                    elsewhere = f"/{_ASSETS}/invented/{real.path.rpartition('/')[2]}"
                    site.redirect(path, f"https:/{elsewhere}", status=302)
                    path = elsewhere
                site.handler(path, _file(dataset, form))
        listed = "season,row_count,generated_at_utc,source_endpoint\n"
        lines = "".join(
            f"2024,{n},2024-01-2{n} 09:00:00 UTC,https://raw.invented.example/{dataset}.json\n" for n in (1, 2)
        )
        real = urlsplit(hoopr_files.manifest_url(dataset))
        site.page(f"/{real.netloc}{real.path}", listed + lines, headers={"Content-Type": "text/plain; charset=utf-8"})


def _file(dataset: str, form: str) -> Callable[[Hit], Answer]:
    """A file that is made when it is first asked for: few who start the demo want it."""

    def answer(_: Hit) -> Answer:
        if form == "parquet" and find_spec("pyarrow") is None:
            return Answer(status=404, body="not made: Parquet cannot be written here")
        return Answer(body=_bytes(dataset, form), headers={"Content-Type": "application/octet-stream"})

    return answer


@cache
def _bytes(dataset: str, form: str) -> bytes:
    rows = [dict(row) for row in _ROWS[dataset]()]
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: "NA" if value is None else value for name, value in row.items()} for row in rows)
        return text.getvalue().encode()
    import pyarrow
    from pyarrow import parquet

    made = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), made, row_group_size=100)
    return made.getvalue()


def _espn(team: str) -> tuple[int, str, str]:
    found = teams.team(team, _SEASON)
    assert found is not None
    return int(found.espn_id or 0), found.espn_code or team, found.name


def _schedule_rows() -> Iterator[dict[str, Any]]:
    for game in _games():
        row: dict[str, Any] = {
            "id": int(game.id),
            "date": game.begins,
            "attendance": game.attendance or None,
            "neutral_site": False,
            "venue_full_name": game.venue,
            "venue_address_city": game.city,
            "status_period": len(game.periods(game.home)),
            "status_type_name": {"live": "STATUS_IN_PROGRESS"}.get(game.status, f"STATUS_{game.status.upper()}"),
            "status_type_state": {"live": "in", "final": "post"}.get(game.status, "pre"),
            "status_type_completed": game.status == "final",
        }
        for side, team in (("home", game.home), ("away", game.away)):
            number, short, name = _espn(team)
            row |= {f"{side}_id": number, f"{side}_abbreviation": short, f"{side}_display_name": name}
            row[f"{side}_score"] = game.score(team)
        yield {**row, "season": _SEASON, "season_type": 2, "game_id": int(game.id), "game_date": game.date}


def _sides(game: Game, team: str) -> dict[str, Any]:
    other = game.away if team == game.home else game.home
    us, them = _espn(team), _espn(other)
    return {
        "game_id": int(game.id),
        "season": _SEASON,
        "season_type": 2,
        "game_date": game.date,
        "team_id": us[0],
        "team_abbreviation": us[1],
        "team_display_name": us[2],
        "opponent_team_id": them[0],
        "opponent_team_abbreviation": them[1],
    }


def _team_rows() -> Iterator[dict[str, Any]]:
    for game in _played():
        for team in (game.away, game.home):
            counts = _counts(game.lines[team])
            counts["total_rebounds"] = counts.pop("rebounds")
            counts.pop("points")
            where = {"team_home_away": "home" if team == game.home else "away", "team_score": game.score(team)}
            yield {**_sides(game, team), **where, **counts, "largest_lead": "12", "technical_fouls": 1}


def _player_rows() -> Iterator[dict[str, Any]]:
    for game, team, line in _all_lines():
        counts = {name: value if line.played else None for name, value in _counts([line]).items()}
        yield {
            **_sides(game, team),
            "athlete_id": int(line.player.id),
            "athlete_display_name": line.player.name,
            "athlete_position_abbreviation": line.player.position,
            "athlete_jersey": line.player.jersey,
            "home_away": "home" if team == game.home else "away",
            "starter": line.starter,
            "did_not_play": not line.played,
            "reason": None if line.played else "COACH'S DECISION",
            "ejected": False,
            "minutes": float(line.minutes) if line.played else None,
            "plus_minus": f"{line.plus_minus:+d}" if line.played else None,
            **counts,
        }


def _play_rows() -> Iterator[dict[str, Any]]:
    for game in _played():
        home, away = _espn(game.home), _espn(game.away)
        for n, shot in enumerate(game.shots, 1):
            yield {
                "id": float(int(game.id) * 1_000 + n),
                "sequence_number": str(n),
                "type_id": 92,
                "type_text": "Free Throw" if shot.value == 1 else "Jump Shot",
                "text": f"{shot.player.name} makes {shot.value}",
                "away_score": shot.away_score,
                "home_score": shot.home_score,
                "period_number": shot.period,
                "clock_display_value": shot.clock,
                "scoring_play": True,
                "score_value": shot.value,
                "team_id": _espn(shot.team)[0],
                "athlete_id_1": float(shot.player.id),
                "athlete_id_2": None,
                "shooting_play": True,
                # A free throw has no place: the files have the least number there is instead.
                "coordinate_x_raw": -214_748_340.0 if shot.value == 1 else 25.0,
                "coordinate_y_raw": -214_748_365.0 if shot.value == 1 else 11.0,
                "season": _SEASON,
                "season_type": 2,
                "away_team_id": away[0],
                "away_team_abbrev": away[1],
                "home_team_id": home[0],
                "home_team_abbrev": home[1],
                "game_id": int(game.id),
                "game_date": game.date,
            }


_ROWS: Mapping[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "schedules": _schedule_rows,
    "team_box": _team_rows,
    "player_box": _player_rows,
    "pbp": _play_rows,
}


# -- the week ------------------------------------------------------------------------------------------------------


def _games() -> list[Game]:
    return [league.game(number) for number in range(len(league.GAMES))]


def _played() -> list[Game]:
    return [each for each in _games() if each.status == "final"]


def _all_lines() -> Iterator[tuple[Game, str, Line]]:
    for game in _played():
        for team in (game.home, game.away):
            for line in game.lines[team]:
                yield game, team, line


def _counts(lines: list[Line]) -> dict[str, int]:
    """What lines add up to, as box scores call it."""
    return {
        "field_goals_made": sum(line.field_goals[0] for line in lines),
        "field_goals_attempted": sum(line.field_goals[1] for line in lines),
        "three_point_field_goals_made": sum(line.threes for line in lines),
        "three_point_field_goals_attempted": sum(line.threes + line.missed_threes for line in lines),
        "free_throws_made": sum(line.free_throws for line in lines),
        "free_throws_attempted": sum(line.free_throws + line.missed_free_throws for line in lines),
        "offensive_rebounds": sum(line.offensive for line in lines),
        "defensive_rebounds": sum(line.defensive for line in lines),
        "rebounds": sum(line.offensive + line.defensive for line in lines),
        "assists": sum(line.assists for line in lines),
        "steals": sum(line.steals for line in lines),
        "blocks": sum(line.blocks for line in lines),
        "turnovers": sum(line.turnovers for line in lines),
        "fouls": sum(line.fouls for line in lines),
        "points": sum(line.points for line in lines),
    }
