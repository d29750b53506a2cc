"""What people ask of runs, hosts and URLs, as rows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gossamer import asking, registry
from gossamer.errors import AlreadyActive, ConfigError, NotFound, NotPossible, Refused
from gossamer.registry import Found
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from gossamer.storage.store import Batch
from gossamer.trail import Asker
from gossamer.values import Ending, Outcome, Request, RunState

ANNA = Asker("anna", "api", "127.0.0.1")
FILE = """
from gossamer import Scraper

class Quotes(Scraper):
    start_urls = ["https://quotes.example/"]
    rate = "1/s"

    def parse(self, page):
        yield {"title": page.title}

class Other(Scraper):
    start_urls = ["https://other.example/"]

    def parse(self, page):
        yield {"title": page.title}
"""


@pytest.fixture
def found(tmp_path: Path) -> Found:
    (tmp_path / "quotes.py").write_text(FILE)
    return registry.load_all(str(tmp_path / "quotes.py"))[0]


@asynccontextmanager
async def desk_on(store: str) -> AsyncIterator[Desk]:
    async with opening.desk(store) as desk:
        yield desk


def on(store: str, work: Callable[[Desk], Awaitable[None]]) -> None:
    async def main() -> None:
        async with desk_on(store) as desk:
            await work(desk)

    asyncio.run(main())


async def count(desk: Desk, table: str) -> int:
    row = await desk.row(f"select count(*) from {table}")
    assert row is not None
    return int(row[0])


CHOOSY = """
from gossamer import ConfigError, Scraper

class Choosy(Scraper):
    start_urls = ["https://quotes.example/"]
    takes = {"season": "A year.", "names": "A file."}
    local = ("names",)

    def __init__(self, params=None):
        super().__init__(params)
        if not str(self.params.get("season", 1)).isdecimal():
            raise ConfigError("season is no year: write 2024")
        1 // int(self.params.get("season", 1))
"""


def test_values_that_a_scraper_refuses_are_refused_before_there_is_a_run(store: str, tmp_path: Path) -> None:
    (tmp_path / "choosy.py").write_text(CHOOSY)
    found = registry.load_all(str(tmp_path / "choosy.py"))[0]

    async def work(desk: Desk) -> None:
        refused = [
            ({"season": "abc"}, "season is no year: write 2024"),
            ({"seasn": "2024"}, "did you mean 'season'"),
            ({"names": "/etc/passwd"}, "names names a file of the machine"),
        ]
        for params, told in refused:
            with pytest.raises(ConfigError, match=told):
                await asking.start(desk, found, params=params, by=ANNA)
        assert await count(desk, "run") == 0
        assert (await asking.prepare(desk, found, params={"names": "a.toml"}, trusted=True)).params
        assert await asking.start(desk, found, params={"season": 0}, by=ANNA), (
            "a mistake of the file is the run's to tell"
        )

    on(store, work)


def test_a_start_is_one_pending_run_and_a_second_one_names_it(store: str, found: Found) -> None:
    async def work(desk: Desk) -> None:
        run = await asking.start(desk, found, params={"year": 2026}, knobs={"max_pages": 5}, by=ANNA)
        with pytest.raises(AlreadyActive) as why:
            await asking.start(desk, found, by=ANNA)
        assert why.value.run == run
        assert await count(desk, "run") == 1
        row = await desk.row("select state, asked_by, via, trusted, params, options from run")
        assert row == ("pending", "anna", "api", 0, '{"year":2026}', '{"max_pages":5}')
        assert await desk.rows("select who, action, target from trail") == [("anna", "run.start", str(run))]

    on(store, work)


def test_many_starts_at_once_make_one_run(store: str, found: Found) -> None:
    async def work(desk: Desk) -> None:
        async with desk_on(store) as other:
            asked = [asking.start(each, found, by=ANNA) for each in (desk, other) * 10]
            ended = await asyncio.gather(*asked, return_exceptions=True)
        assert sorted(type(each).__name__ for each in ended) == ["AlreadyActive"] * 19 + ["int"]
        assert await count(desk, "run") == 1

    on(store, work)


@pytest.mark.parametrize(
    ("knobs", "told"),
    [
        ({"proxies": ["http://10.0.0.1:80"]}, "proxies"),
        ({"files": "/etc"}, "files"),
        ({"headers": {"a": "b"}}, "headers"),
        ({"render": True}, "render"),
        ({"allow_private": True}, "allow_private"),
        ({"rate": "10/s"}, "faster than the scraper's own 1/s"),
        ({"rate": "none"}, "faster"),
        ({"rate": "nonsense"}, "rate"),
        ({"max_pages": -1}, "max_pages"),
        ({"max_pages": True}, "max_pages"),
        ({"max_pages": [1]}, "max_pages"),
    ],
)
def test_what_may_not_come_over_the_network_is_refused_by_name(
    store: str, found: Found, knobs: dict[str, object], told: str
) -> None:
    async def work(desk: Desk) -> None:
        for asked in (
            asking.start(desk, found, knobs=knobs, by=ANNA),
            asking.configure(desk, found, knobs, by=ANNA),
        ):
            with pytest.raises(ConfigError, match=told):
                await asked
        assert await count(desk, "run") == 0

    on(store, work)


def test_a_scraper_can_be_configured_and_disabled(store: str, found: Found) -> None:
    async def work(desk: Desk) -> None:
        assert await asking.configure(desk, found, {"max_pages": 7, "rate": "30/min"}, by=ANNA) == (
            True,
            {"max_pages": 7, "rate": "30/min"},
        )
        run = await asking.start(desk, found, by=ANNA)
        row = await desk.row("select options, trusted from run where id = :run", run=run)
        assert row is not None
        assert '"max_pages":7' in row[0]
        assert row[1] == 1, "nothing of it came over the network but its name"
        await asking.cancel(desk, run, by=ANNA)
        assert await asking.configure(desk, found, {"rate": None}, enabled=False, by=ANNA) == (False, {"max_pages": 7})
        with pytest.raises(NotPossible, match="disabled"):
            await asking.start(desk, found, by=ANNA)

    on(store, work)


def test_a_pending_run_is_cancelled_at_once_and_can_be_resumed(store: str, found: Found) -> None:
    async def work(desk: Desk) -> None:
        run = await asking.start(desk, found, by=ANNA)
        await asking.cancel(desk, run, by=ANNA)
        assert await desk.row("select state, reason from run") == ("cancelled", "cancelled")
        assert await desk.row("select runs, successes, failures from scraper") == (1, 0, 0)
        with pytest.raises(NotPossible, match="has ended"):
            await asking.cancel(desk, run, by=ANNA)
        await asking.resume(desk, run, by=ANNA)
        assert await desk.row("select state from run") == ("pending",)
        assert await desk.row("select runs from scraper") == (0,)
        with pytest.raises(NotPossible, match="already"):
            await asking.resume(desk, run, by=ANNA)
        for asked in (asking.cancel, asking.resume, asking.retry_failed, asking.delete_run):
            with pytest.raises(NotFound, match="no run 77"):
                await asked(desk, 77, by=ANNA)

    on(store, work)


async def walked(store: str, run_id: int) -> None:
    """Walk a run by hand: one page read, two failed."""
    async with opening.working(store) as mine:
        lease = await mine.acquire(run_id, "me", 60.0)
        given = [Request(f"https://quotes.example/{n}") for n in range(3)]
        await mine.add(lease, given, last=True)
        first, *rest = await mine.peek(run_id, "quotes.example", 10, ())
        bad = [Outcome(each, Ending.FAILED, "timeout", started=time.time(), elapsed=1.0) for each in rest]
        await mine.settle(lease, Batch(outcomes=[Outcome(first, Ending.DONE, status=200), *bad], seconds=2.0))
        await mine.end_run(lease, RunState.FINISHED, "done")
        await mine.release(lease)


def test_failed_urls_are_walked_again_by_the_same_run(store: str, found: Found) -> None:
    async def work(desk: Desk) -> None:
        run = await asking.start(desk, found, by=ANNA)
        await walked(store, run)
        assert await desk.row("select runs, successes, seconds from scraper") == (1, 1, 2.0)
        with pytest.raises(NotPossible, match="nothing of it waits"):
            await asking.resume(desk, run, by=ANNA)
        assert await asking.retry_failed(desk, run, by=ANNA) == 2
        assert await desk.row("select state, failed, settled from run") == ("pending", 0, 1)
        assert await desk.row("select runs, successes, seconds from scraper") == (0, 0, 0.0)
        async with opening.working(store) as mine:
            assert (await mine.pending(run)).waiting == 2
            found_run = await mine.run(run)
            assert found_run is not None
            assert found_run.by_reason == {"ok": 1, "timeout": 0}

    on(store, work)


def test_the_minute_and_the_hour_are_counted(store: str, found: Found) -> None:
    async def work(desk: Desk) -> None:
        await walked(store, await asking.start(desk, found, by=ANNA))
        assert await desk.rows("select sum(pages), sum(failed) from tick where scraper = 'quotes'") == [(1, 2)]
        assert await desk.rows("select reason, sum(n) from cause group by reason") == [("timeout", 2)]

    on(store, work)


def test_a_batch_has_a_verdict_for_each_url(store: str) -> None:
    given = [
        "https://a.example/1",
        "https://a.example/1",
        "ftp://a.example/",
        "javascript:alert(1)",
        "https://user:hunter2@a.example/",
        "http://127.0.0.1:8080/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://intranet/",
        "http://0x7f.1/",
        "https://b.example/" + "x" * 9000,
        "https://b.example/2",
    ]

    async def work(desk: Desk) -> None:
        done = await asking.submit(desk, given, "article", by=ANNA)
        assert [each.ok for each in done.verdicts] == [True, *[False] * 10, True]
        assert all(each.why for each in done.verdicts if not each.ok)
        assert "hunter2" not in str(done)
        rows = await desk.rows("select url, handler, state from request order by id")
        assert rows == [("https://a.example/1", "parse", 0), ("https://b.example/2", "parse", 0)]
        assert await desk.rows("select scraper, state, seeded, trusted from run") == [("submitted", "pending", 1, 0)]
        assert (await asking.submit(desk, ["nothing"], "article", by=ANNA)).run is None
        assert (await asking.submit(desk, ["https://c.example/"], "auto", by=ANNA)).run == 2, "batches do not wait"
        with pytest.raises(ConfigError, match="no parser is called"):
            await asking.submit(desk, ["https://c.example/"], "nonsense", by=ANNA)
        with pytest.raises(Refused, match="too many"):
            await asking.submit(desk, ["https://c.example/"] * 10_001, "auto", by=ANNA)
        with pytest.raises(Refused, match="at least one"):
            await asking.submit(desk, [], "auto", by=ANNA)

    on(store, work)


def test_a_known_url_can_be_fetched_again_alone(store: str, found: Found) -> None:
    async def work(desk: Desk) -> None:
        first = await asking.start(desk, found, by=ANNA)
        await walked(store, first)
        run = await asking.refetch(desk, "https://quotes.example/1#part", by=ANNA)
        assert await desk.rows("select url, depth from request where run_id = :run", run=run) == [
            ("https://quotes.example/1", 0)
        ]
        row = await desk.row("select options, scraper, seeded from run where id = :run", run=run)
        assert row is not None
        assert f'"of":{first}' in row[0]
        assert '"depth":0' in row[0]
        with pytest.raises(NotFound, match="no run knows"):
            await asking.refetch(desk, "https://quotes.example/unknown", by=ANNA)
        with pytest.raises(Refused, match="no URL"):
            await asking.refetch(desk, "nonsense", by=ANNA)

    on(store, work)


def test_hosts_are_paused_and_urls_marked(store: str) -> None:
    async def work(desk: Desk) -> None:
        await asking.pause_host(desk, "A.example", True, by=ANNA)
        await asking.set_budget(desk, "a.example", 50, by=ANNA)
        assert await desk.rows("select host, paused, budget, ruled_by from source") == [("a.example", 1, 50, "anna")]
        await asking.pause_host(desk, "a.example", False, by=ANNA)
        await asking.set_budget(desk, "a.example", None, by=ANNA)
        assert await desk.rows("select paused, budget from source") == [(0, None)]
        await asking.mark_url(desk, "https://a.example/x", False, by=ANNA)
        await asking.mark_url(desk, "https://a.example/x", False, by=ANNA)
        assert await count(desk, "mark") == 1
        await asking.mark_url(desk, "https://a.example/x", True, by=ANNA)
        assert await count(desk, "mark") == 0
        for bad in ("", "a b", "http://a.example/", "a.example/x", "me@a.example", "x" * 400):
            with pytest.raises(Refused, match="no host"):
                await asking.pause_host(desk, bad, True, by=ANNA)
        with pytest.raises(Refused, match="budget"):
            await asking.set_budget(desk, "a.example", 0, by=ANNA)

    on(store, work)


def test_old_runs_are_deleted_with_what_they_knew_but_not_the_newest(store: str, found: Found) -> None:
    async def work(desk: Desk) -> None:
        for _ in range(asking.KEPT_RUNS + 2):
            await walked(store, await asking.start(desk, found, by=ANNA))
        pending = await asking.start(desk, found, by=ANNA)
        with pytest.raises(NotPossible, match="cancel it first"):
            await asking.delete_run(desk, pending, by=ANNA)
        async with desk.writing() as writing:
            await writing.run("update run set ended = 1 where ended is not null")
        assert await asking.delete_runs(desk, 30 * 86400, by=ANNA) == 2
        assert await count(desk, "run") == asking.KEPT_RUNS + 1
        assert await desk.rows("select distinct run_id from request where run_id <= 2") == []
        await asking.delete_run(desk, 3, by=ANNA)
        assert await desk.rows("select id from run where id = 3") == []

    on(store, work)
