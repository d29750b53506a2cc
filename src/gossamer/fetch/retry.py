"""Which failures are worth another try, and when."""

from __future__ import annotations

import email.utils
import math
import random
import time
from datetime import UTC

import msgspec

from gossamer import clock
from gossamer.errors import Blocked, FetchError, Retry
from gossamer.settings import ScraperConfig
from gossamer.values import Ending, Outcome, Request, Response

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
#: A longer Retry-After counts as this one: nobody means more, and some that are written no clock could add.
LONGEST_ASKED = 366 * 86400.0

#: Statuses that may pass: the request timed out, came too early or too often, or the server is in trouble.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, *range(506, 600)})
#: What a status asks for, where there is something to do about it.
_WANTED = {401: "it wants a login: put one into the start URL (https://user:password@...) or into self.secrets"}


def worth_retrying(status: int) -> bool:
    """Whether the same request may get a better answer a little later."""
    return status in _TRANSIENT


def ceiling(attempt: int, first: float, factor: float, longest: float | None, least: float = 0.0) -> float:
    """The longest wait before a try, counted from 1: `first`, then each time `factor` times as long, within bounds.

    >>> [ceiling(attempt, 0.5, 2, 60) for attempt in (1, 2, 3, 50)]
    [0.5, 1.0, 2.0, 60.0]
    """
    most = math.inf if longest is None else longest
    try:
        wait = first * factor ** (attempt - 1)
    except OverflowError:
        wait = math.inf
    return float(max(least, min(most, wait)))


def backoff(attempts: int) -> float:
    """Seconds to wait before the next try: full jitter, so that failures that came together do not return together."""
    return random.uniform(0, ceiling(attempts + 1, FIRST_WAIT, 2.0, LONGEST_WAIT))


def retry_after(response: Response) -> float | None:
    """Seconds a site asks us to stay away, from either form of Retry-After; None if it does not."""
    if response.headers.get("retry-after") is None:
        return None
    now = time.time()
    # Of several, the longest: nobody was promised the others.
    asked = [seconds_asked(value, now) for value in response.headers.getall("retry-after")]
    return max((seconds for seconds in asked if seconds is not None), default=None)


def seconds_asked(value: str, now: float) -> float | None:
    """What a Retry-After header says at a time, in seconds: a number of them, or a date. None if it says neither.

    >>> seconds_asked("120", 0.0), seconds_asked("Thu, 01 Jan 1970 00:01:00 GMT", 50.0), seconds_asked("soon", 0.0)
    (120.0, 10.0, None)
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value), LONGEST_ASKED)
    try:
        then = email.utils.parsedate_to_datetime(value)
        # A date that names no zone is meant in GMT, as all dates in HTTP are.
        wait = (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(max(0.0, wait), LONGEST_ASKED)


def failed(request: Request, error: FetchError, started: float, elapsed: float, config: ScraperConfig) -> Outcome:
    """The outcome of a fetch that brought no answer: later, while attempts are left; else failed."""
    return _again_or_failed(
        request,
        config,
        Outcome(request, Ending.FAILED, error.reason, str(error), started=started, elapsed=elapsed),
        transient=error.transient,
    )


def refused(request: Request, response: Response, config: ScraperConfig) -> Outcome:
    """The outcome of a fetch that brought a status nobody asked for."""
    outcome = Outcome(
        request,
        Ending.FAILED,
        f"http_{response.status}",
        _WANTED.get(response.status),
        status=response.status,
        size=len(response.body),
        started=response.started,
        elapsed=response.elapsed,
    )
    return _again_or_failed(request, config, outcome, transient=worth_retrying(response.status))


def unusable(request: Request, response: Response, error: Retry | Blocked, config: ScraperConfig) -> Outcome:
    """The outcome of a fetch that brought no page, although its status says so: a captcha, or what `validate` says."""
    outcome = Outcome(
        request,
        Ending.FAILED,
        error.reason,
        str(error),
        status=response.status,
        size=len(response.body),
        started=response.started,
        elapsed=response.elapsed,
    )
    return _again_or_failed(request, config, outcome, transient=True)


def _again_or_failed(request: Request, config: ScraperConfig, outcome: Outcome, *, transient: bool) -> Outcome:
    if not transient or request.attempts >= config.retries:
        return outcome
    wait = max(backoff(request.attempts), 0.001)
    return msgspec.structs.replace(outcome, ending=Ending.LATER, attempt=True, not_before=clock.now() + wait)
