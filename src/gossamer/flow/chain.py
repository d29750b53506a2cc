"""One task's way along its executors: which of them are due, and what is written down after each."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gossamer.errors import ConfigError, FetchError, Held, ReadError
from gossamer.flow import status as statusdata
from gossamer.flow.executor import Context, Executor, Output
from gossamer.flow.seat import Seat
from gossamer.flow.status import StatusData
from gossamer.flow.tasks import Params, public
from gossamer.telemetry import log

#: What is recorded, and ends its task only. Whatever else an executor raises ends the flow.
RECOGNISED: Final = (FetchError, ReadError, Held, TimeoutError, RuntimeError)


class Chain:
    """One task, its status, and its way along executors."""

    def __init__(self, directory: Path, key: str, given: Params | None) -> None:
        """Raises ConfigError if the status file cannot be read, and nobody gave params to begin anew with."""
        self._directory = directory
        self._key = key
        self._given = given
        self._status = _read(directory, key, anew=bool(given))
        self._changed = self._take(given or {})
        #: Whole, with what no file has.
        self.params = given or dict(self._status["params"])

    def _take(self, given: Params) -> bool:
        """Take params that were given. If they are others than before, all that was made is to be made again."""
        kept, withheld = public(given)
        if self._status and (not given or kept == public(self._status["params"])[0]):
            return False
        for name in statusdata.recorded(self._status):
            statusdata.outdate(self._status, name)
        self._status.pop("withheld", None)
        self._status |= statusdata.new(self._key, kept, withheld)
        return True

    def due(self, executors: Sequence[Executor], forced: Sequence[str]) -> list[Executor]:
        """The executors to run: forced ones, those that have not finished, and what builds on any of them."""
        found: list[Executor] = []
        again: set[str] = set()
        for executor in executors:
            builds_on = again if executor.needs is None else again.intersection(executor.needs)
            if executor.name in forced or builds_on or not statusdata.finished(self._status, executor.name):
                found.append(executor)
                again.add(executor.name)
        return found

    def outdate(self, executors: Sequence[Executor], to_run: Sequence[Executor]) -> None:
        """Mark what is about to be made again, and what executors that are not here made after it.

        This is written before the first of them runs: a kill in between must not leave an old output that looks new.
        """
        names = statusdata.recorded(self._status)
        first = min((names.index(each.name) for each in to_run if each.name in names), default=len(names))
        here = {each.name for each in executors}
        old = [*(each.name for each in to_run), *(name for name in names[first:] if name not in here)]
        marked = [name for name in old if statusdata.outdate(self._status, name)]
        if marked or self._changed:
            self._write()

    def lacks(self, context_params: Mapping[str, Any]) -> str | None:
        """What is not there of a task whose params come from its file, which has no secrets; None if all is."""
        withheld = () if self._given else self._status.get("withheld", ())
        left = [name for name in withheld if not (name == "cookies" and context_params.get(name))]
        told = f"its params had secrets, which no file keeps ({', '.join(left)}): give the task with its params again"
        return told if left else None

    async def run(self, to_run: Sequence[Executor], context: Context, seat: Seat) -> bool:
        """Run executors one after the other, up to the first that fails; whether none did.

        Each is written down the moment it ends. Raises what is not recognised, after that was written down too.
        """
        for executor in to_run:
            try:
                if what := self.lacks(context.params):
                    raise RuntimeError(what)
                statusdata.succeed(self._status, executor.name, await self._work(executor, context, seat))
                self._write()
            except Exception as error:
                late = isinstance(error, TimeoutError) and seat.out_of_time
                if not self._failed(executor, error, context.timeout_seconds if late else None):
                    error.add_note(f"in the executor {executor.name!r}, for the task {self._key!r}")
                    raise
                return False
            except asyncio.CancelledError as error:
                # An executor may have cancelled something of its own; but if we are meant, we go.
                if _cancelled():
                    raise
                self._failed(executor, error)
                return False
            if _cancelled():  # the executor has passed over it
                raise asyncio.CancelledError
        return True

    async def _work(self, executor: Executor, context: Context, seat: Seat) -> Output:
        # A copy: what an executor does to it is nobody else's business.
        seen = copy.deepcopy({**self._status, "params": self.params})
        async with seat.working():
            made = await executor(context, self._key, seen)
        if isinstance(made, tuple) and len(made) == 2 and isinstance(made[1], bool):
            made = made[0]  # and whether it did run, which it did
        if made is not None and not isinstance(made, dict):
            raise TypeError(f"it returned a {type(made).__name__}: return a dict")
        return made or {}

    def _failed(self, executor: Executor, error: BaseException, seconds: float | None = None) -> bool:
        """Write down that an executor failed, perhaps by taking too long; whether that ends its task only."""
        known = _recognised(error)
        late = None if seconds is None else f"the task took longer than {seconds:g} s"
        statusdata.fail(self._status, executor.name, known or error, late)
        self._write()
        log.info("flow.failed", task=self._key, executor=executor.name, why=late or str(error))
        return known is not None

    def _write(self) -> None:
        try:
            statusdata.write(self._directory, self._status)
        except (TypeError, ValueError, RecursionError) as why:
            raise TypeError(f"its output cannot be written as JSON: {why}") from None


def _read(directory: Path, key: str, *, anew: bool) -> StatusData:
    """The status of a task; empty if it has none, or begins anew because its file cannot be read."""
    path = statusdata.status_path(directory, key)
    try:
        return statusdata.read(path)
    except FileNotFoundError:
        return {}
    except ConfigError as why:
        if not anew:
            raise
        log.warning("flow.unreadable", why=str(why), kept_as=f"{path.name}.unreadable")
        path.replace(f"{path}.unreadable")
        return {}


def _recognised(error: BaseException) -> BaseException | None:
    """The error to record, if it is one that ends its task only; of several, the first, if all of them are."""
    kinds = (*RECOGNISED, asyncio.CancelledError)
    if isinstance(error, BaseExceptionGroup):
        return None if error.split(kinds)[1] is not None else _recognised(error.exceptions[0])
    return error if isinstance(error, kinds) else None


def _cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
