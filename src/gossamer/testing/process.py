"""A Site in a process of its own, whose times no busy crawler can blur."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from gossamer.testing.exchange import Hit
from gossamer.testing.ledger import read_log

#: Seconds it may take to start, and to stop.
_PATIENCE = 30.0


class SiteProcess:
    """`python -m gossamer.testing` as a child: started, asked what it saw, and stopped.

        with SiteProcess(latency=0.02) as site:
            crawl(site.url("/p/0"))
            times = [hit.at for hit in site.hits()]

    The times of its hits are of its own clock, taken when a request was complete. `app` names a function that is
    given the Site to fill, "module:function"; without one it is a `graph_site`.
    """

    def __init__(
        self,
        app: str | None = None,
        *,
        hosts: Sequence[str] = ("127.0.0.1",),
        port: int = 0,
        pages: int = 1000,
        links: int = 12,
        latency: float = 0.0,
        faults: float = 0.0,
        seed: int = 1,
        log: Path | str | None = None,
    ) -> None:
        self.hosts = list(hosts)
        self.port = port
        self._app = app
        self._numbers = {"pages": pages, "links": links, "latency-ms": latency * 1000, "faults": faults, "seed": seed}
        self._log = None if log is None else Path(log)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Self:
        """Start it, and wait until it serves. RuntimeError if it does not."""
        if self._log is None:
            self._folder = tempfile.TemporaryDirectory(prefix="gossamer-site-")
            self._log = Path(self._folder.name, "hits.jsonl")
        self._log.touch()
        # It finds `app` where we would. Its standard input is a pipe that ends with us: so does it, if we are killed.
        self._process = subprocess.Popen(  # noqa: S603 - our own module, in our own interpreter
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith("serving "):
            self.stop()
            raise RuntimeError("the site did not start: its process says why on stderr")
        self.port = int(line.split("/")[2].rpartition(":")[2])
        return self

    def _command(self) -> list[str]:
        command = [sys.executable, "-m", "gossamer.testing", "--port", str(self.port), "--child", "--log-ends"]
        command += ["--host", ",".join(self.hosts), "--log", str(self._log)]
        if self._app is not None:
            command += ["--app", self._app]
        for name, number in self._numbers.items():
            command += [f"--{name}", str(number)]
        return command

    def stop(self) -> None:
        """End it. Hits stay readable only if a `log` was given."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.communicate()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = self._log = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def url(self, path: str = "/", host: str | None = None) -> str:
        """The absolute URL of a path, on its first host unless told."""
        name = host or self.hosts[0]
        return f"http://[{name}]:{self.port}{path}" if ":" in name else f"http://{name}:{self.port}{path}"

    def hits(self) -> list[Hit]:
        """Every request so far, in the order they arrived. Headers and bodies are not kept."""
        return read_log(self._log) if self._log is not None else []
