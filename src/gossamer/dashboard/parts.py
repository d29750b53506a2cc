"""What pages are made of. Whatever a site or a person wrote is shown as text: nothing here takes markup.

Data never goes into `.props(...)`, `.classes(...)`, `.style(...)`, a slot's template or JavaScript, nor is it ever the
name of a key in what is sent to a browser: NiceGUI runs the values of keys that begin with a colon.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import msgspec
from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from gossamer.dashboard import words

#: What a state is painted with: see `g-badge` in gossamer.css.
TONES = {
    "pending": "info",
    "running": "info",
    "finished": "good",
    "failed": "bad",
    "cancelled": "dim",
    "stopped": "warn",
    "suspect": "warn",
    "rejected": "bad",
    "accepted": "good",
    "good": "good",
    "learning": "info",
    "open": "bad",
    "half-open": "warn",
    "closed": "good",
    "error": "bad",
    "critical": "bad",
    "warning": "warn",
    "info": "dim",
}


class Text(TextElement):
    """A tag with text in it. Setting `text` to what it is already sends nothing."""

    def __init__(self, text: object = "", tag: str = "span", classes: str = "") -> None:
        super().__init__(tag=tag, text=str(text))
        if classes:
            self.classes(classes)

    def tip(self, text: str) -> Self:
        """What a pointer resting on it shows."""
        self.props["title"] = text
        return self


class Badge(Text):
    """A word with a colour: `state` picks it, or `tone` says it ("good", "warn", "bad", "info", "dim")."""

    def __init__(self, state: str, tone: str | None = None) -> None:
        self._tone = ""
        super().__init__("", "span", "g-badge")
        self.become(state, tone)

    def become(self, state: str, tone: str | None = None) -> None:
        """Say something else."""
        self.text = state
        wanted = tone or TONES.get(state, "dim")
        if wanted != self._tone:
            self.classes(remove=f"g-{self._tone}" if self._tone else None, add=f"g-{_plain(wanted)}")
            self._tone = wanted


def _plain(tone: str) -> str:
    return tone if tone in ("good", "warn", "bad", "info") else "dim"


def safe(href: str) -> str | None:
    """A place a link may lead to: one of our pages, or a web page. Anything else is none."""
    if href.startswith("/") and not href.startswith(("//", "/\\")):
        return href
    return href if href[:8].lower().startswith(("http://", "https://")) else None


def link(text: object, href: str, classes: str = "") -> Text:
    """A link to one of our pages, or to the page of a site: that one opens in a new tab and learns nothing of us."""
    target = safe(href)
    if target is None:
        return Text(text, "span", classes)
    made = Text(text, "a", classes)
    made.props["href"] = target
    if not target.startswith("/"):
        made.props["target"] = "_blank"
        made.props["rel"] = "noopener noreferrer nofollow"
    return made


def outside(url: str, longest: int = 90) -> Text:
    """A link to a page of a site, showing its URL."""
    return link(words.cut(url, longest), url, "g-wrap").tip(url[:2000])


def when(at: float | None, classes: str = "") -> Text:
    """A moment, told as how long ago it was; the browser keeps that true by itself."""
    made = Text(words.ago(at), "time", classes)
    point_in_time(made, at)
    return made


def point_in_time(made: Text, at: float | None) -> None:
    """Have an element of `when` tell another moment."""
    if made.props.get("data-at") != at or at is None:
        made.text = words.ago(at)
        made.props["data-at"] = at
        made.props["title"] = words.moment(at) if at is not None else ""


@contextmanager
def card(title: str = "", classes: str = "") -> Iterator[ui.element]:
    """A box with a heading."""
    with ui.element("section").classes(f"g-card {classes}") as made:
        if title:
            Text(title, "h2")
        yield made


@contextmanager
def box(classes: str, tag: str = "div") -> Iterator[ui.element]:
    """A plain element to put others into."""
    with ui.element(tag).classes(classes) as made:
        yield made


def written(text: str, tag: str = "p", classes: str = "g-wrap") -> Text:
    """A sentence of ours, in which `names` are set apart as code."""
    with Text("", tag, classes) as made:
        for n, part in enumerate(text.split("`")):
            if part:
                Text(part, "code" if n % 2 else "span")
    return made


def empty(text: str, command: str = "", after: str = "") -> ui.element:
    """What stands where there is nothing yet: it says what to do. A command to type is shown as one."""
    with ui.element("div").classes("g-empty") as made:
        Text(text)
        if command:
            Text(command, "code")
        if after:
            Text(after)
    return made


def note(text: str, tone: str = "warn") -> Text:
    """A sentence that stands out."""
    return Text(words.quoted(text), "div", f"g-note g-{_plain(tone)}")


class Stat:
    """A number and what it counts."""

    def __init__(self, label: str, value: str = words.NOTHING) -> None:
        with ui.element("div"):
            self.value = Text(value, "div", "g-stat-value")
            self.label = Text(label, "div", "g-stat-label")

    def tip(self, text: str) -> None:
        """What a pointer resting on it shows: what exactly is counted."""
        for each in (self.value, self.label):
            each.tip(text)

    def show(self, value: str) -> None:
        """Another number."""
        self.value.text = value


def stats(*labels: str) -> list[Stat]:
    """Several numbers side by side."""
    with ui.element("div").classes("g-stats"):
        return [Stat(label) for label in labels]


class Pairs:
    """Names and what they are, below each other."""

    def __init__(self) -> None:
        self._list = ui.element("dl").classes("g-pairs")

    def add(self, name: str, value: object = "") -> Text:
        """A name and a text, which is returned to be changed later."""
        with self._list:
            Text(name, "dt")
            return Text(value, "dd")

    @contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """A name, and whatever is put beside it."""
        with self._list:
            Text(name, "dt")
            with ui.element("dd"):
                yield


class Bar:
    """A progress bar; one whose end is unknown goes to and fro."""

    def __init__(self, label: str = "progress") -> None:
        with ui.element("div").classes("g-bar") as self._bar:
            self._fill = ui.element("div")
        self._bar.props["role"] = "progressbar"
        self._bar.props["aria-label"] = label
        self._shown: int | None = -1
        self._tone = ""

    def show(self, share: float | None, tone: str = "") -> None:
        """How far it is, of one; None: nobody knows. `tone` says how it ended."""
        percent = None if share is None else round(100 * min(1.0, max(0.0, share)))
        if tone != self._tone:
            self._bar.classes(remove=f"g-{_plain(self._tone)}", add=f"g-{_plain(tone)}" if tone else None)
            self._tone = tone
        if percent == self._shown:
            return
        self._shown = percent
        self._bar.classes(add="g-idle" if percent is None else None, remove=None if percent is None else "g-idle")
        if percent is None:
            self._bar.props.pop("aria-valuenow", None)
        else:
            self._bar.props["aria-valuenow"] = str(percent)
            self._fill.style(f"width: {percent:d}%")


def trend(values: Sequence[float], label: str) -> ui.element:
    """A line through a few numbers, oldest first."""
    with ui.element("svg").classes("g-trend") as made:
        made.props["viewBox"] = "0 0 96 24"
        made.props["role"] = "img"
        made.props["aria-label"] = label
        if len(values) > 1:
            line = ui.element("polyline")
            given = {"points": _points(values), "fill": "none", "stroke": "currentColor", "stroke-width": "1.5"}
            for name, value in given.items():
                line.props[name] = value
    return made


def _points(values: Sequence[float]) -> str:
    top = max(values, default=0) or 1
    step = 96 / max(1, len(values) - 1)
    return " ".join(f"{n * step:.1f},{22 - 20 * value / top:.1f}" for n, value in enumerate(values))


# -- talking to whoever sits there -------------------------------------------------------------------------------


def toast(text: str, kind: str = "positive") -> None:
    """Say something in passing: "positive", "negative", "warning" or "info"."""
    stay = 0 if kind == "negative" else 4000
    ui.notify(
        words.cut(words.quoted(text), 600),
        type=kind,  # type: ignore[arg-type]
        position="top",
        close_button="Close" if kind == "negative" else False,
        timeout=stay or 12_000,
    )


@contextmanager
def dialogue() -> Iterator[ui.dialog]:
    """A dialog. It belongs to the page: what it was opened from may be drawn anew while it is open."""
    with ui.context.client, ui.dialog() as dialog, ui.card():
        yield dialog


async def confirm(text: str, label: str = "Yes", *, detail: str = "", danger: bool = True) -> bool:
    """Ask before something that cannot be undone."""
    with dialogue() as dialog:
        Text(text, "h2", "g-wrap")
        if detail:
            Text(detail, "p", "g-dim g-wrap")
        with ui.element("div").classes("g-row"):
            ui.button(label, on_click=lambda: dialog.submit(True), color="negative" if danger else "primary")
            ui.button("Cancel", on_click=lambda: dialog.submit(False), color=None).props("flat autofocus")
    answer = await dialog
    dialog.delete()
    return bool(answer)


def button(label: str, icon: str, act: Callable[[], Any], *, danger: bool = False, main: bool = False) -> ui.button:
    """A button that looks as important as it is."""
    made = ui.button(label, icon=icon, on_click=act, color="negative" if danger else "primary")
    made.props("unelevated dense" if main else "outline dense")
    return made.classes("q-px-sm")


# -- tables ------------------------------------------------------------------------------------------------------


class Column(msgspec.Struct, frozen=True):
    """A column of a Table."""

    label: str
    #: "left" or "right" for numbers.
    align: str = "left"
    #: Whether it is left out on a phone.
    minor: bool = False
    #: "word": on one line; "line": as wide as there is room, the rest cut off; "text": as many lines as it takes.
    form: str = "word"


class Cell(msgspec.Struct, frozen=True):
    """What stands in one field of a Table."""

    text: str
    #: Where it leads to; dropped unless `safe`.
    href: str = ""
    #: A badge of this tone.
    tone: str = ""
    #: A second badge beside it, and its tone.
    also: str = ""
    also_tone: str = "warn"
    #: A moment: the text is how long ago that was.
    at: float | None = None
    #: What a pointer resting on it shows.
    tip: str = ""
    mono: bool = False
    #: A line through a few numbers, oldest first.
    trend: Sequence[float] = ()
    #: A switch, on or off; thrown, it is the deed "on" or "off".
    switch: bool | None = None


def at(moment: float | None) -> Cell:
    """A moment as a field of a Table."""
    return Cell(words.ago(moment), at=moment, tip=words.moment(moment) if moment is not None else "")


def badge(state: str) -> Cell:
    """A state as a field of a Table."""
    return Cell(state, tone=TONES.get(state, "dim"))


#: How one field is drawn. `row` and `name` are filled in below; all data comes in as values, none as template.
_FIELD = """
<a v-if="ROW[NAME + '_h']" :href="ROW[NAME + '_h']" :title="ROW[NAME + '_t']"
   :target="ROW[NAME + '_h'].startsWith('/') ? '_self' : '_blank'" rel="noopener noreferrer nofollow"
   >{{ ROW[NAME] }}</a>
<template v-else-if="ROW[NAME + '_b']"><span :class="'g-badge g-' + ROW[NAME + '_b']" :title="ROW[NAME + '_t']"
   >{{ ROW[NAME] }}</span><span v-if="ROW[NAME + '_o']" :class="'g-badge q-ml-xs g-' + ROW[NAME + '_q']"
   >{{ ROW[NAME + '_o'] }}</span></template>
<time v-else-if="ROW[NAME + '_a']" :data-at="ROW[NAME + '_a']" :title="ROW[NAME + '_t']">{{ ROW[NAME] }}</time>
<span v-else-if="ROW[NAME + '_p']" class="g-row no-wrap" :title="ROW[NAME + '_t']">
  <svg class="g-trend" viewBox="0 0 96 24" role="img" :aria-label="ROW[NAME + '_t']">
    <polyline :points="ROW[NAME + '_p']" fill="none" stroke="currentColor" stroke-width="1.5" /></svg>{{ ROW[NAME] }}
</span>
<q-toggle v-else-if="ROW[NAME + '_s'] !== undefined" :model-value="ROW[NAME + '_s'] === 1" dense
  :aria-label="ROW[NAME + '_t']" @update:model-value="(on) => $parent.$emit('act', [ROW.id, on ? 'on' : 'off'])" />
<span v-else :title="ROW[NAME + '_t']" :class="ROW[NAME + '_m'] ? 'g-mono' : ''">{{ ROW[NAME] }}</span>
"""
_ACTS = """
<q-btn v-for="act in (ROW.acts || '').split('|').filter(Boolean)" :key="act" flat dense no-caps size="12px"
   class="q-px-xs"
   :color="ROW.danger === act ? 'negative' : 'primary'" :label="act" :aria-label="act + ' ' + ROW.id"
   @click="$parent.$emit('act', [ROW.id, act])" />
"""
_CELL = '<q-td :props="props">' + _FIELD.replace("ROW", "props.row").replace("NAME", "props.col.name") + "</q-td>"
_ACT_CELL = '<q-td :props="props" class="g-nowrap g-stay">' + _ACTS.replace("ROW", "props.row") + "</q-td>"
#: On a phone, fields with nothing in them take no line, and minor ones none.
_FILLED = """col.name !== 'acts' && !(col.classes || '').includes('g-hide-phone')
    && (!['', '–'].includes(props.row[col.name])
    || props.row[col.name + '_s'] !== undefined || props.row[col.name + '_p'])"""
_ITEM = (
    '<div class="g-item"><div v-for="col in props.cols.filter((col) => FILLED)" :key="col.name">'
    '<span>{{ col.label }}</span><span class="g-cell">'
    + _FIELD.replace("ROW", "props.row").replace("NAME", "col.name")
    + "</span></div>"
    + '<div class="g-acts">'
    + _ACTS.replace("ROW", "props.row")
    + "</div></div>"
).replace("FILLED", _FILLED)


class Row(msgspec.Struct, frozen=True):
    """A row of a Table: one value a column, and what can be done with it."""

    id: str
    cells: Sequence[str | Cell]
    #: Labels of its buttons; `danger` is painted as one that destroys.
    acts: Sequence[str] = ()
    danger: str = ""


class Sheet(msgspec.Struct, frozen=True):
    """Some rows of a Table, and where those after them begin."""

    rows: list[Row]
    next: Any = None


class Table:
    """Rows that are read a page at a time, each page from where the last one ended.

    There is no count and no jump to page 40,000: both would read all rows before it. On a phone rows become cards.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        load: Callable[[Any], Awaitable[Sheet]] | None = None,
        *,
        nothing: Callable[[], Any],
        act: Callable[[str, str], Awaitable[None]] | None = None,
        label: str = "",
    ) -> None:
        """`load` reads the rows after a cursor (None: the first), and is left out where rows are given to `show`.

        `nothing` draws what stands there if there are none. `act` is told of a button: the row's id and its label.
        """
        self._load = load
        self._act = act
        self._cursors: list[Any] = [None]
        self._next: Any = None
        self._rows: list[dict[str, Any]] = []
        self._acting: set[tuple[str, str]] = set()
        self._table = self._draw(columns, label)
        self._nothing = ui.element("div")
        with self._nothing:
            nothing()
        with ui.element("div").classes("g-row q-mt-sm") as self._pager:
            self._back = ui.button("Previous", icon="chevron_left", on_click=self.previous, color=None)
            self._on = ui.button("Next", icon="chevron_right", on_click=self.following, color=None)
            for each in (self._back, self._on):
                each.props("flat dense")

    def _draw(self, columns: Sequence[Column], label: str) -> ui.table:
        described = [
            {"name": f"c{n}", "field": f"c{n}", "label": each.label, "align": each.align, "sortable": False}
            | {"classes": _classes(each), "headerClasses": "g-hide-phone" if each.minor else ""}
            for n, each in enumerate(columns)
        ]
        if self._act is not None:
            described.append({"name": "acts", "field": "acts", "label": "", "align": "right", "sortable": False})
        table = ui.table(columns=described, rows=[], row_key="id", pagination=0).classes("g-table")
        table.props('flat hide-pagination :grid="Quasar.Screen.lt.sm" :rows-per-page-options="[0]"')
        table.props["role"] = "group"
        table.props["aria-label"] = label
        table.add_slot("body-cell", _CELL)
        table.add_slot("item", _ITEM)
        if self._act is not None:
            table.add_slot("body-cell-acts", _ACT_CELL)
            table.on("act", self._acted)
        return table

    async def refresh(self) -> None:
        """Read the page that is shown again."""
        assert self._load is not None
        sheet = await self._load(self._cursors[-1])
        if not sheet.rows and len(self._cursors) > 1:  # what was here is gone
            self._cursors = [None]
            sheet = await self._load(None)
        self.show(sheet)

    async def restart(self) -> None:
        """Begin at the first page: something else is looked for."""
        self.rewind()
        await self.refresh()

    def rewind(self) -> None:
        """Whatever is shown next is the first page."""
        self._cursors = [None]

    async def following(self) -> None:
        """The next page."""
        if self._next is not None:
            self._cursors.append(self._next)
            await self.refresh()

    async def previous(self) -> None:
        """The page before."""
        if len(self._cursors) > 1:
            self._cursors.pop()
            await self.refresh()

    @property
    def first(self) -> bool:
        """Whether the first page is shown: only there new rows come in."""
        return len(self._cursors) == 1

    def show(self, sheet: Sheet) -> None:
        """Show rows; those that are shown already are not sent again."""
        self._next = sheet.next
        rows = [_flat(row) for row in sheet.rows]
        if rows != self._rows:
            self._rows = rows
            self._table.rows = [dict(row) for row in rows]
        self._acting = {(row.id, act) for row in sheet.rows for act in _deeds(row)}
        self._table.set_visibility(bool(rows))
        self._nothing.set_visibility(not rows)
        self._pager.set_visibility(len(self._cursors) > 1 or self._next is not None)
        self._back.set_enabled(len(self._cursors) > 1)
        self._on.set_enabled(self._next is not None)

    def blank(self) -> None:
        """Show nothing at all: what was asked for cannot be looked for, which is said elsewhere."""
        self.show(Sheet([]))
        self._nothing.set_visibility(False)

    async def _acted(self, event: Any) -> None:
        """A button was pressed, says a browser: only what was offered is done."""
        given = event.args
        if isinstance(given, list) and len(given) == 2 and self._act is not None and tuple(given) in self._acting:
            await self._act(given[0], given[1])


def _classes(column: Column) -> str:
    """How wide a column may become, and whether it is left out on a phone."""
    form = column.form if column.form in ("line", "text") else "word"
    return f"g-{form} g-hide-phone" if column.minor else f"g-{form}"


def _flat(row: Row) -> dict[str, Any]:
    """A row as the browser gets it: only names of ours, and texts and numbers."""
    flat: dict[str, Any] = {"id": row.id, "acts": "|".join(row.acts), "danger": row.danger}
    for n, each in enumerate(row.cells):
        cell = each if isinstance(each, Cell) else Cell(each)
        flat[f"c{n}"] = cell.text
        if cell.href and (target := safe(cell.href)) is not None:
            flat[f"c{n}_h"] = target
        if cell.tone:
            flat[f"c{n}_b"] = _plain(cell.tone)
        if cell.tone and cell.also:
            flat[f"c{n}_o"] = cell.also
            flat[f"c{n}_q"] = _plain(cell.also_tone)
        if cell.at is not None:
            flat[f"c{n}_a"] = cell.at
        if cell.tip:
            flat[f"c{n}_t"] = cell.tip
        if cell.mono:
            flat[f"c{n}_m"] = 1
        if len(cell.trend) > 1:
            flat[f"c{n}_p"] = _points(cell.trend)
        if cell.switch is not None:
            flat[f"c{n}_s"] = int(cell.switch)
    return flat


def _deeds(row: Row) -> Iterator[str]:
    """Everything that can be done with a row."""
    yield from row.acts
    if any(isinstance(cell, Cell) and cell.switch is not None for cell in row.cells):
        yield from ("on", "off")
