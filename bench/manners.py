"""Manners: what is left after `kill -9`, and what a host sees. Gossamer, Scrapy and Crawlee, as they are documented.

`python -m bench.manners` crawls a local site with each of them while it kills the process again and again, and counts
what is missing and what is there twice; then a host that asks for a pause, forbids a path, and once asks to be left
alone, and counts what it saw. All of it is written to MANNERS.md.
"""

import argparse
import itertools
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import prepare, report
from bench.measure import clean
from bench.prepare import KEPT, PEER_PYTHON, ROOT, say
from gossamer.testing import Hit, Site
from gossamer.testing.graph import graph_site

RESULTS = Path(__file__).with_name("MANNERS.md")
PAGES, KILLS, ROUNDS = 400, 20, 3
#: Requests that a process makes before it is killed: at least, at most.
BETWEEN = (5, 40)
#: Seconds the moody host asks for: between requests, and after a 429.
DELAY, AFTER = 2, 4
#: Seconds that any process may take.
LONGEST = 300.0

CRASH_HEAD = ("", "stops", "pages in the data", "lost", "twice", "fetched again", "resumed by")
POLITE_HEAD = ("", "pages read", "forbidden path", f"requests sooner than {DELAY} s", f"requests in the {AFTER} s")
ABOUT = """\
## Killed

A local site of {pages} linked pages, 20 ms each, {rounds} times. The process is killed with `kill -9` after {least} to
{most} requests, {kills} times unless it ends before that, and started again as its documentation says a crawl is
resumed; then it may finish. *lost*: pages that are in no record at the end. *twice*: records beyond one for each page.
*fetched again*: requests for pages beyond one each. Scrapy's documentation promises a resume only where the spider was
stopped cleanly, which `kill -9` does not do.
"""
POLITE_ABOUT = f"""
## At a host that has wishes

Its robots.txt asks for {DELAY} seconds between two requests and forbids a path; one page answers 429 with
`Retry-After: {AFTER}` the first time it is asked for. Counted at the host, robots.txt itself left out; *sooner* to
within 50 ms.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Somebody who crawls."""

    name: str
    command: Callable[[str], Sequence[str]]
    #: The URLs of the records it left in a folder.
    collected: Callable[[Path], list[str]]
    resumed: str = ""
    #: How it is stopped in the first table.
    stop: signal.Signals = signal.SIGKILL


def _peer(script: str, mode: str) -> Callable[[str], Sequence[str]]:
    return lambda url: [str(PEER_PYTHON), str(ROOT / "bench" / "jobs" / script), url, mode]


def _ours(*options: str) -> Callable[[str], Sequence[str]]:
    return lambda url: [sys.executable, "-m", "gossamer", "crawl", url, "--quiet", *options]


def _from_lines(folder: Path) -> list[str]:
    """Of Scrapy's feed. A line that was cut off by a kill is no record."""
    found = []
    path = folder / "items.jsonl"
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line)["url"])
        except ValueError:
            continue
    return found


def _from_dataset(folder: Path) -> list[str]:
    """Of Crawlee's files, one a record."""
    files = (folder / "storage" / "datasets" / "default").glob("[0-9]*.json")
    return [json.loads(text)["url"] for file in files if (text := file.read_text("utf-8"))]


def _from_store(folder: Path) -> list[str]:
    """Of our store, by the command anybody would use."""
    if not (folder / "gossamer.db").exists():
        return []
    command = [sys.executable, "-m", "gossamer", "export", "items"]
    done = subprocess.run(command, cwd=folder, env=clean(), capture_output=True, text=True, check=True)
    return [json.loads(line)["url"] for line in done.stdout.splitlines()]


KILLED = (
    Contestant(
        name="gossamer",
        command=_ours("--rate", "none"),
        collected=_from_store,
        resumed="the same command",
    ),
    Contestant(
        name="scrapy",
        command=_peer("manners_scrapy.py", "durable"),
        collected=_from_lines,
        resumed="the same command, with JOBDIR",
    ),
    Contestant(
        name="scrapy, stopped by Ctrl-C instead",
        command=_peer("manners_scrapy.py", "durable"),
        collected=_from_lines,
        resumed="the same command, with JOBDIR",
        stop=signal.SIGINT,
    ),
    Contestant(
        name="crawlee",
        command=_peer("manners_crawlee.py", "durable"),
        collected=_from_dataset,
        resumed="the same command, with purge_on_start=False",
    ),
)
POLITE = (
    Contestant(name="gossamer, as it comes", command=_ours(), collected=_from_store),
    Contestant(name="scrapy, as it comes", command=_peer("manners_scrapy.py", "plain"), collected=_from_lines),
    Contestant(
        name="scrapy, a new project with AutoThrottle",
        command=_peer("manners_scrapy.py", "polite"),
        collected=_from_lines,
    ),
    Contestant(name="crawlee, as it comes", command=_peer("manners_crawlee.py", "plain"), collected=_from_dataset),
    Contestant(
        name="crawlee, with robots.txt and ThrottlingRequestManager",
        command=_peer("manners_crawlee.py", "polite"),
        collected=_from_dataset,
    ),
)


# -- killed -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """What the rounds of one contestant came to."""

    kills: int = 0
    found: int = 0
    lost: int = 0
    twice: int = 0
    again: int = 0


def killed(who: Contestant, pages: int, kills: int, rounds: int) -> tuple[str, ...]:
    """One row of the first table."""
    sums = Tally()
    for seed in range(rounds):
        say(f"killing {who.name}, round {seed + 1}")
        _round(who, pages, kills, random.Random(seed), sums)
    counts = (sums.kills, sums.found, sums.lost, sums.twice, sums.again)
    return who.name, *(f"{count:,}" for count in counts), who.resumed


def _round(who: Contestant, pages: int, kills: int, rng: random.Random, sums: Tally) -> None:
    with Site() as site, tempfile.TemporaryDirectory(prefix="run-", dir=KEPT) as made:
        graph_site(site, pages, latency=0.02)
        folder, left = Path(made), kills
        while left and not _ended(who, site, folder, after=rng.randint(*BETWEEN)):
            left -= 1
        if not left:
            _ended(who, site, folder, after=None)
        found = Counter(url.rpartition("/p/")[2] for url in who.collected(folder) if "/p/" in url)
        asked = Counter(hit.path for hit in site.hits if hit.path.startswith("/p/"))
    sums.kills += kills - left
    sums.found += len(found)
    sums.lost += pages - len(found)
    sums.twice += found.total() - len(found)
    sums.again += asked.total() - len(asked)


def _ended(who: Contestant, site: Site, folder: Path, *, after: int | None, start: str = "/p/0") -> bool:
    """Start it, and kill it after so many more requests; True if it ended by itself before that."""
    already, until = len(site.hits), time.monotonic() + LONGEST
    process = subprocess.Popen(
        who.command(site.url(start)),
        cwd=folder,
        env=clean(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while time.monotonic() < until:
            if process.poll() is not None:
                return True
            if after is not None and len(site.hits) - already >= after:
                return False
            time.sleep(0.005)
        raise SystemExit(f"{who.name} took longer than {LONGEST:g} s")
    finally:
        if process.poll() is None:
            process.send_signal(who.stop)
        process.wait(timeout=60)


# -- at a host that has wishes ------------------------------------------------------------------------------------


def moody(site: Site) -> None:
    """Six pages, of which one is forbidden and one asks for patience."""
    site.robots(f"User-agent: *\nCrawl-delay: {DELAY}\nDisallow: /private/\n")
    links = "".join(f'<a href="{path}">{path}</a>' for path in ("/a", "/b", "/busy", "/c", "/private/x"))
    site.page("/", f"<title>Home</title>{links}")
    for path in ("/a", "/b", "/c", "/private/x"):
        site.page(path, f"<title>{path}</title>")
    site.flaky("/busy", status=429, retry_after=str(AFTER), then="<title>busy</title>")


def polite(who: Contestant) -> tuple[str, ...]:
    """One row of the second table."""
    with Site() as site, tempfile.TemporaryDirectory(prefix="run-", dir=KEPT) as made:
        moody(site)
        _ended(who, site, Path(made), after=None, start="/")
        hits = [hit for hit in site.hits if hit.path != "/robots.txt"]
        read = len(who.collected(Path(made)))
    forbidden = sum(hit.path.startswith("/private/") for hit in hits)
    soon = sum(later.at - earlier.at < DELAY - 0.05 for earlier, later in itertools.pairwise(hits))
    path = "fetched" if forbidden else "left alone"
    return who.name, f"{read} of 6", path, f"{soon} of {len(hits) - 1}", str(_inside(hits))


def _inside(hits: Sequence[Hit]) -> int:
    """Requests to the host in the time for which it asked to be left alone."""
    told = next(hit for hit in hits if hit.status == 429)
    return sum(told.at < hit.at < told.at + AFTER - 0.05 for hit in hits)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.manners", description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    prepare.peers()
    first = report.table(CRASH_HEAD, [killed(who, chosen.pages, chosen.kills, chosen.rounds) for who in KILLED])
    say("asking politely")
    second = report.table(POLITE_HEAD, [polite(who) for who in POLITE])
    where = f"- {time.strftime('%Y-%m-%d %H:%M %Z')}, {report.machine()}\n- peers: {', '.join(report.peers())}"
    made = "# Manners\n\nMade by `python -m bench.manners`; do not edit."
    least, most = BETWEEN
    about = ABOUT.format(pages=chosen.pages, kills=chosen.kills, rounds=chosen.rounds, least=least, most=most)
    text = "\n".join((made, "", where, "", about, first, POLITE_ABOUT, second, ""))
    print(text)
    RESULTS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
