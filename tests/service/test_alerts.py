"""Alerts: what is raised from runs as they end, once, and brought to receivers whatever happens on the way."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer import Page, Scraper, alerts, run, telemetry
from gossamer.alerts import Alerts
from gossamer.catalog import Catalog
from gossamer.couriers import ORPHANED, Waits
from gossamer.drift import Alarm, Finding
from gossamer.errors import ConfigError, NotFound
from gossamer.settings import Place
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from gossamer.storage.store import Draft, Store
from gossamer.testing import Answer, Hit, Site
from gossamer.trail import Asker
from gossamer.values import RunState, Verdict
from tests import stores
from tests.servers import dead_port
from tests.service.mailserver import MailBox

SECRET = "T0K3N-s3cret"
ANN = Asker("ann", "api")
#: As in life, only faster.
QUICK = Waits(first=0.01, longest=0.02, tries=4, away=0.3)
_NAMES = count()


class Stage:
    """A store with somebody who walks its runs, and a desk beside him."""

    def __init__(self, store: Store, desk: Desk) -> None:
        self.store, self.desk = store, desk

    async def ran(
        self,
        scraper: str = "shop",
        state: RunState = RunState.FINISHED,
        reason: str = "done",
        verdict: Verdict | None = None,
        alarm: Alarm | None = None,
    ) -> int:
        """A run that ended."""
        run = await self.store.new_run(Draft(scraper, "shop.py:Shop", f"s{next(_NAMES)}", {}, {}))
        lease = await self.store.acquire(run.id, f"o{next(_NAMES)}", 60.0)
        if verdict is not None:
            await self.store.judge(lease, verdict, "{}", msgspec.json.encode(alarm).decode() if alarm else None)
        await self.store.end_run(lease, state, reason)
        await self.store.release(lease)
        return run.id

    async def failed(self, scraper: str = "shop", reason: str = "start_failed") -> int:
        return await self.ran(scraper, RunState.FAILED, reason)

    async def set(self, scraper: str, **columns: Any) -> None:
        async with self.desk.writing() as writing:
            await writing.run("insert into scraper (name) values (:name) on conflict do nothing", name=scraper)
            for name, value in columns.items():
                await writing.run(f"update scraper set {name} = :value where name = :name", value=value, name=scraper)

    async def told(self) -> list[tuple[str, str, int | None]]:
        """Every alert: kind, scraper, run; oldest first."""
        found = await alerts.listed(self.desk, limit=500)
        return [(each.kind, each.scraper, each.run) for each in reversed(found) if each.kind != "start"]

    async def states(self) -> list[str]:
        return [row[0] for row in await self.desk.rows("select state from dispatch order by alert_id, target")]


@asynccontextmanager
async def stage(path: str) -> AsyncIterator[Stage]:
    async with opening.working(path) as store, opening.desk(path) as desk:
        yield Stage(store, desk)


def play(path: str, act: Callable[[Stage], Awaitable[None]]) -> None:
    async def work() -> None:
        async with stage(path) as made:
            await act(made)

    asyncio.run(work())


def watcher(it: Stage, catalog: Catalog | None = None, **place: Any) -> Alerts:
    return Alerts(it.desk, Place(**place), catalog, tick=0.02, waits=QUICK)


async def until(true: Callable[[], bool | Awaitable[bool]], seconds: float = 20.0) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(seconds):
        while True:
            found = true()
            if found if isinstance(found, bool) else await found:
                return
            await asyncio.sleep(0.02)


def bodies(site: Site, path: str = "/hook") -> list[dict[str, Any]]:
    return [json.loads(hit.body) for hit in site.hits if hit.path == path]


# -- what is raised ----------------------------------------------------------------------------------------------


def test_a_failure_says_why(store: str, site: Site) -> None:
    class Broken(Scraper):
        name = "broken"
        start_urls = (site.url("/page"),)

        def parse(self, page: Page) -> None:
            raise TypeError("no price, api_key=verysecret")

    site.page("/page", "<p>hello")

    async def begin(it: Stage) -> None:
        await watcher(it).look()

    async def look(it: Stage) -> None:
        await watcher(it).look()
        told = next(each for each in await alerts.listed(it.desk) if each.kind == "failure")
        assert "the parse method raised an error (handler): 1 page" in told.body
        assert "Latest: TypeError: no price" in told.body
        assert site.url("/page") in told.body
        assert "verysecret" not in told.body

    play(store, begin)
    run(Broken, store=store, allow_private=True)
    play(store, look)


def test_a_failed_run_is_told_at_once_and_then_at_growing_streaks(store: str) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it)
        assert await watch.look() == 0
        runs = []
        for _ in range(31):
            runs.append(await it.failed())
            await watch.look()
        assert await it.told() == [("failure", "shop", runs[n - 1]) for n in (1, 3, 10, 30)]
        first, third, *_ = reversed(await alerts.listed(it.desk, limit=4))
        assert first.title == f"shop: run {runs[0]} failed"
        assert "no page could be read" in first.body
        assert third.title == "shop: 3 failed runs in a row"

    play(store, act)


def test_a_run_that_gave_up_on_its_hosts_has_failed_and_one_that_was_cancelled_has_not(store: str) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it)
        await watch.look()
        await it.ran(state=RunState.CANCELLED, reason="cancelled")
        await it.ran(state=RunState.STOPPED, reason="max_pages")
        assert await watch.look() == 0
        run = await it.ran(state=RunState.STOPPED, reason="held")
        assert await watch.look() == 1
        assert await it.told() == [("failure", "shop", run)]

    play(store, act)


def test_the_first_success_after_failures_is_told_once(store: str) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it)
        await watch.look()
        await it.ran()
        assert await watch.look() == 0
        bad = await it.failed()
        await watch.look()
        await it.ran(state=RunState.CANCELLED, reason="cancelled")
        good = await it.ran()
        await watch.look()
        await it.ran()
        await watch.look()
        assert await it.told() == [("failure", "shop", bad), ("recovery", "shop", good)]
        assert (await alerts.listed(it.desk, limit=1))[0].title == "shop: works again, after 1 failed run"

    play(store, act)


def test_what_happened_between_two_looks_is_told_in_its_order(store: str) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it)
        await watch.look()
        runs = [await it.failed(), await it.ran(), await it.failed(), await it.failed(), await it.ran()]
        other = await it.failed("other")
        assert await watch.look() == 5
        assert await it.told() == [
            ("failure", "shop", runs[0]),
            ("recovery", "shop", runs[1]),
            ("failure", "shop", runs[2]),
            ("recovery", "shop", runs[4]),
            ("failure", "other", other),
        ]

    play(store, act)


def test_a_run_that_fails_again_when_it_is_resumed_counts_on(store: str) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it)
        await watch.look()
        run = await it.failed()
        assert await watch.look() == 1
        for raised in (0, 1):
            lease = await it.store.acquire(run, f"o{next(_NAMES)}", 60.0)
            assert await watch.look() == 0
            await it.store.end_run(lease, RunState.FAILED, "start_failed")
            await it.store.release(lease)
            assert await watch.look() == raised
        told = await it.told()
        assert told == [("failure", "shop", run)] * 2  # the first, and the third in a row

    play(store, act)


ALARM = Alarm(
    "layout changed",
    "the pages came as usual",
    [Finding("filled", "item", f"f{n}", 1.0, 0.0, f"item.f{n}: filled in 0% of 20 items") for n in range(7)],
    ["https://evil.example/page"],
)


def test_a_suspect_run_is_told_with_what_is_wrong(store: str) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it)
        await watch.look()
        await it.ran(verdict=Verdict.GOOD)
        run = await it.ran(verdict=Verdict.SUSPECT, alarm=ALARM)
        await watch.look()
        assert await it.told() == [("drift", "shop", run)]
        (alert,) = await alerts.listed(it.desk, limit=1)
        assert alert.title == f"shop: run {run} is suspect: layout changed"
        assert "- item.f0: filled in 0% of 20 items" in alert.body
        assert "- and 2 more" in alert.body
        assert f"gossamer drift {run}" in alert.body
        assert "://" not in alert.body
        unreadable = await it.ran(verdict=Verdict.SUSPECT)
        await watch.look()
        assert (await it.told())[-1] == ("drift", "shop", unreadable)

    play(store, act)


SILENT = """
from gossamer import Scraper

class Shop(Scraper):
    silence = "2d"
    def parse(self, page): yield {}

class Loud(Scraper):
    def parse(self, page): yield {}
"""
DAY = 86400.0


def silent_catalog(folder: Path) -> Catalog:
    (folder / "silent.py").write_text(SILENT)
    return Catalog((str(folder / "silent.py"),))


def test_silence_is_told_once_and_again_after_something_new(store: str, tmp_path: Path) -> None:
    async def act(it: Stage) -> None:
        catalog = silent_catalog(tmp_path)
        watch = watcher(it, catalog)
        now = time.time()
        for name in ("shop", "loud", "of-nobody"):
            await it.ran(name)
            await it.set(name, last_new=now - 1.9 * DAY)
        assert await watch.look() == 0
        for name in ("shop", "loud", "of-nobody"):
            await it.set(name, last_new=now - 2.1 * DAY)
        assert await watch.look() == 1
        assert [await watch.look() for _ in range(3)] == [0, 0, 0]
        assert await watcher(it, catalog).look() == 0
        assert await it.told() == [("silence", "shop", None)]
        (alert,) = await alerts.listed(it.desk, limit=1)
        assert alert.title == "shop: nothing new for 2.1 days"
        assert "at least every 2 days" in alert.body
        await it.set("shop", last_new=now)
        assert await watch.look() == 0
        await it.set("shop", last_new=now - 2.05 * DAY)
        assert await watch.look() == 1

    play(store, act)


def test_no_silence_of_what_is_disabled_never_ran_or_is_at_it(store: str, tmp_path: Path) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it, silent_catalog(tmp_path))
        await it.set("shop", last_new=1.0)
        assert await watch.look() == 0
        await it.ran()
        await it.set("shop", enabled=0)
        assert await watch.look() == 0
        await it.set("shop", enabled=1)
        run = await it.store.new_run(Draft("shop", "shop.py:Shop", "s", {}, {}))
        lease = await it.store.acquire(run.id, "me", 60.0)
        assert await watch.look() == 0
        await it.store.end_run(lease, RunState.FINISHED, "done")
        assert await watch.look() == 1

    play(store, act)


def test_a_scraper_that_never_brought_anything_is_silent_since_alerts_began(store: str, tmp_path: Path) -> None:
    async def act(it: Stage) -> None:
        catalog = silent_catalog(tmp_path)
        await it.ran()
        assert await watcher(it, catalog).look() == 0
        async with it.desk.writing() as writing:
            await writing.run("update alert set at = at - :days where kind = 'start'", days=3 * DAY)
        assert await watcher(it, catalog).look() == 1
        assert await it.told() == [("silence", "shop", None)]

    play(store, act)


def test_a_pause_and_its_end_are_told_once_each(store: str) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it)
        await watch.look()
        later = time.time() + 900
        await it.set("shop", breaker="open", openings=1, open_until=later, streak=5)
        await it.set("shop.too", breaker="closed")
        assert await watch.look() == 1
        await it.set("shop", breaker="half_open")
        assert await watch.look() == 0
        await it.set("shop", breaker="open", openings=2, open_until=later + 1800)
        assert await watch.look() == 0
        assert await watcher(it).look() == 0
        await it.set("shop", breaker="closed", openings=0, open_until=0.0)
        # Whoever looked before is gone: what was told says that it is news.
        assert await watcher(it).look() == 1
        assert await watch.look() == 0
        await it.set("shop", breaker="open", openings=1, open_until=later + 9000)
        assert await watch.look() == 1
        found = [each.title for each in reversed(await alerts.listed(it.desk, limit=3))]
        assert found == [
            "shop: paused after 5 failed runs",
            "shop: no longer paused",
            "shop: paused after 5 failed runs",
        ]

    play(store, act)


def test_the_first_start_on_an_old_store_is_quiet_and_the_next_failure_is_told(store: str) -> None:
    async def act(it: Stage) -> None:
        for n in range(30):
            await it.failed(f"old-{n}")
            await it.failed(f"old-{n}")
        await it.ran("old-drift", verdict=Verdict.SUSPECT, alarm=ALARM)
        watch = watcher(it)
        assert await watch.look() == 0
        # The third in a row would be told anyway; here it is the fourth that comes first.
        await it.set("old-1", streak=3)
        bad, good = await it.failed("old-1"), await it.ran("old-2")
        assert await watch.look() == 2
        assert await it.told() == [("failure", "old-1", bad), ("recovery", "old-2", good)]
        assert await watcher(it).look() == 0

    play(store, act)


def test_what_ended_weeks_ago_is_no_news(store: str) -> None:
    async def act(it: Stage) -> None:
        await watcher(it).look()
        async with it.desk.writing() as writing:
            await writing.run("update alert set at = 1 where kind = 'start'")
        await it.failed()
        async with it.desk.writing() as writing:
            await writing.run("update run set ended = ended - :weeks", weeks=21 * DAY)
        assert await watcher(it).look() == 0

    play(store, act)


def test_whoever_looks_again_at_the_same_rows_says_nothing_new(store: str) -> None:
    """Runs leave the window as others come: no streak is begun anew by that."""

    async def act(it: Stage) -> None:
        watch = watcher(it)
        await watch.look()
        for n in range(130):
            await (it.ran() if n in (60, 100) else it.failed())
            if n % 7 == 0:
                await watch.look()
        await watch.look()
        before = await it.told()
        assert await watcher(it).look() == 0
        for _ in range(60):
            await it.ran()
            assert await watcher(it).look() in (0, 1)
        assert len(await it.told()) == len(before) + 1  # works again

    play(store, act)


def test_two_who_watch_one_store_tell_everything_once(store: str, site: Site) -> None:
    site.page("/hook", "ok", latency=0.02)

    async def act(it: Stage) -> None:
        async with opening.desk(store) as second:
            place = Place(alert_webhooks=(site.url("/hook"),))
            both = [Alerts(desk, place, tick=0.01, waits=Waits(first=0.01, longest=0.02)) for desk in (it.desk, second)]
            tasks = [asyncio.create_task(each.run()) for each in both]
            await until(lambda: _started(it))
            for n in range(15):
                await it.failed(f"s{n}")
            await until(lambda: len(site.hits) >= 15)
            await until(lambda: _all_sent(it, 15))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        assert len(await it.told()) == 15

    play(store, act)
    assert sorted(each["scraper"] for each in bodies(site)) == sorted(f"s{n}" for n in range(15))


async def _started(it: Stage) -> bool:
    return bool(await alerts.listed(it.desk, limit=1))


async def _all_sent(it: Stage, number: int) -> bool:
    return await it.states() == ["sent"] * number


def test_runs_of_real_scrapers_are_told_of(store: str, site: Site) -> None:
    class Shop(Scraper):
        start_urls = [site.url("/")]  # noqa: RUF012
        rate = "none"
        retries = 0

        def parse(self, page: Page) -> Iterator[dict[str, str]]:
            for name in page.css("li"):
                yield {"name": name.text or ""}

    def look() -> list[tuple[str, str, int | None]]:
        async def work() -> list[tuple[str, str, int | None]]:
            async with stage(store) as it:
                await watcher(it).look()
                return await it.told()

        return asyncio.run(work())

    site.page("/", "".join(f"<li>{n}</li>" for n in range(9)))
    assert [run(Shop, store=store).verdict for _ in range(3)] == ["learning"] * 3
    assert look() == []
    site.page("/", "no", status=500)
    assert run(Shop, store=store).reason == "start_failed"
    site.page("/", "".join(f"<li>{n}</li>" for n in range(9)))
    assert run(Shop, store=store, fresh=True).verdict == "good"
    site.page("/", "<p>please log in</p>")
    assert run(Shop, store=store).verdict == "suspect"
    assert look() == [("failure", "shop", 4), ("recovery", "shop", 5), ("drift", "shop", 6)]


# -- delivering --------------------------------------------------------------------------------------------------


def test_every_receiver_is_told_by_webhook_and_by_mail(store: str, site: Site) -> None:
    site.page("/hook", "ok")
    site.page("/slack", "ok")

    async def act(it: Stage) -> None:
        hooks = (site.url("/hook"), site.url("/slack"))
        watch = watcher(it, alert_webhooks=hooks, smtp=box.url(), alert_mail=("ann@example.org", "bo@example.org"))
        await watch.look()
        run = await it.failed()
        await watch.look()
        assert await watch.deliver() == 4
        assert await it.states() == ["sent"] * 4
        assert await watch.deliver() == 0
        (alert,) = await alerts.listed(it.desk, limit=1)
        assert [each.state for each in alert.dispatches] == ["sent"] * 4
        assert alert.run == run

    with MailBox() as box:
        play(store, act)
    assert [each["kind"] for each in bodies(site) + bodies(site, "/slack")] == ["failure", "failure"]
    assert sorted(letter.to[0] for letter in box.letters) == ["ann@example.org", "bo@example.org"]
    ids = {hit.headers["idempotency-key"] for hit in site.hits}
    assert len(ids) == 1
    assert all(letter.mail["message-id"].startswith(f"<{next(iter(ids))}@") for letter in box.letters)


def test_a_receiver_that_is_down_gets_it_once_when_it_is_up(store: str) -> None:
    port = dead_port()

    async def act(it: Stage) -> None:
        watch = watcher(it, alert_webhooks=(f"http://127.0.0.1:{port}/hook",))
        await watch.look()
        await it.failed()
        await watch.look()
        assert await watch.deliver() == 0
        (alert,) = await alerts.listed(it.desk, limit=1)
        (sent,) = alert.dispatches
        assert (sent.state, sent.attempts) == ("waiting", 1)
        assert "no connection" in sent.error
        with Site(port=port) as site:
            site.page("/hook", "ok")
            # Another service, started later.
            later = watcher(it, alert_webhooks=(f"http://127.0.0.1:{port}/hook",))
            await until(lambda: _delivers(later))
            assert await later.deliver() == 0
            assert len(site.hits) == 1
        assert await it.states() == ["sent"]

    play(store, act)


async def _delivers(watch: Alerts) -> bool:
    return bool(await watch.deliver())


def test_answers_of_500_are_tried_again_and_in_the_end_given_up_with_the_reason(store: str, site: Site) -> None:
    site.page("/hook", "no", status=500)

    async def act(it: Stage) -> None:
        watch = watcher(it, alert_webhooks=(site.url("/hook"),))
        await watch.look()
        await it.failed()
        await watch.look()

        async def given_up() -> bool:
            await watch.deliver()
            return await it.states() == ["failed"]

        await until(given_up)
        (alert,) = await alerts.listed(it.desk, limit=1)
        assert alert.dispatches[0].error == "given up after 4 tries: it answered with status 500"
        await asyncio.sleep(0.05)
        assert await watch.deliver() == 0

    play(store, act)
    assert len(site.hits) == QUICK.tries
    assert len({hit.headers["idempotency-key"] for hit in site.hits}) == 1


def test_waits_grow_up_to_an_hour_and_end_after_about_ten_hours() -> None:
    waits = Waits()
    found = [waits.before(n) for n in range(1, waits.tries)]
    assert 3 < found[0] <= 5
    assert found[5] > found[4] > found[3] > found[2] > found[1] > found[0]
    assert max(found) <= 3600
    assert 7 * 3600 < sum(found) < 12 * 3600


def test_a_slow_receiver_keeps_no_other_waiting(store: str, site: Site) -> None:
    site.hang("/slow")
    site.page("/hook", "ok")

    async def act(it: Stage) -> None:
        watch = watcher(it, alert_webhooks=(site.url("/slow"), site.url("/hook")))
        task = asyncio.create_task(watch.run())
        await until(lambda: _started(it))
        for n in range(5):
            await it.failed(f"s{n}")
        await until(lambda: len(bodies(site)) == 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    play(store, act)


def test_a_store_in_trouble_is_outlived(store: str, site: Site) -> None:
    site.page("/hook", "ok")

    async def act(it: Stage) -> None:
        watch = watcher(it, alert_webhooks=(site.url("/hook"),))
        async with it.desk.writing() as writing:
            await writing.run("alter table scraper rename to gone")
        task = asyncio.create_task(watch.run())
        await asyncio.sleep(0.1)
        async with it.desk.writing() as writing:
            await writing.run("alter table gone rename to scraper")
        await it.failed("shop")
        await until(lambda: len(site.hits) == 1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    play(store, act)


def test_what_waits_for_a_receiver_that_nobody_has_any_more_is_given_up(store: str) -> None:
    from gossamer.couriers import give_up_orphans

    async def act(it: Stage) -> None:
        watch = watcher(it, alert_webhooks=(f"http://127.0.0.1:{dead_port()}/hook",))
        await watch.look()
        await it.failed()
        await watch.look()
        await give_up_orphans(it.desk, set())
        assert await it.states() == ["waiting"]
        async with it.desk.writing() as writing:
            await writing.run("update dispatch set next_at = next_at - :long", long=ORPHANED + 1)
        await give_up_orphans(it.desk, {watch.receivers[0].target})
        assert await it.states() == ["waiting"]
        await give_up_orphans(it.desk, set())
        assert await it.states() == ["failed"]

    play(store, act)


SERVICE = """
import asyncio, sys
from gossamer.alerts import Alerts
from gossamer.couriers import Waits
from gossamer.settings import Place
from gossamer.storage import opening

async def main():
    async with opening.desk(sys.argv[1]) as desk:
        place = Place(alert_webhooks=(sys.argv[2],))
        await Alerts(desk, place, tick=0.02, waits=Waits(first=0.01, longest=0.02, away=0.3)).run()

asyncio.run(main())
"""


def test_nothing_is_lost_by_kill_9_in_the_middle_of_delivering(store: str, site: Site) -> None:
    """The first receiver of each message never answers, and its courier dies; somebody else goes again."""
    seen: dict[str, int] = {}

    def moody(hit: Hit) -> Answer:
        key = hit.headers["idempotency-key"]
        seen[key] = seen.get(key, 0) + 1
        return Answer(fault="hang") if seen[key] == 1 else Answer(body="ok")

    site.handler("/hook", moody)

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", SERVICE, store, site.url("/hook")])

    async def act(it: Stage) -> None:
        await watcher(it).look()
        runs = 3
        for n in range(runs):
            await it.failed(f"s{n}")
        for n in range(runs + 1):
            process = start()
            try:
                if n < runs:
                    await until(lambda n=n: len(seen) > n)  # type: ignore[misc]
                else:
                    await until(lambda: _all_sent(it, runs))
            finally:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
        assert len(await it.told()) == runs

    play(store, act)
    assert len(seen) == 3
    assert all(2 <= times <= 4 for times in seen.values())
    told = {each["scraper"] for each in bodies(site)}
    assert told == {"s0", "s1", "s2"}


# -- secrets and hostile text ------------------------------------------------------------------------------------


def test_no_secret_of_a_receiver_is_in_the_store_or_in_the_logs(store: str, site: Site) -> None:
    site.page(f"/{SECRET}-500", SECRET, status=500)
    site.page(f"/{SECRET}-ok", SECRET)
    site.redirect(f"/{SECRET}-moved", f"/{SECRET}")
    said: list[str] = []

    async def act(it: Stage) -> None:
        hooks = [site.url(f"/{SECRET}-{name}") for name in ("500", "ok", "moved", "none")]
        hooks += [
            f"http://ann:{SECRET}@127.0.0.1:{dead_port()}/{SECRET}",
            f"https://nobody.invalid/{SECRET}?t={SECRET}",
        ]
        smtp = box.url(f"bob:{SECRET}")
        watch = watcher(it, alert_webhooks=tuple(hooks), smtp=smtp, alert_mail=("ann@example.org",))
        assert SECRET not in repr(watch.receivers)
        await watch.look()
        await it.failed()
        await watch.look()

        async def over() -> bool:
            await watch.deliver()
            return "waiting" not in await it.states()

        await until(over)
        assert sorted(await it.states()) == ["failed"] * 6 + ["sent"]
        shown = msgspec.json.encode(await alerts.listed(it.desk)).decode()
        shown += msgspec.json.encode(await watch.test()).decode()
        assert SECRET not in shown

    telemetry.configure("debug", "json", said.append)
    try:
        with MailBox(login=("ann", SECRET)) as box:
            play(store, act)
    finally:
        telemetry.configure("warning", "human")
    assert any("alert.failed" in line for line in said)
    assert SECRET not in "".join(said)
    assert SECRET.encode() not in stores.kept(store)


HOSTILE = "<!channel>\r\nBcc: all@example.net\r\n\r\n\x1b[2J\x00\u202e[bank](https://evil.example)\ud800" + "x" * 9000


def test_hostile_names_and_reasons_arrive_as_harmless_text(store: str, site: Site) -> None:
    site.page("/hook", "ok")

    async def act(it: Stage) -> None:
        watch = watcher(it, alert_webhooks=(site.url("/hook"),), smtp=box.url(), alert_mail=("ann@example.org",))
        await watch.look()
        evil = HOSTILE.replace("\ud800", "")
        await it.failed(evil, evil)
        told = [Finding("filled", evil, evil, 1.0, 0.0, evil)]
        await it.ran(evil, verdict=Verdict.SUSPECT, alarm=Alarm(evil, evil, told, [evil]))
        await it.set(evil, breaker="open", open_until=time.time() + 9)
        assert await watch.look() == 3
        assert await watch.deliver() == 6
        for alert in await alerts.listed(it.desk):
            assert alert.title.isprintable()
            assert len(alert.title) <= 200
            assert len(alert.body) <= 4000

    with MailBox() as box:
        play(store, act)
    for told in bodies(site):
        assert "<" not in told["text"]
        assert "](" not in told["text"]
        assert not {"\x1b", "\x00", "\u202e", "\r"} & set(told["text"] + told["title"] + told["body"])
    for letter in box.letters:
        assert letter.to == ["ann@example.org"]
        assert "bcc" not in letter.mail


# -- the doors' functions ----------------------------------------------------------------------------------------


def test_alerts_are_listed_in_pages_newest_first_and_acknowledged(store: str) -> None:
    async def act(it: Stage) -> None:
        watch = watcher(it)
        await watch.look()
        for n in range(5):
            await it.failed(f"s{n}")
            await watch.look()
        first = await alerts.listed(it.desk, limit=2)
        second = await alerts.listed(it.desk, before=first[-1].id, limit=2)
        assert [each.scraper for each in first + second] == ["s4", "s3", "s2", "s1"]
        assert await alerts.acknowledge(it.desk, first[0].id, by=ANN) == 1
        assert await alerts.acknowledge(it.desk, first[0].id, by=ANN) == 0
        unseen = await alerts.listed(it.desk, unseen_only=True)
        assert [each.scraper for each in unseen] == ["s3", "s2", "s1", "s0"]
        with pytest.raises(NotFound, match="there is no alert 99"):
            await alerts.acknowledge(it.desk, 99, by=ANN)
        assert await alerts.acknowledge(it.desk, None, by=ANN) == 4
        assert await alerts.listed(it.desk, unseen_only=True) == []
        trail = await it.desk.rows("select who, action, target from trail order by id")
        assert trail == [("ann", "alert.acknowledge", str(first[0].id)), ("ann", "alert.acknowledge", "all")]

    play(store, act)


def test_a_test_says_of_each_receiver_what_came_of_it(site: Site) -> None:
    site.page("/hook", "ok")
    hooks = (site.url("/hook"), site.url("/nothing"))
    with MailBox() as box:
        place = Place(alert_webhooks=hooks, smtp=box.url(), alert_mail=("ann@example.org",))
        good, bad, mail = asyncio.run(alerts.test(place))
    assert (good.ok, good.why) == (True, "")
    assert (bad.ok, bad.why) == (False, "it answered with status 404")
    assert (mail.ok, mail.target) == (True, "mailto:ann@example.org")
    assert bodies(site)[0]["kind"] == "test"
    assert box.letters[0].mail["subject"] == "[gossamer] This is a test"


def test_receivers_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match="nobody is to be told"):
        asyncio.run(alerts.test(Place()))
    with pytest.raises(ConfigError, match="smtp is not"):
        asyncio.run(alerts.test(Place(alert_mail=("ann@example.org",))))


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (alerts._WINDOW, "run_scraper"),
        (alerts._UNDER_WAY, "run_scraper"),
        (alerts._NEWEST_KEY, "alert_key"),
        (alerts._LAST, "INTEGER PRIMARY KEY"),
    ],
)
def test_a_look_costs_the_same_however_many_runs_there_are(store: str, statement: str, index: str) -> None:
    async def act(it: Stage) -> None:
        names = {"scraper": "s", "limit": 50, "first": "a", "last": "b", "run": 1}
        if stores.is_postgres():
            plan = " ".join(row[0] for row in await it.desk.rows(f"explain {statement.format(bytewise='')}", **names))
            assert index in plan.replace("run_pkey", "INTEGER PRIMARY KEY")
            assert "Seq Scan" not in plan
            return
        asked = f"explain query plan {statement.format(bytewise='')}"
        plan = " ".join(row[3] for row in await it.desk.rows(asked, **names))
        assert index in plan
        assert "SCAN run" not in plan
        assert "TEMP B-TREE" not in plan

    play(store, act)
