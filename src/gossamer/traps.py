"""Traps: URL spaces without an end, made by mistake or on purpose, known by the shape of their URLs.

A relative link that should be absolute grows a path by a folder with each page; a search form has more combinations
than a site has pages; a calendar goes on for ever; a session in the URL makes every page new on every visit. Each is
known early, by rules that no page which somebody wrote is likely to break.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Mapping
from typing import Protocol

from gossamer import urls

#: Folders below each other: nobody sorts deeper.
MOST_SEGMENTS = 40
#: The same folder in a row, the same few folders in a row, and the same folder anywhere.
MOST_IN_A_ROW = 4
MOST_CYCLES = 3
MOST_SAME = 6
#: Parameters of one query; times the same name, and the same name with the same value.
MOST_PARAMETERS = 30
MOST_OF_A_NAME = 12
MOST_OF_A_PAIR = 3
#: Pages of one host about years that nobody plans for, and how far ahead those are.
MOST_FAR_DATES = 200
YEARS_AHEAD = 10
#: What is remembered: paths with queries, pages with a session, hosts.
MOST_PATHS = 100_000
MOST_HOSTS = 250_000

#: A year that may be one too many, and a month. A plain letter to begin with makes the search four times faster.
_YEAR_AND_MONTH = r"([03-9]\d{3}|2[1-9]\d\d|20[3-9]\d)[-/](?:0?[1-9]|1[0-2])(?!\d)"
_PATH_DATE = re.compile("/" + _YEAR_AND_MONTH)
_QUERY_DATE = re.compile("=" + _YEAR_AND_MONTH)
_SESSION = re.compile(
    r"(?i);jsessionid=[^/?#&;]*|/\(s\([0-9a-z]{16,}\)\)"
    r"|(?<=[?&])(?:jsessionid|phpsessid|aspsessionid\w*|session_?id|sess(?:ion)?|sid|oscsid|zenid)"
    r"=(?=[a-z!._-]*\d)[0-9a-z!._-]{16,}(?:&|$)"
)


class Limits(Protocol):
    """What a ScraperConfig says about traps."""

    @property
    def traps(self) -> bool:
        """Whether the shape of a URL counts, or only the budget of its host."""

    @property
    def max_queries(self) -> int:
        """Different queries followed on one path that has several parameters."""

    @property
    def max_per_host(self) -> int | None:
        """Pages walked of one host; None: no limit."""


class Traps:
    """The guard of one run. Ask it last, of links that nothing else drops: what it lets pass is counted."""

    def __init__(self, config: Limits, budgets: Mapping[str, int] | None = None) -> None:
        self._guards = config.traps
        self._max_queries = config.max_queries
        self._max_per_host = config.max_per_host
        self._budgets = budgets or {}
        self._far = time.gmtime().tm_year + YEARS_AHEAD
        #: By a hash, how many: queries of a path, far dates of a host.
        self._queries: dict[int, int] = {}
        self._dates: dict[int, int] = {}
        #: By a hash: a page without the session in its URL -> the URL that was let pass.
        self._sessions: dict[int, int] = {}
        self._hosts: dict[str, int] = {}

    def drops(self, url: str, depth: int = 0) -> str | None:
        """The rule that keeps a link from being walked, else None: "trap_path", "trap_query" or "host_budget"."""
        path, mark, query = url.partition("?")
        slashes = path.count("/")
        # What is short and has no query cannot repeat itself.
        shaped = slashes > 4 or mark or ";" in path or "(" in path or (slashes == 4 and "-" in path)
        if shaped and self._guards:
            rule = self._traps(url, path, query, slashes)
            if rule is not None:
                return rule
        return self.over_budget(url) if self._max_per_host is not None or self._budgets else None

    def count(self, host: str, pages: int = 1) -> None:
        """Pages of a host that are known already: of earlier starts of the run, or start URLs."""
        if host not in self._hosts and len(self._hosts) >= MOST_HOSTS:
            _forget(self._hosts)
        self._hosts[host] = self._hosts.get(host, 0) + pages

    def over_budget(self, url: str) -> str | None:
        """ "host_budget" if enough pages of a URL's host are walked, else None: then it is counted."""
        host = urls.host(url)
        most = min((n for n in (self._budgets.get(host), self._max_per_host) if n is not None), default=None)
        if most is not None and self._hosts.get(host, 0) >= most:
            return "host_budget"
        self.count(host)
        return None

    def _traps(self, url: str, path: str, query: str, slashes: int) -> str | None:
        several = "&" in query
        if slashes > 5 and _repeats(path):
            return "trap_path"
        if several and _overloaded(query):
            return "trap_query"
        if (";" in path or "/(" in path) and self._seen(url):
            return "trap_path"
        if query and ("id=" in query or "ID=" in query or "sess" in query) and self._seen(url):
            return "trap_query"
        if (found := _PATH_DATE.search(path, 8)) and self._endless(url, int(found[1])):
            return "trap_path"
        if query and (found := _QUERY_DATE.search(url, len(path))) and self._endless(url, int(found[1])):
            return "trap_query"
        if several and self._counted(self._queries, hash(path)) > self._max_queries:
            return "trap_query"
        return None

    def _seen(self, url: str) -> bool:
        """Whether a page with a session in its URL was let pass before, with another session."""
        bare, sessions = _SESSION.subn("", url)
        if not sessions:
            return False
        page, whole = hash(bare.rstrip("?&")), hash(url)
        if page not in self._sessions and len(self._sessions) >= MOST_PATHS:
            for old in list(itertools.islice(self._sessions, MOST_PATHS // 2)):
                del self._sessions[old]
        return self._sessions.setdefault(page, whole) != whole

    def _endless(self, url: str, year: int) -> bool:
        """Whether a calendar of this host has been followed into times that nobody plans for, or remembers."""
        if 1000 <= year < self._far:
            return False
        return self._counted(self._dates, hash(urls.host(url))) > MOST_FAR_DATES

    @staticmethod
    def _counted(counts: dict[int, int], key: int) -> int:
        if key not in counts and len(counts) >= MOST_PATHS:
            _forget(counts)
        counts[key] = counts.get(key, 0) + 1
        return counts[key]


def _repeats(path: str) -> bool:
    """Whether folders of a path repeat themselves."""
    segments = path.split("/")[3:]
    if segments and not segments[-1]:
        segments.pop()
    if len(segments) > MOST_SEGMENTS:
        return True
    different = set(segments)
    if len(segments) - len(different) < MOST_IN_A_ROW - 1:
        return False
    if any(segments.count(each) > MOST_SAME for each in different if len(each) > 1):
        return True
    return any(
        _cycles(segments, length) >= (MOST_IN_A_ROW if length == 1 else MOST_CYCLES)
        for length in range(1, len(segments) // MOST_CYCLES + 1)
    )


def _cycles(segments: list[str], length: int) -> int:
    """How often the same `length` segments follow each other, at most."""
    most = same = 0
    for before, after in zip(segments, segments[length:], strict=False):
        same = same + 1 if before == after else 0
        most = max(most, same)
    return most // length + 1


def _overloaded(query: str) -> bool:
    """Whether a query has more in it than any form."""
    pairs = query.split("&")
    if len(pairs) > MOST_PARAMETERS:
        return True
    if len(pairs) < MOST_OF_A_PAIR or len(set(pairs)) == len(pairs) <= MOST_OF_A_NAME:
        return False
    names = [pair.partition("=")[0] for pair in pairs]
    return any(names.count(name) > MOST_OF_A_NAME for name in set(names)) or any(
        pairs.count(pair) >= MOST_OF_A_PAIR for pair in set(pairs) if pair
    )


def _forget(counts: dict[int, int] | dict[str, int]) -> None:
    """Make room: what was counted least often goes first, half of all."""
    least = sorted(counts, key=counts.__getitem__)[: len(counts) // 2]  # type: ignore[arg-type]
    for key in least:
        del counts[key]  # type: ignore[arg-type]
