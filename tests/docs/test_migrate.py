"""The pages about moving to Gossamer: every snippet has its counterpart, and what they name is there."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer import Scraper, settings
from tests.docs import reading, reference
from tests.docs.places import places
from tests.docs.reading import Block
from tests.service.serving import Served

PAGES = [reading.ROOT / "docs" / "migrate.md", *sorted((reading.ROOT / "docs" / "migrate").glob("*.md"))]
HAD = "skip because it is what you had"
#: Long enough to recognise it, too short to be a copy.
LONGEST = 14

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^\|.+\|\n\|[-| :]+\|\n(?:\|.+\|\n)+", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_ROUTE = re.compile(r"(GET|POST|PUT|PATCH|DELETE) (/\S+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_you_had_is_followed_by_what_it_is_now(page: Path) -> None:
    blocks = reading.blocks(page)
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block.told("test") == HAD:
            assert after is not None, f"{block.place}: nothing follows"
            assert not (after.told("test") or "").startswith("skip"), f"{after.place}: this is not run"
            assert len(block.text.splitlines()) <= LONGEST, f"{block.place}: too long to be an excerpt"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_you_had_is_python(page: Path) -> None:
    """Where it says so: a typing mistake in code that nobody runs would stay."""
    for block in reading.blocks(page):
        if block.language == "python" and block.told("test") == HAD:
            # Excerpts yield and await outside of functions.
            body = "".join(f"    {line}\n" for line in block.text.splitlines())
            ast.parse(f"async def excerpt(self):\n{body}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_settings_it_gives_for_yours_can_be_set(page: Path) -> None:
    known = {*settings.KNOBS, *vars(Scraper)}
    for said in _said_here(page):
        name, equals, value = said.partition(" = ")
        if not equals:
            continue
        assert name in known, f"{page.name} says {said}, and there is no {name}"
        if name in settings.KNOBS and not value.startswith(("[", "(", "{")):
            settings.read({name: ast.literal_eval(value.replace("true", "True"))}, environ={})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_and_routes_it_names_exist(page: Path) -> None:
    commands = reference.commands()
    routes = [
        (method.upper(), re.compile(re.sub(r"\\{\w+\\}", r"[^/]+", re.escape(path)) + "/?"))
        for path, operations in reference.api_document()["paths"].items()
        for method in operations
    ]
    for code in _CODE.findall(_prose(page)):
        if code.startswith("gossamer "):
            words = [word for word in code.split()[1:] if not word.startswith("-")]
            assert " ".join(words[:2]) in commands or words[0] in commands, f"{page.name} names {code}"
        if (found := _ROUTE.fullmatch(code)) and found[2].startswith("/api/"):
            path = found[2].partition("?")[0]
            assert any(found[1] == method and route.fullmatch(path) for method, route in routes), code


def _prose(page: Path) -> str:
    """A page without its blocks."""
    return _FENCED.sub("", page.read_text("utf-8"))


def _said_here(page: Path) -> Iterator[str]:
    """What stands as code in the columns of tables that say what something is here."""
    for table in _TABLE.findall(_prose(page)):
        head, _, *rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()]
        wanted = [number for number, cell in enumerate(head) if cell == "here"]
        for row in rows:
            for number in wanted:
                yield from _CODE.findall(row[number] if number < len(row) else "")


# -- what asks a service ------------------------------------------------------------------------------------------

ASKING = [page for page in PAGES if any(block.told("asks") for block in reading.blocks(page))]


@pytest.mark.timeout(180)
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("page", ASKING, ids=lambda page: page.stem)
def test_the_service_answers_as_the_page_says(page: Path, tmp_path: Path) -> None:
    """A real service with the scrapers of the page, asked by curl; an answer has at least what the page shows of it."""
    blocks = reading.blocks(page)
    files = [block for block in blocks if block.language == "python" and block.told("file")]
    for block in files:
        (tmp_path / str(block.told("file"))).write_text(block.text, "utf-8")
    with places() as local:
        env = {"GOSSAMER_STAND_INS": json.dumps(local.stand_ins()), "GOSSAMER_RATE": "none"}
        served = Served(tmp_path, *(block.told("file") for block in files), **env)
        try:
            for block, after in zip(blocks, [*blocks[1:], None], strict=True):
                if block.told("asks"):
                    _ask(block, after, served)
        finally:
            served.stop()


def _ask(block: Block, after: Block | None, served: Served) -> None:
    """Run the commands of a block, and hold the answer against the one shown after it, if one is."""
    done = subprocess.run(
        ["bash", "-ec", block.text.replace("curl ", "curl -sS --fail-with-body ")],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "API": served.url, "AUTH": f"Authorization: Bearer {served.token}"},
    )
    assert done.returncode == 0, f"{block.place}: {done.stdout}{done.stderr}"
    if after is not None and after.language == "json":
        _holds(json.loads(after.text), json.loads(done.stdout), block.place)


def _holds(shown: Any, real: Any, where: str) -> None:
    if isinstance(shown, dict):
        for name, value in shown.items():
            assert name in real, f"{where}: the answer has no {name}: {real}"
            _holds(value, real[name], f"{where}, {name}")
    elif isinstance(shown, list):
        assert len(shown) == len(real), where
        for one, other in zip(shown, real, strict=True):
            _holds(one, other, where)
    else:
        assert shown == real, f"{where}: it is {real!r}, not {shown!r}"
