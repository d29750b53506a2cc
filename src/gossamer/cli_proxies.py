"""`gossamer proxies`: which proxies there are, and which of them are alive."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from gossamer import settings, terminal, urls
from gossamer.errors import ConfigError
from gossamer.fetch import proxy_check
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.client import Client
from gossamer.fetch.proxies import ProxyProvider, provider_of
from gossamer.fetch.proxy_check import CONCURRENCY, TIMEOUT, URL, Checked
from gossamer.library import wait

proxies_app = typer.Typer(
    name="proxies",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="See which proxies there are, and which of them are alive.",
)
err = Console(stderr=True, highlight=False, emoji=False)
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)

Source = Annotated[
    list[str] | None,
    typer.Option(
        "--proxies",
        metavar="FROM",
        help="A file, a URL (repeatable), proxyscrape, webshare or iproyal [what is set as proxies]",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line")]


@proxies_app.command("check")
def check_command(
    proxies: Source = None,
    url: Annotated[str, typer.Option(metavar="URL", help="What is asked for through each of them")] = URL,
    timeout: Annotated[str, typer.Option(metavar="TIME", help="How long each may take")] = f"{TIMEOUT:g}s",
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="How many at once")] = CONCURRENCY,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask for a page through every proxy, and show which are alive and how fast. Exit code 1: none is.

    \b
    gossamer proxies check --proxies proxies.txt
    gossamer proxies check --proxies http://user:password@10.1.2.3:8080 --url https://example.org/
    gossamer proxies check --proxies proxyscrape --timeout 5s --concurrency 200
    """
    provider = _provider(proxies)
    try:
        seconds = settings.duration(timeout)
    except ValueError as why:
        raise ConfigError(f"--timeout = {timeout!r} cannot be used: {why}") from None
    found = wait(_check(provider, urls.typed(url), seconds, concurrency, quiet))
    if as_json:
        for each in found:
            typer.echo(msgspec.json.encode(each).decode())
    else:
        found.sort(key=lambda each: (not each.ok, each.seconds))
        columns = ("proxy", "country", "alive", "seconds", "status", "why not")
        rows = [
            (c.label, c.country, "yes" if c.ok else "no", f"{c.seconds:.2f}", c.status or None, c.why or None)
            for c in found
        ]
        out.print(terminal.table("", columns, rows, numbers=("seconds", "status")))
    alive = sum(each.ok for each in found)
    err.print(f"{alive:,} of {terminal.many(len(found), 'proxy').replace('proxys', 'proxies')} alive", markup=False)
    raise typer.Exit(0 if alive else 1)


async def _check(provider: ProxyProvider, url: str, seconds: float, concurrency: int, quiet: bool) -> list[Checked]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    addresses = _addresses(provider)
    addresses.allow(urls.host(url))
    async with Client() as client:
        await _load(provider, client)
        columns = (TextColumn("checking proxies"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        progress = Progress(*columns, TextColumn("{task.description}"), console=err, transient=True, disable=quiet)
        alive = 0

        def tell(checked: Checked) -> None:
            nonlocal alive
            alive += checked.ok
            progress.update(task, advance=1, description=f"{alive:,} alive")

        with progress:
            task = progress.add_task("0 alive", total=len(provider))
            return await proxy_check.check(
                provider,
                url=url,
                timeout=seconds,
                concurrency=concurrency,
                fetcher=client,
                addresses=addresses,
                tell=tell,
            )


@proxies_app.command("list")
def list_command(proxies: Source = None, as_json: AsJson = False) -> None:
    """Show the proxies that a source gives, without their credentials.

    \b
    gossamer proxies list --proxies proxies.txt
    gossamer proxies list --proxies webshare
    """
    provider = _provider(proxies)

    async def load() -> None:
        async with Client() as client:
            await _load(provider, client)

    wait(load())
    rows = [(proxy.label, proxy.country) for proxy in provider.proxies]
    if as_json:
        for label, country in rows:
            typer.echo(msgspec.json.encode({"label": label, "country": country}).decode())
        return
    out.print(terminal.table("", ("proxy", "country"), rows))


def _provider(given: list[str] | None) -> ProxyProvider:
    provider = provider_of(tuple(given) if given else settings.read().config.proxies)
    if provider is None:
        raise ConfigError(
            "no proxies are set: give --proxies with a file, a URL or a service, or write proxies = [...] in "
            "gossamer.toml"
        )
    return provider


def _addresses(provider: ProxyProvider) -> Addresses:
    """A proxy that was typed may be at home; one that a service names may not."""
    addresses = Addresses(private=settings.read().config.allow_private)
    if provider.typed:
        for proxy in provider.proxies:
            addresses.allow(proxy.authority)
    return addresses


async def _load(provider: ProxyProvider, client: Client) -> None:
    if provider.stale:
        await provider.load(proxy_check.getter(client, Addresses()))
