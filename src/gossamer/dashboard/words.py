"""Numbers, sizes and times as people read them. Pure functions, for every page."""

from __future__ import annotations

import time
from datetime import datetime
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from gossamer.lists import causes

#: Shown where there is nothing to show.
NOTHING = "–"


def number(value: float | None) -> str:
    """A count, in groups of three digits.

    >>> number(1234567)
    '1,234,567'
    """
    return NOTHING if value is None else f"{round(value):,}"


def rate(value: float | None) -> str:
    """Something per second.

    >>> rate(0.25), rate(123.4)
    ('0.25/s', '123/s')
    """
    if value is None:
        return NOTHING
    return f"{value:,.0f}/s" if value >= 100 else f"{value:.1f}/s" if value >= 10 else f"{value:.2f}/s"


def size(value: float | None) -> str:
    """Bytes.

    >>> size(999), size(1_500_000)
    ('999 B', '1.5 MB')
    """
    if value is None:
        return NOTHING
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def duration(seconds: float | None) -> str:
    """How long something takes: the two largest units.

    >>> duration(0.2), duration(65), duration(90_000)
    ('0.2 s', '1 min 5 s', '1 d 1 h')
    """
    if seconds is None:
        return NOTHING
    if seconds < 10:
        return f"{max(0.0, seconds):.1f} s"
    left = round(seconds)
    told: list[str] = []
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, length)
        if count or told:
            told.append(f"{count} {unit}" if count else "")
        if len(told) == 2:
            break
    return " ".join(part for part in told if part)


def ago(when: float | None, now: float | None = None) -> str:
    """How long ago something happened, coarsely enough to stay true for a while.

    >>> ago(100, 160), ago(None)
    ('1 min ago', '–')
    """
    if when is None:
        return NOTHING
    passed = (time.time() if now is None else now) - when
    if passed < 0:
        return until(when, now)
    return "just now" if passed < 5 else f"{_coarse(passed)} ago"


def until(when: float | None, now: float | None = None) -> str:
    """How long until something happens.

    >>> until(220, 100)
    'in 2 min'
    """
    if when is None:
        return NOTHING
    left = when - (time.time() if now is None else now)
    return "now" if left < 1 else f"in {_coarse(left)}"


def _coarse(seconds: float) -> str:
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds)} s"


def moment(when: float | None, zone: str = "UTC") -> str:
    """A time to the second, as clocks of a time zone show it.

    >>> moment(0), moment(0, "Asia/Tokyo")
    ('1970-01-01 00:00:00 UTC', '1970-01-01 09:00:00 Asia/Tokyo')
    """
    if when is None:
        return NOTHING
    return f"{datetime.fromtimestamp(when, ZoneInfo(zone)):%Y-%m-%d %H:%M:%S} {zone}"


def percent(share: float | None) -> str:
    """A share of one.

    >>> percent(0.985), percent(1)
    ('98.5 %', '100 %')
    """
    return NOTHING if share is None else f"{100 * share:.1f}".removesuffix(".0") + " %"


def cut(text: str, longest: int = 120) -> str:
    """A text that fits, its end cut off."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count and its noun.

    >>> plural(1, "run"), plural(2, "run"), plural(3, "alarm")
    ('1 run', '2 runs', '3 alarms')
    """
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def quoted(text: str) -> str:
    """A sentence of ours where nothing can be set apart as code: `names` are put into quotes.

    >>> quoted("no such thing: `gossamer list` shows those there are")
    'no such thing: "gossamer list" shows those there are'
    """
    return text.replace("`", '"')


def place(path: str, **asked: object) -> str:
    """One of our pages, with what is asked of it.

    >>> place("/scrapers", name="a b")
    '/scrapers?name=a+b'
    """
    return f"{path}?{urlencode(asked)}"


#: Why a run ended.
_ENDINGS = {
    "done": "all that there was is done",
    "start_failed": "no page could be read",
    "max_pages": "it has as many pages as it was to read",
    "max_items": "it has as many items as it was to find",
    "held": "all that is left waits for hosts that are held or failing",
    "paused": "somebody paused it, or the hosts that are left",
    "cancelled": "somebody cancelled it",
    "interrupted": "somebody stopped it in a terminal",
}
#: What became of a URL, where that is no failure.
_WALKS = {"ok": "read", "redirect": "it leads to another page", "done": "read", "sitemap": "read as a sitemap"}


def ending(reason: str) -> str:
    """Why a run ended, in plain words.

    >>> ending("max_pages"), ending("RuntimeError: no")
    ('it has as many pages as it was to read', 'RuntimeError: no')
    """
    return _ENDINGS.get(reason) or cut(" ".join(reason.split()), 300).rstrip(".")


def became(reason: str) -> str:
    """What became of a URL, in plain words.

    >>> became("http_404"), became("ok")
    ('the page does not exist any more', 'read')
    """
    return _WALKS.get(reason) or causes.told(reason)[0]


def sentence(text: str) -> str:
    """With a large letter at its beginning and a full stop at its end.

    >>> sentence("it is so")
    'It is so.'
    """
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?", "…")) else ".")
