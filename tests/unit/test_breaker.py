"""The breaker: a failing host is left alone, tried with one request, and left alone for longer if that fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.polite import breaker
from gossamer.polite.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, Policy


def _opened(policy: Policy, now: float = 0.0) -> Breaker:
    made = Breaker(policy)
    for _ in range(policy.failures or 0):
        made.failure(now)
    assert made.state == OPEN
    return made


def test_failures_in_a_row_open_it_and_a_good_answer_breaks_the_row() -> None:
    made = Breaker(Policy(failures=3))
    assert [made.failure(0.0), made.failure(0.0), made.success(0.0)] == [False] * 3
    assert [made.failure(1.0), made.failure(1.0), made.failure(1.0)] == [False, False, True]
    assert (made.state, made.open_until, made.openings, made.why) == (OPEN, 31.0, 1, "3 failures in a row")
    assert not made.acquire(30.9)


def test_one_request_is_tried_when_the_time_has_come() -> None:
    made = _opened(Policy(failures=2))
    assert made.acquire(30.0)
    assert made.state == HALF_OPEN
    assert not made.acquire(30.0)
    made.release()  # given up: says nothing
    assert made.acquire(31.0)
    assert made.success(32.0)
    assert (made.state, made.openings, made.open_until) == (CLOSED, 0, 0.0)
    assert made.acquire(32.0)
    assert made.acquire(32.0)


def test_it_stays_open_longer_each_time_up_to_an_hour() -> None:
    made, now, waits = _opened(Policy(failures=1)), 0.0, []
    for _ in range(40):
        waits.append(made.open_until - now)
        now = made.open_until
        assert made.acquire(now)
        assert made.failure(now)
    assert waits[:4] == [30, 60, 120, 240]
    assert max(waits) == waits[-1] == breaker.LONGEST
    made.acquire(made.open_until)
    made.success(made.open_until)
    made.failure(now)
    assert made.open_until - now == 30


def test_several_good_answers_may_be_asked_for() -> None:
    made = _opened(Policy(failures=1, successes=2))
    made.acquire(30.0)
    assert not made.success(30.0)
    assert made.state == HALF_OPEN
    assert made.acquire(31.0)
    assert made.success(31.0)


def test_what_was_asked_before_it_opened_is_no_news() -> None:
    made = _opened(Policy(failures=1))
    assert not made.failure(10.0)
    assert not made.success(11.0)
    assert (made.state, made.open_until, made.openings) == (OPEN, 30.0, 1)


def test_a_share_of_failures_opens_it_once_there_are_enough_requests() -> None:
    made = Breaker(Policy(failures=None, rate=0.5, least=10, window=60))
    for n in range(5):
        made.success(n)
        assert made.failure(n) == (n == 4)
    assert made.why == "5 of 10 requests failed within 60 s"


def test_the_window_forgets() -> None:
    made = Breaker(Policy(failures=None, rate=0.5, least=10, window=60))
    for _ in range(9):
        made.failure(0.0)
    assert not made.failure(60.0)  # the only one it knows of
    for n in range(20):
        made.success(60.0 + n)
    assert not made.failure(81.0)


def test_without_limits_it_never_opens() -> None:
    made = Breaker(Policy(failures=None, rate=None))
    assert not any(made.failure(n) for n in range(100))


@given(
    st.lists(st.tuples(st.sampled_from("sf"), st.floats(0, 20)), max_size=80),
    st.integers(1, 8),
    st.floats(0.1, 1),
)
def test_the_share_is_that_of_the_last_window(steps: list[tuple[str, float]], least: int, rate: float) -> None:
    """It opens when the share is reached over nine to ten tenths of the window: that is how finely it is counted."""
    made, now, log = Breaker(Policy(failures=None, rate=rate, least=least, window=10.0)), 0.0, []
    for what, gap in steps:
        now += gap
        log.append((int(now), what == "f"))  # a slice is a second long
        if what == "s":
            made.success(now)
            continue
        seen = [bad for at, bad in log if at > int(now) - 10]
        assert made.failure(now) == (len(seen) >= least and sum(seen) >= rate * len(seen))
        if made.state == OPEN:
            return


@given(st.lists(st.sampled_from(["acquire", "success", "failure", "release", "pass"]), max_size=60))
def test_never_more_than_one_probe_and_none_while_open(steps: list[str]) -> None:
    made, now, out = _opened(Policy(failures=1)), 0.0, 0
    for step in steps:
        if made.state == CLOSED:
            return
        if step == "pass":
            now += 20
        elif step == "acquire":
            passed = made.acquire(now)
            assert not (passed and (out or now < made.open_until))
            out += passed
        elif out:
            getattr(made, step)(*(() if step == "release" else (now,)))
            out = 0


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (Policy(failures=5), Policy(failures=3), Policy(failures=3)),
        (Policy(failures=None, rate=None), Policy(), Policy()),
        (Policy(failures=None, rate=None), Policy(failures=None, rate=None), Policy(failures=None, rate=None)),
        (Policy(wait=10, window=90, rate=0.9), Policy(wait=60, rate=0.2), Policy(wait=60, window=90, rate=0.2)),
    ],
)
def test_of_two_policies_the_stricter_holds(one: Policy, other: Policy, both: Policy) -> None:
    assert one.stricter(other) == other.stricter(one) == both


def test_it_is_open_after_a_restart_as_before() -> None:
    made = Breaker(Policy())
    made.recall(3, 50.0)
    assert (made.state, made.openings, made.open_until) == (OPEN, 3, 50.0)
    assert not made.acquire(49.0)
    assert made.acquire(50.0)
    made.failure(50.0)
    assert made.open_until == 50.0 + 30 * 8
