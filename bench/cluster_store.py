"""What a shard's work costs in PostgreSQL when the frontier is a hundred times longer.

The rows are made in the database, of one run, spread over all shards and ten thousand hosts. Then a worker's way with
one shard is timed: take the lease, look which hosts wait, peek, settle 64 pages with ten links each, give back.
"""

import asyncio
import gc
import itertools
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from tests.databases import Postgres

from bench.prepare import say
from bench.report import table
from gossamer import urls
from gossamer.storage import postgres_lease_sql, postgres_pool, postgres_sql
from gossamer.storage.postgres import PostgresStore
from gossamer.storage.store import Batch, Draft
from gossamer.values import Ending, Outcome, Request

SIZES = (100_000, 10_000_000)
HOSTS = 10_000
PAGES, LINKS = 64, 10
#: Requests that a peek asks for: as many as every host of the smaller frontier has.
EACH = 8
#: Settles that are timed, and those before them that only warm up.
ROUNDS, WARM = 60, 10
#: What is aimed at: how much more the bigger frontier may cost.
AIM = 2.0
VERBS = ("take the lease", "hosts of the shard", "peek", "settle", "give back", "tickets for all shards", "standing")
HEAD = ("rows", *VERBS, "lease + peek + settle")
ABOUT = """\
Milliseconds, the median of {rounds} times, and in brackets what one in ten exceeds; the sizes take turns. One run whose
requests all wait, on {hosts:,} hosts and 1,024 shards; one connection. *peek*: {pages} requests, {each} of a host.
*settle*: {pages} pages with {links} links each, of which two in ten are known. The database is analysed, has {buffers}
of buffers, and does not wait for the disk, which would hide the difference. Aim: the biggest costs at most {aim:g}
times as much as the smallest."""
BUFFERS = "512MB"

_HOSTS = "create unlogged table bench_host (n int primary key, host text not null, shard int not null)"
# Digests have the length of ours.
_ROWS = """
insert into request (run_id, digest, url, host, shard, handler, depth, priority, hops, state, not_before)
select $1::bigint, left(translate(encode(sha256(('row ' || i)::bytea), 'base64'), '+/=', '-_'), 22),
    'http://' || host || '/some/path/page-' || i || '.html', host, shard, 'parse', 1 + i % 5, 0, 0, 0, 0
from generate_series($2::bigint, $3::bigint) as i join bench_host on bench_host.n = i % $4::int
"""
_INDEXES = "select indexname, indexdef from pg_indexes where tablename = 'request' and indexname <> 'request_pkey'"


class Roomy(Postgres):
    """A PostgreSQL with the buffers of a small server."""

    def commands(self) -> Sequence[Sequence[str]]:
        (first,) = super().commands()
        return [[*first, f"--shared_buffers={BUFFERS}", "--maintenance_work_mem=512MB", "--max_wal_size=4GB"]]


@dataclass(kw_only=True)
class Row:
    """What the verbs cost at one size: milliseconds, each time."""

    rows: int
    cost: dict[str, list[float]] = field(default_factory=lambda: {verb: [] for verb in VERBS})
    plans: dict[str, str] = field(default_factory=dict)

    def median(self, verb: str) -> float:
        return statistics.median(self.cost[verb])

    @property
    def together(self) -> float:
        return sum(self.median(verb) for verb in ("take the lease", "peek", "settle"))


def run(sizes: Sequence[int] = SIZES) -> list[Row]:
    """Measure, in a database of its own for each size."""
    with Roomy() as server:
        return asyncio.run(measure([(server.fresh(), size) for size in sizes]))


async def measure(databases: Sequence[tuple[str, int]]) -> list[Row]:
    rows = [Row(rows=size) for _, size in databases]
    async with AsyncExitStack() as stack:
        walks = []
        for url, size in databases:
            began = time.perf_counter()
            store = await stack.enter_async_context(PostgresStore(url, most=2))
            made = await store.new_run(Draft(scraper="bench", ref="bench", signature="s", params={}, options={}))
            await fill(url, made.id, size)
            say(f"{size:,} rows in {time.perf_counter() - began:.0f} s")
            walks.append((store, made.id))
        await walk(walks, rows)
        for (url, _), (_, run_id), row in zip(databases, walks, rows, strict=True):
            await explain(url, run_id, row)
    for row in rows:
        say(f"{row.rows:,} rows: " + ", ".join(f"{verb} {row.median(verb):.2f}" for verb in VERBS) + " ms")
    return rows


async def fill(url: str, run: int, size: int) -> None:
    """Put the rows in, and build the indexes afterwards, as whoever restores a database does."""
    db = await asyncpg.connect(url)
    try:
        named = [(n, f"www.host{n}.example", urls.shard(f"www.host{n}.example")) for n in range(HOSTS)]
        await db.execute(_HOSTS)
        await db.copy_records_to_table("bench_host", records=named)
        await db.execute("update run set state = 'running', cluster = 1, seeded = 1 where id = $1", run)
        indexes = await db.fetch(_INDEXES)
        for name, _ in indexes:
            await db.execute(f'drop index "{name}"')
        for first in range(0, size, 1_000_000):
            await db.execute(_ROWS, run, first, min(size, first + 1_000_000) - 1, HOSTS, timeout=600)
        for _, definition in indexes:
            await db.execute(definition, timeout=1200)
        await db.execute("vacuum analyze", timeout=1200)
        await db.execute("checkpoint", timeout=1200)
    finally:
        await db.close()


async def walk(walks: Sequence[tuple[PostgresStore, int]], rows: Sequence[Row]) -> None:
    """In turns, so that what else the machine does is the same for all."""
    hosts = Counter(urls.shard(f"www.host{n}.example") for n in range(HOSTS))
    shards = [shard for shard, n in hosts.items() if n >= PAGES // EACH][: ROUNDS + WARM]
    gc.collect()
    gc.disable()
    try:
        for n, shard in enumerate(shards):
            for (store, run_id), row in zip(walks, rows, strict=True):
                cost: dict[str, list[float]] = {verb: [] for verb in VERBS} if n < WARM else row.cost
                await one_round(store, run_id, shard, n, cost)
    finally:
        gc.enable()


async def one_round(store: PostgresStore, run: int, shard: int, n: int, cost: dict[str, list[float]]) -> None:
    taken = await timed(cost["take the lease"], lambda: store.take(run, shard, "bench:1:0", 60.0))
    assert taken is not None
    hosts = await timed(cost["hosts of the shard"], lambda: store.hosts(run, shard))

    async def peek() -> list[Request]:
        found = [await store.peek(run, host, EACH, (), shard=shard) for host in sorted(hosts)[: PAGES // EACH]]
        return list(itertools.chain(*found))

    found = await timed(cost["peek"], peek)
    assert len(found) == PAGES
    await timed(cost["settle"], lambda: store.settle(taken.lease, batch_of(found, n)))
    await timed(cost["give back"], lambda: store.give_back(taken.lease))
    if n % 10 == 0:
        await timed(cost["tickets for all shards"], lambda: store.ready(run))
        await timed(cost["standing"], lambda: store.standing(run))


async def timed(into: list[float], call: Callable[[], Awaitable[Any]]) -> Any:
    began = time.perf_counter()
    got = await call()
    into.append((time.perf_counter() - began) * 1000)
    return got


def batch_of(requests: Sequence[Request], n: int) -> Batch:
    """Pages that were read, with links to hosts all over: two in ten are known."""
    outcomes = []
    for place, request in enumerate(requests):
        number = (n * PAGES + place) * LINKS
        found = tuple(
            Request(
                f"http://www.host{(number + k) * 31 % HOSTS}.example/new/{number + k if k > 1 else k}.html", depth=2
            )
            for k in range(LINKS)
        )
        outcomes.append(
            Outcome(request, Ending.DONE, status=200, size=9_000, started=time.time(), elapsed=0.2, found=found)
        )
    return Batch(outcomes=outcomes, seconds=1.0)


# -- plans -----------------------------------------------------------------------------------------------------


async def explain(url: str, run: int, row: Row) -> None:
    """How the database goes about the hot statements, with what was read."""
    host = "www.host5.example"
    shard = urls.shard(host)
    asked: dict[str, tuple[str, tuple[Any, ...]]] = {
        "peek": (postgres_sql.PEEK, (run, [shard], host, 2**31 - 1, [], PAGES)),
        "hosts of the shard": (postgres_sql.HOSTS_OF_SHARD, (run, shard)),
        "tickets for all shards": (postgres_lease_sql.READY, (run,)),
        "standing": (postgres_lease_sql.STANDING, (run,)),
    }
    db = await asyncpg.connect(url, server_settings={"jit": "off"})
    try:
        for name, (statement, args) in asked.items():
            lines = await db.fetch(f"explain (analyze, buffers, costs off, timing off, summary off) {statement}", *args)
            row.plans[name] = "\n".join(line[0] for line in lines)
        await explain_writes(db, run, host, row)
    finally:
        await db.close()


async def explain_writes(db: asyncpg.Connection, run: int, host: str, row: Row) -> None:
    """The statements of a settle; what they would have written is rolled back."""
    from gossamer.storage import rows

    found = [Request(f"http://{host}/plan/{n}.html", depth=2) for n in range(PAGES * LINKS)]
    made = sorted((rows.request_row(request, 0, n) for n, request in enumerate(found)), key=lambda each: str(each[0]))
    ids = [each[0] for each in await db.fetch("select id from request where host = $1 limit $2", host, PAGES)]
    closed = [(each, 1, 0.0, 0, "ok", None, 200, 9_000, time.time(), 0.2) for each in ids]
    moves = db.transaction()
    await moves.start()
    try:
        await db.execute(postgres_pool._BEGIN.partition(";")[2])
        for name, statement, columns in (
            ("settle: insert what was found", postgres_sql.ADD, postgres_pool.columns(made, len(postgres_sql.REQUEST))),
            ("settle: close the pages", postgres_sql.CLOSE, postgres_pool.columns(closed, len(postgres_sql.CLOSED))),
        ):
            asked = f"explain (analyze, buffers, costs off, timing off, summary off) {statement}"
            row.plans[name] = "\n".join(line[0] for line in await db.fetch(asked, run, *columns))
    finally:
        await moves.rollback()


# -- what is told ----------------------------------------------------------------------------------------------


def report(rows: Sequence[Row]) -> str:
    about = ABOUT.format(rounds=ROUNDS, hosts=HOSTS, pages=PAGES, each=EACH, links=LINKS, buffers=BUFFERS, aim=AIM)
    lines = [[f"{row.rows:,}", *(cell(row.cost[verb]) for verb in VERBS), f"{row.together:.2f}"] for row in rows]
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        ratios = [last.median(verb) / first.median(verb) for verb in VERBS]
        lines.append(["ratio", *(f"{ratio:.2f}" for ratio in ratios), f"{last.together / first.together:.2f}"])
    return f"{about}\n\n{table(HEAD, lines)}\n\n{plans(rows[-1])}"


def cell(values: Sequence[float]) -> str:
    slow = sorted(values)[int(len(values) * 0.9)] if len(values) > 1 else values[0]
    return f"{statistics.median(values):.2f} ({slow:.2f})"


def plans(row: Row) -> str:
    told = [f"Plans at {row.rows:,} rows, as `explain (analyze, buffers)` has them:"]
    for name, plan in row.plans.items():
        scans = "; a table is read as a whole" if "Seq Scan on request" in plan else ""
        told.append(f"<details><summary>{name}{scans}</summary>\n\n```\n{plan}\n```\n\n</details>")
    return "\n\n".join(told)


def misses(rows: Sequence[Row]) -> list[str]:
    """The aims that are not reached."""
    found = [name for row in rows for name, plan in row.plans.items() if "Seq Scan on request" in plan]
    if len(rows) > 1 and rows[-1].together > AIM * rows[0].together:
        found.append(f"{rows[-1].rows:,} rows cost {rows[-1].together / rows[0].together:.2f} times as much")
    return found
