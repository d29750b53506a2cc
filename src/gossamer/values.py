"""The words of Gossamer as values. Frozen, small, and made of plain types so that any store can keep them.

Structs rather than dataclasses: a page makes dozens of Requests from its links, and a Struct is made in a
quarter of a microsecond, a frozen dataclass in two and a half.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gossamer import urls

#: Priorities lie between this and minus this.
PRIORITIES = 1_000_000_000
#: What can be sent.
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

_COUNTRY = re.compile(r"[A-Za-z]{2}")

#: The handler a Request goes to unless it says otherwise.
PARSE = "parse"
#: Headers that hold secrets.
SENSITIVE = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token", "api-key"})
#: Words in the names of other headers that hold secrets.
_SECRET = frozenset({"auth", "token", "secret", "password", "key", "apikey", "session", "jwt", "credentials"})
#: Statuses that send a client elsewhere, if they say where.
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def is_secret(header: str) -> bool:
    """Whether a header of this name is likely to hold a secret: shown to nobody, and sent to no stranger."""
    name = header.lower()
    return name in SENSITIVE or not _SECRET.isdisjoint(name.replace("_", "-").split("-"))


class Request(msgspec.Struct, frozen=True):
    """One thing to fetch.

    >>> Request("https://example.org/search", json={"q": "art"}).verb
    'POST'
    """

    #: Absolute, or relative to the page it is yielded from.
    url: str
    #: Left out: POST when there is a body, else GET.
    method: str | None = None
    #: Sent in addition to the scraper's own headers.
    headers: dict[str, str] | None = None
    #: A body, sent as JSON.
    json: Any = None
    #: A body: bytes or text as they are, or a dict sent as a form.
    data: str | bytes | dict[str, Any] | None = None
    #: The handler that reads the page: a method of the scraper, or its name.
    to: str | Callable[..., Any] = PARSE
    #: Higher goes first, within one host.
    priority: int = 0
    #: Fetch even if this run knows the URL already.
    revisit: bool = False
    #: Whatever the handler wants to know; JSON values.
    carry: dict[str, Any] | None = None
    #: The session it belongs to: requests of one name share cookies, identity and proxy.
    session: str | None = None
    #: The country its proxy should be in: two letters.
    country: str | None = None
    #: Whether a browser shows the page first; left out: as the scraper says.
    render: bool | None = None
    #: For a rendered page: the CSS selector to wait for.
    wait_for: str | None = None
    #: Where its body is kept as a file, below the scraper's `files` folder: what `page.download` gives.
    save: str | None = None

    # What follows is kept by the engine.

    #: The row in the store; 0 while it has none.
    id: int = 0
    #: How many links away from a start URL.
    depth: int = 0
    #: Fetches that failed so far.
    attempts: int = 0
    #: Redirects followed to get here.
    hops: int = 0
    #: The URLs those redirects came from, oldest first.
    via: tuple[str, ...] = ()

    @property
    def verb(self) -> str:
        """The HTTP method."""
        if self.method:
            return self.method.upper()
        return "POST" if self.json is not None or self.data is not None else "GET"

    @property
    def handler(self) -> str:
        """The name of the handler."""
        return self.to if isinstance(self.to, str) else self.to.__name__

    @property
    def plain(self) -> bool:
        """Whether the URL alone says what this is: a GET for the default handler."""
        return (
            (self.method is None or self.verb == "GET")
            and self.json is None
            and self.data is None
            and (self.to == PARSE or self.handler == PARSE)
            and not self.revisit
        )

    @property
    def body(self) -> bytes | None:
        """The body as it is sent."""
        return _body(self)

    @property
    def fingerprint(self) -> str:
        """What makes two Requests the same thing to fetch: method, URL, body, handler."""
        if self.plain:
            return urls.digest(urls.comparable(self.url))
        body = self.body or b""
        return urls.digest(urls.comparable(self.url), self.verb, self.handler, body)

    def check(self) -> None:
        """Raises ValueError, saying what is wrong with a request that could not be sent or stored."""
        if not isinstance(self.url, str):
            raise ValueError("its URL is no text")
        if not isinstance(self.priority, int) or not -PRIORITIES <= self.priority <= PRIORITIES:
            raise ValueError(f"its priority {self.priority!r} is no number up to {PRIORITIES:,}")
        if not isinstance(self.data, str | bytes | dict | None):
            raise ValueError(f"its data is a {type(self.data).__name__}: give text, bytes or a dict")
        if not isinstance(self.method, str | None) or self.verb not in METHODS:
            raise ValueError(f"its method {self.method!r} is none of {', '.join(METHODS)}")
        if self.json is not None and self.data is not None:
            raise ValueError("it has both json and data: give one of them")
        for field in ("session", "country", "wait_for", "save"):
            text = getattr(self, field)
            if not (text is None or (isinstance(text, str) and text and len(text) <= 1024 and text.isprintable())):
                raise ValueError(f"its {field} is {text!r:.80}: write one line of text")
        for name, text in (self.headers or {}).items():
            if not (isinstance(name, str) and _HEADER_NAME.fullmatch(name)):
                raise ValueError(f"{name!r} is no header name")
            if name.lower() in SENSITIVE:
                raise ValueError(f"its header {name} would be stored: put secrets into self.secrets, or `headers`")
            if not (isinstance(text, str) and text.isprintable()):
                raise ValueError(f"its header {name} is {text!r}: write one line of text")
        if self.country is not None and not _COUNTRY.fullmatch(self.country):
            raise ValueError(f"its country is {self.country!r}: write two letters, like de")
        try:
            msgspec.json.encode((self.json, self.carry, self.body))
        except (TypeError, ValueError, RecursionError) as why:
            raise ValueError(f"its json, data and carry must be JSON values: {why}") from None

    def own(self) -> Request:
        """The same Request, which its author can no longer change: what it holds is copied."""
        if self.carry is None and self.json is None and self.headers is None and not isinstance(self.data, dict):
            return self
        copy = msgspec.json.decode(msgspec.json.encode((self.carry, self.json)))
        data = dict(self.data) if isinstance(self.data, dict) else self.data
        return self.evolve(carry=copy[0], json=copy[1], data=data, headers=dict(self.headers) if self.headers else None)

    def evolve(self, **changes: Any) -> Request:
        """The same Request with some fields changed."""
        return msgspec.structs.replace(self, **changes)


def _body(request: Request) -> bytes | None:
    if request.json is not None:
        return msgspec.json.encode(request.json)
    data = request.data
    if isinstance(data, dict):
        from urllib.parse import urlencode

        return urlencode(data, doseq=True).encode()
    return data.encode() if isinstance(data, str) else data


class Headers(Mapping[str, str]):
    """Response headers: names are matched without regard to case; a name may come several times."""

    __slots__ = ("_pairs", "_raw")

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs: tuple[tuple[str, str], ...] | None = tuple((name.lower(), value) for name, value in pairs)
        self._raw: Any = None

    @classmethod
    def lazy(cls, raw: Any) -> Headers:
        """Headers from a map of bytes, decoded when asked for: of a dozen, a walk asks for two or three."""
        made = cls.__new__(cls)
        made._pairs, made._raw = None, raw
        return made

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All headers as (lower-case name, value), in the order sent."""
        if self._pairs is None:
            self._pairs = tuple((str(name, "latin-1").lower(), _header_text(value)) for name, value in self._raw)
        return self._pairs

    def __getitem__(self, name: str) -> str:
        if self._pairs is None:
            value = self._raw.get(name)
            if value is None:
                raise KeyError(name)
            return _header_text(value)
        name = name.lower()
        for key, text in self._pairs:
            if key == name:
                return text
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The first value of a header; `default` if it was not sent."""
        if self._pairs is None:
            value = self._raw.get(name)
            return default if value is None else _header_text(value)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.pairs()))

    def __len__(self) -> int:
        return len(dict(self.pairs()))

    def __repr__(self) -> str:
        return f"Headers({self.pairs()!r})"

    def getall(self, name: str) -> list[str]:
        """Every value of a header, in the order sent."""
        name = name.lower()
        return [value for key, value in self.pairs() if key == name]


def _header_text(value: Any) -> str:
    """Header values are UTF-8 more often than the Latin-1 they should be."""
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError:
        return str(value, "latin-1")


class Response(msgspec.Struct, frozen=True):
    """What came back for one Request."""

    #: The URL that answered.
    url: str
    status: int
    headers: Headers
    #: Decompressed, at most `max_body` bytes. Empty if `unread`.
    body: bytes
    #: When the request went out, in seconds since 1970.
    started: float
    #: Seconds from the first byte out to the last byte in.
    elapsed: float
    #: The body was not read, because its type was not asked for.
    unread: bool = False
    #: The file that holds the body, where that is too large for memory or was to be saved; `body` is empty then.
    file: str | None = None
    #: Of a body in a file: its bytes, and its SHA-256 in hex.
    file_size: int = 0
    sha256: str | None = None
    #: The address that answered, if it is known.
    remote: str | None = None

    @property
    def content_type(self) -> str:
        """The media type without its parameters, in lower case; empty if none was sent."""
        kind: str = self.headers.get("content-type", "")
        return kind.partition(";")[0].strip().lower()


class Item(msgspec.Struct, frozen=True):
    """One extracted record."""

    kind: str
    #: Tells this record from the others of its kind; the same key again is the same record, seen again.
    key: str
    #: The record as a JSON object.
    data: str

    @classmethod
    def of(cls, record: Mapping[str, Any], *, key: str, kind: str = "item") -> Item:
        """An Item with a key of your own."""
        return cls(kind, key, msgspec.json.encode(record).decode())

    def record(self) -> dict[str, Any]:
        """The record as a dict."""
        found: dict[str, Any] = msgspec.json.decode(self.data)
        return found


class Lacking(msgspec.Struct, frozen=True):
    """A record that lacks fields which its rules require: yielded as it is, to be kept apart."""

    record: dict[str, Any]
    missing: tuple[str, ...]
    #: Left out: the scraper's.
    kind: str = ""
    step: str = "rules"

    @property
    def reason(self) -> str:
        """A sentence for a person."""
        return f"it has no {', '.join(self.missing)}"


class Reject(msgspec.Struct, frozen=True):
    """A record that became no item: kept apart, with what was wrong with it."""

    kind: str
    #: The record as JSON, as the step that refused it saw it.
    data: str
    #: Who refused it: "model", "key", or the name of a step.
    step: str
    #: A sentence for a person.
    reason: str


class Ending(enum.StrEnum):
    """How a walk can end."""

    #: Fetched and read.
    DONE = "done"
    #: Will never be fetched, by a rule.
    SKIPPED = "skipped"
    #: Will be fetched again, not before a time.
    LATER = "later"
    #: Given up.
    FAILED = "failed"


class Drop(msgspec.Struct, frozen=True):
    """A link that will not be walked, and the rule that says so. Kept, so that `why` can tell."""

    request: Request
    #: "scope", "exclude", "include", "depth".
    reason: str


class Outcome(msgspec.Struct, frozen=True):
    """How one walk of a Request ended."""

    request: Request
    ending: Ending
    #: One word that counts: "ok", "redirect", "http_404", "robots", "timeout" ...
    reason: str = "ok"
    #: A sentence for a person, where the word does not say it all.
    detail: str | None = None
    #: The answer's status; 0 if none came.
    status: int = 0
    #: Bytes of body received.
    size: int = 0
    #: When the last fetch went out (seconds since 1970); 0 if none did.
    started: float = 0.0
    elapsed: float = 0.0
    items: tuple[Item, ...] = ()
    found: tuple[Request, ...] = ()
    dropped: tuple[Drop, ...] = ()
    #: For LATER: when it may be walked again, in seconds since 1970.
    not_before: float = 0.0
    #: For LATER: whether this cost one of the request's attempts.
    attempt: bool = False
    #: What the next visit should know, where a scraper visits pages again only if they changed.
    visit: Visit | None = None
    #: Items (kind, key) that an unchanged page still stands for.
    seen: tuple[tuple[str, str], ...] = ()
    #: Records that became no items.
    rejects: tuple[Reject, ...] = ()
    #: The answer, where its page is to be archived. Not part of what the store keeps.
    kept: Response | None = None

    @property
    def is_page(self) -> bool:
        """Whether a page was fetched and read."""
        return self.ending is Ending.DONE and self.reason == "ok"


class Visit(msgspec.Struct, frozen=True):
    """What a page was like when it was last read, and what came out of it."""

    #: The request's fingerprint.
    digest: str
    #: When it was fetched, and last found unchanged, in seconds since 1970.
    fetched: float
    checked: float
    etag: str | None
    modified: str | None
    #: Of the body, in hex.
    sha256: str
    #: What it led to, and the items (kind, key) it gave.
    found: tuple[Request, ...] = ()
    items: tuple[tuple[str, str], ...] = ()


class Notice(msgspec.Struct, frozen=True):
    """Something about a host that politeness depends on: what it asked for, or what we decided."""

    host: str
    #: In seconds since 1970.
    at: float
    #: "retry_after", "crawl_delay", "breaker_open", "breaker_closed" or "slowed".
    kind: str
    #: How long it holds, or the least time between two requests from now on.
    seconds: float
    #: A sentence for a person.
    detail: str = ""


class Start(msgspec.Struct, frozen=True):
    """One start of a run, and the limits it promised to keep."""

    run: int
    at: float
    #: rate (seconds between requests), per_host, robots, agent, pace_per, max_crawl_delay.
    limits: dict[str, Any]


class Fetch(msgspec.Struct, frozen=True):
    """One exchange with a host that no settled request row tells of: a failed attempt, or robots.txt."""

    url: str
    host: str
    started: float
    elapsed: float
    status: int
    size: int
    reason: str
    #: The request it was made for; 0 for robots.txt.
    request_id: int = 0
    #: More than the reason says: the proxy it went through, what was wrong.
    detail: str | None = None
    #: Seconds the host asked to be left alone for, where a rendered page heard of it. Not stored.
    retry_after: float | None = None


class RunState(enum.StrEnum):
    """The states of a Run."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    #: A budget was used up before the work was.
    STOPPED = "stopped"
    FAILED = "failed"
    CANCELLED = "cancelled"
    #: Never written: what a running run is called whose process is gone.
    KILLED = "killed"


class Verdict(enum.StrEnum):
    """What the drift gate says of a run."""

    #: Nobody looked: the gate is off, or the run has not ended.
    NONE = ""
    #: It ended well, and there are too few runs before it to compare it with.
    LEARNING = "learning"
    #: Its items wait until it has ended and been looked at.
    PENDING = "pending"
    GOOD = "good"
    #: It breaks the pattern of the runs before it: its items are held back until somebody decides.
    SUSPECT = "suspect"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Run(msgspec.Struct, frozen=True):
    """One execution of one Scraper."""

    id: int
    #: The scraper's name.
    scraper: str
    #: How to load the scraper again: "module:Class" or "file.py:Class".
    ref: str
    #: Equal for commands that mean the same run: what makes resuming automatic.
    signature: str
    params: dict[str, Any]
    #: The knobs it was started with, by name.
    options: dict[str, Any]
    state: RunState
    reason: str
    created: float
    ended: float | None
    #: Seconds spent working, over all its starts.
    seconds: float
    #: Whether every start request is in the frontier.
    seeded: bool
    #: Walks that ended for good, links dropped by a rule not counted.
    settled: int
    pages: int
    items: int
    failed: int
    skipped: int
    retried: int
    size: int
    #: Records that became no items.
    rejected: int = 0
    verdict: Verdict = Verdict.NONE
    #: What its pages were read with: model, parser, steps with their versions.
    reading: dict[str, Any] = {}
    by_reason: dict[str, int] = {}
    #: Who asked for it, through which door ("cli", "api", "dashboard", "schedule"), and whether that door is the
    #: author's own, so that it may start at private addresses.
    asked_by: str = ""
    via: str = "cli"
    trusted: bool = True
    #: What somebody wants of whoever walks it: "" or "cancel", "accept", "reject".
    wanted: str = ""
    #: When it was first walked.
    started: float | None = None
    #: Of its items, those that no run had seen before; known when it has ended.
    new_items: int = 0


class Pending(msgspec.Struct, frozen=True):
    """What is left of a run, in numbers."""

    #: Settled for good: done, skipped or failed, links dropped by a rule not counted.
    settled: int
    #: Still to be walked, parked ones included.
    waiting: int
    #: Of the waiting: not before some later time.
    parked: int
    #: When the first parked one is due, in seconds since 1970; None if none is parked.
    due: float | None
    #: Of the waiting: were being walked when the last owner died.
    in_flight: int


#: Instead of a shard: the whole run, walked by one process; and the part of a cluster's run that is done once, which is
#: to seed it, to watch it and to end it.
WHOLE = -1
CONDUCTOR = -2


class Lease(msgspec.Struct, frozen=True):
    """The right to walk a run's requests. Settling names it, so that a walk that outlived it is refused."""

    run: int
    owner: str
    #: Grows by one each time the lease changes hands.
    token: int
    #: When it ends unless renewed, in seconds since 1970.
    until: float
    #: What of the run: all of it, or the hosts of one shard.
    shard: int = WHOLE
    #: Seconds that it lasts after it was renewed; infinite where nobody else can take it while we live.
    ttl: float = math.inf
