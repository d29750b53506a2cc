"""`gossamer crawl`: options, output, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer.testing import Site, graph_site
from tests.cli import REPORT, sentence, typed
from tests.conftest import Cli, json_lines
from tests.walk import gaps, links


@pytest.fixture
def small(site: Site) -> Site:
    """A site of three pages, one link that fails and one that leads away."""
    site.page("/", links("/a", "/b", "/gone", "http://elsewhere.example/"))
    site.page("/a", "<title>A</title>")
    site.page("/b", "<title>B</title>")
    return site


def test_json_is_one_object_with_exactly_the_documented_keys(small: Site, gossamer: Cli) -> None:
    done = gossamer("crawl", small.url("/"), "--rate", "none", "--json")
    assert done.returncode == 0
    (report,) = json_lines(done.stdout)
    assert set(report) == REPORT
    assert (report["run"], report["status"], report["reason"]) == (1, "finished", "done")
    assert (report["pages"], report["items"], report["failed"], report["skipped"], report["retried"]) == (3, 3, 1, 1, 0)
    assert report["by_reason"] == {"ok": 3, "http_404": 1, "scope": 1}
    assert report["bytes"] > 0
    assert report["seconds"] > 0
    assert report["pages_per_second"] > 0


def test_progress_and_words_go_to_stderr_only(small: Site, gossamer: Cli, tmp_path: Path) -> None:
    done = gossamer("crawl", small.url("/"), "--rate", "none")
    assert done.stdout == ""
    assert "finished: 3 pages, 3 items, 1 failed, 1 skipped" in done.stderr
    assert "http_404" in done.stderr
    assert "gossamer export items --run 1" in done.stderr
    assert (tmp_path / "gossamer.db").exists()


def test_quiet_says_nothing(small: Site, gossamer: Cli) -> None:
    done = gossamer("crawl", small.url("/"), "--rate", "none", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_option_reaches_the_site(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    graph_site(site, 50, latency=0.02)
    site.robots("User-agent: *\nDisallow: /p/")
    done = gossamer(
        *("crawl", site.url("/p/0"), "--store", "sqlite:///mine.db", "--scope", "prefix", "--json"),
        *("--include", "/p/", "--exclude", "/p/1$", "--exclude", "/p/2$", "--depth", "3", "--max-pages", "9"),
        *("--concurrency", "8", "--per-host", "3", "--rate", "none", "--no-robots", "--user-agent", "me/1 (x@y.z)"),
        *("--timeout", "5s", "--retries", "1"),
    )
    assert json.loads(done.stdout)["pages"] == 9
    assert done.returncode == 3
    assert len(site.hits) == 9
    assert not {"/robots.txt", "/p/1", "/p/2"} & set(site.paths())
    assert site.peak <= 3
    assert {hit.headers["user-agent"] for hit in site.hits} == {"me/1 (x@y.z)"}
    assert (tmp_path / "mine.db").exists()


def test_rate_is_kept(site: Site, gossamer: Cli) -> None:
    site.page("/*", "<p>x</p>")
    gossamer("crawl", site.url("/1"), site.url("/2"), "--rate", "240/min", "--no-robots")
    assert gaps(site.hits)[0] >= 0.25 - 0.06


def test_timeout_and_retries_are_kept(site: Site, gossamer: Cli) -> None:
    site.hang("/")
    done = gossamer("crawl", site.url("/"), "--timeout", "300ms", "--retries", "0", "--no-robots", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["status"], report["by_reason"]) == (3, "failed", {"timeout": 1})
    assert len(site.hits) == 1
    assert "no complete answer within 0.3 s" in done.stderr


def test_a_start_nobody_answers_for_ends_with_3(gossamer: Cli) -> None:
    with Site() as gone:
        url = gone.url("/")
    done = gossamer("crawl", url, "--retries", "0", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["reason"] == "start_failed"
    assert "no page was read" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_start_of_two_that_answers_is_enough(small: Site, gossamer: Cli) -> None:
    done = gossamer("crawl", small.url("/nowhere"), small.url("/a"), "--rate", "none", "--json")
    assert done.returncode == 0


def test_a_site_closed_by_its_robots_txt_ends_with_3(small: Site, gossamer: Cli) -> None:
    small.robots("", status=500)
    done = gossamer("crawl", small.url("/"), "--rate", "none", "--retries", "0", "--json")
    assert done.returncode == 3
    assert "robots.txt could not be read" in done.stderr


def test_an_address_is_understood_as_people_type_it(small: Site, gossamer: Cli) -> None:
    assert gossamer("crawl", f"localhost:{small.port}/a", "--rate", "none").returncode == 0
    assert small.paths()["/a"] == 1


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["nonsense"], "is not a URL"),
        ([""], "empty URL"),
        (["ftp://example.org/"], "only http and https"),
        (["http://exa mple.org/"], "is not a URL"),
        (["http://x/", "--rate", "fast"], "--rate"),
        (["http://x/", "--scope", "galaxy"], "--scope"),
        (["http://x/", "--include", "("], "--include"),
        (["http://x/", "--timeout", "soon"], "--timeout"),
        (["http://x/", "--per-host", "0"], "--per-host"),
        (["http://x/", "--concurrency", "-1"], "--concurrency"),
        (["http://x/", "--depth", "-1"], "--depth"),
        (["http://x/", "--retries", "-1"], "--retries"),
        (["http://x/", "--max-pages", "0"], "--max-pages"),
        (["http://x/", "--max-pages", "many"], "--max-pages"),
        (["http://x/", "--user-agent", ""], "--user-agent"),
        (["http://x/", "--log-level", "loud"], "--log-level"),
        (["http://x/", "--log-format", "xml"], "--log-format"),
        (["http://x/", "--no-such-option"], "--no-such-option"),
        (["http://x/", "--store", "postgres://x/y"], "postgres"),
        (["http://x/", "--store", "no/such/place.db"], "does not exist"),
        (["http://x/", "--store", "."], "is a folder"),
        ([], "URL"),
    ],
)
def test_what_the_user_must_fix_ends_with_2_and_a_sentence(args: list[str], told: str) -> None:
    assert told in sentence(typed("crawl", *args), 2)


def test_a_refusal_is_one_line_of_the_process(gossamer: Cli) -> None:
    done = gossamer("crawl", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gossamer: 'nonsense' is not a URL: write it like https://example.org/path\n"


def test_a_store_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("just a text, and a long one at that, longer than any header of a database\n" * 20)
    for command in (["crawl", "http://127.0.0.1:1/"], ["runs"], ["status"], ["export", "items"]):
        told = sentence(typed(*command, "--store", "x.db"), 2)
        assert "not a Gossamer store" in told
        assert len(told.splitlines()) == 1


def test_log_lines_are_json_with_run_and_scraper_bound(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from gossamer import Scraper\n"
        "class Bad(Scraper):\n"
        f"    start_urls = ['{site.url('/')}', '{site.url('/2')}']\n"
        "    def parse(self, page):\n"
        "        raise ValueError('oh [red]no[/red]')\n"
    )
    site.page("/*", "<p>x</p>")
    site.flaky("/robots.txt", times=1, status=500)
    done = gossamer("run", "bad.py", "--rate", "none", "--quiet", "--log-format", "json", "--log-level", "debug")
    events = json_lines(done.stderr)
    assert done.stdout == ""
    assert {(event["run"], event["scraper"]) for event in events} == {(1, "bad")}
    failed = [event for event in events if event["event"] == "page.unreadable"]
    assert {event["url"] for event in failed} == {site.url("/"), site.url("/2")}
    assert all("ValueError: oh [red]no[/red] (bad.py, line 5" in event["why"] for event in failed)
    assert all(event["level"] and event["timestamp"] for event in events)


def test_log_lines_are_for_people_by_default(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from gossamer import Scraper\n"
        f"class Bad(Scraper):\n    start_urls = ['{site.url('/')}']\n"
        "    def parse(self, page):\n        raise ValueError('oh')\n"
    )
    site.page("/", "<p>x</p>")
    done = gossamer("run", "bad.py", "--rate", "none", "--log-level", "warning")
    assert "warning page.unreadable" in done.stderr
    assert "Traceback" not in done.stderr
    assert "page.unreadable" not in gossamer("run", "bad.py", "--fresh", "--log-level", "error").stderr


def test_version_and_help(gossamer: Cli) -> None:
    assert gossamer("--version").stdout.startswith("gossamer 0.")
    shown = gossamer("crawl", "--help").stdout
    for option in ("--store", "--scope", "--include", "--exclude", "--depth", "--max-pages", "--concurrency"):
        assert option in shown
    for option in ("--per-host", "--rate", "--no-robots", "--user-agent", "--timeout", "--retries", "--fresh"):
        assert option in shown
