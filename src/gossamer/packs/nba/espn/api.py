"""Answers of ESPN's API: scoreboards, schedules, summaries of games, teams and standings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gossamer import ReadError
from gossamer.packs.nba import teams
from gossamer.packs.nba.espn import columns
from gossamer.packs.nba.espn.shape import (
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
from gossamer.packs.nba.model import (
    Game,
    Play,
    PlayerLine,
    Standing,
    Team,
    TeamLine,
    count,
    game_key,
    number,
    seconds,
    text,
    utc,
)

#: What ESPN writes where a play has no place on the court is far beyond any.
_COURT: Final = 1_000


def schedule(data: Any) -> list[Game]:
    """The games of a scoreboard or of a team's schedule."""
    return readable(records(at(data, "events")), lambda event: _game_of_event(event, data))


def _game_of_event(event: dict[str, Any], data: Any) -> Game | None:
    found = at(event, "competitions", 0)
    season = first(event, "season") or first(data, "season")
    return _game(
        found if isinstance(found, dict) else event,
        game_id=number_of(first(event, "id") or at(found, "id")),
        year=at(season, "year"),
        season_type=first(event, "seasonType") or at(season, "type"),
        league=_league(event, at(data, "leagues", 0)),
        status=first(found, "status") or first(event, "status"),
        links=at(event, "links"),
        venue=at(found, "venue"),
    )


def _league(record: Any, told: Any) -> str:
    """NBA, WNBA ...: the answer's word, or the number in ESPN's own ids."""
    if short := text(at(told, "abbreviation"), 12):
        return short.upper()
    return "WNBA" if "~l:59" in str(at(record, "uid")) else "NBA"


def _sides(competition: Any, season: int | None) -> tuple[Side | None, Side | None]:
    """Home and away, by what the answer says of them, not by their order."""
    found: dict[str, Side | None] = {}
    for each in records(at(competition, "competitors")):
        place = at(each, "homeAway")
        if place in ("home", "away"):
            found[place] = side(at(each, "team"), place == "home", at(each, "score"), at(each, "linescores"), season)
    return found.get("home"), found.get("away")


def _game(
    competition: dict[str, Any],
    *,
    game_id: str | None,
    year: Any,
    season_type: Any,
    league: str,
    status: Any,
    links: Any,
    venue: Any,
    info: Any = None,
) -> Game | None:
    """One game; None if it lacks what makes one: an id, a day, two teams."""
    day, tipoff = moment(at(competition, "date"), at(competition, "timeValid"))
    season = season_year(year, day)
    home, away = _sides(competition, season)
    if game_id is None or day is None or home is None or away is None:
        return None
    state = status_of(status)
    period = count(at(status, "period"))
    note = text(at(competition, "notes", 0, "headline"), 200)
    return Game(
        game_id=game_id,
        source=SOURCE,
        game_key=game_key(day, away.code, home.code),
        league=league,
        date=day,
        tipoff=tipoff,
        season=season,
        season_type=season_type_of(season_type, home, away, note),
        home_team=home.code,
        away_team=away.code,
        home_name=home.name,
        away_name=away.name,
        status=state,
        period=period if state in ("live", "final") else None,
        overtimes=overtimes(state, period, home),
        home_periods=home.periods if state == "final" else (),
        away_periods=away.periods if state == "final" else (),
        attendance=count(first(competition, "attendance") or at(info, "attendance")) or None,
        venue=text(at(venue, "fullName"), 100),
        city=text(at(venue, "address", "city"), 100),
        neutral=flag(at(competition, "neutralSite")),
        officials=_officials(info),
        note=note,
        url=_link(links),
        **scores(state, home, away),
    )


def _officials(info: Any) -> tuple[str, ...]:
    names = (text(first(each, "displayName", "fullName"), 100) for each in records(at(info, "officials")))
    return tuple(filter(None, names))[:10]


def _link(links: Any) -> str | None:
    found = (text(at(each, "href"), 500) for each in records(links))
    return next((each for each in found if each and each.startswith("https://www.espn.com/")), None)


# -- the summary of a game ---------------------------------------------------------------------------------------


def summary(data: Any) -> Summary:
    """All that the summary of a game tells. Raises ReadError if it is about none."""
    header, info = at(data, "header"), at(data, "gameInfo")
    game_id = number_of(at(header, "id"))
    if game_id is None:
        raise ReadError("the summary of a game has no id: its shape is not one that is known")
    competition = at(header, "competitions", 0)
    season = at(header, "season")
    game = _game(
        competition if isinstance(competition, dict) else {},
        game_id=game_id,
        year=at(season, "year"),
        season_type=at(season, "type"),
        league=_league(header, at(header, "league")),
        status=at(competition, "status"),
        links=at(header, "links"),
        venue=at(info, "venue"),
        info=info,
    )
    about = _About(game_id, game, competition, at(data, "boxscore"))
    return Summary(game, tuple(about.team_lines()), tuple(about.player_lines()), tuple(about.plays(at(data, "plays"))))


class _About:
    """One game whose lines are being read."""

    def __init__(self, game_id: str, game: Game | None, competition: Any, box: Any) -> None:
        self.game_id = game_id
        self.game = game
        self.box = box
        self.season = game.season if game else None
        self.sides = self._known(competition)
        self.shared: dict[str, Any] = {
            "game_id": game_id,
            "source": SOURCE,
            "game_key": game.game_key if game else None,
            "season": self.season,
        }
        self.dated = {**self.shared, "date": game.date if game else None}
        self.dated["season_type"] = game.season_type if game else None

    def _known(self, competition: Any) -> dict[str, Side]:
        """The teams by ESPN's ids: of the header, which has the scores, or of the box score."""
        found = {each.team_id: each for each in _sides(competition, self.season) if each and each.team_id}
        for each in records(at(self.box, "teams")):
            place = at(each, "homeAway")
            made = side(at(each, "team"), place == "home", None, None, self.season)
            if made and made.team_id and made.team_id not in found and place in ("home", "away"):
                found[made.team_id] = made
        return {team_id: each for team_id, each in found.items() if team_id}

    def _side(self, record: Any) -> Side | None:
        team = at(record, "team")
        known = self.sides.get(str(at(team, "id")))
        return known or side(team, at(record, "homeAway") == "home", None, None, self.season)

    def _against(self, one: Side) -> str | None:
        return next((each.code for each in self.sides.values() if each.team_id != one.team_id), None)

    def team_lines(self) -> Iterator[TeamLine]:
        for each in records(at(self.box, "teams")):
            one = self._side(each)
            named = [(at(stat, "name"), at(stat, "displayValue")) for stat in records(at(each, "statistics"))]
            fields = columns.stats(named)
            if one is None or not fields:
                continue
            yield TeamLine(
                **self.dated,
                team=one.code,
                team_id=one.team_id,
                team_name=one.name,
                opponent=self._against(one),
                home=one.home if self._placed(one) else None,
                # The statistics have no points: those are the score.
                points=one.score,
                **fields,
            )

    def _placed(self, one: Side) -> bool:
        return one.team_id in self.sides

    def player_lines(self) -> Iterator[PlayerLine]:
        for each in records(at(self.box, "players")):
            one = self._side(each)
            for group in records(at(each, "statistics")):
                keys, labels = at(group, "keys"), first(group, "labels", "names")
                for athlete in records(at(group, "athletes")):
                    line = one and self._player(one, athlete, keys, labels)
                    if line:
                        yield line

    def _player(self, one: Side, record: dict[str, Any], keys: Any, labels: Any) -> PlayerLine | None:
        who = at(record, "athlete")
        player_id, name = text(at(who, "id"), 20), text(first(who, "displayName", "fullName", "shortName"), 100)
        if player_id is None or name is None:
            return None
        fields = columns.line(keys, labels, at(record, "stats"))
        absent = at(record, "didNotPlay") is True or all(each is None for each in fields.values())
        return PlayerLine(
            **self.dated,
            player_id=player_id,
            name=name,
            team=one.code,
            opponent=self._against(one),
            home=one.home if self._placed(one) else None,
            position=text(at(who, "position", "abbreviation"), 10),
            jersey=text(at(who, "jersey"), 10),
            starter=flag(at(record, "starter")),
            did_not_play=absent,
            # ESPN writes a reason for those who played, too.
            reason=text(at(record, "reason"), 200) if absent else None,
            ejected=flag(at(record, "ejected")),
            **({} if absent else fields),
        )

    def plays(self, given: Any) -> Iterator[Play]:
        for each in records(given):
            play_id = text(at(each, "id"), 40)
            if play_id is None:
                continue
            who = (text(at(part, "athlete", "id"), 20) for part in records(at(each, "participants")))
            one = self.sides.get(str(at(each, "team", "id")))
            yield Play(
                **self.shared,
                play_id=play_id,
                sequence=count(at(each, "sequenceNumber")),
                period=count(at(each, "period", "number")),
                clock=seconds(at(each, "clock", "displayValue")),
                text=text(at(each, "text")),
                type=text(at(each, "type", "text"), 100),
                type_id=text(at(each, "type", "id"), 20),
                team=one.code if one else None,
                player_ids=tuple(filter(None, who))[:5],
                home_score=count(at(each, "homeScore")),
                away_score=count(at(each, "awayScore")),
                scoring=flag(at(each, "scoringPlay")),
                points=made(each),
                points_attempted=count(at(each, "pointsAttempted")),
                shooting=flag(at(each, "shootingPlay")),
                x=on_court(at(each, "coordinate", "x")),
                y=on_court(at(each, "coordinate", "y")),
                wallclock=utc(at(each, "wallclock")),
            )


def made(play: Any) -> int | None:
    """Points that a play brought: a missed shot has the value it would have had."""
    if at(play, "scoringPlay") is not True:
        return 0 if at(play, "scoringPlay") is False else None
    return count(at(play, "scoreValue"))


def on_court(value: Any) -> float | None:
    """A coordinate; None for the numbers that mean there is none."""
    found = number(value)
    return found if found is not None and abs(found) < _COURT else None


# -- teams and standings -----------------------------------------------------------------------------------------


def team_list(data: Any) -> list[Team]:
    """The teams that ESPN lists."""
    found = []
    for each in records(at(data, "sports", 0, "leagues", 0, "teams")):
        team = first(each, "team") or each
        one = side(team, False, None, None, None)
        if one is None or one.team_id is None or one.name is None:
            continue
        known = teams.team(one.code)
        found.append(
            Team(
                team=one.code,
                source=SOURCE,
                team_id=one.team_id,
                name=one.name,
                city=text(at(team, "location"), 100),
                nickname=text(at(team, "name"), 100),
                source_code=text(at(team, "abbreviation"), 12),
                conference=known.conference if known else None,
                division=known.division if known else None,
                franchise=known.franchise if known else None,
                active=flag(at(team, "isActive")),
                url=_link(at(team, "links")),
            )
        )
    return found


def standings(data: Any) -> list[Standing]:
    """The standings of a season, whether they come in one list, by conference, or by conference and division."""
    return [line for group, where in _groups(data, ()) for line in _standings_of(group, where, data)]


def _groups(data: Any, above: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    if isinstance(at(data, "standings"), dict):
        yield at(data, "standings"), above
    if len(above) < 4:
        for each in records(at(data, "children")):
            yield from _groups(each, (*above, text(first(each, "name", "abbreviation"), 60) or ""))


def _standings_of(group: Any, where: tuple[str, ...], data: Any) -> Iterator[Standing]:
    season = count(first(group, "season")) or count(at(data, "season", "year"))
    if season is None or not 1947 <= season <= 2200:
        return
    for entry in records(at(group, "entries")):
        one = side(at(entry, "team"), False, None, None, season)
        if one is None:
            continue
        said = {str(first(each, "type", "name")).lower(): each for each in records(at(entry, "stats"))}
        known = teams.team(one.code, season)
        conference = next((name.split()[0].removesuffix("ern") for name in where if "onference" in name), None)
        yield Standing(
            team=one.code,
            source=SOURCE,
            season=season,
            season_type=_season_type(at(group, "seasonType")),
            team_id=one.team_id,
            name=one.name,
            conference=conference or (known.conference if known else None),
            division=known.division if known else None,
            seed=count(_value(said, "playoffseed")),
            wins=count(_value(said, "wins")),
            losses=count(_value(said, "losses")),
            win_percentage=_share(_value(said, "winpercent")),
            games_behind=number(_value(said, "gamesbehind")),
            points_for=number(_value(said, "avgpointsfor")),
            points_against=number(_value(said, "avgpointsagainst")),
            streak=count(_value(said, "streak")),
            home_record=_shown(said, "home"),
            away_record=_shown(said, "road"),
            division_record=_shown(said, "vsdiv"),
            conference_record=_shown(said, "vsconf"),
            last_ten=_shown(said, "lasttengames"),
            clinched=_shown(said, "clincher"),
        )


def _season_type(value: Any) -> str | None:
    return {1: "preseason", 2: "regular", 3: "playoffs", 5: "play-in"}.get(count(value) or 0)


def _value(said: dict[str, Any], name: str) -> Any:
    return at(said.get(name), "value")


def _shown(said: dict[str, Any], name: str) -> str | None:
    return text(at(said.get(name), "displayValue"), 20)


def _share(value: Any) -> float | None:
    found = number(value)
    return round(found, 4) if found is not None and 0 <= found <= 1 else None
