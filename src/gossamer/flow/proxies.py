"""Which proxies of a provider can be relied on."""

from __future__ import annotations

from gossamer import urls
from gossamer.fetch import proxy_check
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.client import Client
from gossamer.fetch.proxies import Proxy, ProxyProvider


async def check_proxies(
    provider: ProxyProvider,
    timeout: float = 30.0,  # noqa: ASYNC109 - of each proxy, not of the whole
    retries: int = 5,
    *,
    url: str = proxy_check.URL,
) -> list[Proxy]:
    """Ask for a page through every proxy, `retries` times over; those that answered each time, which alone are kept.

    A proxy that does not answer below 400 within `timeout` seconds is taken out until the provider loads its list
    again. Where none is left, nothing goes out. Raises FetchError or ConfigError if the list cannot be loaded.
    """
    typed = urls.typed(url)
    addresses = Addresses()
    addresses.allow(urls.host(typed))
    async with Client() as client:
        if provider.stale:
            await provider.load(proxy_check.getter(client, Addresses()))
        alive = list(provider.proxies)
        for proxy in alive if provider.typed else ():
            addresses.allow(proxy.authority)
        for _ in range(max(1, retries)):
            trial = ProxyProvider(alive)
            found = await proxy_check.check(trial, fetcher=client, addresses=addresses, url=typed, timeout=timeout)
            alive = [proxy for proxy, checked in zip(trial.proxies, found, strict=True) if checked.ok]
    provider.replace(alive)
    return alive
