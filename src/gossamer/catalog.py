"""The scrapers a service knows: found in its files, by name, with those that cannot be loaded and why."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

import msgspec

from gossamer import registry
from gossamer.errors import ConfigError
from gossamer.registry import Found
from gossamer.storage.desk import Desk

#: Bytes of a file that are looked at before it is loaded.
MOST_BYTES = 1 << 20
#: Files of the folder a service is started in that are not looked into.
_NOT_SCRAPERS = ("setup.py", "conftest.py", "noxfile.py")


class Broken(msgspec.Struct, frozen=True):
    """A file that should hold scrapers, and why it cannot be used."""

    ref: str
    why: str

    @property
    def told(self) -> str:
        """Where and why, each of them once: `/x/shop.py, line 2: invalid syntax`."""
        return self.why if self.why.startswith(self.ref) else f"{self.ref}: {self.why}"


class Catalog:
    """Scrapers by name. `refresh` reads those files again that were changed since."""

    def __init__(self, listed: tuple[str, ...], folder: Path | None = None) -> None:
        """`listed` as the knob `scrapers` has them; with none, the Python files of `folder` that define scrapers."""
        self._listed = listed
        self._folder = folder
        self._known: dict[str, tuple[float, list[Found] | Broken]] = {}
        self.scrapers: Mapping[str, Found] = {}
        self.broken: list[Broken] = []
        self.refresh()

    def __contains__(self, name: object) -> bool:
        return name in self.scrapers

    def get(self, name: str) -> Found | None:
        """The scraper of a name."""
        return self.scrapers.get(name)

    def refresh(self) -> bool:
        """Look at the files again; whether anything changed."""
        changed = False
        refs = self._refs()
        for ref in refs:
            stamp = _stamp(ref)
            if ref not in self._known or self._known[ref][0] != stamp:
                self._known[ref] = (stamp, _load(ref))
                changed = True
        for ref in set(self._known) - set(refs):
            del self._known[ref]
            changed = True
        if changed or not self.scrapers:
            self._sort(refs)
        return changed

    def add(self, refs: Iterable[str]) -> None:
        """Know the scrapers behind some more refs too, as far as they can be loaded and their names are free."""
        found = dict(self.scrapers)
        for ref in refs:
            loaded = _load(ref)
            for each in loaded if not isinstance(loaded, Broken) else ():
                found.setdefault(each.scraper.name, each)
        self.scrapers = dict(sorted(found.items()))

    def _refs(self) -> list[str]:
        refs = list(self._listed)
        if not refs and self._folder is not None:
            files = [path for path in sorted(self._folder.glob("*.py")) if path.name not in _NOT_SCRAPERS]
            refs = [str(path) for path in files if _defines(path)]
        return refs + [point.value for point in entry_points(group=registry.GROUP)]

    def _sort(self, refs: list[str]) -> None:
        found: dict[str, Found] = {}
        self.broken = []
        for ref in refs:
            loaded = self._known[ref][1]
            if isinstance(loaded, Broken):
                self.broken.append(loaded)
                continue
            for each in loaded:
                known = found.setdefault(each.scraper.name, each)
                if known.ref != each.ref:
                    self.broken.append(Broken(each.ref, f"{known.ref} has a scraper of the same name"))
        self.scrapers = dict(sorted(found.items()))


_TELL = """
insert into scraper (name, ref) values (:name, :ref) on conflict (name) do update set ref = excluded.ref
"""
_TOLD = "select name, ref from scraper where ref <> '' order by name limit 10000"


async def tell(desk: Desk, catalog: Catalog) -> None:
    """Write down which scrapers a service knows, so that commands typed anywhere know them too."""
    known: dict[str, str] = dict(await desk.rows(_TOLD))
    news = [{"name": name, "ref": each.ref} for name, each in catalog.scrapers.items() if known.get(name) != each.ref]
    if news:
        async with desk.writing() as writing:
            await writing.many(_TELL, news)


async def told(desk: Desk, catalog: Catalog) -> None:
    """Have a catalog know what a service on this store knows."""
    catalog.add(ref for name, ref in await desk.rows(_TOLD) if name not in catalog)


def _load(ref: str) -> list[Found] | Broken:
    try:
        return registry.load_all(ref)
    except ConfigError as why:
        return Broken(ref, str(why))


def _defines(path: Path) -> bool:
    """Whether a file looks like one of scrapers: it imports us, defines classes, and does nothing else.

    To look into a file is to run it. A program that happens to lie in the folder is not run for that.
    """
    try:
        text = path.read_bytes()[:MOST_BYTES]
    except OSError:
        return False
    if b"gossamer" not in text:
        return False
    try:
        body = ast.parse(text).body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return b"Scraper" in text  # somebody is writing it: that it cannot be read is told
    ours = any(
        (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gossamer")
        or (isinstance(node, ast.Import) and any(each.name.split(".")[0] == "gossamer" for each in node.names))
        for node in body
    )
    return ours and any(isinstance(node, ast.ClassDef) for node in body) and all(map(_harmless, body))


def _harmless(node: ast.stmt) -> bool:
    """Whether a statement at the top of a file only defines something."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return not isinstance(node, ast.For | ast.While | ast.With | ast.Match | ast.Raise | ast.AsyncFor | ast.AsyncWith)


def _stamp(ref: str) -> float:
    """When a file was last changed; 0 for what is no file."""
    place = ref if ref.endswith((".py", *registry.RULE_FILES)) else ref.rpartition(":")[0]
    try:
        return Path(place).stat().st_mtime
    except OSError:
        return 0.0
