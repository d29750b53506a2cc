"""The service: scheduler, REST API and dashboard on one port, and a runner beside them. Built in one exit stack."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gossamer import catalog as catalogs
from gossamer import lists, redaction, settings, telemetry, terminal
from gossamer.accounts import Accounts
from gossamer.alerts import Alerts
from gossamer.catalog import Catalog
from gossamer.errors import ConfigError
from gossamer.events import Events
from gossamer.live import Live
from gossamer.scheduler import Scheduler
from gossamer.settings import Place, Settings
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from gossamer.supervisor import Supervisor
from gossamer.telemetry import log
from gossamer.trail import Asker

if TYPE_CHECKING:
    import uvicorn

    from gossamer.cluster.dispatcher import Dispatcher
    from gossamer.storage.shared import Shared, Ticket

#: Seconds that open answers may take when the service ends.
LAST_ANSWERS = 2
#: Seconds between two looks at the scrapers' files.
LOOK_AT_FILES = 2.0
#: Seconds before a part of the service that broke is tried again.
AGAIN = 5.0
#: What the service itself is called where it does something.
ITSELF = Asker("gossamer", "cli")


class Service:
    """What the doors need, in one place."""

    def __init__(self, read: Settings, desk: Desk, folder: Path, walking: Supervisor | Dispatcher | None) -> None:
        self.settings = read
        self.desk = desk
        self.folder = folder
        self.started = time.time()
        self.catalog = Catalog(read.place.scrapers, folder)
        self.accounts = Accounts(desk)
        self.live = Live(desk)
        self.events = Events(desk)
        #: Who walks runs, or has them walked.
        self.walking = walking
        self.scheduler = Scheduler(desk, self.catalog, self.poke)
        self.alerts = Alerts(desk, read.place, self.catalog)

    def poke(self) -> None:
        """Something was asked for: whoever does it should look now."""
        if self.walking is not None:
            self.walking.poke()
        self.live.poke()

    @property
    def trouble(self) -> str | None:
        """Why no work can be carried to workers just now; "" if it can, None where none is."""
        if self.walking is None or isinstance(self.walking, Supervisor):
            return None
        return self.walking.trouble

    @property
    def secure(self) -> bool:
        """Whether browsers talk to us over TLS, as far as we know."""
        place = self.settings.place
        return place.tls_cert is not None or place.behind_proxy

    async def watch_files(self) -> None:
        """Look at the scrapers' files now and then: what was edited is what runs next."""
        while True:
            await asyncio.sleep(LOOK_AT_FILES)
            known = set(self.catalog.broken)
            if await asyncio.to_thread(self.catalog.refresh):
                for broken in self.catalog.broken:
                    if broken not in known:
                        log.warning("catalog.broken", why=f"a file cannot be used: {broken.told}")
                log.info("catalog.changed", scrapers=len(self.catalog.scrapers), broken=len(self.catalog.broken))
                await catalogs.tell(self.desk, self.catalog)
                self.scheduler.poke()


@asynccontextmanager
async def opened(
    flags: Mapping[str, Any], *, folder: Path | None = None, walk: bool = True, cluster: bool = False
) -> AsyncIterator[Service]:
    """A service with all its parts at work, but without a door.

    With `walk`, a runner is started beside it; in a `cluster`, workers walk, and it has work carried to them.
    """
    read = with_logs(settings.read(flags))
    place = read.place
    publish = _publisher(place) if cluster else None  # before anything is made: a file cannot be shared
    async with AsyncExitStack() as stack:
        desk = await stack.enter_async_context(opening.desk(place.store))
        told = {**flags, "store": place.store, "log_dir": place.log_dir}
        supervisor = (
            Supervisor({name: value for name, value in told.items() if value is not None}, desk)
            if walk and not cluster
            else None
        )
        dispatcher = await _dispatcher(stack, place, desk, publish) if publish is not None else None
        service = Service(read, desk, folder or Path.cwd(), supervisor or dispatcher)
        await stack.enter_async_context(service.accounts)
        await catalogs.tell(desk, service.catalog)
        telemetry.configure(
            place.log_level,
            place.log_format,
            folder=place.log_dir,
            hear=service.events.hear,
            secrets=redaction.secrets_of(read),
        )
        telemetry.catch_crashes()
        works: list[Callable[[], Coroutine[Any, Any, None]]] = [
            service.events.run,
            service.live.run,
            service.scheduler.run,
            service.alerts.run,
            service.watch_files,
        ]
        works += [each.run for each in (supervisor, dispatcher) if each is not None]
        tasks = [asyncio.create_task(_kept_up(work)) for work in works]
        try:
            yield service
        finally:
            if supervisor is not None:
                await supervisor.end(place.grace + 5)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            telemetry.close()


def _publisher(place: Place) -> Callable[[list[Ticket]], None]:
    """Who carries tickets. Raises ConfigError if there is no broker, or no store that workers can share."""
    from gossamer.cluster import offering

    return offering.publisher(place)


async def _dispatcher(
    stack: AsyncExitStack, place: Place, desk: Desk, publish: Callable[[list[Ticket]], None]
) -> Dispatcher:
    """Who has work carried to workers."""
    from gossamer.cluster.dispatcher import Dispatcher

    store = await stack.enter_async_context(opening.working(place.store))
    return Dispatcher(cast("Shared", store), desk, publish, place.lease)


async def _kept_up(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """One part that breaks is told of, takes no other down, and is tried again."""
    while True:
        try:
            await work()
            return
        except Exception as error:  # noqa: BLE001 - the others go on
            log.error("service.part_broke", part=work.__qualname__, exc_info=error)
        await asyncio.sleep(AGAIN)


def with_logs(read: Settings) -> Settings:
    """A service keeps its logs in files: beside its store, unless the settings say where."""
    import dataclasses

    if read.place.log_dir is not None:
        return read
    folder = opening.beside(read.place.store, ".logs")
    return dataclasses.replace(read, place=dataclasses.replace(read.place, log_dir=folder))


async def serve(flags: Mapping[str, Any], say: Callable[[str], None], *, cluster: bool = False) -> None:
    """Serve until a signal comes. `say` tells a person what to know. Raises ConfigError."""
    place = settings.read(flags).place
    _check_tls(place)
    os.umask(0o077)  # what the store and its logs hold is nobody else's business
    _have_files()
    with bound(place.listen) as door:
        async with opened(flags, cluster=cluster) as service:
            server = _server(service)
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, lambda: setattr(server, "should_exit", True))
            await _greet(service, door, say)
            await server.serve(sockets=[door])
            say("stopping: what is being walked is settled, and goes on at the next start")


def _check_tls(place: Place) -> None:
    """Raises ConfigError for a certificate that cannot be used."""
    if place.tls_cert is None and place.tls_key is None:
        return
    if place.tls_cert is None or place.tls_key is None:
        raise ConfigError("tls_cert and tls_key go together: give both")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(place.tls_cert, place.tls_key)
    except (OSError, ssl.SSLError) as why:
        told = getattr(why, "strerror", None) or str(why)
        raise ConfigError(f"{place.tls_cert} with {place.tls_key} cannot be served with: {told}") from None


def _have_files() -> None:
    """As many open files as the system allows: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _server(service: Service) -> uvicorn.Server:
    import uvicorn

    from gossamer.api.app import make_app
    from gossamer.api.hurry import Hurried
    from gossamer.dashboard.app import mount

    app = make_app(service)
    mount(app, service)
    place = service.settings.place
    config = uvicorn.Config(
        app,
        http=Hurried,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # who asks is found out by api.security, which trusts only the last hop
        ssl_certfile=place.tls_cert,
        ssl_keyfile=place.tls_key,
        timeout_graceful_shutdown=LAST_ANSWERS,
        timeout_keep_alive=30,
        ws_max_size=4 << 20,
        lifespan="on",
    )

    class Server(uvicorn.Server):
        """Signals are ours: uvicorn would raise them again when all is done."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return Server(config)


@contextlib.contextmanager
def bound(listen: str) -> Iterator[socket.socket]:
    """The socket that is listened on. Raises ConfigError if it cannot be had."""
    host, _, port = listen.rpartition(":")
    name = host.strip("[]")
    try:
        family, _, _, _, address = socket.getaddrinfo(name, int(port), type=socket.SOCK_STREAM)[0]
        # Named as TCP: else asyncio does not switch Nagle's algorithm off.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except OSError as why:
        raise ConfigError(f"{listen} cannot be listened on: {why.strerror or why}; give another --listen") from None
    with made:
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(1024)
            made.setblocking(False)
        except OSError as why:
            told = why.strerror or str(why)
            raise ConfigError(f"{listen} cannot be listened on ({told}): give another --listen") from None
        yield made


async def _greet(service: Service, door: socket.socket, say: Callable[[str], None]) -> None:
    """What a person wants to know when it starts: where it is, how to get in, what it found."""
    from gossamer.api import security

    place = service.settings.place
    host, port = place.listen.rpartition(":")[0], door.getsockname()[1]
    scheme = "https" if place.tls_cert else "http"
    names = ", ".join(list(service.catalog.scrapers)[:5]) + (" ..." if len(service.catalog.scrapers) > 5 else "")
    count = len(service.catalog.scrapers)
    found = f"{count} scraper{'' if count == 1 else 's'}: {names}" if count else "no scrapers yet"
    token = await service.accounts.first_token(ITSELF)  # before the address: who is told it may come at once
    say(f"Gossamer serves {opening.shown(place.store)} at {scheme}://{host}:{port}  ({found})")
    if service.trouble is not None:
        living = await lists.living(service.desk)
        told = f"{len(living):,} of them live" if living else "none lives yet: start some with `gossamer worker`"
        say(f"  runs are walked by workers, who hear of them through {opening.shown(place.broker or '')}; {told}")
    for broken in service.catalog.broken:
        say(f"  cannot be used: {broken.told}")
    if not count:
        say('  put a scraper file in this folder, list some in gossamer.toml (scrapers = ["quotes.py"]), or try --demo')
    gossamer, store = terminal.program(), terminal.store_option(place.store)
    if token is not None:
        say(f"\n  Your admin token, shown once:  {token}\n")
        say("  Log in to the dashboard with it, or send it as `Authorization: Bearer ...`.")
        say(f"    {gossamer} user create NAME{store}     makes people who log in with a password")
        say(f"    {gossamer} token create NAME{store}    makes more tokens\n")
    if not security.on_loopback(place) and not service.secure:
        say(
            "  Warning: everybody who reaches this address can read what is sent, tokens too. Set tls_cert and tls_key,"
            "\n  or put a proxy with TLS in front and set behind_proxy = true."
        )
