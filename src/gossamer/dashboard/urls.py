"""`/urls`: every URL that runs met, with what became of it; and `/urls?url=`: all that is known of one, in words."""

from __future__ import annotations

from urllib.parse import urlencode

from nicegui import ui

from gossamer import asking, lists
from gossamer.dashboard import starting, words
from gossamer.dashboard.finding import ROWS, Finder, limited, number_of
from gossamer.dashboard.following import Following
from gossamer.dashboard.parts import (
    TONES,
    Badge,
    Cell,
    Column,
    Row,
    Text,
    at,
    box,
    button,
    card,
    confirm,
    empty,
    link,
    note,
    written,
)
from gossamer.dashboard.shell import Here, page, sentence
from gossamer.errors import GossamerError
from gossamer.lists import Listing, Told, UrlRow, Why

STATES = ("waiting", "done", "skipped", "failed")
COLOURS = {"waiting": "info", "done": "good", "skipped": "dim", "failed": "bad"}
FETCH, STOP, ALLOW = "Fetch again", "Deactivate", "Activate"
#: Letters of a URL that is asked about: `asking` takes no more.
LONGEST = asking.LONGEST_URL
COLUMNS = (
    Column("URL", form="line"),
    Column("State"),
    Column("Why", form="text"),
    Column("Status", "right", minor=True),
    Column("Run", "right"),
    Column("Fetched"),
)


def place(url: str) -> str:
    """The page that tells all of a URL."""
    return f"/urls?{urlencode({'url': url})}"


async def mark(here: Here, url: str, *, active: bool) -> bool:
    """Have a URL fetched no more, or again; whether that was done. It asks first."""
    detail = "No run fetches it any more, until somebody activates it again. Its items stay."
    if not active and not await confirm(f"Deactivate {words.cut(url, 200)}?", STOP, detail=detail):
        return False
    told = "it is fetched again, from now on" if active else "it is not fetched any more"
    return await here.done("run", lambda by: asking.mark_url(here.desk, url, active, by=by), told)


async def refetch(here: Here, url: str) -> int | None:
    """Fetch a known URL again: the run that does it."""
    return await here.do("run", lambda by: asking.refetch(here.desk, url, by=by))


# -- the list ------------------------------------------------------------------------------------------------------


class Urls:
    """The list, and what narrows it down."""

    def __init__(self, here: Here, given: dict[str, str]) -> None:
        self.here = here
        self.finder: Finder[UrlRow] = Finder(here, "/urls", given, self._load)
        with box("g-card"), box("g-row"):
            self.finder.choice("state", "State", STATES)
            names = sorted({*here.service.catalog.scrapers, *filter(None, [given["scraper"]])})
            self.finder.choice("scraper", "Scraper", names)
            self.finder.text("run", "Run", "12").style("width: 110px")
            self.finder.text("host", "Host", "example.org")
            self.finder.text("reason", "Reason", "robots, timeout, http_404")
            self.finder.text("q", "Find", "part of a URL", wide=True)
        with box("g-card"):
            self.finder.table(COLUMNS, self._row, nothing=self._nothing, act=self._act, label="URLs")

    async def _load(self, given: dict[str, str], cursor: str | None) -> Listing[UrlRow]:
        return await lists.urls(
            self.here.desk,
            run=number_of(given["run"], "run"),
            scraper=given["scraper"],
            host=given["host"].lower(),
            state=given["state"] or None,
            reason=given["reason"],
            q=given["q"],
            limit=ROWS,
            cursor=cursor,
        )

    def _row(self, url: UrlRow) -> Row:
        state = Cell(url.state, tone=COLOURS[url.state])
        why = words.became(url.why) if url.why and url.why == url.reason else url.why
        if url.inactive:
            state = Cell("inactive", tone="warn", tip=f"{url.state}; people said that it is not to be fetched")
        return Row(
            str(url.id),
            (
                Cell(words.cut(url.url, 110), href=place(url.url), tip=url.url[:2000]),
                state,
                Cell(words.cut(why, 140), tip=f"{why} ({url.reason})"[:1000] if why and url.reason else why[:1000]),
                str(url.status or words.NOTHING),
                Cell(str(url.run), href=f"/runs/{url.run}"),
                at(url.started),
            ),
            acts=[FETCH, ALLOW if url.inactive else STOP] if self.here.may("run") else [],
            danger=STOP,
        )

    def _nothing(self) -> None:
        if self.finder.narrowed:
            empty("No URL is like that: clear a filter, or search on with Next.")
        else:
            starting.teach(self.here, "No URLs yet: they come with the first run.")

    async def _act(self, row: str, deed: str) -> None:
        known = self.finder.rows.get(row)
        if known is None:
            return
        if deed == FETCH:
            run = await refetch(self.here, known.url)
            if run is not None:
                ui.navigate.to(f"{place(known.url)}&run={run}")
        elif await mark(self.here, known.url, active=deed == ALLOW):
            await self.finder.refresh()


# -- one URL -------------------------------------------------------------------------------------------------------


class Story:
    """All that is known of one URL."""

    def __init__(self, here: Here, url: str) -> None:
        self.here = here
        self.url = url
        self._following: Following | None = None
        self._next: str | None = None

    async def draw(self, run: int | None) -> None:
        """All of it; `run` is one that fetches it again just now."""
        with box("g-title"):
            link("URLs", "/urls", "g-dim")
            Text(words.cut(self.url, 300), "h1", "g-wrap")
            self._inactive = Badge("inactive", "warn")
        try:
            found = await lists.why(self.here.desk, self.url)
        except GossamerError as why:
            self._inactive.set_visibility(False)
            note(sentence(why), "bad")
            return
        with box("g-row q-mb-md"):
            link("Open the page", found.url).tip(found.url[:2000])
            Text("", "div", "g-space")
            if self.here.may("run"):
                button(FETCH, "refresh", self._fetch)
                self._mark = button(STOP, "block", self._flip)
        self._fetching = ui.element("div")
        self._about = ui.element("div")
        self._stories = ui.element("div")
        self._older = button("Ask older runs", "history", self._ask_older)
        self._show(found)
        if run is not None:
            await self._follow(run)

    def _show(self, found: Why) -> None:
        self._stories.clear()
        self._about.clear()
        self._show_inactive(found.inactive)
        with self._about:
            if found.inactive:
                note("People said that it is not to be fetched: every run skips it.")
            for line in found.host:
                note(words.cut(line, 500))
            if not found.stories:
                _draw_unknown(found)
        self._add(found)

    def _show_inactive(self, inactive: bool) -> None:
        self._active = not inactive
        self._inactive.set_visibility(inactive)
        if self.here.may("run"):
            self._mark.text = ALLOW if inactive else STOP

    def _add(self, found: Why) -> None:
        with self._stories:
            for told in found.stories:
                _draw_story(told)
        self._next = found.next
        self._older.set_visibility(found.next is not None)

    async def _ask_older(self) -> None:
        found = await self.here.read(lists.why(self.here.desk, self.url, cursor=self._next))
        if found is not None:
            self._add(found)

    async def _look_again(self) -> None:
        found = await self.here.read(lists.why(self.here.desk, self.url))
        if found is not None:
            self._show(found)

    async def _flip(self) -> None:
        if await mark(self.here, self.url, active=not self._active):
            await self._look_again()

    async def _fetch(self) -> None:
        run = await refetch(self.here, self.url)
        if run is not None:
            await self._follow(run)

    async def _follow(self, run: int) -> None:
        """Say how the run goes that fetches it again; when it has ended, what it says of the URL."""
        if self._following is not None:
            self._following.stop()
        self._fetching.clear()
        with self._fetching:
            self._following = Following(self.here, run, "fetches it again", self._look_again)
            await self._following.draw()


def _draw_unknown(found: Why) -> None:
    with card("No run has met it"):
        for line in found.guesses:
            written(words.cut(line, 600))
        if found.next is not None:
            Text("Only the newest runs were asked so far.", "p", "g-dim")
        elif not found.guesses:
            empty("No runs yet. To fetch it, hand it in under Submit.")


def _draw_story(told: Told) -> None:
    story = told.story
    with card():
        with box("g-head"):
            link(f"Run {story.run}", f"/runs/{story.run}")
            Text(story.scraper, "span", "g-wrap")
            Badge(str(story.state), COLOURS.get(str(story.state), "dim"))
            if story.reason and story.reason != "ok":
                Text(words.became(story.reason), "span", "g-dim g-wrap").tip(story.reason[:200])
            Badge(str(story.run_state), TONES.get(str(story.run_state))).tip("the state of the run")
        with box("g-story", "ul"):
            for line in told.sentences:
                own = line.removeprefix(f"run {story.run} ({story.scraper}): ")
                own = own.replace(f"`gossamer resume {story.run}` goes on", "press Resume on its page to go on")
                written(words.cut(own, 1_000), "li")


@page("/urls", "URLs")
async def urls(
    here: Here,
    url: str = "",
    state: str = "",
    scraper: str = "",
    run: str = "",
    host: str = "",
    reason: str = "",
    q: str = "",
) -> None:
    """The list, or one of them."""
    given = limited(state=state, scraper=scraper, run=run, host=host, reason=reason, q=q)
    if url.strip():
        here.client.title = f"{words.cut(url.strip(), 80)} · Gossamer"
        fetching = int(given["run"]) if given["run"].isdecimal() and len(given["run"]) <= 18 else None
        await Story(here, url.strip()[:LONGEST]).draw(fetching)
        return
    with box("g-title"):
        Text("URLs", "h1")
    await Urls(here, given).finder.follow()
