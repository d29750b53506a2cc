"""`/proxies`: the proxies that the settings and the scrapers name, without passwords, and which of them are alive."""

from __future__ import annotations

from typing import Any

from gossamer import proxy_pool
from gossamer.dashboard import words
from gossamer.dashboard.parts import Cell, Column, Row, Sheet, Table, Text, box, button, card, empty, toast
from gossamer.dashboard.shell import Here, page
from gossamer.errors import NotPossible
from gossamer.proxy_pool import Pooled
from gossamer.trail import Asker

COLUMNS = (
    Column("Of"),
    Column("Proxy", form="line"),
    Column("Country", minor=True),
    Column("Alive"),
    Column("Answered in", "right"),
    Column("Status", "right", minor=True),
    Column("Why not", form="text"),
)
#: Proxies on one page.
ROWS = 100


def row_of(n: int, proxy: Pooled) -> Row:
    """A proxy as a row."""
    alive = Cell("not asked", tone="dim")
    if proxy.ok is not None:
        alive = Cell("alive", tone="good") if proxy.ok else Cell("dead", tone="bad")
    return Row(
        str(n),
        (
            words.cut(proxy.of, 80),
            Cell(words.cut(proxy.label, 120) or words.NOTHING, mono=True),
            proxy.country or words.NOTHING,
            alive,
            words.duration(proxy.seconds),
            str(proxy.status or words.NOTHING),
            words.cut(proxy.why, 300),
        ),
    )


class Proxies:
    """The table, and the button that asks each."""

    def __init__(self, here: Here) -> None:
        self.here = here
        self.found: list[Pooled] = []
        with box("g-title"):
            Text("Proxies", "h1")
            self._told = Text("", "span", "g-dim")
            self._told.props["role"] = "status"
            Text("", "div", "g-space")
            if here.may("run"):
                self._button = button("Check all", "network_check", self._check)
        with card():
            self._table = Table(COLUMNS, self._load, nothing=_nothing, label="Proxies")

    async def _load(self, cursor: Any) -> Sheet:
        first = cursor or 0
        rows = [row_of(n, proxy) for n, proxy in enumerate(self.found)][first : first + ROWS]
        return Sheet(rows, first + ROWS if len(self.found) > first + ROWS else None)

    async def show(self, found: list[Pooled]) -> None:
        """Those there are."""
        self.found = found
        await self._table.restart()

    async def _check(self) -> None:
        self._button.disable()
        self._told.text = "Each is asked for a page: that takes up to a minute."
        found = await self.here.do("run", self._ask)
        self._told.text = ""
        self._button.enable()
        if found is not None:
            await self.show(found)
            alive = sum(each.ok is True for each in found)
            toast(f"{words.plural(alive, 'proxy', 'proxies')} of {words.number(len(found))} answered")

    async def _ask(self, by: Asker) -> list[Pooled]:
        """One check at a time: the API looks at the same mark."""
        service, state = self.here.service, self.here.client.request.app.state.outer.state
        if getattr(state, "checking_proxies", False):
            raise NotPossible("the proxies are being checked already: wait for that to end")
        state.checking_proxies = True
        try:
            return await proxy_pool.check(service.settings, service.catalog)
        finally:
            state.checking_proxies = False


def _nothing() -> None:
    empty(
        "No proxies yet: everything is fetched from here. Name some in gossamer.toml, like ", 'proxies = ["http://..."]'
    )


@page("/proxies", "Proxies")
async def proxies(here: Here) -> None:
    """All of them."""
    view = Proxies(here)
    await view.show(await proxy_pool.listed(here.service.settings, here.service.catalog))
