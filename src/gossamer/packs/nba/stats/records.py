"""From an answer of the NBA's to records: games, lines, plays and standings where it has them, else its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from gossamer import Item
from gossamer.packs.nba import model
from gossamer.packs.nba.stats import games, lines, plays
from gossamer.packs.nba.stats.catalogue import ENDPOINTS
from gossamer.packs.nba.stats.shapes import Table, tables
from gossamer.packs.nba.stats.values import SOURCE, About, node

__all__ = ["KINDS", "StatAnswer", "StatRow", "document", "records"]

#: Columns, besides those that end in ID, that tell one row of a table from another.
_TELLING: Final = frozenset(
    [
        "GROUP_SET",
        "GROUP_VALUE",
        "SEASON",
        "SEASON_YEAR",
        "PLAY_TYPE",
        "TYPE_GROUPING",
        "DEFENSE_CATEGORY",
        "SHOT_TYPE",
        "REB_NUM_CONTESTING_RANGE",
        "SHOT_CLOCK_RANGE",
        "DRIBBLE_RANGE",
        "CLOSE_DEF_DIST_RANGE",
        "TOUCH_TIME_RANGE",
        "OVERALL",
        "REB_DIST_RANGE",
        "SHOT_TYPE_RANGE",
        "EVENTNUM",
        "EVENT_NUM",
        "GAME_EVENT_ID",
        "PERIOD",
        "STARTERS_BENCH",
        "OFF_PLAYER_ID",
        "DEF_PLAYER_ID",
        "SHOT_ZONE_BASIC",
        "SHOT_ZONE_AREA",
        "SHOT_ZONE_RANGE",
        "VS_TEAM_ID",
        "STAT",
        "SIDE",
        "STANDINGSDATE",
        "PASS_TYPE",
        "IN_TIME_REAL",
    ]
)
#: Tables that only hold the others: alone, they tell nothing.
_AROUND: Final = frozenset({"scoreboard", "leagueSchedule", "game"})
_PLAYS: Final = ("playbyplayv2", "playbyplayv3", "liveplaybyplay", "mobileplaybyplay")
_LONGEST_KEY: Final = 400


class StatRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a table of an answer, as it came."""

    endpoint: str
    table: str
    source: str = SOURCE
    league: str = "NBA"
    #: The year in which the season ends, and its part.
    season: int | None = None
    season_type: str | None = None
    game_id: str | None = None
    team_id: str | None = None
    player_id: str | None = None
    #: What else was asked for: PerMode, MeasureType ...
    asked: dict[str, str] = {}
    #: The columns, by the NBA's own names.
    values: dict[str, Any] = {}


class StatAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, all of it: what is kept as one file in a bucket."""

    endpoint: str
    source: str = SOURCE
    #: The folder that such answers have, and whom this one is about: "player_dashboards", "player_2544".
    folder: str
    subject: str
    league: str = "NBA"
    season: int | None = None
    season_type: str | None = None
    game_id: str | None = None
    team_id: str | None = None
    player_id: str | None = None
    asked: dict[str, str] = {}
    #: Table -> its rows.
    tables: dict[str, list[dict[str, Any]]] = {}


#: What the scraper holds its records against.
KINDS: Final[dict[str, type[msgspec.Struct]]] = {**model.KINDS, "stat_row": StatRow, "stat_answer": StatAnswer}


def records(found: Mapping[str, Any], about: About) -> Iterator[Item]:
    """What an answer tells. Raises ReadError for a shape that nobody knows."""
    made = tables(found)
    told, used = _told(found, {table.name: table for table in made}, about)
    normal = [model.item(each) for each in told]
    yield from normal
    for table in made:
        if table.name not in used or (not normal and table.name not in _AROUND):
            yield from _rows(table, about)


def _told(found: Mapping[str, Any], named: Mapping[str, Table], about: About) -> tuple[list[msgspec.Struct], set[str]]:
    """The records of an answer that every source has, and the tables that they were made of."""
    name = about.endpoint
    if name in ("scoreboardv2", "boxscoresummaryv2"):
        return [*games.of_headers(named)], {"GameHeader", "GameSummary", "LineScore", "GameInfo", "Officials"}
    if name in ("scoreboardv3", "scheduleleaguev2", "boxscoresummaryv3", "livescoreboard"):
        return [*games.of_nested(found)], set(named)
    if name in ("boxscoretraditionalv2", "boxscoretraditionalv3"):
        return _box_score(found, named, about), {"PlayerStats", "TeamStats", "players", "teams", "boxScoreTraditional"}
    if name in ("liveboxscore", "mobilegamedetail"):
        body = node(found.get("g") or found.get("game"))
        told = games.of_mobile(found) if "g" in found else games.of_nested(found)
        known = _knowing(about, [*told])
        return [*known[1], *lines.nested(body, known[0])], set(named)
    if name in _PLAYS:
        return _plays(found, named, about), {"PlayByPlay", "game", "actions", "periods"}
    if name in ("leaguegamelog", "leaguegamefinder", "teamgamelog", "playergamelog"):
        return _logs(named, about), set(named)
    if name == "leaguestandingsv3":
        rows = [row for table in named.values() for row in table.records()]
        return [*games.standings(rows, about)], set(named)
    return [], set()


def _box_score(found: Mapping[str, Any], named: Mapping[str, Table], about: About) -> list[msgspec.Struct]:
    body = node(found.get("boxScoreTraditional"))
    if body:
        return [*lines.nested(body, about)]
    made: list[msgspec.Struct] = []
    for name, read in (("PlayerStats", lines.players), ("TeamStats", lines.teams)):
        if name in named:
            made += read(named[name].records(), about)
    return made


def _plays(found: Mapping[str, Any], named: Mapping[str, Table], about: About) -> list[msgspec.Struct]:
    if "g" in found:
        return [*plays.of_mobile(found, about)]
    if "PlayByPlay" in named:
        return [*plays.of_rows(named["PlayByPlay"].records(), about)]
    return [*plays.of_actions(found, about)]


def _logs(named: Mapping[str, Table], about: About) -> list[msgspec.Struct]:
    """Lines of a log, and the games of which both lines are there."""
    rows = [{key.upper(): value for key, value in row.items()} for table in named.values() for row in table.records()]
    told = [line for line in (lines.of_log(row, about) for row in rows) if line is not None]
    whole = [] if any("PLAYER_ID" in row for row in rows[:1]) else [*games.of_logs(rows)]
    return [*whole, *told]


def _knowing(about: About, told: list[model.Game]) -> tuple[About, list[model.Game]]:
    """What is known of an answer that tells its game too."""
    if len(told) != 1:
        return about, told
    game = told[0]
    return msgspec.structs.replace(about, date=game.date, home=game.home_team, away=game.away_team), told


# -- rows as they are ----------------------------------------------------------------------------------------------


def _rows(table: Table, about: About) -> Iterator[Item]:
    seen: dict[str, int] = {}
    for values in table.records():
        row = StatRow(table=table.name, values=values, **_tags(about, values))
        key = _key(row)
        seen[key] = seen.get(key, 0) + 1
        key = key if seen[key] == 1 else f"{key}#{seen[key]}"
        yield Item("stat_row", key, msgspec.json.encode(row).decode())


def _tags(about: About, values: Mapping[str, Any]) -> dict[str, Any]:
    """What every record is told of: the endpoint, whom it is about, and the season."""
    return {
        "endpoint": about.endpoint,
        "league": about.league,
        "season": about.season,
        "season_type": about.season_type,
        "game_id": about.game_id or _first(values, "GAME_ID", "gameId", "gid"),
        "team_id": about.team_id or _first(values, "TEAM_ID", "teamId", "tid", "TeamID"),
        "player_id": about.player_id or _first(values, "PLAYER_ID", "PERSON_ID", "personId", "pid"),
        "asked": dict(about.asked),
    }


def _first(values: Mapping[str, Any], *names: str) -> str | None:
    found = next((values[name] for name in names if values.get(name)), None)
    return model.text(found, 20)


def _key(row: StatRow) -> str:
    """What tells a row from all others: what was asked for, and the columns that name something."""
    asked = (f"{name}={value}" for name, value in row.asked.items())
    about = (row.league, str(row.season), str(row.season_type), row.game_id, row.team_id, row.player_id)
    named = (
        f"{name}={value}"
        for name, value in row.values.items()
        if value not in (None, "") and (name.upper().endswith("ID") or name.upper() in _TELLING)
    )
    whole = ":".join((row.endpoint, row.table, *(each or "" for each in about), *asked, *named))
    return whole[:_LONGEST_KEY]


def document(found: Mapping[str, Any], about: About) -> Item:
    """All of an answer as one record, for a bucket with one file for each."""
    if about.endpoint in _PLAYS:
        told = tuple(each for each in _told(found, _named(found), about)[0] if isinstance(each, model.Play))
        if told:
            game, season = told[0].game_id, told[0].season
            made = model.PlayByPlay(game_id=game, source=SOURCE, season=season, date=about.date, plays=told)
            return model.item(made)
    endpoint = ENDPOINTS[about.endpoint]
    ids = {"game": about.game_id, "team": about.team_id, "player": about.player_id, "date": about.date}
    subject = f"{endpoint.scope}_{ids[endpoint.scope]}" if ids.get(endpoint.scope) else about.endpoint
    each = endpoint.each[0] if endpoint.each else ""
    if about.asked.get(each):
        subject = f"{subject}_{about.asked[each]}"
    whole = StatAnswer(
        folder=endpoint.folder,
        subject=subject,
        tables={name: [*table.records()] for name, table in _named(found).items()},
        **_tags(about, {}),
    )
    asked = ":".join(f"{name}={value}" for name, value in about.asked.items())
    key = ":".join((about.endpoint, subject, str(about.season), str(about.season_type), asked))
    return Item("stat_answer", key[:_LONGEST_KEY], msgspec.json.encode(whole).decode())


def _named(found: Mapping[str, Any]) -> dict[str, Table]:
    return {table.name: table for table in tables(found)}
