"""The bell: what happened that somebody should know of, and has not seen."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from nicegui import ui

from gossamer import alerts, lists
from gossamer.dashboard.parts import Badge, Text, box, empty, link, when
from gossamer.lists import AlertRow, Listing

if TYPE_CHECKING:
    from gossamer.dashboard.shell import Here

#: Alerts that are shown.
MOST = 20
#: Seconds between two looks.
EVERY = 5.0
TONES = {"failure": "bad", "breaker": "bad", "drift": "warn", "silence": "warn", "recovery": "good"}


def tone_of(alert: AlertRow) -> str:
    """How an alert is painted: good news are green, whatever they are about."""
    return "good" if is_good(alert) else TONES.get(alert.kind, "dim")


def is_good(alert: AlertRow) -> bool:
    """Whether it says that something is well again."""
    return alert.kind == "recovery" or (alert.kind == "breaker" and alert.title.endswith("no longer paused"))


def is_over(alert: AlertRow, well: Collection[str]) -> bool:
    """Whether nobody has to look at it any more: good news, and failures of scrapers that are well again."""
    return is_good(alert) or (alert.kind in ("failure", "breaker") and alert.scraper in well)


class Bell:
    """A button with a number, and below it the alerts."""

    def __init__(self, here: Here) -> None:
        self._here = here
        self._alerts: list[AlertRow] = []
        self._more = False
        with ui.button(icon="notifications", on_click=self._open, color=None).props("flat round dense") as self._button:
            self._count = ui.badge("", color="negative").props("floating rounded")
            self._menu = ui.menu().props("no-parent-event max-width=min(420px,95vw)")
        self._button.props["aria-label"] = "Alerts"
        self._button.props["title"] = "Alerts"

    async def load(self) -> Listing[AlertRow]:
        """What nobody has seen, newest first."""
        return await lists.alerts(self._here.desk, seen=False, limit=MOST)

    def show(self, found: Listing[AlertRow]) -> None:
        """The number."""
        self._alerts, self._more = found.rows, found.next is not None
        count = len(found.rows)
        self._count.set_visibility(count > 0)
        self._count.text = f"{count}{'+' if self._more and count == MOST else ''}"

    def _open(self) -> None:
        self._menu.clear()
        with self._menu, box("q-pa-md g-stack"):
            if not self._alerts:
                empty("Nothing new. Failures, drift and silence are told of here.")
            for alert in self._alerts:
                _draw(alert)
            if self._alerts and self._here.may("run"):
                ui.button("Mark all as seen", icon="done_all", on_click=self._see, color="primary").props("flat dense")
        self._menu.open()

    async def _see(self) -> None:
        done = await self._here.do("run", lambda by: alerts.acknowledge(self._here.desk, None, by=by), "all seen")
        if done is not None:
            self.show(Listing([], None, 0))
            self._menu.close()


def _draw(alert: AlertRow) -> None:
    with box("g-stack g-small"):
        with box("g-row"):
            Badge(alert.kind, tone_of(alert))
            when(alert.at, "g-dim")
            if alert.run is not None:
                link(f"run {alert.run}", f"/runs/{alert.run}")
        Text(alert.title, "strong", "g-wrap")


async def draw(here: Here) -> None:
    """The bell in the header."""
    bell = Bell(here)
    await here.watch("alerts", bell.load, bell.show, every=EVERY)
