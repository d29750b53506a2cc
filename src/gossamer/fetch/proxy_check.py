"""Which proxies are alive: one request through each, many at the same time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import msgspec

from gossamer import urls
from gossamer.errors import FetchError
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.proxies import LARGEST, Get, Proxy, ProxyProvider
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.values import Request

#: Asked through each proxy: a page that IANA keeps for examples, small, and behind TLS, so that a proxy which
#: answers by itself is found out.
URL = "https://example.com/"
TIMEOUT = 10.0
CONCURRENCY = 50
#: Beginning of the answer that is read.
ENOUGH = 64 << 10


class Checked(msgspec.Struct, frozen=True):
    """What came of asking one proxy."""

    #: The proxy without its credentials.
    label: str
    country: str | None
    ok: bool
    #: How long it took, in any case.
    seconds: float
    #: 0: no answer came.
    status: int
    #: Why it is not ok, in a sentence.
    why: str = ""


Tell = Callable[[Checked], None]


async def check(
    provider: ProxyProvider,
    *,
    fetcher: Fetcher,
    addresses: Addresses,
    url: str = URL,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - of each proxy, not of the whole
    concurrency: int = CONCURRENCY,
    tell: Tell | None = None,
) -> list[Checked]:
    """Ask for a URL through every proxy of a provider; the answers in the order of its proxies.

    A proxy is alive if an answer below 400 comes in time. The provider hears of it: dead ones rest, and the
    living are known by their speed. `tell` hears of each as it is known.
    """
    proxies = provider.proxies
    config = ScraperConfig(timeout=timeout, first_byte=timeout, max_body=ENOUGH)
    found: dict[int, Checked] = {}
    waiting: Iterator[tuple[int, Proxy]] = iter(enumerate(proxies))

    async def ask_some() -> None:
        for number, proxy in waiting:  # shared: each takes the next
            way = Way(Identity(config.user_agent), addresses, proxy=proxy, part=True)
            found[number] = checked = await _ask(fetcher, Request(url), config, way, proxy)
            _report(provider, proxy, url, checked)
            if tell is not None:
                tell(checked)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(max(concurrency, 1), len(proxies))):
            group.create_task(ask_some())
    return [found[number] for number in range(len(proxies))]


def _report(provider: ProxyProvider, proxy: Proxy, url: str, checked: Checked) -> None:
    if checked.ok or checked.status:
        # An answer of 400 and above: the proxy works, but the site will have none of it.
        provider.report(proxy, urls.host(url), checked.ok, checked.seconds, f"http_{checked.status}")
    else:
        provider.rest(proxy)


async def _ask(fetcher: Fetcher, request: Request, config: ScraperConfig, way: Way, proxy: Proxy) -> Checked:
    began, status = time.monotonic(), 0
    try:
        # A proxy that drips must not outlast the others, whatever the fetcher thinks of it.
        async with asyncio.timeout(config.timeout + 1):
            status = (await fetcher.fetch(request, config, way)).status
        why = f"it answered with status {status}" if status >= 400 else ""
    except TimeoutError:
        why = f"no complete answer within {config.timeout:g} s"
    except FetchError as error:
        why = str(error)
    return Checked(proxy.label, proxy.country, not why, time.monotonic() - began, status, why)


def getter(fetcher: Fetcher, addresses: Addresses) -> Get:
    """What `ProxyProvider.load` gets lists with where no run is under way: straight, without redirects."""
    config = ScraperConfig(max_body=LARGEST)

    async def get(url: str, headers: dict[str, str]) -> tuple[int, bytes]:
        way = Way(Identity(config.user_agent), addresses, headers=headers)
        response = await fetcher.fetch(Request(url), config, way)
        return response.status, response.body

    return get
