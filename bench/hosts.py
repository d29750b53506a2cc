"""Fourth table: many hosts at their pace. How much of what is allowed is used, and whether any host gets more.

`python -m bench.hosts` serves 200 hosts (127.0.0.2 to 127.0.0.201) from a process with a clock of its own, crawls them
at 2 requests a second each for 30 seconds, and counts at the server. Then once more with three bad hosts in the mix:
one refuses connections, one swallows them, one takes five seconds for each answer.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import clean, machine_busy
from bench.prepare import KEPT, ROOT, say
from bench.report import table

HOSTS, RATE, SECONDS = 200, 2.0, 30.0
#: What is aimed at: the share of the allowed requests that is used.
AIM = 0.98
#: Windows in which requests are counted at the server, in seconds.
WINDOWS = (1.0, 2.0, 5.0, 10.0, 30.0)
#: Seconds that a good host takes for an answer, and the slow one.
QUICK, SLOW = 0.02, 5.0
#: Pages beyond what can be asked for in time: nobody runs out of work.
SPARE = 20
HEAD = (
    "mix",
    "requests",
    "allowed",
    "used",
    "most in 1 s",
    "shortest gap",
    "tightest",
    "exceeded",
    "audit",
    "CPU",
    "check",
)
ABOUT = """\
{hosts} hosts at {rate:g}/s each for {seconds:g} s, robots.txt included, counted by the server from the first request
on. *allowed*: what the pace permits the good hosts in that time, which is the rate times the time, and one. *exceeded*:
good hosts that got more than that in any window of {windows} s. *shortest gap* and *tightest* are over all hosts,
the latter the least time that any row of requests took longer than the pace asks for (below 0: less). Both are as the
server saw it: on a busy machine one request is seen late, and the next is not. *audit*: what `gossamer audit` says of
the times at which they left.
Aim: at least {aim:.0%} used, none exceeded, with bad hosts and without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run, as the server saw it."""

    mix: str
    requests: int
    allowed: int
    #: Most requests one host got within any second.
    in_a_second: int
    shortest_gap: float
    tightest: float
    #: Hosts with a window that was too full.
    exceeded: int
    audit: str
    cpu: float
    others: float

    @property
    def used(self) -> float:
        return self.requests / self.allowed

    @property
    def reached(self) -> bool:
        return self.used >= AIM and not self.exceeded and self.audit == "kept"


# -- in the server ---------------------------------------------------------------------------------------------


def fill(site: object) -> None:
    """Small pages on every host; the last one, if there are bad ones, is slow."""
    from gossamer.testing import Answer, Hit, Site

    assert isinstance(site, Site)
    slow = os.environ.get("BENCH_SLOW_HOST", "")

    def answer(hit: Hit) -> Answer:
        latency = SLOW if hit.address == slow else QUICK
        if hit.path == "/robots.txt":
            return Answer(status=404, latency=latency)
        return Answer(body=f"<!doctype html><title>{hit.path}</title><h1>{hit.path}</h1>", latency=latency)

    site.handler("/*", answer)


# -- in the crawler --------------------------------------------------------------------------------------------


async def crawl(store: str, hosts: Sequence[str], rate: float, seconds: float) -> dict[str, object]:
    """Ask all hosts at their pace until the time is up."""
    from gossamer import Page, Scraper, stream

    each = int(rate * seconds) + SPARE
    pace = f"{rate:g}/s"

    class Many(Scraper):
        def start(self) -> Iterator[str]:
            # Host by host in turn, as a list of sites would be.
            return (f"http://{host}/{n}" for n in range(each) for host in hosts)

        def parse(self, page: Page) -> Iterator[dict[str, str]]:
            yield {"url": page.url}

    until: float | None = None
    pages = 0
    async with contextlib.aclosing(stream(Many, store=store, rate=pace, timeout="30s")) as records:
        async for _ in records:
            pages += 1
            now = time.monotonic()
            until = until or now + seconds + 1
            if now > until:
                break
    return {"pages": pages, "cpu": sum(os.times()[:2]), "audit": await audited(store)}


async def audited(store: str) -> str:
    from gossamer import runs
    from gossamer.cli_audit import of_store

    async with runs.open_store(store) as opened:
        found = await of_store(opened, None)
    for breach in found.breaches[:3]:
        say(f"  {breach.text}")
    return "kept" if found.clean else f"{found.breach_count} breaches"


# -- measuring -------------------------------------------------------------------------------------------------


def measure(mix: str, hosts: int, rate: float, seconds: float, *, bad: bool) -> Row:
    """One run against a server of its own."""
    from gossamer.testing import SiteProcess, loopback

    good, slow = loopback(hosts), loopback(1, hosts + 2)
    KEPT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hosts-", dir=KEPT) as folder, contextlib.ExitStack() as stack:
        os.environ["BENCH_SLOW_HOST"] = slow[0]
        site = stack.enter_context(SiteProcess("bench.hosts:fill", hosts=[*good, *slow], log=Path(folder, "hits")))
        asked = [f"{host}:{site.port}" for host in good]
        if bad:
            refusing = f"{loopback(1, hosts + 3)[0]}:{site.port}"
            asked[len(asked) // 2 : 0] = [
                f"{slow[0]}:{site.port}",
                refusing,
                stack.enter_context(black_hole(hosts + 4)),
            ]
        busy = machine_busy()
        began = time.monotonic()
        said = child(Path(folder, "store.db"), asked, rate, seconds)
        took = time.monotonic() - began
        others = max(0.0, machine_busy() - busy - float(said["cpu"])) / took
        times = by_host(site, set(good))
    return judged(mix, times, hosts, rate, seconds, said, others)


def child(store: Path, hosts: Sequence[str], rate: float, seconds: float) -> dict[str, str]:
    """The crawl in a process of its own; what it says."""
    command = [sys.executable, "-m", "bench.hosts", "crawl", str(store), str(rate), str(seconds)]
    done = subprocess.run(
        command, cwd=ROOT, env=clean(), input="\n".join(hosts), stdout=subprocess.PIPE, text=True, check=True
    )
    said: dict[str, str] = json.loads(done.stdout)
    return said


@contextlib.contextmanager
def black_hole(number: int) -> Iterator[str]:
    """An address that takes no connection and says nothing: its queue is full, and nobody empties it."""
    from gossamer.testing import loopback

    (host,) = loopback(1, number)
    with contextlib.ExitStack() as stack:
        hole = stack.enter_context(socket.create_server((host, 0), backlog=0))
        for _ in range(4):
            sock = stack.enter_context(socket.socket())
            sock.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                sock.connect(hole.getsockname())
        yield f"{host}:{hole.getsockname()[1]}"


def by_host(site: object, good: set[str]) -> dict[str, list[float]]:
    """When each good host was asked, by the server's clock."""
    from gossamer.testing import SiteProcess

    assert isinstance(site, SiteProcess)
    times: dict[str, list[float]] = {host: [] for host in good}
    for hit in site.hits():
        if hit.address in good:
            times[hit.address].append(hit.at)
    return times


def judged(
    mix: str,
    times: dict[str, list[float]],
    hosts: int,
    rate: float,
    seconds: float,
    said: dict[str, str],
    others: float,
) -> Row:
    first = min((at[0] for at in times.values() if at), default=0.0)
    inside = {host: [at for at in asked if at <= first + seconds] for host, asked in times.items()}
    row = Row(
        mix=mix,
        requests=sum(map(len, inside.values())),
        allowed=hosts * (int(seconds * rate) + 1),
        in_a_second=max(most_within(1.0, at) for at in times.values()),
        shortest_gap=min(min((b - a for a, b in itertools.pairwise(at)), default=seconds) for at in times.values()),
        tightest=min(tightest(at, 1 / rate) for at in times.values()),
        exceeded=sum(any(most_within(w, at) > w * rate + 1 for w in WINDOWS) for at in times.values()),
        audit=said["audit"],
        cpu=float(said["cpu"]),
        others=others,
    )
    say(f"{mix}: {row.used:.1%} used, {row.exceeded} exceeded, others kept {others:.1f} cores busy")
    return row


def most_within(seconds: float, times: Sequence[float]) -> int:
    """The most requests in any window of so many seconds."""
    most = begin = 0
    for end, at in enumerate(times):
        while times[begin] < at - seconds:
            begin += 1
        most = max(most, end - begin + 1)
    return most


def tightest(times: Sequence[float], interval: float) -> float:
    """Over all pairs: the least time between two requests, less what the pace asks for between them."""
    slack, most, least = 0.0, 0.0, float("inf")
    for before, after in itertools.pairwise(times):
        slack += after - before - interval
        least = min(least, slack - most)
        most = max(most, slack)
    return least


def cells(row: Row) -> list[str]:
    return [
        row.mix,
        f"{row.requests:,}",
        f"{row.allowed:,}",
        f"{row.used:.1%}",
        f"{row.in_a_second}",
        f"{row.shortest_gap * 1000:.1f} ms",
        f"{row.tightest * 1000:+.1f} ms",
        f"{row.exceeded}",
        row.audit,
        f"{row.cpu:.1f} s",
        "reached" if row.reached else "missed",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.hosts", description=__doc__)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    args = parser.parse_args()
    given = (args.hosts, args.rate, args.seconds)
    print("## Many hosts\n")
    about = dict(zip(("hosts", "rate", "seconds"), given, strict=True))
    print(ABOUT.format(**about, windows=", ".join(f"{each:g}" for each in WINDOWS), aim=AIM) + "\n", flush=True)
    rows = [measure("good hosts", *given, bad=False), measure("and three bad ones", *given, bad=True)]
    print(table(HEAD, map(cells, rows)))
    return 0 if all(row.reached for row in rows) else 1


def work(store: str, rate: str, seconds: str) -> None:
    """The child: crawl the hosts on stdin, say what it took."""
    import uvloop

    from gossamer import telemetry

    telemetry.configure("error", "human", telemetry.to_stderr)
    hosts = sys.stdin.read().split()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(crawl(store, hosts, float(rate), float(seconds)))))


if __name__ == "__main__":
    if sys.argv[1:2] == ["crawl"]:
        work(*sys.argv[2:])
    else:
        sys.exit(main())
