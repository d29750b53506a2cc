"""A run, followed on another page than its own until it has ended: how far it is, and where to see more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from gossamer.dashboard import words
from gossamer.dashboard.feed import Watch
from gossamer.dashboard.parts import Badge, Bar, Text, box, card, link
from gossamer.dashboard.run import BARS, Moment, moment, share
from gossamer.dashboard.shell import Here

_ACTIVE = ("pending", "running")


class Following:
    """A card that tells of one run."""

    def __init__(self, here: Here, run: int, doing: str, ended: Callable[[], Awaitable[None]] | None = None) -> None:
        """`doing` says what the run does; `ended` is called once when it has."""
        self.here = here
        self.run = run
        self._doing = doing
        self._ended = ended
        self._over = False
        self._watch: Watch[Moment] | None = None

    async def draw(self) -> None:
        """The card, kept current."""
        with card():
            with box("g-head"):
                link(f"Run {self.run}", f"/runs/{self.run}")
                Text(self._doing)
                self._state = Badge("pending")
            self._bar = Bar(f"progress of run {self.run}")
            self._line = Text("", "p", "g-dim")
            self._line.props["role"] = "status"
        self._watch = await self.here.watch(("moment", self.run), lambda: moment(self.here, self.run), self._show)
        if self._over:
            self._watch.stop()

    def stop(self) -> None:
        """Tell no more of it: another run takes its place."""
        self._over = True
        if self._watch is not None:
            self._watch.stop()

    def _show(self, moment: Moment) -> None:
        run = moment.detail.run if moment.detail is not None else None
        state = run.state if run is not None else "deleted"
        self._state.become(state)
        self._bar.show(share(state, moment.active), BARS.get(state, ""))
        if run is not None:
            now = moment.active or run
            told = [words.plural(now.pages, "page"), words.plural(now.items, "item")]
            told += [f"{words.number(now.failed)} failed"] if now.failed else []
            told += [f"{words.number(now.skipped)} skipped"] if now.skipped else []
            ended = state not in _ACTIVE and run.reason not in ("", "done")
            self._line.text = " · ".join(told) + (f" · {_cause(moment)}" if ended else "")
        if state not in _ACTIVE and not self._over:
            self.stop()
            if self._ended is not None:
                ui.timer(0.2, self._ended, once=True)


def _cause(moment: Moment) -> str:
    """Why a run ended as it did: that no page could be read says little, what became of most of them says more."""
    assert moment.detail is not None
    run = moment.detail.run
    told = words.ending(run.reason)
    failed = next((reason for reason, n in moment.detail.by_reason.items() if n and reason != "ok"), "")
    return f"{told}: {words.became(failed)}" if run.reason == "start_failed" and failed else told
