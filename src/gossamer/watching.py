"""What people should hear of, worked out from rows alone: whoever looks at the same rows says the same.

A message has a key made of what it is about (the run and when it ended, the silence and when it began), so it does not
matter who looks, how often, or after how many crashes: the store keeps each key once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from urllib.parse import quote

import msgspec

from gossamer.drift import Alarm
from gossamer.messages import LONGEST_QUOTE, LONGEST_TITLE, Message, lines, one_line
from gossamer.storage import counting

#: Failed runs in a row that are told of, and so on: 100, 300, 1,000 ...
LADDER = (1, 3, 10, 30)
#: Seconds after which the end of a run is no news: a service that was off for a month does not tell all of it.
NEWS = 7 * 86400.0
#: Findings of a suspect run that are named.
FINDINGS = 5

_alarm = msgspec.json.Decoder(Alarm).decode


class Standing(msgspec.Struct, frozen=True):
    """What the store knows of a scraper, as far as it matters here."""

    name: str
    enabled: bool
    #: Ends of runs that were counted.
    runs: int
    last_run: int | None
    last_ended: float | None
    last_new: float | None
    #: Failed runs since the last good one.
    streak: int
    breaker: str
    open_until: float


class Ended(msgspec.Struct, frozen=True):
    """A run that has ended."""

    id: int
    state: str
    reason: str
    verdict: str
    ended: float
    pages: int
    items: int
    failed: int
    #: JSON: why it is suspect.
    alarm: str | None = None

    @property
    def is_failure(self) -> bool:
        """As the store counts it."""
        return bool(counting.counts_as(self.state, self.reason, self.verdict)[1])

    @property
    def is_success(self) -> bool:
        """As the store counts it: what people ended, or held back, is neither."""
        return bool(counting.counts_as(self.state, self.reason, self.verdict)[0])


# -- runs --------------------------------------------------------------------------------------------------------


def of_runs(standing: Standing, window: Iterable[Ended], *, since: float, now: float) -> list[Message]:
    """What the newest runs of a scraper give to tell; of those that ended after alerts began, `since`."""
    found: list[Message] = []
    untold = False  # a streak began before there were alerts: its next failure is the first one to tell of
    for run, streak, before in _streaks(standing, sorted(window, key=lambda each: (each.ended, each.id))):
        if run.ended <= since:
            untold = run.is_failure or (untold and not run.is_success)
            continue
        first, untold = untold and run.is_failure, untold and not (run.is_failure or run.is_success)
        if run.ended <= now - NEWS:
            continue
        # One that failed breaks the pattern too: once is enough.
        if run.verdict == "suspect" and not run.is_failure:
            found.append(_drift(standing, run))
        if streak is not None and run.is_failure and (first or _is_told(streak)):
            found.append(_failure(standing, run, streak))
        if before and run.is_success:
            found.append(_recovery(standing, run, before))
    return found


def _streaks(standing: Standing, runs: Sequence[Ended]) -> Iterable[tuple[Ended, int | None, int]]:
    """Each run with the failures in a row up to it (None: nobody knows), and those right before it.

    Where the beginning of a streak lies before the window, the store's own count says how long the last one is. An
    earlier one of unknown length is not guessed at: it was told of in its time.
    """
    count: int | None = None
    if not any(run.is_success for run in runs):
        count = max(0, standing.streak - sum(run.is_failure for run in runs))
    elif len(runs) >= standing.runs:
        count = 0  # these are all there ever were
    known = 0  # of the failures before, those that are in the window
    for run in runs:
        if run.is_failure:
            known += 1
            count = None if count is None else count + 1
            yield run, count, 0
        elif run.is_success:
            yield run, 0, count or known
            count = known = 0
        else:
            yield run, count, 0


def _is_told(streak: int) -> bool:
    while streak > LADDER[-1] and streak % 10 == 0:
        streak //= 10
    return streak in LADDER


def _failure(standing: Standing, run: Ended, streak: int) -> Message:
    row = f"{streak} failed runs in a row" if streak > 1 else f"run {run.id} failed"
    body = [f"Run {run.id} ended at {moment(run.ended)}: {_ending(run)}.", _counts(run)]
    if standing.breaker != "closed" and standing.open_until > run.ended:
        body.append(f"The scraper is paused until {moment(standing.open_until)}.")
    if run.verdict == "suspect":
        body.append(f"What it found is held back: gossamer drift {run.id}")
    return _about(standing, run, "failure", row, [*body, f"Look closer: gossamer status {run.id}"])


def because(message: Message, causes: Sequence[tuple[str, int]], latest: tuple[str, str] | None) -> Message:
    """A failure with why: what ended walks in words, the most frequent first, and the detail and URL of the latest."""
    told = [f"- {one_line(meaning)}: {count:,} {'page' if count == 1 else 'pages'}" for meaning, count in causes]
    if latest is not None:
        detail, url = latest
        told.append(f"Latest: {one_line(detail, LONGEST_QUOTE - 100)} ({one_line(url, 150)})")
    first, *rest = message.body.split("\n")
    return msgspec.structs.replace(message, body=lines("\n".join([first, *told, *rest])))


def _recovery(standing: Standing, run: Ended, before: int) -> Message:
    after = f"works again, after {before} failed {'run' if before == 1 else 'runs'}"
    body = [f"Run {run.id} ended well at {moment(run.ended)}.", _counts(run)]
    return _about(standing, run, "recovery", after, body)


def _drift(standing: Standing, run: Ended) -> Message:
    alarm = None
    with suppress(msgspec.DecodeError):  # another version wrote it
        alarm = _alarm(run.alarm) if run.alarm else None
    body = [f"Run {run.id} breaks the pattern of the runs before it. What it found is held back."]
    if alarm is not None:
        body.append(f"Likely cause: {alarm.cause} ({alarm.because})")
        body += [f"- {one_line(finding.told)}" for finding in alarm.findings[:FINDINGS]]
        more = len(alarm.findings) - FINDINGS
        body += [f"- and {more} more"] if more > 0 else []
    body.append(f"Decide: gossamer drift {run.id}")
    cause = f": {alarm.cause}" if alarm else ""
    return _about(standing, run, "drift", f"run {run.id} is suspect{cause}", body)


def _about(standing: Standing, run: Ended, kind: str, title: str, body: Iterable[str]) -> Message:
    return message(f"{kind}:{run.id}:{_stamp(run.ended)}", kind, standing.name, title, body, at=run.ended, run=run.id)


_ENDINGS = {
    "start_failed": "no page could be read",
    "held": "all that is left waits for hosts that are held or failing",
}


def _ending(run: Ended) -> str:
    return _ENDINGS.get(run.reason) or one_line(run.reason).rstrip(".") or "it failed"


def _counts(run: Ended) -> str:
    return f"Pages read: {run.pages:,}. Items: {run.items:,}. Pages that failed: {run.failed:,}."


# -- silence and pauses ------------------------------------------------------------------------------------------


def silence(standing: Standing, longest: float, *, since: float, now: float) -> Message | None:
    """That a scraper has brought nothing new for too long. `since` counts where no new item was ever seen."""
    last = standing.last_new
    began = last or since
    if not standing.runs or now - began <= longest:
        return None
    body = [
        f"The last new item came at {moment(last)}." if last else "No new item has come since alerts began.",
        f"Its last run ended at {moment(standing.last_ended)}." if standing.last_ended else "",
        f"It said that new items come at least every {span(longest)}.",
    ]
    key = f"silence:{_safe(standing.name)}:{_stamp(began)}"
    return message(key, "silence", standing.name, f"nothing new for {span(now - began)}", body, at=now)


def pauses(standing: Standing) -> tuple[str, str]:
    """Between which keys those are that tell of a scraper's pauses: the newest of them is the last."""
    first = f"breaker:{_safe(standing.name)}:"
    return first, first[:-1] + ";"


def breaker(standing: Standing, told: str | None, *, now: float) -> Message | None:
    """That a scraper is paused after failures, or goes on; `told` is the newest key of `pauses`."""
    was_paused = told is not None and told.endswith(":1-paused")
    if standing.breaker != "closed" and not was_paused:
        key = f"{pauses(standing)[0]}{_stamp(standing.open_until):015d}:1-paused"
        after = f"after {standing.streak} failed {'run' if standing.streak == 1 else 'runs'}"
        body = [f"It is left alone until {moment(standing.open_until)}; then one run tries whether it works again."]
        return message(key, "breaker", standing.name, f"paused {after}", body, at=now)
    if standing.breaker == "closed" and was_paused and told is not None:
        key = told.removesuffix("1-paused") + "2-goes-on"
        return message(key, "breaker", standing.name, "no longer paused", ["It runs as scheduled again."], at=now)
    return None


# -- words -------------------------------------------------------------------------------------------------------


def message(
    key: str, kind: str, scraper: str, title: str, body: Iterable[str], *, at: float, run: int | None = None
) -> Message:
    """A message about a scraper, of readable text."""
    name = one_line(scraper, 80)
    whole = lines("\n".join(line for line in body if line))
    return Message(key, kind, one_line(f"{name}: {title}", LONGEST_TITLE), whole, at, name, run)


def moment(stamp: float) -> str:
    """A time in words that mean the same everywhere."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(stamp))


def span(seconds: float) -> str:
    """A time for people."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size or (seconds >= size and seconds % size == 0):
            number = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{number} {unit}" if number != "1" else f"1 {unit[:-1]}"
    return f"{seconds:.0f} seconds"


def _stamp(at: float) -> int:
    return int(at * 1000)


def _safe(name: str) -> str:
    return quote(name, safe="")
