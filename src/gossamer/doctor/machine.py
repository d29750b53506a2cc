"""The machine: open files, memory, clock, time zones, certificates."""

from __future__ import annotations

import resource
import ssl
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import gossamer
from gossamer import terminal
from gossamer.doctor.finding import Area, Finding, told
from gossamer.settings import ScraperConfig

_area = Area("machine")

#: Files that are open besides connections: store, archive, logs, libraries.
BESIDES = 96
#: Bytes of memory that should be free: for a run, and for one that renders.
ROOM = 256 << 20
ROOM_TO_RENDER = 1 << 30
#: Seconds that a clock may be off: then robots.txt and schedules are a little late; and so far that nothing is right.
OFF = 5.0
FAR_OFF = 120.0
#: A clock further ahead than this of the newest file or row is one that nobody set.
FUTURE = timedelta(days=365 * 20)


def look(config: ScraperConfig, newest: float | None = None) -> Iterator[Finding]:
    """All of it; `newest` is the newest moment that the store knows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield open_files(config.concurrency, soft, hard)
    yield memory(available_memory(), render=config.render)
    yield clock(time.time(), _built(), newest)
    yield time_zones()
    yield certificates()


def open_files(concurrency: int, soft: int, hard: int) -> Finding:
    """Whether as many connections can be open as the settings allow at the same time."""
    # A connection that closes and the one that takes its place may both be there for a moment.
    wanted = 2 * concurrency + BESIDES
    shown = "no limit" if soft == resource.RLIM_INFINITY else f"{soft:,}"
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _area.ok("open files", f"{shown} may be open, enough for {concurrency:,} requests at the same time")
    text = f"only {shown} may be open, and {concurrency:,} requests at the same time need {wanted:,}"
    if hard == resource.RLIM_INFINITY or hard >= wanted:
        return _area.problem("open files", text, f"say `ulimit -n {wanted}` before the command, or lower concurrency")
    fits = max(1, (hard - BESIDES) // 2)
    return _area.problem(
        "open files",
        f"{text}; the system allows at most {hard:,}",
        f"set concurrency = {fits}, or raise the limit (LimitNOFILE={wanted} in systemd, nofile in limits.conf)",
    )


def memory(free: int | None, *, render: bool) -> Finding:
    """Whether there is room to work in."""
    wanted = ROOM_TO_RENDER if render else ROOM
    if free is None:
        return _area.ok("memory", "this system does not say how much is free")
    text = f"{terminal.size(free)} free"
    if free >= wanted:
        return _area.ok("memory", text)
    why = "a browser that renders pages wants more" if render else "a run of many hosts wants more"
    return _area.warning("memory", f"{text}; {why}", "end other programs, or lower concurrency and render_pages")


def available_memory() -> int | None:
    """Bytes that may still be used here: of the machine, or of the container if that allows less."""
    told_of = [line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemAvailable:")]
    found = [int(kilobytes) << 10 for kilobytes in told_of if kilobytes.isdecimal()]
    limit, used = _lines("/sys/fs/cgroup/memory.max"), _lines("/sys/fs/cgroup/memory.current")
    if limit and used and limit[0].isdecimal() and used[0].isdecimal():
        found.append(max(0, int(limit[0]) - int(used[0])))
    return min(found, default=None)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("ascii", "replace").splitlines()
    except OSError:
        return []


# -- time ------------------------------------------------------------------------------------------------------


def clock(now: float, built: float, newest: float | None) -> Finding:
    """Whether the date can be right: not before Gossamer was installed, nor before what the store remembers."""
    shown = f"it is {datetime.fromtimestamp(now).astimezone().isoformat(' ', 'seconds')} here"
    fix = "set the clock (`timedatectl set-ntp true`): waits, schedules and robots.txt are kept by it"
    if newest is not None and now < newest - OFF:
        ago = terminal.span(newest - now)
        return _area.problem("clock", f"{shown}, {ago} before the newest row of the store", fix)
    if now < built - FAR_OFF:
        return _area.problem("clock", f"{shown}, before this Gossamer was installed", fix)
    if now > built + FUTURE.total_seconds():
        return _area.warning("clock", f"{shown}, many years after this Gossamer was installed", fix)
    return _area.ok("clock", shown)


def steady(began: tuple[float, float], ended: tuple[float, float]) -> Finding:
    """Whether the clock went on evenly: pairs of wall clock and monotonic clock, as `moments` gives them."""
    drift = (ended[0] - began[0]) - (ended[1] - began[1])
    looked = ended[1] - began[1]
    if abs(drift) > 0.1 + looked / 100:
        return _area.warning(
            "clock pace",
            f"the clock was set by {drift:+.2f} s in the {looked:.1f} s of this look",
            "let one program set the clock (ntpd, chronyd or systemd-timesyncd), by small steps",
        )
    return _area.ok("clock pace", f"no jump in the {looked:.1f} s of this look")


def moments() -> tuple[float, float]:
    """The wall clock and the monotonic clock, now."""
    return time.time(), time.monotonic()


def against(host: str, date: str, now: float) -> Finding | None:
    """The clock beside that of a host, which writes it into every answer; None if it wrote nothing that can be read."""
    try:
        theirs = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    off = now - theirs
    text = f"{abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} {host}"
    # A Date has whole seconds, and an answer takes its time.
    if abs(off) <= OFF:
        return _area.ok("clock beside a host", f"within {OFF:g} s of {host}")
    fix = "set the clock (`timedatectl set-ntp true`), unless it is the host's that is wrong"
    make = _area.problem if abs(off) > FAR_OFF else _area.warning
    return make("clock beside a host", text, fix)


def time_zones() -> Finding:
    """Whether schedules can be kept in people's own time."""
    try:
        ZoneInfo("Europe/Berlin")
    except Exception as error:  # noqa: BLE001 - a broken database raises what it likes
        return _area.warning(
            "time zones",
            f"there is no database of time zones ({told(error)}); schedules can be kept in UTC only",
            "pip install tzdata, or install your system's tzdata",
        )
    return _area.ok("time zones", "the database is there")


def certificates() -> Finding:
    """The authorities that Python trusts. Pages are verified with a list that comes with the HTTP client."""
    paths = ssl.get_default_verify_paths()
    try:
        known = ssl.create_default_context().cert_store_stats()["x509_ca"]
    except (ssl.SSLError, OSError) as error:
        known, why = 0, f" ({told(error)})"
    else:
        why = ""
    folder = Path(paths.capath or "")
    # Those of a folder are loaded when they are needed.
    if known or (paths.capath and folder.is_dir() and any(folder.iterdir())):
        return _area.ok("certificates", f"{known or 'a folder of'} authorities for mail; pages have a list of our own")
    return _area.warning(
        "certificates",
        f"Python trusts no authority{why}: alerts by mail over TLS cannot be sent; pages have a list of our own",
        "install your system's ca-certificates, or set SSL_CERT_FILE",
    )


def _built() -> float:
    """When this Gossamer was written to the disk."""
    try:
        return Path(gossamer.__file__ or "").stat().st_mtime
    except OSError:
        return 0.0
