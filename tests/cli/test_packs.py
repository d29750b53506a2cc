"""The packs through the command line, on the demo sites that ship with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer import registry
from gossamer.catalog import Catalog
from gossamer.demo import packs as demo
from gossamer.demo.packs import PackSites
from gossamer.testing import Site
from tests.conftest import Cli, json_lines

#: What every pack must bring from its demo sites.
KINDS = {"art": {"opportunity"}, "nba": {"game"}, "jobs": {"job"}}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", KINDS)
def test_a_whole_pack_runs_offline(name: str, gossamer: Cli) -> None:
    done = gossamer("run", name, "--demo", "--json", "--quiet", timeout=170)
    reports = json_lines(done.stdout)
    paused = [each.scraper.name for each in registry.pack(name) if each.scraper.paused]
    assert all(f"{each} ships paused" in done.stderr for each in paused)
    assert len(reports) == len(registry.choose(name)), done.stderr
    assert "Traceback" not in done.stderr
    assert sum(each["items"] for each in reports) > 10
    items = json_lines(gossamer("export", "items", "--store", "demo.db", "--source").stdout)
    assert {each["_kind"] for each in items} >= KINDS[name]


def test_every_scraper_of_a_pack_has_a_name_of_the_pack_and_says_what_it_is() -> None:
    for pack in registry.packs():
        for found in registry.pack(pack):
            assert found.scraper.name.startswith(f"{pack}."), found.ref
            assert found.scraper.__doc__, found.ref
            assert registry.load_all(found.ref)[0].scraper is found.scraper
            if not found.scraper.paused:
                assert found.scraper.every or found.scraper.cron, f"{found.ref} has no schedule"


def test_listed_packs_are_scrapers_of_a_service() -> None:
    catalog = Catalog(("art", "nba.espn"))
    assert "nba.espn" in catalog
    assert "nba.hoopr" not in catalog
    assert {each.scraper.name for each in registry.pack("art")} <= set(catalog.scrapers)
    assert not catalog.broken


def test_the_demo_sites_stand_in_for_every_start_of_every_scraper() -> None:
    hosts = set(PackSites().hosts)
    for found in registry.in_packs():
        scraper = found.scraper(demo.params(found))
        for request in list(scraper.start()):  # type: ignore[arg-type]
            url = request if isinstance(request, str) else request.url
            assert url.split("/")[2] in hosts, f"{found.scraper.name} starts at {url}"


def test_a_list_names_packs_and_shows_one_with_its_parameters(gossamer: Cli) -> None:
    listed = gossamer("list")
    assert listed.returncode == 0
    assert "nba.espn" in listed.stdout
    one = gossamer("list", "nba.espn")
    assert "--param season=" in one.stdout
    assert "Traceback" not in one.stderr


def test_misspelled_names_and_parameters_are_one_sentence(gossamer: Cli) -> None:
    wrong = gossamer("run", "nba.espnn")
    assert (wrong.returncode, wrong.stderr.strip()) == (
        2,
        "gossamer: no scraper is called 'nba.espnn': did you mean 'nba.espn'?",
    )
    wrong = gossamer("run", "nba.espn", "--demo", "--param", "seasn=2024")
    assert wrong.returncode == 2
    assert "did you mean 'season'?" in wrong.stderr
    wrong = gossamer("run", "nba", "--demo", "--param", "colour=red")
    assert wrong.returncode == 2
    assert "has a parameter 'colour'" in wrong.stderr


def test_several_are_run_side_by_side_and_one_that_cannot_run_is_left_out(gossamer: Cli, tmp_path: Path) -> None:
    (tmp_path / "shy.py").write_text("from gossamer import Scraper\n\n\nclass Shy(Scraper):\n    rate = '1/s'\n")
    wrong = gossamer("run", "jobs.goose", "jobs.aap", "--demo", "--param", "only=foo")
    assert wrong.stderr.count("write only=matching") == 1
    wrong = gossamer("run", "shy.py", "--demo")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "no demo sites for shy" in wrong.stderr
    wrong = gossamer("run", "jobs.goose", "--param", "only=all", "--param", "only=all")
    assert wrong.stderr.strip() == "gossamer: --param only is given twice: give it once"
    done = gossamer("run", "jobs.goose", "art.cafe", "--demo", "--json", "--param", "region=5")
    assert [each["pages"] > 0 for each in json_lines(done.stdout)] == [True, True]
    assert "region is for art.cafe, and nothing to the others" in done.stderr


def test_a_browser_that_is_not_there_costs_only_who_needs_it(gossamer: Cli, site: Site, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\n\nsys.modules['playwright'] = None\n")
    assert gossamer("list", PYTHONPATH=str(tmp_path)).returncode == 0
    elsewhere = {"GOSSAMER_STAND_INS": json.dumps({"*": site.url("")}), "PYTHONPATH": str(tmp_path)}
    done = gossamer("run", "jobs.goose", "jobs.indigo", **elsewhere)
    assert "jobs.indigo is left out: rendering needs Playwright" in done.stderr
    assert "run 1 (jobs.goose) failed" in done.stderr
    assert gossamer("run", "jobs.indigo", **elsewhere).returncode == 2
