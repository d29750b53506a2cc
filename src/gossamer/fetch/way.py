"""How one fetch goes out: everything besides the request itself. Chosen for each attempt, never stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.proxies import Proxy
from gossamer.values import Fetch


class Way(msgspec.Struct, frozen=True):
    """One attempt's way out."""

    identity: Identity
    #: Which addresses may be connected to.
    addresses: Addresses
    proxy: Proxy | None = None
    #: Headers of this attempt alone, cookies and validators: sent last, over all others.
    headers: dict[str, str] = {}
    #: Whether secrets among the scraper's own headers go out: only to hosts that the run starts at.
    trusted: bool = True
    #: The folder for bodies too large for memory; None: they are kept there all the same.
    spool: str | None = None
    #: Read only the beginning of the body, up to `max_body`; a longer one is no error.
    part: bool = False
    #: Awaited when all is ready, right before the request goes out: it may have to wait for its host's pace.
    leave: Callable[[], Awaitable[None]] | None = None
    #: Whether a rendered page may load a URL, by the robots.txt files that the run knows.
    may: Callable[[str], bool] | None = None
    #: Told of everything that a rendered page asks for besides itself.
    heard: Callable[[Fetch], None] | None = None

    def __repr__(self) -> str:
        # Headers are left out: they are secrets as often as not.
        return f"Way({self.identity!r}, proxy={self.proxy!r})"
