"""Every knob, once: its name, meaning, default, and how a written value is read.

A value comes from the first of: a flag (or keyword argument), the scraper's own attribute, the environment
(`GOSSAMER_RATE`, or `GOSSAMER_RATE_FILE` for a file that holds it), `gossamer.toml`, the default. A name or value that
cannot be used is refused by name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import math
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from gossamer import __version__
from gossamer.errors import ConfigError
from gossamer.storage import naming
from gossamer.values import is_secret

PREFIX = "GOSSAMER_"
FILE = "gossamer.toml"
#: What the name of a variable ends with that names a file: its content is the value, which so stands in no environment.
IN_FILE = "_file"
USER_AGENT = f"gossamer/{__version__} (+https://gossamer.readthedocs.io)"

#: No machine has sockets for more requests at the same time.
WIDEST = 10_000
#: A pace slower than one request a year is a mistake.
SLOWEST = 366 * 86400.0

T = TypeVar("T")


class Pace(msgspec.Struct, frozen=True):
    """How often one host may be asked: requests per second. Written `2/s`, `30/min`, `100/h` or `none`.

    >>> Pace.of("30/min").interval
    2.0
    """

    #: None: no limit.
    per_second: float | None

    @classmethod
    def of(cls, value: object) -> Pace:
        """Read a pace as people write it; raises ValueError."""
        if isinstance(value, Pace):
            return value
        if value is None or value == "none":
            return cls(None)
        match = _PACE.fullmatch(str(value).strip().lower())
        rate = float(match[1]) / _PER[match[2] or "s"] if match else 0.0
        if not 1 / SLOWEST <= rate < math.inf:
            raise ValueError("write requests per time, like '2/s', '30/min', '100/h', or 'none'")
        return cls(rate)

    @property
    def interval(self) -> float:
        """Seconds between two requests."""
        return 1 / self.per_second if self.per_second else 0.0

    def __str__(self) -> str:
        if not self.per_second:
            return "none"
        for unit, seconds in (("s", 1), ("min", 60), ("h", 3600), ("d", 86400)):
            short = f"{self.per_second * seconds:.6g}"
            # Rounded to look nice it could be read again as a faster pace.
            if float(short) >= 1 and math.isclose(float(short) / seconds, self.per_second, rel_tol=1e-12):
                return f"{short}/{unit}"
        return f"{self.per_second!r}/s"


_PACE = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?:/\s*(s|sec|second|m|min|minute|h|hour|d|day))?")
_PER = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60}
_PER |= {"h": 3600, "hour": 3600, "d": 86400, "day": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(ms|s|m|min|h|d)?")
#: No time anyone waits for, and one that every clock can add.
_LONGEST = 100 * 365 * 86400.0
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
#: Bytes of memory that a worker needs at least.
LEAST_MEMORY = 128 << 20
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)i?b?")
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def duration(value: object) -> float:
    """Seconds, from a number or from `30s`, `5m`, `2h`."""
    match = _DURATION.fullmatch(str(value).strip().lower())
    seconds = float(match[1]) * _SECONDS[match[2] or "s"] if match else 0.0
    if not 0 < seconds <= _LONGEST:
        raise ValueError("write a time above zero, like '30s', '5m' or '2h'")
    return seconds


def size(value: object) -> int:
    """Bytes, from a number or from `500KB`, `10MB`."""
    match = _SIZE.fullmatch(str(value).strip().lower())
    found = float(match[1]) * _BYTES[match[2]] if match else 0.0
    if not 1 <= found < 1 << 62:
        raise ValueError("write a size above zero, like '500KB' or '10MB'")
    return int(found)


def roomy(value: object) -> int:
    """Bytes that a worker can live with."""
    found = size(value)
    if found < LEAST_MEMORY:
        raise ValueError(f"write a size from {LEAST_MEMORY >> 20}MB, like '1GB': a worker at rest has half of it")
    return found


def count(value: object) -> int:
    """A whole number from 1."""
    return _whole(value, least=1)


def width(value: object) -> int:
    """A whole number from 1 to 10,000."""
    number = _whole(value, least=1)
    if number > WIDEST:
        raise ValueError(f"write a whole number up to {WIDEST:,}")
    return number


def count_or_zero(value: object) -> int:
    """A whole number from 0."""
    return _whole(value, least=0)


def _whole(value: object, least: int) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ValueError(f"write a whole number from {least}")
    return number


def optional(parse: Callable[[object], T]) -> Callable[[object], T | None]:
    """The same, or `none` for no limit."""
    return lambda value: None if value in (None, "none") else parse(value)


def switch(value: object) -> bool:
    """Yes or no."""
    known = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    answer = known.get(str(value).strip().lower())
    if answer is None:
        raise ValueError("write true or false")
    return answer


def line(value: object) -> str:
    """One line of text."""
    if not isinstance(value, str | Path) or not str(value).strip() or not str(value).isprintable():
        raise ValueError("write one line of text")
    return str(value)


def lines(value: object) -> tuple[str, ...]:
    """Several texts; in the environment, separated by spaces."""
    parts = value.split() if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        raise ValueError("write a list of texts")
    return tuple(line(part) for part in parts)


def patterns(value: object) -> tuple[str, ...]:
    """Regular expressions."""
    found = lines(value)
    for pattern in found:
        try:
            re.compile(pattern)
        except re.error as why:
            raise ValueError(f"{pattern!r} is not a regular expression: {why}") from None
    return found


def statuses(value: object) -> tuple[int, ...]:
    """HTTP statuses."""
    parts = value.split() if isinstance(value, str) else value
    parts = [parts] if isinstance(parts, int) else parts
    if not isinstance(parts, list | tuple) or not all(str(p).isdecimal() and 100 <= int(p) <= 599 for p in parts):
        raise ValueError("write a list of HTTP statuses, like [404, 410]")
    return tuple(int(p) for p in parts)


def header_lines(value: object) -> dict[str, str]:
    """Headers by name; in the environment, as a JSON object."""
    if isinstance(value, str):
        with contextlib.suppress(msgspec.DecodeError):
            value = msgspec.json.decode(value)
    ok = isinstance(value, Mapping) and all(
        isinstance(k, str)
        and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", k)
        and isinstance(v, str)
        and v.isprintable()
        for k, v in value.items()
    )
    if not ok:
        raise ValueError('write headers as names with texts, like {"Accept-Language": "en"}')
    return dict(value)  # type: ignore[call-overload,no-any-return]


def stand_in_hosts(value: object) -> dict[str, str]:
    """Hosts, and the URL below which another server stands in for each; in the environment, as a JSON object."""
    if isinstance(value, str):
        with contextlib.suppress(msgspec.DecodeError):
            value = msgspec.json.decode(value)
    ok = isinstance(value, Mapping) and all(
        isinstance(host, str)
        and re.fullmatch(r"[^\s/@?#]+", host)
        and isinstance(url, str)
        and re.fullmatch(r"https?://[^\s@?#]+", url)
        for host, url in value.items()
    )
    if not ok:
        raise ValueError('write hosts with the URLs that stand in for them, like {"a.org": "http://127.0.0.1:8000"}')
    return {host.lower(): url.rstrip("/") for host, url in value.items()}  # type: ignore[attr-defined]


def texts(value: object) -> tuple[str, ...]:
    """Several texts that may have spaces; in the environment, as a JSON list."""
    if isinstance(value, str):
        with contextlib.suppress(msgspec.DecodeError):
            value = msgspec.json.decode(value)
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise ValueError('write a list of texts, like ["one", "two"]')
    return tuple(line(part) for part in value)


def share(value: object) -> float:
    """A share: above 0, at most 1."""
    try:
        found = float(str(value))
    except ValueError:
        found = 0.0
    if not 0 < found <= 1:
        raise ValueError("write a share above 0 and up to 1, like 0.5")
    return found


def revisiting(value: object) -> str | float:
    """`always`, `never`, `changed`, or an age in seconds."""
    if value in ("always", "never", "changed"):
        return str(value)
    try:
        return duration(value)
    except ValueError:
        raise ValueError("write always, never, changed, or an age like '6h'") from None


def gone_rule(value: object) -> str | int | float:
    """`never`, the number of runs an item must be missing from, or an age in seconds."""
    if value == "never":
        return "never"
    if isinstance(value, float) and value > 0:  # read before
        return value
    try:
        return count(value)
    except ValueError:
        pass
    try:
        return float(duration(value))
    except ValueError:
        raise ValueError("write never, a number of runs like 2, or an age like '7d'") from None


def sink_list(value: object) -> tuple[Any, ...]:
    """Where items go on to: URLs, or Sinks. Read by `sinks.sink_of`, which knows them."""
    if value is None or value == "none":
        return ()
    if isinstance(value, str):
        return lines(value)
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def address(value: object) -> str:
    """Where to listen: `host:port`, or a port on loopback."""
    text = line(value).strip()
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) < 65536:
        raise ValueError("write host:port, like 127.0.0.1:8600, or a port")
    return f"{host or '127.0.0.1'}:{int(port)}"


_RESOURCES = ("stylesheet", "image", "media", "font", "script", "xhr", "fetch", "websocket", "other")


def resources(value: object) -> tuple[str, ...]:
    """Kinds of things a page loads, as browsers call them."""
    found = lines(value)
    for name in found:
        if name not in _RESOURCES:
            raise ValueError(f"{name!r} is none of {', '.join(_RESOURCES)}")
    return found


def proxy_source(value: object) -> Any:
    """Where proxies come from. Read by `fetch.proxies.provider_of`, which knows them; never shown."""
    if value is None or value == "none":
        return ()
    if isinstance(value, str | list | tuple):
        return lines(value)
    if isinstance(value, Mapping) or hasattr(value, "pick"):
        return value
    raise ValueError("write URLs of proxies, a file of them, a service's name, or give a ProxyProvider")


def params(given: list[str] | None) -> dict[str, str]:
    """A scraper's parameters, from texts like `year=2026`. Raises ConfigError."""
    found = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"--param {text!r} cannot be used: write name=value")
        if name in found:
            raise ConfigError(f"--param {name} is given twice: give it once")
        found[name] = value
    return found


def one_of(*choices: str) -> Callable[[object], str]:
    """One of a few words."""

    def parse(value: object) -> str:
        if value not in choices:
            raise ValueError(f"write one of {', '.join(choices)}")
        return str(value)

    return parse


_POLITE = Pace(2.0)
_FIVE: int | None = 5
_ALWAYS: str | float = "always"
_ONE_RUN: str | int | float = 1
_ROOMY: int | None = 10 << 30
_ROOMLESS: int | None = 2 << 30
_FOR_EVER: float | None = None
_NO_FILE: str | None = None


def knob(parse: Callable[[object], T], default: T, about: str) -> T:
    """A field of a settings class."""
    return field(default=default, metadata={"parse": parse, "about": about})


#: Knobs that may hold secrets.
_SECRET = ("headers", "proxies", "sinks", "alert_webhooks", "smtp", "store", "broker")


def _given(name: str, value: object) -> str:
    """A value in a message; not one that may hold secrets."""
    return "" if name in _SECRET else f" = {value!r}"


def _check(self: Any) -> None:
    """Read every field by its parser; refuse a bad value by name."""
    for each in dataclasses.fields(self):
        given = getattr(self, each.name)
        try:
            object.__setattr__(self, each.name, each.metadata["parse"](given))
        except ValueError as why:
            raise ConfigError(f"{each.name}{_given(each.name, given)} cannot be used: {why}") from None


class _Given:
    """Remembers which fields were given: a default written on purpose counts, one left out does not."""

    __slots__ = ("given",)
    given: frozenset[str]

    def __new__(cls, **given: Any) -> Self:
        made = super().__new__(cls)
        object.__setattr__(made, "given", frozenset(given))
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class ScraperConfig(_Given):
    """How a scraper behaves. Each field may also stand as an attribute on the scraper class."""

    rate: Any = knob(
        Pace.of,
        _POLITE,
        "requests per second to one host: 2/s, 30/min, none",
    )
    per_host: int = knob(width, 4, "requests to one host at the same time")
    concurrency: int = knob(width, 64, "requests to all hosts at the same time")
    timeout: float = knob(duration, 30.0, "seconds one request may take, from connect to last byte")
    retries: int = knob(count_or_zero, 3, "times a failed request is tried again")
    max_wait: float = knob(
        duration, 900.0, "longest a run waits when all it has left is held or failing; then it stops, to be resumed"
    )
    pace_per: str = knob(one_of("host", "domain"), "host", "what the pace is kept for: each host, or registered domain")
    max_crawl_delay: float = knob(duration, 300.0, "longest pause between requests that a robots.txt may ask for")
    breaker_failures: int | None = knob(
        optional(count), _FIVE, "failures in a row after which a host is left alone for a while; none: never"
    )
    breaker_rate: float = knob(share, 0.5, "share of failures in breaker_window that has the same effect")
    breaker_window: float = knob(duration, 60.0, "the window breaker_rate looks at")
    breaker_wait: float = knob(duration, 30.0, "how long a failing host is left alone at first; doubles each time")
    user_agent: str = knob(line, USER_AGENT, "how we introduce ourselves; robots.txt is read for this name")
    identity: str = knob(
        one_of("honest", "chrome", "firefox", "safari", "edge", "random"),
        "honest",
        "honest, or the browser whose headers and TLS handshake are sent",
    )
    user_agents: tuple[str, ...] = knob(texts, (), "user agents to take turns with, instead of user_agent")
    cookies: str = knob(
        one_of("off", "run", "host", "session"), "run", "who shares cookies: nobody, the run, a host, a named session"
    )
    # These two may hold secrets: no repr shows them.
    proxies: Any = field(
        default=(),
        repr=False,
        metadata={
            "parse": proxy_source,
            "about": "proxies: URLs, a file of them, a service's name, or a ProxyProvider",
        },
    )
    headers: dict[str, str] = field(
        default_factory=dict,
        repr=False,
        metadata={"parse": header_lines, "about": "headers sent with every request"},
    )
    robots: bool = knob(switch, True, "obey robots.txt")
    allow_private: bool = knob(switch, False, "whether links may lead to loopback, private and link-local addresses")
    stand_ins: dict[str, str] = field(
        default_factory=dict,
        metadata={
            "parse": stand_in_hosts,
            "about": "hosts that are asked elsewhere, for trials: host -> URL; * stands for all others",
        },
    )
    insecure_hosts: tuple[str, ...] = knob(lines, (), "hosts whose TLS certificate is not verified")
    first_byte: float = knob(duration, 20.0, "seconds until the first byte of an answer")
    max_body: int = knob(size, 10 << 20, "largest body read, decompressed; a longer one fails its page")
    max_headers: int = knob(size, 64 << 10, "largest headers read")
    max_ratio: int = knob(count, 100, "how many times its size a body beyond 1 MB may unpack to")
    max_download: int = knob(size, 2 << 30, "largest file that page.download fetches")
    spool_above: int = knob(size, 8 << 20, "bodies larger than this are kept in a file while they are read")
    files: str = knob(line, "files", "the folder that page.download puts files in")
    revisit: Any = knob(
        revisiting, _ALWAYS, "fetch again what an earlier run read: always, never, changed, or when older than 6h"
    )
    walls: bool = knob(switch, True, "take captchas and login walls for what they are: blocked, not read")
    max_redirects: int = knob(count_or_zero, 10, "redirects followed from one URL")
    accept_status: tuple[int, ...] = knob(statuses, (), "statuses besides 2xx that handlers want to see")
    content_types: tuple[str, ...] = knob(lines, (), "media types to read; others are skipped unread. Empty: all")
    scope: str = knob(
        one_of("host", "domain", "prefix", "any"),
        "host",
        "where links may lead: the start URLs' host, domain, path prefix, or any",
    )
    include: tuple[str, ...] = knob(patterns, (), "follow only URLs in which one of these expressions is found")
    exclude: tuple[str, ...] = knob(patterns, (), "never follow URLs in which one of these expressions is found")
    depth: int | None = knob(optional(count_or_zero), None, "links to follow from a start URL; none: no limit")
    traps: bool = knob(switch, True, "drop links of endless URL spaces: repeating paths, exploding queries")
    max_queries: int = knob(count, 10_000, "different queries followed on one path that has several parameters")
    max_links: int = knob(count, 50_000, "links followed from one page; more of them are left out, and said")
    max_per_host: int | None = knob(optional(count), None, "pages walked of one host; none: no limit")
    max_pages: int | None = knob(optional(count), None, "stop after this many pages; none: no limit")
    max_items: int | None = knob(optional(count), None, "stop after the page that brings this many items")
    handler_timeout: float = knob(duration, 30.0, "seconds a handler may take for one page")
    render: bool = knob(switch, False, "show pages in a browser before they are read; needs gossamer[browser]")
    wait_for: str | None = knob(optional(line), None, "the CSS selector that a rendered page is complete with")
    render_block: tuple[str, ...] = knob(
        resources, ("image", "media", "font"), "what a rendered page does not load: image, media, font, stylesheet ..."
    )
    render_pages: int = knob(count, 4, "pages rendered at the same time")
    render_recycle: int = knob(count, 100, "pages after which the browser is started anew")
    dry_run: bool = knob(switch, False, "fetch and parse, store nothing")
    archive: bool = knob(switch, True, "keep the pages that were read, so that `gossamer replay` can read them again")
    drift: str = knob(
        one_of("quarantine", "warn", "off"),
        "quarantine",
        "what becomes of a run that breaks the pattern of earlier ones: its items are held back, or it is only said",
    )
    gone: Any = knob(
        gone_rule, _ONE_RUN, "when an item counts as gone: after so many runs without it, after an age like 7d, never"
    )
    workers: int | None = knob(optional(count), None, "workers of a cluster that walk a run at once; none: all")
    spread: int = knob(width, 1, "shards that one host is spread over, so that several workers walk it; needs Redis")
    sinks: tuple[Any, ...] = knob(sink_list, (), "where items go on to while a run works: URLs of folders or buckets")

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a process works and what it tells: the same for every scraper in it."""

    # It may hold a password: no repr shows it.
    store: str = field(
        default="gossamer.db",
        repr=False,
        metadata={
            "parse": line,
            "about": "the durable memory: a path to a SQLite file, or postgresql://user@host/name",
        },
    )
    log_level: str = knob(one_of("debug", "info", "warning", "error"), "warning", "least important event to log")
    log_format: str = knob(one_of("human", "json"), "human", "how events are written to stderr")
    quiet: bool = knob(switch, False, "show no progress")
    grace: float = knob(duration, 5.0, "seconds walks may take to finish after the first Ctrl-C")
    scrapers: tuple[str, ...] = knob(lines, (), "scrapers known by name: file.py, file.py:Class or module:Class")
    archive_age: float | None = knob(optional(duration), _FOR_EVER, "how long pages are kept: 90d; none: for ever")
    archive_size: int | None = knob(optional(size), _ROOMY, "room for kept pages, the oldest go first; none: no limit")
    listen: str = knob(address, "127.0.0.1:8600", "where `gossamer serve` listens: host:port")
    tls_cert: str | None = knob(optional(line), _NO_FILE, "the certificate to serve with: a PEM file")
    tls_key: str | None = knob(optional(line), _NO_FILE, "the key of the certificate: a PEM file")
    behind_proxy: bool = knob(switch, False, "whether a proxy in front of the service ends TLS and says who asks")
    max_runs: int = knob(width, 4, "runs a service walks at the same time")
    log_dir: str | None = knob(optional(line), _NO_FILE, "folder for log files; a service uses <store>.logs if not set")
    # These may hold secrets: no repr shows them.
    alert_webhooks: tuple[str, ...] = field(
        default=(),
        repr=False,
        metadata={"parse": lines, "about": "URLs that alerts are sent to, as JSON"},
    )
    smtp: str | None = field(
        default=None,
        repr=False,
        metadata={"parse": optional(line), "about": "mail server for alerts: smtp://user:password@host:587"},
    )
    alert_mail: tuple[str, ...] = knob(lines, (), "mail addresses that alerts are sent to")
    mail_from: str = knob(line, "gossamer@localhost", "the sender of alerts by mail")
    broker: str | None = field(
        default=None,
        repr=False,
        metadata={
            "parse": optional(line),
            "about": "who carries work to workers: redis://host:6379/0 or amqp://host//",
        },
    )
    lease: float = knob(duration, 30.0, "seconds after which others take over from a worker that is not heard of")
    slice: float = knob(duration, 30.0, "longest a worker walks the hosts of one shard before others get a turn")
    worker_memory: int | None = knob(
        optional(roomy), _ROOMLESS, "memory of a worker above which it settles, and starts anew; none: no limit"
    )
    poison_kills: int = knob(count, 3, "workers that one URL may end before it is given up")
    pool_size: int = knob(count, 8, "connections of one process to a postgresql:// store")

    def __post_init__(self) -> None:
        _check(self)


_RUN = {f.name: f for f in dataclasses.fields(ScraperConfig)}
_PLACE = {f.name: f for f in dataclasses.fields(Place)}
#: Every knob by name.
KNOBS: Mapping[str, dataclasses.Field[Any]] = {**_PLACE, **_RUN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All knobs, read once, and where each value came from."""

    place: Place
    config: ScraperConfig
    #: Name of a knob -> "--rate", "Quotes", "GOSSAMER_RATE", "gossamer.toml" or "default".
    origins: Mapping[str, str]

    def shown(self) -> list[tuple[str, str, str, str]]:
        """(name, value, where from, meaning) of every knob."""
        rows = []
        for name, each in KNOBS.items():
            value = getattr(self.place if name in _PLACE else self.config, name)
            rows.append(
                (
                    name,
                    _hidden(name, value) or written(value),
                    self.origins.get(name, "default"),
                    each.metadata["about"],
                )
            )
        return rows


def _hidden(name: str, value: Any) -> str | None:
    """What is shown instead of a knob that may hold secrets."""
    if name == "proxies" and value:
        return f"{len(value)} given" if isinstance(value, tuple | Mapping) else type(value).__name__
    if name == "sinks" and value:
        # A URL may hold credentials, which a run will refuse: here they must not be shown.
        return " ".join("***" if "@" in str(each) else str(getattr(each, "name", each)) for each in value)
    if name in ("store", "broker") and value:
        return naming.shown(value)
    if name in ("alert_webhooks", "smtp") and value:
        return f"{len(value)} given" if isinstance(value, tuple) else "given"
    if name == "headers" and any(map(is_secret, value)):
        return ", ".join(f"{k}: {'***' if is_secret(k) else v}" for k, v in value.items())
    return None


def written(value: object) -> str:
    """A value as a person would write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{k}: {v}" for k, v in value.items()) or "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def read(
    flags: Mapping[str, Any] | None = None,
    *,
    own: Mapping[str, Any] | None = None,
    owner: str = "scraper",
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    prefix: str = "--",
) -> Settings:
    """Settings from all places. `flags` win over the scraper's `own`, then environment, file, default.

    `prefix` is how errors speak of flags: `--rate` to who typed one, `rate` to who wrote a keyword argument.

    Raises ConfigError naming the knob and the place.
    """
    environ = os.environ if environ is None else environ
    layers: list[tuple[str, Mapping[str, Any]]] = [
        (FILE, _from_file((folder or Path()) / FILE)),
        (PREFIX, _from_environment(environ)),
        (owner, _known(own or {}, owner)),
        ("--", _known(flags or {}, "option" if prefix else "the keyword arguments")),
    ]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer, found in layers:
        for name, value in found.items():
            origins[name] = _origin(layer, name, environ)
            values[name] = _parsed(name, value, origins[name] if prefix or layer != "--" else name)
    return Settings(
        place=Place(**{k: v for k, v in values.items() if k in _PLACE}),
        config=ScraperConfig(**{k: v for k, v in values.items() if k in _RUN}),
        origins=origins,
    )


def _origin(layer: str, name: str, environ: Mapping[str, str]) -> str:
    if layer == PREFIX:
        variable = PREFIX + name.upper()
        return variable if variable in environ else variable + IN_FILE.upper()
    return "--" + name.replace("_", "-") if layer == "--" else layer


def _parsed(name: str, value: object, origin: str) -> Any:
    try:
        return KNOBS[name].metadata["parse"](value)
    except ValueError as why:
        where = origin if origin.startswith(("--", PREFIX)) or origin == name else f"{name} (from {origin})"
        raise ConfigError(f"{where}{_given(name, value)} cannot be used: {why}") from None


#: What people call some knobs, or what they were called once.
ALIASES = {
    "proxy": "proxies",
    "max_retry_after": "max_wait",
    "sitemap": "start_sitemaps",
    "sitemaps": "start_sitemaps",
    "start_sitemap": "start_sitemaps",
    "start_url": "start_urls",
    "agent": "user_agent",
    "delay": "rate",
    "download_delay": "rate",
    "verify": "insecure_hosts",
    "verify_ssl": "insecure_hosts",
    "item_pipelines": "steps",
    "pipelines": "steps",
}


def _known(found: Mapping[str, Any], origin: str) -> Mapping[str, Any]:
    for name in found:
        if name not in KNOBS:
            near = [ALIASES[name]] if name in ALIASES else difflib.get_close_matches(name, KNOBS, n=1)
            hint = f": did you mean {near[0]!r}?" if near else "; `gossamer settings` lists those there are"
            raise ConfigError(f"unknown setting {name!r} in {origin}{hint}")
    return found


def _from_environment(environ: Mapping[str, str]) -> Mapping[str, Any]:
    found = {k[len(PREFIX) :].lower(): v for k, v in environ.items() if k.startswith(PREFIX)}
    found.pop("corpora", None)  # where our own tests find the outside suites
    for name in [name for name in found if name not in KNOBS and name.removesuffix(IN_FILE) in KNOBS]:
        knob_name = name.removesuffix(IN_FILE)
        variable = PREFIX + name.upper()
        if knob_name in found:
            raise ConfigError(f"{PREFIX}{knob_name.upper()} and {variable} are both set: keep one of them")
        found[knob_name] = _content(variable, found.pop(name))
    return _known(found, "the environment (GOSSAMER_*)")


def _content(variable: str, path: str) -> str:
    """What stands in the file that a variable names, as secrets are given to containers. Raises ConfigError."""
    try:
        # Editors end a file with a newline, which is no part of a password.
        return Path(path).read_text("utf-8").rstrip("\r\n")
    except OSError as why:
        told = why.strerror or str(why)
        raise ConfigError(f"the file {path!r} of {variable} cannot be read: {told}") from None
    except ValueError:  # what it holds is not repeated: it is a secret as a rule
        raise ConfigError(f"the file {path!r} of {variable} cannot be read: it is not UTF-8 text") from None


def _from_file(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as why:
        raise ConfigError(f"{path} cannot be read: {why}") from None
    try:
        return _known(tomllib.loads(text), str(path))
    except tomllib.TOMLDecodeError as why:
        raise ConfigError(f"{path} is not TOML: {why}") from None
