"""Workers, beat, broker and database are killed, stopped and emptied in the middle of a run: nothing is lost.

`make chaos-cluster` does the same on longer runs, each fault by itself, and writes down how long it took.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.kills import faults
from tests.cluster.kills.stage import Stage

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]

#: Seconds beyond a lease in which orphaned work goes on, on a busy machine; the long form measures it.
TAKEOVER = 6.0


def test_a_worker_is_killed(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.workers(2)
        run = stage.start()
        faults.kill_a_worker(stage, run)
        figures = stage.check(run)
        assert figures["silence"] < stage.lease + TAKEOVER
        assert figures["to_end"] < 3.0


def test_all_workers_are_killed_and_new_ones_go_on(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.workers(2)
        run = stage.start()
        faults.kill_all_workers(stage, run)
        stage.check(run)


def test_the_service_that_dispatches_is_killed_and_a_worker_too(tmp_path: Path) -> None:
    """Whoever is left looks for lost work too."""
    with Stage(tmp_path) as stage:
        stage.workers(2)
        run = stage.serve()
        faults.kill_service(stage, run)
        assert stage.check(run)["silence"] < stage.lease + TAKEOVER


def test_a_worker_sleeps_past_its_lease_and_comes_back(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.workers(2)
        run = stage.start()
        faults.sleep_past_the_lease(stage, run)
        stage.check(run)


def test_the_only_worker_sleeps_past_its_lease_and_goes_on_at_once(tmp_path: Path) -> None:
    """What it had is nobody's, and it does not keep itself from it."""
    with Stage(tmp_path, lease=8.0) as stage:
        stage.workers(1)
        stage.beat()
        run = stage.start()
        faults.sleep_past_the_lease(stage, run)
        assert stage.check(run)["silence"] < 2 * stage.lease


def test_the_database_is_stopped_as_by_a_crash(tmp_path: Path) -> None:
    with Stage(tmp_path, own_postgres=True) as stage:
        stage.workers(2)
        run = stage.start()
        faults.restart_postgres(stage, run)
        stage.check(run)
