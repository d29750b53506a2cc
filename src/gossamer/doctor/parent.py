"""The doctor's side of its child: asks, waits as long as it must, and blames whoever ended it or never came back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec

from gossamer.doctor.jobs import Job, Known, Line, Loaded, Trial, Wanted

#: Seconds that the child may take to start, and to load one scraper.
START = 20.0
LOAD = 15.0
#: Seconds beyond its deadline that a trial may take to be given up in good order.
BEYOND = 5.0
#: Children at the same time, for scrapers that are tried alone.
ALONE_AT_ONCE = 4
#: The longest line of a child that is read.
LONGEST = 16 << 20

_decode = msgspec.json.Decoder(Line).decode
Heard = Callable[[Line], None]


class _Patience:
    """How long a child is waited for."""

    def __init__(self, seconds: float) -> None:
        self._end = 0.0
        self.until(seconds)

    def until(self, seconds: float) -> None:
        """So long from now."""
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left of it."""
        return max(0.0, self._end - time.monotonic())


class _Child:
    """One child process, with the job it was given."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process: Process | None = None

    async def __aenter__(self) -> _Child:
        # A session of its own: it is ended with all that it started, and hears nothing of Ctrl-C.
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gossamer.doctor.child",
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,
            limit=LONGEST,
        )
        assert self._process.stdin is not None
        try:
            with contextlib.suppress(OSError):
                self._process.stdin.write(msgspec.json.encode(self._job))
                await self._process.stdin.drain()
        except BaseException:
            await self.__aexit__()
            raise
        self._process.stdin.close()
        return self

    async def lines(self, patience: _Patience) -> AsyncIterator[Line]:
        """What it says, until it ends or `patience` is at its end: then TimeoutError."""
        assert self._process is not None
        assert self._process.stdout is not None
        while True:
            async with asyncio.timeout(patience.left):
                line = await self._process.stdout.readline()
            if not line:
                return
            with contextlib.suppress(msgspec.DecodeError):
                yield _decode(line)

    async def how(self) -> str:
        """How it ended, in a few words."""
        assert self._process is not None
        async with asyncio.timeout(START):
            code = await self._process.wait()
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"it ended the process with {signal.Signals(-code).name}"
        return f"it ended the process with exit code {code}"

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()


# -- loading ---------------------------------------------------------------------------------------------------


async def load(wanted: Sequence[Wanted], **more: Any) -> list[Loaded]:
    """Load scrapers, all in one child; one that ends it or never returns is left out, and another child goes on."""
    done: list[Loaded] = []
    while len(done) < len(wanted):
        rest = list(wanted[len(done) :])
        came, why = await _load_some(Job("load", wanted=rest, **more))
        done += came
        if len(done) < len(wanted):
            done.append(Loaded(wanted[len(done)], error=why))
    return done


async def _load_some(job: Job) -> tuple[list[Loaded], str]:
    """What was loaded before something went wrong, and what that was."""
    done: list[Loaded] = []
    patience = _Patience(START + LOAD)
    async with _Child(job) as child:
        try:
            async for line in child.lines(patience):
                patience.until(LOAD)
                if line.loaded is not None:
                    done.append(line.loaded)
            return done, await child.how()
        except (TimeoutError, ValueError):
            return done, f"it was not loaded within {LOAD:g} s"


# -- trying ----------------------------------------------------------------------------------------------------


async def attempt(
    scrapers: Sequence[Known], job: Job, heard: Callable[[Trial], None] = lambda trial: None
) -> list[Trial]:
    """Try scrapers on one page each: side by side in one child, and those it did not come to each in one of its own."""
    known: dict[int, Trial] = {}

    def tell(index: int, trial: Trial) -> None:
        known[index] = trial
        heard(trial)

    named = [(each.name, each.ref) for each in scrapers]
    # Each has its deadline from when it begins, and they begin in turns.
    turns = 1 + len(named) // 16
    await _try_some(msgspec.structs.replace(job, do="try", scrapers=named), tell, turns)
    room = asyncio.Semaphore(ALONE_AT_ONCE)

    async def alone(index: int) -> None:
        async with room:
            only = msgspec.structs.replace(job, do="try", scrapers=[named[index]])
            why = await _try_some(only, lambda _, trial: tell(index, trial), 1)
            if index not in known:
                tell(index, Trial(named[index][0], "crashed", why=why))

    await asyncio.gather(*(alone(index) for index in range(len(named)) if index not in known))
    return [known[index] for index in range(len(named))]


async def _try_some(job: Job, tell: Callable[[int, Trial], None], turns: int) -> str:
    """Try in one child; gives what ended it."""
    patience = _Patience(START)
    started = False
    async with _Child(job) as child:
        try:
            async for line in child.lines(patience):
                if not started:
                    patience.until(turns * (job.deadline + BEYOND))
                    started = True
                if line.index is not None and line.tried is not None:
                    tell(line.index, line.tried)
            return await child.how()
        except (TimeoutError, ValueError):
            return f"it did not return within {job.deadline + BEYOND:g} s, and could not be interrupted"
