"""How much quicker pages are read again than fetched. `python -m bench.replay [PAGES] [ROUNDS]`

A generated site is crawled by a typical scraper (a few fields, every link followed) with the archive on, then
replayed from it on all cores. The site is served by a process of its own. Goal: 3 times the pages a second.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import machine_busy
from bench.serve import generated

GOAL = 3.0
SCRAPER = """
from gossamer import Scraper


class Generated(Scraper):
    key = "url"
    rate = "none"
    robots = False
    per_host = 16
    drift = "off"

    def start(self):
        return [self.params["url"]]

    def parse(self, page):
        yield {
            "url": page.url,
            "title": page.css("title::text").get(),
            "heading": page.css("h1").text,
            "sections": page.css("h2::text").getall(),
            "text": page.css("p").text,
        }
        yield from page.follow("a")
"""


class Told(NamedTuple):
    """What a command of ours reports, and what it cost."""

    report: dict[str, Any]
    #: Microseconds of CPU a page, all processes together.
    cpu: float
    #: Cores that other work kept busy meanwhile.
    others: float


def told(*command: str, folder: Path) -> Told:
    busy, began, before = machine_busy(), time.monotonic(), spent()
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", *command, "--json", "-q"],
        cwd=folder,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    cpu, wall = spent() - before, time.monotonic() - began
    report = dict(json.loads(done.stdout))
    return Told(report, cpu / report["pages"] * 1e6, max(0.0, machine_busy() - busy - cpu) / wall)


def spent() -> float:
    """CPU seconds of the processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one(pages: int) -> float:
    """How many times quicker pages are read again."""
    with tempfile.TemporaryDirectory() as name, generated(pages) as url:
        folder = Path(name)
        (folder / "generated.py").write_text(SCRAPER)
        live = told("run", "generated.py", "--param", f"url={url}", folder=folder)
        again = told("replay", "generated.py", folder=folder)
    found = again.report
    assert live.report["pages"] == found["pages"] == found["same"] == pages, (live, again)
    ratio = float(found["pages_per_second"] / live.report["pages_per_second"])
    for what, each in (("fetched", live), ("read again", again)):
        speed = each.report["pages_per_second"]
        print(f"{speed:>8,.0f} pages/s {what:10}  CPU {each.cpu:>4.0f} us/page  others {each.others:.2f} cores")
    print(f"{ratio:>8.1f} times", flush=True)
    return ratio


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    found = statistics.median([one(pages) for _ in range(rounds)])
    print(f"median: {found:.1f} times (goal: {GOAL:g})")
    sys.exit(0 if found >= GOAL else 1)


if __name__ == "__main__":
    main()
