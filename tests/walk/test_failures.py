"""A site that misbehaves costs its own pages, bounded time, bounded memory, and nothing else."""

from __future__ import annotations

import math
import resource
import time

import pytest

from gossamer.fetch import retry
from gossamer.testing import Answer, Site
from tests.walk import crawl, fates, links, records, why

BIG = "<p>" + "x" * 50_000 + "</p>"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries that fail are followed by others at once."""
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.02)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 521])
def test_trouble_that_may_pass_is_tried_again(site: Site, status: int) -> None:
    site.flaky("/", times=2, status=status)
    report = crawl(site.url("/"))
    assert (report.pages, report.retried, report.failed) == (1, 2, 0)
    assert site.paths()["/"] == 3
    assert why(site.url("/")).count(f"http_{status}") == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 501, 505])
def test_a_plain_no_is_never_asked_again(site: Site, status: int) -> None:
    site.page("/", links("/x"))
    site.page("/x", "no", status=status)
    report = crawl(site.url("/"))
    assert (report.pages, report.failed, report.retried) == (1, 1, 0)
    assert report.by_reason == {"ok": 1, f"http_{status}": 1}
    assert site.paths()["/x"] == 1


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_trouble_for_good_ends_as_failed(site: Site, retries: int) -> None:
    site.page("/", links("/bad"))
    site.flaky("/bad", times=math.inf, status=500)
    report = crawl(site.url("/"), retries=retries)
    assert (report.status, report.pages, report.failed, report.retried) == ("finished", 1, 1, retries)
    assert site.paths()["/bad"] == retries + 1
    tries = "1 try" if retries == 0 else f"{retries + 1} tries"
    assert f"failed after {tries}: http_500" in why(site.url("/bad"))


@pytest.mark.parametrize("fault", ["reset", "truncate"])
def test_a_broken_connection_is_tried_again(site: Site, fault: str) -> None:
    site.page("/", links("/bad"))
    getattr(site, fault)("/bad", times=2, then=BIG)
    report = crawl(site.url("/"))
    assert report.pages == 2
    assert report.retried == 2
    assert site.paths()["/bad"] == 3
    assert records()[1]["text_length"] == 50_000


@pytest.mark.parametrize("fault", ["reset", "truncate"])
def test_a_connection_that_always_breaks_ends_as_failed(site: Site, fault: str) -> None:
    site.page("/", links("/bad"))
    getattr(site, fault)("/bad", times=math.inf, then=BIG)
    assert crawl(site.url("/"), retries=1).failed == 1
    assert fates(site)["/bad"] == "failed broken"


def test_a_truncated_stream_is_not_taken_for_a_page(site: Site) -> None:
    site.page("/", links("/bad"))
    site.handler("/bad", lambda hit: Answer(stream=lambda: iter([b"<p>half"]), fault="truncate"))
    crawl(site.url("/"), retries=0)
    assert fates(site)["/bad"] == "failed broken"


def test_nobody_there(site: Site, store: str) -> None:
    with Site() as gone:
        url = gone.url("/")
    report = crawl(url, retries=1)
    assert (report.reason, report.exit_code) == ("start_failed", 3)
    assert "no connection" in why(url)


def test_a_hang_ends_at_the_timeout_and_is_tried_again(site: Site) -> None:
    site.hang("/", times=1)
    started = time.monotonic()
    report = crawl(site.url("/"), timeout=0.4)
    assert (report.pages, report.retried) == (1, 1)
    assert 0.4 <= time.monotonic() - started < 5
    assert "no complete answer within 0.4 s" in why(site.url("/")) or "timeout" in why(site.url("/"))


def test_an_endless_drip_ends_at_the_timeout(site: Site) -> None:
    """Bytes keep coming, so no single read ever takes long: the time for the whole is what counts."""
    site.page("/", links("/drip"))
    site.drip("/drip", every=0.02)
    started = time.monotonic()
    crawl(site.url("/"), timeout=0.5, retries=0)
    assert fates(site)["/drip"] == "failed timeout"
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("kind", ["known", "huge", "bomb"])
def test_a_body_over_the_cap_is_cut_off_and_never_tried_again(site: Site, kind: str) -> None:
    site.page("/", links("/big"))
    if kind == "known":
        site.page("/big", b"x" * (2 << 20))
    else:
        getattr(site, kind)("/big", megabytes=200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = crawl(site.url("/"), max_body="1MB")
    assert fates(site)["/big"] == ("failed bomb" if kind == "bomb" else "failed too_large")
    assert (report.retried, site.paths()["/big"]) == (0, 1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60 << 10


def test_a_body_just_within_the_cap_is_read(site: Site) -> None:
    site.page("/", "<p>" + "x" * ((1 << 20) - 3))
    assert crawl(site.url("/"), max_body="1MB").pages == 1


def test_media_that_is_no_page_is_not_read(site: Site) -> None:
    blocks = 0

    def video() -> object:
        nonlocal blocks
        while blocks < 1000:
            blocks += 1
            yield b" " * 65536

    site.page("/", links("/v.mp4", "/small.png", "/none"))
    site.handler("/v.mp4", lambda hit: Answer(stream=video, headers={"Content-Type": "video/mp4"}))
    site.page("/small.png", b"png", headers={"Content-Type": "image/png"})
    site.page("/none", "<p>a page whose type nobody told</p>", headers={"Content-Type": ()})
    report = crawl(site.url("/"))
    assert (report.pages, report.skipped, report.by_reason["content_type"]) == (2, 2, 2)
    assert blocks < 500  # the client hung up long before the end
    assert "video/mp4" in why(site.url("/v.mp4"))


def test_answers_that_are_not_http_fail_only_their_page(site: Site) -> None:
    rubbish = [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", b"\x00" * 100]
    site.page("/", links("/fine", *[f"/bad/{n}" for n in range(len(rubbish))]))
    site.page("/fine", "<p>fine</p>")
    for n, raw in enumerate(rubbish):
        site.handler(f"/bad/{n}", lambda hit, raw=raw: Answer(raw=raw))
    report = crawl(site.url("/"), retries=0)
    assert (report.pages, report.failed) == (2, len(rubbish))


def test_a_page_that_says_one_encoding_and_means_another_is_still_a_page(site: Site) -> None:
    site.page("/", b"<title>caf\xe9</title>", headers={"Content-Type": "text/html; charset=no-such-thing"})
    assert crawl(site.url("/")).pages == 1


def test_an_empty_page_is_a_page(site: Site) -> None:
    site.page("/", "")
    crawl(site.url("/"))
    (page,) = records()
    assert (page["title"], page["headings"], page["links"], page["text_length"]) == (None, [], [], 0)


def test_counts_agree_with_what_the_site_saw(site: Site) -> None:
    site.page("/", links("/ok", "/gone", "/flaky", "/away", "http://elsewhere.example/"))
    site.page("/ok", "<p>ok</p>")
    site.flaky("/flaky", times=1, status=500)
    site.redirect("/away", "/ok")
    report = crawl(site.url("/"))
    assert (report.pages, report.failed, report.skipped, report.retried) == (3, 1, 1, 1)
    assert report.by_reason == {"ok": 3, "http_404": 1, "redirect": 1, "scope": 1}
    assert report.items == 3
