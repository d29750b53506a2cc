"""`gossamer chaos`: what a misbehaving site costs a scraper, and that nothing but the saving leaves this machine."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gossamer import Page, Request, Scraper, chaos
from gossamer.chaos import faults, stage
from gossamer.chaos.faults import HARD, SOFT, Draw
from gossamer.chaos.stage import Weather
from gossamer.errors import ConfigError
from gossamer.registry import Found
from gossamer.testing import Answer, Hit, Site
from tests.conftest import Cli
from tests.walk import links

ALL = (*SOFT, *HARD)
#: One page of each fault, and one between each that is fine.
PAGES = 2 * len(ALL)


class Shop(Scraper):
    """One item from each page; the site is told where it is by each test."""

    key = "name"
    rate = "none"

    def parse(self, page: Page) -> Any:
        for title in page.css("h1"):
            yield {"name": title.text, "price": page.css("b").text, "at": page.url}
        yield from page.follow("a")


class Careless(Shop):
    """Takes whatever has a status of 200 for the page, and never asks twice."""

    retries = 0
    walls = False


def shop(site: Site, pages: int = PAGES) -> None:
    """A listing of pages, each with a price and a letter that is not ASCII."""
    site.robots("User-agent: *\nDisallow: /private\n")
    site.page("/", links(*(f"/{n}" for n in range(pages)), "/private", "/gone"))
    for n in range(pages):
        page = f"<!doctype html><meta charset=utf-8><h1>Café {n}</h1><b>{n * 10} €</b><p>{'words ' * 50}</p>"
        site.page(f"/{n}", page, headers={"Set-Cookie": "session=secret", "X-Trace": "secret"})


def found(scraper: type[Scraper], site: Site) -> Found:
    scraper.start_urls = [site.url("/")]
    return Found(scraper, f"{scraper.__module__}:{scraper.__qualname__}")


def save(scraper: type[Scraper], site: Site, folder: Path, **flags: Any) -> dict[str, chaos.Saved]:
    work = folder.parent / "work"
    work.mkdir(exist_ok=True)
    asyncio.run(chaos.record(found(scraper, site), {}, flags, folder, work))
    return chaos.load(folder)


def tormented(
    scraper: type[Scraper], site: Site, pages: Mapping[str, chaos.Saved], work: Path, **weather: Any
) -> chaos.Findings:
    work.mkdir(exist_ok=True)
    return asyncio.run(chaos.torment(found(scraper, site), {}, {}, pages, Weather(**weather), work))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stage.QUICK, "first_byte", "1.4s")
    monkeypatch.setattr(Shop, "start_urls", [])


def numbered(key: str, url: str, *, seed: int, share: float, hard: float, start: bool) -> Draw | None:
    """Every second page has a fault, each another one."""
    match = re.search(r"/(\d+)$", url)
    if match is None or int(match[1]) % 2:
        return None
    number = int(match[1]) // 2
    hard_one = number >= len(SOFT)
    return Draw(ALL[number], 1 << 30 if hard_one else 1, number, hard=hard_one)


def test_every_fault_is_met_and_none_costs_a_careful_scraper_anything(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop(site)
    pages = save(Shop, site, tmp_path / "pages")
    asked = len(site.hits)
    monkeypatch.setattr(faults, "draw", numbered)
    findings = tormented(Shop, site, pages, tmp_path / "torment")
    assert len(site.hits) == asked, "a replay asked the real site"
    assert findings.clean, findings
    assert (findings.ended, findings.lost_pages) == ("done", [])
    # Every page that is not given up by design.
    assert findings.items == findings.tormented_items == PAGES - len(HARD)
    stories = {story.fault: story for story in findings.faults}
    assert set(stories) == {fault.name for fault in ALL} | {stage.STORM_NAME}
    for story in stories.values():
        assert story.hard == (story.read == 0), story
    reasons = {name: set(story.reasons) - {"ok", "http_429"} for name, story in stories.items()}
    assert reasons["error"] == {"http_500"}
    assert reasons["busy"] == {"http_503"}
    assert reasons["hangs"] == {"first_byte"}
    assert reasons["reset"] == reasons["truncated"] == reasons["garbage"] == reasons["reset_midway"] == {"broken"}
    assert reasons["captcha"] == reasons["login_wall"] == reasons["challenge"] == {"blocked"}
    assert reasons["late"] == reasons["slow_body"] == reasons["charset"] == set()
    assert reasons["redirect"] == {"redirect"}
    assert reasons["bomb"] == {"bomb"}
    assert reasons["huge_headers"] == {"headers"}
    assert reasons["endless"] == {"too_large"}
    assert reasons["loop"] == {"redirect_loop"}


def test_what_a_careless_scraper_loses_is_named(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop(site, 8)
    pages = save(Careless, site, tmp_path / "pages")
    wanted = {0: "truncated", 1: "captcha", 2: "slow_body"}
    by_name = {fault.name: fault for fault in SOFT}

    def few(key: str, url: str, **_: Any) -> Draw | None:
        number = url.rpartition("/")[2]
        name = wanted.get(int(number)) if number.isdigit() else None
        return Draw(by_name[name], 1, 0, hard=False) if name else None

    monkeypatch.setattr(faults, "draw", few)
    monkeypatch.setattr(stage, "STORM", 0)
    findings = tormented(Careless, site, pages, tmp_path / "torment")
    assert not findings.clean
    compared = findings.items_compared
    assert (compared.missing, compared.new, compared.doubled, compared.different) == (2, 1, 0, 0)
    assert {each.key for each in compared.examples["missing"]} == {"Café 0", "Café 1"}
    (lost,) = findings.lost_pages
    assert (lost.url, lost.reason, lost.fault) == (site.url("/0"), "failed broken", "truncated")


def test_fields_that_change_each_time_are_not_compared(site: Site, tmp_path: Path) -> None:
    class Counting(Shop):
        seen = itertools.count()

        def parse(self, page: Page) -> Any:
            for value in super().parse(page):
                yield value if isinstance(value, Request) else {**value, "serial": next(self.seen)}

    shop(site, 4)
    pages = save(Counting, site, tmp_path / "pages")
    findings = tormented(Counting, site, pages, tmp_path / "torment", share=0.0, hard=0.0)
    assert findings.clean
    assert findings.unsteady == ["serial"]
    Counting.key = None
    with pytest.raises(ConfigError, match="gives other items each time"):
        tormented(Counting, site, pages, tmp_path / "again", share=0.0, hard=0.0)


# -- saved pages


def test_what_is_saved_is_what_a_handler_reads_and_no_more(site: Site, tmp_path: Path) -> None:
    shop(site, 3)
    folder = tmp_path / "pages"
    pages = save(Shop, site, folder)
    by_url = {page.url: page for page in pages.values()}
    assert set(by_url) == {site.url(path) for path in ("/robots.txt", "/", "/0", "/1", "/2", "/gone")}
    page = by_url[site.url("/1")]
    assert "Café 1" in page.body().decode()
    assert page.headers == {"content-type": "text/html; charset=utf-8"}
    assert by_url[site.url("/gone")].status == 404
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"secret" not in kept


def test_saving_keeps_the_pace_and_the_number_of_pages(site: Site, tmp_path: Path) -> None:
    shop(site, 20)
    save(Shop, site, tmp_path / "pages", max_pages=3, rate="20/s")
    times = [hit.at for hit in site.hits]
    assert len(times) <= 5
    assert times[-1] - times[0] >= 0.05 * (len(times) - 1) - 0.03
    assert "/private" not in site.paths()


def test_requests_that_differ_by_what_they_send_are_told_apart(site: Site, tmp_path: Path) -> None:
    class Search(Scraper):
        key = "q"
        rate = "none"

        def start(self) -> Any:
            for word in ("one", "two"):
                yield Request(site.url("/search"), json={"q": word})

        def parse(self, page: Page) -> Any:
            yield {"q": page.json()["q"]}

    def search(hit: Hit) -> Answer:
        return Answer(body=hit.body, headers={"Content-Type": "application/json"})

    site.handler("/search", search)
    pages = save(Search, site, tmp_path / "pages")
    findings = tormented(Search, site, pages, tmp_path / "torment", share=0.0)
    assert (findings.clean, findings.items) == (True, 2)


def test_a_mirror_can_be_served_as_well(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "mirror" / "example.org"
    (folder / "docs").mkdir(parents=True)
    (folder / "index.html").write_text(links("/docs/", "/a.html"))
    (folder / "docs" / "index.html").write_text("<h1>Docs</h1>")
    (folder / "a.html").write_text("<h1>A</h1>")

    class Mirrored(Shop):
        pass

    pages = chaos.load(tmp_path / "mirror")
    work = tmp_path / "torment"
    work.mkdir()
    Mirrored.start_urls = ["https://example.org/"]
    given = Found(Mirrored, f"{__name__}:Mirrored")
    findings = asyncio.run(chaos.torment(given, {}, {}, pages, Weather(share=0.0, hard=0.0), work))
    assert (findings.clean, findings.items) == (True, 2)


@pytest.mark.parametrize(
    ("index", "says"),
    [
        ("nonsense\n", "line 1 is no saved page"),
        (
            '{"url":"http://a/","method":"GET","status":200,"headers":{},"file":"../etc"}\n',
            "which is not in the folder",
        ),
        ("", "holds no saved pages"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path, index: str, says: str) -> None:
    (tmp_path / "pages.jsonl").write_text(index)
    with pytest.raises(ConfigError, match=says):
        chaos.load(tmp_path)


def test_pages_of_another_scraper_are_refused(site: Site, tmp_path: Path) -> None:
    shop(site, 2)
    pages = save(Shop, site, tmp_path / "pages")
    with Site() as other:
        shop(other, 2)
        with pytest.raises(ConfigError, match="none of the saved pages"):
            tormented(Shop, other, pages, tmp_path / "torment")


# -- faults are drawn


def test_the_same_seed_draws_the_same_faults_and_start_pages_are_spared_the_worst() -> None:
    def drawn(seed: int, *, start: bool = False) -> list[str | None]:
        made = [
            faults.draw(f"key{n}", f"http://a/{n}", seed=seed, share=0.5, hard=0.2, start=start) for n in range(400)
        ]
        return [one.fault.name if one else None for one in made]

    one = drawn(1)
    assert one == drawn(1) != drawn(2)
    hard = {fault.name for fault in HARD}
    assert 0.15 < sum(name in hard for name in one) / 400 < 0.25
    assert 0.25 < one.count(None) / 400 < 0.35
    assert not hard & set(drawn(1, start=True))


@pytest.mark.parametrize("url", ["http://a/x", "http://a/x?y=1"])
def test_the_mark_of_a_redirect_can_be_taken_off_again(url: str) -> None:
    assert faults.marked(url) != url
    assert faults.unmarked(f"see {faults.marked(url)}.") == f"see {url}."


# -- comparing


def test_records_are_compared_by_key_then_by_field() -> None:
    whole = {("item", str(n)): {"id": n, "name": f"thing {n}"} for n in range(4)}
    tested = {
        ("item", "0"): {"id": 0, "name": "thing 0"},
        ("item", "1"): {"id": 1, "name": "other", "more": 1},
        ("item", "x"): {"id": 2, "name": "thing 2"},
        ("item", "y"): {"id": 9, "name": "thing 9"},
    }
    made = chaos.compare(whole, tested)
    assert (made.missing, made.different, made.doubled, made.new) == (2, 1, 1, 1)
    assert made.examples["different"][0].fields == ("name", "more")
    assert made.examples["doubled"][0].key == "x"
    assert chaos.compare(whole, whole).same


# -- the command

FILE = """
from gossamer import Scraper

class Shop(Scraper):
    start_urls = ["{url}"]
    key = "name"
    rate = "none"
    {more}

    def parse(self, page):
        for title in page.css("h1"):
            yield {{"name": title.text}}
        yield from page.follow("a")
"""


def test_the_command_saves_once_and_reports(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    shop(site, 6)
    (tmp_path / "shop.py").write_text(FILE.format(url=site.url("/"), more=""))
    said = gossamer("chaos", "shop.py", "--pages", "saved", "--faults", "0.2")
    assert said.returncode == 0, said.stdout + said.stderr
    assert "items with and without faults (9 saved pages" in said.stdout
    assert "saving up to 50 pages of shop" in said.stderr
    asked = len(site.hits)
    said = gossamer("chaos", "shop.py", "--pages", "saved", "--faults", "0", "--quiet")
    assert (said.returncode, said.stderr) == (0, "")
    assert "same data: 6 items with and without faults (9 saved pages, 0 retries)" in said.stdout
    assert len(site.hits) == asked
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".db")]


def test_the_command_says_by_its_exit_code_that_data_were_lost(gossamer: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "saved" / "shop.example"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(links(*(f"/{n}.html" for n in range(12))))
    for n in range(12):
        (folder / f"{n}.html").write_text(f"<h1>Thing {n}</h1>")
    (tmp_path / "shop.py").write_text(FILE.format(url="https://shop.example/", more="retries = 0"))
    said = gossamer("chaos", "shop.py", "--pages", "saved", "--faults", "0.6", "--seed", "3", "--json", "--quiet")
    assert said.returncode == 1, said.stdout + said.stderr
    findings = json.loads(said.stdout)
    assert not findings["clean"]
    assert findings["items_compared"]["missing"] > 0
    assert findings["lost_pages"]
