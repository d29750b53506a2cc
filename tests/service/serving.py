"""A real `gossamer serve` for tests: a process on a free port, in a folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

#: A scraper on the test's own site.
SCRAPER = """
from gossamer import Scraper


class Quotes(Scraper):
    name = "{name}"
    start_urls = ["{url}"]
    key = "n"
    rate = "{rate}"
    {more}

    def parse(self, page):
        for node in page.css(".quote"):
            yield {{"n": node.attributes["data-n"], "text": node.text}}
        yield from page.follow("a")
"""


class Served:
    """A service under way. `stop` ends it in good order, `kill` does not."""

    def __init__(self, folder: Path, *args: object, **env: str) -> None:
        self.folder = folder
        self.args = args
        self.env = env
        self.token = ""
        self.url = ""
        self.told = ""
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        """Start it, again if need be, and wait until it answers."""
        home = self.folder / "stderr.txt"
        with home.open("w") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gossamer", "serve", "--listen", "127.0.0.1:0", *map(str, self.args)],
                cwd=self.folder,
                env={**os.environ, **self.env},
                stderr=out,
                text=True,
            )
        until = time.monotonic() + 60
        while time.monotonic() < until:
            self.told = home.read_text()
            if " at http" in self.told and "\n" in self.told.split(" at http", 1)[1]:
                self.url = "http" + self.told.split(" at http", 1)[1].split()[0]
                if self._answers():
                    self.told = home.read_text()
                    if "shown once:" in self.told:
                        self.token = self.told.split("shown once:", 1)[1].split()[0]
                    return
            if self._process.poll() is not None:
                raise AssertionError(f"gossamer serve ended: {self.told}")
            time.sleep(0.05)
        raise AssertionError(f"gossamer serve did not answer: {self.told}")

    def _answers(self) -> bool:
        try:
            return self.call("GET", "/readyz")[0] == 200
        except OSError:
            return False

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def call(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
        """Ask the API: (status, answer), decoded if it is JSON."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        used = self.token if token is None else token
        if used:
            request.add_header("Authorization", f"Bearer {used}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, _decoded(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, _decoded(error.read())

    def get(self, path: str) -> Any:
        """The answer to a GET that must be well."""
        status, answer = self.call("GET", path)
        assert status == 200, (path, status, answer)
        return answer

    def wait_for(self, run: int, *states: str, seconds: float = 60) -> dict[str, Any]:
        """Wait until a run is in one of some states; returns it."""
        wanted = states or ("finished", "failed", "stopped", "cancelled")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found: dict[str, Any] = self.get(f"/api/runs/{run}")
            if found["state"] in wanted:
                return found
            time.sleep(0.1)
        raise AssertionError(f"run {run} is {found['state']}, not one of {wanted}; the service said: {self.said()}")

    def said(self) -> str:
        """What it wrote to stderr."""
        return (self.folder / "stderr.txt").read_text()

    def stop(self) -> int:
        """End it as Ctrl-C does."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        return self._process.wait(timeout=60)

    def kill(self) -> None:
        """As `kill -9` does: its runner notices by itself."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(timeout=60)


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")
