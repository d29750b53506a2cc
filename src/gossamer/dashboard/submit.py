"""`/submit`: hand URLs in to be read with a parser, see what becomes of each, and watch the run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from nicegui import ui

from gossamer import asking, plugins
from gossamer.asking import Submitting
from gossamer.dashboard import words
from gossamer.dashboard.following import Following
from gossamer.dashboard.parts import Cell, Column, Row, Sheet, Table, Text, box, button, card, empty, note, safe, toast
from gossamer.dashboard.shell import Here, page
from gossamer.parse.parsers import AUTO

#: Letters of one batch, and of one message that carries a part of it: sockets take no messages of any length.
MOST_LETTERS = 4_000_000
PIECE = 200_000
#: Verdicts on one page.
ROWS = 100
COLUMNS = (Column("URL", form="line"), Column("Verdict"), Column("Why not", form="text"))

#: The field keeps what is typed to itself; it is sent when the button is pressed. A file is read by the browser.
_SEND = """() => {
  const text = document.getElementById('g-urls').value;
  const most = MOST_LETTERS, size = PIECE;
  if (text.length > most) { emit([0, 0, '']); return; }
  const total = Math.max(1, Math.ceil(text.length / size));
  for (let n = 0; n < total; n++) emit([n, total, text.slice(n * size, (n + 1) * size)]);
}""".replace("MOST_LETTERS", str(MOST_LETTERS)).replace("PIECE", str(PIECE))
_READ = """async (event) => {
  const files = [...(event.dataTransfer || event.target).files].slice(0, 10);
  if (!files.length) return;
  event.preventDefault();
  const field = document.getElementById('g-urls');
  for (const file of files) {
    const text = await file.slice(0, MOST_LETTERS + 1).text();
    field.value += (field.value && !field.value.endsWith('\\n') ? '\\n' : '') + text;
  }
}""".replace("MOST_LETTERS", str(MOST_LETTERS))
#: Browsers take minutes to insert ten thousand lines as if they were typed.
_PASTE = """(event) => {
  const text = event.clipboardData.getData('text/plain');
  if (text.length < 20000) return;
  event.preventDefault();
  const field = event.target;
  field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
}"""


def urls_in(text: str) -> list[str]:
    """What stands between white space, without commas and quotes around it. Lines that begin with # are left out.

    >>> urls_in("https://a.org/x, \\n# not this\\n'https://b.org'")
    ['https://a.org/x', 'https://b.org']
    """
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    found = (word.strip(",;\"'<>") for line in lines for word in line.split())
    return [word for word in found if word]


class Submit:
    """The form, and what became of what was handed in."""

    def __init__(self, here: Here, known: dict[str, str]) -> None:
        self.here = here
        self._pieces: list[str] = []
        self._following: Following | None = None
        self._done: Submitting | None = None
        with card():
            Text(f"URLs, one a line, up to {words.number(asking.MOST_URLS)}", "label").props["for"] = "g-urls"
            self._draw_field()
            with box("g-row"):
                self._parser = ui.select(known, label="Parser", value=AUTO).props("dense outlined options-dense")
                self._parser.style("min-width: min(320px, 100%)")
                self._button = button("Submit", "playlist_add", lambda: None, main=True)
                self._button.on("click", self._heard, js_handler=_SEND)
        self._after = ui.element("div")

    def _draw_field(self) -> None:
        field = ui.element("textarea").classes("g-area")
        given = {"id": "g-urls", "rows": "10", "spellcheck": "false", "placeholder": "https://example.org/page"}
        for name, value in given.items():
            field.props[name] = value
        field.on("dragover.prevent", js_handler="() => {}")
        field.on("drop", js_handler=_READ)
        field.on("paste", js_handler=_PASTE)
        with box("g-row q-my-sm"):
            Text("or a text file, dropped above or chosen here:", "label", "g-dim").props["for"] = "g-file"
            chosen = ui.element("input").on("change", js_handler=_READ)
            for name, value in {"id": "g-file", "type": "file", "accept": ".txt,.csv,text/plain,text/csv"}.items():
                chosen.props[name] = value

    def _heard(self, event: Any) -> Coroutine[Any, Any, None] | None:
        """One piece of the text; with the last one, all of it is handed in."""
        given = event.args
        if not (isinstance(given, list) and len(given) == 3 and isinstance(given[2], str)):
            return None
        n, total, text = given
        if total == 0 or len(text) > PIECE or n != (len(self._pieces) if n else 0):
            self._pieces.clear()
            toast(f"that is too much at once: hand in at most {words.number(MOST_LETTERS)} letters", "negative")
            return None
        self._pieces = [*(self._pieces if n else []), text]
        if len(self._pieces) * PIECE > MOST_LETTERS + PIECE:
            self._pieces.clear()
            return None
        if n + 1 < total:
            return None
        whole, self._pieces = "".join(self._pieces), []
        return self._submit(whole)

    async def _submit(self, text: str) -> None:
        found = await asyncio.to_thread(urls_in, text)
        if not found:
            toast("no URL was given: paste some, one a line", "warning")
            return
        desk, parser = self.here.desk, str(self._parser.value)
        self._button.disable()
        done = await self.here.do("run", lambda by: asking.submit(desk, found, parser, by=by))
        self._button.enable()
        if done is not None:
            await self._show(done)

    async def _show(self, done: Submitting) -> None:
        if self._following is not None:
            self._following.stop()
        self._done = done
        self._after.clear()
        good = sum(each.ok for each in done.verdicts)
        refused = len(done.verdicts) - good
        with self._after:
            if done.run is None:
                note("None of them can be used, so there is no run: see why below.", "bad")
            else:
                self._following = Following(self.here, done.run, f"reads {words.plural(good, 'URL')}")
                await self._following.draw()
            with card(f"{words.number(good)} taken, {words.number(refused)} refused"):
                self._table = Table(COLUMNS, self._load, nothing=lambda: None, label="Verdicts")
            await self._table.restart()

    async def _load(self, cursor: Any) -> Sheet:
        """Those that were refused first: they are to be looked at."""
        assert self._done is not None
        first = cursor or 0
        ordered = sorted(self._done.verdicts, key=lambda each: each.ok)
        rows = []
        for n, each in enumerate(ordered[first : first + ROWS], first):
            verdict = Cell("taken", tone="good") if each.ok else Cell("refused", tone="bad")
            href = each.url if each.ok and safe(each.url) else ""
            rows.append(
                Row(str(n), (Cell(words.cut(each.url, 150), href=href, tip=each.url[:2000]), verdict, each.why))
            )
        return Sheet(rows, first + ROWS if len(ordered) > first + ROWS else None)


def _parsers() -> dict[str, str]:
    """Every parser and what it is for."""
    told = {AUTO: f"{AUTO}: whatever the page is"}
    for name, parser in sorted(plugins.parsers().items()):
        told[name] = words.cut(f"{name}: {parser.about}" if parser.about else name, 100)
    return told


@page("/submit", "Submit")
async def submit(here: Here) -> None:
    """The form."""
    with box("g-title"):
        Text("Submit", "h1")
    if not here.may("run"):
        empty(f"Handing URLs in needs the scope run, and {here.session.name} has {here.session.scope}.")
        return
    Text("Pages that are read once, without a scraper of their own: each URL is fetched and read with a parser.", "p")
    Submit(here, await asyncio.to_thread(_parsers))
