"""How the requests of one run go out: session, identity, proxy, cookies, and secrets only where they belong."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping

from gossamer import urls
from gossamer.errors import FetchError, NoProxy
from gossamer.fetch import agents
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.proxies import Proxy, ProxyProvider
from gossamer.fetch.sessions import Session, Sessions
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.values import Fetch, Request, Response

Leave = Callable[[], Awaitable[None]]


class Ways:
    """Chooses the way of each attempt, and hears how it went."""

    def __init__(
        self,
        config: ScraperConfig,
        addresses: Addresses,
        *,
        provider: ProxyProvider | None = None,
        secrets: Mapping[str, str] | None = None,
        spool: str | None = None,
        seed: int = 0,
        own_proxies: bool = False,
    ) -> None:
        """`own_proxies`: a person chose the proxies, who may have some at home."""
        rotation = agents.identities(config, seed)
        self.addresses = addresses
        self._sessions = Sessions(config, rotation, provider)
        self._provider = provider
        self._own_proxies = own_proxies
        self._honest = agents.Identity(config.user_agent)
        self._secrets = {} if secrets is None else secrets
        self._spool = spool
        #: Where exchanges are written down that are made for a page besides its own.
        self.log: Callable[[Fetch], None] | None = None
        #: Whether a page may load a URL, by the robots.txt files that are known.
        self.may: Callable[[str], bool] | None = None
        #: Origins that the run starts at: secrets go to them, and to no other.
        self._home: set[str] = set()
        self._logins: dict[str, str] = {}

    def start(self, url: str, login: tuple[str, str] | None = None, *, typed: bool = True) -> None:
        """A start URL, and the login that stood in it. A `typed` one may lie at a private address."""
        origin = urls.origin(url)
        if origin not in self._home:
            self._home.add(origin)
            if typed:
                self.addresses.allow(urls.host(url))
        if login is not None:
            told = base64.b64encode(f"{login[0]}:{login[1]}".encode()).decode()
            self._logins[urls.origin(url)] = f"Basic {told}"

    def plain(self, host: str, leave: Leave) -> Way:
        """The way to a robots.txt: under our own name, without cookies, only its beginning. Raises ProxyFailed."""
        proxy = None
        if self._provider is not None:
            proxy = self._provider.pick(host=host)
            if proxy is None:
                raise NoProxy("there is no proxy to go through: add one to `proxies`")
            self._let(proxy)
        return Way(self._honest, self.addresses, proxy=proxy, part=True, trusted=False, leave=leave)

    def of(self, request: Request, headers: dict[str, str], leave: Leave) -> tuple[Way, Session]:
        """The way of one attempt, and the session it belongs to. The headers are this attempt's own: added to."""
        url = request.url
        host = urls.host(url)
        session = self._sessions.of(request, host)
        if session.proxy is not None:
            self._let(session.proxy)
        trusted = self._trusts(urls.origin(url))
        if trusted and self._secrets:
            headers.update({name.lower(): text for name, text in self._secrets.items()})
        if self._logins and (login := self._logins.get(urls.origin(url))) is not None:
            headers["authorization"] = login
        if session.jar and (cookie := session.jar.header(url)):
            headers["cookie"] = f"{headers['cookie']}; {cookie}" if "cookie" in headers else cookie
        way = Way(
            session.identity,
            self.addresses,
            proxy=session.proxy,
            headers=headers,
            trusted=trusted,
            spool=self._spool,
            leave=leave,
            may=self.may,
            heard=self.log,
        )
        return way, session

    def _trusts(self, origin: str) -> bool:
        """Whether secrets go there: to where the run starts, and never less safely than that."""
        return origin in self._home or (
            origin.startswith("https:") and f"http:{origin.removeprefix('https:')}" in self._home
        )

    def _let(self, proxy: Proxy) -> None:
        if self._own_proxies:
            self.addresses.allow(proxy.authority)

    def heard(self, session: Session, way: Way, response: Response) -> None:
        """An answer came: keep its cookies, and think the better of its proxy."""
        if session.jar is not None and "set-cookie" in response.headers:
            session.jar.take(response.headers.getall("set-cookie"), response.url)
        if way.proxy is not None and self._provider is not None:
            self._provider.report(way.proxy, urls.host(response.url), ok=True, seconds=response.elapsed)

    def failed(self, way: Way, url: str, error: FetchError, seconds: float) -> None:
        """No answer came: through a proxy, that may be its fault."""
        if way.proxy is not None and self._provider is not None:
            self._provider.report(way.proxy, urls.host(url), ok=False, seconds=seconds, why=error.reason)

    def blocked(self, session: Session, way: Way, url: str, why: str) -> None:
        """A wall stood there: this session is burnt, and its proxy may be."""
        self._sessions.retire(session, why)
        if way.proxy is not None and self._provider is not None:
            self._provider.report(way.proxy, urls.host(url), ok=False, seconds=0.0, why="blocked")
