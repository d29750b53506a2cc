"""What an export costs: rows a second and memory at the highest point. `python -m bench.export [ITEMS]`

A store of a million items is built (kept below .bench for the next time), then written out in every format, each by a
process of its own. *at 1,000*: the same with a store of a thousand items; a column that does not grow with the store
is memory that does not.
"""

import asyncio
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.prepare import KEPT, say
from gossamer.storage.migrations.upgrade import HEAD

MILLION = 1_000_000
FEW = 1_000
#: Items of one page.
PAGE = 500
TEXT = "a river of glass under the old bridge where nobody counts the boats and every lamp has a name"
WORDS = TEXT.split()
EXPORTS = {
    "jsonl": ["-o", "out.jsonl"],
    "jsonl --source": ["-o", "out.jsonl", "--source"],
    "jsonl --where": ["-o", "out.jsonl", "--where", "price > 500 and tags in ('red', 'blue')"],
    "csv": ["-o", "out.csv"],
    "parquet": ["-o", "out.parquet"],
    "parquet --partition-by brand": ["-o", "out", "--format", "parquet", "--partition-by", "brand"],
    "parquet --partition-by shelf": ["-o", "out", "--format", "parquet", "--partition-by", "shelf"],
}
FRAMES = {"to_frame pandas": "pandas", "to_frame polars": "polars"}


def records(count: int) -> Iterator[dict[str, Any]]:
    """Things of a shop: about 400 bytes each, with lists, structs and holes; some columns are mixed."""
    chance = random.Random(4)
    for n in range(count):
        yield {
            "id": n,
            "name": " ".join(chance.choices(WORDS, k=6)),
            "price": round(chance.uniform(1, 1000), 2),
            "stock": chance.randrange(100) if n % 7 else None,
            "sold_out": n % 7 == 0,
            "brand": f"brand {n % 12}",
            "shelf": f"{n * 7919 % 1000}",
            "size": n % 60 if n % 3 else "XL",
            "tags": chance.choices(("red", "blue", "green", "new"), k=n % 4),
            "offers": [{"price": n / 7, "seller": f"s{n % 50}"}],
            "maker": {"name": f"maker {n % 999}", "country": None if n % 2 else "NO"},
            "text": " ".join(chance.choices(WORDS, k=20)),
        }


async def build(path: Path, count: int) -> None:
    from gossamer.pipeline import item_of
    from gossamer.storage.sqlite import SqliteStore
    from gossamer.storage.store import Batch, Draft
    from gossamer.values import Ending, Outcome, Request

    async with SqliteStore(str(path)) as store:
        run = await store.new_run(Draft("shop", "bench", "bench", {}, {}))
        lease = await store.acquire(run.id, "bench", 600)
        pages = -(-count // PAGE)
        await store.add(lease, [Request(f"https://shop.example/{n}") for n in range(pages)], last=True)
        made, done = records(count), set[int]()
        while page := await store.peek(run.id, "shop.example", 20, done):
            outcomes = []
            for request in page:
                items = tuple(item_of(each, "id", "product") for _, each in zip(range(PAGE), made, strict=False))
                outcomes.append(Outcome(request, Ending.DONE, status=200, size=1, started=time.time(), items=items))
            await store.settle(lease, Batch(outcomes))
        await store.release(lease)


def store_of(count: int) -> Path:
    path = KEPT / f"export-{HEAD}-{count}.db"
    if not path.exists():
        say(f"building a store of {count:,} items")
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        # Not here: a process that is started begins with the memory of the one that starts it.
        subprocess.run([sys.executable, "-m", "bench.export", "build", str(part), str(count)], check=True)
        part.rename(path)
        Path(f"{part}.lock").unlink(missing_ok=True)
    return path


def measured(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and megabytes of a process."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def command(name: str, store: Path) -> list[str]:
    if name in FRAMES:
        code = f"import gossamer; print(len(gossamer.to_frame({str(store)!r}, engine={FRAMES[name]!r})), flush=True)"
        return [sys.executable, "-c", code]
    return [sys.executable, "-m", "gossamer", "export", "items", "--store", str(store), *EXPORTS[name]]


def main() -> None:
    if sys.argv[1:2] == ["build"]:
        asyncio.run(build(Path(sys.argv[2]), int(sys.argv[3])))
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MILLION
    KEPT.mkdir(exist_ok=True)
    folder = KEPT / "export-out"
    many, few = store_of(count), store_of(FEW)
    print(f"{count:,} items, {many.stat().st_size / 1e6:,.0f} MB")
    print(f"{'':30} {'rows/s':>9} {'seconds':>8} {'CPU s':>7} {'peak MB':>8} {'at 1,000':>8} {'MB out':>8}")
    for name in (*EXPORTS, *FRAMES):
        small = measured(command(name, few), folder)[2]
        seconds, cpu, peak = measured(command(name, many), folder)
        size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) / 1e6
        took = f"{count / seconds:9,.0f} {seconds:8.1f} {cpu:7.1f}"
        print(f"{name:30} {took} {peak:8.0f} {small:8.0f} {size:8.0f}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
