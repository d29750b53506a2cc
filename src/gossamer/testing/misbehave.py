"""All a Site can be told to do: pages first, then every way to misbehave that the web has taught us.

A method that takes `times` misbehaves for the first so many requests and then answers with `then`; `math.inf` is
for ever. What has no `times` always answers the same.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from gossamer.testing import bombs, pages, traps
from gossamer.testing.bombs import MEGABYTE, Coding
from gossamer.testing.exchange import Answer, Cover, Handler, Hit, Then, as_answer, encoded
from gossamer.testing.files import Download, Ranges, Versions
from gossamer.testing.http import whole
from gossamer.testing.pages import Wall
from gossamer.testing.traps import Trap

#: How a Content-Length can be wrong.
Wrong: TypeAlias = Literal["long", "short", "negative", "words", "huge", "twice", "chunked"]

OK = "<p>ok</p>"
_BLOCK = b" " * (1 << 16)
_TEXT = {"Content-Type": "text/plain; charset=utf-8"}
#: Longest line of the huge headers that come as many.
_HEADER_LINE = 1024


class Misbehaviour:
    """What a Site answers. Everything here is made of `handler` and `cover`."""

    def handler(self, path: str, func: Handler) -> None:
        """Answer by a function."""
        raise NotImplementedError

    def cover(self, path: str, func: Cover) -> None:
        """Lay a function over a path or a pattern."""
        raise NotImplementedError

    def _always(self, path: str, answer: Answer) -> None:
        self.handler(path, lambda _: answer)

    def _at_first(self, path: str, times: float, bad: Answer | Callable[[], Answer], then: Then) -> None:
        tries, fine = itertools.count(), as_answer(then)

        def answer(_: Hit) -> Answer:
            if next(tries) >= times:
                return fine
            return bad() if callable(bad) else bad

        self.handler(path, answer)

    # -- pages

    def page(
        self,
        path: str,
        body: str | bytes,
        *,
        status: int = 200,
        headers: Mapping[str, str | tuple[str, ...]] | None = None,
        latency: float = 0.0,
    ) -> None:
        """Answer with a page: HTML in UTF-8 unless the headers say otherwise."""
        self._always(path, Answer(status=status, body=encoded(body), headers=headers or {}, latency=latency))

    def json(self, path: str, data: object, *, status: int = 200, latency: float = 0.0) -> None:
        """Answer with JSON. TypeError if the data cannot be written as such."""
        body = json.dumps(data, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        self._always(path, Answer(status=status, body=body, headers=headers, latency=latency))

    def redirect(self, path: str, to: str, *, status: int = 301, latency: float = 0.0) -> None:
        """Send the client on to a path or URL, which goes out as it is written here."""
        self._always(path, Answer(status=status, headers={"Location": to}, latency=latency))

    def robots(self, text: str, *, status: int = 200) -> None:
        """Have a robots.txt; without one it is a 404, which allows everything."""
        self.page("/robots.txt", text, status=status, headers=_TEXT)

    # -- statuses

    def flaky(
        self,
        path: str,
        *,
        times: float = 1,
        status: int = 503,
        retry_after: str | None = None,
        then: Then = OK,
        latency: float = 0.0,
    ) -> None:
        """Fail with a status the first `times`, then be fine. `math.inf` fails for ever, here and below."""
        fine = then if isinstance(then, Answer) else Answer(body=encoded(then), latency=latency)
        self._at_first(path, times, _refusal(status, retry_after, latency), fine)

    def storm(
        self,
        path: str = "/*",
        *,
        times: float = math.inf,
        seconds: float = math.inf,
        status: int = 429,
        retry_after: str | None = None,
    ) -> None:
        """Refuse whatever is asked below a pattern, for the first `times` or so many `seconds` from the first one on.

        What was told about the paths themselves holds again when the storm is over. robots.txt is not spared unless
        the pattern leaves it out.
        """
        refusal, tries, begun = _refusal(status, retry_after), itertools.count(), 0.0

        def rage(_: Hit) -> Answer | None:
            nonlocal begun
            now = time.monotonic()
            begun = begun or now
            return refusal if next(tries) < times and now - begun < seconds else None

        self.cover(path, rage)

    def robots_fails(
        self, *, status: int = 503, times: float = math.inf, retry_after: str | None = None, then: str | None = None
    ) -> None:
        """Have a robots.txt that cannot be read the first `times`; then it says `then`, or is a 404."""
        told = Answer(status=404) if then is None else Answer(body=then, headers=_TEXT)
        self.flaky("/robots.txt", times=times, status=status, retry_after=retry_after, then=told)

    # -- connections

    def reset(self, path: str, *, times: float = 1, then: Then = OK, midway: bool = False) -> None:
        """Reset the connection (TCP RST) the first `times`: instead of an answer, or `midway` through its body."""
        self._at_first(path, times, replace(as_answer(then), fault="abort" if midway else "reset"), then)

    def truncate(self, path: str, *, times: float = 1, then: Then = OK) -> None:
        """Announce all of `then`, send half of it and close, the first `times`; then be fine."""
        self._at_first(path, times, replace(as_answer(then), fault="truncate"), then)

    def hang(self, path: str, *, times: float = math.inf, then: Then = OK) -> None:
        """Take the request and never answer it, the first `times`; then be fine."""
        self._at_first(path, times, replace(as_answer(then), fault="hang"), then)

    def garbage(self, path: str, *, times: float = math.inf, then: Then = OK, data: bytes = b"\x00\xff" * 512) -> None:
        """Send bytes that are no HTTP the first `times`, then be fine."""
        self._at_first(path, times, Answer(raw=data), then)

    # -- slowness

    def slow_head(self, path: str, *, every: float = 0.05, times: float = math.inf, then: Then = OK) -> None:
        """Send status line and headers of `then` byte by byte, one every so many seconds, the first `times`."""
        self._at_first(path, times, lambda: _dripped(as_answer(then), every, head=True), then)

    def slow_body(self, path: str, *, every: float = 0.05, times: float = math.inf, then: Then = OK) -> None:
        """Send the body of `then` byte by byte, one every so many seconds, the first `times`."""
        self._at_first(path, times, lambda: _dripped(as_answer(then), every, head=False), then)

    def drip(self, path: str, *, chunk: bytes = b"x", every: float = 0.05) -> None:
        """Send a body that never ends, one chunk every so many seconds."""
        self._always(path, Answer(stream=lambda: itertools.repeat(chunk), every=every))

    # -- sizes

    def bomb(
        self,
        path: str,
        *,
        megabytes: int = 50,
        coding: Coding = "gzip",
        layers: int = 1,
        times: float = math.inf,
        then: Then = OK,
    ) -> None:
        """Send a small body which unpacks to this many megabytes, the first `times`.

        On the wire that is a thousandth of them with gzip and deflate, next to nothing with br and zstd. `layers` of
        gzip, one in the other, are smaller still.
        """
        if layers > 1 and coding != "gzip":
            raise ValueError(f"only gzip bombs are made in layers, not {coding}")
        body = bombs.nested(megabytes, layers) if layers > 1 else bombs.bomb(coding, megabytes)
        headers = {"Content-Encoding": ", ".join([coding] * layers)}
        self._at_first(path, times, Answer(body=body, headers=headers), then)

    def huge(self, path: str, *, megabytes: int = 50, times: float = math.inf, then: Then = OK) -> None:
        """Send this many megabytes without saying so in advance, the first `times`."""
        blocks = megabytes * MEGABYTE // len(_BLOCK)
        self._at_first(path, times, Answer(stream=lambda: itertools.repeat(_BLOCK, blocks)), then)

    def wrong_length(
        self, path: str, wrong: Wrong = "long", *, times: float = math.inf, then: str | bytes = OK
    ) -> None:
        """Send a length that is not the body's, the first `times`, and close.

        long: more than comes. short: less than comes. negative, words, huge: no length at all. twice: two that
        differ. chunked: one, and a chunked body besides.
        """
        self._at_first(path, times, Answer(raw=_wrong_length(wrong, encoded(then))), then)

    def huge_headers(
        self, path: str, *, kilobytes: float = 512, many: bool = False, times: float = math.inf, then: Then = OK
    ) -> None:
        """Send headers of this size, the first `times`: one line, or `many`. `math.inf` kilobytes never end."""
        bad = Answer(raw=lambda: long_head(kilobytes * 1024, many, as_answer(then)))
        self._at_first(path, times, bad, then)

    # -- redirects

    def redirect_chain(self, path: str, *, hops: int, then: Then = OK, status: int = 302) -> None:
        """Lead from `path` over `hops` redirects to the page: `path` -> `path?hop=1` -> ... -> `path?hop=N`."""
        places = [path, *(f"{path}?hop={n}" for n in range(1, hops + 1))]
        for place, target in itertools.pairwise(places):
            self.redirect(place, target, status=status)
        self._always(places[-1], as_answer(then))

    def redirect_loop(self, path: str, *, hops: int = 2, status: int = 302) -> None:
        """Lead from `path` over `hops` redirects back to it; one hop leads to itself."""
        places = [path, *(f"{path}?hop={n}" for n in range(1, hops)), path]
        for place, target in itertools.pairwise(places):
            self.redirect(place, target, status=status)

    def redirect_endless(self, path: str, *, status: int = 302) -> None:
        """Lead on for ever, each time to a place that was not there before: `path?hop=1`, `path?hop=2` ..."""

        def onward(hit: Hit) -> Answer:
            number = hit.path.partition("?hop=")[2]
            target = f"{path}?hop={int(number) + 1 if number.isdecimal() else 1}"
            return Answer(status=status, headers={"Location": target})

        self.handler(path, onward)

    # -- what a page claims to be

    def charset(self, path: str, text: str, *, encoding: str = "windows-1252", declared: str | None = "utf-8") -> None:
        """Send a text in one encoding and declare another, which need not exist; None declares nothing."""
        kind = "text/html" if declared is None else f"text/html; charset={declared}"
        self.page(path, text.encode(encoding), headers={"Content-Type": kind})

    def wall(
        self, path: str, kind: Wall = "login", *, times: float = math.inf, status: int | None = None, then: Then = OK
    ) -> None:
        """Show a wall instead of the page, the first `times`, with the status such walls come with unless told.

        login: a form to log in, 200. captcha: 200. challenge: "just a moment", 403. denied: 403.
        """
        body, usual = pages.WALLS[kind]
        self._at_first(path, times, Answer(status=status or usual, body=body), then)

    def trap(self, path: str, kind: Trap = "calendar") -> None:
        """Have pages without end below a path: each links to more.

        calendar: next month, last month. path: folders that repeat in one another. query: filters in any order.
        session: every link carries a new session id.
        """
        self.handler(path.rstrip("*") + "*", traps.maker(path.rstrip("*"), kind))

    # -- what changes, what is fetched in parts, what wants a cookie

    def versioned(
        self, path: str, versions: Sequence[str | bytes], *, etag: bool = True, modified: bool = True
    ) -> Versions:
        """Have a page that changes when told: it shows the first version until `turn()` of what is returned.

        Its ETag and Last-Modified change with it, and a request that knows them gets a 304.
        """
        made = Versions([encoded(version) for version in versions], etag=etag, modified=modified)
        self.handler(path, made)
        return made

    def download(
        self,
        path: str,
        data: bytes,
        *,
        ranges: Ranges = "good",
        cut: Sequence[int] = (),
        kind: str = "application/octet-stream",
    ) -> Download:
        """Have a file that can be fetched in parts, with an ETag; the n-th answer breaks off after `cut[n]` bytes.

        What `ranges` can be: good; none (always the whole file); shifted (another part than asked for, honestly
        labelled); lying (another part, labelled as asked); refused (a 416, whatever is asked).
        """
        made = Download(data, ranges, list(cut), kind)
        self.handler(path, made)
        return made

    def needs_cookie(
        self,
        path: str,
        *,
        cookie: str = "visitor=1",
        by: str = "/-/cookie",
        then: Then = OK,
        attributes: str = "Path=/",
    ) -> None:
        """Send whoever has no cookie to another place, which sets it and leads back. Without cookies: a loop."""
        fine = as_answer(then)

        def guard(hit: Hit) -> Answer:
            if cookie in hit.headers.get("cookie", "").split("; "):
                return fine
            return Answer(status=302, headers={"Location": by})

        self.handler(path, guard)
        given = {"Location": path, "Set-Cookie": f"{cookie}; {attributes}" if attributes else cookie}
        self._always(by, Answer(status=302, headers=given))


def _refusal(status: int, retry_after: str | None, latency: float = 0.0) -> Answer:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Answer(status=status, headers=headers, latency=latency)


def _dripped(fine: Answer, every: float, *, head: bool) -> Answer:
    """The bytes of an answer, its head or its body one at a time."""
    data = whole(fine, "GET", keep=False)
    end = data.index(b"\r\n\r\n") + 4

    def drops() -> Iterator[bytes]:
        slow, quick = (data[:end], data[end:]) if head else (data[end:], data[:end])
        drip = (slow[n : n + 1] for n in range(len(slow)))
        yield from (*drip, quick) if head else (quick, *drip)

    return Answer(status=fine.status, raw=drops, every=every)


def _wrong_length(wrong: Wrong, body: bytes) -> bytes:
    size = len(body)
    told = {
        "long": [f"Content-Length: {size + 100}"],
        "short": [f"Content-Length: {max(size - 3, 0)}"],
        "negative": ["Content-Length: -1"],
        "words": ["Content-Length: many"],
        "huge": [f"Content-Length: {'9' * 40}"],
        "twice": [f"Content-Length: {size}", f"Content-Length: {size + 100}"],
        "chunked": [f"Content-Length: {size + 100}", "Transfer-Encoding: chunked"],
    }[wrong]
    head = "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8", *told, "", ""])
    sent = b"%x\r\n%b\r\n0\r\n\r\n" % (size, body) if wrong == "chunked" else body
    return head.encode() + sent


def long_head(size: float, many: bool, fine: Answer) -> Iterator[bytes]:
    """The answer with `size` more bytes of headers."""
    first, _, rest = whole(fine, "GET", keep=False).partition(b"\r\n")
    yield first + b"\r\n"
    if not many:
        yield b"X-Long: "
    sent, number = 0, 0
    while sent < size:
        line = b"X-Long-%d: " % number if many else b""
        piece = line + b"x" * int(min(_HEADER_LINE - len(line), size - sent)) + (b"\r\n" if many else b"")
        yield piece
        sent, number = sent + len(piece), number + 1
    yield (b"" if many else b"\r\n") + rest
