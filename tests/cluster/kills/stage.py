"""A whole cluster on one machine, to be broken on purpose: PostgreSQL, a broker, workers, beat, a site that watches.

    with Stage(folder) as stage:
        stage.workers(2)
        run = stage.start()
        stage.until_pages(run, 100)
        stage.kill_worker(0)
        stage.until_ended(run)
        stage.check(run)

What is checked is what was promised: nothing lost, every item once, no host asked faster or more at once than told (by
the site's own clock), the log clean by `gossamer audit`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gossamer.testing import Hit
from gossamer.testing.process import SiteProcess
from tests.databases import Postgres, Redis, postgres
from tests.service.serving import Served

#: Requests a second to one host, and at the same time.
RATE, PER_HOST = 20, 2
#: How much sooner than told the site may see ten requests come: it is another process, on a busy machine. Twice as fast
#: would be 0.25 s; how fast to the millisecond is for the audit, by the times at which requests left.
SLACK = 0.15
#: Seconds that anything here may take.
PATIENCE = 150.0

SCRAPER = '''
"""What the cluster walks: a graph of pages on each of some hosts."""

import os
import signal

from gossamer import Scraper


class Graph(Scraper):
    name = "graph"
    start_urls = {starts!r}
    rate = "{rate}/s"
    per_host = {per_host}
    robots = False
    retries = 8
    drift = "off"
    {knobs}

    def parse(self, page):
        if page.url in {poison!r}:
            os.kill(os.getpid(), signal.SIGKILL)
        yield {{"url": page.url, "title": page.title}}
        yield from page.follow("a")
'''


class Stage:
    """A cluster in a folder. `lease` is in seconds."""

    def __init__(
        self,
        folder: Path,
        *,
        hosts: int = 6,
        pages: int = 80,
        latency: float = 0.03,
        lease: float = 4.0,
        broker: str | None = None,
        poison: Sequence[int] = (),
        rate: int = RATE,
        own_postgres: bool = False,
        more: str = "",
        knobs: str = "",
    ) -> None:
        """`more` are lines of gossamer.toml, `knobs` attributes of the scraper."""
        self._knobs = knobs
        self.folder = folder
        self.lease = lease
        self.pages = pages
        self.rate = rate
        self._more = more
        self._poison = poison
        self._broker = broker
        self._redis: Redis | None = None
        self._store: str | None = None
        self._own = Postgres() if own_postgres else None
        self.postgres: Postgres = self._own or postgres()
        names = [f"127.0.{1 + os.getpid() % 200}.{n + 1}" for n in range(hosts)]
        self.site = SiteProcess(hosts=names, pages=pages, latency=latency, log=folder / "hits.jsonl")
        self._processes: list[subprocess.Popen[bytes]] = []
        self._beside: list[subprocess.Popen[bytes]] = []
        self._beats: list[subprocess.Popen[bytes]] = []
        self._served: Served | None = None

    # -- life --------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.site.start()
        if self._own is not None:
            self._own.start()
        if self._broker is None:
            self._redis = Redis().start()
            self._broker = self._redis.url
        if self._store is None:
            self._store = self.postgres.fresh(self.postgres.template)
        starts = [self.site.url("/p/0", host) for host in self.site.hosts]
        poison = {self.site.url(f"/p/{n}") for n in self._poison}
        text = SCRAPER.format(starts=starts, rate=self.rate, per_host=PER_HOST, poison=poison, knobs=self._knobs)
        (self.folder / "graph.py").write_text(text)
        told = f'store = "{self._store}"\nbroker = "{self._broker}"\nlease = "{self.lease}s"\nscrapers = ["graph.py"]\n'
        (self.folder / "gossamer.toml").write_text(told + f'slice = "8s"\nlog_level = "info"\n{self._more}\n')
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_beat()
        if self._served is not None:
            self._served.kill()
        for number in range(len(self._processes)):
            self.kill_worker(number)
        for process in self._beside:
            process.kill()
            process.wait()
        self.site.stop()
        for server in (self._redis, self._own):
            if server is not None:
                server.close()

    @property
    def redis(self) -> Redis:
        """The broker, where it is a Redis of this stage's own."""
        assert self._redis is not None
        return self._redis

    @property
    def store(self) -> str:
        assert self._store is not None
        return self._store

    # -- processes ---------------------------------------------------------------------------------------------

    def workers(self, count: int, *options: str, environ: dict[str, str] | None = None) -> None:
        """Start more workers, and wait until they take work."""
        first = len(self._processes)
        for number in range(first, first + count):
            self._processes.append(self._begin(["-m", "gossamer", "worker", *options], f"worker{number}.log", environ))
        self.until(lambda: all(map(self._at_work, range(first, first + count))), "workers are ready")

    def _at_work(self, number: int) -> bool:
        with suppress(StopIteration, FileNotFoundError):
            pid = self.station(number)
            return any(name.endswith(f":{pid}") for name in self.stations())
        return False

    def celery(self, *options: str) -> None:
        """Start a worker by Celery's own command."""
        command = ["-m", "celery", "-A", "gossamer.workers", "worker", *options, "-l", "info"]
        self._processes.append(self._begin(command, f"worker{len(self._processes)}.log"))

    def beat(self) -> None:
        """Start what looks for lost work every second."""
        self._beats.append(self._begin(["-m", "celery", "-A", "gossamer.workers", "beat"], "beat.log"))

    def stop_beat(self) -> None:
        """kill -9 of all who do."""
        for process in self._beats:
            process.kill()
            process.wait()
        self._beats.clear()

    def serve(self) -> int:
        """Start a service that hands runs to the workers, and have it start one: its number."""
        self._served = Served(self.folder, "--cluster")
        status, told = self._served.call("POST", "/api/runs", {"scraper": "graph"})
        assert status == 202, told
        return int(told["run"])

    @property
    def service(self) -> Served:
        assert self._served is not None
        return self._served

    def _begin(
        self, command: Sequence[str], log: str, environ: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        with (self.folder / log).open("ab") as file:
            return subprocess.Popen(
                [sys.executable, *command],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**os.environ, **(environ or {})},
            )

    def station(self, number: int) -> int:
        """The process of a worker that walks."""
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self._processes[number].pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        found = [int(pid) for pid in children.stdout.split()]
        return next(pid for pid in found if b"cluster.station" in Path(f"/proc/{pid}/cmdline").read_bytes())

    def kill_worker(self, number: int) -> float:
        """kill -9 a worker and its station, and say when."""
        process = self._processes[number]
        if process.poll() is None:
            with suppress(StopIteration, FileNotFoundError):
                os.kill(self.station(number), signal.SIGKILL)
            process.kill()
            process.wait()
        return time.monotonic()

    def stop_worker(self, number: int) -> int:
        """End a worker in good order: its exit code."""
        self._processes[number].terminate()
        return self._processes[number].wait(PATIENCE)

    def signal_station(self, number: int, what: signal.Signals) -> None:
        os.kill(self.station(number), what)

    # -- asking ------------------------------------------------------------------------------------------------

    def gossamer(self, *words: str, code: int = 0) -> str:
        """What a command of ours prints, which must end well."""
        done = subprocess.run(
            [sys.executable, "-m", "gossamer", *words], cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.told()}"
        return done.stdout

    def start(self, *options: str, scraper: str = "graph.py") -> int:
        """Hand a run to the workers; its number."""
        log = f"run{time.time_ns()}.log"
        self._beside.append(self._begin(["-m", "gossamer", "run", scraper, "--cluster", "--json", *options], log))
        # "handed to workers: graph is run 1"
        told = re.compile(r"is run (\d+)$", re.MULTILINE)
        self.until(lambda: told.search((self.folder / log).read_text("utf-8")) is not None, "the run is handed over")
        found = told.search((self.folder / log).read_text("utf-8"))
        assert found is not None
        return int(found[1])

    def rows(self, statement: str) -> list[list[str]]:
        """Rows of the store, as text."""
        name = self.store.rpartition("/")[2].partition("?")[0]
        try:
            found = self.postgres.sql(statement, name)
        except Exception:  # it may be down on purpose
            return []
        return [line.split("|") for line in found.splitlines() if line]

    def stations(self) -> list[str]:
        now = time.time()
        return [name for (name,) in self.rows(f"select name from worker where at > {now - 8}")]

    def pages_of(self, run: int) -> int:
        found = self.rows(f"select pages from run where id = {run}")
        return int(found[0][0]) if found else -1

    def until(self, holds: Any, what: str, patience: float = PATIENCE) -> None:
        """Wait for something."""
        until = time.monotonic() + patience
        while not holds():
            assert time.monotonic() < until, f"not in {patience:g} s: {what}\n{self.told()}"
            time.sleep(0.05)

    def until_pages(self, run: int, pages: int) -> None:
        self.until(lambda: self.pages_of(run) >= pages, f"{pages} pages of run {run}")

    def until_ended(self, run: int) -> dict[str, Any]:
        """Wait for the end of a run: the report that `gossamer run --cluster --json` prints."""
        self.until(
            lambda: self.rows(f"select 1 from run where id = {run} and state not in ('pending', 'running')") != [],
            f"the end of run {run}",
        )
        state, reason, ended = self.rows(f"select state, reason, ended from run where id = {run}")[0]
        return {"state": state, "reason": reason, "ended": float(ended)}

    def told(self) -> str:
        """What the processes said, for who looks at a test that failed."""
        logs = [f"--- {path.name}\n{path.read_text('utf-8', 'replace')[-3000:]}" for path in self.folder.glob("*.log")]
        return "\n".join(logs)

    # -- checking ----------------------------------------------------------------------------------------------

    def hits(self) -> dict[str, list[Hit]]:
        """What each host was asked, in order."""
        found: defaultdict[str, list[Hit]] = defaultdict(list)
        for hit in self.site.hits():
            found[hit.address].append(hit)
        return found

    def check(self, run: int, *, dead: int = 0) -> dict[str, float]:
        """All that was promised. Returns figures: fetches beyond one a page, the longest silence of a host."""
        expected = len(self.site.hosts) * self.pages
        ended = self.until_ended(run)
        assert (ended["state"], ended["reason"]) == ("finished", "done"), self.told()
        lines = self.gossamer("export", "items", "--run", str(run)).splitlines()
        urls = [json.loads(line)["url"] for line in lines]
        assert len(set(urls)) == len(urls) == expected - dead, self.told()
        twice = self.rows(f"select key from item where times_seen <> 1 and last_run = {run}")
        assert twice == [], twice
        left = self.rows(f"select state, count(*) from request where run_id = {run} and state in (0, 3) group by state")
        assert left == ([["3", str(dead)]] if dead else []), (left, self.told())
        self.gossamer("audit", str(run))
        hits = self.hits()
        for asked in hits.values():
            _check_pace(asked, self.rate)
            _check_together(asked)
        self._check_unhindered()
        silence = max(b.at - a.at for asked in hits.values() for a, b in pairwise(asked))
        last = max(hit.ended or hit.at for asked in hits.values() for hit in asked)
        return {
            "extra": sum(map(len, hits.values())) - expected,
            "silence": round(silence, 2),
            "to_end": round(ended["ended"] - (last + time.time() - time.monotonic()), 2),
        }

    def _check_unhindered(self) -> None:
        """Nobody was in anybody's way, and no walk of a shard failed: a fault may not hide behind a lease that ends."""
        assert self.rows("select deadlocks from pg_stat_database where datname = current_database()") == [["0"]]
        for path in self.folder.glob("*.log"):
            said = path.read_text("utf-8", "replace")
            assert not [line for line in said.splitlines() if "Deadlock" in line or "slice.failed" in line], path.name


def _check_pace(asked: Sequence[Hit], rate: int) -> None:
    """No ten requests in a row came faster than told, nor forty: there the slack is less than a tenth."""
    for many in (10, 40):
        for first, later in zip(asked, asked[many:], strict=False):
            assert later.at - first.at >= many / rate - SLACK, (first, later)


def _check_together(asked: Sequence[Hit]) -> None:
    """At no time was a host answering more requests than told."""
    events = sorted([(hit.at, 1) for hit in asked] + [(hit.ended or hit.at, -1) for hit in asked])
    open_now = 0
    for _, step in events:
        open_now += step
        assert open_now <= PER_HOST, asked
