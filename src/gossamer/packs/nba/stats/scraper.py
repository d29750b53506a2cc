"""The NBA's own statistics: stats.nba.com, and the files of its live and mobile apps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from gossamer import ConfigError, Item, Page, Request, Scraper
from gossamer.packs.nba import answers, model, seasons, teams
from gossamer.packs.nba.quality import quality
from gossamer.packs.nba.stats import query, records
from gossamer.packs.nba.stats.catalogue import ENDPOINTS, SUBJECT, Endpoint, chosen
from gossamer.packs.nba.stats.query import LEAGUE_NAMES, Wish
from gossamer.packs.nba.stats.shapes import answer
from gossamer.packs.nba.stats.values import About

__all__ = ["Stats"]

#: What is asked for where nobody names endpoints, by what else was named.
_USUAL: Final = {
    "game": "boxscoresummaryv2,boxscoretraditionalv3,playbyplayv3",
    "player": "playercareerstats,playergamelog",
    "team": "teamgamelog,commonteamroster",
    "date": "scoreboardv3",
    "season": "leaguegamelog,leaguestandingsv3,leaguedashplayerstats,leaguedashteamstats",
}
#: Parameters that records are told of by other names.
_TOLD: Final = frozenset({"LeagueID", "Season", "SeasonYear", "SeasonType", "DateFrom", "DateTo", *SUBJECT.values()})
_ITEMS: Final = ("rows", "documents", "both")
#: Somebody and something of each scope, to see whether an endpoint can be asked at all.
_SOME: Final = {"game": "0022300001", "player": "2544", "team": "1610612738", "date": "2024-01-15"}
#: Days that scoreboards are asked for where no day is named.
_DAYS: Final = 2


class Stats(Scraper):
    """Box scores, dashboards, tracking, lineups, play-by-play: whatever the catalogue of endpoints has."""

    name = "nba.stats"
    paused = (
        "stats.nba.com leaves requests from data centres unanswered and bans whoever asks too fast: run it by name,"
        " from a network of your own"
    )
    takes: ClassVar[Mapping[str, str]] = {
        "endpoint": "names of endpoints, their groups (box_scores, matchups ...) or scopes (game, team ...), or all",
        "season": "the year a season ends in, like 2024, or 2023-24; a range like 2022..2024",
        "date": "a day like 2024-01-29, or a range like 2024-01-29..2024-02-04",
        "game": "ids of games: 0022300001, or several with commas",
        "team": "teams: BOS, Lakers or 1610612738, or several with commas; all of them unless given",
        "player": "numbers of players: 2544, or several with commas; all of a season unless given",
        "league": "nba, wnba or gleague",
        "season_type": "regular, preseason, playoffs, all-star or play-in",
        "per_mode": "Totals, PerGame, Per36, Per100Possessions ...",
        "more": "further parameters in the NBA's own words: MeasureType=Advanced&PlayerOrTeam=P",
        "items": "rows (unless given): games, lines, plays and rows; documents: each answer whole; or both",
    }
    item = records.KINDS
    steps = (quality,)
    #: A run asks for some games, teams or players: what others had is not gone.
    gone = "never"
    #: A game that is over does not change: lists are asked for each time, what they lead to is not.
    revisit = "7d"
    scope = "domain"
    rate = "30/min"
    per_host = 3
    concurrency = 3
    retries = 4
    timeout = 60
    first_byte = 60
    breaker_failures = 3
    breaker_wait = 300
    # With other headers than a browser's, the host does not answer at all: no error, no end.
    identity = "chrome"
    headers: ClassVar[dict[str, str]] = {
        "Accept": "application/json, text/plain, */*",
        "Accept-Language": "en-US,en;q=0.9",
        "Referer": "https://www.nba.com/",
        "Origin": "https://www.nba.com",
        "x-nba-stats-origin": "stats",
        "x-nba-stats-token": "true",
    }
    every = "24h"
    jitter = "30m"

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Raises ConfigError for parameters that ask for what cannot be asked."""
        super().__init__(params)
        self._plan = _Plan(self.params)

    def start(self) -> list[Request]:
        """One request for each question that the parameters make; lists of games and players first."""
        return list(self._plan.requests())

    def validate(self, page: Page) -> None:
        """Raises Blocked where we are asked to log in."""
        answers.refuse_login(page)

    # A page that an earlier run read is not read again while it is fresh, by the same handler: so what is to be a
    # document has another than what is to be rows.

    def parse(self, page: Page) -> Iterator[Any]:
        """Read an answer as rows, and ask on about the games or players that it lists."""
        return self._told(page)

    def documents(self, page: Page) -> Iterator[Any]:
        """The same, as documents."""
        return self._told(page)

    def both(self, page: Page) -> Iterator[Any]:
        """The same, as rows and as documents."""
        return self._told(page)

    def _told(self, page: Page) -> Iterator[Any]:
        about = _about(page.carry)
        found = answer(page)
        made = list(records.records(found, about))
        if self._plan.wanted != "documents":
            yield from made
        if self._plan.wanted != "rows":
            yield records.document(found, about)
        for name in page.carry.get("then") or ():
            endpoint = ENDPOINTS[name]
            some = _players(made) if endpoint.scope == "player" else _games(made)
            for subject, known in some:
                season = about.season or seasons.season_of(seasons.today())
                yield from self._plan.ask(endpoint, season, subject, known)


def _about(carry: Mapping[str, Any]) -> About:
    return About(**{name: value for name, value in carry.items() if name in About.__struct_fields__})


def _games(made: list[Item]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Games that have begun, with what those who read them want to know."""
    for each in made:
        if each.kind == "game":
            game = each.record()
            # One whose id is none of the NBA's stays a record, but no question can be made of it.
            if game["status"] in ("live", "final") and query.is_game(game["game_id"]):
                yield game["game_id"], {"date": game["date"], "home": game["home_team"], "away": game["away_team"]}


def _players(made: list[Item]) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in made:
        values = each.record().get("values", {}) if each.kind == "stat_row" else {}
        number, name = model.text(values.get("PERSON_ID"), 20), model.text(values.get("DISPLAY_FIRST_LAST"), 120)
        if number and query.is_number(number):
            yield number, {"player_name": name} if name else {}


class _Plan:
    """What the parameters of a run ask for. Raises ConfigError for what cannot be asked."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.wish = Wish.of(params)
        self.games = [query.game_id(each) for each in seasons.game_ids(params["game"])] if params.get("game") else []
        self.dates = seasons.dates(params["date"]) if params.get("date") else []
        self.teams = query.team_ids(params["team"]) if params.get("team") else []
        self.players = query.player_ids(params["player"]) if params.get("player") else []
        self.seasons = seasons.seasons(params["season"]) if params.get("season") else self._seasons()
        self.named = bool(params.get("season"))
        self.wanted = seasons.one_of(params, "items", _ITEMS)
        usual = next((name for name in _USUAL if params.get(name)), "season")
        asked = str(params.get("endpoint") or _USUAL[usual])
        self.endpoints = [each for each in chosen(asked) if self._possible(each) or each.name in asked.lower()]
        self._check()

    def _check(self) -> None:
        """Raises ConfigError now for what would be refused when it is asked, some of it only page by page."""
        for each in self.endpoints:
            query.queries(each, self.wish, self.seasons[0], _SOME.get(each.scope))
        if next(self._all(), None) is None:
            raise ConfigError("these parameters ask for nothing: name a season, a date, a game, a team or a player")

    def _possible(self, endpoint: Endpoint) -> bool:
        """Whether it is known what to ask an endpoint with: one that compares two players has to be told whom."""
        return all(name in SUBJECT.values() or name in self.wish.more for name in endpoint.needs)

    def _seasons(self) -> list[int]:
        """The seasons of what was named; else the one that goes on."""
        of_games = (query.game_season(game) for game in self.games)
        of_days = (seasons.season_of(day) for day in self.dates)
        return sorted({each for each in (*of_games, *of_days) if each}) or [seasons.season_of(seasons.today())]

    def requests(self) -> Iterator[Request]:
        """All that is asked at first. Where games or players have to be found, what finds them goes first."""
        asked: dict[str, Request] = {}
        for request in self._all():
            asked.setdefault(request.url, request)
        yield from asked.values()

    def _all(self) -> Iterator[Request]:
        yield from self._lists()
        for each in self.endpoints:
            yield from self._about(each)

    def _lists(self) -> Iterator[Request]:
        """The lists that lead to what was not named: the games of some days or a season, the players of a season."""
        scopes = {each.name: each.scope for each in self.endpoints if each.name != "glalumboxscoresimilarityscore"}
        games = [name for name, scope in scopes.items() if scope == "game" and not self.games]
        players = [name for name, scope in scopes.items() if scope == "player" and not self.players]
        if games and self.dates:
            for day in self.dates:
                board = ENDPOINTS["scoreboardv3"]
                yield from self.ask(board, seasons.season_of(day), day.isoformat(), then=games)
        for season in self.seasons:
            if games and not self.dates:
                yield from self.ask(ENDPOINTS["leaguegamelog"], season, then=games)
            if players:
                yield from self.ask(ENDPOINTS["commonallplayers"], season, then=players)

    def _about(self, endpoint: Endpoint) -> Iterator[Request]:
        """Questions about what was named, or about all there is."""
        if endpoint.scope == "game":
            for game in self.games:
                yield from self.ask(endpoint, query.game_season(game) or self.seasons[0], game)
        elif endpoint.scope == "date":
            for day in self._days():
                yield from self.ask(endpoint, seasons.season_of(day), day)
        elif endpoint.scope == "player" and "PlayerID" not in endpoint.needs:
            yield from self.ask(endpoint, self.seasons[-1])
        else:
            subjects: dict[str, list[str]] = {"team": self._teams(), "player": self.players}
            for season in self.seasons if endpoint.season or endpoint.scope == "league" else self.seasons[-1:]:
                for subject in subjects.get(endpoint.scope, [None]):
                    yield from self.ask(endpoint, season, subject)

    def _days(self) -> list[str]:
        found = self.dates
        if not found:
            found = [day for season in self.seasons for day in seasons.days(season)] if self.named else []
        return [day.isoformat() for day in found or seasons.last_days(_DAYS)]

    def _teams(self) -> list[str]:
        return self.teams or [each.nba_id for each in teams.current() if each.nba_id]

    def ask(
        self,
        endpoint: Endpoint,
        season: int,
        subject: str | None = None,
        known: Mapping[str, Any] | None = None,
        then: list[str] | None = None,
    ) -> Iterator[Request]:
        """The requests of one question, with what whoever reads the answer has to know."""
        for asked in query.queries(endpoint, self.wish, season, subject):
            carry: dict[str, Any] = {
                "endpoint": endpoint.name,
                "season": season,
                "season_type": self.wish.season_type if endpoint.season else None,
                "league": LEAGUE_NAMES[asked.get("LeagueID", self.wish.league)],
                "asked": self._asked(endpoint, asked),
                "then": then,
                **(known or {}),
            }
            if subject is not None:
                carry["date" if endpoint.scope == "date" else f"{endpoint.scope}_id"] = subject
            if endpoint.scope == "game" and subject:
                carry |= {"season_type": query.game_type(subject), "league": query.league_of(subject)}
            some = {name: value for name, value in carry.items() if value}
            to = "parse" if self.wanted == "rows" else self.wanted
            yield Request(query.url(endpoint, asked), to=to, carry=some, revisit=known is None)

    @staticmethod
    def _asked(endpoint: Endpoint, asked: Mapping[str, str]) -> dict[str, str]:
        """What makes this answer another one than the usual."""
        each = endpoint.each[0] if endpoint.each else ""
        return {
            name: value
            for name, value in sorted(asked.items())
            if name == each or (name not in _TOLD and value != endpoint.defaults.get(name))
        }
