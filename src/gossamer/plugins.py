"""The parsers there are: those that come with Gossamer, and those that installed packages offer."""

from __future__ import annotations

import difflib
import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from gossamer.errors import ConfigError
from gossamer.parse.parsers import AUTO, BUILTIN, Parser, as_parser
from gossamer.telemetry import log

#: The entry points by which a package offers parsers.
GROUP = "gossamer.parsers"


def parsers() -> dict[str, Parser]:
    """Every parser by name. One that cannot be loaded is left out, and told of once in the log."""
    return {**BUILTIN, **_offered(tuple(sys.path))[0]}


def parser(name: str) -> Parser:
    """The parser of that name. Raises ConfigError, saying what there is instead, or why it cannot be loaded."""
    if name in BUILTIN:
        return BUILTIN[name]
    offered, broken = _offered(tuple(sys.path))
    if name in offered:
        return offered[name]
    if name in broken:
        raise ConfigError(broken[name])
    raise ConfigError(unknown(name))


def names() -> list[str]:
    """What parsers are called, whether or not they can be loaded."""
    return sorted({*BUILTIN, *(point.name for point in entry_points(group=GROUP))})


def unknown(name: str) -> str:
    """A sentence for a name that no parser has."""
    near = difflib.get_close_matches(name, [*names(), AUTO], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names())}, and auto"
    return f"no parser is called {name!r}: {hint}"


@lru_cache(maxsize=4)
def _offered(path: tuple[str, ...]) -> tuple[dict[str, Parser], dict[str, str]]:
    """What packages on a path offer, and of those that cannot be loaded, why."""
    found: dict[str, Parser] = {}
    broken: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            if point.name in BUILTIN or point.name in found:
                raise ConfigError("another parser has its name")
            found[point.name] = as_parser(_load(point), point.name)
        except ConfigError as why:
            text = f"the parser {point.name!r} of {_package(point)} cannot be used: {why}"
            broken.setdefault(point.name, text)
            log.warning("parser.broken", name=point.name, why=text)
    return found, broken


def _load(point: EntryPoint) -> object:
    """What an entry point names. Raises ConfigError for whatever its package raises."""
    try:
        found: object = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody else's package: it costs only its own parser
        raise ConfigError(f"{type(error).__name__}: {error}") from None
    return found


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
