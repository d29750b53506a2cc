"""`gossamer health`: exit code and sentence, for a service and for a worker."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer.storage import opening
from gossamer.testing import Site
from tests.conftest import Cli
from tests.databases import free_port, postgres_url
from tests.service.serving import Served

HERE = socket.gethostname()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    started = Served(tmp_path)
    yield started
    started.kill()


def test_a_service_that_answers_is_well(service: Served, gossamer: Cli) -> None:
    where = service.url.removeprefix("http://")
    done = gossamer("health", "--listen", where)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.strip() == f"the service at http://{where} says ok"
    done = gossamer("health", "--ready", "--listen", where)
    assert done.returncode == 0
    assert done.stderr.strip().endswith("says ready")
    # One that listens everywhere is asked on this machine.
    port = where.rpartition(":")[2]
    assert gossamer("health", GOSSAMER_LISTEN=f"0.0.0.0:{port}").returncode == 0


def test_where_nobody_listens_nothing_is_well(gossamer: Cli) -> None:
    done = gossamer("health", "--listen", str(free_port()))
    assert done.returncode == 1
    assert "there is no service that answers" in done.stderr
    assert "Traceback" not in done.stderr


def test_something_else_that_listens_is_not_well(site: Site, gossamer: Cli) -> None:
    where = site.url("/").removeprefix("http://").strip("/")
    done = gossamer("health", "--listen", where)
    assert done.returncode == 1
    assert "says 404" in done.stderr


def test_a_service_that_cannot_work_says_so(site: Site, gossamer: Cli) -> None:
    site.json("/readyz", {"status": "not ready"}, status=503)
    where = site.url("/").removeprefix("http://").strip("/")
    done = gossamer("health", "--ready", "--listen", where)
    assert done.returncode == 1
    assert "says not ready" in done.stderr


# -- a worker --------------------------------------------------------------------------------------------------

_BEAT = "insert into worker (name, pid, started, at, data) values (:name, 7, :at, :at, :data)"


async def _beat(store: str, rows: list[tuple[str, float, dict[str, Any]]]) -> None:
    async with opening.desk(store) as desk, desk.writing() as writing:
        for name, age, data in rows:
            await writing.run(_BEAT, name=name, at=time.time() - age, data=json.dumps(data))


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        path = str(tmp_path / "store.db")
        asyncio.run(_beat(path, []))
        return path
    return postgres_url()


WORKER = {"kind": "worker"}


@pytest.mark.parametrize(
    ("rows", "code", "told"),
    [
        ([], 1, f"no worker of {HERE} is known to the store"),
        ([(f"{HERE}:12:abc", 2.0, WORKER)], 0, f"the worker {HERE}:12 was heard of "),
        ([(f"{HERE}:12:abc", 90.0, WORKER)], 1, f"the worker {HERE}:12 was last heard of 9"),
        # One that was killed is remembered for a while, and another lives.
        ([(f"{HERE}:12:abc", 90.0, WORKER), (f"{HERE}:13:def", 1.0, WORKER)], 0, f"the worker {HERE}:13"),
        # Other machines, also those whose name begins alike; and what is no worker.
        ([("elsewhere:12:abc", 1.0, WORKER), (f"{HERE}2:12:abc", 1.0, WORKER)], 1, "no worker of"),
        ([(f"{HERE}:12", 1.0, {"kind": "runner"})], 1, "no worker of"),
    ],
)
def test_a_worker_is_well_if_it_was_heard_of(
    rows: list[tuple[str, float, dict[str, Any]]], code: int, told: str, store: str, gossamer: Cli
) -> None:
    asyncio.run(_beat(store, rows))
    done = gossamer("health", "--worker", "--store", store)
    assert told in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_store_that_is_not_there_is_no_proof_of_life(gossamer: Cli) -> None:
    done = gossamer("health", "--worker", "--store", "nowhere.db")
    assert done.returncode == 1
    assert f"nobody knows whether a worker of {HERE} lives" in done.stderr
