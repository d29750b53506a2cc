"""A door of the service, on a real port: what stands behind it is up to the test."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from gossamer.accounts import Accounts
from gossamer.settings import read
from gossamer.storage import opening


class Server(uvicorn.Server):
    """Signals are pytest's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def service(store: str, **knobs: Any) -> AsyncIterator[Any]:
    """As much of a service as security looks at."""
    async with opening.desk(store) as desk, Accounts(desk) as accounts:
        yield SimpleNamespace(desk=desk, accounts=accounts, settings=read({"store": store, **knobs}))


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """An app on a free port of loopback, and a client that sends what it is told."""
    # Named as TCP, so that asyncio sends small answers at once.
    with socket.socket(proto=socket.IPPROTO_TCP) as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", proxy_headers=False, server_header=False
        )
        server = Server(config)
        task = asyncio.create_task(server.serve(sockets=[door]))
        try:
            async with httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{door.getsockname()[1]}", trust_env=False, timeout=20
            ) as client:
                yield client
        finally:
            server.should_exit = True
            await task


async def spoken(client: httpx.AsyncClient, text: str | bytes) -> str:
    """What is answered to bytes that no client would send."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    writer.write(text.encode() if isinstance(text, str) else text)
    await writer.drain()
    try:
        async with asyncio.timeout(10):
            return (await reader.read(1 << 20)).decode()
    finally:
        writer.close()
