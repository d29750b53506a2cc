"""The bar that people see while a flow works: on a terminal only, and on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """How many tasks are done, skipped and failed."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._shown: tuple[Progress, TaskID] | None = None
        self.failed = 0
        self.skipped = 0

    @contextmanager
    def showing(self, total: int) -> Iterator[None]:
        """Show it, if there is a terminal and somebody wants to see it."""
        if self._quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("tasks"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(stderr=True, highlight=False, emoji=False)
        with Progress(*columns, TextColumn("{task.description}"), console=console, transient=True) as progress:
            self._shown = progress, progress.add_task("", total=total)
            yield

    def step(self, *, well: bool, skipped: bool) -> None:
        """A task has come to its end."""
        self.failed += not well
        self.skipped += skipped
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, advance=1, description=f"{self.skipped:,} skipped, {self.failed:,} failed")
