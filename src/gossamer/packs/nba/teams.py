"""One code for each team, whatever a source calls it and wherever the franchise played that season."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any, Final

import msgspec

__all__ = ["TeamInfo", "code", "current", "of_espn", "of_nba", "of_reference", "team"]


class TeamInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One team in the seasons in which it had this name."""

    #: Our code, as the NBA writes it: BKN, CHA, PHX, GSW.
    code: str
    city: str
    nickname: str
    #: Its first and last season, by the year in which they end; no last one: it plays today.
    first: int
    last: int | None
    #: The code that the franchise has today, or had at its end.
    franchise: str
    nba_id: str | None
    espn_id: str | None
    espn_code: str | None
    reference_code: str
    conference: str | None
    division: str | None

    @property
    def name(self) -> str:
        """City and nickname."""
        return f"{self.city} {self.nickname}"

    def played(self, season: int) -> bool:
        """Whether it had this name in a season."""
        return self.first <= season <= (self.last or season)


#: Franchises of today: code, city, nickname, first season under that name, NBA id (after 16106127), ESPN's id and
#: code, Basketball Reference's code, conference, division.
_TODAY: Final = """
ATL|Atlanta|Hawks|1969|37|1|ATL|ATL|East|Southeast
BOS|Boston|Celtics|1947|38|2|BOS|BOS|East|Atlantic
BKN|Brooklyn|Nets|2013|51|17|BKN|BRK|East|Atlantic
CHA|Charlotte|Hornets|2015|66|30|CHA|CHO|East|Southeast
CHI|Chicago|Bulls|1967|41|4|CHI|CHI|East|Central
CLE|Cleveland|Cavaliers|1971|39|5|CLE|CLE|East|Central
DAL|Dallas|Mavericks|1981|42|6|DAL|DAL|West|Southwest
DEN|Denver|Nuggets|1977|43|7|DEN|DEN|West|Northwest
DET|Detroit|Pistons|1958|65|8|DET|DET|East|Central
GSW|Golden State|Warriors|1972|44|9|GS|GSW|West|Pacific
HOU|Houston|Rockets|1972|45|10|HOU|HOU|West|Southwest
IND|Indiana|Pacers|1977|54|11|IND|IND|East|Central
LAC|LA|Clippers|2016|46|12|LAC|LAC|West|Pacific
LAL|Los Angeles|Lakers|1961|47|13|LAL|LAL|West|Pacific
MEM|Memphis|Grizzlies|2002|63|29|MEM|MEM|West|Southwest
MIA|Miami|Heat|1989|48|14|MIA|MIA|East|Southeast
MIL|Milwaukee|Bucks|1969|49|15|MIL|MIL|East|Central
MIN|Minnesota|Timberwolves|1990|50|16|MIN|MIN|West|Northwest
NOP|New Orleans|Pelicans|2014|40|3|NO|NOP|West|Southwest
NYK|New York|Knicks|1947|52|18|NY|NYK|East|Atlantic
OKC|Oklahoma City|Thunder|2009|60|25|OKC|OKC|West|Northwest
ORL|Orlando|Magic|1990|53|19|ORL|ORL|East|Southeast
PHI|Philadelphia|76ers|1964|55|20|PHI|PHI|East|Atlantic
PHX|Phoenix|Suns|1969|56|21|PHX|PHO|West|Pacific
POR|Portland|Trail Blazers|1971|57|22|POR|POR|West|Northwest
SAC|Sacramento|Kings|1986|58|23|SAC|SAC|West|Pacific
SAS|San Antonio|Spurs|1977|59|24|SA|SAS|West|Southwest
TOR|Toronto|Raptors|1996|61|28|TOR|TOR|East|Atlantic
UTA|Utah|Jazz|1980|62|26|UTAH|UTA|West|Northwest
WAS|Washington|Wizards|1998|64|27|WSH|WAS|East|Southeast
"""

#: What franchises of today were before: their code today, code then, city, nickname, first and last season, and
#: Basketball Reference's code where it is another.
_BEFORE: Final = """
ATL|TRI|Tri-Cities|Blackhawks|1950|1951
ATL|MIH|Milwaukee|Hawks|1952|1955|MLH
ATL|STL|St. Louis|Hawks|1956|1968
BKN|NYN|New York|Nets|1977|1977
BKN|NJN|New Jersey|Nets|1978|2012
CHA|CHH|Charlotte|Hornets|1989|2002
CHA|CHA|Charlotte|Bobcats|2005|2014
DET|FTW|Fort Wayne|Pistons|1949|1957
GSW|PHW|Philadelphia|Warriors|1947|1962
GSW|SFW|San Francisco|Warriors|1963|1971
HOU|SDR|San Diego|Rockets|1968|1971
LAC|BUF|Buffalo|Braves|1971|1978
LAC|SDC|San Diego|Clippers|1979|1984
LAC|LAC|Los Angeles|Clippers|1985|2015
LAL|MNL|Minneapolis|Lakers|1949|1960
MEM|VAN|Vancouver|Grizzlies|1996|2001
NOP|NOH|New Orleans|Hornets|2003|2005
NOP|NOK|New Orleans/Oklahoma City|Hornets|2006|2007
NOP|NOH|New Orleans|Hornets|2008|2013
OKC|SEA|Seattle|SuperSonics|1968|2008
PHI|SYR|Syracuse|Nationals|1950|1963
SAC|ROC|Rochester|Royals|1949|1957
SAC|CIN|Cincinnati|Royals|1958|1972
SAC|KCO|Kansas City-Omaha|Kings|1973|1975
SAC|KCK|Kansas City|Kings|1976|1985
UTA|NOJ|New Orleans|Jazz|1975|1979
WAS|CHP|Chicago|Packers|1962|1962
WAS|CHZ|Chicago|Zephyrs|1963|1963
WAS|BAL|Baltimore|Bullets|1964|1973
WAS|CAP|Capital|Bullets|1974|1974
WAS|WSB|Washington|Bullets|1975|1997
"""

#: Franchises that are no more: code, city, nickname, first and last season.
_ENDED: Final = """
AND|Anderson|Packers|1950|1950
BLB|Baltimore|Bullets|1948|1955
CHS|Chicago|Stags|1947|1950
CLR|Cleveland|Rebels|1947|1947
DNN|Denver|Nuggets|1950|1950
DTF|Detroit|Falcons|1947|1947
INJ|Indianapolis|Jets|1949|1949
INO|Indianapolis|Olympians|1950|1953
PIT|Pittsburgh|Ironmen|1947|1947
PRO|Providence|Steam Rollers|1947|1949
SHE|Sheboygan|Red Skins|1950|1950
STB|St. Louis|Bombers|1947|1950
TRH|Toronto|Huskies|1947|1947
WAT|Waterloo|Hawks|1950|1950
WSC|Washington|Capitols|1947|1951
"""

#: Other names in use: of the team that has this code, in those seasons.
_ALSO: Final[dict[str, tuple[str, ...]]] = {
    "BKN": ("BKLYN", "BK"),
    "CLE": ("Cavs",),
    "DAL": ("Mavs",),
    "GSW": ("GOS", "G.S. Warriors"),
    "LAC": ("L.A. Clippers", "LA Clippers", "Los Angeles Clippers", "LA", "Los Angeles"),
    "LAL": ("L.A. Lakers", "LA Lakers", "LA"),
    "MIN": ("Wolves", "T-Wolves"),
    "NJN": ("NJ", "N.J. Nets"),
    "NOH": ("NO",),
    "NOK": ("NO", "NO/Oklahoma City Hornets", "NOO"),
    "NOP": ("NOR", "Pels"),
    "NYK": ("N.Y. Knicks", "New York Knickerbockers", "Knickerbockers"),
    "OKC": ("Oklahoma",),
    "PHI": ("PHL", "Sixers", "Philadelphia Sixers"),
    "PHX": ("PHO",),
    "POR": ("Blazers", "Portland Blazers"),
    "SAS": ("SAN", "S.A. Spurs"),
    "SEA": ("Sonics", "Seattle Sonics", "Seattle Supersonics"),
    "UTA": ("UTH",),
    "WAS": ("WSH", "Wiz"),
    "WSB": ("WAS",),
}


def team(name: Any, season: int | None = None) -> TeamInfo | None:
    """The team that a code or name means, in a season if one is given; None for one that is no team of the league.

    Where a franchise moved, the season says which of its names it had: "NO" is NOH in 2010, and NOP today. What may
    mean two ("Los Angeles") means none.

    >>> team("L.A. Lakers").code, team("BRK").code, team("NO", 2010).code
    ('LAL', 'BKN', 'NOH')
    """
    if not isinstance(name, str) or not name or len(name) > 80:
        return None
    return _chosen(_names().get(_folded(name), ()), season)


def code(name: Any, season: int | None = None) -> str | None:
    """Our code for what a source calls a team; None for one that is no team of the league."""
    found = team(name, season)
    return found.code if found else None


def of_espn(team_id: Any, season: int | None = None) -> TeamInfo | None:
    """The team that has this id at ESPN: 13, "13"."""
    return _by_id("espn_id", team_id, season)


def of_nba(team_id: Any, season: int | None = None) -> TeamInfo | None:
    """The team that has this id at the NBA: 1610612747."""
    return _by_id("nba_id", team_id, season)


def of_reference(name: Any, season: int | None = None) -> TeamInfo | None:
    """The team that Basketball Reference writes so: BRK, CHO, PHO."""
    return team(name, season)


def current() -> list[TeamInfo]:
    """The teams of today, by code."""
    return sorted((each for each in _all() if each.last is None), key=lambda each: each.code)


def _by_id(field: str, team_id: Any, season: int | None) -> TeamInfo | None:
    if isinstance(team_id, bool) or not isinstance(team_id, str | int):
        return None
    found = [each for each in _all() if getattr(each, field) == str(team_id).strip()]
    return _chosen(tuple(found), season)


def _chosen(named: tuple[TeamInfo, ...], season: int | None) -> TeamInfo | None:
    """Which of the teams that have a name is meant."""
    if not named:
        return None
    if season is not None:
        played = [each for each in named if each.played(season)]
        if not played:  # a code of today in a season of yesterday: what the franchise was called then
            franchises = {each.franchise for each in named}
            played = [each for each in _all() if each.franchise in franchises and each.played(season)]
        if len({each.franchise for each in played}) == 1:
            return played[0]
        if played:
            return None
    newest = max(each.last or 9999 for each in named)
    last = [each for each in named if (each.last or 9999) == newest]
    return last[0] if len({each.franchise for each in last}) == 1 else None


def _folded(name: str) -> str:
    """A name without case, accents, dots and spaces."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]", "", plain)


@cache
def _names() -> dict[str, tuple[TeamInfo, ...]]:
    """Every name and code, folded -> the teams that have it."""
    found: dict[str, dict[TeamInfo, None]] = {}
    for each in _all():
        names = (each.code, each.reference_code, each.espn_code, each.name, each.nickname, each.city)
        for name in (*filter(None, names), *_ALSO.get(each.code, ())):
            found.setdefault(_folded(name), {})[each] = None
        if each.nba_id and each.last is None:
            found.setdefault(each.nba_id, {})[each] = None
    return {name: tuple(teams) for name, teams in found.items()}


@cache
def _all() -> tuple[TeamInfo, ...]:
    today = {row[0]: row for row in _rows(_TODAY)}
    teams = [_of_today(row) for row in today.values()]
    teams += [_of_before(today[row[0]], row) for row in _rows(_BEFORE)]
    teams += [_of_ended(row) for row in _rows(_ENDED)]
    return tuple(teams)


def _rows(table: str) -> list[list[str]]:
    return [line.split("|") for line in table.strip().splitlines()]


def _of_today(row: list[str]) -> TeamInfo:
    short, city, nickname, first, nba, espn, espn_code, reference, conference, division = row
    return TeamInfo(
        code=short,
        city=city,
        nickname=nickname,
        first=int(first),
        last=None,
        franchise=short,
        nba_id=f"16106127{nba}",
        espn_id=espn,
        espn_code=espn_code,
        reference_code=reference,
        conference=conference,
        division=division,
    )


def _of_before(today: list[str], row: list[str]) -> TeamInfo:
    franchise, short, city, nickname, first, last, *reference = row
    return TeamInfo(
        code=short,
        city=city,
        nickname=nickname,
        first=int(first),
        last=int(last),
        franchise=franchise,
        nba_id=f"16106127{today[4]}",
        espn_id=today[5],
        espn_code=None,
        reference_code=reference[0] if reference else short,
        conference=None,
        division=None,
    )


def _of_ended(row: list[str]) -> TeamInfo:
    short, city, nickname, first, last = row
    return TeamInfo(
        code=short,
        city=city,
        nickname=nickname,
        first=int(first),
        last=int(last),
        franchise=short,
        nba_id=None,
        espn_id=None,
        espn_code=None,
        reference_code=short,
        conference=None,
        division=None,
    )
