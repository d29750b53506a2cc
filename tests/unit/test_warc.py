"""WARC files: ours open in other tools, those of other tools open in ours, and broken ones cost what is broken."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from gossamer.errors import ConfigError
from gossamer.storage import warc_reading
from gossamer.storage.archive_reading import ArchivedPage
from gossamer.storage.warc import WarcWriter
from gossamer.storage.warc_reading import WarcPage, WarcReader
from gossamer.values import Headers, Request, Response

URL = "https://a.example/page"
HTML = ("content-type", "text/html; charset=utf-8")


def archived(body: bytes = b"<p>hello", url: str = URL, headers: Any = (HTML,), **more: Any) -> ArchivedPage:
    request = Request(url, id=7, **more)
    response = Response(url, 200, Headers(headers), body, 1_700_000_000.25, 0.5, remote="192.0.2.1")
    return ArchivedPage(1, 3, "shop", request, response, hashlib.sha256(body).hexdigest(), len(body), 1.0)


def written(path: Path, *pages: ArchivedPage) -> Path:
    with WarcWriter(str(path), "gossamer/test") as writer:
        for page in pages:
            writer.write(page)
    return path


def read(path: Path) -> list[WarcPage]:
    return list(WarcReader(str(path)).pages())


def foreign(path: Path, write: Callable[[WARCWriter], None], **options: Any) -> Path:
    """A file as another tool would write it."""
    with path.open("wb") as file:
        write(WARCWriter(file, **options))
    return path


def response(writer: WARCWriter, body: bytes, *headers: tuple[str, str], url: str = URL, **warc: str) -> Any:
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html"), *headers], protocol="HTTP/1.1")
    named = {key.replace("_", "-"): value for key, value in warc.items()}
    return writer.create_warc_record(
        url, "response", payload=io.BytesIO(body), length=len(body), http_headers=head, warc_headers_dict=named
    )


def one(path: Path, body: bytes, *headers: tuple[str, str]) -> WarcPage:
    """The one page of a file that another tool wrote."""

    def write(writer: WARCWriter) -> None:
        writer.write_record(response(writer, body, *headers))

    (found,) = read(foreign(path, write))
    return found


# -- ours in other tools ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.warc.gz", "x.warc"])
def test_what_we_write_is_valid_to_warcio(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path / name,
        archived(),
        archived(b"\xff\x00" * 5000, f"{URL}?q=%C3%BC", (HTML, ("x-note", "caf\u00e9"), ("content-encoding", "gzip"))),
        archived(b"", f"{URL}/empty"),
        archived(b"{}", f"{URL}/api", (("content-type", "application/json"),), json={"q": [1, 2]}),
    )

    class Asked:
        inputs = [str(path)]  # noqa: RUF012
        verbose = False

    checker = Checker(Asked())
    checker.process_all()
    assert checker.exit_value == 0, capsys.readouterr().out


def test_other_tools_find_the_page_its_headers_and_when_it_was_fetched(tmp_path: Path) -> None:
    page = archived(b"<p>hello", headers=(HTML, ("content-encoding", "gzip"), ("transfer-encoding", "chunked")))
    with written(tmp_path / "x.warc.gz", page).open("rb") as file:
        records = []
        for record in ArchiveIterator(file):
            records.append((record.rec_type, record.rec_headers, record.http_headers, record.content_stream().read()))

    assert [record[0] for record in records] == ["warcinfo", "response", "request", "metadata"]
    _, named, head, body = records[1]
    assert named.get_header("WARC-Target-URI") == URL
    assert named.get_header("WARC-Date") == "2023-11-14T22:13:20.250000Z"
    assert named.get_header("WARC-IP-Address") == "192.0.2.1"
    assert (head.statusline, body) == ("200 OK", b"<p>hello")
    assert dict(head.headers) == {HTML[0]: HTML[1], "content-length": "8"}  # how it was sent is no longer true
    assert records[2][1].get_header("WARC-Concurrent-To") == named.get_header("WARC-Record-ID")
    assert (records[2][2].protocol, records[2][2].statusline) == ("GET", "/page HTTP/1.1")
    assert b"software: gossamer/test" in records[0][3]


def test_a_body_that_was_written_is_not_written_again(tmp_path: Path) -> None:
    body = bytes(range(256)) * 100
    pages = [archived(body, f"{URL}/{n}") for n in range(3)]
    path = written(tmp_path / "x.warc", *pages)
    with path.open("rb") as file:
        records = [(r.rec_type, r.rec_headers.get_header("WARC-Refers-To-Target-URI")) for r in ArchiveIterator(file)]
    answers = [record for record in records if record[0] in ("response", "revisit")]
    assert answers == [("response", None), ("revisit", f"{URL}/0"), ("revisit", f"{URL}/0")]
    assert path.stat().st_size < 2 * len(body)


def test_a_file_that_is_not_whole_has_not_its_name(tmp_path: Path) -> None:
    with contextlib.suppress(KeyboardInterrupt), WarcWriter(str(tmp_path / "x.warc.gz"), "test") as writer:
        writer.write(archived())
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be written: No such file or directory"):
        WarcWriter(str(tmp_path / "none" / "x.warc.gz"), "test")


def test_our_own_requests_come_back_in_full(tmp_path: Path) -> None:
    page = archived(to="listing", carry={"n": [1, None]}, depth=4, priority=2, method="POST", data=b"\x00a=1")
    (found,) = read(written(tmp_path / "x.warc.gz", page))
    assert found.request == page.request.evolve(id=0)
    assert found.response.body == b"<p>hello"
    assert (found.response.started, found.response.url) == (1_700_000_000.25, URL)


# -- theirs in ours --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", ["each", "none", "whole", "zstd"])
def test_a_file_may_be_compressed_in_any_way(tmp_path: Path, packing: str) -> None:
    def write(writer: WARCWriter) -> None:
        writer.write_record(writer.create_warcinfo_record("x", {"software": "another tool"}))
        for n in range(5):
            writer.write_record(response(writer, b"<p>%d" % n, url=f"{URL}/{n}"))

    path = foreign(tmp_path / "x.warc", write, gzip=packing == "each")
    if packing == "whole":
        path.write_bytes(gzip.compress(path.read_bytes()))
    elif packing == "zstd":
        path.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    assert [page.response.body for page in read(path)] == [b"<p>%d" % n for n in range(5)]


def test_zstd_with_a_dictionary_of_its_own(tmp_path: Path) -> None:
    def write(writer: WARCWriter) -> None:
        writer.write_record(response(writer, b"<p>hello" * 10))

    path = foreign(tmp_path / "x.warc", write, gzip=False)
    raw = zstandard.ZstdCompressionDict(b"WARC/1.0\r\nWARC-Type: response\r\n" * 10)
    packed = zstandard.ZstdCompressor(dict_data=raw).compress(path.read_bytes())
    shelf = zstandard.ZstdCompressor().compress(raw.as_bytes())
    path.write_bytes(b"\x5d\x2a\x4d\x18" + len(shelf).to_bytes(4, "little") + shelf + packed)
    assert [page.response.body for page in read(path)] == [b"<p>hello" * 10]


def chunked(body: bytes) -> bytes:
    half = len(body) // 2
    parts = (body[:half], body[half:], b"")
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


DEFLATE = zlib.compress(b"<p>hello")
RAW_DEFLATE = DEFLATE[2:-4]


@pytest.mark.parametrize(
    ("raw", "coding", "sent"),
    [
        (b"<p>hello", "", ""),
        (gzip.compress(b"<p>hello"), "gzip", ""),
        (DEFLATE, "deflate", ""),
        (RAW_DEFLATE, "deflate", ""),
        (zstandard.ZstdCompressor().compress(b"<p>hello"), "zstd", ""),
        (gzip.compress(DEFLATE), "deflate, gzip", ""),
        (chunked(b"<p>hello"), "", "chunked"),
        (chunked(gzip.compress(b"<p>hello")), "gzip", "chunked"),
        # Many tools write a body as they show it, and the headers as they came.
        (b"<p>hello", "gzip", "chunked"),
        (b"<p>hello", "br", ""),
        (b"<p>hello", "deflate", ""),
    ],
)
def test_codings_are_undone(tmp_path: Path, raw: bytes, coding: str, sent: str) -> None:
    headers = [("Content-Encoding", coding), ("Transfer-Encoding", sent), ("Content-Length", str(len(raw)))]
    page = one(tmp_path / "x.warc.gz", raw, *[pair for pair in headers if pair[1]])
    assert (page.response.body, page.missing) == (b"<p>hello", "")
    assert page.response.headers.pairs() == (("content-type", "text/html"),)


def test_a_body_that_cannot_be_undone_costs_only_itself(tmp_path: Path) -> None:
    page = one(tmp_path / "x.warc.gz", gzip.compress(b"<p>hello" * 100)[:-30], ("Content-Encoding", "gzip"))
    assert page.response.body == b""
    assert page.missing == "the compressed body broke off"
    page = one(tmp_path / "y.warc.gz", b"\x8b\x02\x80\xff\x00\x91\xfe", ("Content-Encoding", "br"))
    assert page.response.body == b""
    assert page.missing


def test_a_body_that_unpacks_to_gigabytes_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_reading, "LARGEST", 1 << 20)
    page = one(tmp_path / "x.warc.gz", gzip.compress(bytes(20 << 20)), ("Content-Encoding", "gzip"))
    assert page.response.body == b""
    assert "unpacks to more bytes" in page.missing
    page = one(tmp_path / "y.warc.gz", bytes(2 << 20))
    assert page.missing == "its body is larger than the archive keeps (1 MB)"


def test_resources_are_pages_too(tmp_path: Path) -> None:
    def write(writer: WARCWriter) -> None:
        made = writer.create_warc_record(
            URL, "resource", payload=io.BytesIO(b"<p>hello"), length=8, warc_content_type="text/html"
        )
        writer.write_record(made)

    (page,) = read(foreign(tmp_path / "x.warc.gz", write))
    assert (page.response.status, page.response.content_type, page.response.body) == (200, "text/html", b"<p>hello")


def test_a_revisit_names_the_body_it_means(tmp_path: Path) -> None:
    def write(writer: WARCWriter) -> None:
        first = response(writer, b"<p>hello")
        writer.write_record(first)
        digest = first.rec_headers.get_header("WARC-Payload-Digest")
        head = StatusAndHeaders("200 OK", [HTML], protocol="HTTP/1.1")
        writer.write_record(writer.create_revisit_record(f"{URL}/2", digest, URL, "2026-01-01T00:00:00Z", head))

    first, second = read(foreign(tmp_path / "x.warc.gz", write))
    assert (first.revisit, second.revisit) == (False, True)
    assert first.digest == second.digest != ""
    assert second.response.content_type == "text/html"


@pytest.mark.parametrize("order", ["request first", "response first"])
def test_the_method_is_found_in_the_request_beside_it(tmp_path: Path, order: str) -> None:
    def write(writer: WARCWriter) -> None:
        answer = response(writer, b"<p>found")
        head = StatusAndHeaders("POST /page HTTP/1.1", [("Host", "a.example")], is_http_request=True)
        named = {"WARC-Concurrent-To": answer.rec_headers.get_header("WARC-Record-ID")}
        asked = writer.create_warc_record(
            URL, "request", payload=io.BytesIO(b"q=1"), length=3, http_headers=head, warc_headers_dict=named
        )
        for record in (asked, answer) if order == "request first" else (answer, asked):
            writer.write_record(record)
        writer.write_record(response(writer, b"<p>got", url=f"{URL}/2"))

    posted, got = read(foreign(tmp_path / "x.warc.gz", write))
    assert (posted.request.verb, posted.request.data) == ("POST", b"q=1")
    assert (got.request.verb, got.request.url) == ("GET", f"{URL}/2")


def test_what_is_no_web_page_is_left_out(tmp_path: Path) -> None:
    def write(writer: WARCWriter) -> None:
        dns = writer.create_warc_record(
            "dns:a.example", "response", payload=io.BytesIO(b"1.2.3.4"), length=7, warc_content_type="text/dns"
        )
        writer.write_record(dns)
        writer.write_record(response(writer, b"<p>hello", url="https://a.example/a b#c"))

    reader = WarcReader(str(foreign(tmp_path / "x.warc.gz", write)))
    assert [page.request.url for page in reader.pages()] == ["https://a.example/a%20b"]
    assert (reader.records, reader.strange) == (2, 1)


def test_an_arc_file_of_the_nineties_is_read(tmp_path: Path) -> None:
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello"
    version = b"1 0 tool\nURL IP-address Archive-date Content-type Archive-length\n"
    head = b"filedesc://x.arc 0.0.0.0 19960923142103 text/plain %d\n" % len(version) + version + b"\n"
    record = b"http://a.example/ 192.0.2.1 19960923142103 text/html %d\n" % len(http) + http + b"\n"
    (tmp_path / "x.arc").write_bytes(head + record)
    (page,) = read(tmp_path / "x.arc")
    assert (page.request.url, page.response.body) == ("http://a.example/", b"<p>hello")
    assert page.response.started == 843488463.0


# -- broken files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.warc.gz", "x.warc"])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.95, 0.999])
def test_of_a_file_that_breaks_off_what_is_whole_is_kept(tmp_path: Path, name: str, share: float) -> None:
    bodies = [bytes([n + 65]) * 1000 for n in range(20)]
    path = written(tmp_path / name, *[archived(body, f"{URL}/{n}") for n, body in enumerate(bodies)])
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])

    reader = WarcReader(str(path))
    found = [page.response.body for page in reader.pages()]

    assert found == bodies[: len(found)]
    assert 20 * share - 3 < len(found) <= 20
    assert "breaks off after" in reader.broken or len(found) == 20


@pytest.mark.parametrize("raw", [b"", b"hello", b"\x1f\x8b\x08garbage", b"<html>" * 1000, bytes(1000)])
def test_what_is_no_warc_file_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(ConfigError, match="is no WARC file"):
        read(tmp_path / "x")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        WarcReader(str(tmp_path / "none.warc.gz"))


def test_garbage_behind_good_records_costs_only_itself(tmp_path: Path) -> None:
    path = written(tmp_path / "x.warc", archived(), archived(b"<p>two", f"{URL}/2"))
    path.write_bytes(path.read_bytes() + b"\x00\xff garbage " * 100)
    reader = WarcReader(str(path))
    assert [page.response.body for page in reader.pages()] == [b"<p>hello", b"<p>two"]
