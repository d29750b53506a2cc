"""The scraper of Basketball Reference: any page of the catalogue, by tier, category, type, season, day, game ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

import msgspec

from gossamer import Blocked, Item, Page, ReadError, Request, Scraper
from gossamer.packs.nba import answers, seasons
from gossamer.packs.nba.quality import quality
from gossamer.packs.nba.reference import (
    box_scores,
    lines,
    moves,
    people,
    plan,
    player_seasons,
    plays,
    schedules,
    standings,
    tables,
    values,
)
from gossamer.packs.nba.reference.asked import Asked, refuse_wrong
from gossamer.packs.nba.reference.catalogue import Type, catalogue, filled
from gossamer.packs.nba.reference.records import KINDS, Document, document, item
from gossamer.packs.nba.reference.tables import Table

__all__ = ["READERS", "Reference"]

Reader = Callable[[Page, Asked], Iterator[msgspec.Struct]]

#: What the catalogue calls a reader -> what makes records of a page.
READERS: Final[dict[str, Reader]] = {
    "box_score": box_scores.box_score,
    "daily_index": schedules.daily_index,
    "daily_leaders": lines.daily_leaders,
    "game_log": lines.game_log,
    "player": people.player,
    "player_seasons": player_seasons.player_seasons,
    "plays": plays.plays,
    "schedule": schedules.schedule,
    "standings": standings.standings,
    "team_schedule": schedules.team_schedule,
    "transactions": moves.transactions,
}
#: Pages that may well be without a table.
_BARE: Final = frozenset({"daily_index", "player", "transactions", "shots"})


class Reference(Scraper):
    """Statistics of the NBA and other leagues as Basketball Reference tells them."""

    name = "nba.reference"
    takes: ClassVar[dict[str, str]] = plan.TAKES
    cron = "0 4 * * *"
    timezone = "America/New_York"
    #: The site bans who asks more often, for a day or longer: one page in 12 seconds.
    rate = "5/min"
    per_host = 1
    concurrency = 1
    retries = 3
    breaker_wait = "60s"
    #: A game that is over stays as it is; what lists others is asked for each time.
    revisit = "7d"
    #: A run looks at what it was asked for: the rest is not gone.
    gone = "never"
    item = KINDS
    steps = (quality,)

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Raises ConfigError for parameters that cannot be used, and for what is missing."""
        super().__init__(params)
        self._combined = seasons.one_of(self.params, "combined", ("no", "yes")) == "yes"
        self._inactive = seasons.one_of(self.params, "inactive", ("yes", "no")) == "yes"
        self._wanted = seasons.one_of(self.params, "items", ("rows", "documents", "both"))
        # A page that an earlier run read is not read again while it is fresh, by the same handler: so what is to be a
        # document has another than what is to be rows.
        self._to = "parse" if self._wanted == "rows" else self._wanted
        self._asked = plan.wanted(self.params)
        next(plan.pages(self._asked), None)  # refused now, not when the run begins

    def start(self) -> Iterator[Request]:
        """The pages that the parameters ask for."""
        yield from plan.pages(self._asked, self._to)

    def validate(self, page: Page) -> None:
        """Raises Blocked for the page by which the site says that it was asked too often, and for a login."""
        if "Rate Limited" in (page.title or ""):
            raise Blocked("the site says that we are too fast")
        if answers.asks_to_log_in(page.body) and not tables.read(page):
            raise Blocked("the site asks to log in where a page was asked for")

    def parse(self, page: Page) -> Iterator[Item | Request]:
        """A page of the catalogue as rows: what it tells, and where it leads."""
        return self._page(page)

    def documents(self, page: Page) -> Iterator[Item | Request]:
        """A page of the catalogue as documents, and where it leads."""
        return self._page(page)

    def both(self, page: Page) -> Iterator[Item | Request]:
        """A page of the catalogue as rows and as documents, and where it leads."""
        return self._page(page)

    def _page(self, page: Page) -> Iterator[Item | Request]:
        types, args = self._known(page)
        expand: dict[str, list[str]] = page.carry.get("expand") or {}
        leads = {catalogue().named(name).reads for names in expand.values() for name in names}
        done: set[str | None] = set()
        for each in types:
            told = self._told(page, each, args, read=each.reads not in done)
            # The page of a game that is over says more of it: what leads there need not tell of it too.
            yield from (one for one in told if not ("box_score" in leads and _is_over(one)))
            done.add(each.reads)
            if each.name == "schedules":
                yield from self._months(page, each.league, args, {"types": [_month_type(each).id]})
        for need, names in expand.items():
            yield from self._listed(page, need, names, args)

    def searched(self, page: Page) -> Iterator[Item]:
        """What a search found; the site leads to the player at once if it is one."""
        if people.is_player(page):
            found = catalogue().of_url(page.url)
            if found is not None:
                yield from self._told(page, *found)
            return
        if not page.css("div.search-results, #searches"):
            raise ReadError("this is no list of what a search found")
        yield from map(item, people.found(page))

    # --- one page ---

    def _known(self, page: Page) -> tuple[list[Type], dict[str, str]]:
        """The types that a page was asked for as, and its parameters; those of its URL where nobody asked."""
        if "types" in page.carry:
            return [catalogue().named(name) for name in page.carry["types"]], dict(page.carry.get("args") or {})
        found = catalogue().of_url(page.url)
        if found is None:
            raise ReadError("the catalogue has no such page")
        return [found[0]], found[1]

    def _told(self, page: Page, each: Type, args: dict[str, str], *, read: bool = True) -> Iterator[Item]:
        asked = Asked(type=each, args=args, combined=self._combined, inactive=self._inactive)
        refuse_wrong(page, asked)
        _refuse_bare(page, each)
        reader = READERS.get(each.reads or "")
        if reader is not None and read and self._wanted != "documents":
            yield from map(item, reader(page, asked))
        if reader is None or self._wanted != "rows":
            yield from _documents(page, asked)

    def _listed(self, page: Page, need: str, names: list[str], args: dict[str, str]) -> Iterator[Request]:
        """The pages of the teams, players or games that a page lists."""
        types = [catalogue().named(name) for name in names]
        if not types:
            return
        index = catalogue().league(types[0].league).indexes[need]
        refuse_wrong(page, Asked(type=types[0], args=args))
        # A game that is over stays as it is.
        again = any(each.needs != ("game_id",) for each in types)
        for named in index.named(_links(page), args):
            whole = {**args, **{name: text for name, text in named.items() if name != "initial"}}
            together: dict[str, list[str]] = {}
            for each in types:
                together.setdefault(each.address(whole), []).append(each.id)
            for url, ids in together.items():
                yield Request(url, to=self._to, carry={"types": ids, "args": whole}, revisit=again)
        if need == "game_id":
            yield from self._months(page, types[0].league, args, {"types": [], "expand": {need: names}})

    def _months(self, page: Page, league: str, args: dict[str, str], carry: dict[str, Any]) -> Iterator[Request]:
        """The other months of a schedule: its first page shows the first, and leads to all."""
        if league != "nba" or "month" in args or page.carry.get("month"):
            return
        shown = schedules.months_of(page)
        for month, href in schedules.month_links(page).items():
            if month not in shown:
                told = {**carry, "args": {**args, "month": month}, "month": month}
                yield Request(href, to=self._to, carry=told, revisit=True)


def _links(page: Page) -> Iterator[str]:
    """Where a list leads: the links of its tables and of its games. Others on the page are of other seasons."""
    for table in tables.read(page).values():
        for row in table.rows:
            for hrefs in row.links.values():
                yield from hrefs
    for link in page.css("div.game_summary a")[:5_000]:
        yield link.attr("href") or ""


def _month_type(each: Type) -> Type:
    return catalogue().named("schedule_month") if each.league == "nba" else each


def _is_over(one: Item) -> bool:
    return one.kind == "game" and one.record()["status"] == "final"


# --- documents ------------------------------------------------------------------------------------------------------


def _refuse_bare(page: Page, each: Type) -> None:
    """Raises ReadError if a page has none of the tables of its type: the site has changed, or it is another page."""
    found = tables.read(page)
    if each.reads not in _BARE and not any(each.has(name) for name in found):
        there = ", ".join(list(found)[:10]) or "none"
        raise ReadError(f"the page has none of the tables of {each.id}: there are {there}")


def _documents(page: Page, asked: Asked) -> Iterator[Item]:
    """The page as one document; as one for each table, where the catalogue says so."""
    each = asked.type
    found = tables.read(page)
    kept = {name: table for name, table in found.items() if each.has(name)}
    more: dict[str, Any] = {}
    if each.reads == "shots":
        more["shots"] = plays.shots(page)
    if each.reads in ("box_score", "transactions", "daily_index"):
        more["records"] = [msgspec.to_builtins(record) for record in READERS[each.reads](page, asked)]
    if each.each is None:
        yield _document(page, asked, kept, {}, more)
        return
    for name, table in kept.items():
        yield _document(page, asked, {name: table}, {each.each: name}, more)


def _document(page: Page, asked: Asked, kept: dict[str, Table], own: dict[str, str], more: dict[str, Any]) -> Item:
    args = _named(page, asked) | own
    record = Document(
        source=values.SOURCE,
        type=asked.type.id,
        league=asked.league,
        url=page.url,
        tables={name: _plain(table) for name, table in kept.items()},
        more=more,
        **{name: text for name, text in args.items() if name in Document.__struct_fields__},
    )
    return document(record, filled(asked.type.key, args))


def _named(page: Page, asked: Asked) -> dict[str, str]:
    """What the name of a document is made of: what was asked for, and what follows from it."""
    args = dict(asked.args)
    if asked.season is not None:
        args.setdefault("season", str(asked.season))
    if "{season}" in asked.type.key:
        args.setdefault("season", str(seasons.season_of(seasons.today())))
    if "{month}" in asked.type.key and "month" not in args:
        args["month"] = next(iter(sorted(schedules.months_of(page))), "all")
    if "{slug}" in asked.type.key:
        args.setdefault("slug", "all")
    return args


def _plain(table: Table) -> dict[str, Any]:
    """A table as JSON has it: numbers as numbers, empty cells as None."""
    return {
        "columns": list(table.columns),
        "rows": [{name: values.value(text) for name, text in row.cells.items()} for row in table.rows],
        "footer": [{name: values.value(text) for name, text in row.cells.items()} for row in table.footer],
    }
