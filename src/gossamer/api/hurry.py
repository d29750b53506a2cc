"""Who opens a connection and says nothing, or half of a request, is not waited for."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: Seconds that the head of a request may take to come.
HEAD = 15.0


class Hurried(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with a deadline for the head of each request."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody connected: a request is to follow."""
        super().connection_made(transport)
        self._expect()

    def on_message_begin(self) -> None:
        """The first bytes of a request, perhaps of a later one on the same connection."""
        super().on_message_begin()
        if self._deadline is None:
            self._expect()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._arrived()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._arrived()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(HEAD, self._hang_up)

    def _arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _hang_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()
