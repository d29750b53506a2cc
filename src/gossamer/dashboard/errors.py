"""`/errors`: failures by their cause: how many, since when, what it means, what to do, and some to look at."""

from __future__ import annotations

from urllib.parse import urlencode

from nicegui import ui

from gossamer import lists
from gossamer.dashboard import words
from gossamer.dashboard.charts import Chart, Line
from gossamer.dashboard.feed import Watch
from gossamer.dashboard.parts import Text, box, card, empty, link, trend, when, written
from gossamer.dashboard.shell import Here, page
from gossamer.lists import ErrorGroup, Example

PERIODS = {"1": "Hour", "24": "Day", "168": "Week", "336": "2 weeks"}
#: Causes that are shown one by one.
MOST = 30


class Errors:
    """The causes of the chosen time."""

    def __init__(self, here: Here, scraper: str, hours: str) -> None:
        self.here = here
        self.scraper = scraper
        self.hours = hours
        self._watch: Watch[list[ErrorGroup]] | None = None
        with box("g-card"), box("g-row"):
            names = sorted({*here.service.catalog.scrapers, *filter(None, [scraper])})
            chosen = ui.select(names, label="Scraper", value=scraper or None, clearable=True)
            chosen.props("dense outlined options-dense").style("min-width: 150px")
            chosen.on_value_change(lambda event: self._narrow(event.value or "", self.hours))
            period = ui.toggle(PERIODS, value=hours).props("dense unelevated")
            period.on_value_change(lambda event: self._narrow(self.scraper, event.value))
        with card("Failures by the hour") as self._over_time:
            self._chart = Chart([Line("failed", "red", bars=True)], "Failures by the hour")
        self._list = ui.element("div")

    async def _narrow(self, scraper: str, hours: str) -> None:
        self.scraper, self.hours = scraper, hours
        told = urlencode({name: value for name, value in (("scraper", scraper), ("hours", hours)) if value})
        ui.navigate.history.replace(f"/errors?{told}")
        await self.here.read(self.follow())

    async def follow(self) -> None:
        """Show them, and keep them current."""
        if self._watch is not None:
            self._watch.stop()
        scraper, hours, desk = self.scraper or None, int(self.hours), self.here.desk
        self._watch = await self.here.watch(
            ("errors", scraper, hours), lambda: lists.errors(desk, scraper=scraper, hours=hours), self._show, every=10.0
        )

    def _show(self, groups: list[ErrorGroup]) -> None:
        self._over_time.set_visibility(len(groups) > 0 and self.hours != "1")
        if groups:
            self._chart.show([_by_hour(groups)])
        self._list.clear()
        with self._list:
            if not groups:
                empty(
                    "Nothing failed in this time. Failures are shown here by their cause, with what to do about them."
                )
            for group in groups[:MOST]:
                self._draw(group)
            if len(groups) > MOST:
                Text(f"and {words.plural(len(groups) - MOST, 'rarer cause')}", "p", "g-dim")

    def _draw(self, group: ErrorGroup) -> None:
        asked = {"state": "failed", "reason": group.reason, "scraper": self.scraper}
        with card():
            with box("g-head"):
                Text(_headline(group), "h2", "g-wrap").tip(group.reason[:200])
                Text(words.plural(group.count, "failure"), "strong")
                Text(f"{words.percent(group.share)} of all in this time", "span", "g-dim")
                trend(group.trend, f"{_headline(group)}: failures by the hour")
                Text("", "span", "g-space")
                link("All of them", f"/urls?{urlencode({name: value for name, value in asked.items() if value})}")
            with box("g-row g-dim g-small"):
                if group.first < group.last:
                    Text("First met")
                    when(group.first)
                Text("Last met")
                when(max([group.last, *(example.at or 0 for example in group.examples)]))
                Text("Called")
                Text(words.cut(group.reason, 80), "code")
            written(f"What to do: {group.advice}.")
            for example in group.examples:
                _draw_example(example)


def _headline(group: ErrorGroup) -> str:
    """What it means, as a heading."""
    return words.cut(f"{group.meaning[:1].upper()}{group.meaning[1:]}", 160)


def _by_hour(groups: list[ErrorGroup]) -> list[tuple[float, float]]:
    """All failures of each hour."""
    length = len(groups[0].trend)
    last = max(group.last + 3600 * (length - 1 - _last_met(group.trend)) for group in groups)
    return [(last - 3600 * (length - 1 - n), float(sum(group.trend[n] for group in groups))) for n in range(length)]


def _last_met(values: list[int]) -> int:
    return max((n for n, value in enumerate(values) if value), default=len(values) - 1)


def _draw_example(example: Example) -> None:
    with box("g-row g-small g-example"):
        link(words.cut(example.url, 110), f"/urls?{urlencode({'url': example.url})}", "g-wrap").tip(example.url[:2000])
        link(f"run {example.run}", f"/runs/{example.run}")
        Text(words.cut(example.scraper, 60), "span", "g-dim")
        when(example.at, "g-dim")
        if example.detail:
            Text(words.cut(example.detail, 200), "span", "g-dim g-wrap")


@page("/errors", "Errors")
async def errors(here: Here, scraper: str = "", hours: str = "24") -> None:
    """Failures by cause."""
    with box("g-title"):
        Text("Errors", "h1")
    await Errors(here, scraper.strip()[:200], hours if hours in PERIODS else "24").follow()
