"""WARC files, written: archived pages, so that other tools read them. `warc_reading` is the other way round."""

from __future__ import annotations

import contextlib
import io
import os
from datetime import UTC, datetime
from http import HTTPStatus
from types import TracebackType
from typing import Any

from gossamer.errors import ConfigError
from gossamer.storage import rows
from gossamer.storage.archive_reading import ArchivedPage, asked_of
from gossamer.values import Request

#: Bodies remembered, so that a file may say "as before".
REMEMBERED = 200_000
#: Headers that tell how a body was sent, and no longer how it is kept.
OF_THE_WAY = frozenset({"content-encoding", "transfer-encoding", "content-length"})
#: The field of a metadata record that has our own request in it.
REQUEST = "gossamer-request"


def missing() -> str | None:
    """A sentence if the library for WARC files is not installed."""
    try:
        import warcio  # noqa: F401
    except ImportError:
        return "WARC files need a library: pip install 'gossamer[warc]'"
    return None


class WarcWriter:
    """Writes archived pages as a WARC file, compressed if its name ends in .gz. Use it as a context manager.

    The file has its name once it is whole.
    """

    def __init__(self, path: str, software: str) -> None:
        """Raises ConfigError if the file cannot be written, or the library is not there."""
        if lacking := missing():
            raise ConfigError(lacking)
        from warcio.warcwriter import WARCWriter

        self.path = path
        self._part = f"{path}.part"
        try:
            self._file = open(self._part, "wb")  # noqa: SIM115 - closed by __exit__
        except OSError as why:
            raise ConfigError(f"{path} cannot be written: {why.strerror}") from None
        self._writer = WARCWriter(self._file, gzip=path.endswith(".gz"), warc_version="1.1")
        info = {"software": software, "format": "WARC File Format 1.1", "isPartOf": "gossamer archive"}
        self._writer.write_record(self._writer.create_warcinfo_record(os.path.basename(path), info))
        #: Digest of a body -> where and when it was written.
        self._written: dict[str, tuple[str, str]] = {}

    def __enter__(self) -> WarcWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if error is None:
            os.replace(self._part, self.path)
        else:
            with contextlib.suppress(OSError):
                os.unlink(self._part)

    def write(self, page: ArchivedPage) -> None:
        """Write one page: its answer, what was asked, and how we came to ask. Raises OSError."""
        url, when = page.response.url, _iso(page.response.started)
        answer = self._answer(page, url, when)
        self._writer.write_record(answer)
        number = answer.rec_headers.get_header("WARC-Record-ID")
        named = {"WARC-Date": when, "WARC-Concurrent-To": number}
        self._writer.write_record(self._asked(page.request, url, named))
        fields = {"scraper": page.scraper, "run": page.run, "handler": page.request.handler}
        fields[REQUEST] = asked_of(rows.request_row(page.request, 0, 0)).decode()
        told = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        made = self._writer.create_warc_record(
            url, "metadata", payload=io.BytesIO(told), length=len(told), warc_headers_dict=named
        )
        self._writer.write_record(made)

    def _answer(self, page: ArchivedPage, url: str, when: str) -> Any:
        from warcio.statusandheaders import StatusAndHeaders

        body = page.response.body
        kept = [pair for pair in page.response.headers.pairs() if pair[0] not in OF_THE_WAY]
        line = f"{page.response.status} {_phrase(page.response.status)}"
        headers = StatusAndHeaders(line, [*kept, ("content-length", str(len(body)))], protocol="HTTP/1.1")
        named = {"WARC-Date": when}
        if page.response.remote:
            named["WARC-IP-Address"] = page.response.remote
        digest = f"sha256:{page.digest}"
        first = self._written.get(page.digest)
        if first is not None and body:
            return self._writer.create_revisit_record(
                url, digest, *first, http_headers=headers, warc_headers_dict=named
            )
        if len(self._written) < REMEMBERED:
            self._written[page.digest] = url, when
        return self._writer.create_warc_record(
            url,
            "response",
            payload=io.BytesIO(body),
            length=len(body),
            http_headers=headers,
            warc_headers_dict={**named, "WARC-Payload-Digest": digest},
        )

    def _asked(self, request: Request, url: str, named: dict[str, str]) -> Any:
        from warcio.statusandheaders import StatusAndHeaders

        host, _, path = url.partition("://")[2].partition("/")
        body = request.body or b""
        headers = [("host", host), *(request.headers or {}).items()]
        if body:
            headers.append(("content-length", str(len(body))))
        if request.json is not None:
            headers.append(("content-type", "application/json"))
        line = StatusAndHeaders(f"{request.verb} /{path} HTTP/1.1", headers, is_http_request=True)
        return self._writer.create_warc_record(
            url, "request", payload=io.BytesIO(body), length=len(body), http_headers=line, warc_headers_dict=named
        )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _iso(stamp: float) -> str:
    return datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
