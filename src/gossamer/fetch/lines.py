"""Lines to hosts: wreq clients, each bound to addresses that were checked, and to no other."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import wreq

from gossamer import urls
from gossamer.errors import AddressRefused, ConnectFailed, ProxyFailed, Unsendable
from gossamer.fetch import agents
from gossamer.fetch.addresses import Pinned
from gossamer.fetch.proxies import Proxy
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig

#: Lines that are kept; those not used for longest are let go.
MOST_LINES = 512
#: Who answered is looked at once, for so many at a time.
MOST_AGREED = 4096
#: Lines of headers in one answer.
MOST_HEADERS = 256

#: What can be undone; a browser that is played sends its own.
_ACCEPTED = {"accept-encoding": "gzip, br, zstd"}


class Line:
    """One wreq client, and who has answered on it."""

    __slots__ = ("_agreed", "client")

    def __init__(self, client: Any) -> None:
        self.client = client
        self._agreed: dict[tuple[str, str], str] = {}

    def remote(self, answer: Any, pinned: Pinned) -> str | None:
        """The address that answered, if wreq knows it. Raises AddressRefused if it is not one that was checked."""
        found = answer.remote_addr
        if found is None:
            return None
        key = (pinned.text, str(found))
        known = self._agreed.get(key)
        if known is None:
            address = found.ip()
            if not any(int(address) == int(each) for each in pinned):
                raise AddressRefused(f"{address} answered, which is not the address that was checked ({pinned.text})")
            if len(self._agreed) >= MOST_AGREED:
                self._agreed.clear()
            known = self._agreed[key] = str(address)
        return known


class Lines:
    """All lines of one client."""

    def __init__(self) -> None:
        # One that is let go while a request is under way lives as long as that needs it: wreq closes a client's
        # connections when nobody has it any longer.
        self._lines: OrderedDict[tuple[Any, ...], Line] = OrderedDict()

    def __len__(self) -> int:
        return len(self._lines)

    def close(self) -> None:
        """End all, and the requests on them."""
        for line in self._lines.values():
            line.client.close()
        self._lines.clear()

    def known(self, url: str, config: ScraperConfig, way: Way) -> tuple[Line, Pinned] | None:
        """As `to`, where there is nothing to look up: what most requests need."""
        if way.proxy is not None:
            return None
        # What `urls.host` gives for the URLs of almost all sites; another host than that is not known.
        _, _, host = url.partition("://")
        host = host.partition("/")[0]
        pinned = way.addresses.pinned(host)
        if pinned is None:
            return None
        # One client does for all hosts that are addresses themselves.
        return self._line((pinned,) if pinned.name else (), host, config, way), pinned

    async def to(self, url: str, config: ScraperConfig, way: Way) -> tuple[Line, Pinned]:
        """The line for a URL, and the addresses that may answer on it.

        Raises AddressRefused, or ConnectFailed or ProxyFailed where a name is not known, or Unsendable.
        """
        if not url.startswith(("http://", "https://")):
            raise Unsendable(f"{url[:200]!r} cannot be fetched: only http and https are")
        host = urls.host(url)
        if way.proxy is None:
            pinned = await way.addresses.resolve(host)
            return self._line((pinned,) if pinned.name else (), host, config, way), pinned
        target = way.addresses.pinned(host) or await way.addresses.known_here(host)
        if way.proxy.scheme == "socks5" and target is None:
            raise ConnectFailed(f"no connection: the name of {host} is not known, and a socks5 proxy wants an address")
        pinned = await _proxy(way, way.proxy)
        # Other proxies look names up themselves.
        bound = (pinned, target) if target is not None and way.proxy.scheme == "socks5" else (pinned,)
        return self._line(bound, host, config, way), pinned

    def _line(self, bound: Sequence[Pinned], host: str, config: ScraperConfig, way: Way) -> Line:
        proxy, browser = way.proxy, way.identity.browser
        verify = not config.insecure_hosts or not _insecure(host, config.insecure_hosts)
        names = tuple([each.key for each in bound])
        limits = config.max_headers, config.timeout, config.first_byte
        key = (names, proxy.url if proxy else None, browser, verify, limits)
        line = self._lines.get(key)
        if line is not None:
            self._lines.move_to_end(key)
            return line
        line = self._lines[key] = Line(_client(bound, proxy, browser, config, verify=verify))
        if len(self._lines) > MOST_LINES:
            self._lines.popitem(last=False)
        return line


def _insecure(host: str, insecure: Sequence[str]) -> bool:
    return host in insecure or urls.hostname(f"https://{host}") in insecure


async def _proxy(way: Way, proxy: Proxy) -> Pinned:
    """Where a proxy is: it has to be at an address that may be connected to, like everything else."""
    try:
        return await way.addresses.resolve(proxy.authority)
    except AddressRefused as error:
        raise AddressRefused(f"the proxy {error}") from error
    except ConnectFailed as error:
        raise ProxyFailed(f"the proxy {proxy.label} cannot be reached: its name is not known") from error


def _client(
    bound: Sequence[Pinned], proxy: Proxy | None, browser: str | None, config: ScraperConfig, *, verify: bool
) -> wreq.Client:
    names = wreq.DnsOptions()
    for each in bound:
        if each.name:
            names.add_resolve(each.name, list(each))
    # The buffer is no exact cap (it may grow beyond), and counts more than we do: an answer is measured again.
    room = max(2 * config.max_headers, 64 << 10)
    how: dict[str, Any] = {
        "dns_options": names,
        "timeout": timedelta(seconds=config.timeout),
        "redirect": wreq.redirect.Policy.none(),
        "referer": False,
        "http1_options": wreq.Http1Options(max_headers=MOST_HEADERS, max_buf_size=room),
        # We undo these ourselves: wreq would not say how small a body came, and refuses half of all deflate bodies.
        "gzip": False,
        "deflate": False,
    }
    if config.first_byte < config.timeout:
        # Until the headers are there, and then between two pieces of the body.
        how["read_timeout"] = timedelta(seconds=config.first_byte)
    if not verify:
        how |= {"tls_verify": False, "tls_verify_hostname": False}
    if browser is None:
        how["headers"] = _ACCEPTED
    else:
        how["emulation"] = wreq.Emulation(
            profile=getattr(wreq.Profile, agents.emulation_name(browser)),
            platform=getattr(wreq.Platform, agents.platform_name(browser)),
        )
    if proxy is None:
        how["no_proxy"] = True  # of the environment
    else:
        how["proxies"] = [wreq.Proxy.all(proxy.url)]
    return wreq.Client(**how)
