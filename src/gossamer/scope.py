"""Where a run may go: which links are walked, and which rule drops the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gossamer import urls
from gossamer.settings import ScraperConfig
from gossamer.traps import Traps


class Home:
    """Where a run starts, as far as its scope goes by that. Those who walk parts of one run share it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.hosts: set[str] = set()
        self.domains: set[str] = set()
        self.prefixes: tuple[str, ...] = ()

    def widen(self, start: Iterable[str]) -> None:
        """More start URLs."""
        for url in start:
            self.hosts.add(urls.host(url))
            if self.kind == "domain":
                self.domains.add(urls.registered_domain(urls.hostname(url)))
            elif self.kind == "prefix":
                folder = url.partition("?")[0]
                prefix = folder[: folder.rfind("/") + 1]
                if prefix not in self.prefixes:
                    self.prefixes += (prefix,)

    def has(self, url: str) -> bool:
        """Whether a URL is at home."""
        match self.kind:
            case "any":
                return True
            case "host":
                return urls.host(url) in self.hosts
            case "domain":
                return urls.registered_domain(urls.hostname(url)) in self.domains
        return url.startswith(self.prefixes)


class Scope:
    """The rules of one run. The start URLs themselves are always inside."""

    def __init__(
        self, config: ScraperConfig, budgets: Mapping[str, int] | None = None, home: Home | None = None
    ) -> None:
        """`budgets` are of single hosts, besides what `max_per_host` allows to each."""
        self.kind = config.scope
        self._home = home or Home(config.scope)
        #: Whether the pages of each host are counted.
        self.budgeted = config.max_per_host is not None or bool(budgets)
        self._depth = config.depth
        self._include = [re.compile(p) for p in config.include]
        self._exclude = [re.compile(p) for p in config.exclude]
        self._guarded = config.traps
        self._traps = Traps(config, budgets) if config.traps or self.budgeted else None

    def count(self, host: str, n: int = 1) -> None:
        """Requests of a host that the run knows already: they count for its budget."""
        if self.budgeted and self._traps is not None:
            self._traps.count(host, n)

    def start(self, start: Iterable[str]) -> None:
        """Widen the scope to more start URLs."""
        self._home.widen(start)

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
        if not self._home.has(url):
            return "scope"
        if any(p.search(url) for p in self._exclude):
            return "exclude"
        if self._include and not any(p.search(url) for p in self._include):
            return "include"
        return None
