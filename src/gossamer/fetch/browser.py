"""The fetcher on Chromium: shows a page, and gives what it became.

The only files that know Playwright are this one, which starts and ends browsers, and rendering.py, which shows
one page. A browser is started when the first page wants it, replaced after so many pages, and never outlives us:
see keeper.py. All it connects to goes through the turnstile.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gossamer import urls
from gossamer.errors import NoBrowser, RenderFailed
from gossamer.fetch import keeper
from gossamer.fetch.rendering import Rendering, Turns
from gossamer.fetch.turnstile import Pass, Turnstile
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.telemetry import log
from gossamer.values import Fetch, Request, Response

if TYPE_CHECKING:
    from playwright.async_api import Browser as Driven
    from playwright.async_api import BrowserContext, CDPSession, Playwright, ProxySettings

#: Names under which systems have Chromium.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Most memory that one process of the browser may have for its data, in bytes.
MEMORY = 2 << 30
#: A page and what it loads may move this many times `max_body`, and at least so much.
TIMES_BODY = 4
LEAST_BYTES = 32 << 20
#: Seconds that a browser may take to start, and that it is asked to close before it is killed.
START = 60.0
CLOSE = 5.0
#: Seconds within which a browser at rest answers.
PROMPT = 2.0

#: What a browser does on its own account is turned off; what it does for a page goes through the turnstile.
SWITCHES = (
    "--disable-quic",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-crash-reporter",
    "--no-pings",
    "--disable-blink-features=SharedWorker,WebTransport,SpeculationRules,SpeculationRulesPrefetchProxy",
    "--disable-gpu",
)


def missing(executable: str | None = None) -> str | None:
    """What must be installed before pages can be rendered, as a sentence; None: nothing."""
    if importlib.util.find_spec("playwright") is None:
        return "rendering needs Playwright: pip install 'gossamer[browser]'"
    if find(executable) is None:
        where = f"there is no browser at {executable!r}" if executable else "rendering needs Chromium"
        return f"{where}: install it with `apt install chromium`, or as your system does"
    return None


def find(executable: str | None = None) -> str | None:
    """The system's Chromium; None if there is none."""
    return next((path for name in ([executable] if executable else NAMES) if (path := shutil.which(name))), None)


class _Gone(RenderFailed):
    """The browser opened no page: it was killed, or has killed itself."""


class Browser:
    """A Fetcher that renders pages. Use as an async context manager."""

    def __init__(
        self,
        *,
        heard: Callable[[Fetch], None] | None = None,
        executable: str | None = None,
        memory: int = MEMORY,
    ) -> None:
        """`heard` is told of everything that pages ask for besides themselves, unless a way has its own ear."""
        self._heard = heard
        self._executable = executable
        self._memory = memory
        self._turnstile = Turnstile()
        self._turns = Turns()
        #: Runs with the same `render_pages` share that many.
        self._slots: dict[int, asyncio.Semaphore] = {}
        self._starting = asyncio.Lock()
        self._current: _Chromium | None = None
        self._retired: set[_Chromium] = set()

    async def __aenter__(self) -> Browser:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running = [*self._retired, *([self._current] if self._current is not None else [])]
        self._current = None
        await asyncio.gather(*(each.close() for each in running))
        if self._turnstile.port:
            await self._turnstile.__aexit__(kind, error, trace)

    async def fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        """Render, without following redirects. Raises FetchError."""
        async with self._slots.setdefault(config.render_pages, asyncio.Semaphore(config.render_pages)):
            try:
                return await self._fetch(request, config, way)
            except _Gone:  # nothing has gone out yet
                return await self._fetch(request, config, way)

    async def _fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        chromium = await self._ready(config.render_recycle)
        try:
            return await self._show(chromium, request, config, way)
        finally:
            chromium.showing -= 1
            if chromium in self._retired and not chromium.showing:
                self._retired.discard(chromium)
                await asyncio.shield(chromium.close())

    async def _ready(self, recycle: int) -> _Chromium:
        """A browser that may show one more page. One that has shown enough is replaced."""
        async with self._starting:
            now = self._current
            if now is not None and (now.shown >= recycle or not now.alive):
                self._current = None
                if now.showing:
                    self._retired.add(now)
                else:
                    await now.close()
            if self._current is None:
                self._current = await self._start()
            # No await between here and the caller's try: what is counted is given back.
            self._current.shown += 1
            self._current.showing += 1
            return self._current

    async def _start(self) -> _Chromium:
        if (why := missing(self._executable)) is not None:
            raise NoBrowser(why)
        path = find(self._executable)
        assert path is not None
        if not self._turnstile.port:
            await self._turnstile.__aenter__()
        chromium = _Chromium(path, self._turnstile.url, self._memory)
        try:
            async with asyncio.timeout(START):
                await chromium.start()
        except BaseException as error:
            await asyncio.shield(chromium.close())
            if isinstance(error, TimeoutError):
                raise RenderFailed(f"Chromium did not start within {START:g} s") from error
            raise
        return chromium

    async def _show(self, chromium: _Chromium, request: Request, config: ScraperConfig, way: Way) -> Response:
        insecure = (
            urls.hostname(request.url) in config.insecure_hosts or urls.host(request.url) in config.insecure_hosts
        )
        rendering: Rendering | None = None
        page_pass = Pass(
            way.addresses,
            proxy=way.proxy,
            per_host=config.per_host,
            cap=max(LEAST_BYTES, TIMES_BODY * config.max_body),
            timeout=config.timeout,
            secure_only=frozenset(config.insecure_hosts) if insecure else None,
            spent=lambda: rendering.spent() if rendering is not None else None,
        )
        page_pass.main = request.url.partition("#")[0]
        rendering = Rendering(
            request, config, way, page_pass=page_pass, turns=self._turns, heard=way.heard or self._heard
        )
        self._turnstile.admit(page_pass)
        try:
            return await chromium.show(rendering, page_pass)
        finally:
            await self._turnstile.dismiss(page_pass)


class _Chromium:
    """One running browser: its keeper, its driver, and itself."""

    def __init__(self, path: str, way_out: str, memory: int) -> None:
        self._path = path
        self._way_out = way_out
        self._memory = memory
        self._keeper: Process | None = None
        self._playwright: Playwright | None = None
        self._driven: Driven | None = None
        self._session: CDPSession | None = None
        #: Everything it writes is in here.
        self.folder: str | None = None
        self._closing: asyncio.Task[None] | None = None
        #: Pages shown by it so far, and at this moment.
        self.shown = 0
        self.showing = 0
        self._broken = False

    @property
    def alive(self) -> bool:
        """Whether it can show another page."""
        return not self._broken and self._driven is not None and self._driven.is_connected()

    async def start(self) -> None:
        """Start it. Raises RenderFailed."""
        from playwright.async_api import Error, async_playwright

        self._keeper = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", keeper.__file__, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True
        )
        assert self._keeper.stdout is not None
        assert self._keeper.stdin is not None
        self.folder = folder = os.fsdecode((await self._keeper.stdout.readline()).rstrip(b"\n"))
        if not folder:
            raise RenderFailed("no temporary folder could be made for the browser")
        try:
            manager = async_playwright()
            self._playwright = await manager.start()
            _hush(manager)
            self._limit()
            context = await self._playwright.chromium.launch_persistent_context(
                folder + "/profile", **self._options(folder)
            )
            assert context.browser is not None
            self._driven = context.browser
            self._session = await self._driven.new_browser_cdp_session()
        except Error as error:
            raise RenderFailed(_why(str(error))) from error
        self._keeper.stdin.write(b"\n")
        log.debug("browser.started", path=self._path)

    def _options(self, folder: str) -> dict[str, Any]:
        return {
            "executable_path": self._path,
            "artifacts_dir": folder + "/artifacts",
            # Nothing of ours: neither secrets in the environment, nor the user's own profile.
            "env": {"PATH": os.environ.get("PATH", os.defpath), "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"},
            "proxy": {"server": self._way_out, "bypass": "<-loopback>"},
            "args": list(SWITCHES),
            "ignore_default_args": ["--disable-popup-blocking", "--disable-ipc-flooding-protection"],
            # Chromium refuses to be sandboxed for root.
            "chromium_sandbox": os.geteuid() != 0,
            # What ends us is not theirs to hear: we close them ourselves.
            "handle_sigint": False,
            "handle_sigterm": False,
            "handle_sighup": False,
            "timeout": START * 1000,
        }

    def _limit(self) -> None:
        """Bound the memory of the driver, and with it that of every process it starts."""
        with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
            import resource

            for pid in keeper.drivers_of(os.getpid()):
                resource.prlimit(pid, resource.RLIMIT_DATA, (self._memory, self._memory))

    async def show(self, rendering: Rendering, page_pass: Pass) -> Response:
        """Show one page, in a context that nothing else has seen. Raises FetchError."""
        from playwright.async_api import Error

        assert self._driven is not None
        context: BrowserContext | None = None
        proxy: ProxySettings = {
            "server": self._way_out,
            "bypass": "<-loopback>",
            "username": page_pass.name,
            "password": page_pass.secret,
        }
        try:
            try:
                async with asyncio.timeout(page_pass.timeout):
                    context = await self._driven.new_context(proxy=proxy, **rendering.options())
            except (Error, TimeoutError) as error:
                self._broken = True
                raise _Gone("the browser opens no page any longer") from error
            return await rendering.show(context)
        finally:
            if rendering.stormy:
                # Requests by the ten thousand are queued in it: pages that share it do better in another one.
                self._broken = True
                await asyncio.shield(self.close())
            elif context is not None:
                await asyncio.shield(self._leave(context))

    async def _leave(self, context: BrowserContext) -> None:
        """Close a page's context; a browser that cannot, or is still busy with it, shows no other page."""
        try:
            async with asyncio.timeout(CLOSE):
                await context.close()
            async with asyncio.timeout(PROMPT):
                assert self._session is not None
                await self._session.send("Browser.getVersion")
        except Exception:  # noqa: BLE001 - whatever it is, the keeper will end it
            self._broken = True

    async def close(self) -> None:
        """End it, and all that belongs to it."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        for polite in (self._close_driven, self._stop_driver) if not self._broken else ():
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSE):
                    await polite()
        if self._keeper is not None and self._keeper.stdin is not None:
            self._keeper.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * keeper.PATIENCE):
                    await self._keeper.wait()
        if self._broken:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSE):
                    await self._stop_driver()

    async def _close_driven(self) -> None:
        if self._driven is not None:
            await self._driven.close()

    async def _stop_driver(self) -> None:
        if self._playwright is not None:
            await self._playwright.stop()


def _hush(manager: Any) -> None:
    """Playwright tells a future that its driver was killed; unless somebody asks it, that ends in the user's logs."""
    transport = getattr(getattr(manager, "_client", None), "_transport", None)
    failure = getattr(transport, "on_error_future", None)
    if isinstance(failure, asyncio.Future):
        failure.add_done_callback(lambda done: done.cancelled() or done.exception())


def _why(told: str) -> str:
    """What Playwright says when a browser does not start, in one sentence."""
    if "sandbox" in told:
        return "Chromium cannot make its sandbox here: allow unprivileged user namespaces, or give it a container's"
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return f"Chromium could not be started: {' '.join(lines)[:300]}"
