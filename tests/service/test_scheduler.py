"""Schedules are fired once, whatever happens: downtime, overlap, failures, two services, kills, a clock that is set."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer import health, schedules
from gossamer.catalog import Catalog
from gossamer.misfires import CAUGHT_UP, GRACE
from gossamer.scheduler import KEPT, Scheduler
from gossamer.storage import opening
from gossamer.values import RunState
from tests import stores
from tests.service.timed import DAY, HOUR, ME, run, stage, stamp, write

T0 = stamp("2026-05-01T12:00")


def test_a_run_is_written_when_a_schedule_comes_due_and_not_before(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"'), T0) as on:
            await on.look()
            await on.look(T0 + 6 * HOUR - 1)
            assert await on.runs() == []
            await on.look(T0 + 6 * HOUR, times=3)
            (firing,) = await on.firings()
            assert (firing.due, firing.what, firing.run, firing.state) == (T0 + 6 * HOUR, "fired", 1, "pending")
            row = await on.desk.row("select asked_by, via, trusted from run")
            assert row == ("art", "schedule", 1)
            assert await on.desk.row("select who, via, action from trail") == ("art", "schedule", "run.start")
            assert on.poked == 1

    run(main())


def test_how_long_to_sleep_is_until_the_next_due_time(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"', first_delay='"10s"'), T0) as on:
            await on.look()
            on.clock.at = T0 + 9.5
            assert await on.scheduler.look() == pytest.approx(0.5)

    run(main())


def test_jitter_puts_a_run_off_and_its_key_is_the_due_time(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", cron='"0 * * * *"', jitter='"30m"'), T0) as on:
            await on.look()
            entry = await schedules.get(on.desk, "art")
            assert entry.next_at is not None
            await on.look(entry.next_at - 1)
            assert await on.told() == []
            await on.look(entry.next_at)
            assert await on.told() == [(T0 + HOUR, "fired")]

    run(main())


def test_a_restart_does_not_shift_the_grid(tmp_path: Path) -> None:
    async def main() -> None:
        path = write(tmp_path, "art", every='"6h"')
        async with stage(path, T0) as on:
            await on.look()
        for hours in (1, 5, 5.9):
            async with stage(path, T0 + hours * HOUR) as on:
                await on.look()
                assert (await schedules.get(on.desk, "art")).next_due == T0 + 6 * HOUR

    run(main())


# -- what was missed -------------------------------------------------------------------------------------------


def test_by_default_one_run_makes_up_for_all_that_was_missed(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"'), T0) as on:
            await on.look()
            on.scheduler = on.another()
            await on.look(T0 + 10.5 * HOUR, times=3)
            (firing,) = await on.firings()
            assert (firing.due, firing.what) == (T0 + 10 * HOUR, "fired")
            assert firing.detail.startswith("for 10 due times since 2026-05-01T13:00:00")
            assert len(await on.runs()) == 1
            assert (await schedules.get(on.desk, "art")).next_due == T0 + 11 * HOUR

    run(main())


def test_a_year_of_missed_minutes_is_made_up_for_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", cron='"* * * * *"'), T0) as on:
            await on.look()
            await on.look(T0 + 365 * DAY + 30)
            assert await on.told() == [(T0 + 365 * DAY, "fired")]

    run(main())


def test_missed_runs_may_be_left_out(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"', misfire='"skip"'), T0) as on:
            await on.look()
            await on.look(T0 + 3.5 * HOUR, times=2)
            await on.look(T0 + 4 * HOUR + GRACE - 1, times=2)
            assert await on.told() == [(T0 + 3 * HOUR, "missed"), (T0 + 4 * HOUR, "fired")]
            assert (await on.firings())[0].detail.startswith("nobody was there to fire 3 of them since")
            assert len(await on.runs()) == 1

    run(main())


def test_with_skip_the_one_that_is_on_time_is_fired_all_the_same(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"', misfire='"skip"'), T0) as on:
            await on.look()
            await on.look(T0 + 5 * HOUR + 1)
            assert await on.told() == [(T0 + 4 * HOUR, "missed"), (T0 + 5 * HOUR, "fired")]

    run(main())


def test_all_missed_runs_may_be_made_up_for_one_after_the_other(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"', misfire='"all"'), T0) as on:
            await on.look()
            await on.look(T0 + 4.5 * HOUR, times=3)
            assert await on.told() == [(T0 + HOUR, "fired")]
            for _ in range(5):
                await on.end()
                await on.look(times=2)
            assert await on.told() == [(T0 + hour * HOUR, "fired") for hour in range(1, 5)]
            assert len(await on.runs()) == 4

    run(main())


def test_all_has_a_limit(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"', misfire='"all"'), T0) as on:
            await on.look()
            await on.look(T0 + 100.5 * HOUR)
            for _ in range(CAUGHT_UP + 2):
                await on.end()
                await on.look()
            told = await on.told()
            assert told[0] == (T0 + (100 - CAUGHT_UP) * HOUR, "missed")
            assert told[1:] == [(T0 + hour * HOUR, "fired") for hour in range(101 - CAUGHT_UP, 101)]

    run(main())


def test_what_is_owed_stays_owed_when_the_file_changes_meanwhile(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"'), T0) as on:
            await on.look()
            write(tmp_path, "art", every='"24h"')
            on.catalog.refresh()
            await on.look(T0 + 8 * HOUR)
            assert await on.told() == [(T0 + 6 * HOUR, "fired")]
            assert (await schedules.get(on.desk, "art")).next_due == T0 + 24 * HOUR

    run(main())


# -- the clock is set ------------------------------------------------------------------------------------------


def test_a_clock_that_is_set_back_fires_nothing_twice_and_stops_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", cron='"0 * * * *"'), T0) as on:
            await on.look()
            await on.look(T0 + HOUR)
            await on.end()
            await on.look(T0 + 0.5 * HOUR)
            await on.look(T0 + HOUR, times=2)
            assert await on.told() == [(T0 + HOUR, "fired")]
            await on.look(T0 + 2 * HOUR)
            assert await on.told() == [(T0 + HOUR, "fired"), (T0 + 2 * HOUR, "fired")]

    run(main())


def test_a_clock_that_was_years_ahead_does_not_stop_a_schedule_for_years(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"'), T0) as on:
            await on.look()
            await on.look(T0 + 4 * 365 * DAY)
            await on.end()
            await on.look(T0 + 10)
            await on.look(T0 + HOUR)
            assert (T0 + HOUR, "fired") in await on.told()

    run(main())


def test_a_clock_that_is_set_ahead_misses_what_it_jumps_over(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"'), T0) as on:
            await on.look()
            await on.look(T0 + 30 * DAY + 10)
            assert await on.told() == [(T0 + 30 * DAY, "fired")]

    run(main())


# -- overlap ---------------------------------------------------------------------------------------------------


def test_one_at_a_time_what_comes_due_meanwhile_is_skipped(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"'), T0) as on:
            await on.look()
            for hour in (1, 2, 3):
                await on.look(T0 + hour * HOUR)
            assert [what for _, what in await on.told()] == ["fired", "skipped", "skipped"]
            assert (await on.firings())[1].detail == "run 1 was still going on"
            await on.end()
            await on.look(T0 + 4 * HOUR)
            assert [run_id for run_id, _ in await on.runs()] == [1, 2]

    run(main())


@pytest.mark.parametrize("misfire", ["coalesce", "skip"])
def test_one_that_comes_due_meanwhile_may_wait_and_is_fired_once(tmp_path: Path, misfire: str) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"', overlap='"queue"', misfire=f'"{misfire}"'), T0) as on:
            await on.look()
            for hour in (1.0, 2.0, 3.0, 3.5):
                await on.look(T0 + hour * HOUR)
            assert await on.told() == [(T0 + HOUR, "fired")]
            on.clock.at = T0 + 3.6 * HOUR
            await on.end()
            on.scheduler = on.another()
            await on.look(times=3)
            assert await on.told() == [(T0 + HOUR, "fired"), (T0 + 3 * HOUR, "fired")]
            assert len(await on.runs()) == 2

    run(main())


def test_a_run_that_was_started_by_hand_is_in_the_way_too(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"'), T0) as on:
            await on.look()
            await schedules.run_now(on.desk, on.catalog, "art", by=ME)
            await on.look(T0 + HOUR)
            assert [what for _, what in await on.told()] == ["skipped"]

    run(main())


def test_a_disabled_scraper_is_skipped_and_history_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"'), T0) as on:
            await on.look()
            async with on.desk.writing() as writing:
                await writing.run("insert into scraper (name, enabled) values ('art', 0)")
            await on.look(T0 + HOUR)
            (firing,) = await on.firings()
            assert (firing.what, firing.detail) == ("skipped", "art is disabled: enable it first")

    run(main())


# -- the breaker -----------------------------------------------------------------------------------------------


def test_a_scraper_that_keeps_failing_is_left_alone_tried_and_recovers(tmp_path: Path) -> None:
    async def main() -> None:
        minute = 60.0
        async with stage(write(tmp_path, "art", every='"1m"', pause_after="2"), T0) as on:
            await on.look()
            for n in (1, 2):
                await on.look(T0 + n * minute)
                await on.fail()
            failed = on.clock.at
            await on.look(failed + 1)
            assert await on.breaker() == ("open", 1, failed + health.FIRST_PAUSE)
            await on.look(failed + 5 * minute)
            held = (await on.firings())[-1]
            assert (held.what, held.run) == ("held", None)
            assert held.detail.startswith("art failed 2 times in a row: held until 2026-05-01T12:17:00")

            # When the pause is over, what was held goes out at once, as a probe.
            await on.look(failed + health.FIRST_PAUSE, times=2)
            assert [what for _, what in await on.told()][-1] == "probe"
            assert (await on.breaker())[0] == "half_open"
            await on.fail()
            again = on.clock.at
            await on.look(again + 1)
            assert await on.breaker() == ("open", 2, again + 2 * health.FIRST_PAUSE)

            await on.look(again + 10 * minute)
            await on.look(again + 2 * health.FIRST_PAUSE, times=2)
            assert (await on.breaker())[0] == "half_open"
            await on.end()
            await on.look(on.clock.at + minute)
            assert await on.breaker() == ("closed", 0, 0)
            assert [what for _, what in await on.told()][-1] == "fired"

    run(main())


def test_a_pause_that_is_over_before_the_next_due_time_holds_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", cron='"0 * * * *"', pause_after="1"), T0) as on:
            await on.look()
            await on.look(T0 + HOUR)
            await on.fail()
            await on.look(T0 + 1.5 * HOUR)
            assert [what for _, what in await on.told()] == ["fired"], "never more often than the schedule says"
            await on.look(T0 + 2 * HOUR)
            assert [what for _, what in await on.told()] == ["fired", "probe"]

    run(main())


def test_a_run_by_hand_is_not_held_and_its_success_closes_the_breaker(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1m"', pause_after="1"), T0) as on:
            await on.look()
            await on.look(T0 + 60)
            await on.fail()
            await on.look(T0 + 61)
            assert (await on.breaker())[0] == "open"
            await schedules.run_now(on.desk, on.catalog, "art", by=ME)
            await on.end()
            await on.look(T0 + 62)
            assert await on.breaker() == ("closed", 0, 0)

    run(main())


def test_runs_that_are_cancelled_say_nothing_and_those_that_are_held_up_are_failures(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1m"', pause_after="2"), T0) as on:
            await on.look()
            for n, (state, reason) in enumerate(
                [(RunState.STOPPED, "held"), (RunState.CANCELLED, "cancelled"), (RunState.STOPPED, "held")], 1
            ):
                await on.look(T0 + n * 60)
                await on.end(state, reason)
            await on.look(on.clock.at + 1)
            assert (await on.breaker())[0] == "open"

    run(main())


def test_pause_after_none_never_backs_off(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1m"', pause_after="None"), T0) as on:
            await on.look()
            for n in range(1, 8):
                await on.look(T0 + n * 60)
                await on.fail()
            assert {what for _, what in await on.told()} == {"fired"}

    run(main())


def test_firings_of_long_ago_are_forgotten(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"30d"'), T0) as on:
            await on.look()
            await on.look(T0 + 30 * DAY)
            await on.end()
            await on.look(T0 + 30 * DAY + KEPT + HOUR, times=2)
            assert len(await on.firings()) == 1

    run(main())


# -- several services, and kills -------------------------------------------------------------------------------

SERVICE = """
import asyncio, sys
from gossamer.catalog import Catalog
from gossamer.scheduler import Scheduler
from gossamer.storage import opening

async def main():
    async with opening.desk(sys.argv[1]) as desk:
        scheduler = Scheduler(desk, Catalog((sys.argv[2],)))
        sys.stdout.write("ready\\n")
        sys.stdout.flush()
        await scheduler.run()

asyncio.run(main())
"""


def service(store: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", SERVICE, store, str(path)], stdout=subprocess.PIPE, text=True)


def firings(store: str) -> list[tuple[str, float, str, int | None]]:
    return stores.rows(store, "select schedule, due, what, run_id from firing order by schedule, due")


def end_runs(store: str) -> None:
    """End what was started, as a runner does, so that the next may be."""
    stores.write(store, "update run set state = 'finished', ended = created where state = 'pending'")


def consistent(store: str) -> int:
    """Each firing has its run, each run its firing; how many there are."""
    runs = stores.rows(store, "select id, asked_by from run order by id")
    fired = [(run_id, schedule) for schedule, _, what, run_id in firings(store) if what == "fired"]
    assert sorted(runs) == sorted(fired)
    return len(runs)


#: Schedules, and due times that each of them has to make up for.
NAMES = [f"s{n}" for n in range(20)]
OWED = 8


def owing(tmp_path: Path, store: str) -> Path:
    """A store whose schedules have much to make up for; returns the file of their scrapers."""
    path = write(tmp_path, *NAMES, every='"1m"', misfire='"all"', overlap='"queue"')

    async def main() -> None:
        async with opening.desk(store) as desk:
            await schedules.sync(desk, Catalog((str(path),)))
            async with desk.writing() as writing:
                await writing.run("update schedule set anchor = anchor - :n, next_due = next_due - :n", n=60.0 * OWED)

    asyncio.run(main())
    return path


def every_one_fired(store: str) -> bool:
    """Whether each schedule has fired all it had to; asserts that none fired a due time twice, or left one out."""
    dues: dict[str, list[float]] = {name: [] for name in NAMES}
    for schedule, due, what, _ in firings(store):
        assert what == "fired"
        dues[schedule].append(due)
    for found in dues.values():
        assert found == [found[0] + 60 * n for n in range(len(found))]
    return all(len(found) >= OWED for found in dues.values())


def wait_for(done: Callable[[], bool], store: str, seconds: float = 45) -> None:
    until = time.monotonic() + seconds
    while not done():
        end_runs(store)
        assert time.monotonic() < until
        time.sleep(0.01)


def test_two_services_on_one_store_never_fire_twice(tmp_path: Path, store: str) -> None:
    path = owing(tmp_path, store)
    both = [service(store, path) for _ in range(2)]
    try:
        wait_for(lambda: every_one_fired(store), store)
    finally:
        for process in both:
            process.terminate()
            process.communicate()
    assert consistent(store) >= OWED * len(NAMES)


@pytest.mark.crash
def test_a_kill_in_the_middle_of_firing_loses_nothing_and_doubles_nothing(tmp_path: Path, store: str) -> None:
    path = owing(tmp_path, store)
    dice = random.Random(5)
    for _ in range(4):
        before = len(firings(store))
        process = service(store, path)
        wait_for(lambda before=before: len(firings(store)) > before, store)  # type: ignore[misc]
        time.sleep(dice.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        consistent(store)
    assert not every_one_fired(store), "it was killed in the middle of it"
    process = service(store, path)
    try:
        wait_for(lambda: every_one_fired(store), store)
    finally:
        process.terminate()
        process.communicate()
    assert consistent(store) >= OWED * len(NAMES)


def test_the_loop_goes_on_when_told_and_when_the_store_is_in_trouble(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1s"'), time.time()) as on:
            fired = asyncio.Event()
            scheduler = Scheduler(on.desk, on.catalog, fired.set)
            task = asyncio.create_task(scheduler.run())
            try:
                async with on.desk.writing() as writing:
                    await writing.run("alter table firing rename to away")
                await asyncio.sleep(1.5)
                async with on.desk.writing() as writing:
                    await writing.run("alter table away rename to firing")
                scheduler.poke()
                await asyncio.wait_for(fired.wait(), 20)
                assert await on.runs()
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    run(main())
