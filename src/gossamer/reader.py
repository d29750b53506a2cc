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
import types
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType, TracebackType
from typing import Any, TypeVar

import msgspec

from gossamer.builtin import HANDLERS
from gossamer.errors import Blocked, GossamerError, HandlerTimeout, ReadError, Retry
from gossamer.parse.page import Page
from gossamer.pipeline import Pipeline
from gossamer.scraper import Scraper, as_iterable, each
from gossamer.values import Item, Reject, Request

T = TypeVar("T")

#: Seconds between two looks of the watchdog.
TICK = 0.25
#: Seconds until a handler that was interrupted, and goes on, is interrupted again.
AGAIN = 1.0


#: Files whose code holds locks that other threads wait for.
_LOCKING = ("/threading.py", "/logging/__init__.py", "/queue.py", "<frozen importlib._bootstrap>")


class Reading(msgspec.Struct, frozen=True):
    """What a handler made of a page."""

    items: list[Item]
    found: list[Request]
    #: Records that became no items.
    rejects: list[Reject]


class Reader:
    """Calls the handlers of one scraper."""

    def __init__(self, scraper: Scraper, timeout: float, watchdog: Watchdog) -> None:
        self._scraper = scraper
        self._timeout = timeout
        self._watchdog = watchdog
        self._pipeline = Pipeline(scraper)

    async def read(self, page: Page) -> Reading:
        """Items and Requests that the page's handler yields. Raises ReadError, whatever the handler raised."""
        made = Reading([], [], [])
        yielded: Any = None
        try:
            handler = HANDLERS.get(page.request.handler) or self._scraper.handler(page.request.handler)
            with self._watchdog.watch(self._timeout):
                yielded = handler(page)
                if not (inspect.isasyncgen(yielded) or inspect.isawaitable(yielded)):
                    for value in as_iterable(yielded) if yielded is not None else ():
                        self._sort(value, page, made)
                    return made
            await self._read_async(yielded, page, made)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and _being_cancelled():
                raise
            raise self._told(error, yielded) from error
        return made

    async def validate(self, page: Page) -> None:
        """Ask the scraper whether this is the page at all. Raises Blocked or Retry if it says no."""
        if type(self._scraper).validate is Scraper.validate:
            return
        try:
            with self._watchdog.watch(self._timeout):
                said: Any = self._scraper.validate(page)  # type: ignore[func-returns-value]
            if inspect.isawaitable(said):
                await self._read_async(said, page, Reading([], [], []))
        except (Blocked, Retry, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and _being_cancelled():
                raise
            raise self._told(error, None) from error

    async def _read_async(self, yielded: Any, page: Page, made: Reading) -> None:
        async def go_through() -> None:
            async for value in each(yielded):
                self._sort(value, page, made)

        try:
            async with asyncio.timeout(self._timeout) as limit:
                await _watched(go_through(), lambda: self._watchdog.watch(self._timeout))
        except TimeoutError:
            if not limit.expired():  # then it is the author's own
                raise
            raise HandlerTimeout(f"the handler took longer than {self._timeout:g} s") from None

    def _told(self, error: BaseException, yielded: Any) -> ReadError:
        """What the author's code raised, as a sentence that says where."""
        if isinstance(error, Blocked | Retry):  # meant for us: a handler may find out what validate did not
            return error
        kind = HandlerTimeout if isinstance(error, HandlerTimeout | _Blocked) else ReadError
        if isinstance(error, _Blocked):
            said = f"the handler blocked for longer than {self._timeout:g} s"
        else:
            said = _text(error) if isinstance(error, GossamerError) else f"{type(error).__name__}: {_text(error)}"
        return kind(f"{said[:900]}{_place(error, yielded, self._scraper)}")

    def _sort(self, value: Any, page: Page, made: Reading) -> None:
        if isinstance(value, Request):
            if not _simple(value):
                self._check(value)
                value = value.own()
            made.found.append(value)
        elif isinstance(value, list | tuple):  # `yield page.follow(...)`, where `yield from` was meant
            for each_value in value:
                self._sort(each_value, page, made)
        elif isinstance(value, str):
            raise ReadError(f"a handler yielded the text {value[:80]!r}: yield Request(url), or page.follow(...)")
        else:
            item = self._pipeline.item(value, page)
            if isinstance(item, Item):
                made.items.append(item)
            else:
                made.rejects.append(item)

    def _check(self, request: Request) -> None:
        """Refuse what could never be sent or stored while its line can still be named."""
        if request.handler not in HANDLERS:
            self._scraper.handler(request.handler)
        try:
            request.check()
        except ValueError as why:
            raise ReadError(f"the request for {str(request.url)[:200]} cannot be sent: {why}") from None


def _simple(request: Request) -> bool:
    """Whether there is nothing to check: of a page's links, nearly all are so."""
    return (
        request.plain
        and type(request.url) is str
        and not (request.headers or request.carry or request.priority or request.session or request.country)
        and request.save is None
        and request.wait_for is None
    )


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - even this is the author's code
        return "(it cannot say what)"


def _being_cancelled() -> bool:
    """Whether somebody cancels this task, rather than the author's code raising CancelledError by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@types.coroutine
def _watched(work: Coroutine[Any, Any, T], watch: Callable[[], AbstractContextManager[None]]) -> Generator[Any, Any, T]:
    """Await a coroutine with each of its steps watched: it may wait, but not block."""
    send: Callable[[Any], Any] = work.send
    value: Any = None
    while True:
        with watch():
            try:
                awaited = send(value)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
        try:
            send, value = work.send, (yield awaited)
        except BaseException as error:  # noqa: BLE001 - handed on to the coroutine, whose it is
            send, value = work.throw, error


def _place(error: BaseException, yielded: Any, scraper: Scraper) -> str:
    """Where in the author's file it happened: where it was raised, else where the handler stands."""
    module = sys.modules.get(type(scraper).__module__)
    home = getattr(module, "__file__", None)
    places = [(frame.filename, frame.lineno, frame.name) for frame in _frames(error)]
    standing = getattr(yielded, "gi_frame", None) or getattr(yielded, "ag_frame", None)
    if standing is not None:  # suspended at the yield of what we could not use
        places.append((standing.f_code.co_filename, standing.f_lineno, standing.f_code.co_name))
    for file, line, name in places:
        if file == home:
            return f" ({file.rpartition('/')[2]}, line {line}, in {name})"
    return ""


def _frames(error: BaseException | None) -> Iterator[traceback.FrameSummary]:
    """Where an error and what caused it were raised, innermost first: a timeout is caused by a cancellation."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # `raise error from error` is a circle
        seen.add(id(error))
        yield from reversed(traceback.extract_tb(error.__traceback__))
        error = error.__cause__ or error.__context__


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
        """A handler runs inside. Raises _Blocked in it if it takes longer."""
        self._deadline = time.monotonic() + seconds
        try:
            yield
        finally:
            # With the lock held nothing more is thrown; what was thrown before is raised within this block.
            with self._lock:
                self._deadline = None

    @contextmanager
    def guard(self, what: str, seconds: float) -> Iterator[None]:
        """As `watch`, for other code of an author's; raises HandlerTimeout outside of it."""
        try:
            with self.watch(seconds):
                yield
        except _Blocked:
            raise HandlerTimeout(f"{what} blocked for longer than {seconds:g} s") from None

    def _run(self) -> None:
        while not self._over.wait(TICK):
            with self._lock:
                if self._deadline is not None and time.monotonic() > self._deadline:
                    # Again in a while: the handler may catch what we throw, and go on.
                    self._deadline = time.monotonic() + AGAIN
                    self._interrupt()

    def _interrupt(self) -> None:
        if self._by_signal:
            signal.pthread_kill(self._target, signal.SIGALRM)
        else:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._target), ctypes.py_object(_Blocked))

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not _delicate(frame):  # else it comes again, in a while
            raise _Blocked


def _delicate(frame: FrameType | None) -> bool:
    """Whether code is interrupted that may hold a lock of the whole process, which then nobody would give back."""
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_filename.endswith(_LOCKING) or "/coverage/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


class _Blocked(BaseException):
    """Raised inside a handler that blocks; no Exception, for those are often caught and forgotten."""
