"""What can be wrong with a page, and which page gets what. The same seed gives the same faults."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import msgspec

from gossamer.testing import Answer, bombs, pages
from gossamer.testing.bombs import Coding
from gossamer.testing.misbehave import long_head

#: Faults of one page that cost a try: with three retries, as is usual, it gets through.
MOST_TRIES = 2
#: Kilobytes of headers that are too many for anyone.
_HEADERS = 1024
_BOMB = 200


class Fault(msgspec.Struct, frozen=True):
    """One way to misbehave."""

    name: str
    about: str
    #: What is sent instead of a page, which is given with its own URL and a number drawn for it.
    answer: Callable[[Answer, str, int], Answer]
    #: Whether it costs the request a try.
    fails: bool = True


def _status(status: int, retry_after: str | None = None) -> Callable[[Answer, str, int], Answer]:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return lambda page, url, draw: Answer(status=status, headers=headers, body="<h1>not now</h1>")


def _wall(kind: pages.Wall) -> Callable[[Answer, str, int], Answer]:
    body, status = pages.WALLS[kind]
    return lambda page, url, draw: Answer(status=status, body=body)


def _slow_body(page: Answer, url: str, draw: int) -> Answer:
    body = page.body if isinstance(page.body, bytes) else page.body.encode()
    step = max(1, len(body) // 10)
    return replace(page, stream=lambda: (body[n : n + step] for n in range(0, len(body), step)), every=0.05)


def _redirect(page: Answer, url: str, draw: int) -> Answer:
    return Answer(status=302, headers={"Location": marked(url)})


def _charset(page: Answer, url: str, draw: int) -> Answer:
    """A name nobody knows, where the page is text; what a page says itself stays."""
    kind = str(page.headers.get("content-type", "text/html")).partition(";")[0]
    if not kind.startswith("text/"):
        return page
    return replace(page, headers={**page.headers, "content-type": f"{kind}; charset=x-unheard-of"})


def _bomb(page: Answer, url: str, draw: int) -> Answer:
    coding: Coding = ("gzip", "deflate", "br", "zstd")[draw % 4]
    return Answer(body=bombs.bomb(coding, _BOMB), headers={"Content-Encoding": coding})


#: What passes: nothing may be lost by it.
SOFT = (
    Fault("error", "status 500", _status(500)),
    Fault("busy", "status 503", _status(503)),
    Fault("too_many", "status 429 with Retry-After: 1", _status(429, "1")),
    Fault("reset", "the connection is reset", lambda page, url, draw: replace(page, fault="reset")),
    Fault("reset_midway", "reset in the middle of the body", lambda page, url, draw: replace(page, fault="abort")),
    Fault("truncated", "half the body, then the end", lambda page, url, draw: replace(page, fault="truncate")),
    Fault("garbage", "bytes that are no HTTP", lambda page, url, draw: Answer(raw=b"\x00\xffnonsense\r\n\r\n")),
    Fault("hangs", "no answer at all", lambda page, url, draw: replace(page, fault="hang")),
    Fault("captcha", "a captcha, with status 200", _wall("captcha")),
    Fault("login_wall", "a form to log in, with status 200", _wall("login")),
    Fault("challenge", "just a moment, with status 403", _wall("challenge")),
    Fault("late", "the answer comes a second later", lambda page, url, draw: replace(page, latency=1.0), fails=False),
    Fault("slow_body", "the body comes in ten pieces", _slow_body, fails=False),
    Fault("redirect", "a redirect to the page under another URL", _redirect, fails=False),
    Fault("charset", "an encoding nobody knows is declared", _charset, fails=False),
)
#: What does not: the page is given up, and nothing else may be lost by it.
HARD = (
    Fault("bomb", f"a small body that unpacks to {_BOMB} MB", _bomb),
    Fault(
        "huge_headers",
        f"{_HEADERS} KB of headers",
        lambda page, url, draw: Answer(raw=lambda: long_head(_HEADERS << 10, bool(draw % 2), page)),
    ),
    Fault(
        "endless", "a body without end", lambda page, url, draw: Answer(stream=lambda: itertools.repeat(b" " * 65536))
    ),
    Fault("loop", "a redirect to itself", lambda page, url, draw: Answer(status=302, headers={"Location": url})),
)
_FOR_ROBOTS = tuple(fault for fault in SOFT if fault.name in ("error", "busy", "reset", "truncated", "late"))

#: Added to a URL by the redirect fault; taken out again before anything is compared.
MARK = "gossamer-chaos=1"


def marked(url: str) -> str:
    """The other URL of a page."""
    return f"{url}{'&' if '?' in url else '?'}{MARK}"


def unmarked(text: str) -> str:
    """A URL, or a text with URLs in it, without the mark."""
    return text.replace(f"?{MARK}", "").replace(f"&{MARK}", "") if MARK in text else text


class Draw(msgspec.Struct, frozen=True):
    """What one page gets."""

    fault: Fault
    #: For how many requests.
    times: int
    number: int
    hard: bool


def draw(key: str, url: str, *, seed: int, share: float, hard: float, start: bool) -> Draw | None:
    """What a page gets, if anything. Start pages get nothing that they do not survive."""
    rng = random.Random(f"{seed} {key}")
    chance, number, times = rng.random(), rng.getrandbits(32), rng.randint(1, MOST_TRIES)
    if url.endswith("/robots.txt"):
        return Draw(_FOR_ROBOTS[number % len(_FOR_ROBOTS)], times, number, hard=False) if chance < share else None
    if chance < hard and not start:
        return Draw(HARD[number % len(HARD)], 1 << 30, number, hard=True)
    if chance < hard + share:
        # A front page that asks for a login is what it is: nobody could tell.
        choices = [fault for fault in SOFT if fault.name != "login_wall"] if _is_front(url) else SOFT
        return Draw(choices[number % len(choices)], times, number, hard=False)
    return None


def _is_front(url: str) -> bool:
    return url.partition("://")[2].partition("/")[2] == ""
