"""A desk that counts what SQLite does: the steps of its machine, which no other load on the computer changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from gossamer.storage.sqlite_desk import SqliteDesk

T = TypeVar("T")

#: Steps between two counts.
EACH = 50


class CountingDesk(SqliteDesk):
    """Counts the steps of all statements that read, and the statements."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.steps = 0
        self.statements = 0

    async def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        def counted(db: sqlite3.Connection) -> T:
            db.set_progress_handler(self._count, EACH)
            return look(db)

        self.statements += 1
        return await super().read(counted)

    def _count(self) -> int:
        self.steps += EACH
        return 0

    def take(self) -> tuple[int, int]:
        """The steps and statements since this was last asked."""
        taken = self.steps, self.statements
        self.steps = self.statements = 0
        return taken
