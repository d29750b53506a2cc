"""What workers bring, what a page costs in one, and what a cluster costs that has nothing to do.

Everything is real and on this machine: PostgreSQL, Redis, `gossamer worker` as people start it, a site in a process of
its own. So the cores are shared by all of them: two workers are measured on a job that waits for its site.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.databases import Postgres, Redis

from bench.contestants import CONTESTANTS, JOBS
from bench.measure import clean, end, job, machine_busy
from bench.prepare import KEPT, say
from bench.report import table
from bench.serve import generated
from gossamer.testing import SiteProcess, loopback

#: The job that waits: hosts, pages of each, seconds for an answer, requests to one host at the same time.
HOSTS, PAGES, LATENCY, PER_HOST = 40, 60, 0.3, 2
#: Shards that a worker walks at the same time there.
CONCURRENCY = 10
#: Pages of the site that is read as fast as can be.
BUSY_PAGES = 10_000
#: Seconds that an idle cluster is watched.
IDLE = 30.0
#: What is aimed at: two workers against one; what a core brings in a worker against the embedded engine.
FASTER, PER_CORE = 1.8, 0.7
#: Seconds that anything may take.
PATIENCE = 600.0

GRAPH = """
from gossamer import Scraper


class Graph(Scraper):
    name = "graph"
    start_urls = {starts!r}
    rate = "none"
    per_host = {per_host}
    robots = False
    drift = "off"

    def parse(self, page):
        yield {{"url": page.url, "title": page.title}}
        yield from page.follow("a")
"""


class Cluster:
    """PostgreSQL, Redis and workers, with a folder that has their settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.postgres, self.redis = Postgres(), Redis()
        self.store = ""
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            self.postgres.start()
            self.redis.start()
            self.store = self.postgres.fresh()
            self.gossamer("db", "upgrade")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()
        self.redis.close()
        self.postgres.close()

    def stop(self) -> None:
        """End the workers in good order."""
        for process in self._processes:
            end(process, 20)
        self._processes.clear()

    def environ(self) -> dict[str, str]:
        return {**clean(), "GOSSAMER_STORE": self.store, "GOSSAMER_BROKER": self.redis.url}

    def begin(self, *words: str) -> None:
        """Start something that stays."""
        with (self.folder / "log").open("ab") as log:
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", *words],
                    cwd=self.folder,
                    env=self.environ(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def workers(self, count: int, *options: str) -> None:
        """Start workers, and wait until they are ready."""
        for _ in range(count):
            self.begin("gossamer", "worker", *options)
        # One that has just begun is not yet written down; those before are gone.
        until(lambda: int(self.sql("select count(*) from worker where at > extract(epoch from now()) - 4")) >= count)

    def gossamer(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "gossamer", *words],
            cwd=self.folder,
            env=self.environ(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"gossamer {words[0]}: {done.stdout}{done.stderr}{self.told()}")
        return done.stdout

    def run(self, *words: str) -> Mapping[str, Any]:
        """Have the workers walk a run; its row."""
        self.gossamer("run", *words, "--cluster", "--json", "--fresh")
        row = self.sql("select row_to_json(run) from run order by id desc limit 1")
        found: Mapping[str, Any] = json.loads(row)
        return found

    def sql(self, statement: str) -> str:
        return self.postgres.sql(statement, self.store.rpartition("/")[2])

    def cpu(self) -> float:
        """Seconds of processor time that the workers and their stations have used."""
        return sum(cpu_of(pid) for process in self._processes for pid in (process.pid, *children(process.pid)))

    def told(self) -> str:
        with contextlib.suppress(OSError):
            return (self.folder / "log").read_text(errors="replace")[-3000:]
        return ""


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    KEPT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cluster-", dir=KEPT) as folder, Cluster(Path(folder)) as made:
        yield made


def until(done: Callable[[], bool], patience: float = 60.0) -> None:
    limit = time.monotonic() + patience
    while not done():
        if time.monotonic() > limit:
            raise RuntimeError("the workers did not start in time")
        time.sleep(0.1)


def children(pid: int) -> list[int]:
    """Processes that a process started, whichever of its threads did."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def cpu_of(pid: int) -> float:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


# -- two workers against one -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The job that waits for its site, walked by some workers."""

    workers: int
    pages: int
    seconds: float
    cpu: float
    #: Transactions of the database, those of idling included.
    transactions: float

    @property
    def pace(self) -> float:
        return self.pages / self.seconds


def two_against_one(counts: Sequence[int] = (1, 2)) -> list[Waiting]:
    """The same run with one worker, then with two."""
    names = loopback(HOSTS)
    with SiteProcess(hosts=names, pages=PAGES, latency=LATENCY) as site, cluster() as made:
        starts = [site.url("/p/0", host) for host in names]
        (made.folder / "graph.py").write_text(GRAPH.format(starts=starts, per_host=PER_HOST))
        found = []
        for count in counts:
            made.workers(count, "--concurrency", str(CONCURRENCY))
            before = counted(made)
            row = made.run("graph.py")
            done, _, spent = (b - a for a, b in zip(before, counted(made), strict=True))
            took = row["ended"] - row["started"]
            found.append(Waiting(workers=count, pages=row["pages"], seconds=took, cpu=spent, transactions=done))
            say(f"{count} workers: {row['pages']:,} pages in {took:.1f} s, {row['pages'] / took:,.0f}/s")
            made.stop()
    return found


def report_waiting(found: Sequence[Waiting]) -> str:
    about = (
        f"{HOSTS} hosts with {PAGES} pages each, {LATENCY * 1000:.0f} ms for an answer, {PER_HOST} requests to a host "
        f"at the same time; a worker walks {CONCURRENCY} shards at the same time. Seconds are from the first lease to "
        f"the end of the run. Aim: two bring at least {FASTER:g} times as much as one."
    )
    rows = [
        [
            str(each.workers),
            f"{each.pages:,}",
            f"{each.seconds:.1f}",
            f"{each.pace:,.0f}",
            f"{each.pace / found[0].pace:.2f}",
            f"{each.cpu / each.pages * 1e3:.2f}",
            f"{each.transactions / each.pages:.2f}",
        ]
        for each in found
    ]
    return f"{about}\n\n" + table(
        ("workers", "pages", "seconds", "pages/s", "times one", "CPU ms/page", "transactions/page"), rows
    )


# -- a page in a worker, and in the embedded engine ------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Busy:
    """The site that is read as fast as can be."""

    where: str
    pages: int
    seconds: float
    #: Seconds of processor time, without what it takes to start.
    cpu: float
    others: float

    @property
    def per_core(self) -> float:
        return self.pages / self.cpu


def worker_against_engine(pages: int = BUSY_PAGES) -> list[Busy]:
    with generated(1) as alone:
        start = job(CONTESTANTS["gossamer"].command, alone, limit=60).cpu
    with generated(pages) as url:
        ran = job(CONTESTANTS["gossamer"].command, url, limit=PATIENCE)
        found = [
            Busy(where="embedded, SQLite", pages=ran.pages, seconds=ran.seconds, cpu=ran.cpu - start, others=ran.others)
        ]
        with cluster() as made:
            made.workers(1)
            before, busy = made.cpu(), machine_busy()
            pace = ["--rate", "none", "--concurrency", "50", "--per-host", "50"]
            row = made.run(str(JOBS / "gossamer_job.py"), "--param", f"start={url}", *pace)
            spent, took = made.cpu() - before, row["ended"] - row["started"]
            others = max(0.0, machine_busy() - busy - spent) / took
            found.append(Busy(where="a worker, PostgreSQL", pages=row["pages"], seconds=took, cpu=spent, others=others))
    for each in found:
        say(f"{each.where}: {each.pages / each.seconds:,.0f} pages/s, {each.per_core:,.0f} pages for a second of CPU")
    return found


def report_busy(found: Sequence[Busy]) -> str:
    about = (
        f"A generated site of {found[0].pages:,} small pages on one host, ten links each, no pace. *CPU*: of the "
        "process that walks, and of the one that carries tickets to it; starting is left out. *others*: cores that "
        "everything else was busy with, PostgreSQL and the site among them. Aim: a core brings at least "
        f"{PER_CORE:.0%} of what it brings in the embedded engine."
    )
    rows = [
        [
            each.where,
            f"{each.pages / each.seconds:,.0f}",
            f"{each.cpu / each.pages * 1e6:,.0f}",
            f"{each.per_core:,.0f}",
            f"{each.per_core / found[0].per_core:.0%}",
            f"{each.others:.1f}",
        ]
        for each in found
    ]
    head = ("where", "pages/s", "CPU us/page", "pages for a second of CPU", "of the engine", "others")
    return f"{about}\n\n" + table(head, rows)


# -- an idle cluster -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Idle:
    """What a cluster does a second that has nothing to do."""

    workers: int
    transactions: float
    commands: float
    #: Cores that the workers and beat use.
    cpu: float


def idle(workers: int = 2, seconds: float = IDLE) -> Idle:
    """Watch workers and beat that have nothing to do."""
    with cluster() as made:
        made.workers(workers)
        made.begin("celery", "-A", "gossamer.workers", "beat")
        time.sleep(10)
        before, began = counted(made), time.monotonic()
        time.sleep(seconds)
        after, took = counted(made), time.monotonic() - began
    each = [(b - a) / took for a, b in zip(before, after, strict=True)]
    found = Idle(workers=workers, transactions=each[0], commands=each[1], cpu=each[2])
    say(f"idle: {found.transactions:.1f} transactions/s, {found.commands:.1f} commands/s, {found.cpu:.3f} cores")
    return found


def counted(made: Cluster) -> tuple[float, float, float]:
    name = made.store.rpartition("/")[2]
    # Asked in another database, so that the question is not counted.
    done = made.postgres.sql(f"select xact_commit + xact_rollback from pg_stat_database where datname = '{name}'")
    return float(done), redis_commands(made.redis), made.cpu()


def redis_commands(server: Redis) -> float:
    import redis

    with redis.Redis.from_url(server.url) as client:
        return float(client.info("stats")["total_commands_processed"])


def report_idle(found: Idle) -> str:
    about = f"{found.workers} workers and beat with nothing to do, watched for {IDLE:.0f} s after they had settled."
    head = ("workers", "PostgreSQL transactions/s", "Redis commands/s", "cores used")
    row = [str(found.workers), f"{found.transactions:.1f}", f"{found.commands:.1f}", f"{found.cpu:.3f}"]
    return f"{about}\n\n" + table(head, [row])
