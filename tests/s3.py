"""A real S3 API on loopback: moto's, in this process with trouble on request, or in a process that can be killed.

with S3() as s3:
    s3.make("things")
    run(scraper, sinks=[f"s3://things/{{id}}.json?endpoint={s3.url}"])
    assert s3.objects("things") == {...}
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any, Self

from gossamer.testing import Site

#: What the tests sign with; no store, log or object may ever hold the second.
ACCESS, SECRET = "AKIATESTACCESS", "s3cretSigningKeyOfTheTests"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}

#: Looks at a request: a status to answer with instead of doing it, or None to do it. May sleep.
Mood = Callable[[str, str], int | None]


class _Api:
    """What both servers have."""

    url: str

    def make(self, bucket: str) -> None:
        """Make a bucket."""
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/{bucket}", method="PUT"), timeout=10):
            pass

    def objects(self, bucket: str) -> dict[str, bytes]:
        """Every object by its key, as a client of its own sees them."""
        import obstore
        from obstore.store import S3Store

        store = S3Store(
            bucket,
            endpoint=self.url,
            access_key_id=ACCESS,
            secret_access_key=SECRET,
            region="us-east-1",
            client_options={"allow_http": True},
        )
        found = [meta["path"] for chunk in obstore.list(store) for meta in chunk]
        return {path: bytes(obstore.get(store, path).bytes()) for path in found}

    def data(self, bucket: str) -> dict[str, bytes]:
        """Every object that is no manifest."""
        return {key: body for key, body in self.objects(bucket).items() if "_manifest/" not in key}


class S3(_Api):
    """The S3 API in a thread. Stopped and started again, it has the same port and still has its data."""

    def __init__(self) -> None:
        self.mood: Mood = lambda method, path: None
        #: Method and path of every request.
        self.asked: list[tuple[str, str]] = []
        self._port = 0
        self._server: Any = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *why: object) -> None:
        self.stop()
        from moto.core.base_backend import BackendDict  # noqa: F401 - its registry is filled by importing it
        from moto.s3.models import s3_backends

        s3_backends.reset()

    @property
    def url(self) -> str:  # type: ignore[override]
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen, on the port it had."""
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):
            def log(self, *args: object) -> None:
                pass

        inner = DomainDispatcherApplication(create_backend_app)

        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
            self.asked.append((method, path))
            status = self.mood(method, path)
            if status is None:
                found: Iterable[bytes] = inner(environ, start_response)
                return found
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start_response(f"{status} {http.client.responses[status]}", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SlowDown</Code><AWSAccessKeyId>" + ACCESS.encode() + b"</AWSAccessKeyId></Error>"]

        self._server = make_server("127.0.0.1", self._port, app, threaded=True, request_handler=Quiet)
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self) -> None:
        """Refuse connections."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            assert self._thread is not None
            self._thread.join()
            self._server = None


class S3Process(_Api):
    """The S3 API in a process of its own: killed, it forgets everything."""

    def __init__(self) -> None:
        with Site() as free:  # a port that nobody has
            self._port = int(free.authority.rpartition(":")[2])
        self.url = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *why: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self._port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        end = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/moto-api/data.json", timeout=5).close()
                return
            except urllib.error.URLError:
                assert time.monotonic() < end, "moto did not start"
                time.sleep(0.05)

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
