"""Proxies: where they come from, and which one is next.

A provider holds proxies and scores: how often and how fast each one answers, overall and for each host. Nothing
is shared between two providers, and nothing here ever shows a password.
"""

from __future__ import annotations

import random
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from gossamer.errors import ConfigError
from gossamer.fetch.proxy import Proxy, country_code, read_line
from gossamer.fetch.proxy_scores import FAILURES, Score, Standing
from gossamer.telemetry import log

__all__ = [
    "Proxy",
    "ProxyProvider",
    "ProxyProviderFromDict",
    "ProxyProviderFromFile",
    "ProxyProviderFromList",
    "Standing",
    "provider_of",
]

#: A larger file or list is no list of proxies.
LARGEST = 16 << 20
#: A pick looks at this many proxies of a large pool.
SAMPLE = 16
#: Scores by host, and sessions, that are remembered; those not used for longest are forgotten.
REMEMBERED = 10_000
#: Seconds between two looks at whether a file has changed.
LOOK_AGAIN = 1.0

K = TypeVar("K")
V = TypeVar("V")
#: Gets a URL with headers: (status, body). What a service's list is loaded with.
Get = Callable[[str, dict[str, str]], Awaitable[tuple[int, bytes]]]


class ProxyProvider:
    """Proxies, and which one is next. The base of all providers, and of your own.

    A provider of your own fetches its list in `load` and hands it to `replace`: choosing, scores and resting are
    done here. Or it chooses by itself: then it overrides `pick`, and `report` if it wants to hear how it went.
    Call `super().__init__()`, if you write an `__init__`.
    """

    #: Whether the user typed these proxies himself: then they may be at private addresses.
    typed: ClassVar[bool] = False
    #: Seconds after which a list is too old, and loaded again; None: it is never loaded.
    refresh: ClassVar[float | None] = None

    def __init__(
        self,
        proxies: Iterable[Proxy | str] = (),
        *,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The same seed and the same reports give the same picks."""
        self._random = random.Random(seed)
        self._clock = clock
        self._all: tuple[Proxy, ...] = ()
        self._pools: dict[str | None, tuple[Proxy, ...]] = {}
        self._scores: dict[str, Score] = {}
        self._by_host: OrderedDict[tuple[str, str], Score] = OrderedDict()
        self._sessions: OrderedDict[tuple[str, str | None], Proxy] = OrderedDict()
        self._loaded: float | None = None
        self.replace(_listed(proxies))

    # -- what a run asks

    async def load(self, get: Get) -> None:
        """Get the list, if it comes from somewhere. Raises FetchError or ConfigError; the list is then as before."""

    @property
    def stale(self) -> bool:
        """Whether `load` should be called: the list was never loaded, or is older than `refresh`."""
        if self.refresh is None:
            return False
        return self._loaded is None or self._clock() - self._loaded > self.refresh

    def pick(self, country: str | None = None, session: str | None = None, host: str = "") -> Proxy | None:
        """The proxy for the next request to a host: likely a good one, and the same one for the same session.

        None if there is none (in that country). The request must then not be sent: going out without a proxy is
        never what was meant.
        """
        asked = country_code(country)
        pool = self._pool(asked)
        if not pool:
            return None
        now = self._clock()
        chosen = self._kept(session, asked, host, now) or self._choose(pool, host, now)
        self._scores[chosen.url].begin(now)
        if score := self._by_host.get((chosen.url, host)):
            score.begin(now)
        if session is not None:
            _remember(self._sessions, (session, asked), chosen)
        return chosen

    def report(self, proxy: Proxy, host: str, ok: bool, seconds: float, why: str = "") -> None:
        """How a request went. `why` is the reason of a failure; none, or "proxy": the proxy itself is to blame.

        A host that fails through every proxy must not put all of them aside: for other reasons a proxy rests for
        that host alone, until another host fails through it too.
        """
        overall = self._scores.get(proxy.url)
        if overall is None:  # it left the list meanwhile
            return
        if ok:
            overall.well(seconds)
            if host:
                self._pair(proxy, host).well(seconds)
            return
        now, to_blame = self._clock(), why in ("", "proxy") or not host
        overall.badly(host)
        if overall.until or (overall.streak >= FAILURES and (to_blame or len(overall.hosts) > 1)):
            overall.pause(now)
        if not to_blame:
            pair = self._pair(proxy, host)
            pair.badly(host)
            if pair.streak >= FAILURES:
                pair.pause(now)

    def rest(self, proxy: Proxy) -> None:
        """Put a proxy aside at once, as after several failures."""
        if score := self._scores.get(proxy.url):
            score.streak = max(score.streak, FAILURES)
            score.pause(self._clock())

    def forget(self, session: str) -> None:
        """A session has ended: its next request may get another proxy."""
        for key in [key for key in self._sessions if key[0] == session]:
            del self._sessions[key]

    def get_one_proxy(self, country: str | None = None) -> str | None:
        """The URL of one proxy, its credentials included; None if there is none."""
        chosen = self.pick(country)
        return chosen.url if chosen else None

    # -- what there is

    def replace(self, proxies: Iterable[Proxy]) -> None:
        """Have these proxies from now on. What is known of those that stay is kept."""
        self._all = tuple(dict.fromkeys(proxies))
        pools: dict[str | None, list[Proxy]] = {}
        for proxy in self._all:
            pools.setdefault(proxy.country, []).append(proxy)
        self._pools = {country: tuple(pool) for country, pool in pools.items()}
        self._scores = {p.url: self._scores.get(p.url) or Score() for p in self._all}
        for pair in [pair for pair in self._by_host if pair[0] not in self._scores]:
            del self._by_host[pair]
        self._loaded = self._clock()

    @property
    def proxies(self) -> tuple[Proxy, ...]:
        """All of them."""
        return self._all

    def standings(self) -> list[Standing]:
        """How each proxy stands, the most used first."""
        now, rows = self._clock(), []
        for proxy in self._all:
            score = self._scores[proxy.url]
            rests = max(0.0, score.until - now)
            rows.append(Standing(proxy.label, proxy.country, score.sent, score.success, score.seconds, rests))
        return sorted(rows, key=lambda row: -row.sent)

    def __len__(self) -> int:
        return len(self._all)

    def __bool__(self) -> bool:
        return True  # an empty provider is still one: nothing may go out past it

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._all)} proxies)"

    # -- choosing

    def _pool(self, country: str | None) -> tuple[Proxy, ...]:
        """The proxies for a country; where none is asked for, those of no country, or else all."""
        found = self._pools.get(country, ())
        return self._all if country is None and not found else found

    def _kept(self, session: str | None, country: str | None, host: str, now: float) -> Proxy | None:
        """The proxy this session had before, while it is fit."""
        if session is None:
            return None
        proxy = self._sessions.get((session, country))
        return proxy if proxy and proxy.url in self._scores and self._ready(proxy, host) <= now else None

    def _choose(self, pool: tuple[Proxy, ...], host: str, now: float) -> Proxy:
        few = pool if len(pool) <= SAMPLE else self._random.sample(pool, SAMPLE)
        fit = [proxy for proxy in few if self._ready(proxy, host) <= now]
        if not fit and len(few) < len(pool):
            fit = [proxy for proxy in pool if self._ready(proxy, host) <= now]
        if not fit:
            return min(pool, key=lambda proxy: self._ready(proxy, host))
        return self._random.choices(fit, [self._weight(proxy, host) for proxy in fit])[0]

    def _ready(self, proxy: Proxy, host: str) -> float:
        pair = self._by_host.get((proxy.url, host))
        overall = self._scores[proxy.url].ready
        return max(overall, pair.ready) if pair else overall

    def _weight(self, proxy: Proxy, host: str) -> float:
        """By what is known of the proxy with this host; else of the proxy."""
        overall = self._scores[proxy.url]
        return overall.weight if overall.until else (self._by_host.get((proxy.url, host)) or overall).weight

    def _pair(self, proxy: Proxy, host: str) -> Score:
        key = (proxy.url, host)
        return _remember(self._by_host, key, self._by_host.get(key) or Score())


def _remember(memory: OrderedDict[K, V], key: K, value: V) -> V:
    """Keep a value as the newest, and forget the oldest beyond what is remembered."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)
    return value


def _listed(values: Iterable[Proxy | str], country: str | None = None, where: str = "") -> list[Proxy]:
    """Proxies as people list them. Raises ConfigError, which says which one cannot be used."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ConfigError('proxies cannot be read: write a list, like ["http://host:port"]')
    found = []
    for number, value in enumerate(values, 1):
        try:
            found.append(Proxy.of(value, country))
        except ConfigError as why:
            raise ConfigError(f"proxy {number}{where}: {why}") from None
    return found


class ProxyProviderFromList(ProxyProvider):
    """Proxies from a list of URLs."""

    typed = True


class ProxyProviderFromDict(ProxyProvider):
    """Proxies by country: `{"US": [...], "DE": [...], "*": [...]}`; those at `*` serve who asks for no country."""

    typed = True

    def __init__(
        self,
        proxies: Mapping[str, Iterable[Proxy | str]],
        *,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Where there is no `*`, who asks for no country gets any; a country that is not there has no proxies."""
        if not isinstance(proxies, Mapping):
            raise ConfigError('proxies cannot be read: write lists by country, like {"US": ["http://host:port"]}')
        found = [
            Proxy(proxy.url, country)
            for country, listed in proxies.items()
            for proxy in _listed(listed, country, f" of {country!r}")
        ]
        super().__init__(found, seed=seed, clock=clock)


class ProxyProviderFromFile(ProxyProvider):
    """Proxies from a text file, one a line, perhaps with a country behind it: `10.1.2.3:8080 DE  # a comment`.

    The file is read again when it has changed. If it cannot be used then, the proxies stay as they were.
    """

    typed = True

    def __init__(
        self, path: str | Path, *, seed: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Raises ConfigError if the file cannot be used."""
        super().__init__(seed=seed, clock=clock)
        self.path = Path(path)
        self._mark = self._seen()
        self._looked = clock()
        self.replace(read_file(self.path))

    def pick(self, country: str | None = None, session: str | None = None, host: str = "") -> Proxy | None:
        """As every provider, from the file as it is now."""
        now = self._clock()
        if now - self._looked >= LOOK_AGAIN:
            self._looked = now
            self._look()
        return super().pick(country, session, host)

    def _look(self) -> None:
        mark = self._seen()
        if mark == self._mark:
            return
        self._mark = mark
        try:
            self.replace(read_file(self.path))
        except ConfigError as why:
            log.warning("proxies.unreadable", file=str(self.path), why=str(why))

    def _seen(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}, {len(self)} proxies)"


def read_file(path: Path) -> list[Proxy]:
    """The proxies in a file. Raises ConfigError, which names the line."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
        text = raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path} is not there: give a file with one proxy a line") from None
    except (OSError, UnicodeDecodeError) as why:
        told = why.strerror if isinstance(why, OSError) else "it is no text in UTF-8"
        raise ConfigError(f"{path} cannot be read: {told}") from None
    if len(raw) > LARGEST:
        raise ConfigError(f"{path} is too large for a list of proxies: give one of at most {LARGEST >> 20} MB")
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if proxy := read_line(line):
                found.append(proxy)
        except ConfigError as why:
            raise ConfigError(f"{path}, line {number}: {why}") from None
    if not found:
        raise ConfigError(f"{path} holds no proxy: write one a line, like http://user:password@host:port")
    return found


# -- the knob `proxies`

_LIKE_A_PROXY = re.compile(r"\S+://\S*|[^\s/\\]+:\d{1,5}(?::\S*)?")


def provider_of(value: Any) -> ProxyProvider | None:
    """What the setting `proxies` means; None: nothing is set.

    A provider; a list of URLs; a dict by country; a path to a file; `proxyscrape`, `webshare` or `iproyal`.
    Raises ConfigError.
    """
    if isinstance(value, ProxyProvider):
        return value
    if isinstance(value, type):
        raise ConfigError(f"proxies = {value.__name__} is a class: write {value.__name__}()")
    if isinstance(value, Mapping):
        return ProxyProviderFromDict(value) if value else None
    if isinstance(value, Path):
        return ProxyProviderFromFile(value)
    if isinstance(value, str):
        value = value.split() or None
    if value is None or value == () or value == [] or value == ["none"]:
        return None
    if isinstance(value, list | tuple):
        if len(value) == 1 and isinstance(value[0], str) and not _LIKE_A_PROXY.fullmatch(value[0]):
            return _named(value[0])
        return ProxyProviderFromList(value)
    if callable(getattr(value, "pick", None)) and callable(getattr(value, "report", None)):
        raise ConfigError(f"proxies = {type(value).__name__}(...) cannot be used: derive it from ProxyProvider")
    raise ConfigError(
        f"proxies cannot be a {type(value).__name__}: give URLs, a dict of them by country, a file, "
        "the name of a service, or a ProxyProvider"
    )


def _named(name: str) -> ProxyProvider:
    from gossamer.fetch.proxy_services import SERVICES  # they build on this file

    if make := SERVICES.get(name.lower()):
        return make()
    path = Path(name)
    if not path.exists():
        known = ", ".join(SERVICES)
        shown = f" = {name!r}" if not set(name) & set("@:") else ""  # else it may be a proxy with its password
        raise ConfigError(f"proxies{shown} cannot be used: there is no such file, and the services known are {known}")
    return ProxyProviderFromFile(path)
