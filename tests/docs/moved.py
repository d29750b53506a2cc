"""The sites of the pages about moving to Gossamer: open calls, a league's games, a board of jobs. All invented."""

from __future__ import annotations

from html import escape

from gossamer.testing import Site

CALLS = [
    ("Mural for the Ferry Hall", "Harbour Arts Council", "June 1, 2027", "Port Amber, CA"),
    ("Six Weeks at the Mill", "Millrace Residency", "2027-07-15", "Alder Falls, NY"),
    ("Paper Works, Small", "Gallery Fold", "August 3rd, 2027", "Port Amber, CA"),
    ("Grant for Young Potters", "Kiln Fund", "rolling", "Dry Creek, TX"),
]
CALLS_PER_PAGE = 2
GAMES = {
    "2024": [("g1", "Harbour Herons", 101, "Mill City Owls", 97), ("g2", "Alder Foxes", 88, "Harbour Herons", 92)],
    "2025": [("g3", "Mill City Owls", 110, "Alder Foxes", 104)],
}
JOBS = [
    ("1001", "Flight Dispatcher", "Luton, GB"),
    ("1002", "Ramp Agent", "Austin, TX"),
    ("1003", "Duty Manager", "Geneva, CH"),
]
JOBS_PER_PAGE = 2


def _html(title: str, body: str) -> str:
    return f'<!doctype html>\n<html lang="en"><head><title>{title}</title></head><body>{body}</body></html>'


def calls(site: Site) -> None:
    """Open calls for artists, two a page, with a page for each state that has some."""
    pages = [CALLS[at : at + CALLS_PER_PAGE] for at in range(0, len(CALLS), CALLS_PER_PAGE)]
    for number, some in enumerate(pages, 1):
        after = f'<a class="next" href="/opportunities?page={number + 1}">More</a>' if number < len(pages) else ""
        listing = _html("Open calls", _cards(some) + after)
        site.page(f"/opportunities?page={number}", listing)
        if number == 1:
            site.page("/opportunities", listing)
    for state, slug in (("CA", "california"), ("TX", "texas")):
        site.page(f"/{slug}", _html(slug, _cards([call for call in CALLS if call[3].endswith(state)])))
    for title, organisation, _, _ in CALLS:
        site.page(f"/calls/{_slug(title)}", _html(title, f"<h1>{title}</h1><p>Ask the {organisation}.</p>"))


def _cards(some: list[tuple[str, str, str, str]]) -> str:
    return "".join(
        f'<article class="opportunity"><h3><a href="/calls/{_slug(title)}">{escape(title)}</a></h3>'
        f'<p class="by">{organisation}</p><p class="deadline">Deadline: {deadline}</p>'
        f'<p class="place">{place}</p></article>'
        for title, organisation, deadline, place in some
    )


def _slug(title: str) -> str:
    return title.lower().replace(",", "").replace(" ", "-")


def games(site: Site) -> None:
    """A league as a JSON API: the schedule of a season, a box score for each game, and a file of all plays."""
    for season, played in GAMES.items():
        site.json(f"/schedule?season={season}", {"season": int(season), "games": [{"id": game[0]} for game in played]})
        site.download(f"/plays/{season}.csv", b"clock,play\n" * 5_000, kind="text/csv")
        for number, home, home_points, away, away_points in played:
            teams = [{"name": home, "points": home_points}, {"name": away, "points": away_points}]
            site.json(f"/games/{number}", {"game_id": number, "season": int(season), "teams": teams})


def jobs(site: Site) -> None:
    """A board of jobs: a list that is asked for by offset, and a page with the description of each."""
    for offset in range(0, len(JOBS), JOBS_PER_PAGE):
        some = JOBS[offset : offset + JOBS_PER_PAGE]
        rows = [{"Id": number, "Title": title, "Location": where} for number, title, where in some]
        site.json(f"/api/jobs?offset={offset}", {"total": len(JOBS), "jobs": rows})
    for number, title, where in JOBS:
        text = f"<p>{escape(title)} in {where}: early shifts, good coffee.</p>"
        site.page(f"/job/{number}", _html(title, f'<h1>{title}</h1><div class="description">{text}</div>'))
