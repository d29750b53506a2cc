"""What can go wrong in a cluster, done on purpose in the middle of a run. Each is given a stage with two workers."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

from gossamer import settings, workers
from tests.cluster.kills.stage import Stage

#: Pages after which a fault comes.
EARLY = 60


def none(stage: Stage, run: int) -> None:
    """No fault at all, to compare with."""


def kill_a_worker(stage: Stage, run: int) -> None:
    """kill -9 of one of two workers."""
    stage.until_pages(run, EARLY)
    stage.kill_worker(0)


def kill_all_workers(stage: Stage, run: int) -> None:
    """kill -9 of all workers; a new one is started."""
    stage.until_pages(run, EARLY)
    stage.kill_worker(0)
    stage.kill_worker(1)
    stage.workers(1)


def kill_beat(stage: Stage, run: int) -> None:
    """kill -9 of beat, and later of a worker: nobody else looks for lost work every second."""
    stage.until_pages(run, EARLY)
    stage.stop_beat()
    stage.kill_worker(1)


def kill_service(stage: Stage, run: int) -> None:
    """kill -9 of the service that dispatches, and later of a worker."""
    stage.until_pages(run, EARLY)
    stage.service.kill()
    stage.kill_worker(1)


def sleep_past_the_lease(stage: Stage, run: int) -> None:
    """SIGSTOP of a worker for longer than its lease, and back."""
    stage.until_pages(run, EARLY)
    stage.signal_station(0, signal.SIGSTOP)
    time.sleep(stage.lease + 2.5)
    stage.signal_station(0, signal.SIGCONT)


def flush_redis(stage: Stage, run: int) -> None:
    """FLUSHALL, several times: all tickets are lost."""
    stage.until_pages(run, EARLY)
    for _ in range(3):
        stage.redis.flush()
        time.sleep(0.3)


def restart_redis(stage: Stage, run: int) -> None:
    """Redis dies, with all data, and is back three seconds later."""
    stage.until_pages(run, EARLY)
    stage.redis.kill()
    time.sleep(3.0)
    stage.redis.start()


def restart_postgres(stage: Stage, run: int) -> None:
    """PostgreSQL is stopped at once, as by a crash, and started again."""
    stage.until_pages(run, EARLY)
    stage.postgres.restart()


def deliver_five_times(stage: Stage, run: int) -> None:
    """Every ticket is delivered five times more, until the run is over."""
    publish = workers.publisher(settings.read(folder=stage.folder, environ={}).place)
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(0.3):
            found = stage.rows(f"select run_id, shard from lease where run_id = {run}")
            publish([(int(of), int(shard), 0) for of, shard in found] * 5)

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        stage.until_ended(run)
    finally:
        over.set()
        thread.join()
        publish.close()


ALL_KILLED = "kill -9 of all workers"
#: Name -> what is done.
FAULTS: dict[str, Callable[[Stage, int], None]] = {
    "no fault": none,
    "kill -9 of a worker": kill_a_worker,
    ALL_KILLED: kill_all_workers,
    "kill -9 of beat, then of a worker": kill_beat,
    "SIGSTOP past the lease, and back": sleep_past_the_lease,
    "Redis FLUSHALL": flush_redis,
    "Redis restarted, all data lost": restart_redis,
    "PostgreSQL restarted at once": restart_postgres,
    "every ticket five times more": deliver_five_times,
}
