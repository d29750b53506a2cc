"""One page being shown by a browser: from its request to its Response.

The page's own answer is held back until we have seen its head. A redirect goes back to the engine, which follows
it through the gate like any other; what is not HTML is read as it is; HTML is let through, and what the page
makes of itself is the body.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import email.utils
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any

from gossamer import urls
from gossamer.errors import (
    Broken,
    ConnectFailed,
    FetchError,
    HeadersTooLarge,
    RenderFailed,
    TimedOut,
    TlsFailed,
    TooLarge,
    Unsendable,
)
from gossamer.fetch import retry
from gossamer.fetch.turnstile import Pass
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.values import REDIRECTS, Fetch, Headers, Request, Response, is_secret

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Route
    from playwright.async_api import Request as Asked

#: A page is complete when it has asked for nothing for this long, in seconds, after it was loaded.
QUIET = 0.5
#: A page that never falls quiet is complete after this many seconds.
RESTLESS = 5.0
#: Times that a page may load itself again: walls set a cookie and do.
RELOADS = 3
#: Things that one page may load of one host.
MOST_OF_A_HOST = 300
#: Things that one page may ask for.
MOST_REQUESTS = 2000
#: Bytes of a body read from the browser at a time.
CHUNK = 256 << 10

_HTML = frozenset({"", "text/html", "application/xhtml+xml"})
#: Answers without a body of their own, which the engine knows what to do with.
_BODILESS = frozenset({204, 205, 304})
#: Of the headers that came, those that spoke of the bytes on the wire.
_OF_THE_WIRE = frozenset({"connection", "content-encoding", "content-length", "transfer-encoding"})
#: Headers that the browser writes itself.
_OF_THE_BROWSER = frozenset({"cookie", "host", "content-length", "connection", "user-agent"})

#: In a world of its own, where nothing that the page has bent is seen. A page too long is only measured.
_SERIALISE = """(most, cut) => {
    const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
    const text = type + (document.documentElement ? document.documentElement.outerHTML : "");
    return text.length <= most ? text : cut ? text.slice(0, most) : text.length;
}"""


#: What pages write to the console nobody reads, and a loop of it would keep the driver from all other work.
QUIET_CONSOLE = """for (const name of Object.keys(console))
    if (typeof console[name] === "function") console[name] = () => undefined;"""


class Turns:
    """Turns at hosts, for requests inside tunnels, where the turnstile cannot tell one from another."""

    def __init__(self) -> None:
        self._of: dict[str, asyncio.Semaphore] = {}

    def at(self, host: str, per_host: int) -> asyncio.Semaphore:
        """The turns at one host, which all pages share."""
        if len(self._of) > 10_000:
            self._of = {name: turn for name, turn in self._of.items() if turn.locked()}
        return self._of.setdefault(host, asyncio.Semaphore(per_host))


class Rendering:
    """One page of one browser context, shown once."""

    def __init__(
        self,
        request: Request,
        config: ScraperConfig,
        way: Way,
        *,
        page_pass: Pass,
        turns: Turns,
        heard: Callable[[Fetch], None] | None = None,
    ) -> None:
        self._request = request
        self._config = config
        self._way = way
        self._pass = page_pass
        self._turns = turns
        self._heard = heard
        self._sent = _headers(request, config, way)
        self._page: Page
        self._cdp: CDPSession
        self._frame = ""
        #: Status and headers of the page's own answer.
        self._head: tuple[int, Headers] | None = None
        #: How it ends, where that is known before the page is complete: a Response, or what went wrong.
        self._ended: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked = 0
        self._wants: Counter[str] = Counter()
        #: It asks for so much that its browser is of no use to other pages.
        self.stormy = False
        self._loads = 0
        self._cookies: dict[tuple[str, str, str], str] = {}
        #: Under way: what was let through, and the turn it holds.
        self._pending: dict[Asked, asyncio.Semaphore | None] = {}
        #: What we did not let through.
        self._stopped: set[Asked] = set()
        #: WebSockets, and when they were opened.
        self._sockets: list[tuple[str, float]] = []
        self._idle, self._busy = asyncio.Event(), asyncio.Event()
        self._parsed, self._loaded = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._started, self._clock = time.time(), time.monotonic()
        self._deadline = self._clock + config.timeout

    def options(self) -> dict[str, Any]:
        """How the browser context is to be made."""
        insecure = self._pass.secure_only is not None
        options: dict[str, Any] = {
            "user_agent": self._way.identity.user_agent,
            "service_workers": "block",
            "accept_downloads": False,
            "ignore_https_errors": insecure,
        }
        if language := self._sent.get("accept-language"):
            options["extra_http_headers"] = {"accept-language": language}
        if login := _login(self._sent.get("authorization", "")):
            options["http_credentials"] = {**login, "origin": urls.origin(self._request.url)}
        return options

    async def show(self, context: BrowserContext) -> Response:
        """Show the page, and give what it became. Raises FetchError."""
        if self._way.leave is not None:
            await self._way.leave()
        self._started, self._clock = time.time(), time.monotonic()
        self._deadline = self._clock + self._config.timeout
        watching = asyncio.create_task(self._watch(context))
        try:
            left = self._deadline - time.monotonic()
            await asyncio.wait({watching, self._ended}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if self._ended.done():
                return self._ended.result()
            if watching.done():
                return watching.result()
            raise TimedOut(f"the page was not complete within {self._config.timeout:g} s")
        finally:
            for task in (watching, *self._tasks):
                task.cancel()
            await asyncio.gather(watching, *self._tasks, return_exceptions=True)
            self._give_up()
            if self._ended.done() and not self._ended.cancelled():
                self._ended.exception()  # seen, even if another way to end was quicker

    def _give_up(self) -> None:
        """What the page still waits for is waited for no longer; it was asked for all the same."""
        for asked, turn in self._pending.items():
            if turn is not None:
                turn.release()
            if asked not in self._stopped and not self._is_main(asked):
                self._say(asked)
        self._pending.clear()
        for url, started in self._sockets[:MOST_REQUESTS]:
            self._say_socket(url, started)

    def spent(self) -> None:
        """The page has moved all the bytes it may."""
        self._end(TooLarge(f"the page and what it loads have more than {self._pass.cap:,} bytes; raise max_body"))

    def _end(self, how: Response | FetchError) -> None:
        if self._ended.done():
            return
        if isinstance(how, Response):
            self._ended.set_result(how)
        else:
            self._ended.set_exception(how)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that an event asks for; what is left of it ends with the page."""

        async def guarded() -> None:
            from playwright.async_api import Error

            with contextlib.suppress(Error):  # the page is gone
                await work

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- the way of a page -------------------------------------------------------------------------------------

    async def _watch(self, context: BrowserContext) -> Response:
        from playwright.async_api import Error

        try:
            await self._prepare(context)
            await self._page.goto(self._request.url, wait_until="commit", timeout=0)
            await self._complete()
            return await self._read()
        except Error as error:
            raise self._ours(error) from error

    async def _prepare(self, context: BrowserContext) -> None:
        """Everything that must be listened to before the first byte goes out."""
        self._page = page = await context.new_page()
        context.on("page", lambda other: self._soon(other.close()) if other is not page else None)
        context.on("request", self._on_request)
        context.on("requestfinished", self._on_done)
        context.on("requestfailed", self._on_done)
        page.on("crash", lambda _: self._end(RenderFailed("the page crashed the browser: it may want too much memory")))
        page.on("websocket", lambda socket: self._sockets.append((socket.url, time.time())))
        page.on("dialog", lambda dialog: self._soon(dialog.dismiss()))
        self._cdp = await context.new_cdp_session(page)
        tree = await self._cdp.send("Page.getFrameTree")
        self._frame = tree["frameTree"]["frame"]["id"]
        self._cdp.on("Page.frameNavigated", self._on_navigated)
        self._cdp.on("Page.domContentEventFired", lambda event: self._on_life({}, self._parsed))
        self._cdp.on("Page.loadEventFired", lambda event: self._on_life({}, self._loaded))
        self._cdp.on("Page.frameStoppedLoading", lambda event: self._on_life(event, self._parsed, self._loaded))
        await self._cdp.send("Page.enable")
        self._cdp.on("Fetch.requestPaused", lambda event: self._soon(self._on_answer(event)))
        await self._cdp.send(
            "Fetch.enable",
            {"patterns": [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}]},
        )
        await context.add_init_script(QUIET_CONSOLE)
        await context.route("**/*", self._on_route)
        await self._set_cookies()

    async def _complete(self) -> None:
        """Until the page is complete: shows what it is waited for, or is loaded and quiet."""
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as Late

        left = max(0.1, self._deadline - time.monotonic() - 0.1)
        selector = self._request.wait_for or self._config.wait_for
        if selector is not None:
            try:
                await self._page.wait_for_selector(f"css={selector}", state="attached", timeout=left * 1000)
            except Late:
                why = f"nothing on the page matched wait_for = {selector!r} within {self._config.timeout:g} s"
                raise RenderFailed(why) from None
            except Error as error:
                if "selector" not in str(error):
                    raise
                raise Unsendable(f"wait_for = {selector!r} is no CSS selector") from None
            return
        await self._parsed.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left / 2):
                await self._loaded.wait()
        # What is still loading then is not what the page is about.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(RESTLESS, (self._deadline - time.monotonic()) / 2)):
                await self._quiet()

    def _on_life(self, event: dict[str, Any], *marks: asyncio.Event) -> None:
        """A step in the life of the page. One that leads elsewhere is never loaded: it only stops loading."""
        if event.get("frameId", self._frame) == self._frame:
            for mark in marks:
                mark.set()

    def _on_navigated(self, event: dict[str, Any]) -> None:
        if event["frame"]["id"] == self._frame:
            self._parsed.clear()
            self._loaded.clear()

    async def _quiet(self) -> None:
        while True:
            await self._idle.wait()
            try:
                async with asyncio.timeout(QUIET):
                    await self._busy.wait()
            except TimeoutError:
                return

    async def _read(self) -> Response:
        """What the page has become."""
        most, part = self._config.max_body, self._way.part
        world = await self._cdp.send("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": "gossamer"})
        answer = await self._cdp.send(
            "Runtime.evaluate",
            {
                "expression": f"({_SERIALISE})({most}, {str(part).lower()})",
                "contextId": world["executionContextId"],
                "returnByValue": True,
            },
        )
        text = answer["result"].get("value")
        if isinstance(text, int | float):
            raise TooLarge(f"the page has {int(text):,} characters, more than max_body allows ({most:,})")
        if self._head is None or not isinstance(text, str) or not self._page.url.startswith(("http:", "https:")):
            raise RenderFailed("the page went away before it could be read")
        body = text.encode("utf-8", "replace")
        if len(body) > most:
            if not part:
                raise TooLarge(f"the page has {len(body):,} bytes, more than max_body allows ({most:,})")
            body = body[:most]
        status, headers = self._head
        kept = [pair for pair in headers.pairs() if pair[0] != "content-type"]
        return await self._response(status, [*kept, ("content-type", "text/html; charset=utf-8")], body)

    async def _response(
        self, status: int, headers: Iterable[tuple[str, str]], body: bytes, *, unread: bool = False
    ) -> Response:
        kept = [pair for pair in headers if pair[0] not in _OF_THE_WIRE]
        return Response(
            self._request.url,
            status,
            Headers([*kept, *await self._new_cookies()]),
            body,
            self._started,
            time.monotonic() - self._clock,
            unread,
            remote=self._pass.remotes.get(urls.host(self._request.url)),
        )

    # -- what the page asks for --------------------------------------------------------------------------------

    async def _on_route(self, route: Route) -> None:
        """Decide about one request, before it goes out."""
        from playwright.async_api import Error

        asked = route.request
        self._asked += 1
        with contextlib.suppress(Error):  # the page is gone
            if self._asked > MOST_REQUESTS:
                self.stormy = True
                self._end(RenderFailed(f"the page asks for more than {MOST_REQUESTS:,} things"))
            elif self._is_main(asked):
                await self._navigate(route)
            elif self._unwanted(asked):
                self._stopped.add(asked)
                await route.abort("blockedbyclient")
            else:
                await self._let_through(route)

    def _unwanted(self, asked: Asked) -> bool:
        """Whether a page does without something: by our choice, by robots.txt, or because another page asks."""
        if asked.resource_type in self._config.render_block or not self._belongs(asked):
            return True
        if asked.url.startswith(("http:", "https:")) and self._too_many(urls.host(asked.url)):
            return True
        may = self._way.may
        return may is not None and asked.url.startswith(("http:", "https:")) and not may(asked.url)

    def _too_many(self, host: str) -> bool:
        """Whether a page wants more of one host than a page needs: it must not be somebody's way to flood another."""
        self._wants[host] += 1
        return self._wants[host] > MOST_OF_A_HOST

    async def _navigate(self, route: Route) -> None:
        """The page itself, the first time and when it loads itself again; to nowhere else."""
        asked = route.request
        if asked.url.partition("#")[0] != self._request.url.partition("#")[0] or self._loads > RELOADS:
            await route.abort("aborted")  # which leaves the page as it is
            return
        self._loads += 1
        if self._loads > 1:
            await route.continue_()
            return
        body = self._request.body
        await route.continue_(
            headers={**asked.headers, **{k: v for k, v in self._sent.items() if k not in _OF_THE_BROWSER}},
            method=self._request.verb,
            post_data=body,
        )

    async def _let_through(self, route: Route) -> None:
        asked = route.request
        turn = None
        if asked.url.startswith("https:"):
            turn = self._turns.at(urls.host(asked.url), self._config.per_host)
            await turn.acquire()
        if self._ended.done() or asked not in self._pending:  # given up meanwhile
            if turn is not None:
                turn.release()
            return
        self._pending[asked] = turn
        await route.continue_()

    def _is_main(self, asked: Asked) -> bool:
        return asked.is_navigation_request() and self._belongs(asked) and asked.frame == self._page.main_frame

    def _belongs(self, asked: Asked) -> bool:
        """Whether it was asked by our page, and not by a window it opened."""
        from playwright.async_api import Error

        try:
            return asked.frame.page == self._page
        except Error:  # a window so new that it has no frame yet
            return False

    def _on_request(self, asked: Asked) -> None:
        self._pending.setdefault(asked, None)
        self._idle.clear()
        self._busy.set()

    def _on_done(self, asked: Asked) -> None:
        turn = self._pending.pop(asked, None)
        if turn is not None:
            turn.release()
        if not self._pending:
            self._busy.clear()
            self._idle.set()
        if asked in self._stopped:
            self._stopped.discard(asked)
        elif self._heard is not None and not self._is_main(asked):
            self._soon(self._tell(asked))

    async def _tell(self, asked: Asked) -> None:
        """Say what a request of the page came to."""
        response = None if asked.failure else await asked.response()
        length = response.headers.get("content-length", "") if response is not None else ""
        self._say(
            asked,
            response.status if response is not None else 0,
            int(length) if length.isdecimal() and len(length) < 16 else 0,
            retry.seconds_asked(response.headers["retry-after"], time.time())
            if response is not None and "retry-after" in response.headers
            else None,
        )

    def _say(self, asked: Asked, status: int = 0, size: int = 0, retry_after: float | None = None) -> None:
        """Tell of a request, unless it went nowhere because the browser stopped it."""
        failure, timing = asked.failure, asked.timing
        host = urls.host(asked.url)
        refused = self._pass.failures.get(host)
        if status not in (0, 403, 502):  # a connection that failed once may have succeeded since
            refused = None
        sent = timing["startTime"] / 1000
        if self._heard is None or (sent <= 0 and refused is None):
            return
        self._heard(
            Fetch(
                asked.url,
                host,
                sent if sent > 0 and refused is None else 0.0,  # what was refused never left
                max(0.0, timing["responseEnd"] / 1000) if sent > 0 else 0.0,
                status if refused is None else 0,
                size,
                "render" if refused is None else refused.reason,
                self._request.id,
                str(refused) if refused is not None else failure,
                retry_after,
            )
        )

    def _say_socket(self, url: str, started: float) -> None:
        """Tell of a WebSocket: one request, however long it lasted."""
        host = urls.host(url.replace("ws", "http", 1))
        refused = self._pass.failures.get(host)
        if self._heard is not None:
            reason, status = ("render", 101) if refused is None else (refused.reason, 0)
            detail = None if refused is None else str(refused)
            elapsed = time.time() - started
            self._heard(
                Fetch(
                    url, host, started if refused is None else 0.0, elapsed, status, 0, reason, self._request.id, detail
                )
            )

    # -- the page's own answer ---------------------------------------------------------------------------------

    async def _on_answer(self, event: dict[str, Any]) -> None:
        """The head of a document's answer has come; its body has not."""
        held = {"requestId": event["requestId"]}
        if event.get("frameId") != self._frame or "responseStatusCode" not in event:
            await self._cdp.send("Fetch.continueRequest", held)
            return
        status = event["responseStatusCode"]
        headers = Headers((each["name"], each["value"]) for each in event.get("responseHeaders", ()))
        failure = self._pass.failures.get(urls.host(self._request.url))
        if failure is not None and status in (403, 502):
            self._end(failure)
        elif sum(len(name) + len(value) for name, value in headers.pairs()) > self._config.max_headers:
            most = self._config.max_headers
            self._end(HeadersTooLarge(f"the headers are more than max_headers allows ({most:,} bytes)"))
        elif status in REDIRECTS or status in _BODILESS:
            self._end(await self._response(status, headers.pairs(), b""))
        elif not _is_html(headers):
            await self._as_it_is(held, status, headers)
        else:
            self._head = (status, headers)
            await self._cdp.send("Fetch.continueRequest", held)
            return
        await self._cdp.send("Fetch.failRequest", {**held, "errorReason": "Aborted"})

    async def _as_it_is(self, held: dict[str, Any], status: int, headers: Headers) -> None:
        """Read a body that is no page."""
        kinds = self._config.content_types
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kinds and kind not in kinds and 200 <= status < 300:
            self._end(await self._response(status, headers.pairs(), b"", unread=True))
            return
        try:
            body = await self._stream(held)
        except FetchError as error:
            self._end(error)
        else:
            self._end(await self._response(status, headers.pairs(), body))

    async def _stream(self, held: dict[str, Any]) -> bytes:
        """A body, piece by piece, up to its cap."""
        most, read = self._config.max_body, bytearray()
        stream = (await self._cdp.send("Fetch.takeResponseBodyAsStream", held))["stream"]
        while True:
            piece = await self._cdp.send("IO.read", {"handle": stream, "size": CHUNK})
            data = piece["data"]
            read += base64.b64decode(data) if piece.get("base64Encoded") else data.encode()
            if len(read) > most:
                if self._way.part:
                    return bytes(read[:most])
                raise TooLarge(f"the body has more bytes than max_body allows ({most:,})")
            if piece["eof"]:
                return bytes(read)

    # -- cookies -----------------------------------------------------------------------------------------------

    async def _set_cookies(self) -> None:
        """Give the browser the cookies of this attempt."""
        from playwright.async_api import Error

        pairs = [part.strip().partition("=") for part in self._sent.get("cookie", "").split(";")]
        about = {"url": self._request.url, "path": "/", "secure": self._request.url.startswith("https:")}
        for name, equals, value in pairs:
            if equals:
                with contextlib.suppress(Error):  # one that no browser would keep
                    await self._cdp.send("Network.setCookie", {**about, "name": name, "value": value})
        self._cookies = await self._present_cookies()

    async def _present_cookies(self) -> dict[tuple[str, str, str], str]:
        """The browser's cookies for the page's host, each as a Set-Cookie line."""
        host = urls.hostname(self._request.url)
        lines = {}
        for cookie in await self._page.context.cookies():
            name, domain, path = cookie.get("name", ""), cookie.get("domain", ""), cookie.get("path", "/")
            if f".{host}".endswith(f".{domain.lstrip('.')}"):
                lines[name, domain, path] = f"{name}={cookie.get('value', '')}{_attributes(dict(cookie))}"
        return lines

    async def _new_cookies(self) -> list[tuple[str, str]]:
        """What the page did to cookies, however it did it, as the lines that say the same.

        The browser does not give away the lines that came, only what it made of them.
        """
        now = await self._present_cookies()
        lines = [line for key, line in now.items() if self._cookies.get(key) != line]
        gone = [key for key in self._cookies if key not in now]
        lines += [f"{name}=; Path={path}; Max-Age=0{_domain(domain)}" for name, domain, path in gone]
        return [("set-cookie", line) for line in lines]

    # -- errors ------------------------------------------------------------------------------------------------

    def _ours(self, error: Exception) -> FetchError:
        """An error of the browser as one of ours."""
        told = str(error).partition("\n")[0]
        code = told.partition("net::")[2].partition(" ")[0]
        failure = self._pass.failures.get(urls.host(self._request.url))
        if failure is not None:
            return failure
        if code.startswith(("ERR_CERT", "ERR_SSL")):
            return TlsFailed(f"no secure connection: {code}")
        if code in ("ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED"):
            return Broken("the answer broke off")
        if code.startswith(("ERR_CONNECTION", "ERR_TUNNEL", "ERR_PROXY")):
            return ConnectFailed(f"no connection: {code}")
        if code.startswith(("ERR_INCOMPLETE", "ERR_CONTENT", "ERR_INVALID", "ERR_HTTP", "ERR_RESPONSE")):
            return Broken(f"the answer broke off or was not HTTP: {code}")
        return RenderFailed(f"the browser could not show the page: {told[:200]}")


def _headers(request: Request, config: ScraperConfig, way: Way) -> dict[str, str]:
    """What is sent with the page's own request, and with no other."""
    own = {name.lower(): text for name, text in config.headers.items()}
    if not way.trusted:
        own = {name: text for name, text in own.items() if not is_secret(name)}
    if request.body is not None:
        form = "application/x-www-form-urlencoded" if isinstance(request.data, dict) else "text/plain; charset=utf-8"
        own.setdefault("content-type", "application/json" if request.json is not None else form)
    for more in (request.headers or {}, way.headers):
        own.update({name.lower(): text for name, text in more.items()})
    return own


def _login(authorization: str) -> dict[str, str] | None:
    """User and password of Basic authorization: the page's other requests to its origin may need them."""
    scheme, _, told = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(told, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return {"username": user, "password": password}


def _domain(domain: str) -> str:
    return f"; Domain={domain[1:]}" if domain.startswith(".") else ""


def _attributes(cookie: dict[str, Any]) -> str:
    """The part of a Set-Cookie line after its value."""
    expires = cookie.get("expires", -1)
    return (
        f"; Path={cookie.get('path', '/')}{_domain(cookie.get('domain', ''))}"
        + (f"; Expires={email.utils.formatdate(expires, usegmt=True)}" if expires > 0 else "")
        + ("; Secure" if cookie.get("secure") else "")
        + ("; HttpOnly" if cookie.get("httpOnly") else "")
        + (f"; SameSite={cookie['sameSite']}" if cookie.get("sameSite") else "")
    )


def _is_html(headers: Headers) -> bool:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in _HTML and not headers.get("content-disposition", "").strip().lower().startswith("attachment")
