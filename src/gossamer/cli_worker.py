"""`gossamer worker`: one of the processes that walk the runs of a cluster."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer

from gossamer import settings, telemetry
from gossamer.errors import ConfigError, StoreAway
from gossamer.library import wait
from gossamer.settings import IN_FILE, PREFIX, Place
from gossamer.storage import opening
from gossamer.storage.naming import is_postgres, shown

POOLS = ("threads", "gevent", "solo")
#: Shards walked at the same time, and most that one process could ever wait for.
CONCURRENCY, MOST = 16, 1_000
#: How a worker with greenlets is begun: they have to be there before anything else is.
_GREEN = "from gevent import monkey; monkey.patch_all(); from gossamer.cli_worker import green; green()"


def worker_command(
    concurrency: Annotated[
        str | None, typer.Option(metavar="N", help="Shards walked at the same time, at most [16]")
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(
            metavar="POOL",
            help="How tickets wait: threads, gevent, solo [threads]",
            autocompletion=lambda: list(POOLS),
        ),
    ] = None,
    queues: Annotated[str | None, typer.Option(metavar="A,B", help="Queues to take tickets from [all of ours]")] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory above which it settles and starts anew: 1GB [2GB]")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="What it is called [gossamer-<process>]")] = None,
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="The store: postgresql://user@host/name [that of gossamer.toml]")
    ] = None,
    log_level: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="debug, info, warning, error [warning]")
    ] = None,
    log_format: Annotated[str | None, typer.Option(metavar="STYLE", help="human or json [human]")] = None,
) -> None:
    """Walk runs together with other workers: start as many as you like, on as many machines.

    All of them name the same store and the same broker, in gossamer.toml or as GOSSAMER_STORE and GOSSAMER_BROKER.
    Ctrl-C settles what is being walked and gives it back to the others; a second one stops at once.

    \b
    gossamer worker
    gossamer worker --concurrency 32 --memory 1GB
    gossamer worker --pool gevent --concurrency 50
    GOSSAMER_BROKER=amqp://guest@10.0.0.5// gossamer worker --name left
    """
    given = {"store": store, "worker_memory": memory, "log_level": log_level, "log_format": log_format}
    flags = {knob: value for knob, value in given.items() if value is not None}
    try:
        place = settings.read(flags).place
    except ConfigError as why:
        raise ConfigError(str(why).replace("--worker-memory", "--memory")) from None
    telemetry.configure(place.log_level, place.log_format)
    pool = pool or POOLS[0]
    if pool not in POOLS:
        raise ConfigError(f"--pool {pool!r} cannot be used: write one of {', '.join(POOLS)}")
    options: dict[str, Any] = {
        "pool_cls": pool,
        "concurrency": 1 if pool == "solo" else _concurrency(concurrency),
        "hostname": _node(name),
        "queues": queues,
    }
    _check(place, pool)
    _tell_all(flags)
    _greet(place, options)
    if pool == "gevent":
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, "-c", _GREEN, json.dumps(options)])  # noqa: S606
    raise typer.Exit(_work(options))


def green() -> None:
    """Go on as a worker with greenlets, in a process that began with them."""
    sys.exit(_work(json.loads(sys.argv[1])))


def _concurrency(text: str | None) -> int:
    try:
        number = settings.count(CONCURRENCY if text is None else text)
    except ValueError as why:
        raise ConfigError(f"--concurrency {text!r} cannot be used: {why}") from None
    if number > MOST:
        raise ConfigError(f"--concurrency {number:,} cannot be used: write a number up to {MOST:,}")
    return number


def _node(name: str | None) -> str:
    """What Celery calls it: two workers of one machine are two."""
    name = name or f"gossamer-{os.getpid()}"
    if not name.isprintable() or " " in name:
        raise ConfigError(f"--name {name!r} cannot be used: write one word")
    return name if "@" in name else f"{name}@{socket.gethostname()}"


def _check(place: Place, pool: str) -> None:
    """Raises ConfigError unless this process could be a worker."""
    if not is_postgres(place.store):
        raise ConfigError(
            "workers share a PostgreSQL store, and this one is a file: "
            'write store = "postgresql://user@host/name" in gossamer.toml, or set GOSSAMER_STORE'
        )
    try:
        import asyncpg  # noqa: F401
        import celery  # noqa: F401
        import redis  # noqa: F401

        if pool == "gevent":
            import gevent  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"what workers need is not installed (there is no {error.name}): pip install 'gossamer[cluster]'"
        ) from None
    from gossamer import workers

    workers.broker_of(place)
    wait(_knock(place, workers.publisher(place).depth))


async def _knock(place: Place, broker: Callable[[], int]) -> None:
    """Raises StoreError where the store or the broker will never let us in; those that are away may come back."""

    async def store() -> None:
        async with opening.working(place.store, most=1):
            pass

    async def carrier() -> None:
        await asyncio.to_thread(broker)

    for ask in (store, carrier):
        try:
            await ask()
        except StoreAway as why:
            say(f"gossamer: {why}; until then this worker tries again")


def _tell_all(flags: dict[str, str]) -> None:
    """What was given as options counts for the station too: by the environment, which nobody else can read."""
    for knob, value in flags.items():
        os.environ.pop(PREFIX + (knob + IN_FILE).upper(), None)
        os.environ[PREFIX + knob.upper()] = value


def _greet(place: Place, options: dict[str, Any]) -> None:
    limit = "no limit of memory" if place.worker_memory is None else f"memory {place.worker_memory / (1 << 20):,.0f} MB"
    count = options["concurrency"]
    say(f"Gossamer worker {options['hostname']}: {count} shard{'' if count == 1 else 's'} at the same time, {limit}")
    say(f"  store   {shown(place.store)}")
    say(f"  broker  {shown(place.broker or '')}")
    say(f"  pool    {options['pool_cls']}")


def _work(options: dict[str, Any]) -> int:
    from gossamer import workers

    return workers.work(options, say)


def say(text: str) -> None:
    """One line for a person. At once and unbuffered: a signal handler may have something to say, too."""
    with suppress(OSError):
        os.write(2, text.encode("utf-8", "replace") + b"\n")
