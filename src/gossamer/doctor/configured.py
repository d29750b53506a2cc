"""What is set: the settings themselves, proxies, and servers that they name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from gossamer import settings, terminal
from gossamer.doctor import brokers
from gossamer.doctor.finding import Area, Finding, told
from gossamer.errors import ConfigError
from gossamer.fetch.proxies import provider_of
from gossamer.fetch.proxy import Proxy
from gossamer.settings import Settings
from gossamer.storage import naming

_area = Area("settings")
_servers = Area("servers")

#: Seconds that a server may take to answer.
DEADLINE = 5.0
#: Proxies that are tried; `gossamer proxies check` tries all.
MOST_PROXIES = 20
#: What programs are told of proxies by.
_OF_ENVIRONMENT = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


def look(flags: Mapping[str, str]) -> tuple[Settings, list[Finding]]:
    """The settings as everything else here uses them; those that cannot be used are told of, and left out."""
    try:
        read = settings.read(flags)
    except ConfigError as error:
        bad = _area.problem("settings", str(error), "mend it: `gossamer settings` lists all there are")
        return _without_file_and_environment(flags), [bad]
    file = Path(settings.FILE)
    given = [name for name, origin in read.origins.items() if origin != "default"]
    where = f"{file} is read" if file.exists() else f"there is no {file} here"
    return read, [_area.ok("settings", f"{where}; {terminal.many(len(given), 'setting')} given, all known")]


def _without_file_and_environment(flags: Mapping[str, str]) -> Settings:
    try:
        return settings.read(flags, environ={}, folder=Path(__file__).parent)
    except ConfigError:
        return settings.read({}, environ={}, folder=Path(__file__).parent)


# -- proxies ---------------------------------------------------------------------------------------------------


async def proxies(read: Settings, environ: Mapping[str, str], *, offline: bool) -> list[Finding]:
    """The proxies that are set, and whether somebody listens there."""
    named = [name for name in _OF_ENVIRONMENT if environ.get(name)]
    given = read.config.proxies
    if not given:
        if named:
            return [
                _area.warning(
                    "proxies",
                    f"{named[0]} is set, which Gossamer does not use",
                    f'if sites are reached only through it: GOSSAMER_PROXIES="${named[0]}"',
                )
            ]
        return [_area.ok("proxies", "none are set: sites are asked directly")]
    try:
        provider = provider_of(given)
    except ConfigError as error:
        return [_area.problem("proxies", str(error), "mend proxies in the settings")]
    known = provider.proxies if provider is not None else ()
    if not known:
        return [_area.ok("proxies", "they come from a service: `gossamer proxies check` asks it")]
    if offline:
        return [_area.ok("proxies", f"{len(known):,} given; not tried")]
    return [await _tried(known)]


async def _tried(known: tuple[Proxy, ...] | list[Proxy]) -> Finding:
    some = known[:MOST_PROXIES]
    answers = await asyncio.gather(*(connect(*_place_of(each)) for each in some))
    dead = [f"{each.label}: {why}" for each, why in zip(some, answers, strict=True) if why]
    of = f"{len(some)} of {len(known):,}" if len(known) > len(some) else f"{len(some):,}"
    if not dead:
        return _area.ok("proxies", f"{of} tried, somebody listens at each; `gossamer proxies check` asks through them")
    make = _area.problem if len(dead) == len(some) else _area.warning
    return make(
        "proxies",
        f"{of} tried, {len(dead):,} cannot be reached: {'; '.join(dead[:3])}",
        "take dead ones out of proxies: `gossamer proxies check` shows which are alive",
    )


def _place_of(proxy: Proxy) -> tuple[str, int]:
    host, _, port = proxy.authority.rpartition(":")
    return host.strip("[]"), int(port) if port.isdecimal() else 1080


# -- servers ---------------------------------------------------------------------------------------------------


class Server(msgspec.Struct, frozen=True):
    """A kind of server that settings may name."""

    label: str
    port: int
    #: What is wrong with having it there, and what to do, given the setting that names it; None: nothing.
    objection: Callable[[str], tuple[str, str] | None] = lambda knob: None
    #: Asks it whether it works, once it can be reached, and gives what is wrong; None: that somebody listens is enough.
    ask: Callable[[str], Awaitable[str]] | None = None


def _no_store(knob: str) -> tuple[str, str] | None:
    if knob != "store":
        return None
    return "it cannot be a store", "write a path, like store = 'gossamer.db', or postgresql://user@host/name"


def _no_broker(knob: str) -> tuple[str, str] | None:
    if knob != "broker":
        return _no_store(knob)
    return "it cannot be a broker", "write a redis:// or an amqp:// URL"


#: By the scheme of their URLs. The store itself, where it is in PostgreSQL, is looked at more closely elsewhere.
SERVERS: Mapping[str, Server] = {
    "postgresql": Server("PostgreSQL", 5432, _no_broker),
    "postgres": Server("PostgreSQL", 5432, _no_broker),
    "redis": Server("Redis", 6379, _no_store, brokers.redis),
    "rediss": Server("Redis", 6379, _no_store, brokers.redis),
    "amqp": Server("RabbitMQ", 5672, _no_store, brokers.amqp),
    "amqps": Server("RabbitMQ", 5671, _no_store, brokers.amqp),
}


def named_servers(read: Settings) -> Iterator[tuple[str, str]]:
    """Settings that name such a server, and its URL."""
    for name in settings.KNOBS:
        holder = read.place if hasattr(read.place, name) else read.config
        value = getattr(holder, name)
        for text in value if isinstance(value, tuple) else (value,):
            if name == "store" and naming.is_postgres(text):
                continue
            if isinstance(text, str) and text.partition("://")[0].partition("+")[0] in SERVERS and "://" in text:
                yield name, text


async def servers(read: Settings, *, offline: bool) -> list[Finding]:
    """The broker, and whatever other servers are named."""
    return [await _server(knob, url, offline=offline) for knob, url in named_servers(read)]


async def _server(knob: str, url: str, *, offline: bool) -> Finding:
    kind = SERVERS[url.partition("://")[0].partition("+")[0]]
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "localhost", parts.port or kind.port
    except ValueError as error:
        return _servers.problem(kind.label, f"{knob} is no URL: {told(error)}", f"mend {knob} in the settings")
    place = f"{kind.label} at {host}:{port}"
    why = "" if offline else await connect(host, port)
    seen = "was not tried" if offline else f"cannot be reached ({why})" if why else "can be reached"
    objection = kind.objection(knob)
    if objection is not None:
        return _servers.problem(kind.label, f"{place} {seen}, but {objection[0]}", objection[1])
    if why:
        return _servers.problem(kind.label, f"{place} {seen}", f"start it, or mend {knob} in the settings")
    wrong = "" if offline or kind.ask is None else await kind.ask(url)
    if wrong:
        fix = f"check the user, the password and the name in {knob}"
        return _servers.problem(kind.label, f"{place} {seen}, but does not work: {wrong}", fix)
    return _servers.ok(kind.label, f"{place} {seen}{'' if offline or kind.ask is None else ', and answers us'}")


async def connect(host: str, port: int) -> str:
    """Connect, and hang up. What went wrong; empty: nothing."""
    try:
        async with asyncio.timeout(DEADLINE):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return f"no connection within {DEADLINE:g} s"
    except (OSError, ValueError) as error:
        return told(error)
    writer.close()
    return ""
