"""What PostgreSQL does for items: it finds them by the right index, and lets one writer after the other through."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from gossamer.storage import postgres_item_sql as sql
from gossamer.storage.postgres import PostgresStore
from gossamer.storage.postgres_pool import columns
from gossamer.storage.store import Draft, Reread, Wanted
from gossamer.values import Lease
from tests.contract.steps import played
from tests.databases import postgres_url

ROWS = [(n, "item", f"{n}", "{}", "u", 1.0) for n in range(300)]
WRITING = (1, "quotes", 9, None, False, False, 1, ["v"])
#: What settle says of items, and the indexes that each may use.
STATEMENTS: dict[str, tuple[str, tuple[Any, ...], set[str]]] = {
    "put": (sql.PUT, (*WRITING, *columns(ROWS, 6)), {"item_known", "item_pkey", "request_pkey"}),
    "put held": (
        sql.PUT_HELD,
        (*WRITING, 1, 9),
        {"item_known", "item_pkey", "request_pkey", "staged_run", "staged_pkey"},
    ),
    "see": (sql.SEE, (1, "quotes", 9, *columns([(*r[:3], r[5]) for r in ROWS], 4)), {"item_known", "item_pkey"}),
    "stage": (sql.STAGE, (1, *columns(ROWS, 6)), {"staged_known", "staged_pkey"}),
    "fresh": (
        sql.FRESH,
        (1, "quotes", *columns([(*r[1:3], False) for r in ROWS], 3)),
        {"item_known", "staged_known", "sighting_pkey"},
    ),
    "lost": (sql.IDS, ("quotes", ["item"], ["1"]), {"item_known"}),
    "mark": (sql.MARK, (1, 1.0, 9, [1, 2, 3], 9, 1.0), {"item_pkey"}),
}
FILL = """
insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed)
select 'quotes', 'item', n::text, '{}', 'u', 1, 1, 1 from generate_series(1, 3000) as n;
insert into staged (run_id, kind, key, data, url, request_id, seen)
select 1, 'item', n::text, '{}', 'u', 1, 1 from generate_series(1, 3000) as n
"""


def indexes(plan: dict[str, Any]) -> set[str]:
    """What a plan reads tables by: names of indexes, or how else."""
    found = {plan["Index Name"]} if "Index Name" in plan else set()
    if plan["Node Type"] in ("Seq Scan", "Bitmap Heap Scan"):
        found.add(f"{plan['Node Type']} of {plan['Relation Name']}")
    return found.union(*(indexes(each) for each in plan.get("Plans", ())))


@pytest.mark.parametrize("name", STATEMENTS)
@played
async def test_an_item_is_found_by_its_name_however_small_its_table_was(name: str) -> None:
    """A plan is kept for the life of a connection: one that is only good for an empty table would be kept too."""
    statement, values, allowed = STATEMENTS[name]

    async def explain(db: Any) -> set[str]:
        await db.execute(sql.LOCK)
        await db.execute("set local plan_cache_mode = force_generic_plan")
        told = await db.fetchval(f"explain (format json) {statement}", *values)
        return indexes(msgspec.json.decode(told)[0]["Plan"])

    async with PostgresStore(postgres_url(), most=2) as store:
        for fill in ("select 1", FILL, "analyze item; analyze staged"):
            await store._read(lambda db, fill=fill: db.execute(fill))  # type: ignore[misc]
            assert await store._write(explain) <= allowed


@played
async def test_whoever_follows_the_log_of_changes_misses_nothing_that_others_write_at_the_same_time() -> None:
    """Numbers that are drawn in one order and become visible in another would be passed over."""
    url = postgres_url()
    async with PostgresStore(url, most=4) as store, PostgresStore(url, most=4) as other:
        leases = []
        for n in range(4):
            run = await store.new_run(Draft(f"s{n}", "ref", f"{n}", {}, {}))
            leases.append(await store.acquire(run.id, "me", 60.0))
        writing = [
            asyncio.create_task(_write(each, lease, n))
            for n, (lease, each) in enumerate(zip(leases, (store, other) * 2, strict=True))
        ]
        met: list[tuple[str, str]] = []
        cursor = 0
        while not all(task.done() for task in writing) or cursor < await store.item_cursor():
            async for item in store.items(Wanted(after=cursor)):
                met.append((item.scraper, item.key))
                cursor = item.seq
            await asyncio.sleep(0)
        await asyncio.gather(*writing)
        assert sorted(met) == sorted((f"s{n}", f"{i}-{k}") for n in range(4) for i in range(15) for k in range(5))


async def _write(store: PostgresStore, lease: Lease, n: int) -> None:
    for i in range(15):
        items = [Reread("item", f"{i}-{k}", f'{{"of":{n}}}', "u", 1, 1.0) for k in range(5)]
        assert await store.reread(lease, items) == 5
