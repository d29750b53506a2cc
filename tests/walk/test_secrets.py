"""Logins, tokens and proxy passwords: sent where they belong, and kept and told nowhere."""

from __future__ import annotations

import asyncio
import base64
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import structlog

from gossamer import ConfigError, Page, Request, Scraper, ScraperConfig, runs, telemetry
from gossamer.fetch import retry
from gossamer.testing import Answer, Hit, Site
from tests.cli import ended, sentence, start, typed, wait_for_hits
from tests.servers import HttpProxy, Socks5Proxy, dead_port
from tests.walk import asked, crawl, fates, links, records, run, why

USER, PASSWORD = "ann", "correct/horse@battery:staple"
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
TOKEN = "tok-4711-never-to-be-seen"


def leaks(text: str | bytes, *secrets: str) -> list[str]:
    """The secrets that stand in a text, in any of the forms they are written in."""
    raw = text.encode() if isinstance(text, str) else text
    forms = {PASSWORD, quote(PASSWORD, safe=""), quote(PASSWORD), BASIC[6:], "horse", *secrets}
    return [form for form in forms if form.encode() in raw]


def leaks_in(folder: Path, *secrets: str) -> list[tuple[str, list[str]]]:
    """The same for all files of a folder: the store, its write-ahead log, and whatever else a run leaves."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    return [(path.name, found) for path in files if (found := leaks(path.read_bytes(), *secrets))]


def with_login(url: str) -> str:
    """A URL as a person types it who has a login."""
    return url.replace("://", f"://{USER}:{quote(PASSWORD, safe='')}@")


def guarded(body: str = "<p>in</p>") -> Callable[[Hit], Answer]:
    """A page for those who log in."""

    def answer(hit: Hit) -> Answer:
        if hit.headers.get("authorization") != BASIC:
            return Answer(status=401, headers={"WWW-Authenticate": "Basic"})
        return Answer(body=body)

    return answer


@pytest.fixture
def other() -> Iterator[Site]:
    """A second site, which is told nothing."""
    with Site("127.0.0.2") as started:
        started.page("/*", "<p>other</p>")
        yield started


@pytest.fixture
def club(site: Site, other: Site) -> Site:
    """Pages behind a login, and ways out of it."""
    site.handler("/", guarded(links("/in", "/go", other.url("/linked"))))
    site.handler("/in", guarded())
    site.redirect("/go", other.url("/redirected"))
    return site


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """All that is logged, at debug level."""
    lines: list[str] = []
    telemetry.configure("debug", "json", lines.append)
    yield lines
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.02)


# -- a login in a start URL ------------------------------------------------------------------------------------


def test_a_login_goes_to_its_origin_and_to_nobody_else(club: Site, other: Site) -> None:
    report = crawl(with_login(club.url("/")), scope="any", allow_private=True)
    assert (report.pages, report.failed) == (4, 0)
    for hit in club.hits:
        assert hit.headers.get("authorization") == (None if hit.path == "/robots.txt" else BASIC)
    assert set(other.paths()) == {"/robots.txt", "/linked", "/redirected"}
    assert all("authorization" not in hit.headers for hit in other.hits)


def test_another_port_is_another_origin(site: Site) -> None:
    with Site() as neighbour:
        site.handler("/", guarded(links(neighbour.url("/x"))))
        neighbour.page("/x", "<p>x</p>")
        assert crawl(with_login(site.url("/")), scope="any", allow_private=True).pages == 2
        assert "authorization" not in asked(neighbour, "/x")[0].headers


def test_two_starts_have_a_login_each(site: Site, other: Site) -> None:
    crawl(site.url("/").replace("://", "://bob:one@"), other.url("/").replace("://", "://cleo@"))
    assert asked(site, "/")[0].headers["authorization"] == "Basic " + base64.b64encode(b"bob:one").decode()
    assert asked(other, "/")[0].headers["authorization"] == "Basic " + base64.b64encode(b"cleo:").decode()


def test_a_login_is_kept_and_told_nowhere(club: Site, store: str, tmp_path: Path, logged: list[str]) -> None:
    club.flaky("/in", times=1, status=500, then="<p>in</p>")
    report = crawl(with_login(club.url("/")), store=store, scope="any")
    assert report.pages == 2
    assert any(line for line in logged if "walk.done" in line)
    assert leaks("\n".join(logged)) == []
    assert leaks_in(tmp_path) == []
    assert leaks(repr(report)) == []
    for path in ("/", "/in", "/go"):
        assert leaks(why(club.url(path), store)) == []
    assert leaks(repr(records(store))) == []


def test_nor_on_the_command_line(club: Site, tmp_path: Path) -> None:
    url = with_login(club.url("/"))
    done = typed("crawl", url, "--rate", "none", "--log-level", "debug", "--json")
    assert done.returncode == 0
    told = [done, typed("runs"), typed("status"), typed("why", url), typed("why", with_login(club.url("/in")))]
    told += [typed("export", "pages"), typed("export", "items"), typed("sources"), typed("audit"), typed("settings")]
    assert [each.returncode for each in told] == [0] * len(told)
    assert "done, fetched" in told[3].stdout
    for each in told:
        assert leaks(each.stdout + each.stderr) == []
    assert leaks_in(tmp_path) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://ann:horse@exa mple.org/",
        "http://ann:ho@horse@exa mple.org/",
        "http://ann:ho/horse@example.org:99999/",
        "ann:horse@example.org",
        "ftp://ann:horse@example.org/",
        "ann:horse@",
        "http://ann:horse@[::1",
    ],
)
def test_nor_in_the_sentence_about_a_url_that_cannot_be_used(url: str) -> None:
    said = sentence(typed("crawl", url, "--rate", "none"), 2)
    assert leaks(said) == []


def test_a_killed_crawl_leaves_nothing_and_goes_on_with_the_same_command(site: Site, tmp_path: Path) -> None:
    site.handler("/", guarded(links(*(f"/{n}" for n in range(6)))))
    site.handler("/*", guarded())
    command = ["crawl", with_login(site.url("/")), "--rate", "8/s", "--log-level", "debug", "--json"]
    process = start(*command, cwd=tmp_path)
    wait_for_hits(site, 4)
    process.send_signal(signal.SIGKILL)
    killed = ended(process)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "gossamer.db-wal").exists()
    assert leaks_in(tmp_path) == []
    assert leaks(killed.stdout + killed.stderr) == []
    done = ended(start(*command, cwd=tmp_path))
    assert (done.returncode, '"pages":7' in done.stdout) == (0, True)
    assert leaks(done.stdout + done.stderr) == []
    assert leaks_in(tmp_path) == []


def test_a_run_resumed_by_its_number_has_no_login_any_more(site: Site, store: str) -> None:
    """It is nowhere to be found again; what needs it says so, and is no harm."""
    site.handler("/", guarded(links("/in")))
    site.handler("/in", guarded())
    assert crawl(with_login(site.url("/")), store=store, max_pages=1).reason == "max_pages"
    done = typed("resume", "1", "--store", store, "--quiet")
    assert (done.returncode, leaks(done.stdout + done.stderr)) == (0, [])
    assert "authorization" not in asked(site, "/in")[0].headers
    assert fates(site, store)["/in"] == "failed http_401"


def test_a_scrapers_own_start_urls_log_in_again_when_it_is_resumed(site: Site, store: str, tmp_path: Path) -> None:
    site.handler("/", guarded(links("/in")))
    site.handler("/in", guarded())

    class Member(Scraper):
        start_urls = (with_login(site.url("/")),)

        def parse(self, page: Page) -> Any:
            yield {"url": page.url}
            yield from page.follow("a")

    assert run(Member, store, max_pages=1).reason == "max_pages"
    assert run(Member, store).pages == 2
    assert leaks_in(tmp_path) == []


def test_a_login_may_stand_in_a_start_request_and_in_a_sitemaps_url(site: Site, store: str, tmp_path: Path) -> None:
    site.handler("/in", guarded())
    site.handler("/map.txt", guarded(site.url("/in")))

    class Member(Scraper):
        start_sitemaps = (with_login(site.url("/map.txt")),)

        def start(self) -> Any:
            yield Request(with_login(site.url("/in")), to=self.detail)

        def parse(self, page: Page) -> Any:
            yield {"url": page.url}

        def detail(self, page: Page) -> Any:
            yield {"detail": page.url}

    report = run(Member, store)
    assert (report.failed, report.items) == (0, 2)
    assert leaks_in(tmp_path) == []


# -- logins in links -------------------------------------------------------------------------------------------


def test_a_login_that_a_page_writes_into_a_link_is_neither_sent_nor_kept(
    site: Site, other: Site, tmp_path: Path, logged: list[str]
) -> None:
    mark = "linkpass"

    def login(url: str) -> str:
        return url.replace("://", f"://eve:{mark}@")

    site.page(
        "/", f'<base href="{login(site.url("/"))}">' + links("rel", login(site.url("/a")), login(other.url("/b")))
    )
    site.page("/a", "<p>a</p>")
    site.page("/rel", "<p>rel</p>")
    site.redirect("/rel", login(site.url("/c")))
    site.page("/c", links(login(site.url("/a"))))
    report = crawl(site.url("/"), scope="any", allow_private=True)
    assert (report.pages, report.failed) == (4, 0)
    assert all("authorization" not in hit.headers for hit in site.hits + other.hits)
    assert len(asked(site, "/a")) == 1
    assert leaks_in(tmp_path, mark) == []
    assert leaks("\n".join(logged), mark) == []
    assert leaks(repr(records()), mark) == []


def test_a_redirect_that_cannot_be_followed_tells_no_login(site: Site, tmp_path: Path, logged: list[str]) -> None:
    site.page("/", links("/go"))
    site.redirect("/go", "ftp://eve:linkpass@example.org/x")
    crawl(site.url("/"))
    assert "example.org" in why(site.url("/go"))
    assert leaks(why(site.url("/go")) + "".join(logged), "linkpass") == []
    assert leaks_in(tmp_path, "linkpass") == []


def test_a_link_does_not_change_the_login_that_was_typed(club: Site) -> None:
    club.handler("/", guarded(links(club.url("/in").replace("://", "://eve:linkpass@"))))
    assert crawl(with_login(club.url("/"))).pages == 2
    assert asked(club, "/in")[0].headers["authorization"] == BASIC


# -- headers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "X-Shop-Session", "API_TOKEN"]
)
def test_headers_that_hold_secrets_go_to_the_hosts_a_run_starts_at(site: Site, other: Site, name: str) -> None:
    site.page("/", links("/in", "/go", other.url("/linked")))
    site.page("/in", "<p>in</p>")
    site.redirect("/go", other.url("/redirected"))
    report = crawl(
        site.url("/"), scope="any", allow_private=True, headers={name: TOKEN, "X-Colour": "blue"}, cookies="off"
    )
    assert report.pages == 4
    for hit in site.hits:
        assert hit.headers.get(name.lower()) == (None if hit.path == "/robots.txt" else TOKEN)
    for hit in other.hits:
        assert leaks(repr(hit.headers), TOKEN) == []
        assert hit.headers["x-colour"] == "blue"


def test_they_are_kept_and_told_nowhere(site: Site, tmp_path: Path, logged: list[str]) -> None:
    site.page("/", links("/in"))
    site.flaky("/in", status=500)
    headers = {"Authorization": TOKEN, "X-Shop-Token": TOKEN, "Accept-Language": "en"}
    report = crawl(site.url("/"), headers=headers)
    assert report.pages == 2
    told = "\n".join([*logged, why(site.url("/in")), repr(report)])
    assert leaks(told, TOKEN) == []
    assert leaks_in(tmp_path, TOKEN) == []


def test_settings_do_not_show_them(tmp_path: Path) -> None:
    Path("gossamer.toml").write_text(
        f'proxies = ["http://ann:{TOKEN}@10.0.0.1:8080"]\n'
        f'[headers]\nAuthorization = "{TOKEN}"\nX-Shop-Token = "{TOKEN}"\nAccept-Language = "en"\n'
    )
    for done in (typed("settings"), typed("settings", "--json")):
        assert done.returncode == 0
        assert leaks(done.stdout + done.stderr, TOKEN) == []
    assert "Accept-Language: en" in typed("settings").stdout


@pytest.mark.parametrize(
    "knobs",
    [
        {"headers": {"Authorization": TOKEN + "\n"}},
        {"headers": {"Authori zation": TOKEN}},
        {"headers": f'{{"Authorization": "{TOKEN}"'},
        {"proxies": [f"http://ann:{TOKEN}@host:1\n"]},
        {"proxies": f"http://ann:{TOKEN}@host:port"},
        {"proxies": [f"ftp://ann:{TOKEN}@host:1"]},
        {"proxies": [f"ann:{TOKEN}@host"]},
        {"proxies": {"DEU": [f"http://ann:{TOKEN}@host:1"]}},
    ],
)
def test_no_sentence_about_a_bad_setting_shows_it(site: Site, knobs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as refused:
        crawl(site.url("/"), **knobs)
    assert leaks(str(refused.value), TOKEN) == []
    with pytest.raises(ConfigError) as refused:
        run(type("Mine", (Scraper,), {**knobs, "start_urls": [site.url("/")]}))
    assert leaks(str(refused.value), TOKEN) == []
    assert site.hits == []


def test_secrets_of_a_scraper_go_to_its_hosts_only(site: Site, other: Site, tmp_path: Path, logged: list[str]) -> None:
    site.page("/", "<p>log in</p>")
    site.page("/in", links("/go"))
    site.redirect("/go", other.url("/redirected"))

    class Member(Scraper):
        start_urls = (site.url("/"),)

        def parse(self, page: Page) -> Any:
            self.secrets["Authorization"] = f"Bearer {TOKEN}"
            yield Request("/in", to=self.inside)
            yield Request(other.url("/linked"), to=self.inside)

        def inside(self, page: Page) -> Any:
            yield {"url": page.url}
            yield from page.follow("a", to=self.inside)

    report = run(Member, scope="any", allow_private=True)
    assert (report.pages, report.failed) == (4, 0)
    told = {hit.path: hit.headers.get("authorization") for hit in site.hits}
    assert told == {"/robots.txt": None, "/": None, "/in": f"Bearer {TOKEN}", "/go": f"Bearer {TOKEN}"}
    assert all("authorization" not in hit.headers for hit in other.hits)
    assert leaks_in(tmp_path, TOKEN) == []
    assert leaks("\n".join(logged), TOKEN) == []


@pytest.mark.parametrize("name", ["Authorization", "COOKIE", "proxy-authorization", "X-API-Key"])
def test_a_request_cannot_carry_a_secret_into_the_store(
    site: Site, tmp_path: Path, logged: list[str], name: str
) -> None:
    class Careless(Scraper):
        start_urls = (site.url("/"),)

        def parse(self, page: Page) -> Any:
            yield Request("/in", headers={name: TOKEN})

    site.page("/*", "<p>x</p>")
    report = run(Careless)
    assert (report.pages, report.failed, site.paths()["/in"]) == (0, 1, 0)
    told = why(site.url("/"))
    assert f"its header {name} would be stored: put secrets into self.secrets" in told
    assert leaks(told + "\n".join(logged), TOKEN) == []
    assert leaks_in(tmp_path, TOKEN) == []


def test_nor_can_a_start_request(site: Site) -> None:
    class Careless(Scraper):
        def start(self) -> Any:
            yield Request(site.url("/"), headers={"Authorization": TOKEN})

        def parse(self, page: Page) -> Any:
            yield {"url": page.url}

    with pytest.raises(ConfigError, match=r"would be stored: put secrets into self\.secrets") as refused:
        run(Careless)
    assert leaks(str(refused.value), TOKEN) == []
    assert site.hits == []


def test_headers_are_not_among_what_a_run_keeps_to_be_resumed(site: Site, store: str, tmp_path: Path) -> None:
    site.page("/", links("/in"))
    site.page("/in", "<p>in</p>")
    with HttpProxy(login=(USER, PASSWORD)) as proxy:
        knobs: dict[str, Any] = {"headers": {"Authorization": TOKEN}, "proxies": [proxy.url], "store": store}
        assert crawl(site.url("/"), **knobs, max_pages=1).reason == "max_pages"
    assert leaks_in(tmp_path, TOKEN) == []

    async def options() -> dict[str, Any]:
        async with runs.open_store(store) as opened:
            return (await opened.runs())[0].options

    assert {"headers", "proxies"}.isdisjoint(asyncio.run(options()))


def test_no_repr_shows_a_secret() -> None:
    config = ScraperConfig(headers={"Authorization": TOKEN}, proxies=[f"http://ann:{TOKEN}@host:1"])
    assert leaks(repr(config), TOKEN) == []


# -- cookies ---------------------------------------------------------------------------------------------------


def test_cookies_are_kept_and_told_nowhere(site: Site, other: Site, tmp_path: Path, logged: list[str]) -> None:
    site.page("/", links("/in", other.url("/x")), headers={"Set-Cookie": f"session={TOKEN}"})
    site.page("/in", "<p>in</p>")
    crawl(site.url("/"), scope="any", allow_private=True)
    assert asked(site, "/in")[0].headers["cookie"] == f"session={TOKEN}"
    assert all("cookie" not in hit.headers for hit in other.hits)
    assert leaks_in(tmp_path, TOKEN) == []
    assert leaks("\n".join(logged), TOKEN) == []


# -- proxies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [HttpProxy, Socks5Proxy], ids=["http", "socks5"])
@pytest.mark.parametrize("mood", ["fine", "wrong password", "reset", "garbage"])
def test_a_proxys_password_is_kept_and_told_nowhere(
    site: Site, tmp_path: Path, logged: list[str], kind: Any, mood: Any
) -> None:
    site.page("/", links("/in"))
    site.page("/in", "<p>in</p>")
    with kind(login=(USER, PASSWORD)) as proxy:
        url = proxy.url
        if mood == "wrong password":
            proxy.login = (USER, "another one")
        elif mood != "fine":
            proxy.fail(mood)
        report = crawl(site.url("/"), proxies=[url], retries=1)
    assert (report.pages == 2) == (mood == "fine")
    told = "\n".join([*logged, why(site.url("/")), repr(report)])
    assert leaks(told) == []
    assert leaks_in(tmp_path) == []
    assert all(leaks(repr(hit.headers)) == [] for hit in site.hits)


def test_nor_on_the_command_line_of_a_proxy_that_is_dead(site: Site, tmp_path: Path) -> None:
    url = f"http://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{dead_port()}"
    site.page("/", "<p>x</p>")
    done = typed("crawl", site.url("/"), "--proxy", url, "--retries", "0", "--rate", "none", "--log-level", "debug")
    assert done.returncode == 3
    told = [done, typed("runs"), typed("status"), typed("why", site.url("/")), typed("settings", GOSSAMER_PROXIES=url)]
    assert "cannot be reached" in told[3].stdout or "proxy" in told[3].stdout
    for each in told:
        assert leaks(each.stdout + each.stderr) == []
    assert leaks_in(tmp_path) == []
    assert site.hits == []
