"""What README and docs show is true: their code runs, their commands print what they say."""

from __future__ import annotations

import ast
import asyncio
import doctest
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gossamer import Page, Request, Response, Scraper, run, settings
from gossamer.fetch import browser
from gossamer.rulefile import scraper_from
from gossamer.values import Headers
from tests.docs import reading
from tests.docs.places import Places, examples, places, write_examples
from tests.docs.reading import Block

WITH_BLOCKS = [page for page in reading.PAGES if reading.blocks(page)]
#: Examples that are scrapers; the others are programs, which tests elsewhere run as such.
SCRAPERS = [path for path in sorted((reading.ROOT / "examples").glob("*.py")) if "(Scraper)" in path.read_text("utf-8")]
#: Examples that are files of rules.
RULES = [path for path in examples() if path.suffix != ".py"]
_NAMES = count()


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    """The sites the pages speak of, and a folder with the examples to work in."""
    write_examples(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)
    with places() as started:
        for path in tmp_path.iterdir():
            path.write_text(started.local(path.read_text("utf-8")), "utf-8")
        yield started


# A page starts the command a dozen times: on a busy machine that takes longer than a test should.
@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.name)
def test_every_block_of_a_page_does_what_the_page_says(page: Path, local: Places, tmp_path: Path) -> None:
    """Blocks run in order, in one folder, as a reader would run them."""
    html = ""
    said: dict[str, Any] = {}
    for block in reading.blocks(page):
        if (block.told("test") or "").startswith("skip because"):
            continue
        if block.told("needs") == "chromium" and browser.missing():
            continue
        match block.language:
            case "html":
                html = block.text
            case "python" if block.text.startswith(">>>"):
                _talk(block, html, said)
            case "python":
                _run_python(block, local, tmp_path)
            case "toml" | "yaml" | "json" if block.told("file"):
                _run_rules(block, local, tmp_path)
            case "toml":
                _read_settings(block, tmp_path)
            case "console":
                _run_commands(block, local, tmp_path)
            case "sh" | "text" | "json" | "csv" | "sql":
                pass
            case other:
                pytest.fail(f"{block.place}: nothing is known to do with {other!r}")


def test_the_readme_shows_a_scraper_of_at_most_15_lines() -> None:
    shown = [b for b in reading.blocks(reading.ROOT / "README.md") if b.language == "python" and "(Scraper)" in b.text]
    assert shown
    assert len(shown[0].text.strip().splitlines()) <= 15


def test_the_readme_and_the_examples_show_the_same_quotes_scraper() -> None:
    shown = [b.text for b in reading.blocks(reading.ROOT / "README.md") if b.told("file") == "quotes.py"]
    assert shown == [(reading.ROOT / "examples" / "quotes.py").read_text("utf-8")]


@pytest.mark.parametrize("path", SCRAPERS, ids=lambda path: path.name)
def test_every_example_brings_items(path: Path, local: Places, tmp_path: Path) -> None:
    block = Block(place=path.name, language="python", text=path.read_text("utf-8"), remark="")
    assert _run_python(block, local, tmp_path), "it defines no scraper"


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_every_example_that_is_a_file_of_rules_brings_items(path: Path, local: Places, tmp_path: Path) -> None:
    text = path.read_text("utf-8")
    _run_rules(Block(place=path.name, language="toml", text=text, remark=f"file: {path.name}"), local, tmp_path)


@pytest.mark.parametrize("page", reading.PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for link in reading.links(page):
        target, _, anchor = link.partition("#")
        if ":" in target:
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name} links to {link}, which is not there"
        if anchor:
            assert anchor in reading.anchors(path), f"{page.name} links to {link}: no such heading"


def test_every_page_of_the_docs_can_be_reached_from_the_index() -> None:
    reached, waiting = set(), [reading.ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in reading.links(page) if ":" not in link]
    assert set(reading.ROOT.glob("docs/**/*.md")) <= reached


# -- python ------------------------------------------------------------------------------------------------------


def _run_python(block: Block, local: Places, folder: Path) -> list[type[Scraper]]:
    """Run a block, then every scraper it defines: each must end well and bring items."""
    text = local.local(block.text)
    path = folder / (block.told("file") or f"block_{next(_NAMES)}.py")
    path.write_text(text, "utf-8")
    module = ModuleType(f"docs_{path.stem}_{next(_NAMES)}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    # A notebook's cell may await at its top.
    code = compile(text, str(path), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & inspect.CO_COROUTINE:
        with asyncio.Runner() as runner:
            runner.run(eval(code, module.__dict__))
    else:
        exec(code, module.__dict__)
    made = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Scraper) and value.__module__ == module.__name__
    ]
    if block.told("test") == "runs itself":
        return made
    params = dict(pair.split("=") for pair in (block.told("params") or "").split())
    for scraper in made:
        _run_scraper(scraper, block.place, params)
    return made


def _run_scraper(scraper: type[Scraper], place: str, params: dict[str, str]) -> None:
    report = run(scraper, params=params, dry_run=True, rate="none")
    assert report.reason == "done", f"{place}: {scraper.__name__} ended with {report}"
    assert report.items > 0, f"{place}: {scraper.__name__} brings no items"
    assert report.failed == 0, f"{place}: {scraper.__name__} fails on pages: {report}"


def _run_rules(block: Block, local: Places, folder: Path) -> None:
    """Run the scraper that a file of rules is."""
    path = folder / (block.told("file") or "")
    path.write_text(local.local(block.text), "utf-8")
    _run_scraper(scraper_from(path), block.place, {})


def _talk(block: Block, html: str, said: dict[str, Any]) -> None:
    """Hold a conversation about `page`, which is the HTML shown before; what was `said` earlier is still known."""
    url = "https://quotes.toscrape.com/page/1/"
    headers = Headers((("content-type", "text/html; charset=utf-8"),))
    page = Page(Request(url), Response(url, 200, headers, html.encode(), 0.0, 0.0))
    test = doctest.DocTestParser().get_doctest(block.text, {**said, "page": page}, block.place, block.place, 0)
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=told.append, clear_globs=False)
    said.update(test.globs)
    assert not told, "".join(told)


# -- settings ----------------------------------------------------------------------------------------------------


def _read_settings(block: Block, folder: Path) -> None:
    """A gossamer.toml that is shown is one that is read; it stays for the commands that follow."""
    (folder / "gossamer.toml").write_text(block.text, "utf-8")
    settings.read(folder=folder, environ={})


# -- commands ----------------------------------------------------------------------------------------------------

_TARGETS = re.findall(r"^([a-z]+):", (reading.ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def _run_commands(block: Block, local: Places, folder: Path) -> None:
    """Run what stands after `$ `, and find the lines shown below it, in order, in what it prints."""
    steps = _steps(block.text)
    told = _shell([local.local(command) for command, _ in steps], folder)
    for (command, shown), (code, printed) in zip(steps, told, strict=True):
        where = f"{block.place}: {command}\n{printed}"
        assert "Traceback" not in printed, where
        assert code != 127, where
        assert code != 2 or any(line.startswith("gossamer: ") for line in shown), where
        counts = block.told("test") != "counts vary"
        real = iter([_gist(line, counts=counts) for line in local.public(printed).splitlines()])
        for line in shown:
            assert line.strip() == "..." or _gist(line, counts=counts) in real, f"not printed: {line}\n{where}"


def _steps(text: str) -> list[tuple[str, list[str]]]:
    """Commands, and the output shown for each."""
    steps: list[tuple[str, list[str]]] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif line.strip():
            steps[-1][1].append(line)
    return steps


def _shell(commands: list[str], folder: Path) -> list[tuple[int, str]]:
    """Run commands in one shell: (exit code, output) of each. The pace is left to those who set one."""
    script = []
    for command in commands:
        if command.startswith("make "):
            assert command.split()[1] in _TARGETS, f"the Makefile has no {command!r}"
            command = "true"
        elif command.startswith(("pip ", "git ", "cd ")):
            command = "true"
        # `$?` must be that of the command shown before.
        script.append(f'(exit "$code"); {command}\ncode=$?; echo; echo "@@ $code"')
    done = subprocess.run(
        ["bash", "-c", "code=0\n" + "\n".join(script)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "COLUMNS": "160",
            "GOSSAMER_RATE": "none",
        },
    )
    pieces = re.split(r"\n@@ (\d+)\n", done.stdout)
    return [(int(code), printed) for printed, code in zip(pieces[::2], pieces[1::2], strict=False)]


def _gist(line: str, *, counts: bool) -> str:
    """A line without what differs from run to run: times, speeds, sizes, widths; and counts, where those do too."""
    line = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(\+00:00)?", "WHEN", line)
    line = re.sub(r"[\d,.]+ (B|KB|MB|bytes)(?= |$)", "SIZE", line)
    line = re.sub(r'[\d,.]+(?= s\b|/s| pages/s)|(?<="bytes":)\d+|(?<="seconds":)[\d.]+', "N", line)
    line = re.sub(r'(?<="pages_per_second":)[\d.]+', "N", line)
    if not counts:
        # A run that was interrupted had come to a page that fails, or had not.
        line = re.sub(r"\d+ (failed|skipped|retried), ", "", line)
        line = re.sub(r"\d[\d,.]*", "N", line)
    return " ".join(line.split())
