"""What people said of hosts and URLs while runs go on: hosts to leave alone, budgets, URLs not to fetch."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gossamer import urls


class Orders(msgspec.Struct, frozen=True):
    """All that holds now. A gate has one; whoever reads new orders gives it another."""

    #: Host -> who paused it.
    paused: Mapping[str, str] = {}
    #: Host -> most pages of it that one run walks. Heeded by runs that begin later.
    budgets: Mapping[str, int] = {}
    #: Digests of URLs that are not to be fetched.
    inactive: frozenset[str] = frozenset()

    def forbids(self, url: str) -> bool:
        """Whether somebody marked a URL as inactive."""
        return bool(self.inactive) and urls.digest(urls.comparable(url)) in self.inactive


NONE = Orders()
