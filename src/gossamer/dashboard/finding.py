"""Looking through a long list: what narrows it down stands in the address, rows come a page at a time and stay current.

finder = Finder(here, "/urls", given, load)
finder.choice("state", "State", STATES)
finder.text("q", "Find")
finder.table(COLUMNS, row_of, nothing=..., label="URLs")
await finder.follow()
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from nicegui import ui

from gossamer.dashboard import words
from gossamer.dashboard.feed import Watch
from gossamer.dashboard.parts import Column, Row, Sheet, Table, Text, note
from gossamer.dashboard.shell import Here
from gossamer.errors import ConfigError, GossamerError
from gossamer.lists import Listing

T = TypeVar("T")

#: Rows of one page.
ROWS = 50
#: Letters that a filter takes.
LONGEST = 200

#: Reads the rows after a cursor, as far as the filters let them through.
Load = Callable[[dict[str, str], str | None], Awaitable[Listing[T]]]


def limited(**given: str) -> dict[str, str]:
    """What an address says, cut to what filters take."""
    return {name: value.strip()[:LONGEST] for name, value in given.items()}


def number_of(text: str, noun: str) -> int | None:
    """The number that somebody wrote into a filter. Raises ConfigError for what is none."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ConfigError(f"{text[:40]!r} is no {noun}: write its number, like 12")
    return int(text)


class Finder(Generic[T]):
    """A table over a list that may have a million rows, and what narrows it down."""

    def __init__(
        self, here: Here, path: str, given: dict[str, str], load: Load[T], *, every: float | None = 5.0
    ) -> None:
        """`given` are the filters, as the address has them; `every` says how often the first page is read again."""
        self.here = here
        self.path = path
        self.given = given
        #: The rows that are shown, by their ids.
        self.rows: dict[str, T] = {}
        self._load = load
        self._every = every
        self._watch: Watch[Listing[T]] | None = None
        self._looked: dict[str | None, int] = {}

    # -- what narrows it down --------------------------------------------------------------------------------------

    def choice(self, name: str, label: str, options: Sequence[str] | Mapping[str, str]) -> ui.select:
        """A filter that is one of a few."""
        known = dict(options) if isinstance(options, Mapping) else {each: each for each in options}
        value = self.given[name] if self.given[name] in known else None
        self.given[name] = value or ""
        made = ui.select(known, label=label, value=value, clearable=True)
        made.props("dense outlined options-dense").style("min-width: 165px")
        made.on_value_change(lambda event: self.narrow(name, event.value))
        return made

    def text(self, name: str, label: str, placeholder: str = "", *, wide: bool = False) -> ui.input:
        """A filter that is typed."""
        made = ui.input(label, value=self.given[name], placeholder=placeholder)
        made.props("dense outlined clearable debounce=400").classes("col-grow" if wide else "")
        made.props["maxlength"] = LONGEST
        made.on_value_change(lambda event: self.narrow(name, event.value))
        return made

    @property
    def narrowed(self) -> bool:
        """Whether anything is."""
        return any(self.given.values())

    async def narrow(self, name: str, value: str | None) -> None:
        """Look for something else."""
        self.given[name] = (value or "").strip()[:LONGEST]
        self.remember()
        await self.follow()

    def remember(self) -> None:
        """Have the address say what is looked for: it can be sent to somebody else."""
        told = urlencode({key: text for key, text in self.given.items() if text})
        ui.navigate.history.replace(f"{self.path}?{told}" if told else self.path)

    # -- the rows --------------------------------------------------------------------------------------------------

    def table(
        self,
        columns: Sequence[Column],
        row: Callable[[T], Row],
        *,
        nothing: Callable[[], Any],
        act: Callable[[str, str], Awaitable[None]] | None = None,
        label: str,
    ) -> None:
        """Draw the table. It can be drawn again, with other columns; then it has to be followed again too."""
        self._row = row
        self._wrong = note("", "bad")
        self._wrong.set_visibility(False)
        self._table = Table(columns, self._page, nothing=nothing, act=act, label=label)
        self._so_far = Text("", "p", "g-dim g-small")
        self._so_far.props["role"] = "status"

    async def follow(self) -> None:
        """Show the first page, and keep it current. Everybody who looks for the same shares one reading."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        self._table.rewind()
        self._looked.clear()
        given = dict(self.given)
        try:
            if self._every is None:
                self._show(await self._load(given, None))
            else:
                load = functools.partial(self._load, given, None)
                self._watch = await self.here.watch(self._key(given), load, self._show, self._every)
            self._say("")
        except GossamerError as why:  # a filter that cannot be read, say
            self._table.blank()
            self._so_far.text = ""
            self._say(str(why))

    async def peek(self) -> Listing[T]:
        """The first page, before it is drawn: `follow` does not read it again."""
        given = dict(self.given)
        load = functools.partial(self._load, given, None)
        return await self.here.feed.latest(self._key(given), load, self._every or 1.0)

    def _key(self, given: dict[str, str]) -> tuple[Any, ...]:
        return (self.path, *given.items())

    async def pause(self, paused: bool) -> None:
        """Let what is shown stand still, or keep it current again."""
        if not paused:
            await self.follow()
        elif self._watch is not None:
            self._watch.stop()

    async def refresh(self) -> None:
        """Read the page that is shown again: something was done with one of its rows."""
        await self.here.read(self._table.refresh())

    def _say(self, wrong: str) -> None:
        self._wrong.text = words.quoted(wrong)
        self._wrong.set_visibility(bool(wrong))

    def _show(self, found: Listing[T]) -> None:
        if self._table.first:
            self._table.show(self._sheet(found))

    async def _page(self, cursor: str | None) -> Sheet:
        return self._sheet(await self._load(dict(self.given), cursor), cursor)

    def _sheet(self, found: Listing[T], cursor: str | None = None) -> Sheet:
        made = [(each, self._row(each)) for each in found.rows]
        self.rows = {row.id: each for each, row in made}
        self._looked[cursor] = found.looked
        self._so_far.text = self._told(found, cursor)
        return Sheet([row for _, row in made], found.next)

    def _told(self, found: Listing[T], cursor: str | None) -> str:
        """How far was searched, where a filter let few rows through."""
        looked = 0
        for each, n in self._looked.items():
            looked += n
            if each == cursor:
                break
        if found.next is None or looked <= 2 * ROWS * len(self._looked):
            return ""
        return f"{words.number(looked)} rows were searched so far: Next searches on."
