"""`gossamer run` and `gossamer list`: finding scrapers, their parameters, trying without storing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer.testing import Site
from tests.cli import REPORT, sentence, typed
from tests.conftest import Cli, json_lines

QUOTES = """
from gossamer import Scraper

class Quotes(Scraper):
    name = "quotes"
    rate = "none"

    def start(self):
        yield "{url}" + self.params.get("page", "")

    def parse(self, page):
        for quote in page.css(".quote"):
            yield {{"text": quote.css(".text::text").get(), "author": quote.css(".author::text").get()}}
        yield from page.follow("li.next a")
"""

OTHER = """
from gossamer import Scraper

class Other(Scraper):
    rate = "none"
    start_urls = ["{url}"]

    def parse(self, page):
        yield {{"title": page.title}}

class Second(Other):
    start_urls = ["{url}2"]
"""


@pytest.fixture
def quotes(site: Site, tmp_path: Path) -> Site:
    """A listing of three pages, and scrapers for it: quotes.py and others.py."""
    for n in (1, 2, 3):
        quote = f'<div class="quote"><b class="text">Text {n}</b><i class="author">Author {n}</i></div>'
        after = f'<li class="next"><a href="/{n + 1}">next</a></li>' if n < 3 else ""
        site.page(f"/{n}", f"<title>Page {n}</title>{quote}{after}")
    site.page("/", '<li class="next"><a href="/1">first</a></li>')
    (tmp_path / "quotes.py").write_text(QUOTES.format(url=site.url("/")))
    (tmp_path / "others.py").write_text(OTHER.format(url=site.url("/")))
    return site


def stored(*args: str) -> list[dict[str, str]]:
    return json_lines(typed("export", "items", *args).stdout)


@pytest.mark.parametrize("ref", ["quotes.py", "./quotes.py", "quotes.py:Quotes", "quotes:Quotes"])
def test_a_scraper_is_found_by_file_or_module(quotes: Site, gossamer: Cli, ref: str) -> None:
    done = gossamer("run", ref, "--json")
    assert (done.returncode, json.loads(done.stdout)["items"]) == (0, 3)
    assert stored() == [{"text": f"Text {n}", "author": f"Author {n}"} for n in (1, 2, 3)]


def test_registered_scrapers_are_listed_and_run_by_name(quotes: Site, gossamer: Cli, tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('scrapers = ["quotes.py", "others.py"]\nrate = "none"\n')
    listed = gossamer("list")
    assert listed.returncode == 0
    assert [name for name in ("other", "quotes", "second") if name in listed.stdout] == ["other", "quotes", "second"]
    assert json.loads(gossamer("run", "quotes", "--json").stdout)["items"] == 3


def test_run_all_runs_each_and_reports_each(quotes: Site, gossamer: Cli, tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('scrapers = ["quotes.py", "others.py"]\n')
    done = gossamer("run", "all", "--json")
    reports = json_lines(done.stdout)
    assert done.returncode == 0
    assert [set(report) for report in reports] == [REPORT] * 3
    assert sorted(report["items"] for report in reports) == [1, 1, 3]
    assert len(stored("--scraper", "quotes")) == 3
    assert stored("--scraper", "second") == [{"title": "Page 2"}]


def test_run_all_goes_on_when_one_cannot(quotes: Site, gossamer: Cli, tmp_path: Path) -> None:
    (tmp_path / "lazy.py").write_text("from gossamer import Scraper\nclass Lazy(Scraper):\n    pass\n")
    (tmp_path / "gossamer.toml").write_text('scrapers = ["quotes.py", "lazy.py"]\n')
    done = gossamer("run", "all", "--json")
    assert done.returncode == 2
    assert [report["items"] for report in json_lines(done.stdout)] == [3]
    assert "nothing to start with" in done.stderr


def test_list_and_run_all_say_what_to_do_where_nothing_is_registered() -> None:
    assert "gossamer.toml" in typed("list").stderr
    assert "gossamer.toml" in sentence(typed("run", "all"), 2)


def test_params_reach_the_scraper(quotes: Site, gossamer: Cli) -> None:
    done = gossamer("run", "quotes.py", "--param", "page=3", "--param", "other=a=b", "--json")
    assert json.loads(done.stdout)["pages"] == 1
    assert set(quotes.paths()) == {"/robots.txt", "/3"}


def test_max_items_and_max_pages_end_early(quotes: Site, gossamer: Cli) -> None:
    done = gossamer("run", "quotes.py", "--max-items", "2", "--json")
    assert (done.returncode, json.loads(done.stdout)["items"]) == (3, 2)
    assert "stopped at --max-items" in done.stderr
    done = gossamer("run", "quotes.py", "--max-pages", "2", "--fresh", "--json")
    assert (done.returncode, json.loads(done.stdout)["pages"]) == (3, 2)


def test_a_dry_run_shows_items_and_leaves_no_file(quotes: Site, gossamer: Cli, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts}
    done = gossamer("run", "quotes.py", "--dry-run")
    assert done.returncode == 0
    assert [item["author"] for item in json_lines(done.stdout)] == ["Author 1", "Author 2", "Author 3"]
    assert "nothing was stored" in done.stderr
    assert {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts} == before


def test_a_dry_run_leaves_a_store_as_it_was(quotes: Site, gossamer: Cli) -> None:
    gossamer("run", "quotes.py", "--max-pages", "1")
    runs = gossamer("runs", "--json").stdout
    assert gossamer("run", "quotes.py", "--dry-run", "--max-items", "1").returncode == 0
    assert gossamer("runs", "--json").stdout == runs


@pytest.mark.parametrize(
    ("ref", "text", "told"),
    [
        ("quots", "", "no scraper is called 'quots'"),
        ("none.py", "", "there is no file none.py"),
        ("no_module:X", "", "no module 'no_module'"),
        ("x.py:Missing", "import gossamer", "no scraper class 'Missing'"),
        ("x.py", "import gossamer", "holds no scraper"),
        ("x.py", "def broken(:\n", "line 1"),
        ("x.py", "\nimport no_such_thing", "line 2: ModuleNotFoundError"),
        ("x.py", "raise SystemExit(3)", "SystemExit"),
        ("x.py", "from gossamer import Scraper\nclass X(Scraper):\n    rate = 'fast'", "rate"),
        ("x.py", "from gossamer import Scraper\nclass A(Scraper): pass\nclass B(Scraper): pass", "x.py:A, x.py:B"),
        ("x.py", "from gossamer import Scraper\nclass A(Scraper): pass", "nothing to start with"),
    ],
)
def test_a_scraper_that_cannot_be_used_ends_with_2_and_a_sentence(
    tmp_path: Path, ref: str, text: str, told: str
) -> None:
    if text:
        (tmp_path / "x.py").write_text(text)
    assert told in sentence(typed("run", ref), 2)


def test_a_near_miss_of_a_name_is_pointed_out(quotes: Site, tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('scrapers = ["quotes.py"]\n')
    assert "did you mean 'quotes'" in sentence(typed("run", "quotse"), 2)


def test_a_bad_param_is_refused(quotes: Site) -> None:
    assert "name=value" in sentence(typed("run", "quotes.py", "--param", "page"), 2)


def test_settings_come_from_flag_then_scraper_then_environment_then_file(quotes: Site, tmp_path: Path) -> None:
    def agent(*args: str, **env: str) -> str:
        quotes.clear()
        typed("run", "others.py:Other", "--fresh", "--quiet", *args, **env)
        return quotes.hits[-1].headers["user-agent"]

    assert agent().startswith("gossamer/")
    (tmp_path / "gossamer.toml").write_text('user_agent = "file/1"\n')
    assert agent() == "file/1"
    assert agent(GOSSAMER_USER_AGENT="environment/1") == "environment/1"
    text = (tmp_path / "others.py").read_text()
    (tmp_path / "others.py").write_text(text.replace('rate = "none"', 'rate = "none"\n    user_agent = "own/1"', 1))
    assert agent(GOSSAMER_USER_AGENT="environment/1") == "own/1"
    assert agent("--user-agent", "flag/1", GOSSAMER_USER_AGENT="environment/1") == "flag/1"
