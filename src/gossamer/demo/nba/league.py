"""A week of an invented season: real teams, players who never were, and games that add up."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cache

__all__ = ["DAYS", "GAMES", "Game", "Line", "Player", "Shot", "game", "roster"]

#: The week: a Monday to the Sunday.
DAYS = tuple(f"2024-01-{day}" for day in range(15, 22))

_FIRST = ("Ansel", "Bram", "Casimir", "Dorian", "Emrys", "Falk", "Gideon", "Harlan", "Idris", "Joss", "Kellan")
_LAST = ("Abernot", "Brackwell", "Calloran", "Dunmarsh", "Eastlow", "Farrowby", "Gantly", "Hollin", "Jarrowe", "Lunt")
_POSITIONS = ("PG", "SG", "SF", "PF", "C", "G", "F", "C", "G")
#: Players of a team: five start, three come in, one does not play.
_ROSTER = len(_POSITIONS)


@dataclass(frozen=True)
class Player:
    """Somebody who never was."""

    id: str
    name: str
    jersey: str
    position: str


@dataclass(frozen=True)
class Shot:
    """Points that were made, in the order of the game."""

    team: str
    player: Player
    value: int
    period: int
    clock: str
    home_score: int
    away_score: int


@dataclass
class Line:
    """What one player did."""

    player: Player
    starter: bool
    played: bool = True
    minutes: int = 0
    twos: int = 0
    threes: int = 0
    free_throws: int = 0
    missed: int = 0
    missed_threes: int = 0
    missed_free_throws: int = 0
    offensive: int = 0
    defensive: int = 0
    assists: int = 0
    steals: int = 0
    blocks: int = 0
    turnovers: int = 0
    fouls: int = 0
    plus_minus: int = 0

    @property
    def points(self) -> int:
        """Twos, threes and free throws."""
        return 2 * self.twos + 3 * self.threes + self.free_throws

    @property
    def field_goals(self) -> tuple[int, int]:
        """Made and attempted, threes among them."""
        made = self.twos + self.threes
        return made, made + self.missed + self.missed_threes


@dataclass
class Game:
    """One game of the week."""

    id: str
    #: What other sources call it.
    nba_id: str
    date: str
    #: When it begins, in UTC: for a late one in the west that is the next day.
    begins: str
    away: str
    home: str
    #: final, live, scheduled or postponed.
    status: str = "final"
    overtimes: int = 0
    attendance: int = 0
    venue: str = ""
    city: str = ""
    lines: dict[str, list[Line]] = field(default_factory=dict)
    shots: list[Shot] = field(default_factory=list)

    def score(self, team: str) -> int:
        """Points of a team."""
        return sum(each.points for each in self.lines.get(team, ()))

    def periods(self, team: str) -> list[int]:
        """Points of a team, period by period."""
        played = {"final": 4 + self.overtimes, "live": 2}.get(self.status, 0)
        made = [0] * played
        for shot in self.shots:
            if shot.team == team:
                made[shot.period - 1] += shot.value
        return made


GAMES = (
    Game("401900001", "0022300901", DAYS[0], "2024-01-16T00:30Z", "BOS", "BKN", attendance=17_410),
    Game("401900002", "0022300902", DAYS[1], "2024-01-17T03:00Z", "GSW", "PHX", overtimes=2, attendance=17_071),
    Game("401900003", "0022300903", DAYS[2], "2024-01-18T02:00Z", "LAL", "UTA", attendance=18_206),
    Game("401900004", "0022300904", DAYS[3], "2024-01-19T00:00Z", "WAS", "CHA", status="postponed"),
    Game("401900005", "0022300905", DAYS[4], "2024-01-20T03:30Z", "PHX", "LAL", attendance=18_997),
    Game("401900006", "0022300906", DAYS[5], "2024-01-21T00:30Z", "BKN", "BOS", attendance=19_156),
    Game("401900007", "0022300907", DAYS[6], "2024-01-21T23:00Z", "CHA", "WAS", status="live"),
    Game("401900008", "0022300908", DAYS[6], "2024-01-22T01:30Z", "UTA", "GSW", status="scheduled"),
)

_HALLS = {
    "BKN": ("Invented Center", "Brooklyn"),
    "PHX": ("Saguaro Hall", "Phoenix"),
    "UTA": ("Saltflat Arena", "Salt Lake City"),
    "CHA": ("Beeline Coliseum", "Charlotte"),
    "LAL": ("Palm Row Arena", "Los Angeles"),
    "BOS": ("Harborside Garden", "Boston"),
    "WAS": ("Potomac Hall", "Washington"),
    "GSW": ("Ferry Point Center", "San Francisco"),
}


@cache
def roster(team: str) -> tuple[Player, ...]:
    """The players of a team."""
    place = list(_HALLS).index(team)
    found = []
    for number, position in enumerate(_POSITIONS):
        nth = place * _ROSTER + number  # eleven first names and ten last ones: no two alike among a hundred
        first, last = _FIRST[nth % len(_FIRST)], _LAST[nth % len(_LAST)]
        found.append(Player(f"99{place}{number:02d}", f"{first} {last}", str((place * 7 + number * 4) % 56), position))
    return tuple(found)


@cache
def game(number: int) -> Game:
    """A game of the week with its lines and shots, the same each time."""
    hall, city = _HALLS[GAMES[number].home]
    found = replace(GAMES[number], venue=hall, city=city)
    if found.status not in ("final", "live"):
        return found
    chance = random.Random(int(found.id))
    half = found.status == "live"
    found.lines = {team: _lines(team, chance, half=half) for team in (found.away, found.home)}
    if found.overtimes:
        _level(found)
    elif found.score(found.home) == found.score(found.away):
        found.lines[found.home][0].free_throws += 1
    found.shots = _shots(found, chance)
    for team, other in ((found.home, found.away), (found.away, found.home)):
        for line in found.lines[team]:
            line.plus_minus = (found.score(team) - found.score(other)) // 2 if line.played else 0
    return found


def _lines(team: str, chance: random.Random, *, half: bool) -> list[Line]:
    lines = [Line(player, starter=number < 5) for number, player in enumerate(roster(team))]
    lines[-1].played = False
    for line in lines[:-1]:
        share = (3 if line.starter else 2) - half
        line.minutes = chance.randint(9, 12) * share
        line.twos, line.threes = chance.randint(1, 2) * share, chance.randint(0, 1) * share
        line.free_throws, line.missed_free_throws = chance.randint(0, 2) * share, chance.randint(0, 2)
        line.missed, line.missed_threes = chance.randint(1, 3) * share, chance.randint(0, 2) * share
        line.offensive, line.defensive = chance.randint(0, 1) * share, chance.randint(1, 2) * share
        line.assists, line.turnovers = chance.randint(0, 3) * share, chance.randint(0, 3)
        line.steals, line.blocks, line.fouls = chance.randint(0, 2), chance.randint(0, 2), chance.randint(0, 5)
    return lines


def _level(found: Game) -> None:
    """Let a game be level after four quarters, and long: somebody plays more than 48 minutes."""
    behind = min((found.home, found.away), key=found.score)
    found.lines[behind][1].free_throws += abs(found.score(found.home) - found.score(found.away))
    found.lines[found.home][0].minutes = 48 + 5 * found.overtimes - 2
    # The overtimes: ten each in the first, then nine to six.
    found.lines[found.home][0].twos += 8
    found.lines[found.home][0].threes += 1
    found.lines[found.away][0].twos += 8


def _shots(found: Game, chance: random.Random) -> list[Shot]:
    """The points in the order in which they fell."""
    late = _overtime_shots(found)
    early = []
    for team in (found.away, found.home):
        for line in found.lines[team]:
            held = [each[2] for each in late if each[0] == team and each[1] is line.player]
            made = [2] * (line.twos - held.count(2)) + [3] * (line.threes - held.count(3)) + [1] * line.free_throws
            early += [(team, line.player, value) for value in made]
    chance.shuffle(early)
    quarters = 2 if found.status == "live" else 4
    timed = [(*each, 1 + place * quarters // len(early)) for place, each in enumerate(early)]
    return _timed(found, [*timed, *late])


def _overtime_shots(found: Game) -> list[tuple[str, Player, int, int]]:
    if not found.overtimes:
        return []
    home, away = found.lines[found.home][0].player, found.lines[found.away][0].player
    first = [(found.home, home, 2, 5), (found.away, away, 2, 5)] * 5
    second = [(found.home, home, 2, 6), (found.away, away, 2, 6)] * 3
    return [*first, *second, (found.home, home, 3, 6)]


def _timed(found: Game, shots: list[tuple[str, Player, int, int]]) -> list[Shot]:
    made: list[Shot] = []
    scores = {found.home: 0, found.away: 0}
    for period in sorted({each[3] for each in shots}):
        these = [each for each in shots if each[3] == period]
        length = 720 if period <= 4 else 300
        for place, (team, player, value, _) in enumerate(these, 1):
            scores[team] += value
            left = length - length * place // (len(these) + 1)
            clock = f"{left // 60}:{left % 60:02d}" if left >= 60 else f"{left}.0"
            made.append(Shot(team, player, value, period, clock, scores[found.home], scores[found.away]))
    return made
