"""What the cluster costs and brings: PostgreSQL at scale, two workers against one, a page in a worker, an idle cluster.

`python -m bench.cluster` measures all of it and writes bench/CLUSTER.md; `python -m bench.cluster store idle` only
these, and leaves the rest of that file as it is. It takes PostgreSQL and Redis as the tests do. The store is measured
with 10,000,000 rows, which takes some minutes and 8 GB below /tmp; `--rows 1000000` is quicker.
"""

import argparse
import datetime
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from bench import cluster_store, cluster_workers
from bench.report import commit, machine

RESULTS = Path(__file__).with_name("CLUSTER.md")
TITLES = {
    "store": "A long frontier in PostgreSQL",
    "workers": "Two workers against one",
    "cpu": "What a page costs in a worker",
    "idle": "A cluster with nothing to do",
}


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    asked.add_argument("parts", nargs="*", help=f"what to measure, of {', '.join(TITLES)} [all]")
    asked.add_argument("--rows", type=int, default=cluster_store.SIZES[-1], help="rows of the long frontier")
    given = asked.parse_args()
    if unknown := set(given.parts) - set(TITLES):
        asked.error(f"{', '.join(sorted(unknown))}: there are {', '.join(TITLES)}")
    missed: list[str] = []
    for part in given.parts or TITLES:
        text, misses = MEASURES[part](given.rows)
        missed += misses
        print(f"\n## {TITLES[part]}\n\n{without_plans(text)}\n", flush=True)
        keep(part, text)
    for miss in missed:
        print(f"missed: {miss}")
    return 1 if missed else 0


def store(rows: int) -> tuple[str, list[str]]:
    found = cluster_store.run((cluster_store.SIZES[0], rows))
    return cluster_store.report(found), cluster_store.misses(found)


def workers(rows: int) -> tuple[str, list[str]]:
    found = cluster_workers.two_against_one()
    times = found[-1].pace / found[0].pace
    missed = [] if times >= cluster_workers.FASTER else [f"two workers bring {times:.2f} times as much as one"]
    return cluster_workers.report_waiting(found), missed


def cpu(rows: int) -> tuple[str, list[str]]:
    found = cluster_workers.worker_against_engine()
    share = found[-1].per_core / found[0].per_core
    missed = [] if share >= cluster_workers.PER_CORE else [f"a core in a worker brings {share:.0%} of the engine's"]
    return cluster_workers.report_busy(found), missed


def idle(rows: int) -> tuple[str, list[str]]:
    return cluster_workers.report_idle(cluster_workers.idle()), []


MEASURES: dict[str, Callable[[int], tuple[str, list[str]]]] = {
    "store": store,
    "workers": workers,
    "cpu": cpu,
    "idle": idle,
}


def keep(part: str, text: str) -> None:
    """Write one part of the results, and leave the others as they are."""
    known = dict(re.findall(r"(?ms)^## ([^\n]+)\n+(.*?)(?=^## |\Z)", RESULTS.read_text() if RESULTS.exists() else ""))
    # Other work on the machine shows in every number: whoever reads them should know.
    load = f"{os.getloadavg()[1]:.1f} processes wanted its cores, on average over five minutes"
    known[TITLES[part]] = f"{datetime.datetime.now():%Y-%m-%d %H:%M}, {machine()}, commit {commit()}; {load}.\n\n{text}"
    told = [f"## {title}\n\n{known[title].strip()}\n" for title in TITLES.values() if title in known]
    RESULTS.write_text("# The cluster in numbers\n\nWritten by `python -m bench.cluster`.\n\n" + "\n".join(told))


def without_plans(text: str) -> str:
    return text.partition("\nPlans at")[0].rstrip()


if __name__ == "__main__":
    sys.exit(main())
