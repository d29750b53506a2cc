"""What somebody new does in the first hour, and must not stumble over."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from gossamer.testing import Site
from tests.conftest import Cli, json_lines

SCRIPT = """
from gossamer import Scraper, run


class Walk(Scraper):
    start_urls = ["{url}"]
    rate = "none"

    def parse(self, page):
        yield {{"url": page.url}}
        yield from page.follow(page.links)


if __name__ == "__main__":
    run(Walk, max_pages=1)
"""


def test_a_run_begun_by_a_script_is_resumed_by_the_command(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    """A class of `__main__` is known by its file, so that both doors mean the same run."""
    site.page("/", '<a href="/a">a</a>')
    site.page("/a", "<p>a</p>")
    (tmp_path / "walk.py").write_text(SCRIPT.format(url=site.url("/")))
    subprocess.run([sys.executable, "walk.py"], cwd=tmp_path, check=True, timeout=30)
    done = gossamer("resume", "--json")
    assert done.returncode == 0, done.stderr
    assert json_lines(done.stdout)[0]["run"] == 1
    assert site.paths()["/"] == 1


def test_status_says_of_a_run_under_way_that_it_is_running(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    site.page("/", '<a href="/slow">slow</a>')
    site.page("/slow", "<p>late</p>", latency=30)
    command = [sys.executable, "-m", "gossamer", "crawl", site.url("/"), "--rate", "none", "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path) as crawl:
        while "/slow" not in site.paths():
            time.sleep(0.02)
        told = gossamer("status")
        crawl.kill()
    assert told.stdout.startswith("run 1 (crawl) running: 1 page, 1 item, ")


def test_list_shows_the_pace_that_will_hold(gossamer: Cli, tmp_path: Path) -> None:
    """The class's own, else that of the environment or of gossamer.toml."""
    (tmp_path / "two.py").write_text(
        "from gossamer import Scraper\n\n\nclass Own(Scraper):\n    rate = '3/s'\n\n\nclass Other(Scraper):\n    pass\n"
    )
    (tmp_path / "gossamer.toml").write_text('scrapers = ["two.py"]\nrate = "7/s"\n')
    own, _, _ = gossamer("list").stdout.partition("in packs")
    rows = {line.split()[0]: line.split()[1] for line in own.splitlines()[1:]}
    assert rows == {"own": "3/s", "other": "7/s"}


def test_headers_can_be_given_in_the_environment(site: Site, gossamer: Cli) -> None:
    site.page("/", "<p>hi</p>")
    done = gossamer("crawl", site.url("/"), GOSSAMER_HEADERS='{"X-Asked-By": "a test"}')
    assert done.returncode == 0, done.stderr
    assert {hit.headers.get("x-asked-by") for hit in site.hits} == {"a test"}
    refused = gossamer("settings", GOSSAMER_HEADERS="X-Asked-By: a test")
    assert refused.returncode == 2
    assert "GOSSAMER_HEADERS" in refused.stderr
