"""Bodies in whole runs: JSON, XML and bytes, large ones kept in files, and every cap with a reason of its own."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from gossamer import Page, Request, Scraper
from gossamer.testing import Answer, Site
from tests.walk import asked, crawl, fates, links, records, run, why

MB = 1 << 20
XML = {"Content-Type": "application/xml"}


def reader(site: Site, read: Any, *paths: str, **attributes: Any) -> type[Scraper]:
    """A scraper that gives what `read` finds on some paths of the site."""

    def parse(self: Scraper, page: Page) -> Any:
        yield {"path": page.url.removeprefix(site.url("")), "read": read(page)}

    starts = [site.url(path) for path in paths or ("/",)]
    return type("Bodies", (Scraper,), {"start_urls": starts, "parse": parse, **attributes})


def found() -> dict[str, Any]:
    """Path -> what was read there."""
    return {record["path"]: record["read"] for record in records()}


def memory() -> int:
    """The most memory this process ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


# -- kinds -----------------------------------------------------------------------------------------------------


def test_json_is_read_as_it_is_written(site: Site) -> None:
    site.json("/", {"name": "ü", "prices": [1.5, None, True]})
    site.page("/bom", b"\xef\xbb\xbf[1]", headers={"Content-Type": "application/json"})
    run(reader(site, lambda page: [page.kind, page.json()], "/", "/bom"))
    assert found() == {"/": ["json", {"name": "ü", "prices": [1.5, None, True]}], "/bom": ["json", [1]]}


def test_json_that_is_none_fails_its_page_by_name(site: Site) -> None:
    site.page("/", "<p>sorry</p>", headers={"Content-Type": "application/json"})
    assert run(reader(site, lambda page: page.json())).by_reason == {"handler": 1}
    assert "the body is not JSON" in why(site.url("/"))


def test_xml_is_read_as_a_tree_without_entities(site: Site) -> None:
    text = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r xmlns:a="urn:a"><a:n>ü</a:n><m>&x;</m></r>'
    site.page("/", f'<?xml version="1.0" encoding="utf-8"?>{text}', headers=XML)
    site.page("/latin", '<?xml version="1.0" encoding="iso-8859-1"?><r><m>ü</m></r>'.encode("latin-1"), headers=XML)
    run(reader(site, lambda page: [each.text for each in page.xml.iter("{urn:a}n", "m")], "/", "/latin"))
    assert found() == {"/": ["ü", None], "/latin": ["ü"]}


def test_xml_that_is_none_fails_its_page_by_name(site: Site) -> None:
    site.page("/", "<r><a></r>", headers={"Content-Type": "application/xml"})
    assert run(reader(site, lambda page: page.xml.tag)).by_reason == {"handler": 1}
    assert "the body is not XML" in why(site.url("/"))


def test_bytes_arrive_as_they_are(site: Site) -> None:
    data = bytes(range(256)) * 40
    site.page("/", data, headers={"Content-Type": "application/octet-stream"})
    site.page("/packed", gzip.compress(data), headers={"Content-Encoding": "gzip"})
    run(reader(site, lambda page: [len(page.body), page.sha256], "/", "/packed"))
    assert found() == {path: [len(data), hashlib.sha256(data).hexdigest()] for path in ("/", "/packed")}


@pytest.mark.parametrize(
    ("body", "told", "kind"),
    [
        (b"%PDF-1.7 ...", "application/octet-stream", "pdf"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "", "image"),
        (b"<!doctype html><title>x</title>", "", "html"),
        (b'{"a": 1}', "", "json"),
        (b"<?xml version='1.0'?><rss version='2.0'><channel/></rss>", "text/xml", "feed"),
        (b"just words", "text/plain", "text"),
    ],
    ids=["pdf", "image", "html", "json", "feed", "text"],
)
def test_what_a_body_is_is_seen_in_it(site: Site, body: bytes, told: str, kind: str) -> None:
    site.page("/", body, headers={"Content-Type": told} if told else {"Content-Type": ()})
    run(reader(site, lambda page: page.kind))
    assert found() == {"/": kind}


# -- large bodies ----------------------------------------------------------------------------------------------


def test_a_large_body_is_read_from_its_file_and_the_file_goes_when_it_was_read(site: Site) -> None:
    rows = [{"n": n} for n in range(150_000)]
    site.json("/", rows)

    def read(page: Page) -> Any:
        assert page.file is not None
        size = page.file.stat().st_size
        return [str(page.file), size == len(page.body), page.json() == rows, page.response.body.decode()]

    run(reader(site, read, spool_above="1MB"))
    file, *rest = found()["/"]
    assert rest == [True, True, ""]
    assert not Path(file).exists()
    assert not Path(file).parent.exists()


def test_a_small_body_has_no_file(site: Site) -> None:
    site.page("/", b"x" * 1000)
    run(reader(site, lambda page: page.file is None, spool_above="1000"))
    assert found() == {"/": True}


@pytest.mark.parametrize("packed", [False, True])
def test_large_pages_are_pages_like_others(site: Site, packed: bool) -> None:
    """Links, relative to a base, are found in a body that is in a file; its digest is the body's."""
    body = (
        '<base href="/below/"><title>big</title>' + links("x") + "<!--" + random.Random(1).randbytes(MB).hex() + "-->"
    ).encode()
    headers = {"Content-Encoding": "gzip"} if packed else {}
    site.page("/", gzip.compress(body) if packed else body, headers=headers)
    site.page("/below/x", "<p>x</p>")
    report = crawl(site.url("/"), spool_above="1MB")
    assert report.pages == 2
    assert (
        next(record for record in records() if record["title"] == "big")["sha256"] == hashlib.sha256(body).hexdigest()
    )


@pytest.mark.parametrize("revisit", ["always", "changed"])
def test_a_handler_need_not_look_at_a_large_body(site: Site, revisit: str) -> None:
    """What it leads to is found without the file, which is gone by then."""
    site.page("/", links("/a") + "y" * (3 * MB // 2))
    site.page("/a", "<p>a</p>")

    def parse(self: Scraper, page: Page) -> Any:
        yield {"path": page.url.removeprefix(site.url("")), "read": page.status}
        yield Request("/a")

    report = run(reader(site, None, parse=parse, spool_above="1MB", revisit=revisit))
    assert (report.pages, report.reason) == (2, "done")
    assert found() == {"/": 200, "/a": 200}


def test_large_bodies_that_nobody_reads_leave_no_files(site: Site) -> None:
    """An unchanged page, a refusal, a redirect, a wall: each may come with megabytes."""
    spooled: list[list[str]] = []
    big = b"z" * (3 * MB // 2)

    def parse(self: Scraper, page: Page) -> Any:
        if page.file is not None:
            spooled.append(sorted(each.name for each in page.file.parent.iterdir()))
        yield {"path": page.url}

    site.page("/same", big)
    site.page("/refused", big, status=404)
    site.page("/moved", big, status=302, headers={"Location": "/same"})
    site.page("/denied", b"<title>Just a moment...</title>" + big, status=403)
    made = reader(
        site, None, "/same", "/refused", "/moved", "/denied", parse=parse, spool_above="1MB", revisit="changed"
    )
    run(made, retries=0, concurrency=1)
    site.page("/last", big)
    made.start_urls = [*made.start_urls, site.url("/last")]
    report = run(made, retries=0, concurrency=1)
    assert report.by_reason["unchanged"] == 1
    # The last page sees the folder: its own file, the lock, and nothing that the others left.
    assert [len(names) for names in spooled] == [2, 2]


def test_a_large_page_made_to_hurt_is_found_out_in_its_file_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.engine.PARSE_LIMIT", 1.0)
    site.page("/", "<p>home</p>" + links("/deep", "/fine"))
    site.page("/deep", b"<div>" * 400_000)
    site.page("/fine", "<p>x</p>")
    started = time.monotonic()
    report = crawl(site.url("/"), spool_above="1MB")
    assert fates(site)["/deep"] == "failed markup"
    assert (report.pages, report.reason) == (2, "done")
    assert time.monotonic() - started < 25


def test_memory_stays_small_however_large_a_body_is(site: Site) -> None:
    block = b"a,b,c\n" * (MB // 6) + b"d,e\n"
    site.handler("/", lambda hit: Answer(stream=lambda: iter([block] * 150), headers={"Content-Type": "text/csv"}))
    before = memory()

    def parse(self: Scraper, page: Page) -> Any:
        assert page.file is not None
        with page.file.open("rb") as file:
            yield {"path": "/", "read": [page.file.stat().st_size, file.read(6).decode(), page.kind]}
        yield Request(site.url("/next"))

    run(reader(site, None, parse=parse, max_body="200MB"))
    assert found()["/"] == [150 * MB, "a,b,c\n", "text"]
    assert memory() - before < 60 * MB


def test_a_body_that_cannot_be_kept_fails_its_page(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.page("/", b"x" * (3 * MB // 2))
    site.page("/a", "<p>x</p>")
    monkeypatch.setattr("tempfile.mkstemp", _full)
    report = run(reader(site, lambda page: len(page.body), "/", "/a", spool_above="1MB"), retries=0)
    assert report.by_reason == {"ok": 1, "fetch": 1}
    assert "No space left on device" in why(site.url("/"))


def _full(*args: Any, **kwargs: Any) -> Any:
    raise OSError(28, "No space left on device")


# -- caps, each with its own reason ----------------------------------------------------------------------------


def test_every_cap_has_its_own_reason(site: Site) -> None:
    site.page("/known", b"x" * (2 * MB))
    site.huge("/unknown", megabytes=5)
    site.huge_headers("/line", kilobytes=100)
    site.huge_headers("/lines", kilobytes=100, many=True)
    site.bomb("/gzip", megabytes=100)
    site.bomb("/brotli", megabytes=100, coding="br")
    site.bomb("/zstd", megabytes=100, coding="zstd")
    site.redirect_endless("/endless")
    site.redirect_loop("/loop")
    site.hang("/hang")
    site.slow_head("/slow-head", every=0.1)
    site.drip("/drip", every=0.05)
    paths = [path for path in _CAPS if "?" not in path]
    report = run(
        reader(site, lambda page: "read", *paths, max_body="1MB", max_redirects=3, breaker_failures="none"),
        retries=0,
        first_byte="600ms",
        timeout="1500ms",
        per_host=20,
    )
    ended = {path: fate for path, fate in fates(site).items() if path in _CAPS}
    assert ended == {path: fate for path, (fate, _) in _CAPS.items()}
    assert report.pages == 0
    for path, (_, told) in _CAPS.items():
        assert told in why(site.url(path)), path


_CAPS = {
    "/known": ("failed too_large", "2,097,152 bytes, more than max_body allows (1,048,576)"),
    "/unknown": ("failed too_large", "its body is too large (max_body)"),
    "/line": ("failed headers", "its headers are too large (max_headers)"),
    "/lines": ("failed headers", "more than max_headers allows"),
    "/gzip": ("failed bomb", "unpacks to far more than it seems (max_ratio)"),
    "/brotli": ("failed bomb", "bomb"),
    "/zstd": ("failed bomb", "bomb"),
    "/endless": ("done redirect", "it redirects to"),
    "/endless?hop=3": ("failed redirects", "more than 3 redirects"),
    "/loop": ("done redirect", "it redirects to"),
    "/hang": ("failed first_byte", "no answer began in time (first_byte)"),
    "/slow-head": ("failed first_byte", "no answer began in time (first_byte)"),
    "/drip": ("failed timeout", "no complete answer came in time (timeout)"),
}


def test_what_is_too_large_once_is_not_asked_for_again(site: Site) -> None:
    site.page("/", links("/big", "/bomb", "/headers"))
    site.page("/big", b"x" * (2 * MB))
    site.bomb("/bomb", megabytes=50)
    site.huge_headers("/headers", kilobytes=100)
    report = crawl(site.url("/"), max_body="1MB")
    assert (report.failed, report.retried) == (3, 0)
    assert {site.paths()[path] for path in ("/big", "/bomb", "/headers")} == {1}


def test_what_came_too_late_is_asked_for_again(site: Site) -> None:
    site.hang("/", times=1, then="<p>ok</p>")
    report = run(reader(site, lambda page: "read"), first_byte="300ms")
    assert (report.pages, report.retried) == (1, 1)
    assert "first_byte (status -)" in why(site.url("/"))


def test_a_slow_body_in_good_time_is_read(site: Site) -> None:
    """The first byte has its own clock: a body may take longer, up to the timeout."""
    site.slow_body("/", every=0.1, then="<p>slow</p>")
    run(reader(site, lambda page: page.text), first_byte="500ms", timeout="10s")
    assert found() == {"/": "<p>slow</p>"}


def test_an_honest_body_that_packs_well_is_no_bomb(site: Site) -> None:
    rows = json.dumps([{"n": n, "text": "the same again"} for n in range(30_000)]).encode()
    site.page("/", gzip.compress(rows), headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})
    run(reader(site, lambda page: len(page.json())))
    assert found() == {"/": 30_000}


def test_media_types_that_nobody_reads_cost_no_body(site: Site) -> None:
    site.page("/", links("/film"))
    site.handler(
        "/film", lambda hit: Answer(stream=lambda: iter([b"x" * MB] * 30), headers={"Content-Type": "video/mp4"})
    )
    report = crawl(site.url("/"))
    assert (fates(site)["/film"], len(asked(site, "/film"))) == ("skipped content_type", 1)
    assert report.bytes < MB
