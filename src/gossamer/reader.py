"""Reading a page with the author's handler: whatever it does, it costs no more than its own page."""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from gossamer.errors import GossamerError, HandlerTimeout, ReadError
from gossamer.parse.page import Page
from gossamer.pipeline import item_of
from gossamer.scraper import Scraper, as_iterable, each
from gossamer.values import Item, Request

#: Seconds between two looks of the watchdog.
TICK = 0.25


class Reader:
    """Calls the handlers of one scraper."""

    def __init__(self, scraper: Scraper, timeout: float, watchdog: Watchdog) -> None:
        self._scraper = scraper
        self._timeout = timeout
        self._watchdog = watchdog

    async def read(self, page: Page) -> tuple[list[Item], list[Request]]:
        """Items and Requests that the page's handler yields. Raises ReadError, whatever the handler raised."""
        items: list[Item] = []
        found: list[Request] = []
        try:
            handler = self._scraper.handler(page.request.handler)
            with self._watchdog.watch(self._timeout):
                yielded = handler(page)
                if not (inspect.isasyncgen(yielded) or inspect.isawaitable(yielded)):
                    for value in as_iterable(yielded) if yielded is not None else ():
                        self._sort(value, items, found)
                    return items, found
            async with asyncio.timeout(self._timeout):
                async for value in each(yielded):
                    self._sort(value, items, found)
        except TimeoutError as error:
            if isinstance(error, HandlerTimeout):
                raise
            raise HandlerTimeout(f"the handler took longer than {self._timeout:g} s") from error
        except GossamerError as error:
            raise self._told(error) from error
        except (KeyboardInterrupt, SystemExit, asyncio.CancelledError, MemoryError):
            raise
        except BaseException as error:
            raise ReadError(f"{type(error).__name__}: {error}{_place(error, self._scraper)}"[:1000]) from error
        return items, found

    def _told(self, error: GossamerError) -> GossamerError:
        place = _place(error, self._scraper)
        return type(error)(f"{error}{place}"[:1000])

    def _sort(self, value: Any, items: list[Item], found: list[Request]) -> None:
        if isinstance(value, Request):
            found.append(value)
        elif isinstance(value, str):
            raise ReadError(f"a handler yielded the text {value[:80]!r}: yield Request(url), or page.follow(...)")
        else:
            items.append(item_of(value, self._scraper.key, self._scraper.kind))


def _place(error: BaseException, scraper: Scraper) -> str:
    """Where in the author's file it happened."""
    module = sys.modules.get(type(scraper).__module__)
    home = getattr(module, "__file__", None)
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if frame.filename == home:
            name = home.rpartition("/")[2]
            return f" ({name}, line {frame.lineno}, in {frame.name})"
    return ""


class Watchdog:
    """Interrupts a handler that blocks the event loop: a signal in the main thread, else an injected exception.

    A signal also ends a sleep or a blocking read; an injected exception only acts between two bytecodes.
    One watchdog serves all runs of an event loop; use it as a context manager there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: When the handler that runs now must have ended; None if none runs.
        self._deadline: float | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gossamer-watchdog", daemon=True)
        self._target = 0
        self._by_signal = False
        self._old_handler: Any = None

    def __enter__(self) -> Watchdog:
        self._target = threading.get_ident()
        self._by_signal = threading.current_thread() is threading.main_thread()
        if self._by_signal:
            self._old_handler = signal.signal(signal.SIGALRM, self._on_signal)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._by_signal:
            signal.signal(signal.SIGALRM, self._old_handler or signal.SIG_DFL)

    @contextmanager
    def watch(self, seconds: float) -> Iterator[None]:
        """A handler runs inside. Raises HandlerTimeout in it if it takes longer."""
        self._deadline = time.monotonic() + seconds
        try:
            yield
        finally:
            # With the lock held nothing more is thrown; what was thrown before is raised within this block.
            with self._lock:
                self._deadline = None

    def _run(self) -> None:
        while not self._over.wait(TICK):
            with self._lock:
                if self._deadline is not None and time.monotonic() > self._deadline:
                    self._deadline = None
                    self._interrupt()

    def _interrupt(self) -> None:
        if self._by_signal:
            signal.pthread_kill(self._target, signal.SIGALRM)
        else:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._target), ctypes.py_object(_Blocked))

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        raise _Blocked


class _Blocked(HandlerTimeout):
    """Raised inside a handler that blocks."""

    def __str__(self) -> str:
        return "the handler blocked for longer than handler_timeout allows"
