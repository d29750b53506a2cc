"""Answers of ESPN's website, as its pages get them: box scores, play-by-play, matchups and schedules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gossamer import ReadError
from gossamer.packs.nba.espn import columns
from gossamer.packs.nba.espn.api import made, on_court
from gossamer.packs.nba.espn.shape import (
    MOST,
    SOURCE,
    Side,
    Summary,
    at,
    first,
    flag,
    moment,
    number_of,
    overtimes,
    readable,
    records,
    scores,
    season_type_of,
    season_year,
    side,
    status_of,
)
from gossamer.packs.nba.model import Game, Play, PlayerLine, TeamLine, count, game_key, seconds, text, utc


def schedule(content: Any) -> list[Game]:
    """The games of a schedule page: in one list, or in one for each day. Raises ReadError if it is none."""
    if not isinstance(content, dict) or not {"events", "scoreboard"} & set(content):
        raise ReadError("ESPN's page is no schedule: it has no events")
    events = first(content, "events") or at(content, "scoreboard", "evts")
    if isinstance(events, dict):
        events = [each for day in events.values() if isinstance(day, list) for each in day]
    return readable(records(events), _listed)


def _listed(event: dict[str, Any]) -> Game | None:
    day, tipoff = moment(first(event, "date", "dt"), at(event, "tbd") is not True)
    season = season_year(at(event, "season", "year"), day)
    home, away = _by_place(first(event, "competitors", "teams", "tms"), season)
    return _game(
        event,
        game_id=number_of(first(event, "id", "gid")),
        day=day,
        tipoff=tipoff,
        season=season,
        sides=(home, away),
        season_type=first(event, "seasonType") or at(event, "season", "type"),
        venue=at(event, "venue"),
    )


def _by_place(given: Any, season: int | None) -> tuple[Side | None, Side | None]:
    """Home and away, by what is said of each team; None where nothing is."""
    found: dict[bool, Side | None] = {}
    for each in records(given):
        home = _is_home(each)
        if home is not None:
            found[home] = side(each, home, at(each, "score"), at(each, "linescores"), season)
    return found.get(True), found.get(False)


def _is_home(team: Any) -> bool | None:
    told = first(team, "isHome", "homeAway", "hm")
    if at(team, "isHome") is False or at(team, "hm") is False or told == "away":
        return False
    return True if told is True or told == "home" else None


def _game(
    record: dict[str, Any],
    *,
    game_id: str | None,
    day: str | None,
    tipoff: str | None,
    season: int | None,
    sides: tuple[Side | None, Side | None],
    season_type: Any,
    venue: Any,
    info: Any = None,
) -> Game | None:
    home, away = sides
    if game_id is None or day is None or home is None or away is None:
        return None
    state = status_of(at(record, "status") or {"state": first(record, "statusState", "state")})
    period = count(first(record, "period") or at(record, "status", "period"))
    note = text(first(record, "nte", "note"), 200)
    return Game(
        game_id=game_id,
        source=SOURCE,
        game_key=game_key(day, away.code, home.code),
        date=day,
        tipoff=tipoff,
        season=season,
        season_type=season_type_of(season_type, home, away, note),
        home_team=home.code,
        away_team=away.code,
        home_name=home.name,
        away_name=away.name,
        status=state,
        period=period or len(home.periods) or None if state in ("live", "final") else None,
        overtimes=overtimes(state, period, home),
        home_periods=home.periods if state == "final" else (),
        away_periods=away.periods if state == "final" else (),
        attendance=count(at(info, "attnd")) or None,
        venue=text(first(venue, "fullName") or at(info, "loc"), 100),
        city=text(at(venue, "address", "city"), 100),
        neutral=flag(first(record, "neutralSite", "ntrlSte")),
        officials=tuple(filter(None, (text(first(each, "dspNm", "nm"), 100) for each in records(at(info, "refs"))))),
        note=note,
        url=f"https://www.espn.com/nba/game/_/gameId/{game_id}",
        **scores(state, home, away),
    )


def summary(content: Any) -> Summary:
    """What one of the pages of a game tells: each has its strip, and lines, plays or statistics of teams."""
    package = at(content, "gamepackage")
    strip, info = at(package, "gmStrp"), at(package, "gmInfo")
    game_id = number_of(at(strip, "gid"))
    if game_id is None:
        raise ReadError("a page of a game has no id in its strip: its shape is not one that is known")
    day, tipoff = moment(first(strip, "dt") or at(info, "dtTm"), at(strip, "tbd") is not True)
    season = season_year(at(strip, "season", "year"), day)
    sides = _sides(package, season)
    game = _game(
        strip,
        game_id=game_id,
        day=day,
        tipoff=tipoff,
        season=season,
        sides=sides,
        season_type=first(strip, "seasonType"),
        venue=at(info, "venue"),
        info=info,
    )
    if game is None:
        raise ReadError(f"the page of game {game_id} does not say when, or who at home, it was")
    about = _About(game, [each for each in sides if each])
    return Summary(
        game, tuple(about.team_lines(package)), tuple(about.player_lines(package)), tuple(about.plays(package))
    )


def _sides(package: Any, season: int | None) -> tuple[Side | None, Side | None]:
    """Home and away: by the strip, or where it does not say, by the parts of the page that do."""
    given = at(package, "gmStrp", "tms")
    home, away = _by_place(given, season)
    if home and away:
        return home, away
    for part in (("shtChrt", "tms"), ("pbp", "tms"), ("tmStats",)):
        ids = {place: _id_of(at(package, *part, place)) for place in ("home", "away")}
        if all(ids.values()):
            named = [{**each, "homeAway": "home"} for each in records(given) if _id_of(each) == ids["home"]]
            named += [{**each, "homeAway": "away"} for each in records(given) if _id_of(each) == ids["away"]]
            return _by_place(named, season)
    return None, None


def _id_of(team: Any) -> str | None:
    return text(first(team, "id") or at(team, "t", "id"), 20)


class _About:
    """One game whose lines are being read."""

    def __init__(self, game: Game, sides: list[Side]) -> None:
        self.game = game
        self.sides = {each.team_id: each for each in sides if each.team_id}
        self.home = next((each for each in sides if each.home), None)
        self.away = next((each for each in sides if not each.home), None)
        self.shared: dict[str, Any] = {
            "game_id": game.game_id,
            "source": SOURCE,
            "game_key": game.game_key,
            "season": game.season,
        }
        self.dated = {**self.shared, "date": game.date, "season_type": game.season_type}

    def _side(self, team: Any) -> Side | None:
        """The team of a part of the page: by its id, or by its code or name where that is left out."""
        known = self.sides.get(_id_of(team) or "")
        if known is None and (made_up := side(team, False, None, None, self.game.season)):
            known = next((each for each in self.sides.values() if each.code == made_up.code), None)
        return known

    def _of(self, one: Side) -> dict[str, Any]:
        other = self.away if one.home else self.home
        return {"team": one.code, "opponent": other.code if other else None, "home": one.home}

    def team_lines(self, package: Any) -> Iterator[TeamLine]:
        for one, place in ((self.home, "home"), (self.away, "away")):
            told = at(package, "tmStats", place, "s")
            given = list(told.items())[:200] if isinstance(told, dict) else []
            named = [(first(each, "n") or name, at(each, "d")) for name, each in given]
            fields = columns.stats(named)
            if one is not None and fields:
                yield TeamLine(
                    **self.dated,
                    **self._of(one),
                    team_id=one.team_id,
                    team_name=one.name,
                    points=one.score,
                    **fields,
                )

    def player_lines(self, package: Any) -> Iterator[PlayerLine]:
        for each in records(at(package, "bxscr")):
            one = self._side(at(each, "tm"))
            for group in records(at(each, "stats")):
                for athlete in records(at(group, "athlts")):
                    line = one and self._player(one, athlete, group)
                    if line:
                        yield line

    def _player(self, one: Side, record: dict[str, Any], group: Any) -> PlayerLine | None:
        who = at(record, "athlt")
        player_id, name = text(at(who, "id"), 20), text(first(who, "dspNm", "shrtNm"), 100)
        if player_id is None or name is None:
            return None
        fields = columns.line(at(group, "keys"), first(group, "lbls", "labels"), at(record, "stats"))
        reason = text(first(record, "dnpRsn", "didNotPlayReason", "reason"), 200)
        absent = first(record, "dnp", "didNotPlay") is True or all(each is None for each in fields.values())
        kind = text(at(group, "type"), 20)
        return PlayerLine(
            **self.dated,
            **self._of(one),
            player_id=player_id,
            name=name,
            position=text(at(who, "pos"), 10),
            jersey=text(at(who, "jersey"), 10),
            starter=flag(at(record, "strtr")) if kind not in ("starters", "bench") else kind == "starters",
            did_not_play=absent,
            reason=reason if absent else None,
            ejected=flag(at(record, "ejctd")),
            **({} if absent else fields),
        )

    def plays(self, package: Any) -> Iterator[Play]:
        shots = {str(at(each, "id")): each for each in records(at(package, "shtChrt", "plays"))}
        groups = at(package, "pbp", "playGrps")
        given = [each for group in (groups if isinstance(groups, list) else [])[:20] for each in records(group)]
        before = 0
        for place, each in enumerate(given[:MOST], 1):
            play_id = text(at(each, "id"), 40)
            if play_id is None:
                continue
            play = self._play(play_id, place, each, shots.get(play_id, {}))
            total = (play.home_score or 0) + (play.away_score or 0)
            if play.scoring and play.points is None and total >= before:
                play = msgspec.structs.replace(play, points=total - before)
            before = max(before, total)
            yield play

    def _play(self, play_id: str, place: int, play: dict[str, Any], shot: dict[str, Any]) -> Play:
        one = {"home": self.home, "away": self.away}.get(str(at(play, "homeAway")))
        kind = first(shot, "type") or first(play, "type")
        period = at(play, "period")
        who = text(at(play, "athlete", "id") or at(shot, "athlete", "id"), 20)
        return Play(
            **self.shared,
            play_id=play_id,
            sequence=place,
            period=count(at(period, "number") if isinstance(period, dict) else period),
            clock=seconds(at(play, "clock", "displayValue")),
            text=text(at(play, "text")),
            type=text(first(kind, "txt", "text"), 100),
            type_id=text(at(kind, "id"), 20),
            team=one.code if one else None,
            player_ids=(who,) if who else (),
            home_score=count(at(play, "homeScore")),
            away_score=count(at(play, "awayScore")),
            # The website says it only of plays that scored.
            scoring=at(play, "scoringPlay") is True,
            points=made({**play, "scoringPlay": at(play, "scoringPlay") is True}),
            shooting=bool(shot) or flag(at(play, "shootingPlay")),
            x=on_court(at(first(shot, "coordinate") or at(play, "coordinate"), "x")),
            y=on_court(at(first(shot, "coordinate") or at(play, "coordinate"), "y")),
            wallclock=utc(at(play, "wallclock")),
        )
