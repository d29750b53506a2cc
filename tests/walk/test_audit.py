"""Real runs, audited: honest ones are clean, and a gate that is broken on purpose is caught by its log."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from gossamer import cli_audit, runs
from gossamer.audit import Audit
from gossamer.polite.gate import Door
from gossamer.polite.robots import Robots
from gossamer.testing import Answer, Hit, Site
from tests.conftest import Cli
from tests.walk import crawl, links

STORE = "gossamer.db"


def audited(run: int | None = None) -> Audit:
    async def look() -> Audit:
        async with runs.open_store(STORE) as opened:
            return await cli_audit.of_store(opened, run)

    return asyncio.run(look())


def rules(found: Audit) -> set[str]:
    return {breach.rule for breach in found.breaches}


def fill(site: Site, pages: int = 8, *, latency: float = 0.0) -> None:
    site.page("/", links(*(f"/{n}" for n in range(pages)), "/private/"))
    for n in range(pages):
        site.page(f"/{n}", "<h1>page</h1>", latency=latency)
    site.page("/private/", "<h1>private</h1>")


@pytest.fixture
def open_gate(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Doors that keep no pace and heed no hold."""
    monkeypatch.setattr(Door, "next_at", property(lambda self: 0.0, lambda self, value: None))
    monkeypatch.setattr(Door, "go", lambda self, now: 0.0)
    return monkeypatch


# -- honest runs


def test_an_honest_run_is_clean(site: Site) -> None:
    fill(site)
    site.robots("User-agent: *\nCrawl-delay: 0.1\nDisallow: /private/\n")
    site.flaky("/3", status=429, retry_after="1", then="<h1>late</h1>")
    crawl(site.url("/"), rate="20/s", per_host=2)
    found = audited()
    assert found.clean, found.breaches
    (host,) = found.hosts
    assert host.host == site.authority
    assert host.fetches == 11  # robots.txt, the start, eight pages, one of them twice
    assert host.shortest_gap is not None
    assert host.shortest_gap >= 0.095
    assert host.asked_gap == 0.1
    assert host.at_once <= 2
    (wait,) = host.retry_after
    assert wait.kept
    assert wait.next is not None
    assert wait.next - wait.at >= 0.995
    assert [delay.seconds for delay in host.crawl_delays] == [0.1]
    assert sum(decision.count for decision in host.decisions if decision.fetched) == 10
    assert (host.exempt, host.unproven) == (0, 0)


def test_runs_that_share_a_host_and_follow_each_other_are_clean_together(site: Site) -> None:
    fill(site, 4)
    for rate in ("10/s", "none", "20/s"):
        crawl(site.url("/"), rate=rate, fresh=True)
    found = audited()
    assert found.clean, found.breaches
    assert len(found.hosts[0].limits) == 3
    assert audited(run=2).hosts[0].fetches < found.hosts[0].fetches


def test_a_run_that_was_told_not_to_obey_robots_is_exempt(site: Site) -> None:
    fill(site, 2)
    site.robots("User-agent: *\nDisallow: /\n")
    crawl(site.url("/"), robots=False)
    found = audited()
    assert found.clean
    assert found.hosts[0].exempt == found.fetches
    assert "told not to obey robots.txt" in found.notes[0]


# -- broken on purpose


def test_a_gate_that_keeps_no_pace_is_caught(site: Site, open_gate: pytest.MonkeyPatch) -> None:
    fill(site)
    crawl(site.url("/"), rate="5/s")
    found = audited()
    assert rules(found) == {"rate"}
    assert found.breach_count >= 5
    assert site.authority in found.breaches[0].text


def test_a_gate_that_ignores_a_crawl_delay_is_caught(site: Site, open_gate: pytest.MonkeyPatch) -> None:
    fill(site)
    site.robots("User-agent: *\nCrawl-delay: 5\n")
    crawl(site.url("/"))
    assert rules(audited()) == {"crawl_delay"}


def test_a_gate_that_does_not_wait_is_caught(site: Site, open_gate: pytest.MonkeyPatch) -> None:
    fill(site, 8, latency=0.05)
    site.page("/", links(*(f"/{n}" for n in range(8))))
    site.flaky("/0", status=429, retry_after="30", then="<h1>late</h1>")
    crawl(site.url("/"), per_host=2)
    found = audited()
    assert rules(found) == {"retry_after"}
    assert not found.hosts[0].retry_after[0].kept


def test_a_gate_that_lets_too_many_in_is_caught(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(site, latency=0.1)
    monkeypatch.setattr(Door, "room", property(lambda self: 100))
    crawl(site.url("/"), per_host=2)
    found = audited()
    assert rules(found) == {"concurrency"}
    assert found.hosts[0].at_once > 2


def test_rules_that_are_not_obeyed_are_caught(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(site)
    site.robots("User-agent: *\nDisallow: /private/\n")
    with monkeypatch.context() as patched:
        patched.setattr(Robots, "allows", lambda self, url: True)
        patched.setattr(Robots, "forbids", lambda self, url: None)
        crawl(site.url("/"))
    found = audited()
    (breach,) = found.breaches
    assert breach.rule == "robots"
    assert breach.urls == (site.url("/private/"),)
    assert "line 2: Disallow: /private/" in breach.text


# -- the command


def test_the_command_ends_with_1_if_a_promise_was_broken(
    site: Site, gossamer: Cli, open_gate: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(site)
    crawl(site.url("/"), rate="5/s")
    said = gossamer("audit")
    assert said.returncode == 1, said.stderr
    assert f"breach of rate, run 1: {site.authority} was asked for" in said.stdout
    assert "broken: " in said.stdout
    said = gossamer("audit", "1", "--json")
    assert said.returncode == 1
    told = json.loads(said.stdout)
    assert told["clean"] is False
    assert told["hosts"][0]["breaches"][0]["rule"] == "rate"
    said = gossamer("audit", "7")
    assert said.returncode == 2
    assert "there is no run 7" in said.stderr


def test_the_command_ends_with_0_if_all_was_kept(site: Site, gossamer: Cli) -> None:
    def slow(hit: Hit) -> Answer:
        return Answer(body=links("/a", "/b"), latency=0.02)

    site.handler("/*", slow)
    crawl(site.url("/"), rate="20/s")
    said = gossamer("audit")
    assert said.returncode == 0, said.stdout + said.stderr
    assert "no limit exceeded" in said.stdout
