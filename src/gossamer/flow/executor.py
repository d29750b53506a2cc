"""Executors: async functions that do one step of a task, under a name."""

from __future__ import annotations

import asyncio
import difflib
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, overload

from gossamer.fetch.proxies import ProxyProvider
from gossamer.flow import status as statusdata
from gossamer.flow.session import Session
from gossamer.flow.status import StatusData
from gossamer.flow.tasks import TaskError

#: What an executor makes: JSON values, which stand in the status file under its name.
Output: TypeAlias = dict[str, Any]
#: The function behind an executor.
Function: TypeAlias = Callable[["Context", str, StatusData], Awaitable[Any]]

#: To force all executors.
ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Context:
    """What every executor of a task is given."""

    #: The flow's folder, for whatever executors write.
    dir: Path
    #: To fetch with.
    session: Session
    #: Names of executors that are run again although they have finished; all of them, if all are.
    force_executors: tuple[str, ...]
    #: Has room for as many tasks as may work at the same time.
    semaphore: asyncio.Semaphore
    #: What one task may take, waiting for hosts not counted.
    timeout_seconds: float
    proxy_provider: ProxyProvider | None
    #: What the flow was given as `context_params`; written nowhere.
    params: Mapping[str, Any]

    @property
    def forced_executors(self) -> tuple[str, ...]:
        """The same as `force_executors`."""
        return self.force_executors


class Executor:
    """One step of a task. Called directly, as by another executor, it does its work and gives its output."""

    def __init__(self, function: Function, name: str, needs: tuple[str, ...] | None = None) -> None:
        self.name = self.__name__ = name
        #: The executors whose output it is made from; None: all that come before it.
        self.needs = needs
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, context: Context, key: str, status: StatusData) -> Awaitable[Any]:
        return self.__wrapped__(context, key, status)

    def __repr__(self) -> str:
        return f"Executor({self.name!r})"


@overload
def taskify(function: Function, /) -> Executor: ...
@overload
def taskify(*, name: str | None = None, needs: Iterable[str] | None = None) -> Callable[[Function], Executor]: ...


def taskify(
    function: Function | None = None, /, *, name: str | None = None, needs: Iterable[str] | None = None
) -> Executor | Callable[[Function], Executor]:
    """Make an executor of `async def step(context, key, status)`, which returns a dict; its name is the function's.

    `needs` are the names of the executors that it builds on, which run it again if they do; left out, all that
    come before it. Raises TaskError if it cannot be one.
    """
    if isinstance(needs, str):
        needs = (needs,)

    def make(function: Function) -> Executor:
        return _executor(function, name, None if needs is None else tuple(needs))

    return make if function is None else make(function)


def _executor(function: Any, name: str | None, needs: tuple[str, ...] | None) -> Executor:
    if isinstance(function, Executor):
        name, needs = name or function.name, function.needs if needs is None else needs
        function = function.__wrapped__
    called = str(name or getattr(function, "__name__", ""))
    if not inspect.iscoroutinefunction(function):
        shown = called or repr(function)
        raise TaskError(f"{shown} is no executor: write async def {called or 'step'}(context, key, status)")
    if not called.isidentifier():
        raise TaskError(f"{called or function!r} has no name to be known by: write taskify(name='step')(...)")
    if called in statusdata.RESERVED or called.endswith(statusdata.RESERVED_ENDINGS):
        raise TaskError(f"an executor cannot be called {called!r}: that name means something else in a status file")
    return Executor(function, called, needs)


def executors_of(given: Sequence[Executor | Function]) -> tuple[Executor, ...]:
    """Executors, each under a name of its own. Raises TaskError."""
    if not isinstance(given, list | tuple):
        raise TaskError("executors cannot be used: write a list of them, like [scrape]")
    made = tuple(each if isinstance(each, Executor) else _executor(each, None, None) for each in given)
    names = [each.name for each in made]
    for name in names:
        if names.count(name) > 1:
            raise TaskError(f"two executors are called {name!r}: write taskify(name='...') for one of them")
    return made


def forced_of(given: Sequence[Any] | str | None, executors: Sequence[Executor]) -> tuple[str, ...]:
    """The names of executors to be run again: names, executors, or ["all"]. Raises TaskError for an unknown one."""
    known = [each.name for each in executors]
    if given is None:
        return ()
    found = []
    for each in (given,) if isinstance(given, str) or callable(given) else given:
        name = each if isinstance(each, str) else getattr(each, "__name__", repr(each))
        if name == ALL:
            return tuple(known)
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known) or 'none'}, and {ALL!r}"
            raise TaskError(f"force_executors names {name!r}, which is no executor here: {hint}")
        found.append(name)
    return tuple(dict.fromkeys(found))
