"""One Request, one Response or a FetchError: pages shown by a real browser."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import resource
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from gossamer.errors import (
    AddressRefused,
    Broken,
    ConnectFailed,
    FetchError,
    HeadersTooLarge,
    ProxyFailed,
    RenderFailed,
    TimedOut,
    TlsFailed,
    TooLarge,
    Unsendable,
)
from gossamer.fetch import browser, keeper, rendering
from gossamer.fetch.addresses import Addresses
from gossamer.testing import Answer, Site
from gossamer.values import Request
from tests.render.conftest import AGENT, Renderer
from tests.servers import HttpProxy, Socks5Proxy, TlsFront, dead_port

JAVASCRIPT = {"Content-Type": "text/javascript"}


def at_home(*sites: Site) -> Addresses:
    """The rules of a run that was started at these sites: no other private address."""
    addresses = Addresses()
    for site in sites:
        addresses.allow(site.authority)
    return addresses


# -- what comes back ---------------------------------------------------------------------------------------------


def test_the_body_is_what_scripts_made_of_the_page(renderer: Renderer, site: Site) -> None:
    site.page(
        "/", "<title>t</title><div id=a></div><script src=/s.js></script>", status=203, headers={"X-Two": ("a", "b")}
    )
    site.page("/s.js", "fetch('/data').then(r => r.text()).then(t => document.all.a.append(t))", headers=JAVASCRIPT)
    site.page("/data", "grüße", latency=0.1)
    before = time.time()
    response = renderer.fetch(site.url("/"))
    assert '<div id="a">grüße</div>' in response.body.decode()
    assert (response.url, response.status, response.remote) == (site.url("/"), 203, "127.0.0.1")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers.getall("x-two") == ["a", "b"]
    assert not {"content-length", "connection"} & set(response.headers)
    assert before <= response.started <= time.time()
    assert 0.1 <= response.elapsed < 20


def test_a_page_is_asked_for_as_its_way_says(renderer: Renderer, site: Site) -> None:
    """Our name goes with everything; secrets and headers with the page alone, cookies with its host."""
    site.page("/", "<script src=/s.js></script>")
    site.page("/s.js", "", headers=JAVASCRIPT)
    headers = {"cookie": "a=1; __Host-b=2", "x-mine": "m", "x-api-key": "k"}
    renderer.fetch(site.url("/"), headers=headers)
    page, script = site.hits
    assert {hit.headers["user-agent"] for hit in (page, script)} == {AGENT}
    assert (page.headers["x-mine"], page.headers["x-api-key"]) == ("m", "k")
    assert not {"x-mine", "x-api-key"} & set(script.headers)
    assert "a=1" in page.headers["cookie"]
    assert "a=1" in script.headers["cookie"]
    assert "proxy-authorization" not in page.headers


def test_secrets_of_the_scraper_stay_at_home(renderer: Renderer, site: Site) -> None:
    site.page("/", "")
    own = {"Authorization": "Bearer secret", "X-Mine": "m"}
    for trusted in (False, True):
        renderer.fetch(site.url("/"), own_headers=own, trusted=trusted)
    assert [hit.headers.get("authorization") for hit in site.hits] == [None, "Bearer secret"]
    assert [hit.headers.get("x-mine") for hit in site.hits] == ["m", "m"]


def test_a_login_goes_to_its_origin_alone(renderer: Renderer, site: Site) -> None:
    def closed(hit: Any) -> Answer:
        known = hit.headers.get("authorization") == "Basic YW5uOnMzY3JldA=="
        return Answer(status=200 if known else 401, headers={"WWW-Authenticate": "Basic realm=x"}, body="<p>in</p>")

    with Site() as other:
        site.handler("/data", closed)
        other.handler("/data", closed)
        site.page("/", f"<script>fetch('/data'); fetch('{other.url('/data')}', {{mode: 'no-cors'}})</script>")
        renderer.fetch(site.url("/"), headers={"authorization": "Basic YW5uOnMzY3JldA=="})
        assert {hit.headers.get("authorization") for hit in other.hits} == {None}
    assert [hit.status for hit in site.hits if hit.path == "/data"][-1] == 200


def test_cookies_come_back_however_they_were_set(renderer: Renderer, site: Site) -> None:
    cookies = ("a=1; Max-Age=1000; HttpOnly", "gone=; Max-Age=0")
    site.page("/", "<script>document.cookie = 'b=2; path=/'</script>", headers={"Set-Cookie": cookies})
    lines = renderer.fetch(site.url("/"), headers={"cookie": "old=0; gone=1"}).headers.getall("set-cookie")
    by_name = {line.partition("=")[0]: line for line in lines}
    assert set(by_name) == {"a", "b", "gone"}
    assert "HttpOnly" in by_name["a"]
    assert "Expires=" in by_name["a"]
    assert "Max-Age=0" in by_name["gone"]


def test_two_pages_share_no_cookies(renderer: Renderer, site: Site) -> None:
    site.page("/", "", headers={"Set-Cookie": "a=1"})
    renderer.fetch(site.url("/"))
    renderer.fetch(site.url("/"))
    assert all("cookie" not in hit.headers for hit in site.hits)


def test_a_form_is_posted(renderer: Renderer, site: Site) -> None:
    site.page("/", "<p>ok</p>")
    renderer.fetch(Request(site.url("/"), data={"q": "ä"}))
    hit = site.hits[0]
    assert (hit.method, hit.body) == ("POST", b"q=%C3%A4")
    assert hit.headers["content-type"] == "application/x-www-form-urlencoded"


def test_a_redirect_goes_back_to_the_engine(renderer: Renderer, site: Site) -> None:
    statuses = [301, 302, 303, 307, 308]
    for status in statuses:
        headers = {"Location": "/next", "Set-Cookie": "s=1"}
        site.handler(f"/{status}", lambda hit, s=status, h=headers: Answer(status=s, headers=h))  # type: ignore[misc]
    responses = renderer.fetch_all(*(site.url(f"/{status}") for status in statuses))
    assert [response.status for response in responses] == statuses
    assert {(response.headers["location"], response.body) for response in responses} == {("/next", b"")}
    assert all(response.headers.getall("set-cookie")[0].startswith("s=1") for response in responses)
    assert "/next" not in site.paths()


def test_an_unchanged_page_is_an_answer(renderer: Renderer, site: Site) -> None:
    site.page("/", "", status=304)
    response = renderer.fetch(site.url("/"), headers={"if-none-match": '"x"'})
    assert (response.status, response.body) == (304, b"")
    assert site.hits[0].headers["if-none-match"] == '"x"'


def test_what_is_no_page_comes_as_it_is(renderer: Renderer, site: Site) -> None:
    site.json("/data", {"a": 1})
    blob = bytes(range(256)) * 4000
    site.page("/file", gzip.compress(blob), headers={"Content-Type": "application/zip", "Content-Encoding": "gzip"})
    site.page("/attached", "<p>x</p>", headers={"Content-Disposition": "attachment; filename=x.html"})
    assert renderer.fetch(site.url("/data")).body == b'{"a": 1}'
    response = renderer.fetch(site.url("/file"))
    assert (response.body, response.content_type) == (blob, "application/zip")
    assert renderer.fetch(site.url("/attached")).body == b"<p>x</p>"
    assert renderer.fetch(site.url("/file"), content_types=["text/html"]).unread
    with pytest.raises(TooLarge, match="1,000"):
        renderer.fetch(site.url("/file"), max_body=1000)
    assert renderer.fetch(site.url("/file"), max_body=1000, part=True).body == blob[:1000]


def test_a_page_is_measured_before_it_is_read(renderer: Renderer, site: Site) -> None:
    site.page("/", "<p></p><script>document.querySelector('p').append('ä'.repeat(60_000))</script>")
    for most in (50_000, 100_000):
        with pytest.raises(TooLarge, match=f"{most:,}"):
            renderer.fetch(site.url("/"), max_body=most)
    assert len(renderer.fetch(site.url("/"), max_body=200_000).body) > 120_000


def test_a_page_cannot_lie_about_what_it_is(renderer: Renderer, site: Site) -> None:
    lies = "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'x'.repeat(1e8)})"
    site.page("/", f"<p>true</p><script>{lies}; String.prototype.slice = () => 'lie'</script>")
    assert b"<p>true</p>" in renderer.fetch(site.url("/")).body


# -- waiting -----------------------------------------------------------------------------------------------------


def test_a_page_is_complete_when_it_shows_what_is_waited_for(renderer: Renderer, site: Site) -> None:
    late = "setTimeout(() => document.body.append(Object.assign(document.createElement('b'), {id: 'late'})), 900)"
    site.page("/", f"<script>{late}</script>")
    assert b'<b id="late">' in renderer.fetch(site.url("/"), wait_for="#late").body
    assert b'<b id="late">' in renderer.fetch(Request(site.url("/"), wait_for="b"), wait_for="#other").body


def test_what_never_shows_is_said(renderer: Renderer, site: Site) -> None:
    site.page("/", "<p>x</p>")
    with pytest.raises(RenderFailed, match=r"wait_for = '#never' within 2 s"):
        renderer.fetch(site.url("/"), wait_for="#never", timeout=2)
    with pytest.raises(Unsendable, match=r"wait_for = 'p\[\[' is no CSS selector"):
        renderer.fetch(site.url("/"), wait_for="p[[", timeout=2)


def test_what_hangs_in_a_page_does_not_hang_the_page(renderer: Renderer, site: Site) -> None:
    site.page("/", "<p>x</p><img src=/hang>")
    site.hang("/hang")
    assert b"<p>x</p>" in renderer.fetch(site.url("/"), render_block=[], timeout=4).body


# -- what a page may load ----------------------------------------------------------------------------------------


def test_media_are_not_loaded_unless_asked_for(renderer: Renderer, site: Site) -> None:
    site.page("/", "<img src=/i.png><video src=/v.mp4></video><link rel=stylesheet href=/c.css>")
    site.page("/c.css", "", headers={"Content-Type": "text/css"})
    renderer.fetch(site.url("/"))
    assert site.paths() == {"/": 1, "/c.css": 1}
    site.clear()
    renderer.fetch(site.url("/"), render_block=["stylesheet"])
    assert set(site.paths()) == {"/", "/i.png", "/v.mp4"}


ELSEWHERE = [
    "<script>location.href = '/next'</script>",
    "<script>onload = () => setTimeout(() => location.replace('/next'), 100)</script>",
    "<meta http-equiv=refresh content='0; url=/next'>",
    "<form action=/next></form><script>document.forms[0].submit()</script>",
    "<script>open('/next'); open('/next', '_blank')</script>",
    "<a href=/next target=_blank></a><script>document.links[0].click()</script>",
]


def test_a_page_that_leads_elsewhere_stays_as_it_is(renderer: Renderer, site: Site) -> None:
    for number, go in enumerate(ELSEWHERE):
        site.page(f"/{number}", f"<p>here</p>{go}")
    site.page("/next", "<p>there</p>")
    responses = renderer.fetch_all(*(site.url(f"/{number}") for number in range(len(ELSEWHERE))))
    assert all(b"<p>here</p>" in response.body for response in responses)
    assert site.paths() == {f"/{number}": 1 for number in range(len(ELSEWHERE))}


def test_a_page_may_load_itself_again(renderer: Renderer, site: Site) -> None:
    """As walls do, which set a cookie first; but not for ever."""

    def wall(hit: Any) -> Answer:
        if "pass=1" in hit.headers.get("cookie", ""):
            return Answer(body="<p>in</p>")
        return Answer(status=403, body="<script>document.cookie = 'pass=1'; location.reload()</script>")

    site.handler("/", wall)
    response = renderer.fetch(site.url("/"), wait_for="p")
    assert (response.status, b"<p>in</p>" in response.body) == (200, True)
    assert response.headers["set-cookie"].startswith("pass=1")
    site.page("/again", "<p>x</p><script>onload = () => setTimeout(() => location.reload(), 50)</script>")
    assert b"<p>x</p>" in renderer.fetch(site.url("/again")).body
    assert site.paths()["/again"] <= 4


def test_everything_a_page_asks_for_is_heard_of(renderer: Renderer, site: Site) -> None:
    worker = "new Worker('/w.js')"
    site.page("/", f"<script src=/s.js></script><iframe src=/frame></iframe><img src=/i.png><script>{worker}</script>")
    site.page("/s.js", "fetch('/data'); fetch('/hop')", headers=JAVASCRIPT)
    site.page("/w.js", "fetch('/from-worker')", headers=JAVASCRIPT)
    site.redirect("/hop", "/landed")
    site.page("/data", "12345", status=201, latency=0.1)
    renderer.fetch(Request(site.url("/"), id=7))
    told = renderer.told()
    asked = {hit.path for hit in site.hits} - {"/"}
    assert {site.url(path) for path in asked} == set(told)
    assert asked == {"/s.js", "/w.js", "/frame", "/data", "/from-worker", "/hop", "/landed"}
    data = told[site.url("/data")]
    assert (data.host, data.status, data.size, data.reason, data.request_id) == (site.authority, 201, 5, "render", 7)
    assert 0.1 <= data.elapsed < 20
    assert abs(data.started - time.time()) < 30


@pytest.mark.parametrize("secure", [False, True])
def test_no_host_is_asked_for_more_at_once_than_per_host(renderer: Renderer, site: Site, secure: bool) -> None:
    site.page("/", "<script>for (let i = 0; i < 12; i++) fetch('/x?' + i)</script>")
    site.handler("/x", lambda hit: Answer(body="x", latency=0.05))
    if secure:
        with TlsFront(site.authority) as front:
            renderer.fetch(f"https://127.0.0.1:{front.port}/", per_host=2, insecure_hosts=["127.0.0.1"])
    else:
        renderer.fetch(site.url("/"), per_host=2)
    assert len(site.hits) == 13
    assert site.peak <= 2


# -- where a page may not reach ----------------------------------------------------------------------------------

REACHING = {
    "script": "<script src={url}></script>",
    "frame": "<iframe src={url}></iframe>",
    "style": "<link rel=stylesheet href={url}>",
    "import": "<style>@import '{url}'</style>",
    "image": "<img src={url}>",
    "object": "<object data={url}></object>",
    "fetch": "<script>fetch('{url}', {{mode: 'no-cors'}})</script>",
    "beacon": "<script>navigator.sendBeacon('{url}')</script>",
    "events": "<script>new EventSource('{url}')</script>",
    "socket": "<script>new WebSocket('{url}'.replace('http', 'ws'))</script>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([`fetch('{url}', {{mode: 'no-cors'}})`])))</script>",
    "shared": "<script>new SharedWorker(URL.createObjectURL(new Blob([`fetch('{url}')`])))</script>",
    "prefetch": "<link rel=prefetch href={url}><link rel=preload as=script href={url}><link rel=preconnect href={url}>",
    "speculation": '<script type=speculationrules>{{"prefetch": [{{"urls": ["{url}"]}}]}}</script>',
    "popup": "<script>open('{url}')</script>",
    "form": "<iframe name=f></iframe><form action={url} target=f></form><script>document.forms[0].submit()</script>",
}


def test_a_page_reaches_no_private_address(renderer: Renderer, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it tries, by whatever name, and by a redirect."""
    monkeypatch.setattr(rendering, "RESTLESS", 2.0)
    with Site() as inside:
        inside.page("/*", "secret")
        names = ["127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "x.localhost", "0.0.0.0"]
        urls = [f"http://{name}:{inside.port}/" for name in names]
        site.redirect("/hop*", inside.url("/hopped"), status=302)
        tries = [html.format(url=url) for html in REACHING.values() for url in (urls[0] + "a", "/hop?" + "x")]
        tries += [f"<script src={url}></script><img src={url}>" for url in urls]
        tries += ["<script src=http://169.254.169.254/latest/></script><script src=http://[fe80::1]/></script>"]
        site.page("/", "<p>here</p>" + "".join(tries))
        response = renderer.fetch(site.url("/"), addresses=at_home(site), render_block=[])
        assert b"<p>here</p>" in response.body
        assert b"secret" not in response.body
        assert inside.hits == []
    assert renderer.told()[f"ws://{inside.authority}/a"].reason == "address"
    refused = {fetch.host for fetch in renderer.heard if fetch.reason == "address"}
    assert {inside.authority, f"localhost:{inside.port}", "169.254.169.254"} <= refused
    assert all(fetch.status == 0 for fetch in renderer.heard if fetch.reason == "address")


def test_a_page_at_a_private_address_is_refused(renderer: Renderer, site: Site) -> None:
    for url in (site.url("/"), site.url("/").replace("http", "https")):
        with pytest.raises(AddressRefused, match="not a public address"):
            renderer.fetch(url, addresses=Addresses())
    assert site.hits == []


def test_a_name_that_changes_its_address_does_not_get_through(renderer: Renderer, site: Site) -> None:
    """The browser never resolves a name, so it cannot be told another address than we were."""
    answers = iter([["127.0.0.1"]])
    addresses = Addresses(resolver=lambda name: next(answers, ["10.0.0.1"]))
    addresses.allow(f"shop.example:{site.port}")
    site.page("/", "<p>here</p><script>for (let i = 0; i < 3; i++) fetch('/x?' + i)</script>")
    assert b"here" in renderer.fetch(f"http://shop.example:{site.port}/", addresses=addresses).body
    assert len(site.hits) == 4


def test_nothing_leaves_past_the_turnstile(renderer: Renderer, site: Site) -> None:
    """WebRTC, WebTransport and DNS speak UDP, which no proxy of ours would see."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        ear.bind(("127.0.0.1", 0))
        ear.settimeout(0.5)
        port = ear.getsockname()[1]
        rtc = f"new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}})"
        ask = f"const c = {rtc}; c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))"
        web = f"try {{ new WebTransport('https://127.0.0.1:{port}/') }} catch (e) {{}}"
        site.page("/", f"<p>x</p><script>{ask}; {web}</script><link rel=dns-prefetch href=//a.example>")
        renderer.fetch(site.url("/"))
        with pytest.raises(TimeoutError):
            ear.recv(1)


def test_other_schemes_lead_nowhere(renderer: Renderer, site: Site, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    reach = (
        f"<iframe src=file://{secret}></iframe><script>fetch('file://{secret}'); location = 'file://{secret}'</script>"
    )
    site.page("/", f"<p>here</p>{reach}<iframe src=chrome://version></iframe>")
    body = renderer.fetch(site.url("/")).body
    assert b"<p>here</p>" in body
    assert body.count(b"secret") == 3 * str(secret).count("secret")


def test_an_unverified_host_opens_no_door_to_others(renderer: Renderer, site: Site) -> None:
    other = f"https://localhost:{dead_port()}/x.js"
    site.page("/", f"<p>here</p><script src={other}></script>")
    with TlsFront(site.authority) as front:
        url = f"https://127.0.0.1:{front.port}/"
        with pytest.raises(TlsFailed):
            renderer.fetch(url)
        assert site.hits == []
        assert b"here" in renderer.fetch(url, insecure_hosts=["127.0.0.1"]).body
    assert "insecure_hosts" in (renderer.told()[other].detail or "")


# -- proxies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [HttpProxy, Socks5Proxy])
def test_pages_and_what_they_load_go_through_the_proxy(renderer: Renderer, site: Site, kind: Any) -> None:
    site.page("/", "<p>x</p><script src=/s.js></script>")
    site.page("/s.js", "document.body.append('ran')", headers=JAVASCRIPT)
    with kind(login=("ann", "s3cret")) as proxy, TlsFront(site.authority) as front:
        assert b"ran" in renderer.fetch(site.url("/"), proxy=proxy.url).body
        assert proxy.targets().count(site.authority) == 2
        secure = f"https://127.0.0.1:{front.port}/"
        assert b"ran" in renderer.fetch(secure, proxy=proxy.url, insecure_hosts=["127.0.0.1"]).body
        with pytest.raises(ProxyFailed) as failed:
            renderer.fetch(site.url("/"), proxy=proxy.url.replace("s3cret", "wr0ng"))
        assert "wr0ng" not in str(failed.value)
    with pytest.raises(ProxyFailed):
        renderer.fetch(site.url("/"), proxy=f"http://127.0.0.1:{dead_port()}")


# -- failures ----------------------------------------------------------------------------------------------------


def test_failures_have_their_own_names(renderer: Renderer, site: Site) -> None:
    site.reset("/reset", times=99)
    site.hang("/hang")
    site.handler("/noise", lambda hit: Answer(raw=b"noise\r\n\r\n"))
    site.page("/heads", "", headers={"X-Large": "x" * 9000})
    with pytest.raises(HeadersTooLarge, match="8,192"):
        renderer.fetch(site.url("/heads"), max_headers="8KB")
    with pytest.raises(ConnectFailed):
        renderer.fetch(f"http://127.0.0.1:{dead_port()}/")
    with pytest.raises(ConnectFailed, match="not known"):
        renderer.fetch("http://nobody.invalid/")
    for path in ("/reset", "/noise"):
        with pytest.raises(Broken):
            renderer.fetch(site.url(path))
    with pytest.raises(TimedOut, match="1 s"):
        renderer.fetch(site.url("/hang"), timeout=1)


HOSTILE = {
    "/loop": "<script>while (true) {}</script>",
    "/late-loop": "<script>onload = () => setTimeout(() => { while (true) {} }, 50)</script>",
    "/alerts": "<script>while (true) alert(1)</script>",
    "/windows": "<script>setInterval(() => { for (let i = 0; i < 50; i++) open('/plain?' + i) }, 1)</script>",
    "/large": "<script>document.documentElement.append('y'.repeat(1e8))</script>",
    "/fetches": "<script>setInterval(() => fetch('/plain?' + Math.random()), 20)</script>",
    "/memory": "<script>const a = []; while (true) a.push(new Array(1000).fill(Math.random()))</script>",
    "/buffers": "<script>const a = []; while (true) a.push(new Uint8Array(5e7).fill(7))</script>",
    "/console": "<script>setInterval(() => { for (let i = 0; i < 999; i++) console.log('x'.repeat(9e3)) }, 0)</script>",
    "/downloads": "<script>setInterval(() => { const a = document.createElement('a'); a.download = 'x';"
    " a.href = URL.createObjectURL(new Blob([new Uint8Array(1e6)])); a.click() }, 5)</script>",
}


def test_hostile_pages_cost_bounded_time_and_memory_and_harm_no_other(renderer: Renderer, site: Site) -> None:
    for path, html in HOSTILE.items():
        site.page(path, f"<p>x</p>{html}")
    site.page("/plain", "<p>plain</p>")
    ended: dict[str, float] = {}

    async def one(path: str) -> None:
        began = time.monotonic()
        with contextlib.suppress(FetchError):
            await renderer.fetching(site.url(path), timeout=4)
        ended[path] = time.monotonic() - began

    async def watched() -> tuple[list[bytes], int]:
        largest, bodies = [0], []
        watching = asyncio.create_task(_watch_memory(renderer, largest))
        for paths in (list(HOSTILE)[:5], list(HOSTILE)[5:]):
            plain = renderer.fetching(site.url("/plain"), timeout=20)
            *_, response = await asyncio.gather(*(one(path) for path in paths), plain)
            bodies.append(response.body)
        watching.cancel()
        return bodies, largest[0]

    bodies, largest = renderer.run(watched())
    assert all(b"<p>plain</p>" in body for body in bodies)
    assert set(ended) == set(HOSTILE)
    # Four seconds for the page, five for closing it, and a busy machine.
    assert max(ended.values()) < 15
    assert largest < browser.MEMORY + (512 << 20)  # what it shares with others is not its data


async def _watch_memory(renderer: Renderer, largest: list[int]) -> None:
    while True:
        largest[0] = max(largest[0], _largest(renderer))
        await asyncio.sleep(0.2)


def _largest(renderer: Renderer) -> int:
    """The memory of the largest process of the browser."""
    now, found = renderer.browser._current, 0
    groups = keeper.living(now.folder) if now is not None and now.folder is not None else set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
            if int(fields[2]) in groups:
                found = max(found, int(fields[21]) * resource.getpagesize())
    return found


def test_a_body_that_never_ends_is_cut_off(renderer: Renderer, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "LEAST_BYTES", 1 << 20)
    site.page("/", "<script>fetch('/huge').then(r => r.blob())</script>")
    site.huge("/huge", megabytes=20)
    with pytest.raises(TooLarge, match="raise max_body"):
        renderer.fetch(site.url("/"), max_body=100_000)


# -- the browser itself ------------------------------------------------------------------------------------------


def test_a_browser_is_replaced_after_so_many_pages(renderer: Renderer, site: Site) -> None:
    site.page("/", "<p>x</p>")
    renderer.fetch(site.url("/"))
    first = renderer.browser._current
    assert first is not None
    assert first.folder is not None
    assert len(keeper.living(first.folder)) > 0
    renderer.fetch(site.url("/"), render_recycle=1)
    assert renderer.browser._current is not first
    assert keeper.living(first.folder) == set()
    assert not Path(first.folder).exists()


def test_a_fetch_that_is_given_up_leaves_nothing_behind(renderer: Renderer, site: Site) -> None:
    site.hang("/hang")
    site.page("/", "<p>x</p>")

    async def main() -> tuple[bytes, int]:
        fetching = asyncio.create_task(renderer.fetching(site.url("/hang")))
        while not site.hits:  # noqa: ASYNC110 - the site is on another loop
            await asyncio.sleep(0.02)
        fetching.cancel()
        await asyncio.gather(fetching, return_exceptions=True)
        now = renderer.browser._current
        assert now is not None
        return (await renderer.fetching(site.url("/"))).body, now.showing

    body, showing = renderer.run(main())
    assert b"<p>x</p>" in body
    assert showing == 0
    assert renderer.browser._turnstile._passes == {}


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "chromium" in (browser.missing("/nowhere/chromium") or "")
    assert "/nowhere/chromium" in (browser.missing("/nowhere/chromium") or "")
    monkeypatch.setenv("PATH", "/nowhere")
    assert "apt install chromium" in (browser.missing() or "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "gossamer[browser]" in (browser.missing() or "")
