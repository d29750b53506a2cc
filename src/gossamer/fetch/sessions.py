"""Sessions: what belongs together as seen from a site, so that a site sees it together: cookies, identity, proxy.

All of it lives in memory, and nowhere else: cookies may be logins, so they are in no store and no log, and a run
that is resumed begins with empty jars.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

import msgspec

from gossamer.errors import NoProxy
from gossamer.fetch.agents import Identity, Rotation
from gossamer.fetch.cookies import Jar
from gossamer.fetch.proxies import Proxy
from gossamer.settings import ScraperConfig
from gossamer.telemetry import log
from gossamer.values import Request

#: Where cookies are kept by session, the session of requests that name none.
DEFAULT = "default"
#: Sessions kept, and jars; the ones not used for longest are forgotten.
MOST = 10_000
#: Bytes that all jars may take, about; looked at whenever so many more jars were begun.
HEAVIEST = 64 << 20
LOOK_EVERY = 32
#: After a block, times a proxy is asked for that is not the blocked one. There may be no other.
TRIES = 12


class Picks(Protocol):
    """What is asked of a proxy provider."""

    def pick(self, country: str | None = None, session: str | None = None, host: str = "") -> Proxy | None:
        """The proxy for the next request: the same one for the same session, while it works."""


class Session(msgspec.Struct, frozen=True):
    """What one attempt of a request goes out with."""

    #: The name its requests give, else the host.
    name: str
    #: Where this attempt goes.
    host: str
    #: None: cookies are off.
    jar: Jar | None
    identity: Identity
    proxy: Proxy | None = None
    #: Attempts under this name since it began or was last retired, this one included.
    uses: int = 0
    #: Times it was blocked, and retired.
    blocks: int = 0
    #: Whether requests named it; else it is that of its host.
    named: bool = False


class _Kept:
    """What is remembered of a session from one attempt to the next."""

    __slots__ = ("avoid", "blocks", "country", "identity", "turn", "uses")

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.uses = 0
        self.blocks = 0
        #: Grows to get another proxy under the same name.
        self.turn = 0
        #: The proxy that was blocked last, until another is found.
        self.avoid: Proxy | None = None
        self.country: str | None = None


class Sessions:
    """The sessions of one run."""

    def __init__(self, config: ScraperConfig, rotation: Rotation, provider: Picks | None = None) -> None:
        self._mode = config.cookies
        self._rotation = rotation
        self._provider = provider
        self._shared = Jar() if self._mode == "run" else None
        self._jars: OrderedDict[str, Jar] = OrderedDict()
        self._begun = 0
        self._kept: OrderedDict[tuple[bool, str], _Kept] = OrderedDict()
        #: How many sessions were retired.
        self.retired = 0

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, request: Request, host: str) -> Session:
        """What the next attempt of a request uses.

        Raises ProxyFailed where there should be a proxy, and is none: nothing goes out without the one asked for.
        """
        name = request.session
        if name is None and self._mode == "session":
            name = DEFAULT
        named = name is not None
        whose = host if name is None else name
        kept = self._find(named, whose, host)
        kept.uses += 1
        proxy = None
        if self._provider is not None:
            kept.country = request.country or (kept.country if named else None)
            proxy = self._proxy(self._provider, kept, whose if named else None, host)
        return Session(whose, host, self._jar(whose, host), kept.identity, proxy, kept.uses, kept.blocks, named)

    def retire(self, session: Session, why: str) -> None:
        """A session was blocked: from now on its name stands for a new one, with no cookies and another face.

        Attempts that were under way together may all be blocked: the session is retired once.
        """
        kept = self._kept.get((session.named, session.name))
        if kept is None or kept.blocks != session.blocks:
            return
        self.retired += 1
        log.info("session.retired", name=session.name, host=session.host, uses=kept.uses, why=why[:200])
        kept.blocks += 1
        kept.turn += 1
        kept.uses = 0
        kept.avoid = session.proxy
        kept.identity = self._rotation.pick(session.name if session.named else None, kept.blocks, session.host)
        if self._shared is not None:
            # The other hosts' cookies are none of this host's business.
            self._shared.forget(session.host)
        else:
            self._jars.pop(session.host if self._mode == "host" else session.name, None)

    def _find(self, named: bool, whose: str, host: str) -> _Kept:
        key = (named, whose)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = _Kept(self._rotation.pick(whose if named else None, 0, host))
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return kept

    def _jar(self, whose: str, host: str) -> Jar | None:
        if self._mode == "run" or self._mode == "off":
            return self._shared
        key = host if self._mode == "host" else whose
        jar = self._jars.get(key)
        if jar is None:
            jar = self._jars[key] = Jar()
            self._begun += 1
            self._make_room()
        else:
            self._jars.move_to_end(key)
        return jar

    def _make_room(self) -> None:
        if len(self._jars) > MOST:
            self._jars.popitem(last=False)
        if self._begun % LOOK_EVERY == 0:
            weight = sum(jar.weight for jar in self._jars.values())
            while weight > HEAVIEST:
                weight -= self._jars.popitem(last=False)[1].weight

    def _proxy(self, provider: Picks, kept: _Kept, name: str | None, host: str) -> Proxy:
        for _ in range(TRIES):
            label = f"{name}~{kept.turn}" if name is not None and kept.turn else name
            proxy = provider.pick(kept.country, label, host)
            if kept.avoid is None or proxy != kept.avoid:
                break
            kept.turn += 1
        kept.avoid = None
        if proxy is None:
            where = f" in {kept.country.upper()}" if kept.country else ""
            raise NoProxy(f"there is no proxy{where} to go through: add one to `proxies`, or ask for another country")
        return proxy
