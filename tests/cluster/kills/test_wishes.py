"""What people want of runs that workers walk: cancel, pause, go on, budgets, and no more than so many workers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cluster.kills.stage import Stage

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]


def test_a_run_is_paused_goes_on_and_is_cancelled(tmp_path: Path) -> None:
    with Stage(tmp_path, pages=260) as stage:
        stage.workers(2)
        run = stage.start()
        stage.until_pages(run, 40)
        stage.gossamer("cluster", "pause", str(run))
        ended = stage.until_ended(run)
        assert (ended["state"], ended["reason"]) == ("stopped", "paused")
        pages = stage.pages_of(run)
        time.sleep(1.5)
        assert stage.pages_of(run) == pages
        assert stage.rows(f"select 1 from lease where run_id = {run} and owner is not null") == []
        stage.gossamer("cluster", "resume", str(run))
        stage.until_pages(run, pages + 40)
        stage.gossamer("cluster", "cancel", str(run))
        ended = stage.until_ended(run)
        assert (ended["state"], ended["reason"]) == ("cancelled", "cancelled")
        # The same command goes on with it, from any machine.
        assert stage.start() == run
        assert stage.check(run)["extra"] <= 2 * 6 * 2


def test_what_is_said_when_it_goes_on_holds_in_every_worker(tmp_path: Path) -> None:
    with Stage(tmp_path, hosts=2, pages=400) as stage:
        stage.workers(2)
        run = stage.start()
        stage.until_pages(run, 20)
        stage.gossamer("cluster", "cancel", str(run))
        stage.until_ended(run)
        before = len(stage.site.hits())
        assert stage.start("--rate", "2/s", "--per-host", "1") == run
        stage.until_pages(run, stage.pages_of(run) + 12)
        for address in stage.site.hosts:
            asked = [hit.at for hit in stage.site.hits()[before:] if hit.address == address]
            assert len(asked) > 3
            assert (asked[-1] - asked[0]) / (len(asked) - 1) > 0.45, "slower than before: 2/s, not 20/s"
        stage.gossamer("audit", str(run))


def test_a_budget_counts_over_all_workers(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.workers(2)
        run = stage.start("--max-pages", "50")
        ended = stage.until_ended(run)
        assert (ended["state"], ended["reason"]) == ("stopped", "max_pages")
        pages = stage.pages_of(run)
        assert 50 <= pages <= 50 + 2 * 6 * 2
        # Whoever goes on with it may allow another number; nobody who walked it before keeps to the first.
        assert stage.start("--max-pages", "120") == run
        assert stage.until_ended(run)["reason"] == "max_pages"
        assert pages + 120 <= stage.pages_of(run) <= pages + 120 + 2 * 6 * 2
        assert stage.start() == run
        stage.check(run)


def test_no_more_workers_walk_a_run_than_it_allows(tmp_path: Path) -> None:
    with Stage(tmp_path, knobs="workers = 1") as stage:
        stage.workers(2)
        run = stage.start()
        owners: set[str] = set()
        while stage.rows(f"select 1 from run where id = {run} and state in ('pending', 'running')"):
            held = stage.rows(f"select distinct owner from lease where run_id = {run} and shard >= 0 and owner <> ''")
            assert len(held) <= 1
            owners |= {owner for (owner,) in held}
        stage.check(run)
        assert owners
