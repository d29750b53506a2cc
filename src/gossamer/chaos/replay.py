"""A scraper against the local copy of its site: undisturbed, then tormented, and what that cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gossamer import runs
from gossamer.chaos.compare import Comparison, compare, unsteady
from gossamer.chaos.faults import HARD, SOFT, unmarked
from gossamer.chaos.saved import Saved
from gossamer.chaos.stage import QUICK, STORM, STORM_NAME, HastyGate, Rerouted, Stage, Weather, here
from gossamer.errors import ConfigError
from gossamer.registry import Found
from gossamer.runs import Report
from gossamer.storage.store import Store, Wanted
from gossamer.testing import Site

_ABOUT = {fault.name: fault.about for fault in (*SOFT, *HARD)}
_ABOUT[STORM_NAME] = f"{STORM} requests in a row get 429 with Retry-After: 1"
_HARD = {fault.name for fault in HARD}


class FaultStory(msgspec.Struct, frozen=True):
    """What one kind of fault led to."""

    fault: str
    about: str
    #: Whether pages with it are given up by design.
    hard: bool
    #: Pages that met it, how often in all, and how many of them were read in the end.
    pages: int
    served: int
    read: int
    #: How the requests that met it ended, in words of `gossamer why`: reason -> how many.
    reasons: dict[str, int]


class LostPage(msgspec.Struct, frozen=True):
    """A page that is read undisturbed, and was not here."""

    url: str
    reason: str
    #: The fault it met; empty: none, it was never come to.
    fault: str


class Findings(msgspec.Struct, frozen=True):
    """What a scraper made of the faults."""

    scraper: str
    saved: int
    #: Of the run without faults, and the run with them.
    pages: int
    items: int
    tormented_pages: int
    tormented_items: int
    retried: int
    ended: str
    items_compared: Comparison
    lost_pages: list[LostPage]
    faults: list[FaultStory]
    #: Fields that differ even undisturbed, and are not compared.
    unsteady: list[str]
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether the data are the same."""
        return self.items_compared.same and self.ended == "done"


class _Played(msgspec.Struct):
    """What one replay gave."""

    report: Report
    records: dict[tuple[str, str], Any]
    #: URL -> how it ended: "done ok", "failed timeout".
    fates: dict[str, str]
    #: URL -> how each of its fetches ended.
    tries: dict[str, Counter[str]]
    served: dict[str, Counter[str]]


Say = Callable[[str], None]


async def torment(
    found: Found,
    params: Mapping[str, Any],
    flags: Mapping[str, Any],
    pages: Mapping[str, Saved],
    weather: Weather,
    work: Path,
    say: Say = lambda text: None,
) -> Findings:
    """Run a scraper on saved pages without and with faults, in an empty folder, and compare. Raises GossamerError."""
    began = time.monotonic()
    calm = msgspec.structs.replace(weather, faults=False)
    say(f"replaying {len(pages):,} saved pages undisturbed, twice")
    whole = await _play(found, params, flags, pages, calm, work / "calm.db")
    again = await _play(found, params, flags, pages, calm, work / "again.db")
    if not whole.report.pages:
        raise ConfigError(f"none of the saved pages is one that {found.scraper.name} starts with: save them anew")
    steady = compare(whole.records, again.records, changing := unsteady(whole.records, again.records))
    if not steady.same:
        raise ConfigError(
            f"{found.scraper.name} gives other items each time, even undisturbed ({steady.missing} of "
            f"{len(whole.records)} differ): give it a `key`, so that they can be told apart"
        )
    say("and now with faults")
    tested = await _play(found, params, flags, pages, weather, work / "tormented.db")
    return Findings(
        scraper=found.scraper.name,
        saved=len(pages),
        pages=whole.report.pages,
        items=len(whole.records),
        tormented_pages=tested.report.pages,
        tormented_items=len(tested.records),
        retried=tested.report.retried,
        ended=tested.report.reason,
        items_compared=compare(whole.records, tested.records, changing),
        lost_pages=_lost(whole, tested),
        faults=_stories(tested),
        unsteady=sorted(changing),
        seconds=round(time.monotonic() - began, 3),
    )


async def _play(
    found: Found,
    params: Mapping[str, Any],
    flags: Mapping[str, Any],
    pages: Mapping[str, Saved],
    weather: Weather,
    store: Path,
) -> _Played:
    """One run against a local site of saved pages."""
    given = {**flags, **QUICK, "store": str(store), "files": str(store.with_suffix(".files"))}
    asked = runs.plan(found, params, given, fresh=True)
    stage = Stage(pages, weather)
    with Site(remember=False) as site:
        site.handler("/*", stage)
        async with runs.open_parts(asked.store) as parts:
            fetcher, gate = Rerouted(parts.fetcher, site), HastyGate(parts.store)
            report = await runs.execute(
                msgspec.structs.replace(parts, fetcher=fetcher, gate=gate, resolver=here), asked
            )
            return await _look(parts.store, report, stage)


async def _look(store: Store, report: Report, stage: Stage) -> _Played:
    records: dict[tuple[str, str], Any] = {}
    async for item in store.items(Wanted(run=report.run)):
        text = unmarked(msgspec.json.encode(item.record()).decode())
        records[item.kind, unmarked(item.key)] = msgspec.json.decode(text)
    fates: dict[str, str] = {}
    async for row in store.pages(report.run, None):
        # Under its marked URL a page is read in the place of the redirect that led there.
        if unmarked(row["url"]) not in fates or row["url"] != unmarked(row["url"]):
            fates[unmarked(row["url"])] = f"{row['state']} {row['reason'] or ''}".strip()
    tries: dict[str, Counter[str]] = {}
    async for line in store.fetch_log(report.run):
        tries.setdefault(unmarked(line.url), Counter())[line.reason or f"status {line.status}"] += 1
    return _Played(report, records, fates, tries, stage.served)


def _lost(whole: _Played, tested: _Played) -> list[LostPage]:
    """Pages that the run without faults read, and the other did not."""
    met = {url: name for name, urls in tested.served.items() for url in urls}
    return [
        LostPage(url, tested.fates.get(url, "never found"), met.get(url, ""))
        for url, fate in whole.fates.items()
        if fate == "done ok" and tested.fates.get(url) != "done ok"
    ]


def _stories(tested: _Played) -> list[FaultStory]:
    stories = []
    for name, served in sorted(tested.served.items()):
        reasons: Counter[str] = Counter()
        for url in served:
            reasons += tested.tries.get(url, Counter())
        stories.append(
            FaultStory(
                fault=name,
                about=_ABOUT[name],
                hard=name in _HARD,
                pages=len(served),
                served=served.total(),
                read=sum(_was_read(tested, url) for url in served),
                reasons=dict(reasons.most_common()),
            )
        )
    return stories


def _was_read(tested: _Played, url: str) -> bool:
    if url.endswith("/robots.txt"):
        # It has no row of its own; what was read shows that it was.
        return tested.report.pages > 0
    return tested.fates.get(url, "").startswith("done")
