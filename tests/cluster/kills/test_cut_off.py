"""A worker that cannot reach the database stops asking hosts before anybody else may begin to."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cluster.kills.stage import Stage
from tests.cluster.kills.wire import Wire

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]


def test_a_worker_that_is_cut_off_stops_before_its_lease_ends(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage, Wire(stage.postgres.port) as wire:
        through = stage.store.replace(f":{stage.postgres.port}/", f":{wire.port}/")
        stage.workers(1, environ={"GOSSAMER_STORE": through})
        run = stage.start()
        stage.until_pages(run, 60)
        wire.cut()
        cut = time.monotonic()
        time.sleep(stage.lease + 1.0)
        late = [hit.at - cut for asked in stage.hits().values() for hit in asked if hit.at > cut + stage.lease]
        assert late == []
        stage.workers(1)
        stage.check(run)
        wire.mend()


def test_others_go_on_with_what_it_walked_as_soon_as_its_leases_end(tmp_path: Path) -> None:
    """It hears tickets as ever: what it cannot do, it leaves to those who can."""
    with Stage(tmp_path, lease=8.0) as stage, Wire(stage.postgres.port) as wire:
        through = stage.store.replace(f":{stage.postgres.port}/", f":{wire.port}/")
        stage.workers(1, environ={"GOSSAMER_STORE": through})
        stage.workers(1)
        stage.beat()
        run = stage.start()
        stage.until_pages(run, 60)
        wire.cut()
        # Tickets that are lost come again after another lease: that would be twice as long, and more.
        assert stage.check(run)["silence"] < 2 * stage.lease
