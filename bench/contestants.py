"""Who takes part, and the command that runs the job on a URL in an empty folder."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.prepare import PEER_PYTHON

JOBS = Path(__file__).with_name("jobs")
CONCURRENCY = "50"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    name: str
    #: One line for the reader of the table.
    about: str
    command: Callable[[str, Path], Sequence[str]]
    #: Runs in .bench/peers.
    peer: bool = True


def gossamer(url: str, folder: Path) -> list[str]:
    program = [str(Path(sys.executable).with_name("gossamer")), "run", str(JOBS / "gossamer_job.py")]
    where = ["--store", str(folder / "run.db"), "--param", f"start={url}", "--fresh"]
    pace = ["--rate", "none", "--concurrency", CONCURRENCY, "--per-host", CONCURRENCY]
    return [*program, *where, *pace, "--quiet", "--json"]


def floor(url: str, folder: Path) -> list[str]:
    return [sys.executable, str(JOBS / "floor_job.py"), url, CONCURRENCY]


def peer(script: str, variant: str) -> Callable[[str, Path], Sequence[str]]:
    return lambda url, folder: [str(PEER_PYTHON), str(JOBS / script), url, CONCURRENCY, variant]


CONTESTANTS = {
    each.name: each
    for each in (
        Contestant(name="gossamer", about="durable store on", command=gossamer, peer=False),
        Contestant(name="scrapy", about="in memory, as documented", command=peer("scrapy_plain.py", "-")),
        Contestant(name="scrapy-tuned", about="in memory, selectolax", command=peer("scrapy_job.py", "lexbor")),
        Contestant(name="crawlee", about="in memory, as documented", command=peer("crawlee_plain.py", "memory")),
        Contestant(name="crawlee-tuned", about="in memory, selectolax", command=peer("crawlee_job.py", "memory")),
        Contestant(name="crawlee-files", about="on files, as documented", command=peer("crawlee_plain.py", "files")),
        Contestant(name="floor", about="bare wreq + selectolax loop, stores nothing", command=floor, peer=False),
    )
}
