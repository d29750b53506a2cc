"""`gossamer try`: what a selector, rules, a parser or a scraper give for one page; without any, what is on it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from gossamer import look, plugins, registry, settings, telemetry, terminal
from gossamer.errors import ConfigError, ReadError
from gossamer.library import wait
from gossamer.look import Looked, NotRead
from gossamer.parse.page import Page
from gossamer.parse.parsers import AUTO, choose
from gossamer.scraper import Scraper
from gossamer.values import PARSE, Outcome

if TYPE_CHECKING:  # 20 ms to load: not for every other command
    from gossamer.overview import Overview

#: Matches and records shown on a terminal; all are printed where there is none.
MOST_SHOWN = 50
#: Letters of one value shown on a terminal.
_WIDEST = 600

err = Console(stderr=True, highlight=False, emoji=False)


def try_command(
    place: Annotated[str, typer.Argument(metavar="URL|FILE", help="A page: its URL, a saved file, or - for stdin")],
    css: Annotated[
        str | None, typer.Option(help="A CSS selector; ::text and ::attr(name) work", metavar="SELECTOR")
    ] = None,
    xpath: Annotated[str | None, typer.Option(help="An XPath expression", metavar="EXPRESSION")] = None,
    jsonpath: Annotated[str | None, typer.Option(help="A JSONPath, for a page that is JSON", metavar="PATH")] = None,
    rules: Annotated[str | None, typer.Option(help="A file of rules: .toml, .yaml, .json", metavar="FILE")] = None,
    parser: Annotated[
        str | None, typer.Option(help="A parser: article, product, tables, auto ...", metavar="NAME")
    ] = None,
    scraper: Annotated[
        str | None, typer.Option(help="A scraper: file.py, file.py:Class, a registered name", metavar="SCRAPER")
    ] = None,
    handler: Annotated[
        str, typer.Option(help="With --scraper: the method that reads the page", metavar="NAME")
    ] = PARSE,
    param: Annotated[
        list[str] | None, typer.Option(help="With --scraper: a parameter for it (repeatable)", metavar="K=V")
    ] = None,
    url: Annotated[str | None, typer.Option(help="With a file: where the page comes from", metavar="URL")] = None,
    render: Annotated[bool, typer.Option("--render", help="Show the page in a browser before reading it")] = False,
    no_robots: Annotated[bool, typer.Option("--no-robots", help="Do not obey robots.txt")] = False,
    user_agent: Annotated[str | None, typer.Option(help="How we introduce ourselves", metavar="TEXT")] = None,
    timeout: Annotated[str | None, typer.Option(help="Time the request may take [30s]", metavar="TIME")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON value a line, even on a terminal")] = False,
) -> None:
    """Show what a selector, rules, a parser or a scraper give for one page; nothing is stored.

    The page is fetched once, politely, or read from a file. Without an option: what is on it, and what to try next.
    Exit code 0: something was found; 1: nothing; 2: it cannot be tried so; 3: the page cannot be had.

    \b
    gossamer try https://example.org
    gossamer try https://example.org --css 'article h2::text'
    gossamer try https://example.org --parser article
    gossamer try saved.html --url https://example.org/ --rules shop.toml
    gossamer try https://example.org/p/1 --scraper shop.py --handler product
    """
    ways = {"--css": css, "--xpath": xpath, "--jsonpath": jsonpath, "--rules": rules, "--parser": parser}
    ways["--scraper"] = scraper
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ConfigError(f"{given[0]} and {given[1]} were given: try one after the other")
    telemetry.configure("error", "human")
    flags: dict[str, Any] = {"robots": False} if no_robots else {}
    options = {"render": render or None, "user_agent": user_agent, "timeout": timeout}
    flags |= {name: value for name, value in options.items() if value is not None}
    asked = _Asked(place, url, flags)
    show = Shown(lines=as_json or not sys.stdout.isatty())
    try:
        if css is not None or xpath is not None or jsonpath is not None:
            found = _matches(asked.page(), css, xpath, jsonpath, show)
        elif parser is not None:
            found = _parsed(asked, parser, show)
        elif (named := rules or scraper) is not None:
            found = _scraped(asked, named, handler, param, show)
        else:
            found = _overview(asked, show)
    except NotRead as why:
        err.print(look.printable(f"gossamer: {why}"), markup=False, style="red", soft_wrap=True)
        raise typer.Exit(3) from None
    raise typer.Exit(0 if found else 1)


class _Asked:
    """The page somebody asks about."""

    def __init__(self, place: str, url: str | None, flags: dict[str, Any]) -> None:
        self.place = place
        self._saved = look.saved(place, url) if look.is_file(place) else None
        if url is not None and self._saved is None:
            raise ConfigError("--url says where a saved page comes from: give a file, or - for stdin")
        self._flags = flags

    def shown(self, url: str) -> str:
        """How to ask for the page again, in a command."""
        if self._saved is None:
            # What was typed may hold a password, which is nobody's to see.
            return shlex.quote(url if "@" in self.place else self.place)
        # Where nobody said where it comes from, nobody needs to.
        return shlex.quote(self.place) + (f" --url {shlex.quote(url)}" if url != look.NOWHERE else "")

    def page(self) -> Page:
        """The page, fetched or read."""
        if self._saved is not None:
            return look.page_of(self._saved)
        return wait(look.look(self.place, self._flags)).page

    def walked(self, scraper: type[Scraper], handler: str = PARSE, params: dict[str, Any] | None = None) -> Looked:
        """The page, read by a scraper."""
        address = self._saved.url if self._saved is not None else self.place
        return wait(look.look(address, self._flags, scraper=scraper, handler=handler, params=params, saved=self._saved))


# -- what is tried ---------------------------------------------------------------------------------------------


def _matches(page: Page, css: str | None, xpath: str | None, jsonpath: str | None, show: Shown) -> bool:
    what = css if css is not None else xpath if xpath is not None else jsonpath
    try:
        if css is not None:
            chosen = page.css(css)
            values = _values(chosen.getall(), chosen.texts(), elements=bool(chosen._elements()))
        elif xpath is not None:
            selected = page.xpath(xpath)
            values = _values(selected.getall(), selected.texts(), elements=bool(selected._elements()))
        else:
            values = _by_path(page, jsonpath or "")
        hint = "" if values else _hint(page, css, xpath)
    except (ReadError, ValueError) as why:
        raise ConfigError(str(why)) from None
    show.values(values)
    title = f" ({page.title})" if page.is_html and page.title else ""
    if values:
        show.say(f"{terminal.many(len(values), 'match').replace('matchs', 'matches')} of {what} on {page.url}{title}")
    else:
        show.say(f"nothing on {page.url}{title} matches {what}{f': {hint}' if hint else ''}")
    return bool(values)


def _values(found: Sequence[str], texts: Sequence[str], *, elements: bool) -> list[Any]:
    if not elements:
        return list(found)
    return [{"text": text, "html": html} for text, html in zip(texts, found, strict=True)]


def _by_path(page: Page, path: str) -> list[Any]:
    from gossamer.parse import jsonpath

    return jsonpath.matches(jsonpath.compiled(path), page.json())


def _hint(page: Page, css: str | None, xpath: str | None) -> str:
    from gossamer.parse import near

    if css is not None:
        return near.css(page, css)
    return near.xpath(page, xpath) if xpath is not None else near.json(page.json())


def _parsed(asked: _Asked, name: str, show: Shown) -> bool:
    if name != AUTO:
        plugins.parser(name)
    made = type("Tried", (Scraper,), {"name": "try", "parser": name})
    looked = asked.walked(made)
    used = choose(looked.page, plugins.parsers().values()).name if name == AUTO else name
    records = look.records(looked.outcome)
    show.records(records)
    which = f"the parser {used!r}{', which auto picked,' if name == AUTO else ''}"
    if records:
        show.say(f"{terminal.many(len(records), 'record')} of {which} on {looked.page.url}")
    else:
        show.say(f"{which} finds nothing on {looked.page.url}; without an option, `try` shows what is there")
    return bool(records)


def _scraped(asked: _Asked, name: str, handler: str, param: list[str] | None, show: Shown) -> bool:
    tried = _scraper(name)
    looked = asked.walked(tried, handler, settings.params(param))
    outcome = looked.outcome
    records = look.records(outcome)
    show.records(records)
    for reject in outcome.rejects[:MOST_SHOWN]:
        show.say(f"rejected by {reject.step}: {reject.reason}: {reject.data[:200]}")
    show.say(_summary(outcome, f"{tried.__name__}.{handler}", looked.page))
    return bool(records or outcome.found)


def _scraper(name: str) -> type[Scraper]:
    """The scraper that a person means; rules need not say where a run begins, for there is a page."""
    if name.endswith(registry.RULE_FILES):
        from gossamer.rulefile import scraper_from

        return scraper_from(Path(name).expanduser(), starts=False)
    return registry.find(name, settings.read().place.scrapers).scraper


def _summary(outcome: Outcome, who: str, page: Page) -> str:
    counts = [terminal.many(len(outcome.items), "item")]
    if outcome.rejects:
        counts.append(f"{len(outcome.rejects):,} rejected")
    counts.append(terminal.many(len(outcome.found), "request"))
    to = ", ".join(request.url for request in outcome.found[:3])
    more = " ..." if len(outcome.found) > 3 else ""
    dropped = f", {len(outcome.dropped):,} out of scope" if outcome.dropped else ""
    return f"{who} on {page.url}: {', '.join(counts)}{f' ({to}{more})' if to else ''}{dropped}"


def _overview(asked: _Asked, show: Shown) -> bool:
    from gossamer.overview import overview, suggestions

    found = overview(asked.page(), plugins.parsers().values())
    # A scraper needs to know where its page comes from.
    origin = " --url URL" if found.url == look.NOWHERE else ""
    show.overview(found, suggestions(found, asked.shown(found.url), origin))
    return True


# -- how it is shown -------------------------------------------------------------------------------------------


class Shown:
    """Shows what was found: JSON lines where they are piped on, something to read on a terminal."""

    def __init__(self, *, lines: bool) -> None:
        self._lines = lines
        self._out = Console(highlight=False, emoji=False)

    def say(self, text: str) -> None:
        """One line for a person, to stderr."""
        err.print(look.printable(text), markup=False, soft_wrap=True)

    def values(self, values: Sequence[Any]) -> None:
        """Matches of a selector."""
        if self._lines:
            return self._print(values)
        for number, value in enumerate(values[:MOST_SHOWN], 1):
            told = value["text"] or value["html"] if isinstance(value, dict) and "html" in value else value
            text = told if isinstance(told, str) else msgspec.json.encode(told).decode()
            self._line(f"{number:>3}  ", "dim", text)
        return self._more(len(values))

    def records(self, records: Sequence[dict[str, Any]]) -> None:
        """Records, field by field."""
        if self._lines:
            return self._print(records)
        for number, record in enumerate(records[:MOST_SHOWN], 1):
            self._out.print(Text(f"{number}", style="bold"))
            for name, value in record.items():
                text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
                self._line(f"  {name:<16} ", "cyan", text, dim=value is None or value in ([], "", {}))
        return self._more(len(records))

    def overview(self, found: Overview, commands: Sequence[str]) -> None:
        """A page at a glance, and what to try next."""
        if self._lines:
            self._print([found])
        else:
            for name, text in _rows(found):
                self._line(f"{name:<11} ", "dim", text)
        program = terminal.program()
        for command in commands:
            self.say(f"try next: {program} {command}")

    def _line(self, label: str, style: str, text: str, *, dim: bool = False) -> None:
        cut = f"{text[:_WIDEST]} ..." if len(text) > _WIDEST else text
        value = (look.printable(cut), "dim" if dim else "")
        self._out.print(Text.assemble((look.printable(label), style), value))

    def _print(self, values: Sequence[Any]) -> None:
        for value in values:
            typer.echo(msgspec.json.encode(value).decode())

    def _more(self, count: int) -> None:
        if count > MOST_SHOWN:
            self.say(f"and {count - MOST_SHOWN:,} more: --json shows all")


def _rows(found: Overview) -> list[tuple[str, str]]:
    rows = [("page", f"{found.title or '(no title)'}  {found.url}")]
    rows.append(("kind", f"{found.kind}, {terminal.size(found.bytes)}, status {found.status}"))
    if found.links:
        rows.append(("links", f"{found.links:,}"))
    if found.structured:
        told = [
            f"{name}: {', '.join(value) if isinstance(value, list) else value}"
            for name, value in found.structured.items()
        ]
        rows.append(("structured", "; ".join(told)))
    fitting = [f"{name} ({count})" for name, count in found.parsers.items()]
    rows.append(("parsers", f"{', '.join(fitting) or 'none fits'}; auto picks {found.auto}"))
    if found.rows:
        rows.append(
            ("rows", f"{found.rows['count']} in {found.rows['path'] or 'the body'}: {', '.join(found.rows['names'])}")
        )
    rows += [("repeats", f"{each.selector} ({each.count}): {', '.join(each.fields)}") for each in found.repeats]
    if found.next:
        rows.append(("next page", found.next))
    return rows
