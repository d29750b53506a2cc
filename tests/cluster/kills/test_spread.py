"""One host that is spread over workers meets one pace, kept by all of them together."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.kills.stage import Stage

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]


def test_two_workers_ask_one_host_no_faster_than_told(tmp_path: Path) -> None:
    with Stage(tmp_path, hosts=1, pages=150, knobs="spread = 4") as stage:
        stage.workers(2)
        run = stage.start()
        together = 0
        while stage.rows(f"select 1 from run where id = {run} and state in ('pending', 'running')"):
            held = stage.rows(f"select distinct owner from lease where run_id = {run} and shard >= 0 and owner <> ''")
            together = max(together, len(held))
        stage.check(run)
        assert together == 2
        assert len(stage.rows(f"select distinct shard from request where run_id = {run}")) == 4
