"""The local Site and the demo hosts, spoken to over real sockets."""

import asyncio
import contextlib
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gossamer.demo.sites import BROKEN_PATH, LOST_PATH, MOVED_PATH, DemoSites
from gossamer.testing import Answer, Hit, Site, graph_site


class Reply:
    """Status, headers and body of one answer, read to the end."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        self.text = self.body.decode("utf-8", "replace")


def ask(
    site: Site,
    path: str,
    method: str = "GET",
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(site.host, site.port, timeout=10)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        return Reply(connection.getresponse())
    finally:
        connection.close()


def converse(site: Site, data: bytes, *, timeout: float = 10) -> bytes:
    """Send raw bytes and read until the site closes."""
    with socket.create_connection((site.host, site.port), timeout=timeout) as sock:
        sock.sendall(data)
        pieces = []
        while piece := sock.recv(65536):
            pieces.append(piece)
        return b"".join(pieces)


def get(path: str, *extra: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *extra, "", ""]).encode()


def eventually(check: Callable[[], bool], seconds: float = 5) -> None:
    """Wait for something the site's own thread is about to do."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


# -- plain answers


def test_a_page_is_html_in_utf8(site: Site) -> None:
    site.page("/", "<h1>grün</h1>", headers={"X-Y": "z"})
    reply = ask(site, "/")
    assert (reply.status, reply.text) == (200, "<h1>grün</h1>")
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert reply.headers["Content-Length"] == str(len(reply.body))
    assert reply.headers["X-Y"] == "z"


def test_headers_and_status_can_be_told(site: Site) -> None:
    site.page("/t", b"\xe9", status=418, headers={"content-type": "text/plain; charset=latin-1"})
    reply = ask(site, "/t")
    assert (reply.status, reply.body) == (418, b"\xe9")
    assert reply.headers.get_all("Content-Type") == ["text/plain; charset=latin-1"]


def test_a_header_can_be_sent_twice_or_kept_out(site: Site) -> None:
    site.page("/c", "x", headers={"Set-Cookie": ("a=1", "b=2"), "Content-Type": ()})
    reply = ask(site, "/c")
    assert reply.headers.get_all("Set-Cookie") == ["a=1", "b=2"]
    assert "Content-Type" not in reply.headers


def test_json_is_json(site: Site) -> None:
    site.json("/api", {"a": [1, "ü"]}, status=201)
    reply = ask(site, "/api")
    assert (reply.status, reply.headers["Content-Type"]) == (201, "application/json")
    assert json.loads(reply.body) == {"a": [1, "ü"]}


def test_a_redirect_says_where(site: Site) -> None:
    site.redirect("/old", "/new", status=308)
    reply = ask(site, "/old")
    assert (reply.status, reply.headers["Location"], reply.body) == (308, "/new", b"")


def test_robots_is_404_until_told(site: Site) -> None:
    assert ask(site, "/robots.txt").status == 404
    site.robots("User-agent: *\nDisallow: /private")
    reply = ask(site, "/robots.txt")
    assert (reply.status, reply.text) == (200, "User-agent: *\nDisallow: /private")
    assert reply.headers["Content-Type"].startswith("text/plain")


def test_204_and_304_have_no_body(site: Site) -> None:
    for status in (204, 304):
        site.page(f"/{status}", "ignored", status=status)
        raw = converse(site, get(f"/{status}", "Connection: close"))
        assert raw.endswith(b"\r\n\r\n")
        assert b"Content-Length" not in raw


def test_head_has_the_length_without_the_body(site: Site) -> None:
    site.page("/", "12345")
    raw = converse(site, b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b"Content-Length: 5\r\n" in raw
    assert raw.endswith(b"\r\n\r\n")


def test_latency_delays_the_answer(site: Site) -> None:
    site.page("/slow", "x", latency=0.15)
    start = time.monotonic()
    ask(site, "/slow")
    assert time.monotonic() - start >= 0.15


# -- which route


def test_query_then_path_then_longest_prefix(site: Site) -> None:
    site.page("/a?b=1", "query")
    site.page("/a", "path")
    site.page("/a*", "short")
    site.page("/a/long*", "long")
    answers = {"/a?b=1": "query", "/a?b=2": "path", "/a": "path", "/a/x": "short", "/a/longer?q": "long"}
    assert {path: ask(site, path).text for path in answers} == answers
    assert ask(site, "/b").status == 404


def test_a_path_told_twice_answers_as_told_last(site: Site) -> None:
    for body in ("one", "two"):
        site.page("/a", body)
        site.page("/p*", body)
    assert ask(site, "/a").text == ask(site, "/px").text == "two"


def test_a_proxy_request_finds_the_path_and_keeps_the_target(site: Site) -> None:
    site.page("/x", "proxied")
    assert ask(site, "http://example.test/x").text == "proxied"
    assert site.hits[0].path == "http://example.test/x"


def test_a_handler_has_full_freedom(site: Site) -> None:
    def echo(hit: Hit) -> Answer:
        return Answer(status=202, body=f"{hit.method} {hit.path} {hit.body.decode()}")

    site.handler("/echo*", echo)
    reply = ask(site, "/echo/1?q", "PUT", b"hello")
    assert (reply.status, reply.text) == (202, "PUT /echo/1?q hello")


def test_a_handler_that_raises_is_a_500_with_its_traceback(site: Site) -> None:
    def broken(hit: Hit) -> Answer:
        raise LookupError("nobody home")

    site.handler("/broken", broken)
    reply = ask(site, "/broken")
    assert reply.status == 500
    assert "nobody home" in reply.text


def test_raw_bytes_go_out_as_they_are(site: Site) -> None:
    site.handler("/raw", lambda hit: Answer(raw=b"SSH-2.0-nope\r\n"))
    assert converse(site, get("/raw")) == b"SSH-2.0-nope\r\n"


# -- the protocol


def test_keep_alive_serves_many_requests_on_one_connection(site: Site) -> None:
    site.page("/", "x")
    connection = http.client.HTTPConnection(site.host, site.port, timeout=10)
    connection.connect()
    first = connection.sock
    for _ in range(5):
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"x"
    assert connection.sock is first
    connection.close()


def test_pipelined_requests_are_answered_in_order(site: Site) -> None:
    site.page("/slow", "first", latency=0.05)
    site.page("/fast", "second")
    site.handler("/stream", lambda hit: Answer(stream=lambda: [b"third"]))
    sent = get("/slow") + get("/fast") + get("/stream") + get("/fast", "Connection: close")
    raw = converse(site, sent)
    assert raw.count(b"HTTP/1.1 200 OK") == 4
    order = [raw.index(word) for word in (b"first", b"second", b"third")]
    assert order == sorted(order)
    assert [hit.path for hit in site.hits] == ["/slow", "/fast", "/stream", "/fast"]


def test_a_request_may_arrive_byte_by_byte(site: Site) -> None:
    site.page("/", "ok")
    data = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
    with socket.create_connection((site.host, site.port), timeout=10) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for position in range(len(data)):
            sock.sendall(data[position : position + 1])
        assert sock.recv(65536).endswith(b"ok")
    assert site.hits[0].body == b"abc"


def test_bodies_are_read_with_a_length_and_in_chunks(site: Site) -> None:
    site.page("/", "ok")
    ask(site, "/", "POST", b"x" * 300_000)
    chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n"
    raw = converse(site, chunked + get("/", "Connection: close"))
    assert raw.count(b"200 OK") == 2
    assert [hit.body for hit in site.hits] == [b"x" * 300_000, b"abcde", b""]


def test_expect_continue_is_encouraged(site: Site) -> None:
    site.page("/", "ok")
    head = b"POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    with socket.create_connection((site.host, site.port), timeout=10) as sock:
        sock.sendall(head)
        assert sock.recv(1024) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"hi")
        assert sock.recv(1024).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    "nonsense",
    [
        b"hello\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
        b"x" * 70_000,
    ],
)
def test_what_is_not_http_is_a_400(site: Site, nonsense: bytes) -> None:
    assert converse(site, nonsense).startswith(b"HTTP/1.1 400 ")


def test_http_1_0_closes_and_streams_without_chunks(site: Site) -> None:
    site.handler("/", lambda hit: Answer(stream=lambda: [b"one", b"", b"two"]))
    raw = converse(site, b"GET / HTTP/1.0\r\n\r\n")
    assert raw.endswith(b"\r\n\r\nonetwo")
    assert b"chunked" not in raw


def test_connection_close_is_heard_from_both_sides(site: Site) -> None:
    site.page("/", "x")
    assert b"Connection: close" in converse(site, get("/", "Connection: close"))
    site.page("/bye", "x", headers={"Connection": "close"})
    assert converse(site, get("/bye")).count(b"Connection: close") == 1


# -- misbehaviour


def test_flaky_fails_and_then_is_fine(site: Site) -> None:
    site.flaky("/x", times=2, status=503, retry_after="1", then="<p>ok</p>")
    replies = [ask(site, "/x") for _ in range(3)]
    assert [reply.status for reply in replies] == [503, 503, 200]
    assert [reply.headers["Retry-After"] for reply in replies] == ["1", "1", None]
    assert replies[2].text == "<p>ok</p>"
    assert [hit.status for hit in site.hits] == [503, 503, 200]


def test_reset_is_a_real_reset(site: Site) -> None:
    site.reset("/r", times=1, then="fine")
    with pytest.raises(ConnectionResetError):
        converse(site, get("/r"))
    assert site.hits[0].status is None
    assert ask(site, "/r").text == "fine"


def test_truncate_promises_more_than_it_sends(site: Site) -> None:
    site.truncate("/t", then="0123456789")
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(site, "/t")
    assert (caught.value.partial, caught.value.expected) == (b"01234", 5)
    assert ask(site, "/t").text == "0123456789"


def test_truncate_of_an_empty_body_still_lacks_something(site: Site) -> None:
    site.truncate("/t", then="")
    with pytest.raises(http.client.IncompleteRead):
        ask(site, "/t")


def test_a_truncated_stream_has_no_last_chunk(site: Site) -> None:
    site.truncate("/t", then=Answer(stream=lambda: [b"abc"]))
    assert converse(site, get("/t")).endswith(b"\r\n\r\n3\r\nabc\r\n")


def test_hang_never_answers_and_sees_the_client_leave(site: Site) -> None:
    site.hang("/h", times=1, then="fine")
    with pytest.raises(TimeoutError):
        converse(site, get("/h"), timeout=0.15)
    eventually(lambda: site.hits[0].ended is not None)
    assert site.hits[0].status is None
    assert ask(site, "/h").text == "fine"


def test_drip_goes_on_until_the_client_leaves(site: Site) -> None:
    site.drip("/d", chunk=b"drop", every=0.01)
    with socket.create_connection((site.host, site.port), timeout=10) as sock:
        sock.sendall(get("/d"))
        seen = b""
        while seen.count(b"4\r\ndrop\r\n") < 5:
            seen += sock.recv(1024)
        assert site.hits[0].ended is None
    eventually(lambda: site.hits[0].ended is not None)


def test_bomb_is_small_on_the_wire(site: Site) -> None:
    site.bomb("/gz", megabytes=8)
    reply = ask(site, "/gz")
    assert reply.headers["Content-Encoding"] == "gzip"
    assert len(reply.body) < 20_000
    assert len(gzip.decompress(reply.body)) == 8 << 20


def test_huge_is_streamed_without_a_length(site: Site) -> None:
    site.huge("/big", megabytes=9)
    reply = ask(site, "/big")
    assert "Content-Length" not in reply.headers
    assert len(reply.body) == 9 << 20


def test_huge_waits_for_a_slow_reader(site: Site) -> None:
    """An unread gigabyte is not buffered: the answer stands still until it is read."""
    given = 0

    def count() -> Iterator[bytes]:
        nonlocal given
        while given < 16_384:
            given += 1
            yield b"x" * 65536

    site.handler("/big", lambda hit: Answer(stream=count))
    site.page("/", "others are served meanwhile")
    with socket.create_connection((site.host, site.port), timeout=10) as sock:
        sock.sendall(get("/big"))
        eventually(lambda: given > 0)
        before = -1
        while before != given:
            before = given
            time.sleep(0.1)
        assert given < 1000
        assert ask(site, "/").status == 200
        sock.recv(8 << 20)
        for _ in range(200):
            sock.recv(1 << 20)
        eventually(lambda: given > before)


def test_a_stream_that_raises_breaks_the_connection(site: Site) -> None:
    def broken() -> Iterator[bytes]:
        yield b"abc"
        raise OSError("disk on fire")

    site.handler("/", lambda hit: Answer(stream=broken))
    with pytest.raises(http.client.IncompleteRead):
        ask(site, "/")


# -- what it remembers


def test_hits_tell_what_was_asked(site: Site) -> None:
    site.page("/", "x", latency=0.05)
    before = time.monotonic()
    ask(site, "/?q=1", "POST", b"body", {"X-Thing": "  yes "})
    (hit,) = site.hits
    assert (hit.method, hit.path, hit.body, hit.status) == ("POST", "/?q=1", b"body", 200)
    assert hit.headers["x-thing"] == "yes"
    assert hit.headers["host"] == site.authority
    assert hit.ended is not None
    assert before <= hit.at < hit.ended <= time.monotonic()
    assert hit.ended - hit.at >= 0.05


def test_paths_count_and_clear_forgets(site: Site) -> None:
    for path in ("/a", "/b", "/a"):
        ask(site, path)
    assert site.paths() == {"/a": 2, "/b": 1}
    assert site.peak == 1
    site.clear()
    assert (site.hits, site.peak) == ([], 0)


def test_peak_is_the_most_at_once(site: Site) -> None:
    site.hang("/h")
    with contextlib.ExitStack() as stack:
        for _ in range(7):
            sock = stack.enter_context(socket.create_connection((site.host, site.port), timeout=10))
            sock.sendall(get("/h"))
        eventually(lambda: site.peak == 7)
    eventually(lambda: all(hit.ended for hit in site.hits))
    ask(site, "/")
    assert site.peak == 7


def test_memory_can_be_switched_off() -> None:
    with Site(remember=False) as site:
        ask(site, "/")
        assert (site.hits, site.peak) == ([], 1)


def test_the_log_has_a_line_per_request_at_once(tmp_path: Path) -> None:
    log = tmp_path / "hits.jsonl"
    with Site(log=log) as site:
        site.reset("/r")
        ask(site, "/a?b")
        with pytest.raises(ConnectionResetError):
            converse(site, get("/r"))
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["path"], line["status"], line["fault"]) for line in lines] == [
        ("/a?b", 404, None),
        ("/r", None, "reset"),
    ]
    assert lines[0]["t"] == site.hits[0].at


# -- life


def test_sites_live_on_other_loopback_addresses() -> None:
    with Site(host="127.0.0.2") as one, Site(host="127.0.0.2") as two:
        one.page("/", "one")
        two.page("/", "two")
        assert urlsplit(one.url("/x")).hostname == "127.0.0.2"
        assert (ask(one, "/").text, ask(two, "/").text) == ("one", "two")


def test_stop_ends_threads_sockets_and_open_requests() -> None:
    before = threading.active_count(), len(os.listdir("/proc/self/fd"))
    with Site() as site:
        site.hang("/h")
        site.drip("/d")
        site.page("/late", "x", latency=60)
        socks = [socket.create_connection((site.host, site.port), timeout=10) for _ in range(4)]
        for sock, path in zip(socks, ("/h", "/d", "/late"), strict=False):
            sock.sendall(get(path))
        eventually(lambda: len(site.hits) == 3)
    for sock in socks:
        while sock.recv(65536):
            pass
        sock.close()
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == before
    assert all(hit.ended for hit in site.hits)
    site.stop()


@pytest.mark.parametrize("round_", range(10))
def test_stop_while_clients_keep_coming(round_: int) -> None:
    """Connections that are just being accepted when the site stops are closed as well."""
    over = threading.Event()

    def knock() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                ask(busy, "/")

    busy = Site()
    threads = [threading.Thread(target=knock) for _ in range(4)]
    with busy:
        for thread in threads:
            thread.start()
        eventually(lambda: len(busy.hits) > 20)
    stopped = time.monotonic()
    over.set()
    for thread in threads:
        thread.join()
    assert time.monotonic() - stopped < 5, "a client waits for an answer nobody will give"


def test_a_site_starts_once_at_a_time_and_again_after_a_stop() -> None:
    site = Site()
    with pytest.raises(RuntimeError, match="no port yet"):
        site.url("/")
    site.page("/", "x")
    with site:
        with pytest.raises(RuntimeError, match="already serving"):
            site.start()
        ask(site, "/")
    with site:
        assert ask(site, "/").text == "x"
    assert len(site.hits) == 2


def test_a_taken_port_is_an_oserror_for_the_caller(site: Site, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="in use"):
        Site(port=site.port, log=tmp_path / "log").start()


def test_it_works_from_asynchronous_code(site: Site) -> None:
    site.page("/", "x" * 100, latency=0.02)

    async def one() -> bytes:
        reader, writer = await asyncio.open_connection(site.host, site.port)
        writer.write(get("/", "Connection: close"))
        data = await reader.read()
        writer.close()
        await writer.wait_closed()
        return data

    async def many() -> list[bytes]:
        return await asyncio.gather(*(one() for _ in range(50)))

    assert all(data.endswith(b"x" * 100) for data in asyncio.run(many()))
    assert site.peak > 1


# -- the generated site


def links(text: str) -> list[str]:
    return re.findall(r'href="([^"]+)"', text)


def crawl(site: Site, start: str, *, tries: int = 1) -> dict[str, Reply | None]:
    """Walk every link of the host, giving each page this many tries."""
    seen: dict[str, Reply | None] = {}
    wave = {start}
    with ThreadPoolExecutor(8) as pool:
        while wave:
            replies = dict(zip(wave, pool.map(lambda path: patient(site, path, tries), wave), strict=True))
            seen |= replies
            wave = {link for reply in replies.values() if reply for link in links(reply.text)} - seen.keys()
    return seen


def patient(site: Site, path: str, tries: int) -> Reply | None:
    for _ in range(tries):
        try:
            reply = ask(site, path)
        except (OSError, http.client.HTTPException):
            continue
        if reply.status not in (429, 503):
            return reply
    return None


def test_every_page_of_the_graph_can_be_reached(site: Site) -> None:
    graph_site(site, 200, links=5)
    seen = crawl(site, "/p/0")
    assert set(seen) == {f"/p/{number}" for number in range(200)}
    reply = seen["/p/7"]
    assert reply is not None
    assert len(links(reply.text)) == 6
    assert {"/p/15", "/p/16", "/p/8"} <= set(links(reply.text))
    assert "<title>Page 7</title>" in reply.text
    assert 2000 < len(reply.body) < 8000
    assert ask(site, "/p/200").status == ask(site, "/p/x").status == 404


def test_the_graph_is_the_same_for_the_same_seed() -> None:
    with Site() as one, Site() as two, Site() as other:
        graph_site(one, 50)
        graph_site(two, 50)
        graph_site(other, 50, seed=2)
        assert ask(one, "/p/3").body == ask(two, "/p/3?x").body != ask(other, "/p/3").body


def test_a_share_of_the_graph_fails_on_its_first_try_only(site: Site) -> None:
    graph_site(site, 300, faults=0.2)
    seen = crawl(site, "/p/0", tries=2)
    assert len(seen) == 300
    assert all(reply is not None and reply.status == 200 for reply in seen.values())
    twice = [path for path, count in site.paths().items() if count == 2]
    assert 30 <= len(twice) <= 90
    firsts = {hit.path: hit.status for hit in reversed(site.hits)}
    assert {firsts[path] for path in twice} == {503, None, 200}


def test_as_a_process_it_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    command = [
        sys.executable,
        "-m",
        "gossamer.testing",
        "--pages",
        "20",
        "--latency-ms",
        "5",
        "--log",
        str(log),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.fullmatch(r"serving http://127\.0\.0\.1:(\d+)/p/0\n", line)
        assert match
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=10)
        connection.request("GET", "/p/19")
        assert b"Page 19" in connection.getresponse().read()
        entry = json.loads(log.read_text())
        assert (entry["path"], entry["status"]) == ("/p/19", 200)
        assert entry["t"] <= time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        connection.close()


# -- the demo hosts


@pytest.fixture(scope="module")
def demo() -> Iterator[DemoSites]:
    with DemoSites() as demo:
        yield demo


def test_three_hosts_on_three_ports(demo: DemoSites) -> None:
    hosts = demo.hosts()
    assert list(hosts) == ["bookshop", "weather", "museum"]
    assert len(set(hosts.values())) == 3


def test_the_bookshop_has_96_books_on_8_pages(demo: DemoSites) -> None:
    assert "Disallow: /admin/" in ask(demo.bookshop, "/robots.txt").text
    seen = crawl(demo.bookshop, "/")
    assert all(reply is not None and reply.status == 200 for reply in seen.values())
    assert sum(path.startswith("/catalogue/") for path in seen) == 8
    books = {path: reply for path, reply in seen.items() if path.startswith("/book/")}
    assert len(books) == 96
    for reply in books.values():
        assert reply is not None
        assert re.search(r'<p class="price">£\d+\.\d\d</p>', reply.text)
        assert re.search(r"<th>UPC</th><td>[0-9a-f]{12}</td>", reply.text)
        assert '<a href="/admin/"' in reply.text
        found = re.search(r'<script type="application/ld\+json">(.+)</script>', reply.text)
        assert found
        assert json.loads(found[1])["offers"]["priceCurrency"] == "GBP"


def test_the_weather_service_has_20_stations_with_readings(demo: DemoSites) -> None:
    assert ask(demo.weather, "/robots.txt").status == 404
    onward, stations = demo.weather.url("/v1/stations?page=1"), []
    while onward:
        page = json.loads(ask(demo.weather, onward).body)
        stations += page["stations"]
        onward = page["next"]
    assert len({station["id"] for station in stations}) == 20
    for station in stations:
        readings = json.loads(ask(demo.weather, station["readings"]).body)["readings"]
        assert len(readings) == 24
        assert all(-30 < reading["temperature_c"] < 30 for reading in readings)
    assert json.loads(ask(demo.weather, "/v1/stations/NOPE").body)["error"] == "not found"


def test_the_museum_is_slow_and_moody() -> None:
    with DemoSites() as demo:
        seen = crawl(demo.museum, "/", tries=2)
        statuses = {path: reply.status for path, reply in seen.items() if reply}
        odd = {path: status for path, status in statuses.items() if status != 200}
        assert odd == {MOVED_PATH: 301, LOST_PATH: 404, BROKEN_PATH: 500}
        exhibits = [reply for path, reply in seen.items() if reply and 'class="artist"' in reply.text]
        assert len(exhibits) == 25
        moody = [hit for hit in demo.museum.hits if hit.status in (429, 503)]
        assert {hit.status for hit in moody} == {429, 503}
        assert len(moody) == len({hit.path for hit in moody}) == 6
        assert all(hit.ended and 0.055 <= hit.ended - hit.at <= 1 for hit in demo.museum.hits)
