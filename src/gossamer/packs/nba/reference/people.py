"""Players: their own pages, and what a search finds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from gossamer import Page
from gossamer.packs.nba.reference import tables, values
from gossamer.packs.nba.reference.asked import Asked, heading
from gossamer.packs.nba.reference.player_seasons import rates
from gossamer.packs.nba.reference.records import Found, Player
from gossamer.packs.nba.reference.tables import Row, Table

__all__ = ["found", "is_player", "player"]

#: What a search may find on one page.
MOST: Final = 1_000
#: How positions are written out -> how they are written short.
POSITIONS: Final = {
    "Point Guard": "PG",
    "Shooting Guard": "SG",
    "Small Forward": "SF",
    "Power Forward": "PF",
    "Center": "C",
    "Guard": "G",
    "Forward": "F",
}
_PATH: Final = re.compile(r"/(?:wnba/|gleague/|international/)?players/(?:[a-z]/)?[a-z0-9.'-]{3,60}\.html")
_YEARS: Final = re.compile(r"\((\d{4})(?:-(\d{4}))?\)")
_PLACES: Final = re.compile("|".join(POSITIONS))


def is_player(page: Page) -> bool:
    """Whether a page is that of a player: a search that finds one leads there at once."""
    return _PATH.fullmatch(urlsplit(page.url).path) is not None


def found(page: Page) -> Iterator[Found]:
    """The players that a search found."""
    asked = parse_qs(urlsplit(page.url).query).get("search", [""])[0][:200]
    for group in page.css("#searches > div")[:20]:
        for each in group.css("div.search-item")[:MOST]:
            link = each.css("div.search-item-name a")
            href, text = link.attr("href") or "", link.text or ""
            slug = values.player_in(href)
            if slug is None:
                continue
            years = _YEARS.search(text)
            last = (each.css("div.search-item-team").text or "").partition(":")[2].strip()
            yield Found(
                source=values.SOURCE,
                search=asked,
                player_id=slug,
                name=_YEARS.sub("", text).strip(),
                group=group.attr("id"),
                first_season=int(years[1]) if years else None,
                last_season=int(years[2] or years[1]) if years else None,
                last_team=last or None,
                url=f"https://www.basketball-reference.com{href}",
            )


def player(page: Page, asked: Asked) -> Iterator[Player]:
    """Who a player is, and the tables of the career."""
    slug = asked.args.get("slug") or values.player_in(page.url)
    if slug is None:
        return
    info = page.css("#meta, #info").texts()
    text = " ".join(info[:1])[:5_000]
    all_tables = tables.read(page)
    weight = re.match(r"\d{2,3}", _itemprop(page, "weight") or _after(text, r"\b(\d{2,3})lb") or "")
    born = page.css("#necro-birth").attr("data-birth")
    yield Player(
        source=values.SOURCE,
        league=asked.league,
        player_id=slug,
        name=heading(page),
        full_name=page.css("#meta p strong strong").text or page.css("#meta p strong").text,
        positions=tuple(dict.fromkeys(POSITIONS[each] for each in _PLACES.findall(_said(text, "Position", "Shoots")))),
        shoots=_after(text, r"Shoots:\s{0,5}([A-Z][a-z]{1,10})"),
        height=_itemprop(page, "height") or _after(text, r"\b(\d-\d{1,2}),"),
        weight=int(weight[0]) if weight else None,
        birth_date=values.day(born),
        birth_place=(_itemprop(page, "birthPlace") or "").removeprefix("in").strip() or None,
        birth_country=(page.css("#meta span.f-i").text or "")[:2].upper() or None,
        college=page.css('#meta a[href*="/friv/colleges"]').text,
        salaries=_salaries(all_tables.get("all_salaries")),
        contract=_contract(all_tables),
        seasons={
            name: rows
            for name, table in all_tables.items()
            if {"season", "year_id"} & set(table.columns) and {"g", "games"} & set(table.columns)
            if (rows := _seasons(table))
        },
        url=page.url,
    )


def _itemprop(page: Page, name: str) -> str | None:
    return page.css(f'span[itemprop="{name}"]').text


def _said(text: str, label: str, until: str) -> str:
    """What stands after a label, up to another."""
    return text.partition(f"{label}:")[2].partition(f"{until}:")[0][:200]


def _after(text: str, pattern: str) -> str | None:
    match = re.search(pattern, text)
    return match[1] if match else None


def _seasons(table: Table) -> list[dict[str, Any]]:
    """The rows of a career: seasons, and the whole of it from the footer."""
    rows = [_season(row, table) for row in table.rows]
    rows += [_season(row, table) for row in table.footer if (row.text("season", "year_id") or "").startswith("Career")]
    return [row for row in rows if row["season"]]


def _season(row: Row, table: Table) -> dict[str, Any]:
    return {
        "season": row.text("season", "year_id"),
        "team": row.text(*tables.TEAM),
        "league": row.text("lg_id", "comp_name_abbr"),
        "position": row.text("pos"),
        "age": values.whole(row.text("age")),
        "games": values.whole(row.text("g", "games")),
        "games_started": values.whole(row.text("gs", "games_started")),
        "minutes": values.number(row.text("mp", "mp_per_g")),
        **rates(row.cells, table.columns),
    }


def _salaries(table: Table | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in table.rows if table else ():
        paid = values.whole((row.text("salary") or "").lstrip("$"))
        if paid is not None and (season := row.text("season")):
            found[season] = found.get(season, 0) + paid
    return found


def _contract(found: Mapping[str, Table]) -> dict[str, int]:
    """What the seasons to come will pay: a table of one row, whose header has the seasons."""
    table = next((table for name, table in found.items() if name.startswith("contracts_")), None)
    if table is None or not table.rows:
        return {}
    paid = zip(table.heads.values(), table.rows[0].cells.values(), strict=False)
    return {
        season: dollars
        for season, text in paid
        if text.startswith("$") and (dollars := values.whole(text.lstrip("$"))) is not None
    }
