"""The endpoints of the NBA's statistics, as a table: what each is about, what it wants, and where it belongs.

stats.nba.com answers only if every parameter of an endpoint is there, empty or not. So each endpoint names all it
knows, with the values they have unless somebody says otherwise; those in `needs` have none, and must be given.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from gossamer import ConfigError

__all__ = ["ENDPOINTS", "GROUPS", "SCOPES", "Endpoint", "chosen", "endpoint"]

STATS: Final = "https://stats.nba.com/stats/"
LIVE: Final = "https://cdn.nba.com/static/json/liveData/"
MOBILE: Final = "https://data.nba.com/data/v2015/json/mobile_teams/nba/"

#: What an endpoint is asked about, one at a time; what has no scope of its own is asked about a season of the league.
SCOPES: Final = ("league", "team", "player", "game", "date")
#: Groups of endpoints, and the folder that their answers have in a bucket.
GROUPS: Final = {
    "box_scores": "game_advanced",
    "player_tracking": "player_tracking",
    "league_dashboards": "league_dashboards",
    "player_dashboards": "player_dashboards",
    "team_dashboards": "team_dashboards",
    "games": "game_advanced",
    "matchups": "matchups",
    "draft": "draft",
    "live": "game_advanced",
}
#: The parameter that holds what an endpoint of a scope is asked about.
SUBJECT: Final = {"team": "TeamID", "player": "PlayerID", "game": "GameID", "date": "GameDate"}

#: Ways to count: all of them, those of simple endpoints, and those of careers.
PER: Final = (
    "Totals",
    "PerGame",
    "MinutesPer",
    "Per48",
    "Per40",
    "Per36",
    "PerMinute",
    "PerPossession",
    "PerPlay",
    "Per100Possessions",
    "Per100Plays",
)
PER_SIMPLE: Final = ("Totals", "PerGame")
PER_CAREER: Final = ("Totals", "PerGame", "Per36")
#: What cameras measure, and the sorts of play that are told apart.
TRACKED: Final = (
    "SpeedDistance",
    "Rebounding",
    "Possessions",
    "CatchShoot",
    "PullUpShot",
    "Defense",
    "Drives",
    "Passing",
    "ElbowTouch",
    "PostTouch",
    "PaintTouch",
    "Efficiency",
)
PLAYS: Final = (
    "Transition",
    "Isolation",
    "PRBallHandler",
    "PRRollman",
    "Postup",
    "Spotup",
    "Handoff",
    "Cut",
    "OffScreen",
    "OffRebound",
    "Misc",
)


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be asked for."""

    name: str
    group: str
    #: What it is asked about: one of SCOPES.
    scope: str
    #: Parameters that must be given.
    needs: tuple[str, ...] = ()
    #: All others, with what they are unless somebody says otherwise.
    defaults: Mapping[str, str] = {}
    #: The values that PerMode may have; empty: it has no PerMode.
    per: tuple[str, ...] = ()
    #: A parameter, and the values it is asked with one after the other unless somebody names one.
    each: tuple[str, tuple[str, ...]] | None = None
    #: The parameter that holds the season; empty: it has none.
    season: str = ""
    #: The URL, with fields for a game, a season's first year and a league; empty: by its name, on stats.nba.com.
    path: str = ""

    @property
    def folder(self) -> str:
        """The folder of its answers in a bucket."""
        return GROUPS[self.group]

    @property
    def knows(self) -> frozenset[str]:
        """Every parameter it takes."""
        own = {*self.needs, *self.defaults}
        return frozenset(own | {self.season} if self.season else own)


# -- parameters that come together -------------------------------------------------------------------------------


def _empty(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "")


_LEAGUE: Final = {"LeagueID": "00"}
_TYPE: Final = {"SeasonType": "Regular Season"}
_DATES: Final = _empty("DateFrom DateTo")
#: A part of a game: all of it, unless somebody says which.
_RANGE: Final = {"StartPeriod": "0", "EndPeriod": "0", "StartRange": "0", "EndRange": "0", "RangeType": "0"}
#: What picks games out of a season: all of them.
_FILTER: Final = (
    _DATES
    | {"LastNGames": "0", "Month": "0", "OpponentTeamID": "0", "Period": "0"}
    | _empty("GameSegment Location Outcome SeasonSegment VsConference VsDivision")
)
#: What a dashboard counts.
_MEASURE: Final = {"MeasureType": "Base", "PerMode": "Totals", "PaceAdjust": "N", "PlusMinus": "N", "Rank": "N"}
_DASHBOARD: Final = _FILTER | _MEASURE | _TYPE | _LEAGUE | _empty("PORound ShotClockRange")
#: What picks teams, and what picks players.
_TEAMS: Final = _empty("Conference Division GameScope PlayerExperience PlayerPosition StarterBench TeamID")
_PLAYERS: Final = _empty("College Country DraftPick DraftYear Height Weight")
_CLUTCH: Final = {"ClutchTime": "Last 5 Minutes", "AheadBehind": "Ahead or Behind", "PointDiff": "5"}
_TRACKED: Final = _FILTER | _TYPE | _LEAGUE | {"PerMode": "Totals"}
_SHOTS: Final = _empty(
    "CloseDefDistRange Conference Division DribbleRange GeneralRange PORound ShotClockRange ShotDistRange TeamID"
    " TouchTimeRange"
)
#: leaguegamefinder takes a number for each of these: equal to it, more, or less.
_FOUND: Final = _empty(
    "AST BLK DD DREB FG3A FG3M FG3_PCT FGA FGM FG_PCT FTA FTM FT_PCT MINUTES OREB PF PTS REB STL TD TOV"
)
_FINDER: Final = (
    _DATES
    | {f"{sign}{name}": "" for sign in ("Eq", "Gt", "Lt") for name in _FOUND}
    | _empty("Conference Division DraftNumber DraftRound DraftTeamID DraftYear GameID Location Outcome PORound")
    | _empty("PlayerID RookieYear SeasonSegment StarterBench TeamID VsConference VsDivision VsTeamID YearsExperience")
    | _TYPE
    | _LEAGUE
    | {"PlayerOrTeam": "T"}
)
_SHOT_CHART: Final = _FILTER | _TYPE | _LEAGUE | {"ContextMeasure": "FGA"}
_BY_PARTS: Final = _empty("AheadBehind ClutchTime ContextFilter EndPeriod EndRange PointDiff Position RangeType")


# -- the table -----------------------------------------------------------------------------------------------------


def _table() -> Iterable[Endpoint]:
    yield from _box_scores()
    yield from _player_tracking()
    yield from _league_dashboards()
    yield from _player_dashboards()
    yield from _team_dashboards()
    yield from _games()
    yield from _matchups()
    yield from _draft()
    yield from _live()


def _box_scores() -> Iterable[Endpoint]:
    for about in ("traditional", "advanced", "fourfactors", "misc", "scoring", "usage"):
        for version in ("v2", "v3"):
            yield _of_game(f"boxscore{about}{version}", "box_scores", _RANGE)
    for name in ("defensivev2", "playertrackv3", "hustlev2", "matchupsv3", "summaryv2", "summaryv3"):
        yield _of_game(f"boxscore{name}", "box_scores")


def _player_tracking() -> Iterable[Endpoint]:
    for about in ("pass", "reb", "shotdefend", "shots"):
        defaults = _TRACKED | {"TeamID": "0"}
        yield _of_player(f"playerdashpt{about}", "player_tracking", defaults, per=PER_SIMPLE)
    tracked = _without(_TRACKED, "GameSegment Period") | _TEAMS | _PLAYERS | _empty("PORound")
    about_players = tracked | {"PlayerOrTeam": "Player", "PtMeasureType": TRACKED[0]}
    yield msgspec.structs.replace(
        _of_league("leaguedashptstats", "player_tracking", about_players, per=PER_SIMPLE),
        each=("PtMeasureType", TRACKED),
    )
    defended = _TRACKED | _TEAMS | _PLAYERS | _empty("PORound PlayerID") | {"DefenseCategory": "Overall"}
    yield _of_league("leaguedashptdefend", "player_tracking", _without(defended, "GameScope"), per=PER_SIMPLE)


def _league_dashboards() -> Iterable[Endpoint]:
    def of(name: str, defaults: Mapping[str, str], per: Iterable[str] = ()) -> Endpoint:
        return _of_league(name, "league_dashboards", defaults, per=per)

    two_way = {"TwoWay": "0"}
    yield of("leaguedashplayerstats", _DASHBOARD | _TEAMS | _PLAYERS | two_way, PER)
    yield of("leaguedashteamstats", _DASHBOARD | _TEAMS | two_way, PER)
    lineups = _without(_TEAMS, "GameScope PlayerExperience PlayerPosition StarterBench")
    yield of("leaguedashlineups", _DASHBOARD | lineups | {"GroupQuantity": "5"}, PER)
    yield of("leaguedashplayerbiostats", _TRACKED | _TEAMS | _PLAYERS | _empty("PORound ShotClockRange"), PER_SIMPLE)
    yield of("leaguedashplayerclutch", _DASHBOARD | _TEAMS | _PLAYERS | _CLUTCH, PER)
    yield of("leaguedashteamclutch", _DASHBOARD | _TEAMS | _CLUTCH, PER)
    leaders = {"StatCategory": "PTS", "PerMode": "Totals", "Scope": "S", "ActiveFlag": ""}
    yield of("leagueleaders", _TYPE | _LEAGUE | leaders, ("Totals", "PerGame", "Per48"))
    yield of("leaguestandingsv3", _TYPE | _LEAGUE | _empty("SeasonYear"))
    log = {"Counter": "0", "Direction": "ASC", "PlayerOrTeam": "T", "Sorter": "DATE"}
    yield of("leaguegamelog", _TYPE | _LEAGUE | _DATES | log)
    yield of("leaguegamefinder", _FINDER)
    hustle = _without(_TRACKED, "GameSegment LastNGames Period") | _empty("PORound TeamID Conference Division")
    yield of("leaguehustlestatsplayer", hustle | _PLAYERS | _empty("PlayerExperience PlayerPosition"), PER)
    yield of("leaguehustlestatsteam", hustle, PER)
    synergy = {"PerMode": "Totals", "PlayerOrTeam": "P", "TypeGrouping": "offensive", "PlayType": PLAYS[0]}
    yield msgspec.structs.replace(
        of("synergyplaytypes", _TYPE | _LEAGUE | synergy, PER_SIMPLE), season="SeasonYear", each=("PlayType", PLAYS)
    )


def _player_dashboards() -> Iterable[Endpoint]:
    group = "player_dashboards"
    for about in ("clutch", "generalsplits", "lastngames", "shootingsplits", "teamperformance", "yearoveryear"):
        yield _of_player(f"playerdashboardby{about}", group, _DASHBOARD, per=PER)
    yield _of_league("commonallplayers", group, _LEAGUE | {"IsOnlyCurrentSeason": "1"})
    yield Endpoint(name="commonplayerinfo", group=group, scope="player", needs=("PlayerID",), defaults=_LEAGUE)
    career = _LEAGUE | {"PerMode": "Totals"}
    yield Endpoint(
        name="playercareerstats", group=group, scope="player", needs=("PlayerID",), defaults=career, per=PER_CAREER
    )
    yield _of_player("playergamelog", group, _TYPE | _LEAGUE | _DATES)
    chart = _SHOT_CHART | {"TeamID": "0"} | _empty("GameID PlayerPosition RookieYear")
    yield _of_player("shotchartdetail", group, chart)


def _team_dashboards() -> Iterable[Endpoint]:
    def of(name: str, defaults: Mapping[str, str], per: Iterable[str] = ()) -> Endpoint:
        return Endpoint(
            name=name,
            group="team_dashboards",
            scope="team",
            needs=("TeamID",),
            defaults=defaults,
            per=tuple(per),
            season="Season",
        )

    yield of("teamdashboardbygeneralsplits", _DASHBOARD, PER)
    yield of("teamdashboardbyshootingsplits", _DASHBOARD, PER)
    lineups = _without(_DASHBOARD, "ShotClockRange") | {"GroupQuantity": "5", "GameID": ""}
    yield of("teamdashlineups", lineups, PER)
    for about in ("pass", "reb", "shots"):
        yield of(f"teamdashpt{about}", _TRACKED, PER_SIMPLE)
    yield of("teamgamelog", _TYPE | _LEAGUE | _DATES)
    yield of("commonteamroster", _LEAGUE)
    yield of("teaminfocommon", _TYPE | _LEAGUE)
    years = Endpoint(
        name="teamyearbyyearstats",
        group="team_dashboards",
        scope="team",
        needs=("TeamID",),
        defaults=_TYPE | _LEAGUE | {"PerMode": "Totals"},
        per=PER_SIMPLE,
    )
    yield years


def _games() -> Iterable[Endpoint]:
    for version in ("v2", "v3"):
        yield _of_game(f"playbyplay{version}", "games", {"StartPeriod": "0", "EndPeriod": "0"})
    yield _of_game("gamerotation", "games", _LEAGUE)
    yield _of_game("winprobabilitypbp", "games", {"RunType": "each second"})
    yield Endpoint(
        name="scoreboardv2",
        group="games",
        scope="date",
        needs=("GameDate",),
        defaults=_LEAGUE | {"DayOffset": "0"},
    )
    yield Endpoint(name="scoreboardv3", group="games", scope="date", needs=("GameDate",), defaults=_LEAGUE)
    yield _of_league("scheduleleaguev2", "games", _LEAGUE)
    films = _without(_SHOT_CHART, "ContextMeasure") | _BY_PARTS | _empty("GameID RookieYear StartPeriod StartRange")
    yield _of_player("videodetails", "games", films | {"ContextMeasure": "PTS", "TeamID": "0"})
    both = {f"Person{n}{what}": value for n in (1, 2) for what, value in _PERSON.items()}
    yield Endpoint(
        name="glalumboxscoresimilarityscore",
        group="games",
        scope="player",
        needs=("Person1Id", "Person2Id"),
        defaults=both,
    )


_PERSON: Final = {"LeagueId": "00", "Season": "", "SeasonType": "Regular Season"}


def _matchups() -> Iterable[Endpoint]:
    def of(name: str, defaults: Mapping[str, str], per: Iterable[str] = PER_SIMPLE) -> Endpoint:
        return _of_league(name, "matchups", defaults, per=per)

    yield of("leaguedashplayerptshot", _TRACKED | _SHOTS | _PLAYERS | _empty(_SORTS_OF_PLAYERS))
    yield of("leaguedashteamptshot", _TRACKED | _SHOTS)
    zones = {"DistanceRange": "By Zone"}
    yield of("leaguedashplayershotlocations", _DASHBOARD | _TEAMS | _PLAYERS | zones, PER)
    yield of("leaguedashteamshotlocations", _DASHBOARD | _TEAMS | zones, PER)
    sides = _empty("DefPlayerID DefTeamID OffPlayerID OffTeamID") | {"PerMode": "Totals"}
    yield of("leagueseasonmatchups", _TYPE | _LEAGUE | _DATES | sides | _empty("Outcome PORound"))
    yield of("matchupsrollup", _TYPE | _LEAGUE | sides)


_SORTS_OF_PLAYERS: Final = "PlayerExperience PlayerPosition StarterBench"


def _draft() -> Iterable[Endpoint]:
    picks = _LEAGUE | _empty("College OverallPick RoundNum RoundPick TeamID TopX")
    yield _of_league("drafthistory", "draft", picks)
    yield _of_league("draftcombinestats", "draft", _LEAGUE, season="SeasonYear")


def _live() -> Iterable[Endpoint]:
    """Files of the league's own apps: no parameters, and no table of rows."""
    board = "scoreboard/todaysScoreboard_{league}.json"
    yield Endpoint(name="livescoreboard", group="live", scope="league", defaults=_LEAGUE, path=LIVE + board)
    for name, path in {
        "liveboxscore": LIVE + "boxscore/boxscore_{game}.json",
        "liveplaybyplay": LIVE + "playbyplay/playbyplay_{game}.json",
        "mobilegamedetail": MOBILE + "{year}/scores/gamedetail/{game}_gamedetail.json",
        "mobileplaybyplay": MOBILE + "{year}/scores/pbp/{game}_full_pbp.json",
    }.items():
        yield Endpoint(name=name, group="live", scope="game", needs=("GameID",), path=path)


def _of_game(name: str, group: str, defaults: Mapping[str, str] | None = None) -> Endpoint:
    return Endpoint(name=name, group=group, scope="game", needs=("GameID",), defaults=defaults or {})


def _of_player(name: str, group: str, defaults: Mapping[str, str], per: Iterable[str] = ()) -> Endpoint:
    return Endpoint(
        name=name,
        group=group,
        scope="player",
        needs=("PlayerID",),
        defaults=defaults,
        per=tuple(per),
        season="Season",
    )


def _of_league(
    name: str, group: str, defaults: Mapping[str, str], per: Iterable[str] = (), season: str = "Season"
) -> Endpoint:
    return Endpoint(name=name, group=group, scope="league", defaults=defaults, per=tuple(per), season=season)


def _without(family: Mapping[str, str], names: str) -> dict[str, str]:
    return {name: value for name, value in family.items() if name not in names.split()}


#: Name -> endpoint, in the order of their groups.
ENDPOINTS: Final[Mapping[str, Endpoint]] = {each.name: each for each in _table()}


# -- finding one ---------------------------------------------------------------------------------------------------


def endpoint(name: str) -> Endpoint:
    """The endpoint of that name, however it is spelt: `BoxScoreTraditionalV3` too. Raises ConfigError."""
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    found = ENDPOINTS.get(plain)
    if found is None:
        near = difflib.get_close_matches(plain, ENDPOINTS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {len(ENDPOINTS)}, in {', '.join(GROUPS)}"
        raise ConfigError(f"the NBA has no endpoint {name[:80]!r}: {hint}")
    return found


def chosen(text: str) -> list[Endpoint]:
    """Endpoints by names, groups or scopes, separated by commas; "all" is every one. Raises ConfigError."""
    found: dict[str, Endpoint] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        plain = word.lower().replace("-", "_").replace(" ", "_")
        some = [each for each in ENDPOINTS.values() if plain in ("all", each.group, each.scope)]
        found |= {each.name: each for each in some or [endpoint(word)]}
    if not found:
        raise ConfigError(f"endpoint={text[:80]!r} names none: write names, groups or scopes, with commas between")
    return list(found.values())
