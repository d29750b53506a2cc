"""`gossamer new`: a working first scraper, from one look at a page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from gossamer import look, plugins, registry, telemetry, terminal
from gossamer.errors import ConfigError, GossamerError, ReadError
from gossamer.library import wait
from gossamer.look import NotRead
from gossamer.parse.page import Page

if TYPE_CHECKING:  # 40 ms to load: not for every other command
    from gossamer.drafting import Sketch

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")

err = Console(stderr=True, highlight=False, emoji=False)


def new_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What the scraper is called: small letters, digits, - . _")
    ],
    place: Annotated[
        str | None, typer.Argument(metavar="[URL|FILE]", help="A page it should read; left out: a template")
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Write a file of rules")] = False,
    python: Annotated[bool, typer.Option("--python", help="Write a Python class; the default")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write it [NAME.py or NAME.toml]", metavar="FILE")
    ] = None,
    url: Annotated[str | None, typer.Option(help="With a file: where the page comes from", metavar="URL")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there")] = False,
    render: Annotated[bool, typer.Option("--render", help="Show the page in a browser before looking at it")] = False,
    no_robots: Annotated[bool, typer.Option("--no-robots", help="Do not obey robots.txt")] = False,
    user_agent: Annotated[str | None, typer.Option(help="How we introduce ourselves", metavar="TEXT")] = None,
) -> None:
    """Write a first scraper that works, from one look at a page; then change it as you like.

    What repeats on the page becomes the items, its next link is followed; a page that says what it is about gets the
    parser for that. Without a URL: a template.

    \b
    gossamer new books https://books.toscrape.com/
    gossamer new books https://books.toscrape.com/ --rules
    gossamer new weather https://api.example/v1/stations -o scrapers/weather.py
    gossamer new mine
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"a scraper cannot be called {name!r}: write small letters, digits, dots and dashes")
    if rules and python:
        raise ConfigError("--rules and --python were given: write one of them, or one after the other")
    telemetry.configure("error", "human")
    path = _path(name, output, rules=rules)
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already: --force writes over it, -o FILE writes elsewhere")
    if place is None and url is not None:
        raise ConfigError("--url says where a saved page comes from: give a file before it")
    flags: dict[str, Any] = {"robots": False} if no_robots else {}
    flags |= {"user_agent": user_agent} if user_agent else {}
    flags |= {"render": True} if render else {}
    try:
        page = _page(place, url, flags) if place is not None else None
    except NotRead as why:
        _say(f"gossamer: {why}", "red")
        raise typer.Exit(3) from None
    sketch = _sketch(page) if page is not None else None
    _write(path, _text(name, sketch, rules=path.suffix == ".toml"))
    _tell(path, page, sketch)


def _path(name: str, output: Path | None, *, rules: bool) -> Path:
    """Where the scraper is written. Raises ConfigError for a name that says otherwise than the options."""
    if output is None:
        return Path(f"{name}.toml") if rules else Path(f"{re.sub(r'[^a-z0-9]', '_', name)}.py")
    if output.suffix not in (".py", ".toml"):
        raise ConfigError(f"{output} cannot be written: its name must end in .py, or in .toml for rules")
    if rules and output.suffix != ".toml":
        raise ConfigError(f"{output} cannot hold rules: its name must end in .toml")
    return output


def _page(place: str, url: str | None, flags: dict[str, Any]) -> Page:
    if not look.is_file(place):
        return wait(look.look(place, flags)).page
    if url is None:
        raise ConfigError(f"where does {place} come from? Give its address: --url https://example.org/page")
    return look.page_of(look.saved(place, url))


def _text(name: str, sketch: Sketch | None, *, rules: bool) -> str:
    from gossamer import draft_text

    return draft_text.toml(name, sketch) if rules else draft_text.python(name, sketch)


def _sketch(page: Page) -> Sketch:
    from gossamer import drafting

    try:
        return drafting.sketch(page, plugins.parsers().values())
    except ReadError as why:
        raise ConfigError(f"{page.url} cannot be made a scraper of: {why}") from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as why:
        raise ConfigError(f"{path} cannot be written: {why.strerror}") from None


def _tell(path: Path, page: Page | None, sketch: Sketch | None) -> None:
    """Say what was written, what it gives for the page it was made from, and what to do next."""
    program, file = terminal.program(), shlex.quote(str(path))
    if page is None or sketch is None:
        _say(f"wrote {path}: a template; fill in where it starts and what it takes")
        _say(f"try it: {program} run {file} --dry-run --max-pages 1")
        return
    _say(f"wrote {path}: {sketch.told}")
    _say(_proof(path, page))
    _say(f"try it: {program} run {file} --dry-run --max-pages 2")
    sample = next((slot.sample for slot in sketch.block.slots if slot.name == "url"), None) if sketch.block else None
    target = next(iter(page.follow([sample])), None) if sample else None
    if target is not None:
        _say(f"the page of one entry: {program} try {shlex.quote(target.url)}")


def _proof(path: Path, page: Page) -> str:
    """What the scraper that was written gives for the page it was made from, which is not fetched again."""
    try:
        found = registry.find(str(path))
        looked = wait(look.look(page.url, scraper=found.scraper, saved=page.response))
    except GossamerError as why:
        return f"it does not work yet: {why}"
    items, onward = len(looked.outcome.items), len(looked.outcome.found)
    return f"on that page it gives {terminal.many(items, 'item')} and {terminal.many(onward, 'request')}"


def _say(text: str, style: str = "") -> None:
    err.print(look.printable(text), markup=False, soft_wrap=True, style=style)
