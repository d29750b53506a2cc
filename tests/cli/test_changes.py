"""`gossamer changes` and `gossamer rejects`: what happened to items, and what became none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.testing import Site
from tests.cli import sentence, typed

SCRAPER = """
from gossamer import Scraper

class Shop(Scraper):
    name, key, kind, rate = "shop", "id", "product", "none"
    start_urls = ["{url}"]

    def parse(self, page):
        for each in page.css("li"):
            yield {{"id": each.css("a").text or None, "price": each.css("b").text}}
"""


def shop(site: Site, *things: tuple[str, str]) -> None:
    """Play a shop that has these things."""
    site.page("/", "".join(f"<li><a>{name}</a> <b>{price}</b></li>" for name, price in things))
    Path("shop.py").write_text(SCRAPER.format(url=site.url("/")))
    assert typed("run", "shop.py", "--quiet").returncode == 0


def told(*words: str) -> list[Any]:
    return [msgspec.json.decode(line) for line in typed("changes", *words, "--json").stdout.splitlines()]


@pytest.fixture
def changed(site: Site) -> None:
    shop(site, ("pen", "1"), ("ink", "2"), ("nib", "3"))
    shop(site, ("pen", "1"), ("ink", "5"))
    shop(site, ("pen", "1"), ("ink", "5"), ("nib", "3"))


@pytest.mark.usefixtures("changed")
def test_what_is_new_changed_gone_and_back_is_told_field_by_field() -> None:
    found = told()
    assert [(each["what"], each["key"], each["run"]) for each in found] == [
        ("new", "pen", 1),
        ("new", "ink", 1),
        ("new", "nib", 1),
        ("changed", "ink", 2),
        ("gone", "nib", 2),
        ("back", "nib", 3),
    ]
    assert found[3]["fields"] == {"price": ["2", "5"]}
    assert found[3]["record"] == {"id": "ink", "price": "5"}


@pytest.mark.usefixtures("changed")
def test_the_history_of_one_item() -> None:
    assert [each["what"] for each in told("--key", "nib", "--since", "all")] == ["new", "gone", "back"]
    assert told("--key", "nothing") == []


@pytest.mark.usefixtures("changed")
def test_only_what_is_asked_for() -> None:
    assert [each["key"] for each in told("--what", "changed", "--what", "gone")] == ["ink", "nib"]
    assert told("--scraper", "other") == []
    assert told("--kind", "other") == []
    assert told("--since", "1ms") == []


@pytest.mark.usefixtures("changed")
def test_a_table_for_people() -> None:
    done = typed("changes")
    assert "price: 2 → 5" in done.stdout
    assert done.stderr.strip() == "1 back, 1 changed, 1 gone, 3 new"
    assert "(the last 2 are shown)" in typed("changes", "--limit", "2").stderr
    assert "nothing new" in typed("changes", "--kind", "other").stderr


@pytest.mark.usefixtures("changed")
def test_items_that_are_gone_are_not_among_the_current_ones(site: Site) -> None:
    shop(site, ("pen", "1"))
    assert typed("export", "items").stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--since", "yesterday"], "write an age"),
        (["--what", "old"], "write new, changed, gone or back"),
        (["--store", "nowhere.db"], "there is no store"),
    ],
)
def test_what_cannot_be_asked_is_said(words: list[str], said: str) -> None:
    assert said in sentence(typed("changes", *words), 2)


def test_records_that_became_no_items_are_shown_with_page_and_reason(site: Site) -> None:
    site.page("/", "<li><a>pen</a></li><li><b>3</b></li>")
    Path("shop.py").write_text(SCRAPER.format(url=site.url("/")))
    done = typed("run", "shop.py")
    assert "1 item, 1 rejected" in done.stderr
    assert "1 record became no item: gossamer rejects 1" in done.stderr.replace("python -m gossamer", "gossamer")
    (reject,) = [msgspec.json.decode(line) for line in typed("rejects", "--json").stdout.splitlines()]
    assert (reject["step"], reject["url"], reject["data"]["price"]) == ("key", site.url("/"), "3")
    assert "has no 'id'" in typed("rejects", "1").stdout
    assert "no record was rejected" in typed("rejects", "--scraper", "other").stderr
    assert "there is no run 9" in sentence(typed("rejects", "9"), 2)
