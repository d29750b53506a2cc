"""What keeping pages costs, and what a dictionary saves. `python -m bench.archive [FOLDER OF PAGES]...`

Pages are kept in groups of 100, alone and beside a loop that has no idle moment, as in a crawl at full speed:
microseconds a page, on the loop's thread and in all. Then bytes a page with and without a dictionary: of generated
pages, of the pages of many hosts in the outside suites, and of the folders given.
"""

import asyncio
import gzip
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench import gensite
from bench.prepare import ROOT
from gossamer.storage.archive import Archive, Kept, Stats
from gossamer.storage.packing import SAMPLES, Packer
from gossamer.values import Headers, Request, Response

GROUP = 100
GROUPS = 12
HEADERS = (
    ("content-type", "text/html; charset=utf-8"),
    ("date", "Mon, 16 Nov 2026 03:26:00 GMT"),
    ("server", "nginx"),
    ("cache-control", "max-age=0, private, must-revalidate"),
    ("strict-transport-security", "max-age=31536000; includeSubDomains"),
    ("vary", "Accept-Encoding"),
    ("x-frame-options", "DENY"),
)


def words(chance: random.Random, size: int) -> bytes:
    """Text of nothing, which packs about as well as text does."""
    made = bytearray()
    while len(made) < size:
        made += b"%x " % int(chance.paretovariate(0.4) % 1e6)
    return bytes(made)


def pages(size: int, chance: random.Random) -> Iterator[bytes]:
    """Pages of one site: two thirds of each are what all have in common."""
    frame = words(chance, size * 2 // 3)
    while True:
        at = chance.randrange(len(frame) // 4)
        own = words(chance, size // 9)
        yield b"<html>" + frame[:at] + own + frame[at:-at] + own[::-1] + words(chance, size // 9) + frame[-at:]


def group(first: int, made: Iterator[bytes]) -> list[Kept]:
    kept = []
    for n in range(first, first + GROUP):
        url = f"https://www.example.org/shelf/{n % 17}/page-{n}.html"
        answer = Response(url, 200, Headers((*HEADERS, ("etag", f'"{n * 7919:x}"'))), next(made), 1.8e9 + n, 0.2)
        kept.append(Kept(1, "example", Request(url, id=n, depth=3), answer))
    return kept


async def measure(folder: Path, size: int, busy: bool) -> tuple[float, float, float, Stats]:
    """Microseconds a page: of the loop's thread, of the process, and until it is written."""
    made = pages(size, random.Random(1))
    groups = [group(1 + n * GROUP, made) for n in range(GROUPS)]
    over = False

    async def compute() -> None:
        while not over:
            sum(range(200_000))
            await asyncio.sleep(0)

    async with Archive(str(folder / f"{size}-{busy}.archive")) as archive:
        await archive.keep(groups[0])  # the dictionary is made from these
        task = asyncio.create_task(compute()) if busy else None
        loop, whole, began = time.thread_time(), time.process_time(), time.perf_counter()
        for each in groups[1:]:
            await archive.keep(each)
        took = time.thread_time() - loop, time.process_time() - whole, time.perf_counter() - began
        over = True
        if task is not None:
            await task
        stats = await archive.stats()
    count = (GROUPS - 1) * GROUP / 1e6
    return took[0] / count, took[1] / count, took[2] / count, stats


def savings(name: str, bodies: list[bytes]) -> None:
    """What is left of the second half of some pages, with a dictionary made of the first ones."""
    packer = Packer(lambda number: made or b"")
    taught, others = bodies[:SAMPLES], bodies[SAMPLES:]
    made = packer.train(taught) if len(others) else None
    if not others:
        return
    size = sum(map(len, others)) / len(others)
    plain = packer.pack(others, [0] * len(others))
    without = sum(len(each.data) for each in plain) / len(others)
    told = f"{name:34} {len(bodies):>6,} pages of {size:>7,.0f} B: {without:>7,.0f} B"
    if made is None:
        print(f"{told}, no dictionary: it would save less than a tenth")
        return
    packed = sum(len(each.data) for each in packer.pack(others, [1] * len(others))) / len(others)
    print(f"{told}, with a dictionary {packed:>6,.0f} B: {1 - packed / without:.0%} less")


def read(paths: Iterable[Path], most: int = 500) -> list[bytes]:
    """Pages from files, in no order."""
    found = sorted(paths)
    random.Random(1).shuffle(found)
    raw = [path.read_bytes() for path in found[:most]]
    return [gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body for body in raw]


def dictionaries(folders: list[str]) -> None:
    savings("generated (bench.gensite)", [gensite.page(n, 5_000) for n in range(500)])
    for size in (5_000, 40_000):
        made = pages(size, random.Random(2))
        savings(f"generated, {size:,} B", [next(made) for _ in range(300)])
    corpora = Path(os.environ.get("GOSSAMER_CORPORA", ROOT.parent / "shared"))
    savings("many hosts (suites)", read(corpora.glob("suites/*/shared/**/*.html.gz")))
    savings("one host (fixtures/nba_bbref)", read(corpora.glob("fixtures/nba_bbref/*.html")))
    for folder in folders:
        savings(folder[-34:], read(path for path in Path(folder).rglob("*.html") if path.stat().st_size < 512 << 10))


def main() -> None:
    print(f"{'page':>8} {'':22} {'loop us':>8} {'CPU us':>8} {'wall us':>8} {'packed':>8}")
    with tempfile.TemporaryDirectory() as name:
        for size in (5_000, 40_000, 200_000):
            for busy in (False, True):
                loop, cpu, wall, stats = asyncio.run(measure(Path(name), size, busy))
                beside = "beside a busy loop" if busy else "alone"
                own = ("-", "-") if busy else (f"{loop:.0f}", f"{cpu:.0f}")
                packed = f"{stats.raw / stats.stored:.1f}x"
                print(f"{size:>8,} {beside:22} {own[0]:>8} {own[1]:>8} {wall:>8.0f} {packed:>8}", flush=True)
    dictionaries(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
