"""The tables of docs/reference, written from the program itself: `python -m tests.docs.reference` writes them anew.

What a page says between `<!-- generated: NAME -->` and `<!-- end -->` is ours; the rest is the author's.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from gossamer import settings
from gossamer.api.app import described, make_app
from gossamer.cli import app
from gossamer.parse import pipes, rules, sources
from gossamer.rulefile import OWN_KEYS
from tests.docs.reading import ROOT

FOLDER = ROOT / "docs" / "reference"
PAGES = (FOLDER / "cli.md", FOLDER / "settings.md", ROOT / "docs" / "rules.md", FOLDER / "api.md")

_REGION = re.compile(r"(<!-- generated: (?P<name>[\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def rendered(page: Path) -> str:
    """A page with its generated parts as they should be."""
    return _REGION.sub(lambda m: m[1] + _part(m["name"]) + m[3], page.read_text("utf-8"))


def parts(page: Path) -> set[str]:
    """The names of a page's generated parts."""
    return {match["name"] for match in _REGION.finditer(page.read_text("utf-8"))}


@functools.cache
def commands() -> dict[str, Any]:
    """Every command by name, those of a group after its own; `gossamer` is the program itself."""
    root: Any = typer.main.get_command(app)
    return {"gossamer": root, **_below(root, "")}


def _below(group: Any, before: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, command in getattr(group, "commands", {}).items():
        found[f"{before}{name}"] = command
        found |= _below(command, f"{before}{name} ")
    return found


def _part(name: str) -> str:
    if name == "settings of a scraper":
        return _settings_table(settings.ScraperConfig)
    if name == "settings of a process":
        return _settings_table(settings.Place)
    if name == "routes":
        return _routes()
    if name in OF_RULES:
        return OF_RULES[name]()
    return _command(name, commands()[name])


def _routes() -> str:
    """Every route of the API, as its document has them."""
    rows = []
    for path, operations in api_document()["paths"].items():
        for method, told in operations.items():
            good = [status for status in told["responses"] if status not in _ANY_ROUTE]
            scope = "" if told["x-scope"] == "none" else told["x-scope"]
            rows.append((f"`{method.upper()} {path}`", scope, told["summary"], ", ".join(good)))
    return _table(("route", "scope", "what", "answers"), rows)


#: Answers that the page names once for all routes.
_ANY_ROUTE = ("400", "401", "403", "413", "429", "500", "503")


def api_document() -> dict[str, Any]:
    """The OpenAPI document: it is the same for every service."""
    return described(make_app(None))  # type: ignore[arg-type]


def _meanings(column: str, meanings: Mapping[str, str]) -> str:
    return _table((column, "meaning"), [(f"`{name}`", about) for name, about in meanings.items()])


def _cleaners() -> str:
    rows = []
    for name, cleaner in pipes.CLEANERS.items():
        spelled = f"{name}({cleaner.takes})" if cleaner.least else f"{name}`, `{name}({cleaner.takes})"
        rows.append((f"`{spelled if cleaner.most else name}`", cleaner.about))
    return _table(("cleaner", "gives"), rows)


#: Parts of the page about rules.
OF_RULES: Mapping[str, Callable[[], str]] = {
    "keys of a file": lambda: _meanings("key", OWN_KEYS),
    "keys of rules": lambda: _meanings("key", rules.RULES_KEYS),
    "keys of a field": lambda: _meanings("key", rules.FIELD_KEYS),
    "keys of follow": lambda: _meanings("key", rules.FOLLOW_KEYS),
    "things of a page": lambda: _meanings("name", {name: about for name, (_, about) in sources.OF_PAGE.items()}),
    "cleaners": _cleaners,
}


def _command(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    text = f"{_about(command)}\n\n"
    if arguments:
        rows = [(f"`{_metavar(p)}`", _help(p)) for p in arguments]
        text += _table(("argument", "meaning"), rows) + "\n"
    if options:
        rows = [(f"`{_spelling(p)}`", _help(p)) for p in options]
        text += _table(("option", "meaning"), rows)
    return text


def _about(command: Any) -> str:
    return " ".join((command.help or "").split("\b")[0].split())


def _metavar(param: Any) -> str:
    return param.metavar or param.name.upper()


def _spelling(param: Any) -> str:
    names = ", ".join(sorted(param.opts, key=len))
    if param.is_flag:
        return names
    kind = param.type_descriptor.annotation
    words = [word.value for word in kind] if issubclass(kind, enum.Enum) else []
    return f"{names} {param.metavar or ' or '.join(words) or kind.__name__.upper()}"


def _help(param: Any) -> str:
    text = param.help or ""
    told = param.default not in (None, False, ()) and not callable(param.default)
    return f"{text} [{getattr(param.default, 'value', param.default)}]" if told else text


def _settings_table(kind: Any) -> str:
    rows = []
    for name in kind.__dataclass_fields__:
        default = settings.written(getattr(kind(), name))
        environment = f"`GOSSAMER_{name.upper()}`"
        rows.append((f"`{name}`", f"`{default}`", settings.KNOBS[name].metadata["about"], _flag(name), environment))
    return _table(("setting", "default", "meaning", "option", "environment"), rows)


def _flag(name: str) -> str:
    known = {opt for command in ("crawl", "run") for p in commands()[command].params for opt in p.opts}
    spelled = (f"--{name.replace('_', '-')}", f"--no-{name}", f"--{name.removesuffix('ies')}y")
    given = [flag for flag in spelled if flag in known]
    return f"`{given[0]}`" if given else ""


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    # A bar would end its cell.
    lines = [[cell.replace("|", r"\|") for cell in line] for line in (columns, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Write the generated parts anew."""
    for page in PAGES:
        page.write_text(rendered(page), "utf-8")


if __name__ == "__main__":
    main()
