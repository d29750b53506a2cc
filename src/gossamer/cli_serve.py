"""`gossamer serve`: schedules, REST API and dashboard in one command."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from gossamer.cli_options import StoreOption
from gossamer.errors import ConfigError
from gossamer.library import wait

err = Console(stderr=True, highlight=False, emoji=False)


def serve_command(
    scrapers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCRAPER]...",
            help="file.py, rules.toml or module:Class [those of gossamer.toml, or the files of this folder]",
        ),
    ] = None,
    listen: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where to listen, or only a port [127.0.0.1:8600]")
    ] = None,
    store: StoreOption = None,
    max_runs: Annotated[str | None, typer.Option(metavar="N", help="Runs walked at the same time [4]")] = None,
    tls_cert: Annotated[str | None, typer.Option(metavar="FILE", help="Serve with this certificate (PEM)")] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="The key of the certificate (PEM)")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy in front ends TLS and says who asks")
    ] = False,
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Let workers walk the runs: needs a postgresql:// store and a broker")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="With the demo sites and their scrapers, to try it")] = False,
    log_level: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="debug, info, warning, error [warning]")
    ] = None,
    log_format: Annotated[str | None, typer.Option(metavar="STYLE", help="human or json [human]")] = None,
) -> None:
    """Run scrapers on their schedules behind a REST API and a dashboard, on one port.

    Ctrl-C stops it in good order; runs that were under way go on at the next start, also after kill -9.

    \b
    gossamer serve
    gossamer serve quotes.py shop.toml --listen 8700
    gossamer serve --demo
    gossamer serve --cluster --store postgresql://gossamer@db/gossamer
    """
    given = {
        "scrapers": scrapers,
        "listen": listen,
        "store": store,
        "max_runs": max_runs,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "behind_proxy": True if behind_proxy else None,
        "log_level": log_level,
        "log_format": log_format,
    }
    flags = {name: value for name, value in given.items() if value not in (None, [])}
    if demo and cluster:
        raise ConfigError("--demo is walked here, on sites that only this machine reaches: leave --cluster out")
    if demo:
        serve_demo(flags)
    else:
        _serve(flags, cluster=cluster)


def serve_demo(flags: dict[str, Any]) -> None:
    """Run the service with the demo sites and their scrapers."""
    from gossamer.demo import served

    with served.sites(flags) as made:
        _serve(made, cluster=False)


def _serve(flags: dict[str, Any], *, cluster: bool) -> None:
    """Run the service. Raises ConfigError where what it needs is not installed."""
    try:
        import argon2  # noqa: F401
        import fastapi  # noqa: F401
        import nicegui  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401

        from gossamer import service
    except ImportError as error:
        raise ConfigError(
            f"the service is not installed (there is no {error.name}): pip install 'gossamer[service]'"
        ) from None

    def say(text: str) -> None:
        err.print(text, markup=False, soft_wrap=True)

    wait(service.serve(flags, say, cluster=cluster))
