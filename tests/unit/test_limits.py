"""The pace of one host: never faster than promised, slower when it is too much, and back again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.polite import limits
from gossamer.polite.limits import Bucket

spans = st.floats(0, 100)
steps = st.lists(
    st.one_of(
        st.just(("turn", 0.0)),
        st.tuples(st.sampled_from(["pass", "ask", "obey", "slow", "clean", "recall"]), spans),
    ),
    max_size=60,
)


@given(steps)
def test_no_two_requests_are_closer_than_what_was_promised_between_them(todo: list[tuple[str, float]]) -> None:
    bucket, now = Bucket(), 1000.0
    left: float | None = None
    slowest = 0.0
    for verb, span in todo:
        if verb == "pass":
            now += span
        elif verb == "ask":
            bucket.ask(span)
            slowest = max(slowest, span)
        elif verb == "obey":
            bucket.obey(span)
        elif verb == "recall":
            bucket.recall(span, 0.1)
        elif verb == "slow":
            bucket.slow(now)
        elif verb == "clean":
            bucket.clean(now, span)
        else:
            now = max(now, bucket.next_at)
            bucket.take(now)
            if wait := bucket.go(now):
                now += wait + 1e-6
                assert bucket.go(now) == 0
            assert left is None or now - left >= bucket.interval - 1e-6
            left = now
        assert bucket.base == max(slowest, bucket.crawl_delay)
        assert bucket.base <= bucket.interval <= max(bucket.base, limits.LONGEST)
        assert bucket.learned == 0 or bucket.learned == bucket.interval > bucket.base


@given(st.floats(0, 100), st.floats(0, 10), st.lists(st.floats(0, 5), max_size=40))
def test_too_much_only_ever_slows_and_never_twice_within_a_second(
    base: float, latency: float, gaps: list[float]
) -> None:
    bucket, now, last = Bucket(base), 0.0, -1e9
    bucket.clean(now, latency)
    for gap in gaps:
        now += gap
        before = bucket.interval
        if bucket.slow(now):
            assert bucket.interval > before
            assert now - last >= max(limits.ONCE, before)
            last = now
        else:
            assert bucket.interval == before


@given(st.floats(0, 70), st.integers(1, 12))
def test_clean_answers_bring_the_pace_back(base: float, times: int) -> None:
    bucket, now = Bucket(base), 0.0
    for _ in range(times):
        now += 100
        bucket.slow(now)
    taught = bucket.interval
    for _ in range(300):
        bucket.clean(now, 0.1)
        assert base <= bucket.interval <= taught
    assert (bucket.learned, bucket.interval) == (0.0, base)


def test_speeding_up_is_gentle() -> None:
    bucket = Bucket(0.5)
    bucket.slow(0.0)
    assert bucket.interval == 1.0
    bucket.clean(0.0, 0.1)
    assert bucket.interval == pytest.approx(0.95)
    for _ in range(5):
        bucket.clean(0.0, 0.1)
    assert bucket.interval > 0.7


@pytest.mark.parametrize(("latency", "first"), [(0.01, 0.05), (0.3, 0.3), (0.0, 0.05), (100.0, 60.0)])
def test_a_host_without_a_pace_goes_by_its_answers_first(latency: float, first: float) -> None:
    bucket = Bucket()
    if latency:
        bucket.clean(0.0, latency)
    assert bucket.slow(0.0)
    assert bucket.interval == first
    assert not bucket.slow(0.5)
    assert bucket.slow(70.0) == (first < 60)
    assert bucket.interval == min(2 * first, 60)


def test_what_is_learned_is_bounded_but_what_was_promised_is_not() -> None:
    bucket = Bucket(1.0)
    for n in range(20):
        bucket.slow(n * 100.0)
    assert bucket.interval == limits.LONGEST
    bucket.obey(300.0)
    assert (bucket.interval, bucket.learned) == (300.0, 0.0)
    assert not bucket.slow(9999.0)
    bucket.obey(0.0)
    assert bucket.interval == 1.0


def test_a_slow_down_reaches_back_to_the_last_request() -> None:
    bucket = Bucket(1.0)
    bucket.take(10.0)
    bucket.go(10.0)
    assert bucket.next_at == 11.0
    bucket.slow(10.5)
    assert bucket.next_at == 12.0


def test_a_turn_that_leaves_late_keeps_its_distance_to_the_next() -> None:
    """Two turns an interval apart, the first delayed by more than that: the second waits once more."""
    bucket = Bucket(1.0)
    bucket.take(0.0)
    bucket.take(1.0)
    assert bucket.go(1.2) == 0
    assert bucket.go(1.3) == pytest.approx(0.9)
    assert bucket.go(2.2) == 0
    assert bucket.next_at == pytest.approx(3.2)


def test_answers_that_take_ever_longer_slow_the_pace() -> None:
    bucket = Bucket(0.5)
    for n in range(50):
        assert not bucket.clean(n * 0.5, 0.1)
    slowed = [bucket.clean(30.0 + n * 0.5, 3.0) for n in range(20)]
    assert not any(slowed[:2])  # one slow page is no slow host
    assert 2 <= sum(slowed) <= 10
    assert bucket.interval == pytest.approx(0.5 * 1.25 ** sum(slowed))


def test_one_slow_page_and_a_host_that_always_was_slow_change_nothing() -> None:
    bucket = Bucket(0.5)
    for n in range(40):
        assert not bucket.clean(n * 1.0, 30.0 if n == 20 else 0.1)
    always = Bucket(0.5)
    assert not any(always.clean(n * 1.0, 5.0) for n in range(40))


def test_a_bucket_may_hold_more_than_one() -> None:
    bucket = Bucket(2.0, capacity=3)
    for _ in range(3):
        assert bucket.next_at <= 10.0
        bucket.take(10.0)
    assert bucket.next_at == 12.0
    assert bucket.ready_at(2) == 14.0
    with pytest.raises(ValueError, match="more than 3"):
        bucket.ready_at(4)
