"""Whole manuals crawled with the command line, from a server that fails at times, against the known truth."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Share of URLs that fail the first time: 503, 429, a reset, or a body that breaks off.
FAIL = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Manual:
    """A Debian package whose pages, depths and bodies the suite has written down."""

    package: str
    #: Where the pages are, below the unpacked package.
    folder: str
    #: The name of its graph in the suite.
    graph: str
    start: str = "/index.html"

    def differs(self, suites: Path, unpacked: Path) -> str | None:
        """A sentence if the package is another version than the one the suite knows."""
        for row in self.truth(suites):
            page = unpacked / self.folder / (row["path"].lstrip("/") or "index.html")
            if not page.is_file() or hashlib.sha256(page.read_bytes()).hexdigest() != row["sha256"]:
                return f"{row['path']} of {self.package} is not the one that the suite knows: another version?"
        return None

    def truth(self, suites: Path) -> list[dict[str, Any]]:
        """What the suite knows: path, depth and digest of every page that can be reached."""
        return json_lines(suites / "sites" / "graphs" / f"{self.graph}.jsonl")


MANUALS = (
    Manual(package="postgresql-doc-15", folder="usr/share/doc/postgresql-doc-15/html", graph="postgresql-doc-15"),
    Manual(package="python3.11-doc", folder="usr/share/doc/python3.11/html", graph="python3.11-doc"),
    Manual(package="sqlite3-doc", folder="usr/share/doc/sqlite3", graph="sqlite3-doc"),
    Manual(package="git-doc", folder="usr/share/doc/git-doc", graph="git-doc"),
)

#: Crawls from a URL, using a folder, and returns rows of url, status, sha256 and depth.
Crawler = Callable[[str, Path], list[dict[str, Any]]]


def score(manual: Manual, suites: Path, unpacked: Path, folder: Path, crawl: Crawler) -> Mapping[str, Any]:
    """Serve a manual with faults, crawl it, and have the suite compare; `twice` counts needless fetches."""
    log = folder / "access.jsonl"
    with served(manual, suites, unpacked, log) as root:
        rows = crawl(root + manual.start, folder)
    crawled = folder / "crawled.jsonl"
    crawled.write_text("".join(json.dumps(row) + "\n" for row in rows))
    graph = suites / "sites" / "graphs" / f"{manual.graph}.jsonl"
    told = _python(suites / "sites" / "score.py", graph, crawled)
    return {**json.loads(told), "twice": _twice(log)}


def gossamer(start: str, folder: Path) -> list[dict[str, Any]]:
    """`gossamer crawl`, and its items as the suite wants them."""
    store = folder / "store.db"
    command = ("-m", "gossamer", "crawl", start, "--store", store, "--rate", "none", "--per-host", 16)
    _python(*command, "--retries", 5, "--quiet", "--json")
    items = _python("-m", "gossamer", "export", "items", "--store", store)
    return [{name: item[name] for name in ("url", "status", "sha256", "depth")} for item in _parsed(items)]


@contextlib.contextmanager
def served(manual: Manual, suites: Path, unpacked: Path, log: Path) -> Iterator[str]:
    """The suite's server on a free port; the URL of its root."""
    served = f"site={unpacked / manual.folder}"
    command = [sys.executable, "-u", suites / "sites" / "serve.py", "--port", "0", "--root", served]
    command += ["--fail", str(FAIL), "--log", log]
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            port = re.search(r", (\d+)\)", server.stdout.readline())
            assert port, "the server did not start"
            yield f"http://127.0.0.1:{port[1]}"
        finally:
            server.send_signal(signal.SIGINT)  # as on Ctrl-C it writes its log to the last line


def _twice(log: Path) -> int:
    """How many answers were fetched again although the first was whole."""
    whole = Counter(path for _, _, _, path, status in json_lines(log) if status == 200)
    return sum(n - 1 - _breaks_off(path) for path, n in whole.items())


def _breaks_off(path: str) -> bool:
    """Whether the server breaks its first answer for a path off: drawn as it draws, from the path."""
    drawn = int(hashlib.sha256(f"1|site|{path}".encode()).hexdigest()[:8], 16) / 2**32
    return drawn < FAIL and int(drawn / FAIL * 4) % 4 == 3  # of 503, 429, reset, truncate


def json_lines(path: Path) -> list[Any]:
    """The values in a file of JSON lines."""
    return _parsed(path.read_text())


def _parsed(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def _python(*args: object) -> str:
    done = subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, args))} failed ({done.returncode}):\n{done.stderr[-2000:]}")
    return done.stdout
