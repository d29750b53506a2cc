"""Which failures are worth another try, and when."""

from __future__ import annotations

import email.utils
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import Blocked, ConnectFailed, Retry, TooLarge
from gossamer.fetch import retry
from gossamer.settings import ScraperConfig
from gossamer.values import Ending, Headers, Request, Response
from tests.unit.pages import response

CONFIG = ScraperConfig(retries=2)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520, 599])
def test_a_passing_trouble_is_worth_another_try(status: int) -> None:
    outcome = retry.refused(Request("u"), response(b"body", status=status), CONFIG)
    assert (outcome.ending, outcome.reason, outcome.status) == (Ending.LATER, f"http_{status}", status)
    assert outcome.attempt
    assert 0 < outcome.not_before - time.time() <= retry.FIRST_WAIT
    assert (outcome.size, outcome.started) == (4, 1000.5)


@pytest.mark.parametrize("status", [304, 400, 401, 403, 404, 405, 410, 451, 501, 505])
def test_a_final_answer_is_not(status: int) -> None:
    outcome = retry.refused(Request("u"), response(status=status), CONFIG)
    assert (outcome.ending, outcome.reason, outcome.attempt) == (Ending.FAILED, f"http_{status}", False)


def test_attempts_run_out() -> None:
    for attempts, ending in ((0, Ending.LATER), (1, Ending.LATER), (2, Ending.FAILED), (3, Ending.FAILED)):
        outcome = retry.failed(Request("u", attempts=attempts), ConnectFailed("no connection"), 5.0, 0.5, CONFIG)
        assert (outcome.ending, outcome.reason, outcome.detail) == (ending, "connect", "no connection")
        assert (outcome.started, outcome.elapsed) == (5.0, 0.5)
    assert retry.failed(Request("u"), ConnectFailed(""), 0, 0, ScraperConfig(retries=0)).ending is Ending.FAILED


def test_what_will_not_change_is_not_tried_again() -> None:
    assert retry.failed(Request("u"), TooLarge("too large"), 0, 0, CONFIG).ending is Ending.FAILED


def test_a_page_that_is_no_page_is_tried_again_while_attempts_are_left() -> None:
    for error in (Retry("not yet"), Blocked("a captcha")):
        outcome = retry.unusable(Request("u"), response(b"body"), error, CONFIG)
        assert (outcome.ending, outcome.reason, outcome.detail) == (Ending.LATER, error.reason, str(error))
        assert (outcome.attempt, outcome.status, outcome.size) == (True, 200, 4)
        last = retry.unusable(Request("u", attempts=2), response(b"body"), error, CONFIG)
        assert (last.ending, last.not_before) == (Ending.FAILED, 0.0)


@given(st.integers(0, 2000))
def test_the_wait_grows_to_a_limit_and_is_never_negative(attempts: int) -> None:
    wait = retry.backoff(attempts)
    assert 0 <= wait <= min(retry.LONGEST_WAIT, retry.FIRST_WAIT * 2 ** min(attempts, 20))


def test_waits_are_spread_out() -> None:
    assert len({retry.backoff(5) for _ in range(20)}) > 10


@given(st.integers(1, 10**6), st.floats(0, 1e6), st.floats(1, 1e6), st.none() | st.floats(0, 1e6), st.floats(0, 100))
def test_no_wait_is_out_of_bounds(
    attempt: int, first: float, factor: float, longest: float | None, least: float
) -> None:
    wait = retry.ceiling(attempt, first, factor, longest, least)
    assert wait >= least
    assert longest is None or wait <= max(least, longest)


# --- Retry-After ---


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("0000000000120", 120.0),
        ("9" * 400, 366 * 86400),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_a_site_may_ask_for_a_time_away(value: str, seconds: float) -> None:
    assert retry.retry_after(response(retry_after=value)) == seconds


@pytest.mark.parametrize("zone", ["GMT", "+0000", "-0000", ""])
def test_a_date_without_a_zone_is_meant_in_gmt(
    zone: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(time.tzset)
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    value = email.utils.formatdate(time.time() + 100, usegmt=True).replace("GMT", zone)
    assert retry.retry_after(response(retry_after=value)) == pytest.approx(100, abs=3)


@pytest.mark.parametrize(
    "value", ["", "soon", "-5", "1.5", "²", "٣", "Wed, 99 Foo 2015", "0 Jan 0 99:99:99 +9999999999"]
)
def test_what_is_no_time_is_ignored(value: str) -> None:
    assert retry.retry_after(response(retry_after=value)) is None


def test_most_answers_ask_for_nothing() -> None:
    assert retry.retry_after(response()) is None


dates = st.lists(
    st.sampled_from(["Wed,", "21", "Oct", "2015", "99999", "07:28:00", "GMT", "+9900", "-0000", ":", "0"])
    | st.text(max_size=4),
    max_size=7,
).map(" ".join)


@given(dates | st.text() | st.from_regex(r"[0-9]{1,400}", fullmatch=True))
def test_no_header_makes_the_wait_negative_or_raises(value: str) -> None:
    wait = retry.retry_after(response(retry_after=value))
    assert wait is None or 0 <= wait <= retry.LONGEST_ASKED


def test_of_several_retry_afters_the_longest_counts() -> None:
    headers = Headers([("retry-after", "1"), ("retry-after", "soon"), ("retry-after", "4")])
    assert retry.retry_after(Response("https://a.org/", 503, headers, b"", 0.0, 0.0)) == 4.0
