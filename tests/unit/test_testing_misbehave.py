"""Every way in which the local Site can misbehave, seen from the other end of the socket."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import math
import re
import socket
import time
from pathlib import Path

import pytest
import wreq

from gossamer.testing import Answer, Site, SiteProcess, graph_site, loopback
from gossamer.testing.bombs import Coding, bomb
from gossamer.testing.traps import Trap
from tests.unit.test_testing_site import Reply, ask, converse, get, links

#: A page of some length, so that half of it is not all of it.
PAGE = "<h1>fine</h1>" * 20


def statuses(site: Site, path: str, count: int) -> list[int]:
    return [ask(site, path).status for _ in range(count)]


# -- statuses


def test_a_storm_rages_over_all_pages_and_passes(site: Site) -> None:
    graph_site(site, 10)
    site.page("/calm", "x")
    site.storm("/p/*", times=3, retry_after="7")
    replies = [ask(site, f"/p/{n}") for n in range(5)]
    assert [reply.status for reply in replies] == [429, 429, 429, 200, 200]
    assert [reply.headers["Retry-After"] for reply in replies] == ["7", "7", "7", None, None]
    assert ask(site, "/calm").status == 200


def test_a_storm_may_last_a_time_and_begins_with_the_first_request(site: Site) -> None:
    site.page("/", "x")
    site.storm(seconds=0.2, status=503)
    time.sleep(0.25)
    assert ask(site, "/").status == 503
    time.sleep(0.25)
    assert ask(site, "/").status == 200


def test_the_storm_told_last_comes_first(site: Site) -> None:
    site.page("/", "x")
    site.storm(times=1, status=500)
    site.storm(times=1, status=429)
    assert statuses(site, "/", 3) == [429, 500, 200]


def test_a_robots_that_cannot_be_read_at_first(site: Site) -> None:
    site.robots_fails(status=500, times=2, then="User-agent: *\nDisallow: /x\n")
    assert statuses(site, "/robots.txt", 2) == [500, 500]
    reply = ask(site, "/robots.txt")
    assert (reply.status, reply.text) == (200, "User-agent: *\nDisallow: /x\n")
    site.robots_fails(times=1)
    assert statuses(site, "/robots.txt", 2) == [503, 404]


# -- connections


def test_a_reset_midway_comes_after_half_the_body(site: Site) -> None:
    site.reset("/r", then=PAGE, midway=True)
    head = f"Content-Length: {len(PAGE)}\r\n".encode()
    with socket.create_connection((site.host, site.port), timeout=10) as sock:
        sock.sendall(get("/r"))
        seen = b""
        while not seen.endswith(PAGE[: len(PAGE) // 2].encode()):
            seen += sock.recv(65536)
        assert head in seen
        with pytest.raises(ConnectionResetError):
            sock.recv(65536)
    assert ask(site, "/r").text == PAGE


def test_garbage_is_no_http(site: Site) -> None:
    site.garbage("/g", times=1, then="fine", data=b"SSH-2.0-nope\r\n")
    assert converse(site, get("/g")) == b"SSH-2.0-nope\r\n"
    assert ask(site, "/g").text == "fine"


# -- slowness


def arrivals(site: Site, path: str) -> tuple[bytes, list[int]]:
    """What came, and how large each piece was."""
    with socket.create_connection((site.host, site.port), timeout=10) as sock:
        sock.sendall(get(path))
        pieces = []
        while piece := sock.recv(65536):
            pieces.append(piece)
    return b"".join(pieces), [len(piece) for piece in pieces]


def test_a_head_that_drips(site: Site) -> None:
    site.slow_head("/s", every=0.002, times=1, then=PAGE)
    seen, sizes = arrivals(site, "/s")
    head = seen.index(b"\r\n\r\n") + 4
    assert seen.endswith(PAGE.encode())
    assert len(sizes) > head / 2
    assert sizes[-1] >= len(PAGE)
    assert ask(site, "/s").text == PAGE


def test_a_body_that_drips(site: Site) -> None:
    site.slow_body("/s", every=0.002, times=1, then="x" * 60)
    seen, sizes = arrivals(site, "/s")
    assert seen.endswith(b"\r\n\r\n" + b"x" * 60)
    assert sizes[0] > 60
    assert len(sizes) > 30


def test_one_slow_answer_does_not_slow_the_others(site: Site) -> None:
    site.slow_head("/s", every=10)
    site.page("/", "x")
    with socket.create_connection((site.host, site.port), timeout=10) as sock:
        sock.sendall(get("/s"))
        assert sock.recv(10) == b"H"
        assert ask(site, "/").text == "x"


# -- sizes


@pytest.mark.parametrize(("coding", "most"), [("gzip", 9_000), ("deflate", 9_000), ("br", 60), ("zstd", 300)])
def test_bombs_of_every_coding_unpack_to_what_was_asked_for(site: Site, coding: Coding, most: int) -> None:
    site.bomb("/b", coding=coding, megabytes=8, times=1, then="fine")

    async def unpacked() -> bytes:
        answer = await wreq.Client(no_proxy=True).get(site.url("/b"))
        return bytes(await answer.bytes())

    assert len(bomb(coding, 8)) < most
    body = asyncio.run(unpacked())
    assert len(body) == 8 << 20
    assert body.count(b" ") == len(body)
    assert ask(site, "/b").text == "fine"


def test_a_bomb_in_layers_is_small_on_the_wire(site: Site) -> None:
    site.bomb("/b", megabytes=20, layers=3)
    reply = ask(site, "/b")
    assert reply.headers["Content-Encoding"] == "gzip, gzip, gzip"
    assert len(reply.body) < 1000
    body = reply.body
    for _ in range(3):
        body = gzip.decompress(body)
    assert len(body) == 20 << 20
    with pytest.raises(ValueError, match="only gzip"):
        site.bomb("/c", coding="br", layers=2)


@pytest.mark.parametrize(
    ("wrong", "told", "sent"),
    [
        ("long", ["110"], b"0123456789"),
        ("short", ["7"], b"0123456789"),
        ("negative", ["-1"], b"0123456789"),
        ("words", ["many"], b"0123456789"),
        ("huge", ["9" * 40], b"0123456789"),
        ("twice", ["10", "110"], b"0123456789"),
        ("chunked", ["110"], b"a\r\n0123456789\r\n0\r\n\r\n"),
    ],
)
def test_lengths_that_are_wrong(site: Site, wrong: str, told: list[str], sent: bytes) -> None:
    site.wrong_length("/l", wrong, times=1, then="0123456789")  # type: ignore[arg-type]
    head, _, body = converse(site, get("/l")).partition(b"\r\n\r\n")
    assert re.findall(r"Content-Length: (\S+)", head.decode()) == told
    assert (b"Transfer-Encoding: chunked" in head) == (wrong == "chunked")
    assert body == sent
    assert ask(site, "/l").text == "0123456789"


@pytest.mark.parametrize("many", [False, True])
def test_headers_that_are_huge(site: Site, many: bool) -> None:
    site.huge_headers("/h", kilobytes=300, many=many, times=1, then=PAGE)
    head, _, body = converse(site, get("/h")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert 300 << 10 <= len(head) <= 310 << 10
    assert (head.count(b"X-Long") > 200) == many
    assert body == PAGE.encode()
    assert ask(site, "/h").text == PAGE


@pytest.mark.parametrize("many", [False, True])
def test_headers_that_never_end(site: Site, many: bool) -> None:
    site.huge_headers("/h", kilobytes=math.inf, many=many)
    with socket.create_connection((site.host, site.port), timeout=10) as sock:
        sock.sendall(get("/h"))
        seen = 0
        while seen < 3 << 20:
            seen += len(sock.recv(1 << 20))


# -- redirects


def follow(site: Site, path: str, most: int = 20) -> tuple[list[str], Reply]:
    """The places a redirect leads to, and the last answer."""
    places: list[str] = []
    reply = ask(site, path)
    while reply.status in (301, 302) and len(places) < most:
        places.append(reply.headers["Location"])
        reply = ask(site, places[-1])
    return places, reply


def test_a_chain_of_redirects_ends_at_the_page(site: Site) -> None:
    site.redirect_chain("/c", hops=3, then="there")
    places, reply = follow(site, "/c")
    assert (places, reply.text) == (["/c?hop=1", "/c?hop=2", "/c?hop=3"], "there")


def test_a_loop_of_redirects_comes_back(site: Site) -> None:
    site.redirect_loop("/l", hops=3)
    assert follow(site, "/l", most=6)[0] == ["/l?hop=1", "/l?hop=2", "/l"] * 2
    site.redirect_loop("/self", hops=1)
    assert follow(site, "/self", most=2)[0] == ["/self", "/self"]


def test_redirects_without_end_never_come_back(site: Site) -> None:
    site.redirect_endless("/e")
    places, _ = follow(site, "/e")
    assert len(set(places)) == 20


# -- what a page claims to be


def test_a_charset_that_is_declared_wrong(site: Site) -> None:
    site.charset("/c", "grün", encoding="windows-1252", declared="utf-8")
    reply = ask(site, "/c")
    assert (reply.body, reply.headers["Content-Type"]) == (b"gr\xfcn", "text/html; charset=utf-8")
    site.charset("/n", "x", declared=None)
    assert ask(site, "/n").headers["Content-Type"] == "text/html"
    site.charset("/u", "x", declared="x-klingon")
    assert ask(site, "/u").headers["Content-Type"] == "text/html; charset=x-klingon"


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("login", 200, 'type="password"'),
        ("captcha", 200, "g-recaptcha"),
        ("challenge", 403, "Just a moment"),
        ("denied", 403, "Access Denied"),
    ],
)
def test_walls_stand_before_the_page_for_a_while(site: Site, kind: str, status: int, words: str) -> None:
    site.wall("/w", kind, times=1, then="behind")  # type: ignore[arg-type]
    reply = ask(site, "/w")
    assert reply.status == status
    assert words in reply.text
    assert ask(site, "/w").text == "behind"
    site.wall("/w", kind, status=429)  # type: ignore[arg-type]
    assert ask(site, "/w").status == 429


@pytest.mark.parametrize("kind", ["calendar", "path", "query", "session"])
def test_a_trap_always_has_more(site: Site, kind: Trap) -> None:
    site.trap("/t/", kind)
    seen, path = {"/t/"}, "/t/"
    for _ in range(30):
        fresh = [link.replace("&amp;", "&") for link in links(ask(site, path).text)]
        path = next(link for link in fresh if link not in seen)
        assert path.startswith("/t/")
        seen.add(path)
    assert len(seen) == 31


def test_a_calendar_goes_both_ways(site: Site) -> None:
    site.trap("/cal", "calendar")
    assert links(ask(site, "/cal?month=2025-12").text) == ["/cal?month=2026-01", "/cal?month=2025-11"]
    assert links(ask(site, "/cal?month=nonsense").text) == ["/cal?month=0000-02"]


# -- what changes


def test_a_versioned_page_is_known_by_its_tag_and_its_date(site: Site) -> None:
    page = site.versioned("/v", ["one", "two"])
    first = ask(site, "/v")
    tag, date = first.headers["ETag"], first.headers["Last-Modified"]
    assert first.text == "one"
    for known in ({"If-None-Match": tag}, {"If-None-Match": f'"x", W/{tag}'}, {"If-Modified-Since": date}):
        reply = ask(site, "/v", headers=known)
        assert (reply.status, reply.body, reply.headers["ETag"]) == (304, b"", tag)
    assert page.unchanged == 3
    page.turn()
    for known in ({"If-None-Match": tag}, {"If-Modified-Since": date}, {"If-Modified-Since": "yesterday"}):
        reply = ask(site, "/v", headers=known)
        assert (reply.status, reply.text) == (200, "two")
        assert reply.headers["ETag"] != tag
    # The tag decides, whatever the date says.
    late = {"If-None-Match": '"x"', "If-Modified-Since": reply.headers["Last-Modified"]}
    assert ask(site, "/v", headers=late).status == 200
    page.turn()
    assert ask(site, "/v").text == "one"


def test_a_versioned_page_may_lack_one_or_both(site: Site) -> None:
    site.versioned("/d", ["x"], etag=False)
    reply = ask(site, "/d")
    assert ("ETag" in reply.headers, "Last-Modified" in reply.headers) == (False, True)
    site.versioned("/n", ["x"], etag=False, modified=False)
    reply = ask(site, "/n", headers={"If-None-Match": "*", "If-Modified-Since": "Tue, 14 Nov 2033 22:13:20 GMT"})
    assert (reply.status, "Last-Modified" in reply.headers) == (200, False)
    with pytest.raises(ValueError, match="at least one"):
        site.versioned("/e", [])


# -- files in parts

DATA = bytes(range(100))


def part(site: Site, asked: str, **more: str) -> Reply:
    return ask(site, "/f", headers={"Range": asked, **{name.replace("_", "-"): value for name, value in more.items()}})


def test_a_file_comes_in_parts(site: Site) -> None:
    file = site.download("/f", DATA)
    whole = ask(site, "/f")
    tag = whole.headers["ETag"]
    assert (whole.status, whole.body, whole.headers["Accept-Ranges"]) == (200, DATA, "bytes")
    for asked, first, last in (("bytes=10-19", 10, 19), ("bytes=90-", 90, 99), ("bytes=-5", 95, 99)):
        reply = part(site, asked, If_Range=tag)
        assert (reply.status, reply.body) == (206, DATA[first : last + 1])
        assert reply.headers["Content-Range"] == f"bytes {first}-{last}/100"
    reply = part(site, "bytes=100-")
    assert (reply.status, reply.headers["Content-Range"]) == (416, "bytes */100")
    file.data = DATA[::-1]
    reply = part(site, "bytes=10-", If_Range=tag)
    assert (reply.status, reply.body) == (200, DATA[::-1])


def test_a_file_breaks_off_where_told(site: Site) -> None:
    site.download("/f", DATA, cut=[30, 20])
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(site, "/f")
    assert (caught.value.partial, caught.value.expected) == (DATA[:30], 70)
    with pytest.raises(http.client.IncompleteRead) as caught:
        part(site, "bytes=30-")
    assert caught.value.partial == DATA[30:50]
    assert part(site, "bytes=50-").body == DATA[50:]


@pytest.mark.parametrize(
    ("ranges", "status", "told", "body"),
    [
        ("none", 200, None, DATA),
        ("shifted", 206, "bytes 49-98/100", DATA[49:99]),
        ("lying", 206, "bytes 50-99/100", DATA[49:99]),
        ("refused", 416, "bytes */100", b""),
    ],
)
def test_ranges_that_are_not_what_was_asked_for(
    site: Site, ranges: str, status: int, told: str | None, body: bytes
) -> None:
    site.download("/f", DATA, ranges=ranges)  # type: ignore[arg-type]
    reply = part(site, "bytes=50-")
    assert (reply.status, reply.headers["Content-Range"], reply.body) == (status, told, body)


# -- cookies


def test_a_page_that_wants_a_cookie_says_where_to_get_it(site: Site) -> None:
    site.needs_cookie("/c", cookie="ticket=7", by="/ticket", then="inside")
    places, _ = follow(site, "/c", most=4)
    assert places == ["/ticket", "/c", "/ticket", "/c"]
    given = ask(site, "/ticket").headers["Set-Cookie"]
    assert given == "ticket=7; Path=/"
    assert ask(site, "/c", headers={"Cookie": "other=1; ticket=7"}).text == "inside"
    assert ask(site, "/c", headers={"Cookie": "ticket=8"}).status == 302


# -- several addresses, and a process of its own


def test_one_site_on_many_addresses() -> None:
    addresses = loopback(250)
    assert (addresses[0], addresses[-1], loopback(1, 300)) == ("127.0.0.2", "127.0.0.251", ["127.0.1.44"])
    with Site(addresses[0], also=addresses[1:]) as site:
        site.handler("/", lambda hit: Answer(body=hit.address))
        urls = site.urls("/")
        assert len(urls) == 250
        for url in (urls[0], urls[-1]):
            name, port = url.split("/")[2].split(":")
            connection = http.client.HTTPConnection(name, int(port), timeout=10)
            connection.request("GET", "/")
            assert connection.getresponse().read().decode() == name
            connection.close()
        assert [hit.address for hit in site.hits] == [addresses[0], addresses[-1]]


def test_a_port_taken_on_another_address_is_not_used(site: Site) -> None:
    with pytest.raises(OSError, match="in use"):
        Site("127.0.0.2", site.port, also=[site.host]).start()


def fill(site: Site) -> None:
    """The site of the process below."""
    site.page("/slow", "x", latency=0.1)
    site.handler("/where", lambda hit: Answer(body=hit.address))


def test_a_process_tells_what_it_saw_and_when() -> None:
    with SiteProcess("tests.unit.test_testing_misbehave:fill", hosts=["127.0.0.1", "127.0.0.9"]) as site:
        before = time.monotonic()
        for host, path in (("127.0.0.1", "/slow"), ("127.0.0.9", "/where"), ("127.0.0.9", "/nowhere")):
            connection = http.client.HTTPConnection(host, site.port, timeout=10)
            connection.request("POST", path)
            connection.getresponse().read()
            connection.close()
        assert site.url("/x", "127.0.0.9") == f"http://127.0.0.9:{site.port}/x"
        hits = site.hits()
    assert [(hit.address, hit.path, hit.status) for hit in hits] == [
        ("127.0.0.1", "/slow", 200),
        ("127.0.0.9", "/where", 200),
        ("127.0.0.9", "/nowhere", 404),
    ]
    assert {hit.method for hit in hits} == {"POST"}
    assert before <= hits[0].at
    assert hits[0].ended is not None
    assert 0.1 <= hits[0].ended - hits[0].at < 5
    assert hits[0].ended <= hits[1].at
    assert site.hits() == []


def test_the_log_of_a_process_can_be_kept(tmp_path: Path) -> None:
    with SiteProcess(pages=3, log=tmp_path / "log") as site:
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
        connection.request("GET", "/p/2")
        connection.getresponse().read()
        connection.close()
    assert [hit.path for hit in site.hits()] == ["/p/2"]


def test_a_process_that_cannot_start_says_so() -> None:
    with pytest.raises(RuntimeError, match="did not start"):
        SiteProcess("tests.unit.test_testing_misbehave:no_such_function").start()
