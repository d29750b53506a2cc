"""How many shards a worker takes: bounds, growth, shortage, and that it finds its measure and stays there."""

from __future__ import annotations

import asyncio
import itertools
import mmap
import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.cluster import tuning
from gossamer.cluster.tuning import FIRST, Pulse, Tuning, Vital

GB = 1000 << 20
#: On a busy machine examples may be slow to make and to run, and that is no defect.
busy = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _vital(now: float, leases: int, *, lag: float = 0.003, cpu: float = 0.6, memory: int = 0, **kw: bool) -> Vital:
    return Vital(now, cpu, memory, lag, leases, **kw)


def _live(made: Tuning, seconds: int, world: Callable[[int], Vital], start: int = 0) -> list[int]:
    """The room of each second, in a world that says what a number of shards makes of the worker."""
    rooms = []
    for second in range(start, start + seconds):
        vital = world(made.room)
        made.note(Vital(float(second), vital.cpu, vital.memory, vital.lag, vital.leases, vital.waiting))
        rooms.append(made.room)
    return rooms


def _well(room: int) -> Vital:
    return _vital(0, room)


def test_it_begins_small_and_doubles_while_all_is_used() -> None:
    made = Tuning(most=50, memory=None, cores=2)
    assert made.room == FIRST
    assert made.why == "takes 4 shards: it has just begun"
    rooms = _live(made, 12, _well)
    assert list(dict.fromkeys(rooms)) == [4, 8, 16, 32, 50]
    assert made.why == "takes 50 shards, the most it may: all were used, the loop is 3 ms late, 60 % of a core"


def test_room_that_is_not_used_does_not_grow_unless_tickets_were_refused() -> None:
    made = Tuning(most=50, memory=None, cores=2)
    assert set(_live(made, 60, lambda room: _vital(0, room - 1))) == {FIRST}
    made.note(_vital(61, 1, waiting=True))
    made.note(_vital(62, 1, waiting=True))
    assert made.room == 2 * FIRST


@pytest.mark.parametrize("bad", [{"lag": 0.06}, {"cpu": 0.85}, {"memory": int(0.75 * GB)}])
def test_between_well_and_short_nothing_changes(bad: dict[str, float]) -> None:
    made = Tuning(most=50, memory=GB, cores=2)
    assert set(_live(made, 300, lambda room: _vital(0, room, **bad))) == {FIRST}  # type: ignore[arg-type]


def test_a_loop_that_is_late_for_three_seconds_gives_a_fifth_back() -> None:
    made = Tuning(most=40, memory=None, cores=2)
    _live(made, 20, _well)
    assert made.room == 40
    late = [_live(made, 1, lambda room: _vital(0, room, lag=0.18), start=20 + n)[0] for n in range(3)]
    assert late == [40, 40, 32]
    assert made.why == (
        "takes 32 shards: 8 fewer because the loop was 180 ms late; now the loop is 180 ms late, 60 % of a core"
    )


def test_a_late_moment_now_and_then_changes_nothing() -> None:
    made = Tuning(most=40, memory=None, cores=2)
    _live(made, 20, _well)
    for second in range(20, 200):
        made.note(_vital(second, 40, lag=0.5 if second % 3 else 0.0))
    assert made.room == 40


def test_a_busy_core_alone_is_no_shortage_but_with_a_late_loop_it_is() -> None:
    made = Tuning(most=20, memory=None, cores=2)
    _live(made, 20, _well)
    assert set(_live(made, 60, lambda room: _vital(0, room, cpu=0.99), start=20)) == {20}
    rooms = _live(made, 5, lambda room: _vital(0, room, cpu=0.99, lag=0.07), start=80)
    assert rooms == [20, 20, 20, 20, 16]
    assert "99 % of a core and was late" in made.why


def test_a_loop_that_is_late_for_want_of_a_machine_takes_no_fewer() -> None:
    """Others keep the machine busy: shards that wait for answers cost nothing."""
    made = Tuning(most=20, memory=None, cores=2)
    assert _live(made, 60, lambda room: _vital(0, room, lag=0.4, cpu=0.2))[-1] == 20


def test_half_a_core_is_full_at_half_a_core() -> None:
    made = Tuning(most=20, memory=None, cores=0.5)
    assert set(_live(made, 60, lambda room: _vital(0, room, cpu=0.45))) == {FIRST}


def test_memory_short_of_the_limit_takes_fewer_and_above_it_drains() -> None:
    made = Tuning(most=20, memory=GB, cores=2)
    _live(made, 20, _well)
    rooms = _live(made, 21, lambda room: _vital(0, room, memory=int(0.82 * GB)), start=20)
    assert (rooms[0], rooms[10], rooms[20]) == (16, 13, 11)
    assert "820 of 1,000 MB" in made.why
    assert not made.drain
    made.note(_vital(60, 5, memory=GB + (50 << 20)))
    assert made.drain
    assert made.why.startswith("takes no more shards: 1,050 MB are more than the 1,000 MB it may have")
    made.note(_vital(61, 0, memory=1))
    assert made.drain, "who began to hand back goes on"


def test_who_is_above_the_limit_before_any_work_does_not_begin_anew_for_ever() -> None:
    made = Tuning(most=20, memory=GB, cores=2)
    made.note(_vital(1, 0, memory=2 * GB))
    assert not made.drain


def test_what_is_being_handed_back_is_waited_for() -> None:
    made = Tuning(most=40, memory=None, cores=2)
    _live(made, 20, _well)
    rooms = _live(made, 25, lambda room: _vital(0, 40, lag=0.3), start=20)
    assert set(rooms[2:]) == {32}, "all 40 are still held"
    rooms = _live(made, 10, lambda room: _vital(0, 32, lag=0.3), start=45)
    assert min(rooms) == 26


def test_an_idle_worker_on_a_busy_machine_keeps_its_room() -> None:
    made = Tuning(most=40, memory=None, cores=2)
    assert set(_live(made, 60, lambda room: _vital(0, 0, lag=2.0))) == {FIRST}


def test_it_never_takes_less_than_one() -> None:
    made = Tuning(most=3, memory=None, cores=2)
    rooms = _live(made, 400, lambda room: _vital(0, room, lag=1.0))
    assert rooms[-1] == 1
    assert made.why.startswith("takes 1 shard: no more because the loop was 1000 ms late")


def test_each_change_is_told_once_and_steps_of_one_together() -> None:
    made = Tuning(most=100, memory=None, cores=2)
    told: list[str] = []

    def live(seconds: range, world: Callable[[int], Vital]) -> None:
        for second in seconds:
            _live(made, 1, world, start=second)
            if made.changed():
                told.append(made.why.partition(":")[0])
            assert not made.changed()

    live(range(5), _well)
    assert told == ["takes 4 shards", "takes 8 shards", "takes 16 shards"]
    live(range(5, 8), lambda room: _vital(0, room, lag=0.5))
    assert told[3:] == ["takes 13 shards"]
    live(range(8, 90), lambda room: _vital(0, min(room, 15)))
    assert told[4:] == ["takes 15 shards"]


def test_a_drain_is_told_once() -> None:
    made = Tuning(most=4, memory=GB, cores=2)
    assert made.changed()
    made.note(_vital(1, 3, memory=2 * GB))
    assert (made.changed(), made.changed()) == (True, False)


vitals_ = st.builds(
    Vital,
    now=st.just(0.0),
    cpu=st.floats(0, 4),
    memory=st.integers(0, 2 * GB),
    lag=st.floats(0, 2) | st.floats(0, 0.04),
    leases=st.integers(0, 200),
    waiting=st.booleans(),
)


@busy
@given(st.integers(-1, 100), st.none() | st.integers(1, GB), st.floats(0, 64), st.lists(vitals_, max_size=200))
def test_whatever_happens_it_stays_within_its_bounds(
    most: int, memory: int | None, cores: float, heard: Sequence[Vital]
) -> None:
    made = Tuning(most, memory, cores)
    before = made.room
    for second, vital in enumerate(heard):
        made.note(Vital(float(second), vital.cpu, vital.memory, vital.lag, vital.leases, vital.waiting))
        assert 1 <= made.room <= max(1, most)
        assert made.room <= 2 * before
        assert made.room >= before - max(1, before // 5)
        if made.room > before:
            assert vital.waiting or vital.leases >= before
        assert made.why.startswith("takes ")
        before = made.room
    assert made.drain == (memory is not None and _drained(memory, heard))


def _drained(limit: int, heard: Sequence[Vital]) -> bool:
    worked = False
    for vital in heard:
        worked = worked or vital.leases > 0
        if worked and vital.memory > limit:
            return True
    return False


@settings(busy, max_examples=40)
@given(st.integers(1, 120), st.integers(1, 120), st.sampled_from(["lag", "memory", "cpu"]))
def test_in_a_world_that_stays_as_it_is_it_finds_its_measure_and_stays_there(most: int, bears: int, what: str) -> None:
    """`bears` shards are well, one more is too much."""

    def world(room: int) -> Vital:
        if room <= bears:
            return _vital(0, room)
        return _vital(
            0, room, **{"lag": {"lag": 0.2}, "memory": {"memory": 850}, "cpu": {"cpu": 1.0, "lag": 0.06}}[what]
        )  # type: ignore[arg-type]

    made = Tuning(most, 1000, 2)
    _live(made, 3600, world)
    rooms = _live(made, 3600, world, start=3600)
    assert max(rooms) <= min(most, bears + 1)
    assert min(rooms) >= min(most, bears) - max(1, (bears + 1) // 5)
    assert sum(room > bears for room in rooms) <= 6 * 6, "too much for some seconds, six times an hour at most"
    falls = sum(b < a for a, b in itertools.pairwise(rooms))
    assert falls <= 7
    at_best = sum(room >= min(most, bears) for room in rooms)
    assert at_best >= 0.6 * len(rooms)


@busy
@given(st.integers(2, 100), st.lists(st.floats(0, 0.05), min_size=60, max_size=120))
def test_noise_below_the_marks_changes_nothing(most: int, lags: Sequence[float]) -> None:
    made = Tuning(most, None, 2)
    _live(made, 60, _well)
    assert made.room == most
    for second, lag in enumerate(lags, 60):
        made.note(_vital(second, most, lag=lag))
    assert made.room == most


def test_when_the_world_gets_better_it_takes_more_again() -> None:
    bears = 10
    made = Tuning(64, None, 2)
    _live(made, 1200, lambda room: _vital(0, room, lag=0.2 if room > bears else 0.0))
    rooms = _live(made, 2400, _well, start=1200)
    assert rooms[-1] == 64


# -- the pulse -------------------------------------------------------------------------------------------------


def test_the_pulse_sees_a_loop_that_is_blocked_and_what_it_costs() -> None:
    async def live() -> tuple[Vital, Vital]:
        async with Pulse() as pulse:
            await asyncio.sleep(0.15)
            pulse.take(0)
            until = time.process_time() + 0.3
            while time.process_time() < until:
                pass
            busy = pulse.take(3, waiting=True)
            await asyncio.sleep(0.3)
            return busy, pulse.take(3)

    busy, idle = asyncio.run(live())
    assert busy.lag > 0.15, "though the beat had no turn yet"
    assert busy.cpu > 0
    assert (busy.leases, busy.waiting) == (3, True)
    assert idle.cpu < busy.cpu
    assert 1_000_000 < busy.memory < 100 * GB


def test_memory_is_what_there_is_now() -> None:
    before = tuning.resident()
    # Not from the heap, where earlier tests may have left as much room.
    with mmap.mmap(-1, 50_000_000) as held:
        held.write(b"x" * len(held))
        grown = tuning.resident()
    assert grown - before > 30_000_000
    assert tuning.resident() < grown - 30_000_000


def test_where_nobody_says_the_memory_is_the_most_there_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(self: object) -> bytes:
        raise FileNotFoundError

    monkeypatch.setattr(tuning.Path, "read_bytes", absent)
    assert tuning.resident() > 1_000_000


def test_cores_are_counted() -> None:
    assert 0 < tuning.cores() < 10_000
