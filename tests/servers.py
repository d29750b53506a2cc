"""Real proxies on loopback: HTTP (plain and CONNECT), HTTPS and SOCKS5, with credentials and without.

    with HttpProxy(login=("ann", "s3cret")) as proxy:
        crawl(site.url("/"), proxies=[proxy.url])
        assert proxy.targets() == [site.authority]

Each has its own event loop in a thread, remembers what went through it, and fails, dawdles or dies when told to.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote, urlsplit

import pytest

#: "refuse": says no, by its protocol. "reset": RST. "hang": never answers. "garbage": not its protocol at all.
Fault = Literal["refuse", "reset", "hang", "garbage"]

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_GARBAGE = b"\x00\xffthis is no proxy\r\n\r\n"


@dataclass(frozen=True, kw_only=True)
class Through:
    """One thing that a proxy was asked for."""

    how: Literal["plain", "connect", "socks5"]
    #: Host and port, as the client named them.
    target: str
    #: Whether the client left it to the proxy to look the name up.
    by_name: bool
    #: Who asked; None: no credentials were sent.
    user: str | None
    #: Whether it was let through.
    ok: bool
    #: time.monotonic() when it was asked.
    at: float


class _Proxy:
    """Life, memory and moods of a proxy."""

    scheme = "http"

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        login: tuple[str, str] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        """`names` says where hosts really are: {"shop.example:80": "127.0.0.1:41234"}."""
        self.host, self.port = host, 0
        self.login = login
        self.names = dict(names or {})
        #: Seconds before anything is answered.
        self.delay = 0.0
        self.through: list[Through] = []
        self._fault: tuple[Fault | int, float] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stopping: asyncio.Event

    # -- life

    def start(self) -> Self:
        """Serve; after a stop, on the same port again."""
        listener = socket.create_server((self.host, self.port), backlog=256)
        self.port = listener.getsockname()[1]
        self._loop = asyncio.SelectorEventLoop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(listener,), name="proxy", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Die: every connection is dropped, new ones are refused."""
        if self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def _run(self, listener: socket.socket) -> None:
        try:
            self._loop.run_until_complete(self._serve(listener))
        finally:
            self._loop.close()

    async def _serve(self, listener: socket.socket) -> None:
        with listener:
            listener.setblocking(False)
            accepting = asyncio.create_task(self._accept(listener))
            await self._stopping.wait()
            accepting.cancel()
            await asyncio.gather(accepting, return_exceptions=True)
            while self._tasks:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.sleep(0)  # transports close on the loop's next turn

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            taken, _ = await self._loop.sock_accept(listener)
            task = asyncio.create_task(self._connection(taken))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connection(self, taken: socket.socket) -> None:
        # A handshake that a client breaks off would otherwise be an error nobody awaits.
        with contextlib.suppress(OSError, ssl.SSLError, asyncio.IncompleteReadError, ValueError):
            reader = asyncio.StreamReader(loop=self._loop)
            protocol = asyncio.StreamReaderProtocol(reader, loop=self._loop)
            try:
                transport, _ = await self._loop.connect_accepted_socket(lambda: protocol, taken, ssl=self._tls())
            except BaseException:
                taken.close()
                raise
            writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
            try:
                if self.delay:
                    await asyncio.sleep(self.delay)
                await self._talk(reader, writer)
            finally:
                writer.transport.abort() if self._stopping.is_set() else writer.close()

    def _tls(self) -> ssl.SSLContext | None:
        return None

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    # -- where it is, and what it saw

    @property
    def label(self) -> str:
        """The proxy's URL without credentials."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The proxy's URL, with its credentials."""
        if self.login is None:
            return self.label
        user, password = (quote(part, safe="") for part in self.login)
        return f"{self.scheme}://{user}:{password}@{self.host}:{self.port}"

    def targets(self) -> list[str]:
        """Where it let clients through to."""
        return [each.target for each in self.through if each.ok]

    # -- moods

    def fail(self, how: Fault | int = "refuse", times: float = float("inf")) -> None:
        """Fail the next `times`: a number is the status an HTTP proxy answers with."""
        self._fault = (how, times)

    def heal(self) -> None:
        """Be fine again."""
        self._fault, self.delay = None, 0.0

    def _mood(self) -> Fault | int | None:
        if self._fault is None:
            return None
        how, left = self._fault
        self._fault = (how, left - 1) if left > 1 else None
        return how

    async def _misbehave(self, how: Fault | int, writer: asyncio.StreamWriter) -> None:
        if how == "hang":
            await self._stopping.wait()
        elif how == "garbage":
            writer.write(_GARBAGE)
            await writer.drain()
        elif how == "reset":
            taken = writer.get_extra_info("socket")
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            writer.transport.abort()

    def _note(self, how: Literal["plain", "connect", "socks5"], target: str, user: str | None, ok: bool) -> None:
        name = target.rpartition(":")[0]
        by_name = any(letter.isalpha() for letter in name) and not name.startswith("[")
        self.through.append(
            Through(how=how, target=target, by_name=by_name, user=user, ok=ok, at=time.monotonic()),
        )

    async def _open(self, target: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, _, port = self.names.get(target, target).rpartition(":")
        return await asyncio.open_connection(host.strip("[]"), int(port))


class HttpProxy(_Proxy):
    """Forwards plain requests, tunnels others by CONNECT."""

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
        method, asked, _ = first.split(" ", 2)
        headers = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        user, let_in = self._who({name.lower(): value for name, value in headers})
        parts = urlsplit(asked)
        target = asked if method == "CONNECT" else f"{parts.hostname}:{parts.port or 80}"
        mood = self._mood()
        self._note("connect" if method == "CONNECT" else "plain", target, user, let_in and mood is None)
        if mood is not None and not isinstance(mood, int) and mood != "refuse":
            await self._misbehave(mood, writer)
        elif mood is not None or not let_in:
            status = mood if isinstance(mood, int) else 403 if mood else 407
            await _answer(writer, status, {"Proxy-Authenticate": 'Basic realm="proxy"'} if status == 407 else {})
        elif method == "CONNECT":
            await self._tunnel(target, reader, writer)
        else:
            path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
            await self._forward(target, f"{method} {path} HTTP/1.1", headers, reader, writer)

    def _who(self, headers: Mapping[str, str]) -> tuple[str | None, bool]:
        """Who asks, and whether he may."""
        told = headers.get("proxy-authorization", "")
        user: str | None = None
        password = ""
        if told.lower().startswith("basic "):
            user, _, password = base64.b64decode(told[6:]).decode().partition(":")
        return user, self.login is None or (user, password) == self.login

    async def _tunnel(self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await self._open(target)
        except OSError:
            await _answer(writer, 502, {})
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await _both_ways(reader, writer, far_reader, far_writer)

    async def _forward(
        self,
        target: str,
        first: str,
        headers: list[tuple[str, str]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        try:
            far_reader, far_writer = await self._open(target)
        except OSError:
            await _answer(writer, 502, {})
            return
        ours = [pair for pair in headers if not pair[0].lower().startswith(("proxy-", "connection"))]
        lines = [first, *(f"{name}: {value}" for name, value in ours), "Connection: close"]
        length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
        try:
            far_writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + await reader.readexactly(length))
            await _pump(far_reader, writer)
        finally:
            far_writer.close()


class HttpsProxy(HttpProxy):
    """The same, spoken to over TLS. Its certificate is one that nobody trusts."""

    scheme = "https"

    def _tls(self) -> ssl.SSLContext | None:
        return _secure()


class Socks5Proxy(_Proxy):
    """SOCKS5 (RFC 1928): CONNECT, with a user's name and password (RFC 1929) if it wants one."""

    scheme = "socks5"

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mood = self._mood()
        if mood is not None and mood != "refuse":
            self._note("socks5", "?:0", None, ok=False)
            await self._misbehave("reset" if isinstance(mood, int) else mood, writer)
            return
        user, let_in = await self._greet(reader, writer)
        if not let_in:
            self._note("socks5", "?:0", user, ok=False)
            return
        target = await self._asked(reader)
        self._note("socks5", target, user, ok=mood is None)
        try:
            if mood is not None:
                raise OSError("not allowed")
            far_reader, far_writer = await self._open(target)
        except OSError:
            writer.write(b"\x05\x02\x00\x01" + bytes(6))
            await writer.drain()
            return
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await _both_ways(reader, writer, far_reader, far_writer)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str | None, bool]:
        version, count = await reader.readexactly(2)
        offered = await reader.readexactly(count)
        wanted = 2 if self.login else 0
        if version != 5 or wanted not in offered:
            writer.write(b"\x05\xff")
            await writer.drain()
            return None, False
        writer.write(bytes([5, wanted]))
        if not self.login:
            return None, True
        _, length = await reader.readexactly(2)
        user = (await reader.readexactly(length)).decode()
        password = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        right = (user, password) == self.login
        writer.write(b"\x01\x00" if right else b"\x01\x01")
        await writer.drain()
        return user, right

    async def _asked(self, reader: asyncio.StreamReader) -> str:
        _, command, _, kind = await reader.readexactly(4)
        if command != 1:
            raise ValueError("only CONNECT")
        if kind == 3:
            name = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            raw = await reader.readexactly(4 if kind == 1 else 16)
            name = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, raw)
            name = f"[{name}]" if kind == 4 else name
        return f"{name}:{int.from_bytes(await reader.readexactly(2), 'big')}"


class TlsFront(_Proxy):
    """No proxy, but TLS in front of a plain site, with the certificate that nobody trusts."""

    scheme = "https"

    def __init__(self, behind: str) -> None:
        """`behind` is the site's host and port."""
        super().__init__()
        self._behind = behind

    def _tls(self) -> ssl.SSLContext | None:
        return _secure()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _both_ways(reader, writer, *await self._open(self._behind))


async def _answer(writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str]) -> None:
    lines = [f"HTTP/1.1 {status} No", *(f"{k}: {v}" for k, v in headers.items()), "Content-Length: 0"]
    writer.write(("\r\n".join(lines) + "\r\nConnection: close\r\n\r\n").encode())
    await writer.drain()


async def _both_ways(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    far_reader: asyncio.StreamReader,
    far_writer: asyncio.StreamWriter,
) -> None:
    """Tunnel, until either side has had enough."""
    pumps = [asyncio.create_task(_pump(reader, far_writer)), asyncio.create_task(_pump(far_reader, writer))]
    try:
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
    finally:
        far_writer.close()  # first: a stop may cut the next line short
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(1 << 16):
        writer.write(chunk)
        await writer.drain()


def _secure() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate())
    context.set_alpn_protocols(["http/1.1"])
    return context


@lru_cache(maxsize=1)
def certificate() -> tuple[str, str]:
    """A certificate for localhost and 127.0.0.1 that nobody trusts, and its key: two files."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is absent: no certificate can be made")
    folder = Path(tempfile.mkdtemp(prefix="gossamer-tls-"))
    made, key = str(folder / "cert.pem"), str(folder / "key.pem")
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", key, "-out", made, "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return made, key


def dead_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
