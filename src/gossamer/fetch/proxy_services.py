"""Proxies from services that sell or give them away: Proxyscrape, Webshare, IPRoyal.

Keys come from the environment or the constructor, go out in headers only, and are shown nowhere.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

import msgspec

from gossamer import urls
from gossamer.errors import ConfigError, ProxyFailed
from gossamer.fetch.proxies import LARGEST, Get, ProxyProvider
from gossamer.fetch.proxy import Proxy, country_code, read_line

PROXYSCRAPE = "https://api.proxyscrape.com"
WEBSHARE = "https://proxy.webshare.io"
#: Where Webshare's proxies are that have no address of their own.
WEBSHARE_BACKBONE = "p.webshare.io"
IPROYAL = "https://apid.iproyal.com/v1/reseller"
#: IPRoyal's ports, where an answer names none.
IPROYAL_PORTS = {"http": 12323, "socks5": 12324}

#: Proxies asked for at once, and pages of them read: no account has more.
PAGE_SIZE = 100
MOST_PAGES = 1000
#: More proxies than this are not kept.
MOST = 100_000


class Service(ProxyProvider):
    """What the services have in common."""

    #: How errors speak of it.
    name: ClassVar[str]
    refresh = 3600.0

    def __init__(self, base: str, *, seed: int | None, clock: Callable[[], float]) -> None:
        super().__init__(seed=seed, clock=clock)
        self._base = urls.absolute(base).rstrip("/")
        self._loaded = None

    async def load(self, get: Get) -> None:
        """Get the list. Raises ConfigError if the user must fix something, FetchError if the service failed."""
        found = await self._list(get)
        if not found:
            raise ProxyFailed(f"{self.name} gave no proxies: look at your account there, or use another source")
        self.replace(found[:MOST])

    async def _list(self, get: Get) -> list[Proxy]:
        raise NotImplementedError

    async def _get(self, get: Get, url: str, headers: dict[str, str]) -> bytes:
        status, body = await get(url, headers)
        if status in (401, 403):
            raise ConfigError(f"{self.name} refused us with status {status}: {self._advice()}")
        if status != 200:
            raise ProxyFailed(f"{self.name} gave no list of proxies, but status {status}: try again later")
        if len(body) > LARGEST:
            raise ProxyFailed(f"{self.name} gave more than {LARGEST >> 20} MB, which is no list of proxies")
        return body

    def _advice(self) -> str:
        return "ask it why, or use another source of proxies"

    def _odd(self) -> ProxyFailed:
        return ProxyFailed(f"{self.name} gave something else than its list of proxies: has its API changed?")

    def _json(self, body: bytes) -> Any:
        try:
            return msgspec.json.decode(body)
        except msgspec.DecodeError:
            raise self._odd() from None


def _protocol(value: str, *allowed: str) -> str:
    if value not in allowed:
        raise ConfigError(f"protocol = {value!r} cannot be used: write one of {', '.join(allowed)}")
    return value


def _secret(value: str | None, name: str, service: str) -> str:
    """A key from the constructor or the environment."""
    found = (value or os.environ.get(name, "")).strip()
    if not found:
        raise ConfigError(f"{service} wants to know who asks: set {name} in the environment")
    if not (found.isascii() and found.isprintable()):
        raise ConfigError(f"{name} holds characters that no key has: copy it anew")
    return found


def _text(body: bytes) -> str:
    return body.decode("utf-8-sig", "replace")


def _proxies(lines: Iterable[str], scheme: str, country: str | None = None) -> Iterator[Proxy]:
    """The proxies among lines that strangers wrote: what is none is passed over."""
    for line in lines:
        try:
            if proxy := read_line(line, scheme):
                yield Proxy(proxy.url, country) if country else proxy
        except ConfigError:
            continue


def _one(scheme: str, host: Any, port: Any, row: Mapping[str, Any], country: Any = None) -> Proxy | None:
    """A proxy from a row of an answer; None if the row makes none."""
    user, password = row.get("username"), row.get("password")
    login = f"{quote(str(user), safe='')}:{quote(str(password or ''), safe='')}@" if user else ""
    if not isinstance(host, str) or not str(port).isdecimal():
        return None
    place = f"[{host}]" if ":" in host and not host.startswith("[") else host
    try:
        return Proxy(f"{scheme}://{login}{place}:{port}", country if isinstance(country, str) else None)
    except ConfigError:
        return None


class ProxyProviderFromProxyscrape(Service):
    """The free proxies of Proxyscrape. Many of them are dead: check them first, and expect little."""

    name = "Proxyscrape"
    refresh = 900.0

    def __init__(
        self,
        *,
        protocol: str = "http",
        country: str | None = None,
        base: str = PROXYSCRAPE,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`protocol` is http or socks5; `country` asks for proxies of one country."""
        super().__init__(base, seed=seed, clock=clock)
        self._protocol = _protocol(protocol, "http", "socks5")
        self._country = country_code(country)

    async def _list(self, get: Get) -> list[Proxy]:
        asked = {
            "request": "displayproxies",
            "protocol": self._protocol,
            "timeout": "10000",
            "country": self._country.upper() if self._country else "all",
            "ssl": "all",
            "anonymity": "all",
        }
        body = await self._get(get, f"{self._base}/v2/?{urlencode(asked)}", {})
        return list(_proxies(_text(body).splitlines(), self._protocol, self._country))


class ProxyProviderFromWebshare(Service):
    """The proxies of a Webshare account, by country. The key: `WEBSHARE_API_KEY`.

    `download` is a download link from Webshare's dashboard, to be used instead of a key; it holds a token, so it
    is a secret as well. It may stand in `WEBSHARE_DOWNLOAD_URL`.
    """

    name = "Webshare"

    def __init__(
        self,
        key: str | None = None,
        *,
        download: str | None = None,
        mode: str = "direct",
        protocol: str = "http",
        countries: Iterable[str] = (),
        base: str = WEBSHARE,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`mode`: direct, or backbone (residential proxies have that one only). `protocol`: http or socks5."""
        super().__init__(base, seed=seed, clock=clock)
        if mode not in ("direct", "backbone"):
            raise ConfigError(f"mode = {mode!r} cannot be used: write direct or backbone")
        self._key, self._download, self._mode = key, download, mode
        self._protocol = _protocol(protocol, "http", "socks5")
        self._countries = [code for code in map(country_code, countries) if code]

    def _advice(self) -> str:
        return "check WEBSHARE_API_KEY"

    async def _list(self, get: Get) -> list[Proxy]:
        download = self._download or ("" if self._key else os.environ.get("WEBSHARE_DOWNLOAD_URL", ""))
        if not download:
            return await self._pages(get, _secret(self._key, "WEBSHARE_API_KEY", self.name))
        try:
            link = urls.absolute(download)
        except ConfigError:
            raise ConfigError("Webshare's download link is not a URL: copy it anew from the dashboard") from None
        return list(_proxies(_text(await self._get(get, link, {})).splitlines(), self._protocol))

    async def _pages(self, get: Get, key: str) -> list[Proxy]:
        asked = {"mode": self._mode, "page": "1", "page_size": str(PAGE_SIZE)}
        if self._countries:
            asked["country_code__in"] = ",".join(code.upper() for code in self._countries)
        url: str | None = f"{self._base}/api/v2/proxy/list/?{urlencode(asked)}"
        found: list[Proxy] = []
        seen: set[str] = set()
        while url and url not in seen and len(seen) < MOST_PAGES and len(found) < MOST:
            seen.add(url)
            told = self._json(await self._get(get, url, {"Authorization": f"Token {key}"}))
            if not isinstance(told, dict) or not isinstance(told.get("results"), list):
                raise self._odd()
            found += [proxy for row in told["results"] if (proxy := self._row(row))]
            url = self._next(told.get("next"), url)
        return found

    def _row(self, row: Any) -> Proxy | None:
        if not isinstance(row, dict) or row.get("valid") is False:
            return None
        host = row.get("proxy_address") or WEBSHARE_BACKBONE
        return _one(self._protocol, host, row.get("port"), row, row.get("country_code"))

    def _next(self, link: Any, url: str) -> str | None:
        """The next page. The key goes along, so it must not lead to anybody else."""
        if not isinstance(link, str) or not link:
            return None
        found = urls.resolve(link, url)
        if found is None or urls.origin(found) != urls.origin(self._base) or "@" in found.partition("?")[0]:
            raise ProxyFailed(f"{self.name} points to another host for more proxies, which was not followed")
        return found


class ProxyProviderFromIPRoyal(Service):
    """The proxies of one order at IPRoyal (ISP, datacenter, mobile). `IPROYAL_API_KEY` and `IPROYAL_ORDER_ID`."""

    name = "IPRoyal"

    def __init__(
        self,
        order: int | str | None = None,
        key: str | None = None,
        *,
        protocol: str = "http",
        country: str | None = None,
        base: str = IPROYAL,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`country`: where the order's proxies are, as the answer names no country in letters."""
        super().__init__(base, seed=seed, clock=clock)
        self._order, self._key = order, key
        self._protocol = _protocol(protocol, "http", "socks5")
        self._country = country_code(country)

    def _advice(self) -> str:
        return "check IPROYAL_API_KEY, which is the new API's token (the old API ended in September 2025)"

    async def _list(self, get: Get) -> list[Proxy]:
        key = _secret(self._key, "IPROYAL_API_KEY", self.name)
        order = str(self._order if self._order is not None else os.environ.get("IPROYAL_ORDER_ID", "")).strip()
        if not re.fullmatch(r"[0-9A-Za-z_-]{1,64}", order):
            raise ConfigError("IPRoyal keeps proxies by order: set IPROYAL_ORDER_ID to the number of yours")
        body = await self._get(get, f"{self._base}/orders/{order}", {"X-Access-Token": key})
        told = self._json(body)
        rows, ports = _order_rows(told)
        if rows is None:
            raise self._odd()
        found = [proxy for row in rows if (proxy := self._row(row, ports))]
        if not found and isinstance(told, dict) and isinstance(told.get("status"), str):
            raise ProxyFailed(f"IPRoyal's order {order} has no proxies, its status is {told['status'][:40]!r}")
        return found

    def _row(self, row: Any, ports: Mapping[str, Any]) -> Proxy | None:
        if isinstance(row, str):
            return next(_proxies([row], self._protocol, self._country), None)
        if not isinstance(row, dict):
            return None
        port = row.get("port") or _port(ports, self._protocol) or IPROYAL_PORTS[self._protocol]
        return _one(self._protocol, row.get("ip") or row.get("host"), port, row, self._country)


def _order_rows(told: Any) -> tuple[list[Any] | None, Mapping[str, Any]]:
    """The proxies of an order, and its ports by protocol, in any of the shapes IPRoyal has given them."""
    if isinstance(told, dict) and isinstance(told.get("data"), dict | list):
        told = told["data"]
    if isinstance(told, dict) and isinstance(told.get("proxy_data"), dict):
        told = told["proxy_data"]
    if isinstance(told, list):
        return told, {}
    if isinstance(told, dict) and isinstance(told.get("proxies"), list):
        ports = told.get("ports")
        return told["proxies"], ports if isinstance(ports, dict) else {}
    return None, {}


def _port(ports: Mapping[str, Any], protocol: str) -> Any:
    """IPRoyal writes its ports as {"socks5": 12324, "http|https": 12323}."""
    return next((port for names, port in ports.items() if protocol in str(names).split("|")), None)


#: What the setting `proxies` knows by name.
SERVICES: Mapping[str, Callable[[], ProxyProvider]] = {
    "proxyscrape": ProxyProviderFromProxyscrape,
    "webshare": ProxyProviderFromWebshare,
    "iproyal": ProxyProviderFromIPRoyal,
}
