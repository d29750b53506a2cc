"""First table: the same job by everyone, on real manuals."""

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.contestants import Contestant
from bench.measure import JobError, Run, job
from bench.prepare import Site, say
from bench.report import spread, table
from bench.serve import ALONE

LIMIT = 600.0
#: Cores of other load from which pages/s says more about the neighbours than about the job.
LOUD = 0.5
HEAD = (
    "contestant",
    "pages",
    "pages/s",
    "pages/s, whole process",
    "CPU us/page",
    "less startup",
    "RSS MB",
    "gossamer is",
    "CPU is",
    "check",
)
ABOUT = """\
Everyone crawls all pages from /index.html, robots.txt obeyed (not by the floor), no rate limit,
{concurrency} requests at once, and makes title, headings and links of every page. Whether a link is already
known is left to the framework to find out. Medians over {rounds} interleaved rounds (lowest–highest).
*pages/s* goes by the job's own clock, first request to end of crawl; *whole process* adds imports and start;
*less startup* is CPU without that of a crawl of one page; *gossamer is* its pages/s over the contestant's;
*CPU is* the contestant's, less startup, over gossamer's."""


@dataclass(slots=True, kw_only=True)
class Entry:
    """One contestant on one site."""

    contestant: Contestant
    #: CPU seconds of a crawl of one page; None: it could not even do that.
    startup: float | None
    runs: list[Run] = field(default_factory=list)
    #: Why it has no more runs than it has.
    failure: str = ""

    def speeds(self) -> list[float]:
        return [run.pages / run.seconds for run in self.runs]

    def cost(self) -> float:
        """CPU microseconds a page, without what starting takes."""
        return statistics.median((run.cpu - (self.startup or 0)) / run.pages for run in self.runs) * 1e6


def compare(
    contestants: Sequence[Contestant], sites: Sequence[Site], urls: Mapping[str, str], rounds: int
) -> Iterator[tuple[str, str]]:
    """A heading and a table for each site."""
    entries = enter(contestants, sites, urls[ALONE])
    for number in range(rounds):
        for site in sites:
            # Another one begins each round, so that nobody always runs behind the same neighbour.
            turn = number % len(contestants)
            for entry in (*entries[site.name][turn:], *entries[site.name][:turn]):
                once(entry, site, urls[site.name], f"round {number + 1}/{rounds}")
    for site in sites:
        took = [run for entry in entries[site.name] for run in entry.runs]
        made = table(HEAD, rows(entries[site.name], site))
        yield f"{site.name}: {site.pages:,} pages", made + quiet(took)


def enter(contestants: Sequence[Contestant], sites: Sequence[Site], alone: str) -> dict[str, list[Entry]]:
    """Everyone crawls one page: warms the caches, tells the cost of starting, and who is not available."""
    started = {each.name: startup(each, alone) for each in contestants}
    return {
        site.name: [
            Entry(contestant=each, startup=started[each.name][0], failure=started[each.name][1]) for each in contestants
        ]
        for site in sites
    }


def startup(contestant: Contestant, alone: str) -> tuple[float | None, str]:
    """CPU seconds of a crawl of one page, or why there was none."""
    announce("one page", "startup", contestant.name)
    try:
        cpu = min(job(contestant.command, alone, limit=LIMIT).cpu for _ in range(2))
    except (JobError, OSError) as why:
        say(f"not available: {why}")
        return None, f"not available: {why}"
    say(f"{cpu:.2f} s CPU")
    return cpu, ""


def once(entry: Entry, site: Site, url: str, number: str) -> None:
    """One run, unless an earlier one failed."""
    if entry.failure:
        return
    announce(site.name, number, entry.contestant.name)
    try:
        run = job(entry.contestant.command, url, limit=LIMIT, tick=dot)
    except JobError as why:
        entry.failure = f"failed: {why}"
        say(entry.failure)
        return
    entry.runs.append(run)
    took = f"{run.seconds:6.2f} s  {run.cpu:6.2f} s CPU  others {run.others:4.2f} cores"
    say(f"{run.pages / run.seconds:7,.0f} pages/s  {took}  {check(run, site.pages)}")


def rows(entries: Sequence[Entry], site: Site) -> Iterator[list[str]]:
    ours = next((e for e in entries if e.contestant.name == "gossamer" and e.runs), None)
    for entry in entries:
        if not entry.runs:
            yield [entry.contestant.name, *["–"] * (len(HEAD) - 2), entry.failure]
            continue
        runs = entry.runs
        yield [
            f"{entry.contestant.name} ({entry.contestant.about})",
            f"{runs[-1].pages:,}",
            spread(entry.speeds()),
            spread([run.pages / run.wall for run in runs]),
            spread([run.cpu / run.pages * 1e6 for run in runs]),
            f"{entry.cost():,.0f}",
            spread([run.rss / 1e6 for run in runs]),
            *ratios(entry, ours),
            entry.failure or verdict(runs, site.pages),
        ]


def ratios(entry: Entry, ours: Entry | None) -> tuple[str, str]:
    """How many times as fast as the contestant Gossamer is, and how many times its CPU the contestant takes."""
    if ours is None or entry is ours:
        return "–", "–"
    faster = statistics.median(ours.speeds()) / statistics.median(entry.speeds())
    return f"{faster:.2f} x", f"{entry.cost() / ours.cost():.2f} x"


def quiet(runs: Sequence[Run]) -> str:
    """How much else was going on, to be read below a table."""
    if not runs:
        return ""
    said = f"\n\nBusy besides the job, server included: {spread([run.others for run in runs], 2)} cores."
    loud = statistics.median(run.others for run in runs) > LOUD
    return said + loud * " The machine was not quiet: trust CPU us/page more than pages/s."


def verdict(runs: Sequence[Run], truth: int) -> str:
    """The worst of the checks."""
    return next((said for said in (check(run, truth) for run in runs) if said != "ok"), "ok")


def check(run: Run, truth: int) -> str:
    """Whether a run did the whole job."""
    if run.pages != truth:
        return f"WRONG: {run.pages:,} pages, not {truth:,}"
    if run.items != truth:
        return f"WRONG: {run.items:,} items, not {truth:,}"
    return f"exit code {run.exit_code}" if run.exit_code else "ok"


def announce(*words: str) -> None:
    print("".join(f"{word:<16}" for word in words), end="", file=sys.stderr, flush=True)


def dot(seconds: float) -> None:
    print(f"{seconds:.0f} s … ", end="", file=sys.stderr, flush=True)
