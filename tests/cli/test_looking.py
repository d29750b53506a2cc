"""`runs`, `status`, `why`, `export` and `settings`: what happened, in words and in data."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.testing import Site
from tests.cli import REPORT, ended, sentence, start, typed
from tests.conftest import Cli, json_lines
from tests.walk import links

BAD = """
from gossamer import Scraper

class Bad(Scraper):
    rate = "none"
    start_urls = ["{url}"]
    key = "id"

    def parse(self, page):
        yield {{"id": 1, "title": page.title, "tags": ["a", "b"]}}
        yield {{"id": 2, "extra": 'a "quoted", text\\nwith lines'}}
        yield from page.follow("/a", to=self.fail)

    def fail(self, page):
        raise LookupError("[bold]no such field[/bold]")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    """A store with two runs, of two scrapers, over a site with something of everything."""
    folder = tmp_path_factory.mktemp("looking")
    with Site() as site:
        site.page(
            "/", "<title>Home</title>" + links("/a", "/gone", "/flaky", "/old", "/private", "http://out.example/")
        )
        site.page("/a", "<title>A</title>")
        site.flaky("/flaky", times=1, status=500)
        site.redirect("/old", "/a")
        site.robots("User-agent: *\nDisallow: /private")
        (folder / "bad.py").write_text(BAD.format(url=site.url("/")))
        crawl = ["crawl", site.url("/"), "--rate", "none", "--store", "x.db", "--exclude", "never"]
        assert ended(start(*crawl, cwd=folder)).returncode == 0
        assert ended(start("run", "bad.py", "--store", "x.db", cwd=folder)).returncode == 0
        yield site, folder / "x.db"


def test_runs_are_listed_newest_first(place: tuple[Site, Path], gossamer: Cli) -> None:
    lines = gossamer("runs", "--store", place[1]).stdout.splitlines()
    assert ["bad" in lines[1], "crawl" in lines[2]] == [True, True]
    reports = json_lines(typed("runs", "--store", place[1], "--json").stdout)
    assert [report["run"] for report in reports] == [2, 1]
    assert set(reports[0]) == REPORT | {"scraper", "started"}
    assert [run["run"] for run in json_lines(typed("runs", "--store", place[1], "--json", "--limit", 1).stdout)] == [2]


def test_status_tells_of_a_run_and_its_hosts(place: tuple[Site, Path], gossamer: Cli) -> None:
    site, store = place
    shown = gossamer("status", "1", "--store", store).stdout
    assert "run 1 (crawl) finished: 3 pages" in shown
    assert "1 http_404" in shown
    assert site.authority in shown
    assert "run 2 (bad)" in typed("status", "--store", store).stdout
    assert "there is no run 7" in sentence(typed("status", "7", "--store", store), 2)


@pytest.mark.parametrize("number", ["99999999999999999999999", "-1", "0"])
def test_a_number_no_run_can_have_is_refused(place: tuple[Site, Path], number: str) -> None:
    if number.startswith("9"):
        sentence(typed("runs", "--store", place[1], "--limit", number), 2)
    for command in (["status", "--", number], ["resume", "--", number], ["export", "items", f"--run={number}"]):
        args = [command[0], "--store", str(place[1]), *command[1:]]
        sentence(typed(*args), 2)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/", ["done, fetched", "status 200", "a start URL", "items: page http"]),
        ("/gone", ["failed after 1 try: http_404", "found on http"]),
        ("/flaky", ["done", "attempt at", "http_500"]),
        ("/old", ["done", "(redirect)", "it redirects to"]),
        ("/private", ["skipped: robots.txt forbids it"]),
        ("/a", ["LookupError: [bold]no such field[/bold] (bad.py, line 15, in fail)", "run 1 (crawl): done"]),
    ],
)
def test_why_explains_a_url(place: tuple[Site, Path], path: str, told: list[str]) -> None:
    site, store = place
    done = typed("why", site.url(path), "--store", store)
    assert done.returncode == 0
    for words in told:
        assert words in done.stdout


def test_why_explains_what_was_dropped_or_never_met(place: tuple[Site, Path]) -> None:
    site, store = place
    assert "outside the run's scope" in typed("why", "http://out.example/", "--store", store).stdout
    unknown = typed("why", site.url("/never"), "--store", store)
    assert unknown.returncode == 2
    assert "no run in this store has met this URL" in unknown.stdout
    assert "run 1 (crawl) would drop it: an --exclude expression matches it" in unknown.stdout
    assert "run 2 (bad) would walk it, but found no link to it" in unknown.stdout


def test_export_items_as_lines(place: tuple[Site, Path]) -> None:
    _, store = place
    everything = json_lines(typed("export", "items", "--store", store).stdout)
    assert len(everything) == 5
    mine = json_lines(typed("export", "items", "--store", store, "--scraper", "bad").stdout)
    assert mine == [
        {"id": 1, "title": "Home", "tags": ["a", "b"]},
        {"id": 2, "extra": 'a "quoted", text\nwith lines'},
    ]
    by_run = json_lines(typed("export", "items", "--store", store, "--run", 1).stdout)
    assert {item["title"] for item in by_run} == {"Home", "A", None}
    assert typed("export", "items", "--store", store, "--scraper", "nobody").stdout == ""


def test_export_items_with_their_source(place: tuple[Site, Path]) -> None:
    site, store = place
    item = json_lines(typed("export", "items", "--store", store, "--scraper", "bad", "--source").stdout)[0]
    assert (item["_scraper"], item["_key"], item["_url"]) == ("bad", "1", site.url("/"))
    assert item["_first_seen"].endswith("+00:00")


def test_export_items_as_csv_to_a_file(place: tuple[Site, Path], tmp_path: Path) -> None:
    done = typed("export", "items", "--store", place[1], "--scraper", "bad", "--format", "csv", "-o", "x.csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 items written to x.csv" in done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "x.csv").read_text(), newline="")))
    assert rows == [
        {"id": "1", "title": "Home", "tags": '["a","b"]', "extra": ""},
        {"id": "2", "title": "", "tags": "", "extra": 'a "quoted", text\nwith lines'},
    ]


def test_export_pages(place: tuple[Site, Path]) -> None:
    site, store = place
    rows = json_lines(typed("export", "pages", "--store", store, "--run", 1).stdout)
    fates = {row["url"].removeprefix(site.url("")): (row["state"], row["reason"]) for row in rows}
    assert fates == {
        "/": ("done", "ok"),
        "/a": ("done", "ok"),
        "/flaky": ("done", "ok"),
        "/gone": ("failed", "http_404"),
        "/old": ("done", "redirect"),
        "/private": ("skipped", "robots"),
        "http://out.example/": ("skipped", "scope"),
    }
    table = list(csv.DictReader(typed("export", "pages", "--store", store, "--format", "csv").stdout.splitlines()))
    assert {row["run"] for row in table} == {"1", "2"}


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["export", "things"], "things"),
        (["export", "items", "--format", "xml"], "xml"),
        (["export", "items", "--run", "9"], "there is no run 9"),
        (["export", "items", "-o", "no/such/file"], "cannot be written"),
        (["why", "nonsense"], "is not a URL"),
        (["why", "http://[bad/"], "is not a URL"),
    ],
)
def test_a_question_that_cannot_be_answered_ends_with_2(place: tuple[Site, Path], args: list[str], told: str) -> None:
    assert told in sentence(typed(*args, "--store", place[1]), 2)


@pytest.mark.parametrize("command", [["runs"], ["status"], ["why", "http://x.org/"], ["export", "pages"], ["resume"]])
def test_looking_into_no_store_makes_none(tmp_path: Path, command: list[str]) -> None:
    assert "there is no store at gossamer.db" in sentence(typed(*command), 2)
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_is_no_error(place: tuple[Site, Path], tmp_path: Path) -> None:
    import subprocess
    import sys

    command = f"{sys.executable} -m gossamer export items --store {place[1]} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


# -- settings --------------------------------------------------------------------------------------------------


def test_settings_show_value_origin_and_meaning(gossamer: Cli, tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('rate = "30/min"\nper_host = 2\n')
    shown = json.loads(typed("settings", "--json", GOSSAMER_PER_HOST="7", GOSSAMER_ROBOTS="off").stdout)
    assert (shown["per_host"]["value"], shown["per_host"]["from"]) == ("7", "GOSSAMER_PER_HOST")
    assert (shown["rate"]["value"], shown["rate"]["from"]) == ("30/min", "gossamer.toml")
    assert (shown["robots"]["value"], shown["robots"]["from"]) == ("false", "GOSSAMER_ROBOTS")
    assert (shown["store"]["value"], shown["store"]["from"]) == ("gossamer.db", "default")
    assert all(each["about"] for each in shown.values())
    table = gossamer("settings").stdout
    assert all(name in table for name in shown)


@pytest.mark.parametrize(
    ("text", "env", "told"),
    [
        ('raet = "1/s"', {}, "unknown setting 'raet' in gossamer.toml: did you mean 'rate'?"),
        ('rate = "fast"', {}, "rate (from gossamer.toml) = 'fast' cannot be used"),
        ("rate = ", {}, "gossamer.toml is not TOML"),
        ("", {"GOSSAMER_RAET": "1/s"}, "unknown setting 'raet' in the environment"),
        ("", {"GOSSAMER_PER_HOST": "many"}, "GOSSAMER_PER_HOST = 'many' cannot be used"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_by_name(
    tmp_path: Path, text: str, env: dict[str, str], told: str
) -> None:
    (tmp_path / "gossamer.toml").write_text(text)
    for command in (["settings"], ["crawl", "http://127.0.0.1:1/"]):
        assert told in sentence(typed(*command, **env), 2)


@pytest.mark.parametrize("name", ["", "-wal", ".lock"])
def test_an_export_does_not_write_over_its_store(place: tuple[Site, Path], name: str) -> None:
    store = place[1]
    before = store.read_bytes()
    told = sentence(typed("export", "items", "--store", store, "-o", str(store) + name), 2)
    assert "belongs to the store itself" in told
    assert store.read_bytes() == before


def test_an_export_whose_reader_leaves_ends_in_peace(place: tuple[Site, Path]) -> None:
    command = f"{sys.executable} -m gossamer export pages --store {place[1]} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
