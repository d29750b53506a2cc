"""What people ask of runs that others walk: pause, resume, cancel, which goes first, and how many workers it has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer import asking, registry
from gossamer.errors import NotFound, NotPossible, Refused
from gossamer.storage.desk import Desk
from gossamer.testing import Site
from gossamer.trail import Asker
from tests.cluster.staging import add_lease, add_requests, add_run, on
from tests.conftest import Cli
from tests.service.conftest import SCRAPERS, Served
from tests.service.test_runner import ended, quotes, runner, scraper, start

ANNA = Asker("anna", "api")


async def state(desk: Desk, run: int = 1) -> tuple[Any, ...]:
    row = await desk.row("select state, reason, wanted from run where id = :run", run=run)
    assert row is not None
    return row


# -- pause and resume --------------------------------------------------------------------------------------------


def test_a_run_that_waits_is_paused_at_once_and_resumed(store: str) -> None:
    async def work(desk: Desk) -> None:
        await add_run(desk, 1, "pending", pages=7)
        await add_requests(desk, 1, 3)
        await add_lease(desk, 1, 3, None, ticket_at=5.0)
        await asking.pause_run(desk, 1, by=ANNA)
        assert await state(desk) == ("stopped", "paused", "")
        assert await desk.row("select runs, successes, failures from scraper") == (1, 0, 0)
        with pytest.raises(NotPossible, match="paused already"):
            await asking.pause_run(desk, 1, by=ANNA)
        await asking.resume(desk, 1, by=ANNA)
        assert await state(desk) == ("pending", "", "")
        # Budgets count from where somebody began it last.
        assert await desk.row("select begun_pages, options from run") == (7, "{}")
        if desk.dialect.shared:  # workers are told anew, and not when the old ticket is given up
            assert await desk.row("select ticket_at from lease") == (None,)
        assert await desk.row("select runs from scraper") == (0,)
        told = await desk.rows("select action, target, who from trail order by id")
        assert told == [("run.pause", "1", "anna"), ("run.resume", "1", "anna")]

    on(store, work)


def test_a_run_that_goes_on_is_asked_to_pause(store: str) -> None:
    async def work(desk: Desk) -> None:
        await add_run(desk, 1, "running")
        await add_run(desk, 2, "running", scraper="art", via="cli")  # `gossamer run --cluster`
        for run in (1, 2):
            await asking.pause_run(desk, run, by=ANNA)
            assert await state(desk, run) == ("running", "", "pause")
            with pytest.raises(NotPossible, match="about to pause"):
                await asking.resume(desk, run, by=ANNA)
        await asking.cancel(desk, 1, by=ANNA)
        assert await state(desk) == ("running", "", "cancel")
        with pytest.raises(NotPossible, match="being cancelled"):
            await asking.pause_run(desk, 1, by=ANNA)

    on(store, work)


def test_a_run_in_a_terminal_is_paused_there(store: str) -> None:
    async def work(desk: Desk) -> None:
        await add_run(desk, 1, "running", via="cli", cluster=0)
        with pytest.raises(NotPossible, match="walked in a terminal"):
            await asking.pause_run(desk, 1, by=ANNA)
        with pytest.raises(NotFound):
            await asking.pause_run(desk, 99, by=ANNA)

    on(store, work)


def test_a_host_that_goes_on_takes_no_run_with_it_that_somebody_paused(store: str) -> None:
    async def work(desk: Desk) -> None:
        for run, name in ((1, "shop"), (2, "art")):
            await add_run(desk, run, "pending", scraper=name)
            await add_requests(desk, run, 3)
        await asking.pause_run(desk, 1, by=ANNA)
        async with desk.writing() as writing:  # it ended by itself: all that was left was of the paused host
            await writing.run("update run set state = 'stopped', reason = 'paused' where id = 2")
        await asking.pause_host(desk, "host3.example", False, by=ANNA)
        assert await state(desk, 1) == ("stopped", "paused", "")
        assert await state(desk, 2) == ("pending", "", "")

    on(store, work)


def test_a_run_of_workers_keeps_others_of_its_scraper_from_starting(store: str, tmp_path: Path) -> None:
    (tmp_path / "shelf.py").write_text(SCRAPERS)
    found = registry.load_all(str(tmp_path / "shelf.py"))[0]

    async def work(desk: Desk) -> None:
        await add_run(desk, 1, "running", scraper=found.scraper.name, via="cli")
        with pytest.raises(NotPossible):
            await asking.start(desk, found, by=ANNA)
        with pytest.raises(NotPossible, match="running already"):
            await asking.resume(desk, 1, by=ANNA)

    on(store, work)


def test_whoever_walks_a_run_heeds_a_pause(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 30)
    run = start(store, scraper(site, tmp_path, rate="20/s"))
    with runner(store):
        ended(store, run, "running")
        on(store, lambda desk: asking.pause_run(desk, run, by=ANNA))
        _, reason, pages, _ = ended(store, run, "stopped")
        assert (reason, pages < 30) == ("paused", True)
        assert on(store, lambda desk: state(desk, run)) == ("stopped", "paused", "")
        on(store, lambda desk: asking.resume(desk, run, by=ANNA))
        assert ended(store, run, "finished") == ("finished", "done", 30, 30)
    assert [hit.path for hit in site.hits if hit.path != "/robots.txt"] == ["/", *(f"/{n}" for n in range(1, 30))]


# -- which goes first, and how many ------------------------------------------------------------------------------


def test_priority_and_workers_are_written_with_their_lines_in_the_trail(store: str) -> None:
    async def work(desk: Desk) -> None:
        await add_run(desk, 1)
        await asking.set_priority(desk, 1, -9, by=ANNA)
        await asking.set_workers(desk, 1, 3, by=ANNA)
        assert await desk.row("select priority, workers from run") == (-9, 3)
        await asking.set_workers(desk, 1, None, by=ANNA)
        assert await desk.row("select priority, workers from run") == (-9, None)
        for n in (-10, 10):
            with pytest.raises(Refused, match="cannot be a priority"):
                await asking.set_priority(desk, 1, n, by=ANNA)
        for n in (0, -1, 10**9):
            with pytest.raises(Refused, match="cannot be a limit"):
                await asking.set_workers(desk, 1, n, by=ANNA)
        for asked in (asking.set_priority(desk, 9, 1, by=ANNA), asking.set_workers(desk, 9, 1, by=ANNA)):
            with pytest.raises(NotFound):
                await asked
        told = await desk.rows("select action, detail from trail order by id")
        assert [action for action, _ in told] == ["run.priority", "run.workers", "run.workers"]
        assert [json.loads(detail)["workers"] for _, detail in told[1:]] == [3, "none"]

    on(store, work)


# -- doors -------------------------------------------------------------------------------------------------------


@pytest.fixture
def served(store: str, tmp_path: Path) -> Iterator[Served]:
    """A service on a store of each kind."""
    (tmp_path / "shelf.py").write_text(SCRAPERS)
    made = Served(tmp_path, {"store": store})
    made.start()
    yield made
    made.stop()


def test_the_api_asks_for_it(served: Served) -> None:
    served.call(lambda service: add_run(service.desk, 1, "running"))
    with served.client("run") as api:
        answer = api.post("/api/runs/1/pause")
        assert (answer.status_code, answer.json()["run"]) == (202, 1)
        assert api.get("/api/runs/1").json()["wanted"] == "pause"
        assert api.post("/api/runs/1/resume").status_code == 409
        assert api.patch("/api/runs/1/priority", json={"priority": 9}).status_code == 200
        assert api.patch("/api/runs/1/workers", json={"workers": 2}).status_code == 200
        told = api.get("/api/runs/1").json()
        assert (told["cluster"], told["priority"], told["workers"]) == (True, 9, 2)
        assert api.patch("/api/runs/1/workers", json={"workers": None}).json()["message"].endswith("as there are")
        wrong: list[tuple[str, dict[str, Any]]] = [
            ("priority", {"priority": 10}),
            ("priority", {"priority": "high"}),
            ("priority", {}),
            ("workers", {}),
            ("workers", {"workers": 0}),
            ("workers", {"workers": 1, "more": 1}),
        ]
        for verb, body in wrong:
            answer = api.patch(f"/api/runs/1/{verb}", json=body)
            assert (answer.status_code, "error" in answer.json()) == (400, True), body
        assert api.post("/api/runs/9/pause").status_code == 404
    with served.client("read") as reader:
        assert reader.post("/api/runs/1/pause").status_code == 403
        assert reader.patch("/api/runs/1/priority", json={"priority": 1}).status_code == 403


def test_the_terminal_asks_for_it(store: str, gossamer: Cli) -> None:
    on(store, lambda desk: add_run(desk, 1, "running"))
    first = gossamer("cluster", "priority", "1", "-4", "--store", store)
    assert (first.returncode, first.stderr.strip()) == (0, "run 1 has the priority -4")
    assert gossamer("cluster", "workers", "1", "2", "--store", store).returncode == 0
    assert on(store, lambda desk: desk.row("select priority, workers from run")) == (-4, 2)
    none = gossamer("cluster", "workers", "1", "none", "--json", "--store", store)
    assert json.loads(none.stdout)["run"] == 1
    paused = gossamer("cluster", "pause", "1", "--store", store)
    assert (paused.returncode, "rests as soon as" in paused.stderr) == (0, True)
    assert on(store, state) == ("running", "", "pause")
    again = gossamer("cluster", "resume", "1", "--store", store)
    assert (again.returncode, "about to pause" in again.stderr) == (2, True)
    assert gossamer("cluster", "cancel", "1", "--store", store).returncode == 0
    assert on(store, state) == ("running", "", "cancel")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("priority", "1", "high"), "is not a priority"),
        (("priority", "1", "10"), "cannot be a priority"),
        (("workers", "1", "some"), "is not a number of workers"),
        (("workers", "1", "0"), "cannot be a limit"),
        (("pause", "x"), "is no run's number"),
        (("pause", "9"), "there is no run 9"),
    ],
)
def test_what_cannot_be_asked_for_is_one_sentence(
    tmp_path: Path, gossamer: Cli, args: tuple[str, ...], told: str
) -> None:
    path = str(tmp_path / "store.db")
    on(path, lambda desk: add_run(desk, 1, "running"))
    done = gossamer("cluster", *args, "--store", path)
    assert (done.returncode, told in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
