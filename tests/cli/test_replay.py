"""`gossamer replay`: what a person types to read archived pages again, and what they see."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.testing import Site
from tests.cli import ended, sentence, start, typed
from tests.conftest import json_lines
from tests.walk import links

SHOP = """
from gossamer import Scraper

class Shop(Scraper):
    key = "id"
    rate = "none"
    start_urls = ["{url}"]

    def parse(self, page):
        yield from page.follow("a", to=self.product)

    def product(self, page):
        {product}
"""
BEFORE = 'yield {"id": page.url[-1], "price": page.css("b").text}'
AFTER = 'yield {"id": page.url[-1], "price": page.css("i").text, "name": page.css("h1").text}'


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a store in which a shop was read, and with the scraper as it is today."""
    folder = tmp_path_factory.mktemp("replay")
    with Site() as site:
        site.page("/", links("/1", "/2", "/3"))
        for n in (1, 2, 3):
            site.page(f"/{n}", f"<h1>Thing {n}</h1><b>{n}.00</b><i>{n}.50</i>")
        (folder / "shop.py").write_text(SHOP.format(url=site.url("/"), product=BEFORE))
        assert ended(start("run", "shop.py", "-q", cwd=folder)).returncode == 0
        (folder / "shop.py").write_text(SHOP.format(url=site.url("/"), product=AFTER))
        yield folder


@pytest.fixture(autouse=True)
def _there(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)


def test_the_summary_counts_fields_with_an_example() -> None:
    done = typed("replay", "shop.py", "-q", "--workers", 1)
    assert done.returncode == 0, done
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0].startswith("shop: 4 pages read again in ")
    assert lines[0].endswith("0 of 3 items the same, 3 changed")
    assert lines[1] == "kind field changed filled emptied for example"
    assert re.fullmatch(r"item name 3 3 - (\d): - → Thing \1", lines[2])
    assert re.fullmatch(r"item price 3 - - (\d): \1\.00 → \1\.50", lines[3])
    assert "nothing was written: --apply does that, --diff shows every difference" in done.stderr


def test_diff_shows_what_was_and_what_is() -> None:
    done = typed("replay", "shop.py", "-q", "--diff", "--url", "/2$", "--workers", 1)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("~ changed item 2  http://")
    assert [line.strip() for line in lines[1:4]] == ["- price: 2.00", "+ price: 2.50", "+ name: Thing 2"]


def test_differences_as_json_lines() -> None:
    done = typed("replay", "shop.py", "-q", "--diff", "--json", "--workers", 1)
    *differences, summary = json_lines(done.stdout)
    assert sorted(each["key"] for each in differences) == ["1", "2", "3"]
    one = next(each for each in differences if each["key"] == "1")
    assert (one["what"], one["fields"]) == ("changed", {"price": ["1.00", "1.50"], "name": [None, "Thing 1"]})
    assert one["record"] == {"id": "1", "price": "1.50", "name": "Thing 1"}
    assert (summary["scraper"], summary["pages"], summary["changed"], summary["run"]) == ("shop", 4, 3, None)


def test_apply_writes_and_says_where_to_look(shop: Path, tmp_path: Path) -> None:
    for path in shop.glob("gossamer.db*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    done = typed("replay", "shop.py", "-q", "--apply", "--store", tmp_path / "gossamer.db", "--workers", 1)
    assert "written as run 2: " in done.stderr
    exported = typed("export", "items", "--store", tmp_path / "gossamer.db")
    assert {(each["id"], each["price"]) for each in json_lines(exported.stdout)} == {
        ("1", "1.50"),
        ("2", "2.50"),
        ("3", "3.50"),
    }
    again = typed("replay", "shop.py", "-q", "--store", tmp_path / "gossamer.db", "--json", "--workers", 1)
    assert json.loads(again.stdout)["same"] == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["shop.py", "--url", "("], "--url '(' cannot be used"),
        (["shop.py", "--run", "9"], "there is no run 9"),
        (["shop.py", "--store", "none.db"], "there is no store at none.db"),
        (["none.py"], "there is no file none.py"),
        (["shop.py", "--warc", "none.warc.gz"], "none.warc.gz cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(options: list[str], said: str) -> None:
    assert said in sentence(typed("replay", *options), 2)


def test_ctrl_c_ends_it_at_once_and_leaves_no_process(shop: Path) -> None:
    slow = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60); yield {}"
    (shop / "slow.py").write_text(SHOP.format(url="http://x.example/", product=slow))
    process = start("replay", "slow.py", "--workers", "1", cwd=shop)
    end = time.monotonic() + 20
    while not (shop / "pid").exists() or not (shop / "pid").read_text():
        assert time.monotonic() < end, process.communicate()
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int((shop / "pid").read_text()), 0)
