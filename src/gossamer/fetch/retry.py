"""Which failures are worth another try, and when."""

from __future__ import annotations

import email.utils
import random
import time
from datetime import UTC

import msgspec

from gossamer import clock
from gossamer.errors import FetchError
from gossamer.settings import ScraperConfig
from gossamer.values import Ending, Outcome, Request, Response

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0

#: Statuses that may pass: the request timed out, came too early or too often, or the server is in trouble.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, *range(506, 600)})


def worth_retrying(status: int) -> bool:
    """Whether the same request may get a better answer a little later."""
    return status in _TRANSIENT


def backoff(attempts: int) -> float:
    """Seconds to wait before the next try: full jitter, so that failures that came together do not return together."""
    return random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(attempts, 30)))


def retry_after(response: Response) -> float | None:
    """Seconds a site asks us to stay away, from either form of Retry-After; None if it does not."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        then = email.utils.parsedate_to_datetime(value)
        # A date that names no zone is meant in GMT, as all dates in HTTP are.
        return max(0.0, (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - time.time())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


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
        status=response.status,
        size=len(response.body),
        started=response.started,
        elapsed=response.elapsed,
    )
    return _again_or_failed(request, config, outcome, transient=worth_retrying(response.status))


def _again_or_failed(request: Request, config: ScraperConfig, outcome: Outcome, *, transient: bool) -> Outcome:
    if not transient or request.attempts >= config.retries:
        return outcome
    wait = max(backoff(request.attempts), 0.001)
    return msgspec.structs.replace(outcome, ending=Ending.LATER, attempt=True, not_before=clock.now() + wait)
