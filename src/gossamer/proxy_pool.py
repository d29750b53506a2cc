"""The proxies that the settings and the scrapers name: which there are, and which of them are alive.

They come from files and the environment only. Nothing here takes a proxy from the network, or shows a password.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

import msgspec

from gossamer import settings, urls
from gossamer.catalog import Catalog
from gossamer.errors import ConfigError, FetchError
from gossamer.fetch import proxy_check
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.client import Client
from gossamer.fetch.proxies import ProxyProvider, provider_of
from gossamer.fetch.proxy_check import Checked
from gossamer.lists import paging
from gossamer.lists.paging import Listing
from gossamer.settings import Settings

#: Proxies shown of one source, and asked of one source: nobody reads more, and each costs a request.
MOST = 1000
#: Seconds that a check of everything may take; what did not answer by then is told as such.
LONGEST = 60.0
#: What the proxies of the settings are said to belong to; those of a scraper belong to its name.
OF_SETTINGS = "settings"
#: What a place in their list is made of: whether a scraper names it, who does, and which of theirs it is.
_PLACE = tuple[paging.Number, paging.Name, paging.Number]


class Pooled(msgspec.Struct, frozen=True):
    """A proxy that somebody named, without its credentials."""

    #: "settings", or the name of the scraper that brings it.
    of: str
    label: str
    country: str | None
    #: Whether it answered: None where nobody asked.
    ok: bool | None = None
    seconds: float | None = None
    status: int | None = None
    #: Why it cannot be used, in a sentence.
    why: str = ""


async def listed(read: Settings, catalog: Catalog) -> list[Pooled]:
    """The proxies that are named. Lists that a service sells are not asked for here: `check` does that."""
    found: list[Pooled] = []
    for of, provider in (await asyncio.to_thread(_providers, read, catalog)).items():
        if isinstance(provider, str):
            found.append(Pooled(of, "", None, why=provider))
        elif provider.stale:
            found.append(Pooled(of, type(provider).__name__, None, why="its list is loaded when it is needed"))
        else:
            found += [Pooled(of, proxy.label, proxy.country) for proxy in provider.proxies[:MOST]]
    return found


async def page(read: Settings, catalog: Catalog, *, limit: int, cursor: str | None = None) -> Listing[Pooled]:
    """A page of those that are named: by who names them, the settings first, and in that one's own order."""
    after = paging.place_of("proxies", cursor, _PLACE)
    counted: Counter[str] = Counter()
    placed: list[tuple[tuple[int, str, int], Pooled]] = []
    for each in await listed(read, catalog):
        counted[each.of] += 1
        placed.append(((int(each.of != OF_SETTINGS), each.of, counted[each.of]), each))
    left = sorted((pair for pair in placed if after is None or pair[0] > after), key=lambda pair: pair[0])
    given = left[: paging.checked_limit(limit)]
    following = paging.cursor_text("proxies", given[-1][0]) if len(left) > len(given) else None
    return Listing([each for _, each in given], following, len(placed))


async def check(read: Settings, catalog: Catalog, url: str = proxy_check.URL) -> list[Pooled]:
    """Ask for a page through each of them, within a bounded time."""
    found: list[Pooled] = []
    providers = await asyncio.to_thread(_providers, read, catalog)
    private = read.config.allow_private
    async with Client() as client:
        for of, provider in providers.items():
            if isinstance(provider, str):
                found.append(Pooled(of, "", None, why=provider))
            else:
                found += await _checked(of, provider, client, url, private, LONGEST / len(providers))
    return found


async def _checked(
    of: str, provider: ProxyProvider, client: Client, url: str, private: bool, seconds: float
) -> list[Pooled]:
    heard: list[Checked] = []
    try:
        async with asyncio.timeout(seconds):
            if provider.stale:
                await provider.load(proxy_check.getter(client, Addresses()))
            few = _few(provider)
            addresses = Addresses(private=private)
            addresses.allow(urls.host(url))
            if provider.typed:  # who typed a proxy may have it at home
                for proxy in few.proxies:
                    addresses.allow(proxy.authority)
            await proxy_check.check(few, fetcher=client, addresses=addresses, url=url, tell=heard.append)
    except TimeoutError:
        pass
    except (ConfigError, FetchError) as why:
        return [Pooled(of, type(provider).__name__, None, ok=False, why=str(why))]
    told = [Pooled(of, c.label, c.country, c.ok, round(c.seconds, 3), c.status, c.why) for c in heard]
    missing = {proxy.label: proxy.country for proxy in provider.proxies[:MOST]}
    for each in heard:
        missing.pop(each.label, None)
    late = "there was no time left to ask it: check fewer, or with `gossamer proxies check`"
    return told + [Pooled(of, label, country, why=late) for label, country in missing.items()]


def _few(provider: ProxyProvider) -> ProxyProvider:
    """A provider itself, or the first of its proxies where it has too many."""
    if len(provider) <= MOST:
        return provider
    return ProxyProvider(provider.proxies[:MOST])


def _providers(read: Settings, catalog: Catalog) -> Mapping[str, ProxyProvider | str]:
    """Who names proxies -> where they come from, or why that cannot be used."""
    named = {OF_SETTINGS: read.config.proxies}
    named |= {name: found.scraper.knobs().get("proxies") for name, found in catalog.scrapers.items()}
    return {of: made for of, source in named.items() if (made := _provider(source)) is not None}


def _provider(source: object) -> ProxyProvider | str | None:
    try:
        return provider_of(settings.proxy_source(source))
    except (ConfigError, ValueError) as why:
        return str(why)
