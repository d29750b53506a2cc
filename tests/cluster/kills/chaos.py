"""`make chaos-cluster`: every fault by itself, on longer runs, with figures written to bench/RESULTS.md.

Each row is a new cluster: PostgreSQL, Redis, two workers and beat. A row that does not keep every promise ends it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.cluster.kills import faults
from tests.cluster.kills.stage import PER_HOST, RATE, Stage
from tests.cluster.kills.wire import Wire

RESULTS = Path(__file__).parents[3] / "bench" / "RESULTS.md"
HEADING = "## A cluster that is broken on purpose"
#: Hosts, pages of each, and the seconds of a lease.
HOSTS, PAGES, LEASE = 12, 150, 10.0
#: The row of the URL that kills.
POISON = "a URL that kills its worker (1 given up)"


def main() -> None:
    """Run all rows, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", help="parts of their names")
    parser.add_argument("--dry", action="store_true", help="write nothing down")
    asked = parser.parse_args()
    rows = [name for name in ROWS if not asked.rows or any(part in name for part in asked.rows)]
    lines, late = [], []
    for name in rows:
        began = time.monotonic()
        figures = ROWS[name]()
        seconds = time.monotonic() - began
        line = f"| {name} | 0 | {figures['extra']:.0f} | {figures['silence']:.1f} s | {figures['to_end']:.2f} s |"
        lines.append(line)
        print(f"{line}  ({seconds:.0f} s)", flush=True)
        late += [f"{name}: {what}" for what in too_late(name, figures)]
    if not asked.dry and rows == list(ROWS):
        write(lines)
    if late:
        raise SystemExit("later than promised:\n  " + "\n  ".join(late))


def too_late(name: str, figures: dict[str, float]) -> list[str]:
    """What took longer than is promised: others take over within a lease and two seconds, and a run ends in one."""
    found = [f"the run ended {figures['to_end']:.2f} s after its last page"] if figures["to_end"] > 1.0 else []
    # Where all workers were killed, at once or one after the other, nobody is there before one is started again.
    if figures["silence"] > LEASE + 2.0 and name not in (faults.ALL_KILLED, POISON):
        found.append(f"a host was left alone for {figures['silence']:.1f} s")
    return found


def row(fault: Callable[[Stage, int], None]) -> Callable[[], dict[str, float]]:
    """A row of the table: two workers and beat, one fault in the middle of a run."""

    def play() -> dict[str, float]:
        with tempfile.TemporaryDirectory(prefix="gossamer-chaos-") as folder:
            stage = Stage(Path(folder), hosts=HOSTS, pages=PAGES, lease=LEASE, own_postgres=True)
            with stage:
                stage.workers(2)
                stage.beat()
                run = stage.start()
                fault(stage, run)
                return stage.check(run)

    return play


def dispatcher() -> dict[str, float]:
    """The service hands runs to workers instead of beat, and is killed."""
    with tempfile.TemporaryDirectory(prefix="gossamer-chaos-") as folder:
        stage = Stage(Path(folder), hosts=HOSTS, pages=PAGES, lease=LEASE, own_postgres=True)
        with stage:
            stage.workers(2)
            run = stage.serve()
            faults.kill_service(stage, run)
            return stage.check(run)


def poison() -> dict[str, float]:
    """A URL that ends every worker that walks it."""
    with tempfile.TemporaryDirectory(prefix="gossamer-chaos-") as folder:
        stage = Stage(Path(folder), hosts=HOSTS, pages=60, lease=5.0, poison=[59], own_postgres=True)
        with stage:
            stage.workers(2)
            stage.beat()
            return stage.check(stage.start(), dead=1)


def cut_off() -> dict[str, float]:
    """A worker that cannot reach the database."""
    with tempfile.TemporaryDirectory(prefix="gossamer-chaos-") as folder:
        stage = Stage(Path(folder), hosts=HOSTS, pages=PAGES, lease=LEASE, own_postgres=True)
        with stage, Wire(stage.postgres.port) as wire:
            through = stage.store.replace(f":{stage.postgres.port}/", f":{wire.port}/")
            stage.workers(1, environ={"GOSSAMER_STORE": through})
            stage.workers(1)
            stage.beat()
            run = stage.start()
            stage.until_pages(run, faults.EARLY)
            wire.cut()
            return stage.check(run)


#: Name -> what is done; returns figures.
ROWS: dict[str, Callable[[], dict[str, float]]] = {
    **{name: row(fault) for name, fault in faults.FAULTS.items()},
    "kill -9 of the service, then of a worker": dispatcher,
    "a worker cut off from PostgreSQL": cut_off,
    POISON: poison,
}


def write(lines: list[str]) -> None:
    """Put the table in its place in bench/RESULTS.md."""
    when = time.strftime("%Y-%m-%d")
    head = [
        HEADING,
        "",
        f"`make chaos-cluster`, {when}: {HOSTS} hosts, {PAGES} pages each, at most {promised()}, two workers and",
        f"beat, lease {LEASE:g} s, one machine of two cores. In every row: nothing lost, every item once, no host",
        "above its limits by the site's own clock, the audit clean, no deadlock.",
        "",
        "| fault | lost | fetched again | longest silence of a host | last answer to end |",
        "|---|---|---|---|---|",
        *lines,
        "",
    ]
    text = RESULTS.read_text("utf-8") if RESULTS.exists() else "# Results\n"
    before, found, after = text.partition(HEADING)
    rest = after.partition("\n## ")[2] if found else ""
    text = before.rstrip() + "\n\n" + "\n".join(head) + (f"\n## {rest}" if rest else "")
    RESULTS.write_text(text, "utf-8")


def promised() -> str:
    """What each host is promised."""
    return f"{RATE}/s and {PER_HOST} at a time"


if __name__ == "__main__":
    main()
