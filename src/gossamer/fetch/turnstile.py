"""The turnstile: a forward proxy on loopback, in our process, that is the browser's only way out.

Each page goes through with a pass of its own. A name is resolved here, by the rules of the run, and only a
checked address is connected to; a browser that resolved names itself could be told another address than the
one we checked. Bytes are counted and capped, and nobody without a pass gets through.

Plain requests are one to a connection: that makes every one of them visible, and their framing the browser's
affair. Everything else (https, and WebSockets) asks for a tunnel.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import secrets
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType

from gossamer import urls
from gossamer.errors import AddressRefused, Broken, ConnectFailed, FetchError, HeadersTooLarge, ProxyFailed
from gossamer.fetch import upstream
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.proxy import Proxy

#: Seconds that a connection may take to say what it wants.
PATIENCE = 60.0
#: Connections that one page may have open.
MOST_CONNECTIONS = 256
#: Bytes moved at a time.
CHUNK = 64 << 10

#: Headers between the browser and us, or us and the site, which do not travel on.
_OURS = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "upgrade", "te"}
)
_CHALLENGE = b'Proxy-Authenticate: Basic realm="gossamer"\r\n'


class Pass:
    """What one page may do, and what it did."""

    def __init__(
        self,
        addresses: Addresses,
        *,
        proxy: Proxy | None = None,
        per_host: int = 4,
        cap: int = 1 << 30,
        timeout: float = 30.0,
        secure_only: frozenset[str] | None = None,
        spent: Callable[[], None] | None = None,
    ) -> None:
        """`cap` is the most bytes it may move; `spent` hears when it has.

        With `secure_only`, tunnels lead to these hosts alone: in a browser that verifies no certificate, no
        other host can be trusted to be itself.
        """
        self.name = secrets.token_hex(8)
        self.secret = secrets.token_urlsafe(24)
        self.addresses = addresses
        self.proxy = proxy
        self.per_host = per_host
        self.cap = cap
        self.timeout = timeout
        self.secure_only = secure_only
        self.moved = 0
        #: Why there was no connection to a host, and which address answered for it.
        self.failures: dict[str, FetchError] = {}
        self.remotes: dict[str, str] = {}
        #: The page itself, which the gate has counted: it waits for no turn.
        self.main: str | None = None
        self._spent = spent
        self._tunnels: dict[str, asyncio.Semaphore] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"Pass({self.name}, {self.moved:,} of {self.cap:,} bytes)"

    def count(self, size: int) -> None:
        """Bytes that were moved. Raises _Spent at the cap."""
        self.moved += size
        if self.moved > self.cap:
            if self._spent is not None:
                self._spent()
            raise _Spent

    def tunnel_turn(self, host: str) -> asyncio.Semaphore:
        """A turn for one tunnel: a WebSocket, which may last, has one of its own."""
        return self._tunnels.setdefault(host, asyncio.Semaphore(self.per_host + 1))

    async def close(self) -> None:
        """Cut all its connections."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextlib.contextmanager
    def connection(self, task: asyncio.Task[None]) -> Iterator[None]:
        """Own a connection while it lasts."""
        if len(self._tasks) >= MOST_CONNECTIONS:
            raise _Refused(503, "this page has too many connections")
        self._tasks.add(task)
        try:
            yield
        finally:
            self._tasks.discard(task)


class _Spent(Exception):
    """A pass has moved all the bytes it may."""


class _Refused(Exception):
    """What is answered instead of doing it."""

    def __init__(self, status: int, why: str, extra: bytes = b"") -> None:
        super().__init__(why)
        self.status = status
        self.extra = extra


class Turnstile:
    """Lets browsers out. Use as an async context manager."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._passes: dict[str, Pass] = {}
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Turnstile:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=upstream.LONGEST_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        """Where browsers find it."""
        return f"http://127.0.0.1:{self.port}"

    def admit(self, page: Pass) -> None:
        """Let a page through from now on."""
        self._passes[page.name] = page

    async def dismiss(self, page: Pass) -> None:
        """Let a page through no longer, and cut what it has."""
        self._passes.pop(page.name, None)
        await page.close()
        if not self._passes:
            self._turns.clear()

    # -- one connection ----------------------------------------------------------------------------------------

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._answer(reader, writer, task)
        except _Refused as why:
            writer.write(_sentence(why.status, str(why), why.extra))
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, _Spent):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: StreamReader, writer: StreamWriter, task: asyncio.Task[None]) -> None:
        async with asyncio.timeout(PATIENCE):
            head = await reader.readuntil(b"\r\n\r\n")
        method, target, headers = _read(head)
        page = self._pass_of(headers)
        with page.connection(task):
            page.count(len(head))
            if method == "CONNECT":
                await self._tunnel(page, target, reader, writer)
            else:
                await self._exchange(page, method, target, headers, reader, writer)

    def _pass_of(self, headers: list[tuple[str, str]]) -> Pass:
        """Whose connection it is. Raises _Refused."""
        for name, value in headers:
            if name.lower() != "proxy-authorization":
                continue
            with contextlib.suppress(ValueError):
                told = base64.b64decode(value.partition(" ")[2], validate=True).decode()
                whose, _, secret = told.partition(":")
                page = self._passes.get(whose)
                if page is not None and hmac.compare_digest(page.secret.encode(), secret.encode()):
                    return page
        raise _Refused(407, "only the browser of this process gets through", _CHALLENGE)

    # -- tunnels -----------------------------------------------------------------------------------------------

    async def _tunnel(self, page: Pass, target: str, reader: StreamReader, writer: StreamWriter) -> None:
        host, port = _place(target, 443)
        name = upstream.named(host, port)
        if page.secure_only is not None and not page.secure_only & {host, name, f"{host}:{port}"}:
            page.failures[name] = AddressRefused(f"{name} is not one of insecure_hosts, whose certificates are ignored")
            raise _Refused(403, str(page.failures[name]))
        async with page.tunnel_turn(name):
            there, back = await self._connect(page, host, port, name)
            try:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _both_ways(page, reader, writer, there, back)
            finally:
                back.close()

    async def _connect(self, page: Pass, host: str, port: int, name: str) -> tuple[StreamReader, StreamWriter]:
        """A connection for a page. Raises _Refused, and remembers why."""
        async with _remembered(page, name):
            if page.proxy is not None:
                return await upstream.tunnel(host, port, name, page.proxy, page.addresses)
            there, back, page.remotes[name] = await upstream.connect(name, port, page.addresses)
            return there, back

    # -- plain requests ----------------------------------------------------------------------------------------

    async def _exchange(
        self,
        page: Pass,
        method: str,
        target: str,
        headers: list[tuple[str, str]],
        reader: StreamReader,
        writer: StreamWriter,
    ) -> None:
        scheme, _, rest = target.partition("://")
        if scheme.lower() != "http":
            raise _Refused(400, "only http, https, ws and wss leave this machine")
        authority, slash, path = rest.partition("/")
        host, port = _place(authority, 80)
        name = upstream.named(host, port, plain=True)
        # An HTTP proxy is told the whole URL, and who we are.
        proxy = page.proxy if page.proxy is not None and page.proxy.scheme in ("http", "https") else None
        kept = [pair for pair in headers if pair[0].lower() not in _OURS]
        if proxy is not None and (login := upstream.authorization(proxy)):
            kept.append(("Proxy-Authorization", login))
        async with self._turn(page, target, name):
            if proxy is not None:
                there, back = await self._to_proxy(page, host, name, proxy)
            else:
                there, back = await self._connect(page, host, port, name)
            back.write(_written(f"{method} {target if proxy is not None else slash + path or '/'} HTTP/1.1", kept))
            sending = asyncio.create_task(_move(page, reader, back))
            try:
                await self._give_back(page, name, there, writer, sending)
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
                back.close()

    def _turn(self, page: Pass, target: str, name: str) -> contextlib.AbstractAsyncContextManager[None]:
        """A turn at a host, which all pages share."""
        if target == page.main:
            page.main = None
            return contextlib.nullcontext()
        if len(self._turns) > 10_000:
            self._turns = {host: turn for host, turn in self._turns.items() if turn.locked()}
        return self._turns.setdefault(name, asyncio.Semaphore(page.per_host))

    async def _to_proxy(self, page: Pass, host: str, name: str, proxy: Proxy) -> tuple[StreamReader, StreamWriter]:
        async with _remembered(page, name):
            await upstream.checked(host, name, proxy, page.addresses)
            return await upstream.connect_to_proxy(proxy, page.addresses)

    async def _give_back(
        self, page: Pass, name: str, there: StreamReader, writer: StreamWriter, sending: asyncio.Task[None]
    ) -> None:
        """Send the answer on: its head rewritten, its body as it comes, until either side is gone."""
        reading = asyncio.create_task(self._head(page, name, there))
        try:
            await asyncio.wait({reading, sending}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done() and sending.exception() is None:  # the browser has hung up
                return
            head = await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        page.count(len(head))
        writer.write(head)
        moving = asyncio.create_task(_move(page, there, writer))
        try:
            await asyncio.wait({moving, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            moving.cancel()
            await asyncio.gather(moving, return_exceptions=True)

    async def _head(self, page: Pass, name: str, there: StreamReader) -> bytes:
        """The head of an answer, as the browser gets it. Raises _Refused."""
        try:
            while True:
                head = await there.readuntil(b"\r\n\r\n")
                line, headers = _lines(head)
                version, status, *_ = line.split(" ", 2)
                if not version.startswith("HTTP/1.") or not (len(status) == 3 and status.isdecimal()):
                    raise ValueError(line)
                if status == "407":
                    raise ProxyFailed(f"{page.proxy.label if page.proxy else name} wants other proxy credentials")
                if not status.startswith("1"):
                    return _written(line, [(n, v) for n, v in headers if n.lower() not in _OURS])
        except asyncio.LimitOverrunError:
            error: FetchError = HeadersTooLarge(f"the headers have more than {upstream.LONGEST_HEAD:,} bytes")
        except (OSError, EOFError, ValueError):
            error = Broken("the answer broke off or was not HTTP")
        except FetchError as why:
            error = why
        page.failures[name] = error
        raise _Refused(502, str(error))


@contextlib.asynccontextmanager
async def _remembered(page: Pass, name: str) -> AsyncIterator[None]:
    """Remember why there is no connection to a host. Raises _Refused."""
    try:
        async with asyncio.timeout(page.timeout):
            yield
        return
    except TimeoutError:
        error: FetchError = ConnectFailed(f"no connection to {name} within {page.timeout:g} s")
    except FetchError as why:
        error = why
    page.failures[name] = error
    raise _Refused(403 if isinstance(error, AddressRefused) else 502, str(error))


async def _move(page: Pass, reader: StreamReader, writer: StreamWriter) -> None:
    """Move bytes one way, until they end."""
    while data := await reader.read(CHUNK):
        page.count(len(data))
        writer.write(data)
        await writer.drain()


async def _both_ways(
    page: Pass, reader: StreamReader, writer: StreamWriter, there: StreamReader, back: StreamWriter
) -> None:
    """Move bytes both ways until one side is gone: browsers do not close halves."""
    tasks = {asyncio.create_task(_move(page, reader, back)), asyncio.create_task(_move(page, there, writer))}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# -- HTTP/1.1, as much of it as a proxy needs ----------------------------------------------------------------------


def _lines(head: bytes) -> tuple[str, list[tuple[str, str]]]:
    """The first line and the headers of a head."""
    first, *rest = head[:-4].decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in rest)
    return first, [(name, value.strip()) for name, _, value in pairs]


def _read(head: bytes) -> tuple[str, str, list[tuple[str, str]]]:
    """Method, target and headers of a request. Raises _Refused."""
    line, headers = _lines(head)
    parts = line.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise _Refused(400, "this is not a request to a proxy")
    return parts[0], parts[1], headers


def _written(line: str, headers: list[tuple[str, str]]) -> bytes:
    """A head as it goes on the wire; its connection is used once."""
    pairs = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"{line}\r\n{pairs}Connection: close\r\n\r\n".encode("latin-1")


def _place(authority: str, default: int) -> tuple[str, int]:
    """Host and port. Raises _Refused."""
    url = urls.resolve(f"http://{authority}/", "http://x.invalid/")
    port = authority.rpartition(":")[2]
    number = int(port) if port.isdecimal() and len(port) < 6 and ":" in authority else default
    if url is not None and 0 < number < 65536 and not {"@", "/", "?", "#", "\\"} & set(authority):
        return urls.hostname(url), number
    raise _Refused(400, "this is no host and port")


def _sentence(status: int, text: str, extra: bytes = b"") -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 {status} Refused\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + extra + b"Connection: close\r\n\r\n" + body
