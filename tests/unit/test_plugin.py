"""A package of somebody else's: installed, found by its entry points, and used by the command."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.testing import Site
from tests.conftest import ROOT, Cli, json_lines

#: pip builds the plugin first, and each test starts the command several times.
pytestmark = pytest.mark.timeout(180)

SOUP = {
    "@context": "https://schema.org",
    "@type": "Recipe",
    "name": "Nettle soup",
    "recipeYield": "4 bowls",
    "recipeIngredient": ["500 g nettles", " 1  onion "],
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`examples/plugin`, installed by pip into a folder of its own."""
    target = tmp_path_factory.mktemp("installed")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
        "-t",
        str(target),
    ]
    if importlib.util.find_spec("hatchling"):  # else pip gets it from PyPI
        command.append("--no-build-isolation")
    done = subprocess.run([*command, str(ROOT / "examples" / "plugin")], capture_output=True, text=True, timeout=150)
    if done.returncode and ("No matching distribution" in done.stderr or "onnection" in done.stderr):
        pytest.skip(f"hatchling, which builds the plugin, cannot be had: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def kitchen(site: Site) -> Iterator[Site]:
    """A site of one recipe, and of a page that is none."""
    script = f'<script type="application/ld+json">{json.dumps(SOUP)}</script>'
    site.page("/", '<title>All</title><a class="recipe" href="/soup">Soup</a><a class="recipe" href="/about">Us</a>')
    site.page("/soup", f"<title>Soup</title>{script}<h1>Nettle soup</h1>")
    site.page("/about", "<title>About us</title><p>We cook.</p>")
    return site


def _expected(site: Site) -> dict[str, object]:
    ingredients = ["500 g nettles", "1 onion"]
    return {"url": site.url("/soup"), "name": "Nettle soup", "yields": "4 bowls", "ingredients": ingredients}


def test_the_parser_of_a_plugin_is_used_by_name_and_picked_by_type(
    installed: Path, kitchen: Site, gossamer: Cli
) -> None:
    for name in ("recipe", "auto"):
        done = gossamer("try", kitchen.url("/soup"), "--parser", name, PYTHONPATH=str(installed))
        assert done.returncode == 0, done.stderr
        assert json_lines(done.stdout) == [_expected(kitchen)]
    assert "the parser 'recipe', which auto picked," in done.stderr


def test_the_scraper_of_a_plugin_is_known_by_name_and_found_by_url(
    installed: Path, kitchen: Site, gossamer: Cli, tmp_path: Path
) -> None:
    listed = gossamer("list", PYTHONPATH=str(installed))
    assert "kitchen" in listed.stdout
    for named in ("kitchen", "https://recipes.example/soup"):
        site = f"site={kitchen.url('/')}"
        done = gossamer("run", named, "--param", site, "--rate", "none", "--fresh", "-q", PYTHONPATH=str(installed))
        assert done.returncode == 0, done.stderr
        out = gossamer("export", "items", "--scraper", "kitchen", PYTHONPATH=str(installed))
        assert json_lines(out.stdout) == [_expected(kitchen)]


def test_without_the_package_nobody_knows_its_parser(kitchen: Site, gossamer: Cli) -> None:
    done = gossamer("try", kitchen.url("/soup"), "--parser", "recipe")
    assert done.returncode == 2
    assert "no parser is called 'recipe': there are article, event, feeds, generic, job" in done.stderr
