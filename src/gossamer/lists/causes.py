"""Failures by their cause: how many, since when, where, what it means and what to do."""

from __future__ import annotations

import time

import msgspec

from gossamer import explain
from gossamer.errors import ConfigError
from gossamer.lists import paging
from gossamer.lists.paging import Search
from gossamer.storage.desk import Desk

#: Hours that can be looked back, and causes and examples that are shown.
MOST_HOURS = 24 * 14
MOST_CAUSES = 50
EXAMPLES = 5

_CAUSES = """
select reason, hour, sum(n) from cause where hour > :first and hour <= :last group by reason, hour
"""
# Hour by hour: the index begins with the hour, and other scrapers are not to be read.
_CAUSES_OF_SCRAPER = """
with recursive each(hour) as (select :first + 1 union all select hour + 1 from each where hour < :last)
select cause.reason, cause.hour, cause.n from each join cause on cause.hour = each.hour and cause.scraper = :scraper
"""

#: What to do about a reason.
_ADVICE = {
    "address": "allow the address with `allow_private` if it is yours",
    "blocked": "slow down, fetch with `render`, or use proxies",
    "bomb": "leave the URL out with `exclude`, or raise `max_ratio` if it is meant to be so",
    "broken": "mostly passes: look whether it is one host, and give it more `retries`",
    "connect": "check that the host still exists, and its name",
    "first_byte": "the host is slow: raise `first_byte`, or lower `rate` and `per_host`",
    "handler": "the scraper does not fit the page any more: look at an example, and mend its parse method",
    "handler_timeout": "the parse method takes too long: look at an example, and make it do less",
    "headers": "raise `max_headers` if they are meant to be so",
    "markup": "leave the URL out with `exclude`: its markup is made to cost time",
    "proxy": "look at the proxies: `gossamer proxies check`",
    "redirect": "its target cannot be fetched: look at an example, and correct the link",
    "redirect_loop": "the site needs a cookie or a login: look at an example in a browser",
    "redirects": "raise `max_redirects` if so many are meant",
    "render": "look at an example in a browser, and at the memory of the machine",
    "retry": "what `validate` waits for does not come: look at an example",
    "robots_unreachable": "its robots.txt cannot be read, so nothing is fetched: it is asked again later",
    "timeout": "raise `timeout`, or lower `rate` and `per_host`",
    "tls": "its certificate is not valid: tell the site, or trust it with `verify_tls = false` if it is yours",
    "too_large": "raise `max_body`, or leave the URL out with `exclude`",
    "unsendable": "correct the request that the scraper makes: HTTP knows no such thing",
}
_MEANINGS = {
    "broken": "the answer broke off, or was not HTTP",
    "connect": "no connection could be made: refused, unreachable, or an unknown name",
    "handler": "the parse method raised an error",
    "handler_timeout": "the parse method took too long",
    "markup": "the page's markup is nested too deep to be read",
    "redirect": "it leads to something that cannot be fetched",
    "redirect_loop": "it leads back to itself",
    "redirects": "it leads on and on",
    "render": "the browser could not show the page",
    "robots_unreachable": "its site's robots.txt could not be read, so that nothing may be fetched",
    "tls": "the certificate or the handshake was refused",
    "unsendable": "the request is not one that HTTP knows",
}
_STATUSES = {
    "http_400": ("the site does not understand the request", "look at an example: a parameter may be wrong"),
    "http_401": ("the site wants a login", "give the scraper a session, or leave these URLs out"),
    "http_403": ("the site refuses us", "slow down, or ask the site; it may want another user agent or a login"),
    "http_404": ("the page does not exist any more", "nothing, unless it is most pages: then the site has moved"),
    "http_407": ("the proxy wants other credentials", "look at the proxies: `gossamer proxies check`"),
    "http_410": ("the page was taken away for good", "nothing"),
    "http_429": ("the site says that we are too fast", "lower `rate` and `per_host`"),
    "http_451": ("the page may not be shown for legal reasons", "leave these URLs out"),
    "http_503": ("the site is overloaded, or keeps us out", "lower `rate`; it is tried again by itself"),
}


class Example(msgspec.Struct, frozen=True):
    """A request that failed so."""

    request: int
    run: int
    scraper: str
    url: str
    status: int | None
    detail: str | None
    at: float | None


class ErrorGroup(msgspec.Struct, frozen=True):
    """Failures of one cause."""

    reason: str
    count: int
    #: Of all failures in this time.
    share: float
    #: Failures in each hour, oldest first.
    trend: list[int]
    #: When it was first and last met in this time: the beginnings of those hours.
    first: float
    last: float
    #: What it means, and what to do about it.
    meaning: str
    advice: str
    #: The newest ones.
    examples: list[Example]


async def errors(desk: Desk, *, scraper: str | None = None, hours: int = 24) -> list[ErrorGroup]:
    """Failures of the last hours by cause, the most frequent first."""
    if not 1 <= hours <= MOST_HOURS:
        raise ConfigError(f"hours {hours} cannot be used: write a number from 1 to {MOST_HOURS}")
    scraper = paging.text(scraper, "scraper")
    last = int(time.time()) // 3600
    statement = _CAUSES if scraper is None else _CAUSES_OF_SCRAPER
    trends: dict[str, list[int]] = {}
    for reason, hour, n in await desk.rows(statement, first=last - hours, last=last, scraper=scraper):
        trends.setdefault(reason, [0] * hours)[hour - last + hours - 1] += int(n)
    total = sum(map(sum, trends.values())) or 1
    most = sorted(trends.items(), key=lambda pair: (-sum(pair[1]), pair[0]))[:MOST_CAUSES]
    return [await _group(desk, reason, trend, total, last, scraper) for reason, trend in most]


async def _group(desk: Desk, reason: str, trend: list[int], total: int, last: int, scraper: str | None) -> ErrorGroup:
    met = [n for n, count in enumerate(trend) if count]
    first_hour = last - len(trend) + 1
    meaning, advice = told(reason)
    return ErrorGroup(
        reason=reason,
        count=sum(trend),
        share=sum(trend) / total,
        trend=trend,
        first=(first_hour + met[0]) * 3600.0 if met else 0.0,
        last=(first_hour + met[-1]) * 3600.0 if met else 0.0,
        meaning=meaning,
        advice=advice,
        examples=await examples(desk, reason, scraper=scraper),
    )


async def examples(desk: Desk, reason: str, *, scraper: str | None = None, n: int = EXAMPLES) -> list[Example]:
    """The newest requests that failed for a reason; of a scraper, among the newest of all."""
    search = Search(
        "request",
        "request.run_id, run.scraper, request.url, request.status, request.detail, request.started",
        joined="join run on run.id = request.run_id",
    )
    search.within("request.state = 3 and request.reason = :reason", reason=reason)
    search.equal("run.scraper", scraper)
    found = await search.walk(desk, n)
    return [
        Example(number, run, name, url, status or None, detail, at or None)
        for number, run, name, url, status, detail, at in found.rows
    ]


def told(reason: str) -> tuple[str, str]:
    """What a reason means and what to do about it, in a few words each."""
    if reason in _STATUSES:
        return _STATUSES[reason]
    if reason.startswith("http_5"):
        return "the site has an error of its own", "mostly passes; lower `rate` if it comes with load"
    if reason.startswith("http_"):
        return f"the site answered with status {reason.removeprefix('http_')}", "look at an example"
    return _MEANINGS.get(reason) or explain.meaning(reason) or reason, _ADVICE.get(reason, "look at an example")
