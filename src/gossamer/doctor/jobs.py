"""What the doctor asks its child, and what that answers: one JSON object a line."""

from __future__ import annotations

from typing import Any

import msgspec


class Wanted(msgspec.Struct, frozen=True):
    """A scraper, or several, as somebody names them."""

    #: A file, a module, a name, a pack, or the value of an entry point.
    text: str
    #: How people know it: what is listed in the settings, or a package's name for it.
    label: str


class Known(msgspec.Struct, frozen=True):
    """A scraper that could be loaded."""

    name: str
    ref: str
    #: Why it ships paused; empty: it does not.
    paused: str = ""
    #: The first URLs that it begins with, one of each host.
    starts: list[str] = []
    #: Why it cannot say where it begins.
    unclear: str = ""
    #: Of its settings, what a look at its hosts must know.
    agent: str = ""
    robots: bool = True
    render: bool = False
    #: What must be installed before it can run: "rendering needs Playwright: pip install ..."; empty: nothing.
    lacking: str = ""
    proxied: bool = False
    stand_ins: dict[str, str] = {}
    insecure: list[str] = []


class Loaded(msgspec.Struct, frozen=True):
    """What came of loading one."""

    wanted: Wanted
    scrapers: list[Known] = []
    #: Why it could not be loaded; empty: it could.
    error: str = ""


class Trial(msgspec.Struct, frozen=True):
    """One scraper tried on one page."""

    name: str
    #: "ok", "empty", "paused", "needs", or the reason why it was not read: "blocked", "robots", "http_404" ...
    status: str
    url: str = ""
    items: int = 0
    #: Requests that the page led to.
    found: int = 0
    rejected: int = 0
    #: Fields of the items, those that at least one of them has a value in, and those that none has.
    fields: int = 0
    filled: int = 0
    never: list[str] = []
    seconds: float = 0.0
    #: What went wrong, as a sentence.
    why: str = ""


class Job(msgspec.Struct, frozen=True):
    """What the child is to do: load what is named, or try what was loaded."""

    #: "load" or "try".
    do: str
    wanted: list[Wanted] = []
    #: The scrapers that are listed in the settings and can be loaded.
    listed: list[str] = []
    #: To try: (name, ref).
    scrapers: list[tuple[str, str]] = []
    params: dict[str, str] = {}
    #: Parameters by scraper, where nobody gave any.
    usual: dict[str, dict[str, str]] = {}
    flags: dict[str, Any] = {}
    #: Seconds for each trial.
    deadline: float = 60.0
    #: Pages that a scraper is tried on, as long as they give nothing.
    tries: int = 3


class Line(msgspec.Struct, frozen=True):
    """What the child writes."""

    #: What it begins with now: an index into `wanted`, or `scrapers`.
    begun: int | None = None
    index: int | None = None
    loaded: Loaded | None = None
    tried: Trial | None = None
