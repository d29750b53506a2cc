"""Stopping and going on: Ctrl-C, SIGTERM, budgets, `resume`, `--fresh`, and two processes on one store."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import pytest

from gossamer.cli import ECHO
from gossamer.testing import Site, graph_site
from tests.cli import ended, interrupt, sentence, start, typed, wait_for_hits
from tests.conftest import Cli, json_lines

PAGES = 60


@pytest.fixture
def graph(site: Site) -> Site:
    """A linked site that takes a while to crawl."""
    graph_site(site, PAGES, latency=0.02)
    return site


def crawl_args(site: Site, *more: str) -> list[str]:
    return ["crawl", site.url("/p/0"), "--rate", "none", "--json", *more]


def fetched_twice(site: Site) -> int:
    return sum(n - 1 for path, n in site.paths().items() if path.startswith("/p/"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_first_signal_ends_gracefully_and_the_same_command_goes_on(
    graph: Site, gossamer: Cli, tmp_path: Path, number: int
) -> None:
    command = start(*crawl_args(graph), cwd=tmp_path)
    wait_for_hits(graph, 20)
    done = interrupt(command, number)
    assert done.returncode == 130
    report = json.loads(done.stdout)
    assert (report["status"], report["reason"]) == ("cancelled", "interrupted")
    assert "press Ctrl-C again to stop at once" in done.stderr
    assert "go on: the same command, or gossamer resume 1" in done.stderr
    assert "Traceback" not in done.stderr
    pages = sum(hit.path.startswith("/p/") for hit in graph.hits)
    assert report["pages"] == pages < PAGES  # what was in flight was finished, and nothing new begun

    again = gossamer(*crawl_args(graph))
    assert again.returncode == 0
    assert re.search(rf"resuming run 1: {pages} done, \d+ waiting, 0 were in flight", again.stderr)
    assert json.loads(again.stdout)["pages"] == PAGES
    assert fetched_twice(graph) == 0


def test_a_second_ctrl_c_stops_at_once_and_loses_nothing(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    site.page("/p/0", "".join(f'<a href="/p/{n}">{n}</a>' for n in range(1, 5)))
    site.page("/p/*", "<p>slow</p>", latency=20)
    command = start(*crawl_args(site), cwd=tmp_path)
    wait_for_hits(site, 6)
    command.send_signal(signal.SIGINT)
    assert command.stderr
    assert "finishing the pages in flight" in command.stderr.readline()
    time.sleep(3 * ECHO)  # signals closer to each other are one key press
    started = time.monotonic()
    done = interrupt(command)
    assert time.monotonic() - started < 3
    assert (done.returncode, done.stdout) == (130, "")
    assert "stopped at once" in done.stderr
    assert "Traceback" not in done.stderr
    site.page("/p/*", "<p>quick</p>")
    again = gossamer(*crawl_args(site))
    assert json.loads(again.stdout)["pages"] == 5
    left = re.search(r"1 done, (\d) waiting, (\d) were in flight", again.stderr)
    assert left
    assert int(left[1]) + int(left[2]) == 4


def test_walks_that_do_not_finish_in_time_are_left_for_the_next_start(
    site: Site, gossamer: Cli, tmp_path: Path
) -> None:
    site.page("/p/0", '<a href="/p/1">x</a>')
    site.page("/p/1", "<p>slow</p>", latency=20)
    command = start(*crawl_args(site), cwd=tmp_path, GOSSAMER_GRACE="0.3s")
    wait_for_hits(site, 3)
    started = time.monotonic()
    done = interrupt(command)
    assert 0.3 <= time.monotonic() - started < 3
    assert done.returncode == 130
    site.page("/p/1", "<p>quick</p>")
    assert json.loads(gossamer(*crawl_args(site)).stdout)["pages"] == 2


def test_ctrl_c_while_a_host_waits_ends_soon(site: Site, tmp_path: Path) -> None:
    site.page("/p/*", '<a href="/p/1">x</a>')
    command = start("crawl", site.url("/p/0"), "--rate", "1/min", cwd=tmp_path)
    wait_for_hits(site, 1)
    started = time.monotonic()
    done = interrupt(command)
    assert time.monotonic() - started < 3
    assert done.returncode == 130


def test_a_killed_run_tells_what_was_in_flight(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    site.page("/p/0", "".join(f'<a href="/p/{n}">{n}</a>' for n in range(1, 8)))
    site.page("/p/*", "<p>slow</p>", latency=20)
    command = start(*crawl_args(site, "--per-host", "3"), cwd=tmp_path)
    wait_for_hits(site, 5)
    time.sleep(0.8)  # what is in flight is noted twice a second
    command.kill()
    ended(command)
    site.page("/p/*", "<p>quick</p>")
    again = gossamer(*crawl_args(site))
    assert "resuming run 1: 1 done, 4 waiting, 3 were in flight" in again.stderr
    assert json.loads(again.stdout)["pages"] == 8


def test_max_pages_goes_on_next_time(graph: Site, gossamer: Cli) -> None:
    pages = []
    for _ in range(3):
        done = gossamer(*crawl_args(graph, "--max-pages", "25"))
        pages.append((done.returncode, json.loads(done.stdout)["run"], json.loads(done.stdout)["pages"]))
    assert pages == [(3, 1, 25), (3, 1, 50), (0, 1, 60)]
    assert fetched_twice(graph) == 0


def test_a_finished_crawl_begins_anew(graph: Site, gossamer: Cli) -> None:
    assert json.loads(gossamer(*crawl_args(graph)).stdout)["run"] == 1
    again = json.loads(gossamer(*crawl_args(graph)).stdout)
    assert (again["run"], again["pages"]) == (2, PAGES)


def test_fresh_starts_over(graph: Site, gossamer: Cli) -> None:
    gossamer(*crawl_args(graph, "--max-pages", "5"))
    done = gossamer(*crawl_args(graph, "--fresh", "--max-pages", "7"))
    report = json.loads(done.stdout)
    assert (report["run"], report["pages"]) == (2, 7)
    assert "resuming" not in done.stderr


def test_another_command_is_another_run(graph: Site, gossamer: Cli) -> None:
    gossamer(*crawl_args(graph, "--max-pages", "5"))
    other = gossamer(*crawl_args(graph, "--max-pages", "5", "--depth", "1"))
    assert json.loads(other.stdout)["run"] == 2
    same = gossamer(*crawl_args(graph, "--max-pages", "6", "--concurrency", "3"))
    assert json.loads(same.stdout)["run"] == 1


def test_resume_by_number_keeps_the_options_of_the_run(graph: Site, gossamer: Cli) -> None:
    options = ["--max-pages", "5", "--user-agent", "same/1", "--depth", "3", "--no-robots"]
    gossamer(*crawl_args(graph, *options))
    gossamer(*crawl_args(graph, "--max-pages", "3", "--exclude", "zzz"))
    graph.clear()
    done = gossamer("resume", "1", "--json", "--max-pages", "4")
    report = json.loads(done.stdout)
    assert (report["run"], report["pages"]) == (1, 9)
    assert {hit.headers["user-agent"] for hit in graph.hits} == {"same/1"}
    assert graph.paths()["/robots.txt"] == 0


def test_resume_without_a_number_takes_the_newest_unfinished_run(graph: Site, gossamer: Cli) -> None:
    gossamer(*crawl_args(graph, "--max-pages", "5"))
    done = gossamer("resume", "--json", "--max-pages", "100")
    assert (done.returncode, json.loads(done.stdout)["pages"]) == (0, PAGES)
    assert "no run is unfinished" in sentence(typed("resume"), 2)
    assert "run 1 has finished" in sentence(typed("resume", "1"), 2)
    assert "there is no run 9" in sentence(typed("resume", "9"), 2)


@pytest.mark.parametrize("rate", ["1/d", "30/min", "none"])
def test_resume_keeps_any_rate(site: Site, rate: str) -> None:
    with Site("127.0.0.2") as other:
        site.page("/", "<p>x</p>")
        other.page("/", "<p>x</p>")
        typed("crawl", site.url("/"), other.url("/"), "--rate", rate, "--no-robots", "--max-pages", "1", "--quiet")
        done = typed("resume", "--json", "--quiet")
    assert (done.returncode, done.stderr, json.loads(done.stdout)["pages"]) == (0, "", 2)


def test_a_scraper_from_a_file_is_resumed_from_anywhere(
    graph: Site, gossamer: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(
        "from gossamer import Scraper\n"
        "class Mine(Scraper):\n    rate = 'none'\n"
        "    def start(self):\n        yield self.params['url']\n"
        "    def parse(self, page):\n        yield {'u': page.url}\n        yield from page.follow('a')\n"
    )
    gossamer("run", "mine.py", "--param", f"url={graph.url('/p/0')}", "--max-pages", "10")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = ended(start("resume", "--store", tmp_path / "gossamer.db", "--max-pages", "50", "--json", cwd=elsewhere))
    assert (done.returncode, json.loads(done.stdout)["pages"]) == (0, PAGES)
    assert fetched_twice(graph) == 0


def test_a_second_process_on_the_store_is_refused_and_may_look_on(site: Site, tmp_path: Path) -> None:
    graph_site(site, PAGES, latency=0.1)
    command = start(*crawl_args(site), cwd=tmp_path)
    wait_for_hits(site, 10)
    told = sentence(typed("crawl", site.url("/p/0"), "--rate", "none"), 2)
    assert f"in use by process {command.pid}" in told
    assert len(told.splitlines()) == 1
    looking = typed("runs", "--json")
    assert [run["status"] for run in json_lines(looking.stdout)] == ["running"]
    done = ended(command)
    assert json.loads(done.stdout)["pages"] == PAGES
