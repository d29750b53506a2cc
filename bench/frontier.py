"""Third table: a million URLs in the queue. How fast they go in, what they weigh, how soon a resume starts.

`python -m bench.frontier [URLS]` prints the table. Each measurement is a process of its own, since memory at
its highest point is a number of a process.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import clean
from bench.prepare import KEPT, ROOT, say
from bench.report import table

URLS = 1_000_000
#: One site, and a broad crawl: what a host costs shows in the difference.
HOSTS = (1, 1_000, 100_000)
#: What is aimed at, on any of them.
FASTER, LIGHTER, SOONER = 40_000, 300, 2.0
HEAD = ("hosts", "adding URLs/s", "RSS MB", "bytes/URL", "resume s", "RSS MB", "check")
ABOUT = """\
{urls:,} start URLs of about 60 bytes are put into a new store as a run does it; then, the file not in memory
any more, a new process takes up the run. *resume*: from opening the store until the frontier has handed out
the first request. Aims: at least {faster:,} URLs/s, at most {lighter} MB, at most {sooner:g} s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one store of queued URLs took."""

    hosts: int
    #: URLs added in a second.
    pace: float
    #: MB of memory at the highest point while adding, and while resuming.
    adding_mb: float
    resuming_mb: float
    #: Bytes on the disk for one URL.
    weight: float
    #: Seconds until the first request was handed out.
    resume: float

    @property
    def misses(self) -> list[str]:
        """The aims it does not reach."""
        reached = {
            "URLs/s": self.pace >= FASTER,
            "MB": max(self.adding_mb, self.resuming_mb) <= LIGHTER,
            "s": self.resume <= SOONER,
        }
        return [name for name, good in reached.items() if not good]


def run(urls: int = URLS, hosts: Sequence[int] = HOSTS) -> list[Row]:
    """Measure, once for each number of hosts."""
    return [measure(urls, n) for n in hosts]


def measure(urls: int, hosts: int) -> Row:
    KEPT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="frontier-", dir=KEPT) as folder:
        path = Path(folder, "queue.db")
        added = child("add", path, urls, hosts)
        size = path.stat().st_size
        forget(path)
        resumed = child("resume", path, urls, hosts)
    row = Row(
        hosts=hosts,
        pace=urls / added["seconds"],
        adding_mb=added["mb"],
        resuming_mb=resumed["mb"],
        weight=size / urls,
        resume=resumed["seconds"],
    )
    say(f"{hosts:,} hosts: {row.pace:,.0f} URLs/s, {row.adding_mb:.0f} MB, resumed in {row.resume:.2f} s")
    return row


def child(verb: str, path: Path, urls: int, hosts: int) -> dict[str, float]:
    """Run one half in a process of its own; what it says."""
    command = [sys.executable, "-m", "bench.frontier", verb, str(path), str(urls), str(hosts)]
    done = subprocess.run(command, cwd=ROOT, env=clean(), stdout=subprocess.PIPE, check=True)
    said: dict[str, float] = json.loads(done.stdout)
    return said


def forget(path: Path) -> None:
    """Have the system drop a file from its memory, as if the machine had been started anew."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


# -- in the child ----------------------------------------------------------------------------------------------


def addresses(urls: int, hosts: int) -> Iterator[str]:
    for n in range(urls):
        yield f"https://www.site-{n % hosts}.example/catalogue/section-{n % 97}/item-{n}.html"


async def add(path: str, urls: int, hosts: int) -> float:
    """Seconds that seeding a run takes."""
    from gossamer import runs
    from gossamer.scope import Scope
    from gossamer.scraper import Scraper
    from gossamer.settings import ScraperConfig
    from gossamer.storage.sqlite import SqliteStore
    from gossamer.storage.store import Draft

    class Many(Scraper):
        def start(self) -> Iterator[str]:
            return addresses(urls, hosts)

        def parse(self, page: object) -> None:
            """Nothing is fetched here."""

    async with SqliteStore(path) as store:
        made = await store.new_run(Draft("many", "bench:Many", "many", {}, {}))
        lease = await store.acquire(made.id, "bench", runs.LEASE_TTL)
        began = time.perf_counter()
        await runs._seed(store, lease, made, Many(), Scope(ScraperConfig()))
        return time.perf_counter() - began


async def resume(path: str, urls: int, hosts: int) -> float:
    """Seconds from nothing open to the first request in hand, by the steps of `runs.execute`."""
    from gossamer import runs
    from gossamer.frontier import Frontier
    from gossamer.polite.gate import Gate
    from gossamer.scope import Scope
    from gossamer.scraper import Scraper
    from gossamer.settings import ScraperConfig
    from gossamer.storage.sqlite import SqliteStore

    config = ScraperConfig(robots=False, rate="none")
    began = time.perf_counter()
    async with SqliteStore(path) as store:
        found = await store.unfinished("many")
        assert found is not None
        left = await store.pending(found.id)
        assert left.waiting == urls
        lease = await store.acquire(found.id, "again", runs.LEASE_TTL)
        await runs._seed(store, lease, found, Scraper(), Scope(config))
        frontier = Frontier(store, Gate(store), found.id, config, by_level=True)
        await frontier.open()
        turn = await frontier.take()
        seconds = time.perf_counter() - began
        assert turn is not None
        await frontier.aclose()
        return seconds


def highest_mb() -> float:
    """Memory of this process at its highest point."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    return 0.0


def work(verb: str, path: str, urls: str, hosts: str) -> None:
    """The child: do one half, say what it took."""
    import uvloop

    half = {"add": add, "resume": resume}[verb]
    seconds = uvloop.run(half(path, int(urls), int(hosts)))
    print(json.dumps({"seconds": seconds, "mb": highest_mb()}))


def main(urls: int = URLS) -> None:
    """Print the table."""
    print("## Frontier\n")
    print(ABOUT.format(urls=urls, faster=FASTER, lighter=LIGHTER, sooner=SOONER) + "\n", flush=True)
    print(table(HEAD, map(cells, run(urls))))


def cells(row: Row) -> list[str]:
    return [
        f"{row.hosts:,}",
        f"{row.pace:,.0f}",
        f"{row.adding_mb:.0f}",
        f"{row.weight:.0f}",
        f"{row.resume:.2f}",
        f"{row.resuming_mb:.0f}",
        "misses " + ", ".join(row.misses) if row.misses else "reached",
    ]


if __name__ == "__main__":
    if sys.argv[1:2] in (["add"], ["resume"]):
        work(*sys.argv[1:])
    else:
        main(*map(int, sys.argv[1:2]))
