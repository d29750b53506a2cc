"""`/sources`: the hosts we know, how each is treated, and what people rule; `/sources?host=`: one of them."""

from __future__ import annotations

from urllib.parse import urlencode

from nicegui import ui

from gossamer import asking, lists
from gossamer.dashboard import starting, words
from gossamer.dashboard.finding import ROWS, Finder, limited
from gossamer.dashboard.parts import (
    Badge,
    Cell,
    Column,
    Pairs,
    Row,
    Sheet,
    Table,
    Text,
    at,
    box,
    button,
    card,
    dialogue,
    empty,
    link,
    note,
    when,
)
from gossamer.dashboard.shell import Here, page
from gossamer.lists import Listing, RobotsVersion, SourceDetail, SourceRow
from gossamer.values import Notice

PAUSE, RESUME, BUDGET = "Pause", "Resume", "Budget"
#: The state of a host's breaker, in words.
BREAKERS = {"closed": "Answers", "open": "Fails: left alone", "half_open": "Tried again"}
#: What is known of its robots.txt, in words.
ROBOTS_WORDS = {"rules": "rules", "none": "none", "closed": "unreadable", "unknown": "not asked"}
ROBOTS = {"rules": "good", "none": "dim", "closed": "bad", "unknown": "info"}
MEANINGS = {
    "rules": "it has rules, which are kept",
    "none": "it has none: everything may be fetched",
    "closed": "it could not be read, so nothing is fetched",
    "unknown": "nobody has asked for it yet",
}
COLUMNS = (
    Column("Host"),
    Column("robots.txt"),
    Column("Pace", "right"),
    Column("Health"),
    Column("Left alone", form="text"),
    Column("Pages a run", "right"),
    Column("Last asked", minor=True),
)
#: Letters of a robots.txt that are shown at once.
LONGEST = 20_000


def pace_of(source: SourceRow) -> str:
    """How fast a host is asked, as far as it taught us that."""
    if not source.interval:
        return "as configured"
    return f"one in {words.duration(source.interval)}" if source.interval > 1 else words.rate(1 / source.interval)


def held_of(source: SourceRow) -> Cell:
    """Whether a host is left alone now, until when and why."""
    if source.paused:
        return Cell("paused", tone="warn", tip=f"by {source.ruled_by}" if source.ruled_by else "by people")
    if source.held_until is None:
        return Cell("no")
    why = source.why or "its breaker is open"
    return Cell(f"{words.until(source.held_until)}: {words.cut(why, 100)}", tip=words.moment(source.held_until))


def breaker_of(source: SourceRow) -> Cell:
    """The state of its breaker."""
    tone = {"closed": "good", "open": "bad"}.get(source.breaker, "warn")
    tip = f"it opened {words.plural(source.openings, 'time')} in a row" if source.openings else ""
    return Cell(BREAKERS.get(source.breaker, source.breaker).lower(), tone=tone, tip=tip)


def row_of(here: Here, source: SourceRow) -> Row:
    """A host as a row of the list."""
    return Row(
        source.host,
        (
            Cell(words.cut(source.host, 100), href=f"/sources?{urlencode({'host': source.host})}"),
            Cell(ROBOTS_WORDS[source.robots], tone=ROBOTS[source.robots], tip=MEANINGS[source.robots]),
            pace_of(source),
            breaker_of(source),
            held_of(source),
            words.number(source.budget),
            at(source.last_hit),
        ),
        acts=[RESUME if source.paused else PAUSE, BUDGET] if here.may("admin") else [],
    )


# -- what people rule ----------------------------------------------------------------------------------------------


async def pause(here: Here, host: str, *, paused: bool) -> bool:
    """Leave a host alone, or go on with it; whether that was done."""
    told = f"{host} is left alone from now on" if paused else f"{host} is asked again"
    return await here.done("admin", lambda by: asking.pause_host(here.desk, host, paused, by=by), told)


async def set_budget(here: Here, host: str, now: int | None) -> bool:
    """Ask for the most pages of a host, and keep that; whether it was done."""
    with dialogue() as dialog:
        Text(f"Pages of {words.cut(host, 200)}", "h2", "g-wrap")
        Text("The most that one run walks, for runs that begin from now on. Left empty, there is no limit.", "p")
        field = ui.number("Pages of one run", value=now, min=1, max=2**31 - 1, precision=0).props(
            "outlined dense clearable"
        )
        with box("g-row"):
            ui.button("Save", on_click=lambda: dialog.submit((field.value,))).props("unelevated")
            ui.button("Cancel", on_click=lambda: dialog.submit(None), color=None).props("flat")
    answer = await dialog
    dialog.delete()
    if answer is None:
        return False
    pages = int(answer[0]) if isinstance(answer[0], int | float) else None
    told = f"at most {words.plural(pages, 'page')} of {host} in one run" if pages else f"no limit on pages of {host}"
    return await here.done("admin", lambda by: asking.set_budget(here.desk, host, pages, by=by), told)


# -- the list ------------------------------------------------------------------------------------------------------


class Sources:
    """The list, and what narrows it down."""

    def __init__(self, here: Here, given: dict[str, str]) -> None:
        self.here = here
        self.finder: Finder[SourceRow] = Finder(here, "/sources", given, self._load)
        with box("g-card"), box("g-row"):
            self.finder.choice("paused", "Paused", {"yes": "Paused", "no": "Not paused"})
            self.finder.choice("breaker", "Health", BREAKERS)
            self.finder.text("q", "Find", "part of a host", wide=True)
        with box("g-card"):
            self.finder.table(
                COLUMNS, lambda source: row_of(here, source), nothing=self._nothing, act=self._act, label="Hosts"
            )

    async def _load(self, given: dict[str, str], cursor: str | None) -> Listing[SourceRow]:
        paused = {"yes": True, "no": False}.get(given["paused"])
        return await lists.sources(
            self.here.desk,
            q=given["q"].lower(),
            paused=paused,
            breaker=given["breaker"] or None,
            limit=ROWS,
            cursor=cursor,
        )

    def _nothing(self) -> None:
        if self.finder.narrowed:
            empty("No host is like that: clear a filter, or search on with Next.")
        else:
            starting.teach(self.here, "No hosts yet: each is known once a run asks it.")

    async def _act(self, row: str, deed: str) -> None:
        known = self.finder.rows.get(row)
        if known is None:
            return
        if deed == BUDGET:
            done = await set_budget(self.here, known.host, known.budget)
        else:
            done = await pause(self.here, known.host, paused=deed == PAUSE)
        if done:
            await self.finder.refresh()


# -- one host ------------------------------------------------------------------------------------------------------


class Source:
    """The page of one host."""

    def __init__(self, here: Here, host: str) -> None:
        self.here = here
        self.host = host
        self._now: SourceRow | None = None
        with box("g-title"):
            link("Sources", "/sources", "g-dim")
            Text(words.cut(host, 200), "h1", "g-wrap")
            self._state = Badge("")
            Text("", "div", "g-space")
            if here.may("admin"):
                self._pause = button(PAUSE, "pause", self._flip)
                button(BUDGET, "data_usage", self._ration)
        self._body = ui.element("div")

    async def load(self) -> SourceDetail | None:
        """Read it, for everybody who looks at this host."""
        return await lists.source(self.here.desk, self.host)

    def show(self, found: SourceDetail | None) -> None:
        """How it is treated now."""
        self._now = found.source if found is not None else None
        paused = self._now is not None and self._now.paused
        self._state.become("paused" if paused else "", "warn")
        self._state.set_visibility(paused)
        if self.here.may("admin"):
            self._pause.text = RESUME if paused else PAUSE
            self._pause.icon = "play_arrow" if paused else "pause"
        self._body.clear()
        with self._body:
            if found is None:
                empty("No run has asked this host yet. It can be paused all the same: no run will ask it then.")
            else:
                self._draw(found)

    def _draw(self, found: SourceDetail) -> None:
        source = found.source
        with card("How it is treated"):
            about = Pairs()
            with about.holding("robots.txt"), box("g-row"):
                Badge(ROBOTS_WORDS[source.robots], ROBOTS[source.robots])
                Text(MEANINGS[source.robots])
                if source.robots_at is not None:
                    when(source.robots_at, "g-dim")
            about.add("Pace", pace_of(source))
            about.add("Crawl delay", words.duration(source.crawl_delay) if source.crawl_delay else "none asked for")
            about.add("Answers in", words.duration(source.latency) if source.latency else words.NOTHING)
            breaker = breaker_of(source)
            about.add("Health", f"{breaker.text}{'; ' + breaker.tip if breaker.tip else ''}")
            about.add("Left alone", held_of(source).text)
            about.add("Pages of one run", f"at most {words.number(source.budget)}" if source.budget else "no limit")
            about.add("Paused or limited by", source.ruled_by or "nobody")
            with about.holding("Last asked"):
                when(source.last_hit)
            with about.holding("URLs"):
                link("those of this host", f"/urls?{urlencode({'host': source.host})}")
        with card("robots.txt"):
            if not found.robots:
                empty("Nobody has asked for its robots.txt yet.")
            for n, version in enumerate(found.robots):
                _draw_robots(version, opened=n == 0)
        with card("What was noticed"):
            columns = (Column("When"), Column("What"), Column("Lasts", "right"), Column("Detail", form="text"))
            table = Table(columns, nothing=lambda: empty("Nothing out of the ordinary."), label="Notices")
            table.show(Sheet([_notice(n, each) for n, each in enumerate(found.notices)]))

    async def _flip(self) -> None:
        paused = self._now is not None and self._now.paused
        if await pause(self.here, self.host, paused=not paused):
            self.show(await self.load())

    async def _ration(self) -> None:
        if await set_budget(self.here, self.host, self._now.budget if self._now else None):
            self.show(await self.load())


def _draw_robots(version: RobotsVersion, *, opened: bool) -> None:
    with ui.element("details").classes("g-details") as made:
        if opened:
            made.props["open"] = True
        with ui.element("summary"), box("g-row g-inline"):
            Text(words.cut(version.origin, 100), "span", "g-wrap")
            Text(f"status {version.status}", "span", "g-dim")
            Text(f"seen {words.moment(version.fetched)} to {words.moment(version.checked)}", "span", "g-dim g-small")
        if version.closed:
            note(words.cut(version.closed, 500), "bad")
        Text(words.cut(version.text, LONGEST) or "(empty)", "pre", "g-log")


def _notice(n: int, notice: Notice) -> Row:
    return Row(
        str(n),
        (
            at(notice.at),
            notice.kind.replace("_", " "),
            words.duration(notice.seconds) if notice.seconds else words.NOTHING,
            words.cut(notice.detail, 300),
        ),
    )


@page("/sources", "Sources")
async def sources(here: Here, host: str = "", q: str = "", paused: str = "", breaker: str = "") -> None:
    """The list, or one of them."""
    host = host.strip().lower()[:200]
    if host:
        here.client.title = f"{words.cut(host, 80)} · Gossamer"
        view = Source(here, host)
        await here.watch(("source", host), view.load, view.show, every=3.0)
        return
    with box("g-title"):
        Text("Sources", "h1")
    await Sources(here, limited(q=q, paused=paused, breaker=breaker)).finder.follow()
