"""Where a run may go: which links are walked, and which rule drops the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gossamer import urls
from gossamer.settings import ScraperConfig
from gossamer.traps import Traps


class Scope:
    """The rules of one run. The start URLs themselves are always inside."""

    def __init__(self, config: ScraperConfig, budgets: Mapping[str, int] | None = None) -> None:
        """`budgets` are of single hosts, besides what `max_per_host` allows to each."""
        self.kind = config.scope
        #: Whether the pages of each host are counted.
        self.budgeted = config.max_per_host is not None or bool(budgets)
        self._depth = config.depth
        self._include = [re.compile(p) for p in config.include]
        self._exclude = [re.compile(p) for p in config.exclude]
        self._hosts: set[str] = set()
        self._domains: set[str] = set()
        self._prefixes: tuple[str, ...] = ()
        self._guarded = config.traps
        self._traps = Traps(config, budgets) if config.traps or self.budgeted else None

    def count(self, host: str, n: int = 1) -> None:
        """Requests of a host that the run knows already: they count for its budget."""
        if self.budgeted and self._traps is not None:
            self._traps.count(host, n)

    def start(self, start: Iterable[str]) -> None:
        """Widen the scope to more start URLs."""
        for url in start:
            self._hosts.add(urls.host(url))
            if self.kind == "domain":
                self._domains.add(urls.registered_domain(urls.hostname(url)))
            elif self.kind == "prefix":
                folder = url.partition("?")[0]
                prefix = folder[: folder.rfind("/") + 1]
                if prefix not in self._prefixes:
                    self._prefixes += (prefix,)

    def drops(self, url: str, depth: int, *, again: bool = False) -> str | None:
        """The rule that keeps a link from being walked, else None. What is fetched `again` on purpose is no trap."""
        if self._depth is not None and depth > self._depth:
            return "depth"
        rule = self.leaves(url)
        if rule is None and self._traps is not None and not again:
            return self._traps.drops(url, depth) if self._guarded else self._traps.over_budget(url)
        return rule

    def leaves(self, url: str) -> str | None:
        """The rule by which a URL lies outside, whatever its depth."""
        if not self._inside(url):
            return "scope"
        if any(p.search(url) for p in self._exclude):
            return "exclude"
        if self._include and not any(p.search(url) for p in self._include):
            return "include"
        return None

    def _inside(self, url: str) -> bool:
        match self.kind:
            case "any":
                return True
            case "host":
                return urls.host(url) in self._hosts
            case "domain":
                return urls.registered_domain(urls.hostname(url)) in self._domains
        return url.startswith(self._prefixes)
