"""ESPN: schedules, box scores, play-by-play and statistics of teams, from its API or its website."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, ClassVar

import msgspec

from gossamer import ConfigError, Item, Page, ReadError, Request, Scraper
from gossamer.packs.nba import answers, seasons, teams
from gossamer.packs.nba.espn import api, web
from gossamer.packs.nba.espn.shape import SOURCE, Summary, at, joined, refuse
from gossamer.packs.nba.model import KINDS, BoxScore, Game, PlayByPlay, Schedule, TeamStats, item
from gossamer.packs.nba.quality import quality

API = "https://site.api.espn.com/apis/site/v2/sports/basketball/nba"
STANDINGS = "https://site.api.espn.com/apis/v2/sports/basketball/nba/standings"
WEB = "https://www.espn.com/nba"

#: Days that are looked at unless something else is asked for: box scores are corrected for a while.
DAYS = 14
#: Sorts of games that a team's schedule is asked for, one by one.
_SORTS = (1, 2, 5, 3)
_HINT = "ESPN does not know the address, or keeps us out"


class Espn(Scraper):
    """Games of the NBA as ESPN tells them."""

    name = "nba.espn"
    takes: ClassVar[dict[str, str]] = {
        "season": "the year in which the season ends: 2024, 2023-24, or several: 2022..2024",
        "date": "a day, 2024-01-29 or 20240129, or days: 2024-01-29..2024-02-04",
        "game": "ESPN's id of a game, or several with commas: all of them, being played or not",
        "team": "only the games of this team, in the season named or the current one: LAL, Lakers",
        "format": "api (unless given), or web for the pages of the website: older games have more there",
        "items": "rows (unless given): games, lines and plays; documents: one for each game; or both",
    }
    cron = "0 2 * * *"
    timezone = "America/New_York"
    rate = "2/s"
    per_host = 10
    concurrency = 10
    retries = 4
    #: A box score does not change once it was corrected; schedules are asked for each time.
    revisit = "3d"
    #: A run looks at some days: what was on others is not gone.
    gone = "never"
    #: Some weeks have few games and the summer has none: that is said, and holds nothing back.
    drift = "warn"
    item = KINDS
    steps = (quality,)

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Raises ConfigError for parameters that cannot be used."""
        super().__init__(params)
        given = [name for name in ("season", "date", "game") if self.params.get(name)]
        if len(given) > 1:
            raise ConfigError(f"{given[0]} and {given[1]} cannot be used together: a {given[1]} says its {given[0]}")
        self._web = seasons.one_of(self.params, "format", ("api", "web")) == "web"
        self._wanted = seasons.one_of(self.params, "items", ("rows", "documents", "both"))
        self._games = _games(self.params["game"]) if self.params.get("game") else []
        self._years = seasons.seasons(self.params["season"]) if self.params.get("season") else []
        self._team = self._read_team()
        self._days = self._read_days()

    def start(self) -> Iterable[Request | str]:
        """The schedules of the days, the pages of the games, or the schedule of the team that is asked for."""
        if self._games:
            return [each for game in self._games for each in self._pages(game, self._web, asked=True)]
        if self._team is not None:
            years = self._years or [seasons.season_of(seasons.today())]
            url = f"{API}/teams/{self._team}/schedule"
            return [
                Request(f"{url}?season={year}&seasontype={sort}", revisit=True) for year in years for sort in _SORTS
            ]
        years = self._years or sorted(set(map(_season, self._days)))
        return [*(self._day(day, self._web) for day in self._days), *self._league(years)]

    def _read_days(self) -> list[date]:
        if self.params.get("date"):
            return seasons.dates(self.params["date"])
        if not self._years:
            return seasons.last_days(DAYS)
        days = [day for year in self._years for day in seasons.days(year)]
        if not days:
            raise ConfigError(f"season={self.params['season']} has not begun: name one that has")
        return days

    def _read_team(self) -> str | None:
        """ESPN's number of the team that is asked for."""
        if not self.params.get("team"):
            return None
        found = teams.team(str(self.params["team"]).strip())
        if self._web or self.params.get("date"):
            raise ConfigError("team cannot be used with date, nor with format=web: it asks for a season of the API")
        if found is None or found.espn_id is None:
            raise ConfigError(f"team={str(self.params['team'])[:40]} is no team of the league: write LAL, or Lakers")
        return found.espn_id

    def validate(self, page: Page) -> None:
        """Raises Blocked where we are asked to log in."""
        answers.refuse_login(page)

    def _day(self, day: date, web: bool) -> Request:
        if web:
            return Request(f"{WEB}/schedule/_/date/{day:%Y%m%d}&_xhr=1", carry={"day": f"{day}"}, revisit=True)
        return Request(f"{API}/scoreboard?dates={day:%Y%m%d}&limit=100", carry={"day": f"{day}"}, revisit=True)

    def _league(self, years: list[int]) -> Iterator[Request]:
        yield Request(f"{API}/teams?limit=100", revisit=True)
        for year in years:
            yield Request(f"{STANDINGS}?season={year}", revisit=True)

    def _pages(self, game_id: str, web: bool, *, asked: bool = False, listed: Game | None = None) -> Iterator[Request]:
        """The pages that tell of a game: one of the API, three of the website."""
        # A page that an earlier run read is not read again while it is fresh, by the same handler: so one that was
        # asked for by its id, and may still be played, has another, and so has one that is to be a document.
        to = self.game if asked else {"rows": self.rows, "documents": self.documents, "both": self.both}[self._wanted]
        carry: dict[str, Any] = {"game_id": game_id}
        if listed is not None:
            carry["listed"] = msgspec.to_builtins(listed)
        if not web:
            yield Request(f"{API}/summary?event={game_id}", to=to, carry=carry, revisit=asked)
            return
        for page in ("boxscore", "playbyplay", "matchup"):
            yield Request(
                f"{WEB}/{page}/_/gameId/{game_id}&_xhr=1", to=to, carry={**carry, "page": page}, revisit=asked
            )

    def parse(self, page: Page) -> Iterator[Item | Request]:
        """A schedule, the teams or the standings, in whichever shape."""
        data = answers.data(page, _HINT)
        refuse(data)
        if isinstance(at(data, "page", "content"), dict):
            # The website shows the days that follow, too.
            listed = web.schedule(data["page"]["content"])
            day = page.carry.get("day")
            yield from self._schedule([each for each in listed if day in (None, each.date)], page, web=True)
        elif isinstance(at(data, "events"), list):
            yield from self._schedule(api.schedule(data), page, web=False)
        elif at(data, "sports") is not None:
            yield from map(item, _some(api.team_list(data), "teams"))
        elif at(data, "children") is not None or at(data, "standings") is not None:
            yield from map(item, _some(api.standings(data), "standings"))
        else:
            raise ReadError("ESPN's answer is no schedule, no teams and no standings: its shape is not one we know")

    def _schedule(self, games: list[Game], page: Page, *, web: bool) -> Iterator[Item | Request]:
        if self._wanted != "rows":
            yield from map(item, _by_day(games, page.carry.get("day")))
        for game in games:
            if game.status == "final":  # its own page says more, and says it as it will stay
                yield from self._pages(game.game_id, web, listed=game)
            elif self._wanted != "documents":
                yield item(game)

    def rows(self, page: Page) -> Iterator[Item]:
        """The page of a game that is over, as rows."""
        return self._told(page)

    def documents(self, page: Page) -> Iterator[Item]:
        """The page of a game that is over, as documents."""
        return self._told(page)

    def both(self, page: Page) -> Iterator[Item]:
        """The page of a game that is over, as rows and as documents."""
        return self._told(page)

    def game(self, page: Page) -> Iterator[Item]:
        """The page of a game that was asked for, over or not."""
        return self._told(page)

    def _told(self, page: Page) -> Iterator[Item]:
        data = answers.data(page, _HINT)
        refuse(data)
        part = str(page.carry.get("page", "all"))
        found = read_summary(data)
        if found.game is not None and found.game.game_id != page.carry.get("game_id", found.game.game_id):
            raise ReadError(f"ESPN was asked for game {page.carry['game_id']}, and tells of {found.game.game_id}")
        if found.game is not None:
            found = msgspec.structs.replace(found, game=joined(found.game, _listed(page)))
        if self._wanted != "documents":
            yield from map(item, _rows(found, part))
        if self._wanted != "rows":
            yield from map(item, _documents(found, part))


def read_summary(data: Any) -> Summary:
    """All that the page of a game tells, of the API or of the website. Raises ReadError for any other."""
    refuse(data)
    content = at(data, "page", "content")
    if isinstance(at(content, "gamepackage"), dict):
        return web.summary(content)
    if isinstance(at(data, "header"), dict):
        return api.summary(data)
    raise ReadError("ESPN's answer is about no game: it has neither a header nor a gamepackage")


def read_schedule(data: Any) -> list[Game]:
    """The games of a schedule, of the API or of the website. Raises ReadError for an answer that is none."""
    refuse(data)
    content = at(data, "page", "content")
    if isinstance(content, dict):
        return web.schedule(content)
    if not isinstance(at(data, "events"), list):
        raise ReadError("ESPN's answer is no schedule: it has no events")
    return api.schedule(data)


def _season(day: date) -> int:
    """The season whose standings go with a day: in the summer, the one that is over."""
    return seasons.season_of(day) - (day.month in (8, 9))


def _listed(page: Page) -> Game | None:
    """The game as the schedule told of it, if that was a good record."""
    try:
        return msgspec.convert(page.carry.get("listed"), Game | None)
    except msgspec.ValidationError:
        return None


def _games(value: Any) -> list[str]:
    found = seasons.game_ids(value)
    for each in found:
        if not each.isdecimal():
            raise ConfigError(f"game={each} is no game of ESPN: its ids are numbers, like 401585285")
    return found


def _some(found: list[Any], what: str) -> list[Any]:
    if not found:
        raise ReadError(f"ESPN's {what} are empty, or in a shape that is not one we know")
    return found


def _rows(found: Summary, part: str) -> Iterator[msgspec.Struct]:
    """The records of a page. Each comes from one page only, so that two never take turns in changing it."""
    if part in ("all", "boxscore"):
        if found.game is not None:
            yield found.game
        yield from found.players
    if part in ("all", "matchup"):
        yield from found.teams
    if part in ("all", "playbyplay"):
        yield from found.plays


def _documents(found: Summary, part: str) -> Iterator[msgspec.Struct]:
    game = found.game
    if game is None:
        return
    shared: dict[str, Any] = {
        "game_id": game.game_id,
        "source": SOURCE,
        "season": game.season,
        "date": game.date,
    }
    if part in ("all", "boxscore") and found.players:
        yield BoxScore(**shared, game=game, teams=found.teams, players=found.players)
    if part in ("all", "matchup") and found.teams:
        yield TeamStats(**shared, teams=found.teams)
    if part in ("all", "playbyplay") and found.plays:
        yield PlayByPlay(**shared, plays=found.plays)


def _by_day(games: list[Game], asked: str | None) -> Iterator[Schedule]:
    """The games as one document for each day, the day that was asked for even if it has none."""
    days: dict[str, list[Game]] = {asked: []} if asked else {}
    for game in games:
        days.setdefault(game.date, []).append(game)
    for day, found in days.items():
        season = found[0].season if found else seasons.season_of(day)
        yield Schedule(date=day, source=SOURCE, day=day.replace("-", ""), season=season, games=tuple(found))
