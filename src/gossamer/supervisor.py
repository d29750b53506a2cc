"""Keeps a runner at work: starts it, starts it again if it dies, and ends it in good order."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from gossamer import runner, settings
from gossamer.errors import StoreError
from gossamer.lists.paging import beginning
from gossamer.storage.desk import Desk
from gossamer.telemetry import log

#: Seconds before a runner that died is started again: at first, and at most.
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
#: A runner that lived so long was well.
WELL = 15.0
#: Signals that a process gets for what it does itself.
_FROM_WITHIN = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
#: Who was walked alone is found guilty. Only runs that the dead process held: another service may walk some too.
_SUSPECTED = """
update run set crashes = crashes + 1, alone = case when alone = 1 then 2 else 0 end
where state = 'running' and via <> 'cli' and cluster = 0
    and exists (select 1 from lease where run_id = run.id and owner like :process escape '!')
"""
#: Settings that may hold a password: everybody on a machine may read what a process was started with, but not this.
_BY_ENVIRONMENT = ("store", "broker", "smtp")


class Supervisor:
    """One child process, `python -m gossamer.runner`. Dies with us: its standard input is ours to keep open."""

    def __init__(self, flags: Mapping[str, Any], desk: Desk) -> None:
        self._desk = desk
        self._flags = dict(flags)
        self._process: asyncio.subprocess.Process | None = None
        self._ending = False
        #: How often it died.
        self.deaths = 0

    @property
    def pid(self) -> int | None:
        """The process, while it lives."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    def poke(self) -> None:
        """Have it look into the store now. Nobody is worse off if it does not hear: it looks every second."""
        process = self._process
        if process is not None and process.returncode is None and process.stdin is not None:
            with suppress(OSError, RuntimeError):
                process.stdin.write(b"look\n")

    async def run(self) -> None:
        """Keep it at work until cancelled."""
        wait = FIRST_WAIT
        while not self._ending:
            began = time.monotonic()
            await self._start()
            assert self._process is not None
            code = await self._process.wait()
            if self._is_ending():
                return
            self.deaths += 1
            await self._blame(self._process.pid, code)
            wait = FIRST_WAIT if time.monotonic() - began > WELL else min(wait * 2, LONGEST_WAIT)
            log.error("runner.died", code=code, again_in=wait)
            await asyncio.sleep(wait)

    async def _blame(self, pid: int, code: int) -> None:
        """It died of something inside: what it walked is suspected of it, and walked alone at first.

        Who is killed from outside, by a person or for want of memory, has nobody to blame.
        """
        if code not in (0, runner.OURS) and (code > 0 or -code in _FROM_WITHIN):
            try:
                async with self._desk.writing() as writing:
                    await writing.run(_SUSPECTED, process=beginning(f"{socket.gethostname()}:{pid}:"))
            except StoreError as why:  # it is started again all the same
                log.warning("runner.unblamed", why=str(why))

    def _is_ending(self) -> bool:
        return self._ending

    async def _start(self) -> None:
        hidden = {name: str(self._flags[name]) for name in _BY_ENVIRONMENT if self._flags.get(name) is not None}
        told = msgspec.json.encode({name: value for name, value in self._flags.items() if name not in hidden}).decode()
        known = {settings.PREFIX + name.upper(): value for name, value in hidden.items()}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gossamer.runner",
            told,
            stdin=asyncio.subprocess.PIPE,
            # Ctrl-C on a terminal is for the service, which ends it in good order.
            start_new_session=True,
            env={**os.environ, **known, "PYTHONUNBUFFERED": "1"},
        )

    async def end(self, patience: float) -> None:
        """Have it settle what it walks, and end; after `patience` seconds without mercy."""
        self._ending = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(patience):
                await process.wait()
        except TimeoutError:
            log.warning("runner.killed", pid=process.pid)
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
