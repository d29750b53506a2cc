"""`/drift`: runs that broke the pattern of those before them; `/drift?run=`: one beside the last good, to decide on."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import msgspec
from nicegui import ui

from gossamer import asking, lists
from gossamer.dashboard import words
from gossamer.dashboard.finding import ROWS, Finder, limited, number_of
from gossamer.dashboard.items import told
from gossamer.dashboard.parts import (
    Badge,
    Cell,
    Column,
    Row,
    Sheet,
    Table,
    Text,
    at,
    badge,
    box,
    button,
    card,
    confirm,
    empty,
    link,
    note,
    outside,
)
from gossamer.dashboard.shell import Here, page
from gossamer.drift import Alarm
from gossamer.errors import NotFound
from gossamer.lists import Listing, RunRow, of_drift
from gossamer.lists.of_drift import HeldItem, Judged
from gossamer.profiles import FieldProfile, Profile

ACCEPT, REJECT = "Accept", "Reject"
VERDICTS = {"suspect": "Suspect", "accepted": "Accepted", "rejected": "Rejected", "good": "Good"}
MEANINGS = {
    "": "Nobody has judged it.",
    "learning": "Good as far as can be told: the gate still learns.",
    "pending": "Its items are held back until it has ended.",
    "good": "It keeps to the pattern of the runs before it.",
    "suspect": "Its items are held back, and what was current stays so, until somebody decides.",
    "accepted": "It was suspect, and somebody accepted it.",
    "rejected": "It was suspect, and somebody rejected it.",
}
COLUMNS = (
    Column("Run"),
    Column("Scraper"),
    Column("Verdict"),
    Column("Likely cause", form="text"),
    Column("What it is about", form="text"),
    Column("Items", "right"),
    Column("Began"),
)
#: What a run suffers from, where one word does not say it.
CAUSES = {"empty": "pages are empty", "blocked": "the site keeps us out", "moved": "pages have moved"}
#: Findings and fields that are shown.
MOST_FINDINGS = 30
MOST_FIELDS = 100
#: A share that differs by this much stands out.
FAR = 0.15


class Doubt(msgspec.Struct, frozen=True):
    """A run in the list, and why it is suspect."""

    run: RunRow
    alarm: Alarm | None


def _cause(alarm: Alarm) -> str:
    return CAUSES.get(alarm.cause, alarm.cause)


async def decide(here: Here, run: int, *, accept: bool) -> bool:
    """Decide on a suspect run; whether that was done. It asks first."""
    detail = (
        "What it found becomes current, and what it is like is the pattern from now on."
        if accept
        else "What it found is discarded, and what was current stays so."
    )
    verb = ACCEPT if accept else REJECT
    if not await confirm(f"{verb} run {run}?", verb, detail=detail, danger=not accept):
        return False
    told_of = f"run {run} is being {'accepted' if accept else 'rejected'}"
    return await here.done("run", lambda by: asking.decide(here.desk, run, accept=accept, by=by), told_of)


# -- the list ------------------------------------------------------------------------------------------------------


class Doubts:
    """The list."""

    def __init__(self, here: Here, given: dict[str, str]) -> None:
        self.here = here
        self.finder: Finder[Doubt] = Finder(here, "/drift", given, self._load)
        with box("g-card"), box("g-row"):
            self.finder.choice("verdict", "Verdict", VERDICTS)
            names = sorted({*here.service.catalog.scrapers, *filter(None, [given["scraper"]])})
            self.finder.choice("scraper", "Scraper", names)
        with box("g-card"):
            self.finder.table(COLUMNS, self._row, nothing=self._nothing, act=self._act, label="Suspect runs")

    async def _load(self, given: dict[str, str], cursor: str | None) -> Listing[Doubt]:
        found = await lists.runs(
            self.here.desk,
            verdict=given["verdict"] or "suspect",
            scraper=given["scraper"],
            limit=ROWS,
            cursor=cursor,
        )
        alarms = await of_drift.alarms(self.here.desk, [run.id for run in found.rows])
        return Listing([Doubt(run, alarms.get(run.id)) for run in found.rows], found.next, found.looked)

    def _row(self, doubt: Doubt) -> Row:
        run, alarm = doubt.run, doubt.alarm
        about = ", ".join(alarm.fields) or alarm.findings[0].told if alarm and alarm.findings else words.NOTHING
        open_still = run.verdict == "suspect" and run.wanted not in ("accept", "reject")
        return Row(
            str(run.id),
            (
                Cell(str(run.id), href=f"/drift?run={run.id}"),
                Cell(run.scraper),
                badge(run.verdict),
                Cell(_cause(alarm), tip=words.cut(alarm.because, 300)) if alarm else words.NOTHING,
                words.cut(about, 160),
                words.number(run.items),
                at(run.started or run.created),
            ),
            acts=[ACCEPT, REJECT] if open_still and self.here.may("run") else [],
            danger=REJECT,
        )

    def _nothing(self) -> None:
        empty(
            "No run is like that. After three good runs of a scraper, one that breaks their pattern is held back here "
            "until somebody decides."
        )

    async def _act(self, row: str, deed: str) -> None:
        if await decide(self.here, int(row), accept=deed == ACCEPT):
            await self.finder.refresh()


# -- one run -------------------------------------------------------------------------------------------------------


class Moment(msgspec.Struct, frozen=True):
    """What is known of a run that is decided on."""

    judged: Judged | None
    wanted: str


class Doubtful:
    """The page of one run."""

    def __init__(self, here: Here, run: int) -> None:
        self.here = here
        self.run = run
        self._body = ui.element("div")

    async def load(self) -> Moment:
        """Read it, for everybody who looks at it."""
        detail = await lists.run(self.here.desk, self.run)
        return Moment(await of_drift.judged(self.here.desk, self.run), detail.run.wanted if detail else "")

    def show(self, moment: Moment) -> None:
        """All of it."""
        self._body.clear()
        with self._body:
            if moment.judged is None:
                empty(f"Run {self.run} was deleted.")
            else:
                self._draw(moment.judged, moment.wanted)

    def _draw(self, judged: Judged, wanted: str) -> None:
        with box("g-title"):
            link("Drift", "/drift", "g-dim")
            Text(f"Run {self.run}", "h1")
            link(words.cut(judged.scraper, 80), f"/scrapers?{urlencode({'name': judged.scraper})}", "g-wrap")
            Badge(judged.verdict or "not judged")
            link("all about this run", f"/runs/{self.run}", "g-small")
            Text("", "div", "g-space")
            if judged.verdict == "suspect" and self.here.may("run") and wanted not in ("accept", "reject"):
                button(ACCEPT, "check", self._accept)
                button(REJECT, "close", self._reject, danger=True)
        Text(MEANINGS.get(judged.verdict, ""), "p")
        if wanted in ("accept", "reject") and judged.verdict == "suspect":
            note(f"Somebody decided to {wanted} it: that is being done.", "good")
        if judged.alarm is not None:
            _draw_alarm(judged.alarm)
        with card(f"Beside the last good run{f', {judged.good}' if judged.good else ''}"):
            _draw_beside(judged)
        if judged.held:
            with card("Some of what it found"):
                _draw_held(judged)

    async def _accept(self) -> None:
        await self._decide(accept=True)

    async def _reject(self) -> None:
        await self._decide(accept=False)

    async def _decide(self, *, accept: bool) -> None:
        if await decide(self.here, self.run, accept=accept):
            found = await self.here.read(self.load())
            if found is not None:
                self.show(found)


def _draw_alarm(alarm: Alarm) -> None:
    with card(f"Likely cause: {_cause(alarm)}"):
        Text(words.cut(f"{alarm.because[:1].upper()}{alarm.because[1:]}.", 500), "p", "g-wrap")
        with box("g-story", "ul"):
            for finding in alarm.findings[:MOST_FINDINGS]:
                Text(words.cut(finding.told, 400), "li", "g-wrap")
        if len(alarm.findings) > MOST_FINDINGS:
            Text(f"and {len(alarm.findings) - MOST_FINDINGS} more", "p", "g-dim")
        if alarm.samples:
            Text("Pages to look at", "strong")
        for url in alarm.samples:
            with box("g-row"):
                outside(url)
                link("why", f"/urls?{urlencode({'url': url})}", "g-small")


def _draw_beside(judged: Judged) -> None:
    now, was = judged.profile, judged.good_profile
    if now is None:
        empty("What it was like was not written down.")
        return
    if was is None:
        note("There is no good run before it that had the same to do.", "dim")
    columns = (
        Column("Kind"),
        Column("What"),
        Column("Last good", form="text"),
        Column("This run", form="text"),
        Column("Differs"),
    )
    table = Table(columns, nothing=lambda: empty("Nothing to compare."), label="Beside the last good run")
    rows = [*_totals(now, was), *_fields(now, was)]
    table.show(Sheet([Row(str(n), cells) for n, cells in enumerate(rows[:MOST_FIELDS])]))
    if len(rows) > MOST_FIELDS:
        Text(f"and {len(rows) - MOST_FIELDS} fields more, which differ less", "p", "g-dim")


Cells = tuple[str | Cell, ...]


def _totals(now: Profile, was: Profile | None) -> Iterator[Cells]:
    for what, name in (("items", "items"), ("records rejected", "rejected"), ("pages", "pages")):
        before = None if was is None else getattr(was, name)
        after = getattr(now, name)
        fell = before is not None and name != "rejected" and after < before * (1 - 2 * FAR)
        yield ("", what, words.number(before), words.number(after), Cell("fewer", tone="bad") if fell else "")
    yield ("", "mean page", words.size(None if was is None else was.size), words.size(now.size), "")


def _fields(now: Profile, was: Profile | None) -> list[Cells]:
    """Every field of every kind, those that differ most first."""
    rows: list[tuple[float, Cells]] = []
    kinds = dict.fromkeys([*(was.kinds if was else ()), *now.kinds])
    for kind in kinds:
        before = was.kinds[kind].fields if was and kind in was.kinds else {}
        after = now.kinds[kind].fields if kind in now.kinds else {}
        names, compared = dict.fromkeys([*before, *after]), was is not None
        rows += [_field(kind, name, before.get(name), after.get(name), compared=compared) for name in names]
    rows.sort(key=lambda pair: -pair[0])
    return [cells for _, cells in rows]


def _field(
    kind: str, name: str, before: FieldProfile | None, after: FieldProfile | None, *, compared: bool
) -> tuple[float, Cells]:
    filled_was, filled_is = before.filled if before else 0.0, after.filled if after else 0.0
    apart = abs(filled_was - filled_is) if compared else 0.0
    marks = []
    if compared and filled_was - filled_is > FAR:
        marks.append("emptier")
    if before and after and _most(before.types) != _most(after.types) and after.types and before.types:
        marks.append("another type")
        apart += 1.0
    elif before and after and _most(before.shapes) != _most(after.shapes) and after.shapes and before.shapes:
        marks.append("looks different")
        apart += 0.05
    tone = "bad" if marks and marks != ["looks different"] else "warn"
    cells: Cells = (
        words.cut(kind, 40),
        Cell(words.cut(name, 80), mono=True),
        _like(before) if compared else words.NOTHING,
        _like(after),
        Cell(", ".join(marks), tone=tone) if marks else "",
    )
    return apart, cells


def _most(shares: dict[str, float]) -> str:
    return max(shares, key=lambda name: shares[name], default="")


def _like(field: FieldProfile | None) -> str:
    """How often a field is filled, and what it usually looks like."""
    if field is None:
        return "not there"
    kind, looks = _most(field.types), words.cut(_most(field.shapes), 30)
    return f"{field.filled:.0%} {kind}{f' like {looks!r}' if looks not in ('', kind) else ''}"


def _draw_held(judged: Judged) -> None:
    columns = (Column("Kind"), Column("Key"), Column("Record", form="text"), Column("Page", form="line"))
    table = Table(columns, nothing=lambda: None, label="Items that are held back")
    table.show(Sheet([_held(n, each) for n, each in enumerate(judged.held)]))
    asked = urlencode({"run": judged.run, "held": "true", "format": "jsonl"})
    with box("g-row"):
        link("All that is held back, as JSON lines", f"/api/export?{asked}").props["download"] = "held.jsonl"


def _held(n: int, item: HeldItem) -> Row:
    page_of = Cell(words.cut(item.url, 80), href=f"/urls?{urlencode({'url': item.url})}", tip=item.url[:2000])
    record = Cell(told(item.data, 300), mono=True)
    return Row(str(n), (words.cut(item.kind, 40), Cell(words.cut(item.key, 80), mono=True), record, page_of))


@page("/drift", "Drift")
async def drift(here: Here, run: str = "", verdict: str = "", scraper: str = "") -> None:
    """The list, or one of them."""
    number = number_of(run.strip(), "run")
    if number is not None:
        here.client.title = f"Drift of run {number} · Gossamer"
        view = Doubtful(here, number)
        if (await here.feed.latest(("drift", number), view.load, 2.0)).judged is None:
            raise NotFound(f"there is no run {number}: it may have been deleted")
        await here.watch(("drift", number), view.load, view.show, every=2.0)
        return
    with box("g-title"):
        Text("Drift", "h1")
    await Doubts(here, limited(verdict=verdict, scraper=scraper)).finder.follow()
