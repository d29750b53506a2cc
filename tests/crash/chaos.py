"""Kill crawls again and again, let them go on, and compare: `python -m tests.crash.chaos --kills 500`.

A job is a real `gossamer` command against a site in another process. It is run once without trouble, and then in
rounds: started on a fresh store, killed with SIGKILL at some moment, started again by the same command, until it
completes. What is then in the store must be what the quiet run left, and the site must not have been asked for
more than was in flight when the kills came.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gossamer.errors import StoreError
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Wanted

ROOT = Path(__file__).parent.parent.parent
GOSSAMER = str(Path(sys.executable).with_name("gossamer"))
#: Requests at the same time.
WIDTH = 8
#: A command that takes longer than this, in seconds, hangs.
TOO_LONG = 60.0

_RESUMED = re.compile(r"resuming run \d+: [\d,]+ done, [\d,]+ waiting, ([\d,]+) were in flight")


# -- the site --------------------------------------------------------------------------------------------------


class Place:
    """The site, running: where it is, and what it was asked."""

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log = log.open("rb")
        self._rest = b""
        self._paths: Counter[str] = Counter()

    def again(self) -> None:
        """Let the site begin anew: first tries fail again, and nothing was asked yet."""
        with urllib.request.urlopen(self.url + "/-/again", timeout=10) as answer:
            answer.read()
        self.asked()
        self._paths.clear()

    def asked(self) -> Counter[str]:
        """How often each path was asked for; robots.txt, which every start asks for, left out."""
        # The last line may be there in part: its end comes with the next reading.
        *lines, self._rest = (self._rest + self._log.read()).split(b"\n")
        self._paths.update(json.loads(line)["path"] for line in lines)
        del self._paths["/robots.txt"]
        return self._paths.copy()

    def close(self) -> None:
        """Read no more."""
        self._log.close()


@contextmanager
def serving(folder: Path) -> Iterator[Place]:
    """The site of tests/crash/site.py, in a process of its own."""
    log = folder / "site.log"
    log.touch()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.site", "--log", str(log)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with closing(Place(process.stdout.readline().strip(), log)) as place:
            yield place
        process.stdin.close()


# -- a job, and what it leaves ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command that fills a store."""

    name: str
    args: tuple[str, ...]

    def start(self, store: Path, **options: Any) -> subprocess.Popen[str]:
        """Start it; its stderr goes to a file beside the store."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("GOSSAMER_")}
        with told(store).open("a") as stderr:
            return subprocess.Popen(
                [GOSSAMER, *self.args, "--store", str(store)],
                cwd=store.parent,
                stdout=subprocess.DEVNULL,
                text=True,
                env=env,
                **{"stderr": stderr, **options},
            )


def told(store: Path) -> Path:
    """What the commands on a store wrote to stderr."""
    return store.with_suffix(".stderr")


def jobs(place: Place) -> list[Job]:
    """A crawl without code, and a scraper that uses what scrapers can."""
    pace = ("--rate", "none", "--per-host", str(WIDTH), "--concurrency", str(WIDTH))
    scraper = str(ROOT / "tests" / "crash" / "shop.py")
    return [
        Job(name="crawl", args=("crawl", place.url + "/p/0", *pace)),
        Job(name="shop", args=("run", scraper, "--param", f"at={place.url}", *pace)),
    ]


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a run left in its store. Counted, not collected: nothing may be there twice."""

    pages: Counter[tuple[Any, ...]]
    items: Counter[tuple[str, str, str]]
    counters: dict[str, Any]

    def differs(self, other: Left) -> list[str]:
        """In what it differs from what the quiet run left, as sentences."""
        found = []
        for what in ("pages", "items"):
            ours, theirs = getattr(self, what), getattr(other, what)
            found += [f"{what}: lost {n} x {row}" for row, n in (theirs - ours).items()]
            found += [f"{what}: {n} too many of {row}" for row, n in (ours - theirs).items()]
        for name, value in self.counters.items():
            if value != other.counters[name]:
                found.append(f"{name}: {value}, and {other.counters[name]} without kills")
        return found


async def _left(path: Path) -> Left:
    async with SqliteStore(str(path), owner=False) as store:
        runs = await store.runs()
        assert len(runs) == 1, f"{len(runs)} runs in the store, which should be one"
        run = runs[0]
        names = ("url", "state", "reason", "status", "depth")
        pages = Counter([tuple(page[name] for name in names) async for page in store.pages()])
        items: Counter[tuple[str, str, str]] = Counter()
        async for item in store.items(Wanted()):
            record = item.record()
            record.pop("fetched_at", None)
            items[item.kind, item.key, json.dumps(record, sort_keys=True)] += 1
        counters = {name: getattr(run, name) for name in ("state", "reason", "pages", "items", "failed", "skipped")}
        counters |= {"settled": run.settled, "by_reason": run.by_reason}
        return Left(pages=pages, items=items, counters=counters | {"waiting": (await store.pending(run.id)).waiting})


def left(store: Path) -> Left:
    """What is in a store, which must hold exactly one run."""
    return asyncio.run(_left(store))


def finished(store: Path) -> bool:
    """Whether the run in a store is over: a kill may come after its last word was written."""

    async def state() -> str:
        async with SqliteStore(str(store), owner=False) as opened:
            found = await opened.runs()
            return found[0].state if found else "none"

    try:
        return asyncio.run(state()) == "finished"
    except StoreError:
        return False


@dataclass(frozen=True, kw_only=True)
class Quiet:
    """A job run without trouble: what every other run of it is held against."""

    left: Left
    asked: Counter[str]
    seconds: float


def quiet_run(job: Job, place: Place, store: Path) -> Quiet:
    """Run a job to its end on a fresh store."""
    place.again()
    began = time.monotonic()
    code = job.start(store).wait(TOO_LONG)
    seconds = time.monotonic() - began
    assert code == 0, told(store).read_text()
    return Quiet(left=left(store), asked=place.asked(), seconds=seconds)


# -- killing ---------------------------------------------------------------------------------------------------

Moment = Callable[[], bool]


def after(seconds: float, event: Moment = lambda: True) -> Moment:
    """The moment so many seconds after something was first seen."""
    since: list[float] = []

    def now() -> bool:
        if not since and event():
            since.append(time.monotonic())
        return bool(since) and time.monotonic() - since[0] >= seconds

    return now


def moments(rng: random.Random, store: Path, place: Place, quiet: Quiet) -> Iterator[Moment]:
    """Moments to kill at: any, but also those where a store is made, a run begins, and a run ends."""
    yield after(rng.uniform(0, 0.03), store.exists)
    if rng.random() < 0.3:
        yield after(rng.uniform(0, 0.06), store.exists)
    while True:
        draw = rng.random()
        if draw < 0.2:
            yield after(rng.uniform(0.2, 0.7))
        elif draw < 0.4:
            yield after(rng.uniform(0, 0.15), lambda: not quiet.asked - place.asked())
        else:
            yield after(rng.uniform(0, quiet.seconds))


def strike(process: subprocess.Popen[str], moment: Moment) -> bool:
    """Kill a process at its moment. False if it ended before by itself, as it must: with code 0."""
    deadline = time.monotonic() + TOO_LONG
    try:
        while process.poll() is None and not moment():
            assert time.monotonic() < deadline, f"the command did not end within {TOO_LONG:g} s"
            time.sleep(0.001)
    finally:
        process.kill()
        code = process.wait()
    assert code in (0, -signal.SIGKILL), f"the command ended with code {code}"
    return code != 0


@dataclass(kw_only=True)
class Round:
    """How one store fared, from its first start to completion."""

    kills: int = 0
    #: Requests the site got beyond what the quiet run asked for.
    extra: int = 0
    #: What the resume lines told to have been in flight, summed up.
    told: int = 0
    differences: list[str] = field(default_factory=list)


def round_of_kills(job: Job, place: Place, quiet: Quiet, store: Path, rng: random.Random, most: int) -> Round:
    """Kill a job until it completes, at most so many times; then compare."""
    place.again()
    result = Round()
    try:
        for moment in moments(rng, store, place, quiet):
            if not strike(job.start(store), moment if result.kills < most else lambda: False):
                break
            result.kills += 1
            if not quiet.asked - place.asked() and finished(store):
                break
        result.differences += left(store).differs(quiet.left)
    except AssertionError as wrong:
        result.differences.append(str(wrong))
    asked = place.asked()
    result.extra = (asked - quiet.asked).total()
    # A kill costs what was being fetched, and what was walked but not settled: no more of it than of the other.
    if result.extra > result.kills * 2 * WIDTH:
        result.differences.append(f"{result.extra} requests too many, which is more than was in flight")
    result.differences += [f"{path}: asked {n} times less" for path, n in (quiet.asked - asked).items()]
    stderr = told(store).read_text()
    result.told = sum(int(n.replace(",", "")) for n in _RESUMED.findall(stderr))
    if "Traceback" in stderr or "gossamer: " in stderr:
        result.differences.append(f"it said: {stderr[-2000:]}")
    return result


def rounds_of_kills(
    job: Job, place: Place, quiet: Quiet, folder: Path, rng: random.Random, kills: int
) -> Iterator[Round]:
    """Rounds of one job, until it was killed so many times or one went wrong, whose store is then kept."""
    done = 0
    while done < kills:
        store = Path(tempfile.mkdtemp(dir=folder)) / "store.db"
        result = round_of_kills(job, place, quiet, store, rng, kills - done)
        done += result.kills
        yield result
        if result.differences:
            return
        shutil.rmtree(store.parent)


def main() -> int:
    """Kill, tell, and say at the end whether all was well."""
    parser = argparse.ArgumentParser(description="Kill crawls again and again, and compare what is left.")
    parser.add_argument("--kills", type=int, default=500, help="how many SIGKILLs, over all jobs")
    parser.add_argument("--seed", type=int, default=None, help="the same seed draws the same moments")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 32)
    folder = Path(tempfile.mkdtemp(prefix="gossamer-chaos-"))
    began = time.monotonic()
    rounds: list[Round] = []
    with serving(folder) as place:
        chosen = jobs(place)
        share, more = divmod(args.kills, len(chosen))
        wanted = [share + (n < more) for n in range(len(chosen))]
        works = []
        for job, n in zip(chosen, wanted, strict=True):
            quiet = quiet_run(job, place, folder / f"{job.name}.db")
            works.append(rounds_of_kills(job, place, quiet, folder, random.Random(f"{seed} {job.name}"), n))
        # One round of each in turn: a job needs the site for itself.
        for result in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*works))):
            rounds.append(result)
            kills = sum(r.kills for r in rounds)
            print(f"{time.monotonic() - began:6.0f} s  {kills:4d} kills  {len(rounds):3d} rounds", flush=True)
            for difference in result.differences[:20]:
                print(f"    {difference}", flush=True)
    bad = sum(bool(r.differences) for r in rounds)
    kills, extra, in_flight = (sum(getattr(r, name) for r in rounds) for name in ("kills", "extra", "told"))
    verdict = f"{bad} DIFFER (kept in {folder})" if bad else "each equal to the quiet run"
    print(
        f"{kills} kills in {len(rounds)} rounds, {time.monotonic() - began:.0f} s, seed {seed}: {verdict}; "
        f"{extra} pages fetched again ({extra / max(kills, 1):.1f} a kill, {WIDTH} at a time), "
        f"{in_flight} were told to be in flight"
    )
    if not bad:
        shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
