"""The flow: tasks side by side, each along its executors, written down after every step."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from gossamer import library, runs, settings, telemetry
from gossamer.errors import ConfigError
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.proxies import ProxyProvider, provider_of
from gossamer.fetch.proxy_check import getter
from gossamer.fetch.ways import Ways
from gossamer.flow import status as statusdata
from gossamer.flow.bar import Bar
from gossamer.flow.chain import Chain
from gossamer.flow.desk import Desk
from gossamer.flow.executor import Context, Executor, Function, executors_of, forced_of
from gossamer.flow.seat import Seat
from gossamer.flow.session import Session
from gossamer.flow.tasks import Params, TaskError, Tasks, public, tasks_of
from gossamer.runs import Parts
from gossamer.settings import ScraperConfig, Settings
from gossamer.storage.opening import MEMORY
from gossamer.telemetry import log

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds a task may take, and tasks at the same time, if nobody says otherwise.
TIMEOUT = 30.0
PARALLEL = 100
#: Seconds by which a request's own time is longer than its task's.
SPARE = 1.0
#: For each task that works, so many more may be begun: they wait for their hosts.
BEGUN = 10
#: Tasks after which others are let in while files are looked at.
BREATH = 100

#: The settings that mean something to a flow; the others are those of a crawl.
KNOBS = frozenset(
    {
        "accept_status",
        "allow_private",
        "breaker_failures",
        "breaker_rate",
        "breaker_wait",
        "breaker_window",
        "cookies",
        "first_byte",
        "headers",
        "identity",
        "insecure_hosts",
        "max_body",
        "max_crawl_delay",
        "max_headers",
        "max_ratio",
        "max_redirects",
        "max_wait",
        "pace_per",
        "per_host",
        "proxies",
        "quiet",
        "rate",
        "retries",
        "robots",
        "spool_above",
        "store",
        "user_agent",
        "user_agents",
        "walls",
    }
)


async def execute_async(
    executors: Sequence[Executor | Function],
    directory: Path | str,
    tasks: Tasks,
    timeout: float | None = None,  # noqa: ASYNC109 - of each task, not of the whole
    force_executors: Sequence[Any] | str | None = None,
    max_parallelism: int | None = None,
    proxy_provider: ProxyProvider | None = None,
    context_params: Mapping[str, Any] | None = None,
    **knobs: Any,
) -> list[str]:
    """Take every task along its executors, and give the keys of those that have now passed all of them.

    What an earlier call finished is not done again, unless `force_executors` names it or something that it builds
    on. Errors that a site makes, timeouts and RuntimeErrors are recorded, and end their task only; any other error
    ends the flow. Other keyword arguments are settings: `rate`, `per_host`, `retries`, `robots` ...

    Raises TaskError or ConfigError for what cannot be used, before anything is fetched. Cancelling it leaves every
    finished executor written down, and raises CancelledError.
    """
    telemetry.configure_unless_done()
    order = executors_of(executors)
    forced = forced_of(force_executors, order)
    read = _settings(proxy_provider, knobs)
    flow = Flow(order, Path(directory), forced, _seconds(timeout), _width(max_parallelism), context_params or {}, read)
    return await flow.run(tasks_of(tasks))


def _waiting(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function, for programs without an event loop."""

    @functools.wraps(work)
    def wait(*args: P.args, **how: P.kwargs) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise ConfigError("an event loop is running here: write await execute_async(...) instead of execute(...)")
        return library.wait(work(*args, **how))

    wait.__name__ = wait.__qualname__ = "execute"
    wait.__doc__ = "As `execute_async`, for programs without an event loop. Ctrl-C stops it, and the same call goes on."
    return wait


execute = _waiting(execute_async)


class Flow:
    """One call of `execute_async`."""

    def __init__(
        self,
        executors: tuple[Executor, ...],
        directory: Path,
        forced: tuple[str, ...],
        seconds: float,
        width: int,
        params: Mapping[str, Any],
        read: Settings,
    ) -> None:
        self._executors = executors
        self._directory = directory
        self._forced = forced
        self._seconds = seconds
        self._config = _config(read, seconds)
        self._store = read.place.store if read.origins.get("store") == "--store" else MEMORY
        self._slots = asyncio.Semaphore(width)
        self._begun = asyncio.Semaphore(width * BEGUN)
        self._provider = provider_of(read.config.proxies)
        self._params = params
        self._well: set[str] = set()
        self._bar = Bar(quiet=read.place.quiet)

    async def run(self, given: dict[str, Params | None]) -> list[str]:
        """Do all tasks; the keys of those that passed all executors, in the order given."""
        await self._enroll(given)
        log.info("flow.start", tasks=len(given), executors=[each.name for each in self._executors])
        failure: BaseException | None = None
        async with self._desk() as desk:
            with self._bar.showing(len(given)):
                try:
                    await self._all(given, desk)
                except BaseExceptionGroup as errors:
                    failure = errors.exceptions[0]  # the one that ended the others
        if failure is not None:
            raise failure
        log.info("flow.end", tasks=len(given), well=len(self._well))
        return [key for key in given if key in self._well]

    async def _all(self, given: Mapping[str, Params | None], desk: Desk) -> None:
        async with asyncio.TaskGroup() as group:
            for key, params in given.items():
                await self._begun.acquire()
                group.create_task(self._one(key, params, desk), name=f"flow {key}")

    async def _enroll(self, given: Mapping[str, Params | None]) -> None:
        """A status file for every task that has none, so that from now on its key is enough."""
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
        except OSError as why:
            raise ConfigError(f"{self._directory} cannot be the flow's folder: {why.strerror}") from None
        statusdata.sweep(self._directory)
        known = {each.name for each in os.scandir(self._directory)}
        fresh = [key for key in given if statusdata.status_path(self._directory, key).name not in known]
        unknown = [key for key in fresh if given[key] is None]
        if unknown:
            raise TaskError(
                f"nothing is known of the task {unknown[0]!r} in {self._directory}: give its params, like "
                f'{{{unknown[0]!r}: {{"url": "https://..."}}}}'
            )
        for number, key in enumerate(fresh, 1):
            statusdata.write(self._directory, statusdata.new(key, *public(given[key] or {})))
            if number % BREATH == 0:
                await asyncio.sleep(0)

    async def _one(self, key: str, given: Params | None, desk: Desk) -> None:
        """Take one task along its executors."""
        try:
            async with Seat(self._slots, self._seconds) as seat:
                task = Chain(self._directory, key, given)
                to_run = task.due(self._executors, self._forced)
                task.outdate(self._executors, to_run)
                if not to_run or await task.run(to_run, self._context(desk, seat, task.params), seat):
                    self._well.add(key)
                self._bar.step(well=key in self._well, skipped=not to_run)
        finally:
            self._begun.release()

    def _context(self, desk: Desk, seat: Seat, params: Params) -> Context:
        url = params.get("url")
        return Context(
            dir=self._directory,
            session=Session(desk, seat, url if isinstance(url, str) else None),
            force_executors=self._forced,
            semaphore=self._slots,
            timeout_seconds=self._seconds,
            proxy_provider=self._provider,
            params=self._params,
        )

    @asynccontextmanager
    async def _desk(self) -> AsyncIterator[Desk]:
        """Everything that fetching needs, as a run has it."""
        async with AsyncExitStack() as stack:
            parts = await stack.enter_async_context(runs.open_parts(self._store))
            desk = Desk(parts, self._config, await self._ways(parts), self._slots)
            stack.push_async_callback(desk.aclose)
            yield desk

    async def _ways(self, parts: Parts) -> Ways:
        provider = self._provider
        addresses = Addresses(private=self._config.allow_private, resolver=parts.resolver)
        if provider is not None and provider.stale:
            await provider.load(getter(parts.fetcher, addresses))
        typed = provider is not None and provider.typed
        return Ways(self._config, addresses, provider=provider, spool=parts.spool, own_proxies=typed)


def _settings(proxy_provider: ProxyProvider | None, knobs: Mapping[str, Any]) -> Settings:
    given = dict(knobs)
    if proxy_provider is not None:
        given["proxies"] = proxy_provider
    for name in given:
        if name in settings.KNOBS and name not in KNOBS:
            raise ConfigError(f"the setting {name!r} means nothing to a flow: there are {', '.join(sorted(KNOBS))}")
    return settings.read(given, prefix="")


def _config(read: Settings, seconds: float) -> ScraperConfig:
    """How requests go out: whole, by no browser, and with a little more time than their task has, which ends them."""
    config = dataclasses.replace(read.config, render=False, content_types=())
    if seconds == inf:
        return config
    first_byte = config.first_byte if "first_byte" in read.origins else seconds + SPARE
    return dataclasses.replace(config, timeout=seconds + SPARE, first_byte=first_byte)


def _seconds(timeout: float | None) -> float:
    if timeout is None:
        return TIMEOUT
    if timeout == inf:
        return inf
    try:
        return settings.duration(timeout)
    except ValueError as why:
        raise ConfigError(f"timeout = {timeout!r} cannot be used: {why}") from None


def _width(given: int | None) -> int:
    if given is None:
        return PARALLEL
    try:
        return settings.width(given)
    except ValueError as why:
        raise ConfigError(f"max_parallelism = {given!r} cannot be used: {why}") from None
