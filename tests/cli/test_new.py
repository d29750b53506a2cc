"""`gossamer new`: the scrapers it writes work, and give what is on the page."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer.demo.sites import DemoSites
from gossamer.testing import Site
from tests.cli import sentence, typed
from tests.conftest import json_lines


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Iterator[DemoSites]:
    monkeypatch.setenv("GOSSAMER_RATE", "none")
    with DemoSites() as started:
        yield started


def _made(*args: object) -> str:
    """What `gossamer new` says, which must have worked."""
    done = typed("new", *args)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return done.stderr


def _items(file: str, *args: object) -> list[Any]:
    done = typed("run", file, "--dry-run", "-q", *args)
    assert done.returncode == 0, done.stderr
    return json_lines(done.stdout)


@pytest.mark.parametrize("option", ["--python", "--rules"])
def test_a_listing_becomes_a_scraper_that_reads_all_of_it(demo: DemoSites, option: str) -> None:
    file = "shop.toml" if option == "--rules" else "shop.py"
    told = _made("shop", demo.bookshop.url("/catalogue/page-1.html"), option)
    assert f"wrote {file}: each li.book (12 on the page) is an item: title, url, author, price" in told
    assert "on that page it gives 12 items and 1 request" in told
    assert f"run {file} --dry-run" in told
    assert f"try {demo.bookshop.url('/book/')}" in told
    assert demo.bookshop.paths() == {"/robots.txt": 1, "/catalogue/page-1.html": 1}
    books = {item["title"]: item for item in _items(file)}
    assert len(books) == 96
    assert books["Salt Roads"] == {
        "title": "Salt Roads",
        "url": demo.bookshop.url("/book/salt-roads.html"),
        "author": books["Salt Roads"]["author"],
        "price": {"amount": books["Salt Roads"]["price"]["amount"], "currency": "GBP"},
    }


@pytest.mark.parametrize("option", ["--python", "--rules"])
def test_an_api_becomes_a_scraper_that_follows_its_pages(demo: DemoSites, option: str) -> None:
    file = "weather.toml" if option == "--rules" else "weather.py"
    told = _made("weather", demo.weather.url("/v1/stations?page=1"), option)
    assert "each of stations (5) is an item; goes on by next" in told
    stations = _items(file)
    assert len(stations) == 20
    assert stations[0].keys() == {"id", "name", "terrain", "latitude", "longitude", "elevation_m", "readings"}


@pytest.mark.parametrize("option", ["--python", "--rules"])
def test_a_page_of_structured_data_gets_a_parser(demo: DemoSites, option: str) -> None:
    file = "book.toml" if option == "--rules" else "book.py"
    told = _made("book", demo.bookshop.url("/book/salt-roads.html"), option)
    assert "it is read by the parser 'product'" in told
    (item,) = _items(file)
    assert (item["name"], item["currency"]) == ("Salt Roads", "GBP")


def test_a_saved_page_will_do(tmp_path: Path) -> None:
    rows = "".join(
        f'<li class="song"><h2><a href="/s/{n}">Song {n}</a></h2><i class="by">Ann</i></li>' for n in range(6)
    )
    (tmp_path / "page.html").write_text(f"<title>Songs</title><ul>{rows}</ul>")
    told = _made("songs", "page.html", "--url", "https://songs.example/all")
    assert "on that page it gives 6 items and 0 requests" in told
    assert "try https://songs.example/s/0" in told
    assert '"by": entry.css("i.by").text' in (tmp_path / "songs.py").read_text()


@pytest.mark.parametrize(
    ("args", "file"), [((), "my_shop.py"), (("--rules",), "my-shop.toml"), (("-o", "sub/x.py"), "sub/x.py")]
)
def test_without_a_page_a_template_is_written(tmp_path: Path, args: tuple[str, ...], file: str) -> None:
    assert f"wrote {file}: a template" in _made("my-shop", *args)
    text = (tmp_path / file).read_text()
    if file.endswith(".toml"):
        assert tomllib.loads(text)["name"] == "my-shop"
    else:
        compile(text, file, "exec")
        assert "class MyShop(Scraper):" in text
    assert "my-shop" in text


def test_a_file_that_is_there_is_not_written_over_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("precious")
    told = sentence(typed("new", "mine"), 2)
    assert told == "gossamer: mine.py is there already: --force writes over it, -o FILE writes elsewhere"
    assert (tmp_path / "mine.py").read_text() == "precious"
    _made("mine", "--force")
    assert "class Mine(Scraper):" in (tmp_path / "mine.py").read_text()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("My Shop",), "a scraper cannot be called 'My Shop': write small letters, digits, dots and dashes"),
        (("../x",), "a scraper cannot be called '../x'"),
        (("x", "--rules", "--python"), "--rules and --python were given"),
        (("x", "-o", "x.txt"), "x.txt cannot be written: its name must end in .py, or in .toml for rules"),
        (("x", "-o", "x.py", "--rules"), "x.py cannot hold rules: its name must end in .toml"),
        (("x", "page.html"), "where does page.html come from? Give its address: --url https://example.org/page"),
        (("x", "--url", "https://a.org"), "--url says where a saved page comes from: give a file before it"),
        (("x", "nowhere"), "'nowhere' is not a URL"),
    ],
)
def test_misuse_is_told_in_one_sentence(tmp_path: Path, args: tuple[str, ...], told: str) -> None:
    (tmp_path / "page.html").write_text("<p>x")
    assert told in sentence(typed("new", *args), 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html"]


def test_a_page_that_cannot_be_had_leaves_no_file(site: Site, tmp_path: Path) -> None:
    site.robots("User-agent: *\nDisallow: /\n")
    assert "robots.txt does not allow it" in sentence(typed("new", "x", site.url("/")), 3)
    assert list(tmp_path.iterdir()) == []


def test_broken_json_is_told_of(site: Site) -> None:
    site.page("/", '{"a": [', headers={"Content-Type": "application/json"})
    assert "the body is not JSON" in sentence(typed("new", "x", site.url("/")), 2)


def test_a_hostile_page_cannot_write_code(site: Site, tmp_path: Path) -> None:
    evil = '"\n__import__("os")._exit(9)\n#'
    site.page(
        "/", json.dumps({evil: [{evil: 1, "id": n} for n in range(3)]}), headers={"Content-Type": "application/json"}
    )
    assert "on that page it gives 3 items" in _made("x", site.url("/"))
    assert len(_items("x.py")) == 3
