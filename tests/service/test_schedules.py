"""When scrapers run by themselves: how it is said, at which times that is, and what people change."""

from __future__ import annotations

import itertools
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gossamer import Scraper, crontab, schedules
from gossamer.catalog import Catalog
from gossamer.errors import ConfigError, NotFound, NotPossible
from gossamer.schedules import Schedule, next_times
from gossamer.timetable import declared, due_after, dues, fires_at, last_due
from gossamer.trail import Asker
from tests.service.timed import DAY, HOUR, ME, run, stage, stamp, write

BERLIN = "Europe/Berlin"


def cron(text: str, zone: str = "UTC", **says: Any) -> Schedule:
    return Schedule(name="art", scraper="art", cron=text, timezone=zone, **says)


def every(text: str, anchor: float = 0.0, **says: Any) -> Schedule:
    return Schedule(name="art", scraper="art", every=text, anchor=anchor, **says)


def shown(schedule: Schedule, begin: str, n: int) -> list[str]:
    """The next due times as clocks there show them."""
    zone = schedule.timezone
    found = itertools.islice(dues(schedule, stamp(begin, zone)), n)
    return [datetime.fromtimestamp(due, ZoneInfo(zone)).isoformat(timespec="minutes") for due in found]


# -- cron strings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "begin", "expected"),
    [
        ("*/20 * * * *", "2026-05-01T00:05", ["2026-05-01T00:20+00:00", "2026-05-01T00:40+00:00"]),
        ("0 6 * * *", "2026-05-01T06:00", ["2026-05-02T06:00+00:00", "2026-05-03T06:00+00:00"]),
        ("@daily", "2026-05-01T06:00", ["2026-05-02T00:00+00:00", "2026-05-03T00:00+00:00"]),
        ("0 0 1 jan,jul *", "2026-05-01T06:00", ["2026-07-01T00:00+00:00", "2027-01-01T00:00+00:00"]),
        ("5-10/5 3 * * *", "2026-05-01T06:00", ["2026-05-02T03:05+00:00", "2026-05-02T03:10+00:00"]),
        ("0 0 29 2 *", "2026-05-01T06:00", ["2028-02-29T00:00+00:00", "2032-02-29T00:00+00:00"]),
    ],
)
def test_a_cron_string_says_when(text: str, begin: str, expected: list[str]) -> None:
    assert shown(cron(text), begin, 2) == expected


@pytest.mark.parametrize("sunday", ["0", "7", "sun", "SUN"])
def test_sunday_is_what_crontab_means_by_it(sunday: str) -> None:
    assert shown(cron(f"0 6 * * {sunday}"), "2026-05-01T00:00", 2) == [
        "2026-05-03T06:00+00:00",
        "2026-05-10T06:00+00:00",
    ]


@pytest.mark.parametrize(
    ("text", "days"), [("mon-fri", "12345"), ("sat-mon", "016"), ("1-5", "12345"), ("*/2", "0246")]
)
def test_weekdays_by_name_by_number_and_around_the_weekend(text: str, days: str) -> None:
    assert "".join(map(str, crontab.read(f"0 0 * * {text}").weekdays)) == days


def test_of_a_day_of_the_month_and_a_weekday_either_counts() -> None:
    """As in every crontab: the 13th, and every Friday."""
    found = shown(cron("0 0 13 * fri"), "2026-05-08T12:00", 3)
    assert found == ["2026-05-13T00:00+00:00", "2026-05-15T00:00+00:00", "2026-05-22T00:00+00:00"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "6",
        "0 6 * *",
        "0 6 * * * *",
        "61 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "* * * foo *",
        "*/0 * * * *",
        "5-1 * * * *",
        "a-b * * * *",
        "@noon",
        "0 0 30 2 *",
        "0 0 31 4,6 *",
        "0 0 ; rm -rf",
        "0" * 300,
    ],
)
def test_a_cron_string_that_cannot_be_is_refused_when_the_class_is_made(text: str) -> None:
    with pytest.raises(ConfigError, match=r"Art\.cron = .* cannot be used: "):
        type("Art", (Scraper,), {"cron": text, "parse": lambda self, page: None})


# -- time zones and the clocks there ---------------------------------------------------------------------------


def test_the_hours_are_those_of_the_time_zone() -> None:
    assert due_after(cron("0 6 * * *", BERLIN), stamp("2026-07-01T00:00")) == stamp("2026-07-01T04:00")
    assert due_after(cron("0 6 * * *", "Asia/Kolkata"), stamp("2026-07-01T00:00")) == stamp("2026-07-01T00:30")


def test_an_hour_that_clocks_skip_is_when_they_do() -> None:
    found = shown(cron("30 2 * * *", BERLIN), "2026-03-28T00:00", 3)
    assert found == ["2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"]


def test_a_midnight_that_clocks_skip_is_not_lost() -> None:
    found = shown(cron("0 0 * * *", "America/Sao_Paulo"), "2018-11-03T12:00", 2)
    assert found == ["2018-11-04T01:00-02:00", "2018-11-05T00:00-02:00"]


def test_an_hour_that_clocks_show_twice_is_the_first_one() -> None:
    found = shown(cron("30 2 * * *", BERLIN), "2026-10-24T12:00", 2)
    assert found == ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"]


def test_every_hour_is_every_hour_whatever_clocks_do() -> None:
    for begin in ("2026-10-24T23:30", "2026-03-28T23:30"):
        found = list(itertools.islice(dues(cron("0 * * * *", BERLIN), stamp(begin)), 6))
        assert {b - a for a, b in itertools.pairwise(found)} == {HOUR}


ZONES = ["UTC", BERLIN, "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "Asia/Tehran"]
CHANGES = [
    "2026-03-27",
    "2026-10-24",
    "2018-11-03",
    "2018-02-17",
    "2011-12-29",
    "2026-04-04",
    "2026-10-03",
    "2026-03-07",
]


@settings(max_examples=60, deadline=None)
@given(
    zone=st.sampled_from(ZONES),
    day=st.sampled_from(CHANGES),
    second=st.integers(0, 86400),
    minute=st.sampled_from(["*/20", "7", "0,30", "15-45/15", "59"]),
    days=st.sampled_from(["* * *", "* * sun", "25-31 * *", "1 * sat-sun"]),
)
def test_every_hour_is_what_counting_minutes_finds(zone: str, day: str, second: int, minute: str, days: str) -> None:
    """Around the days on which clocks are set: each minute is looked at, as a clock there shows it."""
    begin, tab = stamp(day) + second, crontab.read(f"{minute} * {days}")
    found = list(itertools.takewhile(lambda due: due < begin + 2 * DAY, dues(cron(f"{minute} * {days}", zone), begin)))
    expected = []
    for at in range((int(begin) // 60 + 1) * 60, int(begin + 2 * DAY), 60):
        there = datetime.fromtimestamp(at, ZoneInfo(zone))
        of_month, of_week = there.day in tab.days, there.isoweekday() % 7 in tab.weekdays
        fits = of_month or of_week if tab.either else of_month and of_week
        expected += [float(at)] if fits and there.minute in tab.minutes else []
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(zone=st.sampled_from(ZONES), day=st.sampled_from(CHANGES), hour=st.integers(0, 23), minute=st.integers(0, 59))
def test_some_hour_comes_once_a_day(zone: str, day: str, hour: int, minute: int) -> None:
    assume((zone, day) != ("Pacific/Apia", "2011-12-29"))  # a whole day was left out there, and what fell on it was not
    found = list(itertools.islice(dues(cron(f"{minute} {hour} * * *", zone), stamp(day, zone)), 5))
    days = [datetime.fromtimestamp(due, ZoneInfo(zone)).date() for due in found]
    assert all(b - a == timedelta(1) for a, b in itertools.pairwise(days))


# -- every -----------------------------------------------------------------------------------------------------


def test_every_is_counted_from_when_the_schedule_was_first_seen() -> None:
    schedule = every("6h", anchor=1000.0)
    assert due_after(schedule, 1000.0) == 1000 + 6 * HOUR
    assert due_after(schedule, 1000 + 6 * HOUR) == 1000 + 12 * HOUR
    assert due_after(schedule, 1e9) == 1000 + ((1e9 - 1000) // (6 * HOUR) + 1) * 6 * HOUR


def test_the_first_run_may_wait_less_or_longer() -> None:
    assert due_after(every("6h", 1000.0, first_delay=30.0), 1000.0) == 1030
    assert due_after(every("6h", 1000.0, first_delay=30.0), 1030.0) == 1030 + 6 * HOUR
    assert due_after(cron("0 6 * * *", anchor=stamp("2026-05-01"), first_delay=DAY), stamp("2026-05-01")) == stamp(
        "2026-05-02T06:00"
    )


triggers = st.one_of(
    st.builds(
        every,
        st.floats(1, 1e6).map(lambda seconds: f"{seconds:.3f}s"),
        anchor=st.integers(0, 2_000_000_000).map(float),
        jitter=st.floats(0, 1e6),
        first_delay=st.none() | st.floats(0, 1e6),
    ),
    st.builds(
        cron,
        st.sampled_from(["* * * * *", "*/7 * * * *", "30 2 * * *", "0 0 13 * fri", "15 1-3 * * *", "0 */6 1 * *"]),
        st.sampled_from(ZONES),
        jitter=st.floats(0, 1e5),
    ),
)
moments = st.floats(0, 4_000_000_000)


@settings(max_examples=200, deadline=None)
@given(schedule=triggers, now=moments)
def test_next_times_grow_and_keep_to_the_jitter(schedule: Schedule, now: float) -> None:
    times = next_times(schedule, now, 5)
    assert len(times) == 5
    assert times[0] > now
    assert all(a < b for a, b in itertools.pairwise(times))
    assert times == next_times(schedule, now, 5), "it is chance, but not by chance"
    for at in times:
        due = last_due(schedule, at)
        assert due is not None
        assert fires_at(schedule, due) == at
        assert due <= at <= due + schedule.jitter


@settings(max_examples=200, deadline=None)
@given(schedule=triggers, moment=moments)
def test_the_last_due_time_is_the_one_before_the_next(schedule: Schedule, moment: float) -> None:
    last = last_due(schedule, moment)
    assume(last is not None)
    assert last is not None
    assert last <= moment
    following = due_after(schedule, last)
    assert following is not None
    assert following > moment
    assert following == due_after(schedule, moment)


def test_what_never_comes_does_not_come() -> None:
    assert len(next_times(every("36500d"), 0, 1000)) < 100
    assert due_after(cron("0 6 * * *", anchor=1e15), 0) is None


def test_jitter_is_the_same_for_everybody_and_another_for_everyone() -> None:
    schedule = every("1h", jitter=600.0)
    code = (
        "from gossamer.timetable import *; s = Schedule(name='art', scraper='art', every='1h', jitter=600.0);"
        "import sys; sys.stdout.write(repr(next_times(s, 0, 3)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == repr(next_times(schedule, 0, 3))
    assert len({fires_at(schedule, due) - due for due in itertools.islice(dues(schedule, 0), 20)}) == 20
    assert fires_at(schedule, HOUR) != fires_at(Schedule(name="nba", scraper="nba", every="1h", jitter=600.0), HOUR)


# -- on a scraper ----------------------------------------------------------------------------------------------


def test_a_scraper_says_when_it_runs() -> None:
    class Art(Scraper):
        every = "6h"
        jitter = "10m"
        first_delay = "30s"
        misfire = "skip"
        overlap = "queue"
        pause_after = None
        silence = "2d"

        def parse(self, page: Any) -> None: ...

    assert declared(Art) == {
        "every": "6h",
        "jitter": 600.0,
        "first_delay": 30.0,
        "misfire": "skip",
        "overlap": "queue",
        "pause_after": None,
        "silence": 2 * DAY,
    }


@pytest.mark.parametrize(
    "says",
    [
        {"every": "soon"},
        {"every": "0.5s"},
        {"every": 0},
        {"every": True},
        {"every": "6h", "timezone": "Europe/Bielefeld"},
        {"every": "6h", "timezone": "../../etc/passwd"},
        {"every": "6h", "timezone": None},
        {"every": "6h", "jitter": "-5s"},
        {"every": "6h", "first_delay": "later"},
        {"every": "6h", "misfire": "twice"},
        {"every": "6h", "overlap": "yes"},
        {"every": "6h", "pause_after": 0},
        {"every": "6h", "silence": "0"},
        {"misfire": "twice"},
    ],
)
def test_a_bad_value_is_refused_by_name_when_the_class_is_made(says: dict[str, Any]) -> None:
    name = list(says)[-1]
    with pytest.raises(ConfigError, match=rf"Art\.{name} = .* cannot be used: write"):
        type("Art", (Scraper,), {**says, "parse": lambda self, page: None})


def test_one_of_every_and_cron_says_when() -> None:
    with pytest.raises(ConfigError, match="every and cron both say when"):
        type("Art", (Scraper,), {"every": "6h", "cron": "0 6 * * *", "parse": lambda self, page: None})


def test_a_misspelled_setting_is_not_passed_over() -> None:
    with pytest.raises(ConfigError, match="did you mean 'first_delay'"):
        type("Art", (Scraper,), {"first_delays": "5s", "parse": lambda self, page: None})


def test_a_file_of_rules_says_when_too(tmp_path: Path) -> None:
    path = tmp_path / "art.toml"
    path.write_text('start_urls = ["https://example.org/"]\ncron = "@daily"\njitter = "5m"\n[fields]\ntitle = "h1"\n')
    found = Catalog((str(path),)).scrapers["art"]
    assert declared(found.scraper) == {"cron": "@daily", "jitter": 300.0}


def test_without_the_extra_a_scheduled_scraper_loads_and_its_times_say_what_to_install() -> None:
    code = """
import sys
sys.modules["apscheduler"] = None
from gossamer import Scraper, ConfigError
from gossamer.timetable import Schedule, next_times
class Art(Scraper):
    cron = "0 6 * * sun"
    def parse(self, page): ...
try:
    next_times(Schedule(name="a", scraper="a", every="6h"), 0, 1)
except ConfigError as why:
    sys.stdout.write(str(why))
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'gossamer[service]'" in told


# -- rows ------------------------------------------------------------------------------------------------------

T0 = stamp("2026-05-01T12:00")


def test_what_scrapers_declare_becomes_rows(tmp_path: Path) -> None:
    write(tmp_path, "art", "nba", every='"6h"', jitter='"10m"')
    write(tmp_path, "unscheduled", name="other.py")

    async def main() -> None:
        async with stage(tmp_path / "shelf.py", T0) as on:
            catalog = Catalog((str(tmp_path / "shelf.py"), str(tmp_path / "other.py")))
            assert await schedules.sync(on.desk, catalog, T0)
            assert not await schedules.sync(on.desk, catalog, T0 + 100)
            found = await schedules.listed(on.desk, catalog)
            assert [(e.schedule.name, e.schedule.every, e.next_due) for e in found] == [
                ("art", "6h", T0 + 6 * HOUR),
                ("nba", "6h", T0 + 6 * HOUR),
            ]
            assert found[0].next_at is not None
            assert T0 + 6 * HOUR <= found[0].next_at <= T0 + 6 * HOUR + 600
            assert not found[0].by_hand

    run(main())


def test_changes_made_by_hand_outlive_changes_of_the_file_and_the_other_way_round(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"', jitter='"10m"'), T0) as on:
            await schedules.sync(on.desk, on.catalog, T0)
            changed = await schedules.change(on.desk, "art", {"cron": "0 6 * * *", "timezone": BERLIN}, by=ME)
            assert (changed.schedule.trigger, changed.schedule.jitter) == (f"0 6 * * * ({BERLIN})", 600)

            write(tmp_path, "art", every='"12h"', jitter='"20m"', overlap='"queue"')
            on.catalog.refresh()
            assert await schedules.sync(on.desk, on.catalog, T0 + 60)
            now = (await schedules.get(on.desk, "art")).schedule
            assert (now.cron, now.every, now.jitter, now.overlap) == ("0 6 * * *", "", 1200, "queue")

            back = await schedules.change(on.desk, "art", {"cron": None, "timezone": None}, by=ME)
            assert (back.schedule.trigger, back.schedule.timezone, back.overrides) == ("every 12h", "UTC", {})
            assert back.schedule.anchor == T0, "what is counted from stays"

    run(main())


def test_a_scraper_that_is_gone_keeps_its_row_and_comes_back_to_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", "nba", every='"6h"'), T0) as on:
            await schedules.sync(on.desk, on.catalog, T0)
            await schedules.change(on.desk, "art", {"jitter": "5m"}, by=ME)
            write(tmp_path, "nba", every='"6h"')
            on.catalog.refresh()
            await schedules.sync(on.desk, on.catalog, T0 + 60)
            gone = await schedules.get(on.desk, "art", on.catalog)
            assert gone.problem == "no file has a scraper 'art'"
            assert gone.next_at is None
            await on.look(T0 + 7 * HOUR)
            assert not await on.firings()
            assert len(await on.firings("nba")) == 1

            write(tmp_path, "art", "nba", every='"6h"')
            on.catalog.refresh()
            await on.look()
            assert (await schedules.get(on.desk, "art", on.catalog)).schedule.jitter == 300
            assert await on.told() == [(T0 + 6 * HOUR, "fired")]

    run(main())


def test_a_schedule_that_a_file_no_longer_declares_does_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"'), T0) as on:
            await on.look()
            write(tmp_path, "art")
            on.catalog.refresh()
            await on.look(T0 + 7 * HOUR)
            entry = await schedules.get(on.desk, "art", on.catalog)
            assert (entry.next_due, entry.problem) == (None, "nothing says when: set every or cron")
            assert not await on.firings()

    run(main())


def test_a_scraper_that_ships_paused_waits_until_somebody_resumes_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"', paused='"not yet"'), T0) as on:
            await on.look(T0 + 7 * HOUR)
            assert not await on.firings()
            made = await schedules.add(on.desk, on.catalog, "mine", "art", {"every": "6h"}, by=ME)
            assert made.schedule.enabled, "who makes one wants it"
            await schedules.enable(on.desk, "art", by=ME)
            on.catalog.refresh()
            await on.look(T0 + 13 * HOUR)
            assert (await schedules.get(on.desk, "art", on.catalog)).schedule.enabled
            assert (await schedules.get(on.desk, "mine", on.catalog)).schedule.enabled

    run(main())


def test_more_schedules_for_a_scraper_are_added_and_removed(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"', timezone=f'"{BERLIN}"', overlap='"queue"'), T0) as on:
            desk, catalog = on.desk, on.catalog
            await schedules.sync(desk, catalog, T0)
            made = await schedules.add(
                desk, catalog, "art-nightly", "art", {"cron": "0 3 * * *", "params": {"full": "yes"}}, by=ME
            )
            assert made.by_hand
            assert (made.schedule.timezone, made.schedule.overlap) == (BERLIN, "queue"), "the rest is the scraper's"
            refused: list[tuple[str, str, dict[str, Any], str]] = [
                ("art-nightly", "art", {"every": "6h"}, "there is a schedule 'art-nightly' already"),
                ("Art Nightly", "art", {"every": "6h"}, "cannot be a name"),
                ("x", "arts", {"every": "6h"}, "no scraper is called 'arts': did you mean 'art'"),
                ("x", "art", {}, "nothing says when"),
                ("x", "art", {"evry": "6h"}, "did you mean 'every'"),
                ("x", "art", {"every": "6h", "params": {"a": "b" * 30_000}}, "20,000 are the most"),
                ("x", "art", {"every": "6h", "pause_after": 10**30}, "pause_after"),
            ]
            for name, scraper, says, error in refused:
                with pytest.raises(ConfigError, match=error):
                    await schedules.add(desk, catalog, name, scraper, says, by=ME)
            with pytest.raises(NotPossible, match="pause it"):
                await schedules.remove(desk, catalog, "art", by=ME)
            await schedules.remove(desk, catalog, "art-nightly", by=ME)
            with pytest.raises(NotFound, match="did you mean 'art'"):
                await schedules.get(desk, "arx")
            trail = await desk.rows("select action, target, who from trail order by id")
            assert trail == [("schedule.add", "art-nightly", "me"), ("schedule.remove", "art-nightly", "me")]

    run(main())


def test_changes_that_cannot_be_change_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"'), T0) as on:
            await schedules.sync(on.desk, on.catalog, T0)
            before = await schedules.get(on.desk, "art")
            for changes in (
                {"jitter": "5m", "every": "often"},
                {"every": "6h", "cron": "0 6 * * *"},
                {"timezone": "Mars"},
                {"enabled": "maybe"},
                {"params": [1]},
                {"anchor": 5},
                {"name": "x"},
                {"trusted": True},
            ):
                with pytest.raises(ConfigError):
                    await schedules.change(on.desk, "art", changes, by=ME)
            assert await schedules.get(on.desk, "art") == before
            with pytest.raises(NotFound, match="did you mean 'art'"):
                await schedules.change(on.desk, "arts", {"every": "6h"}, by=ME)

    run(main())


def test_a_paused_schedule_is_not_made_up_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"'), T0) as on:
            await on.look()
            assert (await schedules.pause(on.desk, "art", by=ME)).next_due is None
            await on.look(T0 + 5 * HOUR)
            enabled = await schedules.enable(on.desk, "art", by=ME)
            assert enabled.next_due is not None
            assert enabled.overrides == {}
            assert not await on.firings()

    run(main())


def test_parameters_from_the_network_are_not_trusted(tmp_path: Path) -> None:
    """A run with such may not start at private addresses; one whose parameters came from a shell here may."""

    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"6h"'), T0) as on:
            await schedules.sync(on.desk, on.catalog, T0)
            for by, expected in ((Asker("token", "api"), 0), (ME, 1)):
                await schedules.change(on.desk, "art", {"params": {"url": "http://10.0.0.1/"}}, by=by)
                run_id = await schedules.run_now(on.desk, on.catalog, "art", by=by)
                assert await on.desk.row("select trusted, via <> 'cli' from run where id = :id", id=run_id) == (
                    expected,
                    1,
                )
                await on.end()

    run(main())


def test_history_is_read_in_pages(tmp_path: Path) -> None:
    async def main() -> None:
        async with stage(write(tmp_path, "art", every='"1h"'), T0) as on:
            await on.look()
            for hour in range(1, 8):
                await on.look(T0 + hour * HOUR)
            first = await schedules.history(on.desk, "art", limit=3)
            then = await schedules.history(on.desk, "art", before=first[-1].due, limit=10)
            assert [firing.due for firing in first + then] == [T0 + hour * HOUR for hour in range(7, 0, -1)]
            assert (then[-1].what, then[-1].run, then[-1].state) == ("fired", 1, "pending")
            with pytest.raises(NotFound):
                await schedules.history(on.desk, "nobody")

    run(main())
