"""A broker that loses, doubles and forgets: tickets are only hints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.kills import faults
from tests.cluster.kills.stage import Stage
from tests.databases import rabbitmq

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]


def test_all_tickets_are_lost_and_doubled_and_beat_is_killed(tmp_path: Path) -> None:
    with Stage(tmp_path, pages=100) as stage:
        stage.workers(2)
        stage.beat()
        stage.beat()  # two of them do no harm
        run = stage.start()
        faults.flush_redis(stage, run)
        stage.stop_beat()
        faults.restart_redis(stage, run)
        faults.deliver_five_times(stage, run)
        assert stage.check(run)["extra"] == 0


def test_plain_celery_with_greenlets_on_rabbitmq(tmp_path: Path) -> None:
    broker = rabbitmq()
    broker.forget("gossamer", "gossamer.beat")
    with Stage(tmp_path, broker=broker.url, pages=40) as stage:
        stage.celery("--pool=gevent", "--concurrency=50")
        stage.workers(1)
        run = stage.start()
        assert stage.check(run)["extra"] == 0


def test_a_worker_is_killed_and_rabbitmq_loses_all_tickets(tmp_path: Path) -> None:
    broker = rabbitmq()
    broker.forget("gossamer", "gossamer.beat")
    with Stage(tmp_path, broker=broker.url) as stage:
        stage.workers(2)
        stage.beat()
        run = stage.start()
        stage.until_pages(run, faults.EARLY)
        broker.purge("gossamer", "gossamer.beat")
        stage.kill_worker(0)
        stage.check(run)
