"""The process of a station: `python -m gossamer.cluster.station_process JSON`, which talks to its worker by lines."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import IO, Any

import msgspec

from gossamer import redaction, runs, settings, telemetry
from gossamer.cluster.bridge import ALIVE
from gossamer.cluster.station import Station, Worker
from gossamer.errors import GossamerError, StoreError
from gossamer.events import Events
from gossamer.settings import Settings
from gossamer.storage import opening
from gossamer.telemetry import log


async def run(worker: Worker, out: IO[str]) -> int:
    """Open the store, and serve the worker until its end, or a signal. Returns the exit code."""
    read = settings.read()
    telemetry.catch_crashes()

    def say(words: dict[str, Any]) -> None:
        try:
            out.write(msgspec.json.encode(words).decode() + "\n")
            out.flush()
        except (OSError, ValueError):  # the worker is gone, and we are about to notice
            pass

    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(runs.open_parts(read.place.store, most=read.place.pool_size))
        desk = await stack.enter_async_context(opening.desk(read.place.store))
        events = Events(desk)
        _speak(read, events)
        keeping = asyncio.create_task(events.run(), name="events")
        station = Station(parts, desk, read, worker, say, stack)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, station.end)
        listening = asyncio.create_task(_listen(station, say), name="station-stdin")
        log.info("station.ready", store=opening.shown(read.place.store), pid=os.getpid())
        say({"say": "ready"})
        beside = (listening, keeping, asyncio.create_task(_live(say), name="alive"))
        try:
            await station.work()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
        return station.code


async def _live(say: Callable[[dict[str, Any]], None]) -> None:
    """Give signs of life: who gives none gets no tickets that others could use."""
    while True:
        say({"say": "alive"})
        await asyncio.sleep(ALIVE)


def _speak(read: Settings, events: Events) -> None:
    place = read.place
    secrets = redaction.secrets_of(read)
    telemetry.configure(place.log_level, place.log_format, folder=place.log_dir, hear=events.hear, secrets=secrets)


async def _listen(station: Station, say: Callable[[dict[str, Any]], None]) -> None:
    """Hear the worker: tickets, questions, and by the end of it that it is gone."""
    reader = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    working: set[asyncio.Task[None]] = set()

    async def serve(words: dict[str, Any]) -> None:
        what = words.get("do")
        try:
            if what == "ticket":
                why = await station.ticket(int(words["run"]), int(words["shard"]))
                say({"say": "done", "id": words["id"], "why": why})
            elif what == "reconcile":
                await station.reconcile()
            elif what == "tick":
                await station.tick()
        except StoreError as error:
            log.warning("station.store", why=str(error))
        except Exception as error:  # noqa: BLE001 - the station lives on
            log.error("station.broke", exc_info=error)
            if what == "ticket":
                say({"say": "done", "id": words.get("id"), "why": "failed"})

    while line := await reader.readline():
        try:
            words = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError:
            log.warning("station.unheard", line=line[:80].decode("utf-8", "replace"))
            continue
        task = asyncio.create_task(serve(words))
        working.add(task)
        task.add_done_callback(working.discard)
    station.end()
    while working:
        await asyncio.wait(working)


def main() -> None:
    """`python -m gossamer.cluster.station_process JSON`: what its worker says of itself, as JSON."""
    worker = msgspec.json.decode(sys.argv[1], type=Worker) if len(sys.argv) > 1 else Worker()
    # What scrapers print must not be taken for words of ours.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with suppress(ImportError):
        import uvloop

        uvloop.install()
    code = 70
    try:
        place = settings.read().place
        telemetry.configure(place.log_level, place.log_format)
        code = asyncio.run(run(worker, out))
    except GossamerError as why:
        log.error("station.gave_up", why=str(why))
    except Exception as error:  # noqa: BLE001 - whoever started us starts us again
        log.error("station.gave_up", exc_info=error)
    finally:
        telemetry.close()
    sys.exit(code)


if __name__ == "__main__":
    main()
