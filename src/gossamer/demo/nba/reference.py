"""Pages in the structure of Basketball Reference: the week of the invented league, with the site's own habits.

Half of the tables stand in comments, headers come again within the body, a player of two teams has a row that sums up
both, and a page that does not exist says so with status 200.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from html import escape
from itertools import groupby
from urllib.parse import parse_qs, urlsplit

from gossamer.demo.nba import league
from gossamer.demo.nba.league import DAYS, Game, Line, Player
from gossamer.packs.nba import teams
from gossamer.testing import Answer, Hit, Site

_HOST = "www.basketball-reference.com"
#: The hosts they stand in for.
HOSTS: tuple[str, ...] = (_HOST,)
#: What the scraper is asked for here: the pages are of certain days.
PARAMS: Mapping[str, str] = {"date": f"{DAYS[0]}..{DAYS[-1]}"}

_SEASON = 2024
_BOX = (
    *("mp", "fg", "fga", "fg_pct", "fg3", "fg3a", "fg3_pct", "ft", "fta", "ft_pct"),
    *("orb", "drb", "trb", "ast", "stl", "blk", "tov", "pf", "pts", "plus_minus"),
)
_SUMS = ("fg", "fga", "fg3", "fg3a", "ft", "fta", "orb", "drb", "trb", "ast", "stl", "blk", "tov", "pf", "pts")
_TOTALS = ["games", "games_started", "mp", *_SUMS[:4], "fg3_pct", *_SUMS[4:]]
_ADVANCED = ("games", "mp", "per", "ts_pct", "usg_pct", "ows", "dws", "ws", "ws_per_48", "bpm", "vorp")
_LOG = ["ranker", "date", "team_name_abbr", "game_location", "opp_name_abbr", "game_result", "is_starter", *_BOX]
#: Who changed teams within the week, from where to where: the ninth man of Boston.
_TRADED = ("BOS", 7, "PHX")
#: A game that is still to come.
_TO_COME = ("2024-02-01", "8:00p", "BOS", "PHX")

#: A cell: its column, its text, and attributes.
Cell = tuple[str, str] | tuple[str, str, str]


def install(site: Site) -> None:
    """Add the pages to a site, below a path of the host's name."""
    site.handler(f"/{_HOST}/*", lambda hit: _html(_not_found()))
    site.page(f"/{_HOST}/robots.txt", "User-agent: *\nDisallow: /my/\n")
    pages = {
        f"/leagues/NBA_{_SEASON}.html": _season_page(),
        f"/leagues/NBA_{_SEASON}_standings.html": _season_page(),
        f"/leagues/NBA_{_SEASON}_totals.html": _totals_page(),
        f"/leagues/NBA_{_SEASON}_per_game.html": _per_game_page(),
        f"/leagues/NBA_{_SEASON}_advanced.html": _advanced_page(),
        f"/leagues/NBA_{_SEASON}_games.html": _schedule_page("january"),
        f"/leagues/NBA_{_SEASON}_games-january.html": _schedule_page("january"),
        f"/leagues/NBA_{_SEASON}_games-february.html": _schedule_page("february"),
        f"/leagues/NBA_{_SEASON}_transactions.html": _moves_page(),
        f"/awards/awards_{_SEASON}.html": _awards_page(),
        **_small_pages(),
    }
    for game in _games():
        if game.status == "final":
            pages[f"/boxscores/{_id(game)}.html"] = _box_page(game)
            pages[f"/boxscores/pbp/{_id(game)}.html"] = _plays_page(game)
            pages[f"/boxscores/shot-chart/{_id(game)}.html"] = _chart_page(game)
    for code in sorted({team for game in _games() for team in (game.home, game.away)}):
        pages[f"/teams/{_ref(code)}/{_SEASON}_games.html"] = _team_page(code)
        pages[f"/teams/{_ref(code)}/{_SEASON}/lineups/"] = _lineups_page(code)
    for path, body in pages.items():
        site.page(f"/{_HOST}{path}", body)
    site.handler(f"/{_HOST}/players/*", lambda hit: _html(_of_player(hit.path.removeprefix(f"/{_HOST}"))))
    site.handler(f"/{_HOST}/boxscores/", lambda hit: _html(_day_page(_day(hit))))
    site.handler(f"/{_HOST}/friv/dailyleaders.fcgi", lambda hit: _html(_leaders_page(_day(hit))))
    site.handler(f"/{_HOST}/search/search.fcgi", _search)


# -- markup ------------------------------------------------------------------------------------------------------


def _html(body: str) -> Answer:
    return Answer(body=body, headers={"Content-Type": "text/html; charset=utf-8"})


def _page(title: str, path: str, body: str) -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} | Basketball-Reference.com</title>
<link rel="canonical" href="https://{_HOST}{path}"></head>
<body class="bbr"><div id="content"><h1>{escape(title)}</h1>
{body}
</div><div id="footer"><a href="/referees/nobodyx99r.html">Referees</a> <a href="/teams/">Teams</a></div></body></html>
"""


def _cell(cell: Cell, tag: str = "td") -> str:
    more = f" {cell[2]}" if len(cell) == 3 else ""
    return f'<{tag} class="right " data-stat="{cell[0]}"{more} >{cell[1]}</{tag}>'


def _row(cells: Sequence[Cell]) -> str:
    first = _cell(cells[0], "th").replace("<th ", '<th scope="row" ')
    return f"<tr >{first}{''.join(map(_cell, cells[1:]))}</tr>"


def _head(columns: Iterable[str], classes: str = "") -> str:
    names = "".join(f'<th data-stat="{each}" scope="col">{each.upper()}</th>' for each in columns)
    return f"<tr{classes}>{names}</tr>"


def _table(
    name: str, columns: Sequence[str], rows: Sequence[str], *, foot: str = "", over: str = "", hidden: bool = False
) -> str:
    above = f'<tr class="over_header"><th colspan="{len(columns)}">{over}</th></tr>' if over else ""
    table = (
        f'<div id="div_{name}"><table class="sortable stats_table" id="{name}"><caption>{name} Table</caption>'
        f"<thead>{above}{_head(columns)}</thead>\n<tbody>{chr(10).join(rows)}</tbody>"
        f"{f'<tfoot>{foot}</tfoot>' if foot else ''}</table></div>"
    )
    return f"<!--\n{table}\n-->" if hidden else table


def _link(path: str, text: str) -> str:
    return f'<a href="{path}">{escape(text)}</a>'


def _team_link(code: str, text: str | None = None) -> str:
    return _link(f"/teams/{_ref(code)}/{_SEASON}.html", text or _ref(code))


def _who(player: Player, column: str) -> Cell:
    slug = _slug(player)
    return column, _link(f"/players/{slug[0]}/{slug}.html", player.name), f'data-append-csv="{slug}"'


def _share(made: int, tried: int) -> str:
    return f"{made / tried:.3f}".removeprefix("0") if tried else ""


# -- the league --------------------------------------------------------------------------------------------------


@cache
def _games() -> tuple[Game, ...]:
    """The games in which a box score is wanted, or that are to come."""
    return tuple(league.game(number) for number in range(len(league.GAMES)))


def _ref(code: str) -> str:
    found = teams.team(code, _SEASON)
    assert found is not None
    return found.reference_code


def _name(code: str) -> str:
    found = teams.team(code, _SEASON)
    assert found is not None
    return found.name


def _id(game: Game) -> str:
    return f"{game.date.replace('-', '')}0{_ref(game.home)}"


@cache
def _slugs() -> dict[str, str]:
    """Everybody's id: five letters of the last name, two of the first, and a number where two are alike."""
    found: dict[str, str] = {}
    for code in sorted({team for game in league.GAMES for team in (game.home, game.away)}):
        for player in league.roster(code):
            first, last = player.name.lower().split()
            stem = last[:5] + first[:2]
            found[player.id] = f"{stem}{1 + sum(each.startswith(stem) for each in found.values()):02d}"
    return found


def slugs(code: str) -> list[str]:
    """The ids of a team's players: five start, the last does not play."""
    return [_slug(player) for player in league.roster(code)]


def _slug(player: Player) -> str:
    return _slugs()[player.id]


def _eastern(game: Game) -> datetime:
    """When a game begins on the east coast, which is five hours behind in January."""
    return datetime.fromisoformat(game.begins.replace("Z", "+00:00")) - timedelta(hours=5)


def _counts(lines: Sequence[Line]) -> dict[str, int]:
    made = sum(each.field_goals[0] for each in lines)
    threes, free = sum(each.threes for each in lines), sum(each.free_throws for each in lines)
    back = [sum(each.offensive for each in lines), sum(each.defensive for each in lines)]
    return {
        "mp": sum(each.minutes for each in lines),
        "fg": made,
        "fga": sum(each.field_goals[1] for each in lines),
        "fg3": threes,
        "fg3a": threes + sum(each.missed_threes for each in lines),
        "ft": free,
        "fta": free + sum(each.missed_free_throws for each in lines),
        "orb": back[0],
        "drb": back[1],
        "trb": sum(back),
        **{name: sum(getattr(each, long) for each in lines) for name, long in _LONG.items()},
        "pts": sum(each.points for each in lines),
    }


_LONG = {"ast": "assists", "stl": "steals", "blk": "blocks", "tov": "turnovers", "pf": "fouls"}


def _box_cells(lines: Sequence[Line], *, whole: bool = False) -> list[Cell]:
    """What lines say in a box score; of several, their sum."""
    counts = _counts(lines)
    shown = {name: str(value) for name, value in counts.items()}
    shown["mp"] = str(counts["mp"]) if whole else f"{counts['mp']}:00"
    shown |= {f"{each}_pct": _share(counts[each], counts[f"{each}a"]) for each in ("fg", "fg3", "ft")}
    if not whole and not counts["fg3a"]:
        shown |= {"fg3": "", "fg3a": ""}  # the site leaves some zeros out
    shown["plus_minus"] = "" if whole else f"{lines[0].plus_minus:+d}"
    return [(name, shown[name]) for name in _BOX]


def _played(player: Player, code: str) -> list[tuple[Game, Line]]:
    """The games of a player for a team, with what was done in them."""
    final = [game for game in _games() if game.status == "final" and code in (game.home, game.away)]
    return [(game, line) for game in final for line in game.lines[code] if line.player is player]


# -- seasons -----------------------------------------------------------------------------------------------------


def _codes() -> list[str]:
    return sorted({team for game in _games() for team in (game.home, game.away)})


def _rows_of(cells: Mapping[tuple[str, Player], Sequence[Cell]]) -> list[str]:
    """Rows of a season's table: repeated headers, one who played for two teams, and the league at the end."""
    rows: list[str] = []
    for number, ((code, player), stats) in enumerate(cells.items(), 1):
        who = [("ranker", str(number)), _who(player, "name_display"), ("age", str(20 + number % 15))]
        traded = (code, player) == (_TRADED[0], league.roster(_TRADED[0])[_TRADED[1]])
        own = [code, _TRADED[2]] if traded else [code]
        for team in [None, *own] if traded else own:
            shown = "2TM" if team is None else _team_link(team)
            rows.append(_row([*who, ("team_name_abbr", shown), ("pos", player.position), *stats]))
        if number % 20 == 0:
            columns = ["ranker", "name_display", "age", "team_name_abbr", "pos", *(cell[0] for cell in stats)]
            rows.append(_head(columns, ' class="thead"'))
    last = next(iter(cells.values()))
    league_row: list[Cell] = [("ranker", ""), ("name_display", "League Average"), ("age", ""), ("team_name_abbr", "")]
    rows.append(_row([*league_row, ("pos", ""), *((cell[0], "") for cell in last)]))
    return rows


def _season_table(name: str, title: str, path: str, cells: Mapping[tuple[str, Player], Sequence[Cell]]) -> str:
    columns = ["ranker", "name_display", "age", "team_name_abbr", "pos", *(c[0] for c in next(iter(cells.values())))]
    return _page(f"2023-24 NBA Player Stats: {title}", path, _table(name, columns, _rows_of(cells)))


def _everybody() -> list[tuple[str, Player, list[Line]]]:
    found = [(code, player, _played(player, code)) for code in _codes() for player in league.roster(code)]
    return [(code, player, [line for _, line in games]) for code, player, games in found if games]


def _totals_page() -> str:
    cells: dict[tuple[str, Player], list[Cell]] = {}
    for code, player, lines in _everybody():
        counts = _counts(lines)
        shown = {name: str(value) for name, value in counts.items()}
        shown |= {"games": str(sum(line.played for line in lines)), "fg3_pct": _share(counts["fg3"], counts["fg3a"])}
        shown["games_started"] = str(sum(line.starter for line in lines))
        cells[code, player] = [(name, shown[name]) for name in _TOTALS]
    return _season_table("totals_stats", "Totals", f"/leagues/NBA_{_SEASON}_totals.html", cells)


def _per_game_page() -> str:
    cells: dict[tuple[str, Player], list[Cell]] = {}
    for code, player, lines in _everybody():
        games = max(1, sum(line.played for line in lines))
        means: list[Cell] = [(f"{name}_per_g", f"{value / games:.1f}") for name, value in _counts(lines).items()]
        cells[code, player] = [("games", str(sum(line.played for line in lines))), *means]
    return _season_table("per_game_stats", "Per Game", f"/leagues/NBA_{_SEASON}_per_game.html", cells)


def _advanced_page() -> str:
    cells: dict[tuple[str, Player], list[Cell]] = {}
    for code, player, lines in _everybody():
        counts = _counts(lines)
        shown = dict.fromkeys(_ADVANCED, f"{counts['pts'] % 9 - 3}.{counts['ast'] % 10}")
        shown |= {"games": str(len(lines)), "mp": str(counts["mp"]), "ws_per_48": f".{counts['pts'] % 300:03d}"}
        shown["ts_pct"] = _share(counts["pts"], 2 * counts["fga"] + counts["fta"])
        cells[code, player] = [(name, shown[name]) for name in _ADVANCED]
    return _season_table("advanced", "Advanced", f"/leagues/NBA_{_SEASON}_advanced.html", cells)


def _season_page() -> str:
    won: dict[str, list[int]] = {code: [0, 0] for code in _codes()}
    for game in _games():
        if game.status == "final":
            for code, other in ((game.home, game.away), (game.away, game.home)):
                won[code][game.score(code) < game.score(other)] += 1
    known = [each for code in _codes() if (each := teams.team(code, _SEASON))]
    ranked = sorted(known, key=lambda each: (-won[each.code][0], won[each.code][1], each.code))
    columns = ["team_name", "wins", "losses", "win_loss_pct", "gb", "pts_per_g", "opp_pts_per_g", "srs"]
    parts = []
    for side in ("East", "West"):
        these = [each for each in ranked if each.conference == side]
        rows = {each.code: _standing(each.code, won, first=these[0].code) for each in these}
        parts.append(_table(f"confs_standings_{side[0]}", columns, list(rows.values())))
        divided: list[str] = []
        for division, group in groupby(sorted(these, key=lambda each: str(each.division)), lambda each: each.division):
            divided.append(f"<tr class='thead'><th colspan='8'><strong>{division} Division</strong></th></tr>")
            divided += [rows[each.code] for each in group]
        parts.append(_table(f"divs_standings_{side[0]}", columns, divided))
    parts.append(
        _table("all_awards", ["award", "player"], ["<tr><td>Best of All</td><td>Nobody Yet</td></tr>"], hidden=True)
    )
    return _page("2023-24 NBA Season Summary", f"/leagues/NBA_{_SEASON}.html", "\n".join(parts))


def _standing(code: str, won: Mapping[str, Sequence[int]], first: str) -> str:
    wins, losses = won[code]
    behind = (won[first][0] - wins + losses - won[first][1]) / 2
    star = "*" if wins > losses else ""
    return _row(
        [
            ("team_name", _team_link(code, _name(code)) + star),
            ("wins", str(wins)),
            ("losses", str(losses)),
            ("win_loss_pct", _share(wins, wins + losses) or ".000"),
            ("gb", f"{behind:.1f}" if behind else "&mdash;"),
            ("pts_per_g", f"{100 + wins:.1f}"),
            ("opp_pts_per_g", f"{100 + losses:.1f}"),
            ("srs", f"{wins - losses:.2f}"),
        ]
    )


def _awards_page() -> str:
    columns = ["rank", "player", "age", "team_id", "points_won"]
    tables = []
    for name, code in (("mvp", "BOS"), ("roy", "LAL")):
        rows = []
        for rank, player in enumerate(league.roster(code)[:3], 1):
            cells = [("rank", str(rank)), _who(player, "player"), ("age", "24"), ("team_id", _team_link(code))]
            rows.append(_row([*cells, ("points_won", str(100 - 30 * rank))]))
        tables.append(_table(name, columns, rows, over="Voting", hidden=name == "roy"))
    return _page("2023-24 NBA Awards Voting", f"/awards/awards_{_SEASON}.html", "\n".join(tables))


def _small_pages() -> dict[str, str]:
    """Pages of a season that are one table each. That of player tracking is missing, as are the playoffs."""
    kinds = {"coaches": "NBA_coaches", "play-by-play": "pbp_stats", "shooting": "shooting", "ratings": "ratings"}
    kinds["standings_by_date"] = "standings_by_date_eastern_conference"
    found = {}
    for kind, name in kinds.items():
        path = f"/leagues/NBA_{_SEASON}_{kind}.html"
        rows = [
            _row([("ranker", str(number)), ("team", _team_link(code, _name(code))), ("mov", f"{number - 4}.5")])
            for number, code in enumerate(_codes(), 1)
        ]
        found[path] = _page(f"2023-24 NBA {kind.title()}", path, _table(name, ["ranker", "team", "mov"], rows))
    return found


def _lineups_page(code: str) -> str:
    rows = []
    for number in range(2):
        names = " | ".join(player.name for player in league.roster(code)[number : number + 5])
        rows.append(
            _row([("ranker", str(number + 1)), ("lineup", names), ("mp", f"{40 - number}:30"), ("diff_pts", "+3.1")])
        )
    table = _table(
        "lineups_5-man_", ["ranker", "lineup", "mp", "diff_pts"], rows, over="Per 100 Possessions", hidden=True
    )
    return _page(f"2023-24 {_name(code)} Lineups", f"/teams/{_ref(code)}/{_SEASON}/lineups/", table)


def _moves_page() -> str:
    player = league.roster(_TRADED[0])[_TRADED[1]]
    text = (
        f"The {_team_link(_TRADED[0], _name(_TRADED[0]))} traded {_who(player, '')[1]} "
        f"to the {_team_link(_TRADED[2], _name(_TRADED[2]))} for a pick."
    )
    body = f'<ul class="page_index"><li><span>January 18, 2024</span><p class="transaction ">{text}</p></li></ul>'
    return _page("2023-24 NBA Transactions", f"/leagues/NBA_{_SEASON}_transactions.html", body)


# -- games -------------------------------------------------------------------------------------------------------


def _clock(game: Game) -> str:
    return f"{_eastern(game):%I:%M}".lstrip("0") + "p"


def _scheduled(game: Game) -> str:
    over = game.status == "final"
    box = _link(f"/boxscores/{_id(game)}.html", "Box Score") if over else ""
    extra = {0: "", 1: "OT"}.get(game.overtimes, f"{game.overtimes}OT") if over else ""
    return _row(
        [
            ("date_game", f"{date.fromisoformat(game.date):%a, %b} {int(game.date[8:])}, 2024", f'csk="{_id(game)}"'),
            ("game_start_time", _clock(game)),
            ("visitor_team_name", _team_link(game.away, _name(game.away))),
            ("visitor_pts", str(game.score(game.away)) if over else ""),
            ("home_team_name", _team_link(game.home, _name(game.home))),
            ("home_pts", str(game.score(game.home)) if over else ""),
            ("box_score_text", box),
            ("overtimes", extra),
            ("attendance", f"{game.attendance:,}" if over else ""),
            ("arena_name", game.venue),
            ("game_remarks", "Postponed" if game.status == "postponed" else ""),
        ]
    )


def _schedule_page(month: str) -> str:
    rows = [_scheduled(game) for game in _games()]
    if month == "february":
        day, clock, away, home = _TO_COME
        cells: list[Cell] = [("date_game", "Thu, Feb 1, 2024", f'csk="{day.replace("-", "")}0{_ref(home)}"')]
        cells += [("game_start_time", clock), ("visitor_team_name", _team_link(away, _name(away))), ("visitor_pts", "")]
        cells += [("home_team_name", _team_link(home, _name(home))), ("home_pts", ""), ("box_score_text", "")]
        rows = [_row(cells)]
    columns = ["date_game", "game_start_time", "visitor_team_name", "visitor_pts", "home_team_name", "home_pts"]
    columns += ["box_score_text", "overtimes", "attendance", "arena_name", "game_remarks"]
    months = "".join(
        f'<div class="">{_link(f"/leagues/NBA_{_SEASON}_games-{each}.html", each.title())}</div>'
        for each in ("january", "february")
    )
    body = f'<div class="filter">{months}</div>{_table("schedule", columns, rows)}'
    return _page("2023-24 NBA Schedule", f"/leagues/NBA_{_SEASON}_games.html", body)


def _team_page(code: str) -> str:
    columns = ["g", "date_game", "game_start_time", "box_score_text", "game_location", "opp_name", "game_result"]
    columns += ["overtimes", "pts", "opp_pts"]
    rows = [_head(columns, ' class="thead"')]
    for number, game in enumerate((game for game in _games() if code in (game.home, game.away)), 1):
        other = game.away if code == game.home else game.home
        over = game.status == "final"
        won = game.score(code) > game.score(other) if over else None
        cells: list[Cell] = [
            ("g", str(number)),
            ("date_game", f"{date.fromisoformat(game.date):%a, %b %d, %Y}", f'csk="{game.date}"'),
            ("game_start_time", _clock(game)),
            ("box_score_text", _link(f"/boxscores/{_id(game)}.html", "Box Score") if over else ""),
            ("game_location", "@" if code == game.away else ""),
            ("opp_name", _team_link(other, _name(other))),
            ("game_result", {True: "W", False: "L", None: ""}[won]),
            ("overtimes", f"{game.overtimes}OT" if game.overtimes else ""),
            ("pts", str(game.score(code)) if over else ""),
            ("opp_pts", str(game.score(other)) if over else ""),
        ]
        rows.append(_row(cells))
    path = f"/teams/{_ref(code)}/{_SEASON}_games.html"
    return _page(f"2023-24 {_name(code)} Schedule and Results", path, _table("games", columns, rows))


def _scorebox(game: Game) -> str:
    sides = "".join(
        f"<div><strong>{_team_link(code, _name(code))}</strong>"
        f'<div class="scores"><div class="score">{game.score(code)}</div></div></div>'
        for code in (game.away, game.home)
    )
    when = f"{_eastern(game):%I:%M %p, %B %d, %Y}".lstrip("0")
    meta = f'<div class="scorebox_meta"><div>{when}</div><div>{game.venue}, {game.city}, Invented</div></div>'
    return f'<div class="scorebox">{sides}{meta}</div>'


def _box_page(game: Game) -> str:
    periods = [str(number) if number <= 4 else f"{number - 4}OT" for number in range(1, 5 + game.overtimes)]
    line = []
    for code in (game.away, game.home):
        points = [(name, str(made)) for name, made in zip(periods, game.periods(code), strict=True)]
        line.append(_row([("team", _team_link(code)), *points, ("T", str(game.score(code)))]))
    factors = [
        _row([("team_id", _team_link(code)), ("pace", "98.1"), ("off_rtg", "112.0")]) for code in (game.away, game.home)
    ]
    parts = [_scorebox(game)]
    parts.append(_table("line_score", ["team", *periods, "T"], line, over="Scoring", hidden=True))
    parts.append(_table("four_factors", ["team_id", "pace", "off_rtg"], factors, over="Four Factors", hidden=True))
    parts += [_box_table(game, code) for code in (game.away, game.home)]
    parts.append(
        f"<div><strong>Officials:&nbsp;</strong>{_link('/referees/whistpe99r.html', 'Perpetua Whistler')}, "
        f"{_link('/referees/calloos99r.html', 'Osric Callaway')}</div>"
        f"<div><strong>Attendance:&nbsp;</strong>{game.attendance:,}</div>"
    )
    title = f"{_name(game.away)} at {_name(game.home)} Box Score, {date.fromisoformat(game.date):%B %d, %Y}"
    return _page(title, f"/boxscores/{_id(game)}.html", "\n".join(parts))


def _box_table(game: Game, code: str) -> str:
    rows = []
    for number, line in enumerate(game.lines[code]):
        if number == 5:
            rows.append(_head(["player", *_BOX], ' class="thead"').replace(">PLAYER<", ">Reserves<"))
        if line.played:
            rows.append(_row([_who(line.player, "player"), *_box_cells([line])]))
        else:
            rows.append(_row([_who(line.player, "player"), ("reason", "Did Not Play", f'colspan="{len(_BOX)}"')]))
    foot = _row(
        [("player", "Team Totals"), *_box_cells([each for each in game.lines[code] if each.played], whole=True)]
    )
    table = _table(f"box-{_ref(code)}-game-basic", ["player", *_BOX], rows, foot=foot, over="Basic Box Score Stats")
    return table.replace(">PLAYER<", ">Starters<")


def _plays_page(game: Game) -> str:
    rows: list[str] = []
    for period in range(1, 5 + game.overtimes):
        over = period - 4
        name = f"{period}{['st', 'nd', 'rd', 'th'][period - 1]} Q" if over < 1 else f"{over}{['st', 'nd'][over - 1]} OT"
        rows.append(f'<tr class=\'thead\' id="q{period}"><th colspan="6">{name}</th></tr>')
        heads = ("Time", _name(game.away), "", "Score", "", _name(game.home))
        rows.append("<tr class='thead'>" + "".join(f'<th data-stat="{each}">{each}</th>' for each in heads) + "</tr>")
        start = "12:00.0" if over < 1 else "5:00.0"
        rows.append(f"<tr><td>{start}</td><td colspan=\"5\" class='center'>Start of {name}</td></tr>")
        rows += _shots(game, period)
        rows.append(f"<tr><td>0:00.0</td><td colspan=\"5\" class='center'>End of {name}</td></tr>")
    table = f'<table class="stats_table" id="pbp"><caption>Play-By-Play Table</caption>{"".join(rows)}</table>'
    title = f"{_name(game.away)} at {_name(game.home)} Play-By-Play, {date.fromisoformat(game.date):%B %d, %Y}"
    return _page(title, f"/boxscores/pbp/{_id(game)}.html", _scorebox(game) + table)


def _chart_page(game: Game) -> str:
    parts = [_scorebox(game)]
    for code in (game.away, game.home):
        marks = ""
        for place, shot in enumerate(each for each in game.shots if each.team == code and each.value > 1):
            tip = f"Q{shot.period}, {shot.clock} remaining<br>{shot.player.name} made {shot.value}-pointer<br>"
            marks += (
                f'<div style="top:{20 + place * 3 % 300}px;left:{100 + place * 7 % 300}px;" '
                f'tip="{escape(tip, quote=True)}{shot.away_score}-{shot.home_score}" '
                f'class="tooltip q-{shot.period} p-{_slug(shot.player)} make">&#9679;</div>'
            )
        columns = ["player", "fg", "fga"]
        rows = [_row([_who(line.player, "player"), ("fg", "1"), ("fga", "2")]) for line in game.lines[code][:2]]
        parts.append(f'<!--<div id="shots-{_ref(code)}" class="shot-area">{marks}</div>-->')
        parts.append(_table(f"shooting-{_ref(code)}", columns, rows, hidden=True))
    title = f"{_name(game.away)} at {_name(game.home)} Shot Charts, {date.fromisoformat(game.date):%B %d, %Y}"
    return _page(title, f"/boxscores/shot-chart/{_id(game)}.html", "\n".join(parts))


def _shots(game: Game, period: int) -> list[str]:
    how = {1: "makes free throw 1 of 1", 2: "makes 2-pt layup at rim", 3: "makes 3-pt jump shot from 26 ft"}
    rows = []
    for shot in (each for each in game.shots if each.period == period):
        slug = _slug(shot.player)
        first, last = shot.player.name.split()
        text = f"{_link(f'/players/{slug[0]}/{slug}.html', f'{first[0]}. {last}')} {how[shot.value]}"
        made = f"<td class='bbr-play-score'>+{shot.value}</td>"
        score = f"<td class=' center'>{shot.away_score}-{shot.home_score}</td>"
        empty = "<td>&nbsp;</td>"
        clock = shot.clock if ":" in shot.clock else f"0:{float(shot.clock):04.1f}"
        clock = clock if "." in clock else f"{clock}.0"
        cells = f"<td>{text}</td>{made}{score}{empty}{empty}"
        if shot.team == game.home:
            cells = f"{empty}{empty}{score}{made}<td>{text}</td>"
        rows.append(f"<tr><td>{clock}</td>{cells}</tr>")
    return rows


# -- days --------------------------------------------------------------------------------------------------------


def _day(hit: Hit) -> str:
    asked = parse_qs(urlsplit(hit.path).query)
    year, month, day = (asked.get(name, ["0"])[0] for name in ("year", "month", "day"))
    return f"{year[:4]}-{month[:2]:0>2}-{day[:2]:0>2}"


def _day_page(day: str) -> str:
    games = [game for game in _games() if game.date == day and game.status == "final"]
    parts = []
    for game in games:
        rows = ""
        for code in (game.away, game.home):
            last = "gamelink" if code == game.away else ""
            more = _link(f"/boxscores/{_id(game)}.html", "Final") if code == game.away else "&nbsp;"
            if code == game.home and game.overtimes:
                more = f"{game.overtimes}OT"
            rows += (
                f"<tr><td>{_team_link(code, _name(code))}</td><td class='right'>{game.score(code)}</td>"
                f"<td class='right {last}'>{more}</td></tr>"
            )
        quarters = "".join(
            f"<tr><td>{_team_link(code)}</td>{''.join(f'<td>{made}</td>' for made in game.periods(code))}</tr>"
            for code in (game.away, game.home)
        )
        parts.append(
            f'<div class="game_summary expanded nohover"><table class="teams"><tbody>{rows}</tbody></table>'
            f"<table><thead><tr><th></th></tr></thead><tbody>{quarters}</tbody></table></div>"
        )
    shown = "".join(parts) or "<p>No games played on this date.</p>"
    return _page(f"NBA Games Played on {_long(day)}", "/boxscores/", f'<div class="game_summaries">{shown}</div>')


def _long(day: str) -> str:
    try:
        return f"{date.fromisoformat(day):%B %d, %Y}"
    except ValueError:
        return "a Day That Never Was"


def _leaders_page(day: str) -> str:
    columns = ["ranker", "player", "team_id", "game_location", "opp_id", "game_result", *_BOX]
    rows: list[str] = []
    for game in (game for game in _games() if game.date == day and game.status == "final"):
        for code, other in ((game.away, game.home), (game.home, game.away)):
            for line in (each for each in game.lines[code] if each.played):
                result = _link(f"/boxscores/{_id(game)}.html", "W" if game.score(code) > game.score(other) else "L")
                where: list[Cell] = [("team_id", _team_link(code)), ("game_location", "@" if code == game.away else "")]
                where += [("opp_id", _team_link(other)), ("game_result", result)]
                rank = ("ranker", str(len(rows) + 1))
                rows.append(_row([rank, _who(line.player, "player"), *where, *_box_cells([line])]))
    rows[10:10] = [_head(columns, ' class="thead"')]
    table = _table("stats", columns, rows)
    return _page(f"NBA Daily Stats Leaders for {_long(day)}", "/friv/dailyleaders.fcgi", table)


# -- players -----------------------------------------------------------------------------------------------------


def _of_player(path: str) -> str:
    """A page of a player; for one that is none, the list of all, as the site does."""
    for code in _codes():
        for player in league.roster(code):
            slug = _slug(player)
            if path == f"/players/{slug[0]}/{slug}.html":
                return _player_page(player, code)
            if path.rstrip("/") == f"/players/{slug[0]}/{slug}/gamelog/{_SEASON}":
                return _log_page(player, code)
    names = "".join(f"<li>{_who(each, '')[1]}</li>" for code in _codes() for each in league.roster(code))
    return _page("List of all the NBA and ABA Players", "/players/", f"<ul>{names}</ul>")


def _log_page(player: Player, code: str) -> str:
    rows = []
    total: list[Line] = []
    for number, (game, line) in enumerate(_played(player, code), 1):
        other = game.away if code == game.home else game.home
        mine, theirs = game.score(code), game.score(other)
        cells: list[Cell] = [
            ("ranker", str(number)),
            ("date", _link(f"/boxscores/{_id(game)}.html", game.date)),
            ("team_name_abbr", _team_link(code)),
            ("game_location", "@" if code == game.away else ""),
            ("opp_name_abbr", _team_link(other)),
            ("game_result", f"{'W' if mine > theirs else 'L'}, {mine}-{theirs}"),
        ]
        if line.played:
            total.append(line)
            rows.append(_row([*cells, ("is_starter", str(int(line.starter))), *_box_cells([line])]))
        else:
            rows.append(_row([*cells, ("is_starter", "Inactive", f'colspan="{1 + len(_BOX)}"')]))
    rows[1:1] = [_head(_LOG, ' class="thead"')]
    empty = [(name, "") for name in _LOG[:7]]
    foot = _row([*empty, *_box_cells(total, whole=True)]) if total else ""
    slug = _slug(player)
    table = _table("player_game_log_reg", _LOG, rows, foot=foot)
    return _page(f"{player.name} 2023-24 Game Log", f"/players/{slug[0]}/{slug}/gamelog/{_SEASON}/", table)


def _player_page(player: Player, code: str) -> str:
    lines = [line for _, line in _played(player, code) if line.played]
    counts = _counts(lines)
    columns = ["season", "age", "team_id", "lg_id", "pos", "g", "gs", "mp", *_SUMS]
    shown = [("age", "24"), ("team_id", _team_link(code)), ("lg_id", "NBA"), ("pos", player.position)]
    stats: list[Cell] = [("g", str(len(lines))), ("gs", str(sum(line.starter for line in lines)))]
    stats += [(name, str(counts[name])) for name in ("mp", *_SUMS)]
    row = _row([("season", "2023-24"), *shown, *stats])
    foot = _row([("season", "Career"), *((name, "") for name, _ in shown), *stats])
    slug = _slug(player)
    info = (
        f'<div id="meta"><p><strong><strong>{player.name} the Younger</strong></strong></p>'
        "<p><strong>Position:</strong> Point Guard and Shooting Guard &#9642; <strong>Shoots:</strong> Left</p>"
        '<p><span itemprop="height">6-5</span>,&nbsp;<span itemprop="weight">205lb</span></p>'
        '<p><span id="necro-birth" data-birth="1999-08-26">August 26, 1999</span>'
        '<span itemprop="birthPlace">in Lower Wimbling, Invented</span></p></div>'
    )
    tables = _table("totals", columns, [row], foot=foot, hidden=True)
    return _page(player.name, f"/players/{slug[0]}/{slug}.html", info + tables)


def _search(hit: Hit) -> Answer:
    """A list of players; of one alone, the way to its page."""
    asked = parse_qs(urlsplit(hit.path).query).get("search", [""])[0].lower()
    found = [each for code in _codes() for each in league.roster(code) if asked and asked in each.name.lower()]
    if len(found) == 1:
        slug = _slug(found[0])
        return Answer(status=302, body="", headers={"Location": f"https://{_HOST}/players/{slug[0]}/{slug}.html"})
    items = "".join(
        f'<div class="search-item"><div class="search-item-name">'
        f"{_who(each, '')[1].replace('</a>', ' (2022-2024)</a>')}"
        f'</div><div class="search-item-team">Last played for: Nobody</div></div>'
        for each in found
    )
    body = f'<div class="search-results"><div id="searches"><div id="players">{items}</div></div></div>'
    return _html(_page("Search Results", "/search/search.fcgi", body))


def _not_found() -> str:
    body = "<p>We apologize, but we could not find the page you asked for.</p>"
    return _page("Page Not Found (404 error)", "/404.html", body)
