"""Status files: one `<key>.status.json` a task, which says how each of its executors ended. Written in one step."""

from __future__ import annotations

import os
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from gossamer.errors import ConfigError
from gossamer.flow.tasks import Params

if TYPE_CHECKING:
    import pandas

#: What is known of a task: `name`, `params`, and for each executor its output, its status, its last run.
StatusData: TypeAlias = dict[str, Any]

SUFFIX = ".status.json"
SUCCESS = "SUCCESS"
#: Made from something that has been made again since: to be run again. Its output is still there.
STALE = "STALE"
#: What is said instead of a status where a file cannot be read.
UNREADABLE = "UNREADABLE"
#: Statuses of an executor that has done its work; the second is one that other writers of such files use.
_FINISHED = (SUCCESS, "SKIPPED")
#: Names in a status file that are no executor's.
RESERVED = frozenset({"name", "params", "withheld", "all"})
_STATUS, _LAST_RUN = "_status", "_last_run"
#: Endings of names that no executor may have.
RESERVED_ENDINGS = (_STATUS, _LAST_RUN)
#: Letters of an error's message that are kept.
LONGEST_MESSAGE = 2_000
#: Unfinished files of killed processes are removed when they are older than this, in seconds.
LEFT = 3600.0
_UNFINISHED = ".flow-tmp"


def status_path(directory: Path, key: str) -> Path:
    """Where the status of a task is."""
    return directory / f"{key}{SUFFIX}"


# -- one task --------------------------------------------------------------------------------------------------


def new(key: str, params: Params, withheld: list[str]) -> StatusData:
    """The status of a task of which nothing has been done."""
    return {"name": key, "params": params, **({"withheld": withheld} if withheld else {})}


def finished(status: StatusData, executor: str) -> bool:
    """Whether an executor has done its work, and its output is there."""
    return executor in status and status.get(executor + _STATUS) in _FINISHED


def recorded(status: StatusData) -> list[str]:
    """The executors that a status tells of, in the order in which they first ended."""
    return [name.removesuffix(_STATUS) for name in status if name.endswith(_STATUS)]


def told(status: StatusData, executor: str) -> str:
    """How an executor ended: SUCCESS, STALE, or `ERROR <class>::<message>`; empty if it never did."""
    return str(status.get(executor + _STATUS, ""))


def succeed(status: StatusData, executor: str, output: dict[str, Any]) -> None:
    """An executor has done its work."""
    status[executor] = output
    status[executor + _STATUS] = SUCCESS
    status[executor + _LAST_RUN] = _now()


def fail(status: StatusData, executor: str, error: BaseException, message: str | None = None) -> None:
    """An executor has failed: its output, if an earlier run left one, is no longer true."""
    status.pop(executor, None)
    said = str(error) if message is None else message
    status[executor + _STATUS] = f"ERROR {type(error).__name__}::{said[:LONGEST_MESSAGE]}"
    status[executor + _LAST_RUN] = _now()


def outdate(status: StatusData, executor: str) -> bool:
    """What an executor made is to be made again. Whether that is news."""
    if not finished(status, executor):
        return False
    status[executor + _STATUS] = STALE
    return True


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


# -- files -----------------------------------------------------------------------------------------------------


def read(path: Path) -> StatusData:
    """A status from its file. Raises ConfigError if that is no status file; FileNotFoundError if there is none."""
    try:
        found = msgspec.json.decode(path.read_bytes())
    except msgspec.DecodeError as why:
        raise ConfigError(f"{path} is no status file: {why}; delete it to do its task anew") from None
    if not isinstance(found, dict) or not isinstance(found.get("params", {}), dict):
        raise ConfigError(f"{path} is no status file: it must be an object with params; delete it to do its task anew")
    return {"name": path.name.removesuffix(SUFFIX), "params": {}, **found}


def write(directory: Path, status: StatusData) -> None:
    """Write a status in one step: whoever reads, and whoever comes after a kill, finds the old one or the new one."""
    text = msgspec.json.format(msgspec.json.encode(status), indent=2)
    place(status_path(directory, status["name"]), text + b"\n")


def place(path: Path, data: bytes) -> None:
    """Write a file in one step."""
    unfinished = unfinished_name(path)
    try:
        with unfinished.open("xb") as file:
            file.write(data)
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def unfinished_name(path: Path) -> Path:
    """A name beside a file, for what is to become it."""
    return path.with_name(f".{uuid.uuid4().hex}{_UNFINISHED}")


def sweep(directory: Path) -> None:
    """Remove what killed processes left unfinished."""
    old = time.time() - LEFT
    for path in directory.glob(f".*{_UNFINISHED}"):
        with suppress(OSError):
            if path.stat().st_mtime < old:
                path.unlink()


# -- a folder --------------------------------------------------------------------------------------------------


def statuses(directory: Path | str) -> Iterator[StatusData]:
    """The status of every task in a folder, by key; one that cannot be read has `unreadable`, which says why.

    Raises ConfigError if there is no such folder.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder: give the one that the flow works in")
    for name in sorted(each.name for each in os.scandir(folder) if each.name.endswith(SUFFIX)):
        try:
            yield read(folder / name)
        except FileNotFoundError:
            continue
        except (OSError, ConfigError) as why:
            yield {"name": name.removesuffix(SUFFIX), "params": {}, "unreadable": str(why)}


def histogram(directory: Path | str) -> list[tuple[str, str, int]]:
    """How the executors of all tasks in a folder ended: (executor, status, tasks), by executor, most frequent first."""
    return counted(statuses(directory))


def counted(found: Iterable[StatusData]) -> list[tuple[str, str, int]]:
    """As `histogram`, of tasks whose status is known."""
    counts: dict[str, Counter[str]] = {}
    for status in found:
        if "unreadable" in status:
            counts.setdefault("", Counter())[UNREADABLE] += 1
        for name in recorded(status):
            counts.setdefault(name, Counter())[told(status, name)] += 1
    return [(name, said, number) for name, each in counts.items() for said, number in each.most_common()]


def read_status(directory: Path | str) -> pandas.DataFrame:
    """The status of every task in a folder as a frame: a row a task, by key. Needs pandas; `statuses` does not."""
    pandas = _pandas("read_status", "statuses")
    rows = list(statuses(directory))
    return pandas.DataFrame(rows, index=pandas.Index([row["name"] for row in rows], name="key"))


def status_summary(directory: Path | str) -> pandas.DataFrame:
    """How often each executor ended in which way, as a frame: a row a status, most frequent first, a column each.

    Needs pandas; `histogram` does not.
    """
    pandas = _pandas("status_summary", "histogram")
    table: dict[str, dict[str, int]] = {}
    totals: Counter[str] = Counter()
    for name, said, number in histogram(directory):
        table.setdefault(name or "status file", {})[said] = number
        totals[said] += number
    order = pandas.Index([said for said, _ in totals.most_common()], name="status", dtype=object)
    return pandas.DataFrame(table, index=order).fillna(0).astype(int)


def _pandas(wanted: str, instead: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise ConfigError(
            f"{wanted}() gives a pandas frame, and pandas is not installed: pip install 'gossamer[frames]', or use "
            f"gossamer.flow.{instead}()"
        ) from None
    return pandas
