"""Brokers, asked whether they work: Redis by a PING, RabbitMQ by opening its virtual host."""

from __future__ import annotations

import asyncio
from importlib import import_module
from urllib.parse import unquote, urlsplit

from gossamer.doctor.finding import told

#: Seconds that a broker may take to answer.
DEADLINE = 5.0

_EXTRA = "the program that talks to it is missing: pip install 'gossamer[cluster]'"


async def redis(url: str) -> str:
    """What is wrong with a Redis; empty: nothing."""
    try:
        from redis.asyncio import Redis
    except ImportError:
        return _EXTRA
    try:
        async with asyncio.timeout(DEADLINE), Redis.from_url(url, protocol=2) as talk:
            await talk.ping()
    except TimeoutError:
        return f"no answer within {DEADLINE:g} s"
    except Exception as error:  # noqa: BLE001 - whatever it says is what there is to tell
        return told(error)
    return ""


async def amqp(url: str) -> str:
    """What is wrong with a RabbitMQ; empty: nothing."""
    try:
        driver = import_module("amqp")
    except ImportError:
        return _EXTRA
    parts = urlsplit(url)
    host = f"{parts.hostname or 'localhost'}:{parts.port or (5671 if parts.scheme == 'amqps' else 5672)}"

    def talk() -> None:
        talking = driver.Connection(
            host,
            userid=unquote(parts.username or "guest"),
            password=unquote(parts.password or "guest"),
            virtual_host=unquote(parts.path[1:]) or "/",
            ssl=parts.scheme == "amqps",
            connect_timeout=DEADLINE,
            read_timeout=DEADLINE,
        )
        with talking:
            talking.channel().close()

    try:
        await asyncio.to_thread(talk)
    except Exception as error:  # noqa: BLE001 - whatever it says is what there is to tell
        return told(error)
    return ""
