"""Run one job in a process of its own and say what it took."""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.prepare import KEPT

#: How often a waiting person hears that a long job is still running.
TICK = 10.0
#: Variables that would change what a job does, whoever set them.
FOREIGN = ("GOSSAMER_", "CRAWLEE_", "APIFY_", "SCRAPY_", "PYTHON")


class JobError(Exception):
    """A job ended without its line of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one job did and took."""

    pages: int
    items: int
    #: Seconds by the job's own clock: from just before the first request to the end of the crawl.
    seconds: float
    #: Seconds of the whole process, imports included.
    wall: float
    #: Seconds of processor time, user and system, of the whole process.
    cpu: float
    #: Bytes of memory at the highest point.
    rss: int
    #: Bytes of the files it left behind.
    stored: int
    #: Cores kept busy meanwhile by everything else on the machine: the server, and whatever is no part of this.
    others: float
    exit_code: int


def job(
    command: Callable[[str, Path], Sequence[str]],
    url: str,
    *,
    limit: float,
    tick: Callable[[float], None] = lambda seconds: None,
) -> Run:
    """Run a contestant on a site, in an empty folder. Raises JobError."""
    KEPT.mkdir(exist_ok=True)
    # Below .bench, not /tmp: a store in memory would be no durable store.
    with tempfile.TemporaryDirectory(prefix="run-", dir=KEPT) as made:
        folder = Path(made)
        said, complained = folder / "stdout", folder / "stderr"
        busy = machine_busy()
        with said.open("wb") as out, complained.open("wb") as err:
            wall, usage, exit_code = timed(command(url, folder), folder, out, err, limit, tick)
        busy = machine_busy() - busy
        if wall >= limit:
            raise JobError(f"still running after {limit:.0f} s")
        report = last_json(said.read_text(errors="replace"))
        if report is None:
            raise JobError(last_line(complained.read_text(errors="replace")) or f"exit code {exit_code}")
        said.unlink()
        complained.unlink()
        cpu = usage.ru_utime + usage.ru_stime
        return Run(
            pages=report["pages"],
            items=report["items"],
            seconds=report["seconds"],
            wall=wall,
            cpu=cpu,
            rss=usage.ru_maxrss * 1024,
            stored=sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()),
            others=max(0.0, busy - cpu) / wall,
            exit_code=exit_code,
        )


def timed(
    command: Sequence[str], folder: Path, out: Any, err: Any, limit: float, tick: Callable[[float], None]
) -> tuple[float, Any, int]:
    """Wall time, resource usage and exit code of a process; one that outlives `limit` is killed."""
    began = time.perf_counter()
    # A session of its own: Ctrl-C reaches us alone, and we end the job with all its children.
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        env=clean(),
        start_new_session=True,
    )
    try:
        wait(process.pid, began, limit, tick)
        _, status, usage = os.wait4(process.pid, os.WNOHANG)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)  # reaped here, so Popen must not try again
        return wall, usage, process.returncode
    finally:
        if process.returncode is None:
            end(process)


def wait(pid: int, began: float, limit: float, tick: Callable[[float], None]) -> None:
    """Sleep until the process has ended, without a timer that would blur the wall time."""
    handle = os.pidfd_open(pid)
    try:
        while not select.select([handle], [], [], TICK)[0]:
            passed = time.perf_counter() - began
            tick(passed)
            if passed > limit:
                os.killpg(pid, signal.SIGKILL)
    finally:
        os.close(handle)


def end(process: subprocess.Popen[Any], grace: float = 3) -> None:
    """End a process that leads its session, and what it started: asked first, then killed."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def machine_busy() -> float:
    """Seconds all cores together have been busy since boot, or taken from us by the host."""
    first = Path("/proc/stat").read_text().partition("\n")[0]
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, first.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def clean() -> dict[str, str]:
    """Our environment without settings and proxies meant for something else."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN) and not name.lower().endswith("_proxy")
    }


def last_json(text: str) -> dict[str, Any] | None:
    """The JSON object a job printed: all of its output, or the last line."""
    for candidate in (text, *reversed(text.splitlines())):
        try:
            found = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(found, dict) and found.keys() >= {"pages", "items", "seconds"}:
            return found
    return None


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
