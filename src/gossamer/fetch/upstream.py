"""Connections to the outside: straight to a checked address, or through a proxy that is at one."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
import ssl
from asyncio import StreamReader, StreamWriter
from typing import Any

from gossamer.errors import AddressRefused, ConnectFailed, FetchError, ProxyFailed
from gossamer.fetch.addresses import Address, Addresses
from gossamer.fetch.proxy import Proxy

#: Longest head that is read from a site or a proxy.
LONGEST_HEAD = 64 << 10

_SOCKS_ERRORS = {
    1: "general failure",
    2: "not allowed",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
}


def named(host: str, port: int, *, plain: bool = False) -> str:
    """Host and port as `urls.host` writes them: without the port that goes without saying.

    In a tunnel nobody can tell https on port 443 from a WebSocket on port 80.
    """
    return host if port in ((80,) if plain else (80, 443)) else f"{host}:{port}"


async def connect(name: str, port: int, addresses: Addresses) -> tuple[StreamReader, StreamWriter, str]:
    """A connection to a checked address of a host, and that address. Raises AddressRefused or ConnectFailed."""
    return await _open(await addresses.resolve(name), port, name)


async def connect_to_proxy(proxy: Proxy, addresses: Addresses) -> tuple[StreamReader, StreamWriter]:
    """A connection to the proxy itself. Raises AddressRefused or ProxyFailed."""
    try:
        found = await addresses.resolve(proxy.authority)
        secure = ssl.create_default_context() if proxy.scheme == "https" else None
        reader, writer, _ = await _open(found, proxy.port, proxy.authority, secure, proxy.host)
    except AddressRefused:
        raise
    except FetchError as error:
        raise ProxyFailed(f"the proxy {proxy.label} cannot be reached") from error
    return reader, writer


async def tunnel(
    host: str, port: int, name: str, proxy: Proxy, addresses: Addresses
) -> tuple[StreamReader, StreamWriter]:
    """A connection to a host through a proxy. Raises AddressRefused or ProxyFailed."""
    target = await checked(host, name, proxy, addresses)
    reader, writer = await connect_to_proxy(proxy, addresses)
    try:
        if proxy.scheme in ("http", "https"):
            await _connect_by_http(reader, writer, proxy, target, port)
        else:
            await _connect_by_socks(reader, writer, proxy, target, port)
    except BaseException as error:
        writer.close()
        if isinstance(error, OSError | asyncio.IncompleteReadError | asyncio.LimitOverrunError):
            raise ProxyFailed(f"the proxy {proxy.label} broke off") from error
        raise
    return reader, writer


async def checked(host: str, name: str, proxy: Proxy, addresses: Addresses) -> str:
    """What a proxy is told to connect to: a name that is not known to lead to a refused address, or an address.

    Raises AddressRefused.
    """
    try:
        found = await addresses.resolve(name)
    except ConnectFailed:
        # A name that only the proxy knows: its network, not ours.
        return host
    return str(found[0]) if proxy.scheme == "socks5" else host


def authorization(proxy: Proxy) -> str | None:
    """What a proxy is told about who we are, if it wants to know. A secret."""
    if proxy.login is None:
        return None
    return "Basic " + base64.b64encode(":".join(proxy.login).encode()).decode()


async def _open(
    addresses: tuple[Address, ...], port: int, name: str, secure: ssl.SSLContext | None = None, known_as: str = ""
) -> tuple[StreamReader, StreamWriter, str]:
    """A connection to the first address that takes one."""
    failure: Exception | None = None
    tls: dict[str, Any] = {}
    if secure is not None:
        tls = {"ssl": secure, "server_hostname": known_as.strip("[]")}
    for address in addresses:
        try:
            reader, writer = await asyncio.open_connection(str(address), port, limit=LONGEST_HEAD, **tls)
        except OSError as error:
            failure = error
        else:
            return reader, writer, str(address)
    raise ConnectFailed(f"no connection to {name}: {failure}") from failure


async def _connect_by_http(reader: StreamReader, writer: StreamWriter, proxy: Proxy, host: str, port: int) -> None:
    login = authorization(proxy)
    told = f"Proxy-Authorization: {login}\r\n" if login else ""
    writer.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{told}\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    if not status or not status[0].startswith(b"2"):
        answer = (status[0][:3] if status else b"?").decode("ascii", "replace")
        wants = ": it wants other credentials" if answer == "407" else ""
        raise ProxyFailed(f"the proxy {proxy.label} answered {answer}{wants}")


async def _connect_by_socks(reader: StreamReader, writer: StreamWriter, proxy: Proxy, host: str, port: int) -> None:
    """RFC 1928, with the user names and passwords of RFC 1929."""
    login = proxy.login
    writer.write(b"\x05\x02\x00\x02" if login else b"\x05\x01\x00")
    version, method = await reader.readexactly(2)
    if version != 5 or method not in (0, 2) or (method == 2 and login is None):
        raise ProxyFailed(f"the proxy {proxy.label} wants other credentials, or does not speak SOCKS5")
    if method == 2 and login is not None:
        user, password = (part.encode()[:255] for part in login)
        writer.write(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
        if (await reader.readexactly(2))[1] != 0:
            raise ProxyFailed(f"the proxy {proxy.label} wants other credentials")
    writer.write(b"\x05\x01\x00" + _socks_address(host) + port.to_bytes(2, "big"))
    _, answer, _, kind = await reader.readexactly(4)
    if answer != 0:
        raise ProxyFailed(f"the proxy {proxy.label} did not connect: {_SOCKS_ERRORS.get(answer, 'failure')}")
    length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
    await reader.readexactly(length + 2)


def _socks_address(host: str) -> bytes:
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host.strip("[]"))
        return (b"\x01" if address.version == 4 else b"\x04") + address.packed
    name = host.encode("idna")[:255]
    return b"\x03" + bytes([len(name)]) + name
