"""When a scraper runs by itself: the value `Schedule`, how it is written, and at which times it comes due.

Times are computed by APScheduler, which the extra `service` brings; a schedule can be written and checked without it.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from gossamer import crontab, settings
from gossamer.errors import ConfigError

#: Failed runs in a row after which a scraper backs off.
PAUSE_AFTER = 3
#: The least time between two runs of one schedule, in seconds.
SHORTEST = 1.0
#: The most bytes that the parameters of a schedule may take, as JSON.
LARGEST_PARAMS = 20_000
#: Calendars end with the year 9999, and this is well before.
_END_OF_TIME = 200_000_000_000.0
#: No two times that fit a cron string are further apart: the 29th of February is left out in 2100.
_LONGEST_PAUSE = 20 * 366 * 86400.0
MISFIRE = ("coalesce", "skip", "all")
OVERLAP = ("skip", "queue")


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """When a scraper runs by itself."""

    name: str
    #: The name of the scraper.
    scraper: str
    #: How much time is between two runs, as it was written: "6h". Empty if `cron` says when.
    every: str = ""
    #: A cron string. Empty if `every` says when.
    cron: str = ""
    #: What the hours of `cron` mean.
    timezone: str = "UTC"
    #: Each run is put off by up to so many seconds, so that not all begin at the full hour.
    jitter: float = 0.0
    #: Seconds before the first run, counted from when the schedule was first seen; None: as long as `every`.
    first_delay: float | None = None
    #: What becomes of runs that were missed while no service was there: one for all, none, or each.
    misfire: str = "coalesce"
    #: What becomes of a run that comes due while the scraper is at work: it is left out, or waits.
    overlap: str = "skip"
    #: Failed runs in a row after which it backs off; None: never.
    pause_after: int | None = PAUSE_AFTER
    #: Seconds without a new item after which somebody should hear of it; None: never.
    silence: float | None = None
    enabled: bool = True
    #: Parameters for the scraper.
    params: dict[str, Any] = {}
    #: When the schedule was first seen, in seconds since 1970: where `every` is counted from.
    anchor: float = 0.0
    #: Whether nobody but the author, or who has a shell here, had a say in its parameters.
    trusted: bool = True

    @property
    def trigger(self) -> str:
        """When it comes due, in a few words; empty if nothing says so."""
        if self.every:
            return f"every {self.every}"
        zone = "" if self.timezone == "UTC" else f" ({self.timezone})"
        return f"{self.cron}{zone}" if self.cron else ""

    @property
    def seconds(self) -> float:
        """The time between two runs that `every` says. In whole milliseconds, for due times are keys."""
        return round(settings.duration(self.every), 3)

    @property
    def start(self) -> float:
        """Where the times of `every` begin; those of `cron` come after it."""
        usual = self.seconds if self.every else 0.0
        return round(self.anchor + (usual if self.first_delay is None else self.first_delay), 3)


# -- how it is written -----------------------------------------------------------------------------------------


def _interval(value: object) -> str:
    if settings.duration(value) < SHORTEST:
        raise ValueError("write a time of at least a second, like '15m', '6h' or '1d'")
    return value.strip() if isinstance(value, str) else f"{settings.duration(value):g}s"


def _cron(value: object) -> str:
    crontab.read(value)
    return " ".join(str(value).split())


def _timezone(value: object) -> str:
    try:
        return ZoneInfo(str(value)).key if isinstance(value, str) and value else _no_zone()
    except (KeyError, ValueError, OSError):
        return _no_zone()


def _no_zone() -> str:
    raise ValueError("write a time zone by its name, like 'Europe/Berlin' or 'UTC'")


def _duration_or_zero(value: object) -> float:
    return 0.0 if str(value).strip() in ("0", "0.0", "0s") else settings.duration(value)


def _params(value: object) -> dict[str, Any]:
    try:
        found = msgspec.json.encode(value, order="deterministic")
    except (TypeError, ValueError, OverflowError, RecursionError) as why:
        raise ValueError(f"write a dict of JSON values ({why})") from None
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ValueError("write a dict of JSON values")
    if len(found) > LARGEST_PARAMS:
        raise ValueError(f"it has {len(found):,} bytes, and {LARGEST_PARAMS:,} are the most")
    made: dict[str, Any] = msgspec.json.decode(found)
    return made


#: What a schedule says, and how each is read. They may stand on a scraper, all but the last two, and be changed.
FIELDS: Mapping[str, Callable[[object], Any]] = {
    "every": _interval,
    "cron": _cron,
    "timezone": _timezone,
    "jitter": _duration_or_zero,
    "first_delay": _duration_or_zero,
    "misfire": settings.one_of(*MISFIRE),
    "overlap": settings.one_of(*OVERLAP),
    "pause_after": settings.optional(settings.width),
    "silence": settings.optional(settings.duration),
    "enabled": settings.switch,
    "params": _params,
}
TRIGGERS = ("every", "cron")
#: What may stand on a scraper.
ON_SCRAPER = tuple(name for name in FIELDS if name not in ("enabled", "params"))
#: What holds where a scraper says nothing.
_DEFAULTS: Mapping[str, Any] = {
    "every": None,
    "cron": None,
    "timezone": "UTC",
    "jitter": 0,
    "first_delay": None,
    "misfire": "coalesce",
    "overlap": "skip",
    "pause_after": PAUSE_AFTER,
    "silence": None,
}


def read(name: str, value: object) -> Any:
    """One field, as a person wrote it. Raises ConfigError, naming it."""
    try:
        return FIELDS[name](value)
    except ValueError as why:
        raise ConfigError(f"{name} = {value!r:.100} cannot be used: {why}") from None


def read_all(given: Mapping[str, object]) -> dict[str, Any]:
    """Several fields. Raises ConfigError for a bad one, and for two that say when."""
    found = {name: read(name, value) for name, value in given.items()}
    if all(found.get(name) for name in TRIGGERS):
        raise ConfigError("every and cron both say when: write one of them")
    return found


def declared(scraper: Any) -> dict[str, Any]:
    """What a scraper class says of its schedule, where that differs from what holds anyway. Raises ConfigError."""
    said = {name: getattr(scraper, name) for name in ON_SCRAPER}
    found = read_all({name: value for name, value in said.items() if value != _DEFAULTS[name]})
    return found | ({"enabled": False} if scraper.paused else {})


def overlaid(name: str, scraper: str, anchor: float, said: Mapping[str, Any], changed: Mapping[str, Any]) -> Schedule:
    """The schedule that holds: what its file says, and over it what people changed."""
    below = {
        key: value for key, value in said.items() if key not in TRIGGERS or not any(t in changed for t in TRIGGERS)
    }
    known = {key: value for key, value in {**below, **changed}.items() if key in FIELDS or key == "trusted"}
    return Schedule(name=name, scraper=scraper, anchor=anchor, **known)


# -- when it comes due -----------------------------------------------------------------------------------------


def due_after(schedule: Schedule, moment: float) -> float | None:
    """The first time after a moment at which a schedule comes due, jitter not counted; None if it never does."""
    if max(moment, schedule.start) > _END_OF_TIME:
        return None
    if schedule.every:
        return _on_grid(schedule.seconds, schedule.start, moment)
    if not schedule.cron:
        return None
    return _by_cron(schedule.cron, schedule.timezone, max(moment, schedule.start))


def last_due(schedule: Schedule, moment: float) -> float | None:
    """The last time up to a moment at which a schedule came due; None if it never did."""
    if schedule.every:
        following = _on_grid(schedule.seconds, schedule.start, moment)
        return round(following - schedule.seconds, 3) if following > schedule.start else None
    back = 3600.0
    while back < _LONGEST_PAUSE:  # first near, then far: there may be one every minute, and one in four years
        found = None
        for due in itertools.takewhile(lambda due: due <= moment, dues(schedule, moment - back)):
            found = due
        if found is not None or moment - back < schedule.start:
            return found
        back *= 4
    return None


def dues(schedule: Schedule, moment: float) -> Iterator[float]:
    """The times after a moment at which a schedule comes due, one after the other, without jitter."""
    due = due_after(schedule, moment)
    while due is not None:
        yield due
        due = due_after(schedule, due)


def fires_at(schedule: Schedule, due: float) -> float:
    """When the run of a due time begins: put off by the jitter, equally for everybody who computes it.

    It is never put off beyond the next due time, so that runs begin in the order in which they are due.
    """
    if not schedule.jitter:
        return due
    following = due_after(schedule, due)
    most = schedule.jitter if following is None else min(schedule.jitter, following - due)
    seed = hashlib.sha256(f"{schedule.name}\0{due:.3f}".encode()).digest()
    return due + most * (int.from_bytes(seed[:6]) / (1 << 48))


def next_times(schedule: Schedule, now: float, n: int) -> list[float]:
    """The next times at which runs of a schedule begin, up to `n` of them, in order."""
    # The run of the last due time may have been put off, and be still to come.
    last = last_due(schedule, now) if schedule.jitter else None
    times = (fires_at(schedule, due) for due in itertools.chain([] if last is None else [last], dues(schedule, now)))
    return list(itertools.islice((time for time in times if time > now), n))


def needs_apscheduler() -> Any:
    """The triggers of APScheduler. Raises ConfigError where it is not installed."""
    try:
        cron = importlib.import_module("apscheduler.triggers.cron")
        interval = importlib.import_module("apscheduler.triggers.interval")
    except ImportError:
        raise ConfigError("schedules need more than is installed: pip install 'gossamer[service]'") from None
    return cron.CronTrigger, interval.IntervalTrigger


@lru_cache(maxsize=1024)
def _interval_trigger(seconds: float, start: float) -> Any:
    _, made = needs_apscheduler()
    return made(seconds=seconds, start_date=datetime.fromtimestamp(start, UTC), timezone=UTC)


def _on_grid(seconds: float, start: float, moment: float) -> float:
    """The first time after a moment that is a whole number of intervals from the start."""
    trigger = _interval_trigger(seconds, start)
    # Rounded, for it is a key: whoever computes it must find the same.
    found: float = round(trigger.get_next_fire_time(None, datetime.fromtimestamp(moment, UTC)).timestamp(), 3)
    if found <= moment:
        later = datetime.fromtimestamp(moment + seconds / 2, UTC)
        found = round(trigger.get_next_fire_time(None, later).timestamp(), 3)
    return found


@lru_cache(maxsize=1024)
def _cron_triggers(text: str, timezone: str) -> tuple[bool, tuple[Any, ...]]:
    """Whether a cron string means every hour; and the triggers that compute it, the earliest of which counts."""
    made, _ = needs_apscheduler()
    tab = crontab.read(text)
    zone = ZoneInfo(timezone) if tab.hourly else UTC
    ways = (True, False) if tab.either else (True,)
    return tab.hourly, tuple(made(**tab.fields(by_weekday=way), second="0", timezone=zone) for way in ways)


def _by_cron(text: str, timezone: str, moment: float) -> float | None:
    """The first whole minute after a moment that fits a cron string, as clocks of a time zone show it.

    What is to run at some hour runs once a day, also when clocks are set: if they skip that hour, when they do; if
    they show it twice, the first time. What is to run every hour runs every hour.
    """
    hourly, triggers = _cron_triggers(text, timezone)
    zone = ZoneInfo(timezone)
    if hourly:
        # As minutes are what it is about, the first second that can be meant is the next one.
        begin = datetime.fromtimestamp(int(moment) + 1, zone)
        return _earliest(triggers, begin)
    # The triggers count in hours as a clock on the wall shows them, and know nothing of its being set.
    wall = datetime.fromtimestamp(int(moment), zone).replace(tzinfo=UTC).timestamp()
    while (found := _earliest(triggers, datetime.fromtimestamp(wall + 1, UTC))) is not None:
        meant = _shown(datetime.fromtimestamp(found, UTC).replace(tzinfo=None), zone)
        if meant > moment:
            return meant
        wall = found
    return None


def _earliest(triggers: tuple[Any, ...], begin: datetime) -> float | None:
    try:
        found = [trigger.get_next_fire_time(None, begin) for trigger in triggers]
    except (OverflowError, ValueError):  # beyond the year 9999
        return None
    return min((each.timestamp() for each in found if each is not None), default=None)


def _shown(wall: datetime, zone: ZoneInfo) -> float:
    """When clocks of a zone first show a time; if they skip it, when they do."""
    after = wall.replace(tzinfo=zone, fold=0).timestamp()
    if datetime.fromtimestamp(after, zone).replace(tzinfo=None) == wall:
        return after
    # Counted as before the change it lies behind it, and counted as after it before: the change is between.
    before = wall.replace(tzinfo=zone, fold=1).timestamp()
    offset = datetime.fromtimestamp(after, zone).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
