"""A handler, whatever it does, costs no more than its own page."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pydantic
import pytest

from gossamer.errors import ConfigError, HandlerTimeout, ReadError
from gossamer.reader import Reader, Watchdog, _delicate
from gossamer.scraper import Scraper
from gossamer.values import Item, Request
from tests.unit.pages import page

TIMEOUT = 0.3
#: No handler under test may take longer than this: its timeout, a look of the watchdog, and a busy machine.
SOON = 10.0

Handler = Callable[..., Any]


def _read(handler: Handler, *, timeout: float = TIMEOUT) -> tuple[list[Item], list[Request]]:
    """Read a page with a handler, in this thread."""
    scraper = type("Shop", (Scraper,), {"parse": handler, "__module__": __name__})()

    async def main() -> tuple[list[Item], list[Request]]:
        with Watchdog() as watchdog:
            read = await Reader(scraper, timeout, watchdog).read(page("<a href=x>x</a>"))
            return read.items, read.found

    return asyncio.run(main())


def _failure(handler: Handler) -> ReadError:
    began = time.monotonic()
    with pytest.raises(ReadError) as failed:
        _read(handler)
    assert time.monotonic() - began < SOON
    assert "\n" not in str(failed.value)
    return failed.value


def _elsewhere(work: Callable[[], Any]) -> Any:
    """Call in a thread that is not the main one, as a notebook's event loop makes us do."""
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(work()))
    thread.start()
    thread.join(SOON)
    assert not thread.is_alive()
    return outcome[0]


def _line(text: str) -> int:
    """The line of this file that is marked with `# here: text`."""
    with open(__file__) as file:
        (found,) = [n for n, line in enumerate(file, 1) if line.rstrip().endswith(f"# here: {text}")]
    return found


# --- what a handler may give ---

ITEM = {"a": 1}


def _plain(self: Scraper, page: Any) -> Iterator[Any]:
    yield ITEM
    yield from page.follow("a")


async def _asynchronous(self: Scraper, page: Any) -> AsyncIterator[Any]:
    yield ITEM
    await asyncio.sleep(0)
    for request in page.follow("a"):
        yield request


async def _coroutine(self: Scraper, page: Any) -> list[Any]:
    await asyncio.sleep(0)
    return [ITEM, *page.follow("a")]


def _listing(self: Scraper, page: Any) -> list[Any]:
    return [ITEM, *page.follow("a")]


@pytest.mark.parametrize("handler", [_plain, _asynchronous, _coroutine, _listing])
def test_every_kind_of_handler_gives_items_and_requests(handler: Handler) -> None:
    items, found = _read(handler)
    assert [item.record() for item in items] == [ITEM]
    assert [request.url for request in found] == ["http://a.org/shop/x"]


class Song(pydantic.BaseModel):
    title: str


@pytest.mark.parametrize(("given", "items"), [(None, 0), (ITEM, 1), ([], 0), (Song(title="x"), 1)])
def test_a_handler_may_return_one_item_or_nothing(given: Any, items: int) -> None:
    async def later(self: Scraper, page: Any) -> Any:
        return given

    assert len(_read(lambda self, page: given)[0]) == items
    assert len(_read(later)[0]) == items


# --- what it may do wrong ---


def _raising(self: Scraper, page: Any) -> Iterator[Any]:
    yield ITEM
    raise ValueError("no price")  # here: raise


async def _raising_later(self: Scraper, page: Any) -> AsyncIterator[Any]:
    yield ITEM
    raise ValueError("no price")  # here: raise later


def _deep(self: Scraper, page: Any) -> list[Any]:
    return sorted([1, "a"])  # type: ignore[type-var,list-item]  # here: deep


def _misled(self: Scraper, page: Any) -> Any:
    return page.json()  # here: json


def test_an_exception_is_told_with_the_authors_line() -> None:
    for handler, mark in ((_raising, "raise"), (_raising_later, "raise later")):
        told = str(_failure(handler))
        assert told == f"ValueError: no price (test_reader.py, line {_line(mark)}, in {handler.__name__})"
    assert str(_failure(_deep)).startswith("TypeError: '<' not supported")
    assert str(_failure(_deep)).endswith(f"(test_reader.py, line {_line('deep')}, in _deep)")


def test_what_the_page_could_not_give_is_told_with_the_authors_line() -> None:
    told = str(_failure(_misled))
    assert told.startswith("the body is not JSON: ")
    assert told.endswith(f"(test_reader.py, line {_line('json')}, in _misled)")


@pytest.mark.parametrize(
    ("rubbish", "says"),
    [
        ("http://a.org/x", "a handler yielded the text 'http://a.org/x': yield Request(url), or page.follow(...)"),
        (None, "a handler yielded None (NoneType): yield a dict"),
        (5, "a handler yielded 5 (int): yield a dict"),
        ({"a": object()}, "an item holds a object, which JSON cannot"),
    ],
)
def test_rubbish_is_refused_by_what_it_is_and_where(rubbish: object, says: str) -> None:
    def plain(self: Scraper, page: Any) -> Iterator[Any]:
        yield rubbish  # here: rubbish

    async def later(self: Scraper, page: Any) -> AsyncIterator[Any]:
        yield rubbish  # here: rubbish later

    for handler, mark in ((plain, "rubbish"), (later, "rubbish later")):
        told = str(_failure(handler))
        assert told.startswith(says)
        assert told.endswith(f"(test_reader.py, line {_line(mark)}, in {handler.__name__})")


def test_a_long_message_is_cut() -> None:
    def parse(self: Scraper, page: Any) -> None:
        raise ValueError("x" * 100_000)

    assert len(str(_failure(parse))) < 1100


class TwoParts(ReadError):
    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Odd(BaseException): ...


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (TwoParts(1, 2), "1 and 2"),
        (ConfigError("no"), "no"),
        (Mute(), "Mute: (it cannot say what)"),
        (Odd("x"), "Odd: x"),
        (SystemExit(3), "SystemExit: 3"),
        (MemoryError(), "MemoryError: "),
        (RecursionError("deep"), "RecursionError: deep"),
        (StopIteration(), "RuntimeError: generator raised StopIteration"),
        (TimeoutError("mine"), "TimeoutError: mine"),
        (asyncio.CancelledError("mine"), "CancelledError: mine"),
        (BaseExceptionGroup("many", [Odd()]), "BaseExceptionGroup: many (1 sub-exception)"),
    ],
)
def test_every_kind_of_exception_fails_the_page_and_nothing_else(error: BaseException, says: str) -> None:
    def plain(self: Scraper, page: Any) -> Iterator[Any]:
        yield ITEM
        raise error

    async def later(self: Scraper, page: Any) -> AsyncIterator[Any]:
        yield ITEM
        raise error

    for handler in (plain, later):
        failure = _failure(handler)
        assert type(failure) is ReadError
        assert str(failure).replace("async generator", "generator").startswith(says)
        assert "test_reader.py, line" in str(failure)


def test_an_error_that_is_its_own_cause_is_told_too() -> None:
    def parse(self: Scraper, page: Any) -> None:
        error = ValueError("circle")
        raise error from error

    assert str(_failure(parse)).startswith("ValueError: circle (test_reader.py")


def test_ctrl_c_is_not_the_handlers() -> None:
    def parse(self: Scraper, page: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _read(parse)


def test_a_request_for_a_handler_there_is_not_fails_its_page() -> None:
    async def main() -> None:
        with Watchdog() as watchdog:
            await Reader(Scraper(), TIMEOUT, watchdog).read(page(to="detail"))

    with pytest.raises(ReadError, match="Scraper has no handler 'detail'"):
        asyncio.run(main())


def test_cancelling_a_reader_is_no_fault_of_the_handler() -> None:
    async def parse(self: Scraper, page: Any) -> AsyncIterator[Any]:
        await asyncio.sleep(60)
        yield ITEM

    async def main() -> None:
        scraper = type("Shop", (Scraper,), {"parse": parse})()
        with Watchdog() as watchdog:
            task = asyncio.create_task(Reader(scraper, 60, watchdog).read(page()))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


# --- what takes too long ---


def _busy(self: Scraper, page: Any) -> None:
    while True:
        pass


def _busy_generator(self: Scraper, page: Any) -> Iterator[Any]:
    yield ITEM
    while True:
        pass


async def _busy_async(self: Scraper, page: Any) -> AsyncIterator[Any]:
    yield ITEM
    await asyncio.sleep(0)
    while True:
        pass


def _stubborn(self: Scraper, page: Any) -> None:
    while True:
        try:
            while True:
                pass
        except Exception:  # what many authors write around everything
            continue


def _asleep(self: Scraper, page: Any) -> None:
    time.sleep(60)


async def _asleep_async(self: Scraper, page: Any) -> None:
    time.sleep(60)  # noqa: ASYNC251 - this is the mistake under test


BUSY = [_busy, _busy_generator, _busy_async, _stubborn]


@pytest.mark.parametrize("handler", [*BUSY, _asleep, _asleep_async])
def test_a_handler_that_blocks_is_interrupted(handler: Handler) -> None:
    failure = _failure(handler)
    assert type(failure) is HandlerTimeout
    assert str(failure).startswith("the handler blocked for longer than 0.3 s (test_reader.py, line ")
    assert str(failure).endswith(f", in {handler.__name__})")


@pytest.mark.parametrize("handler", BUSY)
def test_a_busy_handler_is_interrupted_in_any_thread(handler: Handler) -> None:
    failure = _elsewhere(lambda: _failure(handler))
    assert type(failure) is HandlerTimeout
    assert str(failure).startswith("the handler blocked for longer than 0.3 s (test_reader.py, line ")


async def _waits(self: Scraper, page: Any) -> AsyncIterator[Any]:
    yield ITEM
    await asyncio.sleep(60)  # here: wait


async def _never_ends(self: Scraper, page: Any) -> AsyncIterator[Any]:
    while True:
        await asyncio.sleep(0)
        yield ITEM


@pytest.mark.parametrize("handler", [_waits, _never_ends])
def test_a_handler_that_waits_too_long_is_given_up(handler: Handler) -> None:
    failure = _failure(handler)
    assert type(failure) is HandlerTimeout
    assert str(failure).startswith("the handler took longer than 0.3 s")


def test_others_go_on_while_a_handler_waits() -> None:
    """The watchdog watches steps, not waits: handlers that wait side by side are not taken for blocked ones."""

    async def parse(self: Scraper, page: Any) -> AsyncIterator[Any]:
        for _ in range(4):
            await asyncio.sleep(0.1)
        yield ITEM

    async def main() -> None:
        scraper = type("Shop", (Scraper,), {"parse": parse})()
        with Watchdog() as watchdog:
            readers = [Reader(scraper, 20, watchdog).read(page()) for _ in range(20)]
            assert all(len(read.items) == 1 for read in await asyncio.gather(*readers))

    asyncio.run(main())


def test_after_an_interruption_the_next_handler_is_read() -> None:
    async def main() -> None:
        with Watchdog() as watchdog:
            blocked = Reader(type("A", (Scraper,), {"parse": _busy})(), TIMEOUT, watchdog)
            sound = Reader(type("B", (Scraper,), {"parse": _plain})(), TIMEOUT, watchdog)
            for _ in range(2):
                with pytest.raises(HandlerTimeout):
                    await blocked.read(page())
                assert len((await sound.read(page())).items) == 1

    asyncio.run(main())


def test_the_watchdog_leaves_nothing_behind() -> None:
    before, threads = signal.getsignal(signal.SIGALRM), threading.active_count()
    with Watchdog() as watchdog, watchdog.watch(5):
        assert threading.active_count() == threads + 1
    assert (signal.getsignal(signal.SIGALRM), threading.active_count()) == (before, threads)


def test_the_watchdog_does_not_slow_a_handler_down() -> None:
    """Watching is done by another thread that looks a few times a second; a page pays microseconds."""
    with Watchdog() as watchdog:
        began = time.perf_counter()
        for _ in range(1000):
            with watchdog.watch(5):
                pass
        assert time.perf_counter() - began < 1.0


def test_code_that_may_hold_a_lock_of_the_process_is_not_interrupted() -> None:
    def here(file: str) -> bool:
        scope: dict[str, Any] = {"ask": lambda: _delicate(sys._getframe())}
        exec(compile("said = ask()", file, "exec"), scope)
        return bool(scope["said"])

    assert here("/usr/lib/python3.11/threading.py")
    assert here("/x/site-packages/coverage/collector.py")
    assert not here("/home/me/quotes.py")
    assert not _delicate(None)
