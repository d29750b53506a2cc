"""Finding scrapers: by file, by module, by name, by pack, by URL; and parsers by name."""

from __future__ import annotations

import difflib
import importlib
import importlib.machinery
import importlib.util
import re
import sys
import traceback
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import CodeType, ModuleType

import msgspec

from gossamer.errors import ConfigError, GossamerError, ScraperAbsent
from gossamer.plugins import parser, parsers
from gossamer.scraper import Scraper
from gossamer.telemetry import log
from gossamer.urls import digest

__all__ = [
    "Found",
    "choose",
    "find",
    "load_all",
    "names",
    "pack",
    "packs",
    "parser",
    "parsers",
    "registered",
    "scraper_for",
]

#: The entry points by which a package offers scrapers, and those by which it offers packs of them.
GROUP = "gossamer.scrapers"
PACKS = "gossamer.packs"
#: Every scraper that is registered.
ALL = "all"
#: What files of rules are called.
RULE_FILES = (".toml", ".yaml", ".yml", ".json")
_URL = re.compile(r"https?://", re.IGNORECASE)
_LONGEST_URL = 2048
#: Files whose lines say nothing about an import that failed.
_MACHINERY = re.compile(rf"<frozen importlib|[/\\]importlib[/\\]|{re.escape(__file__)}$")


class Found(msgspec.Struct, frozen=True):
    """A scraper class and how to find it again."""

    scraper: type[Scraper]
    #: "module:Class", "/path/file.py:Class", or "/path/rules.toml".
    ref: str


def registered(listed: tuple[str, ...]) -> dict[str, Found]:
    """Scrapers known by name: those listed in the settings, and those installed packages offer. Packs are not among
    them unless they are listed: nobody asked for what they collect.
    """
    found: dict[str, Found] = {}
    for ref in listed:
        try:
            for each in load_all(ref):
                found[each.scraper.name] = each
        except ConfigError as why:
            log.warning("scraper.broken", listed=ref, why=str(why))
    for point in entry_points(group=GROUP):
        try:
            found.setdefault(point.name, load_all(point.value)[0])
        except ConfigError as why:  # somebody else's package: it costs only its own scraper
            log.warning("scraper.broken", name=point.name, why=str(why))
    return dict(sorted(found.items()))


def packs() -> list[str]:
    """The names of the packs there are."""
    return sorted(_packs())


def pack(name: str) -> list[Found]:
    """The scrapers of a pack, as it lists them. Raises ConfigError for one that cannot be loaded."""
    point = _packs()[name]
    listed = getattr(_import_module(point.value), "SCRAPERS", None)
    if not listed or not all(isinstance(each, type) and issubclass(each, Scraper) for each in listed):
        raise ConfigError(f"the pack {name!r} lists no scrapers: write SCRAPERS = (Mine, ...) in {point.value}")
    return [Found(each, f"{each.__module__}:{each.__qualname__}") for each in listed]


def _packs() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=PACKS)}


def _of_packs(text: str) -> list[Found]:
    """What a pack's name, or the name of one of its scrapers, means; nothing if it is neither."""
    known = _packs()
    if text in known:
        return pack(text)
    name = text.partition(".")[0]
    return [each for each in pack(name) if each.scraper.name == text] if name in known else []


def choose(text: str, listed: tuple[str, ...] = ()) -> list[Found]:
    """The scrapers a person means: one as `find` finds it, all of a pack, or "all" that are registered.

    Those that ship paused are left out unless they are meant by name. Raises ConfigError.
    """
    if text == ALL:
        found = list(registered(listed).values())
    elif text in _packs() and text not in registered(listed):
        found = pack(text)
    else:
        return [find(text, listed)]
    return [each for each in found if not each.scraper.paused]


def names(listed: tuple[str, ...] = ()) -> list[str]:
    """Every name that `choose` knows."""
    known = [*registered(listed), ALL, *_packs(), *(each.scraper.name for each in in_packs())]
    return list(dict.fromkeys(known))


def in_packs() -> list[Found]:
    """The scrapers of all packs; a pack that cannot be loaded is left out, and told of in the log."""
    found = []
    for name in packs():
        try:
            found += pack(name)
        except ConfigError as why:  # perhaps somebody else's: it costs only its own scrapers
            log.warning("pack.broken", pack=name, why=str(why))
    return found


def find(text: str, listed: tuple[str, ...] = ()) -> Found:
    """The scraper a person means: `file.py`, `file.py:Class`, `rules.toml`, `module:Class`, a name, or a URL.

    Name and URL are of registered ones, or of those in packs. Raises ConfigError, saying what there is instead.
    """
    if _URL.match(text):
        return scraper_for(text, listed)
    if ":" in text or text.endswith((".py", *RULE_FILES)):
        found = load_all(text)
        if len(found) > 1:
            some = ", ".join(f"{text}:{each.scraper.__name__}" for each in found)
            raise ConfigError(f"{text} holds {len(found)} scrapers: choose one of {some}")
        return found[0]
    known = registered(listed)
    if text in known:
        return known[text]
    of_pack = _of_packs(text)
    if len(of_pack) > 1:
        some = ", ".join(each.scraper.name for each in of_pack)
        raise ConfigError(f"{text} is a pack of {len(of_pack)} scrapers: choose one of {some}")
    if of_pack:
        return of_pack[0]
    near = difflib.get_close_matches(text, names(listed), n=1)
    hint = (
        f"did you mean {near[0]!r}?" if near else "give a file (quotes.py) or module:Class, or list it in gossamer.toml"
    )
    raise ConfigError(f"no scraper is called {text!r}: {hint}")


def scraper_for(url: str, listed: tuple[str, ...] = ()) -> Found:
    """The scraper one of whose `matches` a URL matches; of several, the longest pattern counts.

    It is a registered one, or else one of a pack. Raises ConfigError if there is none.
    """
    fitting = _fitting(url, registered(listed).values()) or _fitting(url, in_packs())
    if not fitting:
        raise ConfigError(
            f"no registered scraper is for {url[:200]}: `gossamer list` shows them, `gossamer new NAME {url[:200]}` "
            "writes one, and `gossamer crawl` needs none"
        )
    return max(fitting, key=lambda each: (each[0], each[1]))[2]


def _fitting(url: str, some: Iterable[Found]) -> list[tuple[int, str, Found]]:
    """Scrapers that say they are for a URL, and how long the pattern is that says so."""
    return [
        (len(pattern), found.scraper.name, found)
        for found in some
        for pattern in _patterns(found.scraper)
        if re.search(pattern, url[:_LONGEST_URL])
    ]


def _patterns(scraper: type[Scraper]) -> tuple[str, ...]:
    """The URL patterns of a scraper; one that cannot be read matches nothing."""
    given = scraper.matches
    patterns = (given,) if isinstance(given, str) else given
    good = []
    for text in patterns if isinstance(patterns, tuple | list) else ():
        try:
            re.compile(text)
            good.append(text)
        except (re.error, TypeError) as why:
            log.warning("scraper.pattern", name=scraper.name, pattern=str(text)[:80], why=str(why))
    return tuple(good)


def load_all(ref: str) -> list[Found]:
    """Every scraper that a file, a module, a pack, or one of their classes gives; at least one."""
    of_pack = _of_packs(ref) if ":" not in ref else []
    if of_pack:
        return of_pack
    if ref.endswith(RULE_FILES):
        return [_rule_file(Path(ref))]
    place, _, name = ref.rpartition(":") if not ref.endswith(".py") else (ref, "", "")
    is_file = place.endswith(".py")
    module = _import_file(Path(place)) if is_file else _import_module(place)
    home = str(Path(place).resolve()) if is_file else place
    if name:
        return [Found(_class(module, name, ref), f"{home}:{name}")]
    classes = dict.fromkeys(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Scraper) and value.__module__ == module.__name__
    )
    if not classes:
        raise ConfigError(f"{ref} holds no scraper: write a class there that subclasses gossamer.Scraper")
    return [Found(each, f"{home}:{each.__name__}") for each in classes]


def _rule_file(path: Path) -> Found:
    if not path.is_file():
        raise ScraperAbsent(f"there is no file {path}: check the path")
    from gossamer.rulefile import scraper_from

    return Found(scraper_from(path), str(path.resolve()))


def _class(module: ModuleType, name: str, ref: str) -> type[Scraper]:
    found = getattr(module, name, None)
    if not isinstance(found, type) or not issubclass(found, Scraper):
        raise ConfigError(f"{ref}: there is no scraper class {name!r} in it")
    return found


def _import_module(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except GossamerError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise ScraperAbsent(f"there is no module {error.name!r}: check the spelling of {name!r}") from None
        raise ConfigError(_blame(name, error)) from error


class _AsWritten(importlib.machinery.SourceFileLoader):
    """Loads a file as it is now. Python's own cache takes one that was saved twice in a second for the same."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        made: CodeType = self.source_to_code(self.get_data(path), path)
        return made


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ScraperAbsent(f"there is no file {path}: check the path")
    full = path.resolve()
    name = f"gossamer_scraper_{digest(str(full))[:8].replace('-', '_')}_{full.stem}"
    spec = importlib.util.spec_from_file_location(name, full, loader=_AsWritten(name, str(full)))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickling look the module up by name; neighbours of the file may be imported by it.
    sys.modules[name] = module
    if str(full.parent) not in sys.path:
        sys.path.append(str(full.parent))
    try:
        spec.loader.exec_module(module)
    except GossamerError as error:
        raise ConfigError(f"{path}: {error}") from None
    except (Exception, SystemExit) as error:
        raise ConfigError(_blame(str(path), error)) from error
    return module


def _blame(where: str, error: BaseException) -> str:
    """One sentence for an import that failed: what, and on which line."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _MACHINERY.search(f.filename)]
    if isinstance(error, SyntaxError):
        # It may stand in a neighbour that the file imports.
        place = f"{Path(error.filename).name}, line {error.lineno}" if frames and error.filename else None
        return f"{where}{f', importing {place}' if place else f', line {error.lineno}'}: {error.msg}"
    line = next((f.lineno for f in reversed(frames) if f.filename == frames[0].filename), None)
    at = f", line {line}" if line else ""
    return f"{where}{at}: {type(error).__name__}: {error}"
