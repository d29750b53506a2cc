"""Two ways to write rows from a thread beside a busy one: one JSON text, or executemany. `python -m bench.rows`"""

import sqlite3
import sys
import tempfile
import threading
import time
from pathlib import Path

import msgspec

from gossamer import urls
from gossamer.storage.migrations.upgrade import head_form
from gossamer.storage.statements import ADD, PRAGMAS

COLUMNS = "digest, url, host, shard, handler, extra, depth, priority, hops, found_on, state, reason"
MANY = f"insert into request (run_id, {COLUMNS}) values (1{', ?' * 12}) on conflict do nothing"
BATCH = 2_000
SECONDS = 4.0


def rows(first: int) -> list[tuple[object, ...]]:
    made = []
    for n in range(first, first + BATCH):
        url = f"http://example{n % 10}.org/some/path/page-{n}.html"
        made.append((urls.digest(url), url, urls.host(url), n % 10, "parse", None, 3, 0, 0, 7, 0, None))
    return made


def write(folder: Path, way: str) -> float:
    """Rows a second."""
    db = sqlite3.connect(folder / f"{way}-{time.monotonic_ns()}.db", isolation_level=None)
    db.executescript(PRAGMAS)
    for statement in head_form():
        db.execute(statement)
    n, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        batch = rows(n)
        db.execute("begin immediate")
        if way == "json":
            db.execute(ADD, {"run": 1, "rows": msgspec.json.encode(batch).decode()})
        else:
            db.executemany(MANY, batch)
        db.execute("commit")
        n += BATCH
    db.close()
    return n / (time.perf_counter() - began)


def main() -> None:
    over = threading.Event()

    def compute() -> None:
        while not over.is_set():
            sum(range(1000))

    with tempfile.TemporaryDirectory() as name:
        for beside in ("alone", "beside a busy thread"):
            if beside != "alone":
                threading.Thread(target=compute, daemon=True).start()
            for way in ("json", "executemany"):
                print(f"{beside:22} {way:12} {write(Path(name), way):>9,.0f} rows/s", flush=True)
        over.set()


if __name__ == "__main__":
    sys.exit(main())
