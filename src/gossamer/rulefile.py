"""A scraper that is nothing but a file: TOML, YAML or JSON, read as data and never as code."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gossamer import timetable, urls
from gossamer.errors import ConfigError
from gossamer.parse.rules import KIND, RULES_KEYS, Rules
from gossamer.parse.written import Table, shown
from gossamer.scraper import Scraper
from gossamer.settings import ALIASES, ScraperConfig
from gossamer.values import PARSE

#: What a file of rules may end in.
ENDINGS = (".toml", ".yaml", ".yml", ".json")
#: The largest file that is read, in bytes.
LARGEST = 1 << 20
#: Values in it, those that YAML repeats by an alias counted each time, and how deep they stand.
_MOST_VALUES = 100_000
_DEEPEST = 40

#: Knobs that name places on this machine, or hold secrets: these belong to whoever runs the file.
NOT_HERE = frozenset({"files", "sinks", "proxies"})
_KNOBS = tuple(name for name in ScraperConfig.__dataclass_fields__ if name not in NOT_HERE)
#: What may stand at the top of a file besides rules and knobs.
OWN_KEYS: Mapping[str, str] = {
    "name": "how runs and items are filed; the file's name unless given",
    "start_urls": "where a run begins",
    "start_sitemaps": 'sitemaps whose pages a run begins with; "auto": those of the hosts of the start URLs',
    "parser": "a parser that reads every page, beside the fields or instead of them: `article`, `product`, `auto` ...",
    "by_level": "true: walk the pages level by level",
    "matches": "regular expressions of URLs that `gossamer run URL` runs it for",
    "volatile": "fields that do not make an item another one when they change",
    "every": "how much time is between two runs under `gossamer serve`: `6h`; see docs/schedules.md",
    "cron": "or when they begin, as crontab writes it: `0 6 * * mon-fri`",
    "timezone": "what the hours of `cron` mean: `Europe/Berlin`; UTC unless given",
    "jitter": "each of these runs is put off by up to so long",
    "first_delay": "how long the first of them waits",
    "misfire": "what becomes of those that were missed: `coalesce`, `skip` or `all`",
    "overlap": "what becomes of one that comes due while the scraper is at work: `skip` or `queue`",
    "pause_after": "failed runs in a row after which the scraper backs off; 3 unless given",
    "silence": "how long there may be no new items before somebody is told",
}
#: Of the rules, what the scraper as a whole has.
_SHARED = ("key", "kind")


def scraper_from(path: Path, *, starts: bool = True) -> type[Scraper]:
    """The scraper that a file describes. Raises ConfigError, naming the file and the place in it.

    Without `starts`, the file need not say where a run begins: whoever asks has a page.
    """
    where = path.name
    table = Table(_read(path), where, what="a table of rules")
    if not table.given:
        table.refuse("is empty: write start_urls and fields")
    _refuse_unknown(table)
    rules = {key: value for key, value in table.given.items() if key in RULES_KEYS and key not in _SHARED}
    made = Rules.of(rules, where)
    for name in made.pages:
        if name != PARSE and (name in _KNOBS or name in NOT_HERE or hasattr(Scraper, name)):
            table.refuse("is the name of something else: call this kind of page otherwise", f"pages.{name}")
    attributes = {
        **_own(table, path, made, starts=starts),
        **_checked_knobs(table),
        "__module__": __name__,
        "__doc__": f"What {where} describes.",
    }
    if any(page.items or page.follow for page in made.pages.values()):
        attributes["rules"] = rules
    elif "parser" not in table:
        table.refuse("has nothing to read: write fields, or name a parser")
    try:
        return type(_class_name(attributes["name"]), (Scraper,), attributes)
    except ConfigError as why:
        raise ConfigError(f"{where}: {str(why).partition('.')[2] or why}") from None


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in re.split(r"[^a-z0-9]+", name)) or "Rules"


# --- the parts of a file ---


def _refuse_unknown(table: Table) -> None:
    known = [*OWN_KEYS, *RULES_KEYS, *_KNOBS]
    for key in table.given:
        if key in NOT_HERE:
            table.refuse("cannot stand in a file of rules: write it in gossamer.toml, or on the command line", key)
        if key in known:
            continue
        near = [ALIASES[key]] if key in ALIASES else difflib.get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "rules and settings are listed in docs/rules.md"
        table.refuse(f"{key!r} is neither a rule nor a setting: {hint}")


def _own(table: Table, path: Path, rules: Rules, *, starts: bool) -> dict[str, Any]:
    """The attributes that are no knobs."""
    name = table.text("name") or re.sub(r"[^a-z0-9._-]+", "-", path.stem.lower()).strip("-._") or "rules"
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name):
        table.refuse(f"{shown(name)} cannot be used: write small letters, digits, dots and dashes", "name")
    begins, sitemaps = table.texts("start_urls"), table.texts("start_sitemaps")
    if starts and not begins and not sitemaps:
        table.refuse("has no start_urls: write where a run begins, like start_urls = ['https://example.org/']")
    for key, given in (("start_urls", begins), ("start_sitemaps", sitemaps)):
        for url in given:
            if url != "auto" or key == "start_urls":
                _absolute(table, key, url)
    own: dict[str, Any] = {"name": name, "start_urls": begins, "start_sitemaps": _sitemaps(sitemaps)}
    own["by_level"] = table.flag("by_level")
    own["parser"] = table.text("parser")
    own["matches"], own["volatile"] = table.texts("matches"), table.texts("volatile")
    own |= {name: table.given[name] for name in timetable.ON_SCRAPER if name in table}
    if kind := table.text("kind"):
        if not KIND.fullmatch(kind):
            table.refuse(f"{shown(kind)} cannot be used: write one word", "kind")
        own["kind"] = kind
    if told := _key(table, rules):
        own["key"] = told
    return own


def _absolute(table: Table, key: str, url: str) -> None:
    try:
        urls.absolute(url)
    except ConfigError as why:
        table.refuse(str(why), key)


def _sitemaps(given: tuple[str, ...]) -> Any:
    return given[0] if given == ("auto",) else given


def _key(table: Table, rules: Rules) -> str | tuple[str, ...] | None:
    """The key of all records that have none of their own."""
    key = table.texts("key")
    for page in rules.pages.values():
        for items in page.items:
            for name in key if items.key is None else ():
                if name not in items.shape.fields:
                    near = difflib.get_close_matches(name, items.shape.fields, n=1)
                    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(items.shape.fields)}"
                    table.refuse(f"{shown(name)} is none of the fields: {hint}", "key")
    return key[0] if len(key) == 1 else key or None


def _checked_knobs(table: Table) -> dict[str, Any]:
    knobs = {name: table.given[name] for name in _KNOBS if name in table}
    try:
        ScraperConfig(**knobs)
    except ConfigError as why:
        table.refuse(str(why))
    return knobs


# --- from bytes to data ---


def _read(path: Path) -> Any:
    """What a file holds. Raises ConfigError if it cannot be read."""
    if path.suffix.lower() not in ENDINGS:
        raise ConfigError(f"{path} is no file of rules: its name must end in {', '.join(ENDINGS)}")
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise ConfigError(f"there is no file {path}: check the path") from None
    except OSError as why:
        raise ConfigError(f"{path} cannot be read: {why.strerror}") from None
    if len(raw) > LARGEST:
        raise ConfigError(f"{path.name} is larger than {LARGEST >> 20} MB: no rules are")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        raise ConfigError(f"{path.name} is not UTF-8: {why.reason} at byte {why.start}") from None
    found = _decoded(text, path)
    if _values(found, _MOST_VALUES) <= 0:
        raise ConfigError(f"{path.name} holds too many values, or they stand too deep: no rules are like that")
    return {} if found is None else found


def _decoded(text: str, path: Path) -> Any:
    sort = {".toml": "TOML", ".json": "JSON"}.get(path.suffix.lower(), "YAML")
    try:
        if sort == "TOML":
            return tomllib.loads(text)
        if sort == "JSON":
            return json.loads(text, object_pairs_hook=_once) if text.strip() else None
        return _yaml(text)
    except RecursionError:
        raise ConfigError(f"{path.name}: its values stand too deep: no rules are like that") from None
    except ValueError as why:  # what TOML and JSON raise is one
        raise ConfigError(f"{path.name} is not {sort}: {why}") from None


def _once(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """A table of these pairs. Raises ValueError for a key that comes twice: one of them would be lost."""
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice in one table")
        found[key] = value
    return found


def _yaml(text: str) -> Any:
    """YAML as data. Raises ValueError."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        """Knows no tags that make objects, and no key that comes twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value if key.tag != _MERGE]
            if len({repr(key) for key in keys}) != len(keys):
                raise yaml.constructor.ConstructorError(None, None, "a key stands twice", node.start_mark)
            found: dict[Any, Any] = super().construct_mapping(node, deep)
            return found

    try:
        return yaml.load(text, Loader)  # noqa: S506 - it is a safe loader
    except yaml.MarkedYAMLError as why:
        mark = why.problem_mark
        at = f", line {mark.line + 1}" if mark else ""
        raise ValueError(f"{why.problem}{at}") from None
    except yaml.YAMLError as why:
        raise ValueError(str(why).partition("\n")[0]) from None


_MERGE = "tag:yaml.org,2002:merge"


def _values(found: Any, left: int, depth: int = 0) -> int:
    """How many more values there may be after these; nothing, if they are too many or stand too deep."""
    if depth > _DEEPEST:
        return 0
    left -= 1
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    for value in inside:
        if left <= 0:
            return 0
        left = _values(value, left, depth + 1)
    return left
