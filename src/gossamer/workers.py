"""The Celery app: it carries tickets to workers, and each worker hands them to its station.

    celery -A gossamer.workers worker --pool=gevent --concurrency=50
    celery -A gossamer.workers beat

A ticket says "run 12, shard 345 has something to walk". It is only a hint: what there is to do stands in the store, so
a broker that loses all its messages loses no work. The configuration is read from Gossamer's settings when Celery first
asks for it; importing this module does nothing.
"""

from __future__ import annotations

import functools
import logging
import math
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import click
import msgspec
from celery import Celery, signals
from celery.apps.worker import Worker
from celery.beat import Scheduler
from celery.exceptions import SecurityWarning
from celery.worker import state
from celery.worker.consumer import Consumer
from redis.exceptions import DataError

from gossamer import redaction, settings, telemetry
from gossamer.cluster.bridge import AWAY, ENDED, NO_ROOM, Bridge, Ticket
from gossamer.errors import ConfigError, StoreAway, StoreError
from gossamer.settings import IN_FILE, PREFIX, Place, Settings
from gossamer.storage.naming import passwords, shown
from gossamer.values import CONDUCTOR

#: Where tickets wait, and where the questions of beat do.
QUEUE, BEAT = "gossamer", "gossamer.beat"
WALK, RECONCILE, TICK = "gossamer.walk", "gossamer.reconcile", "gossamer.tick"
#: Shards that a worker walks at the same time, unless it is told otherwise.
CONCURRENCY = 16
#: Priorities that brokers know: 0 to this.
HIGHEST = 9
#: Seconds between two questions of beat, after which one is out of date, and how many may wait for want of a worker.
BEAT_EVERY, BEAT_EXPIRES, BEAT_MOST = 1.0, 10.0, 10
#: Seconds before a ticket that a station has no room for is given to somebody else.
LATER = 0.2
#: `timeout` and other wrappers send a signal twice, at once; no person presses Ctrl-C that fast.
ECHO = 0.1
#: Seconds after which a worker that was told to end is ended, beyond the grace of its walks; and one told so twice.
LAST, AT_ONCE = 30, 3
#: Seconds a broker has to accept a connection.
CONNECT = 5.0
#: How a station is started; its last argument says what worker it belongs to.
STATION = (sys.executable, "-m", "gossamer.cluster.station_process")

_REDIS = ("redis", "rediss")
_SCHEMES = (*_REDIS, "amqp", "amqps")
#: What drivers raise where trying again does not help: wrong users, passwords, virtual hosts and databases.
_SHUT = frozenset({"AccessRefused", "NotAllowed", "AuthenticationError", "AuthorizationError", "ResponseError"})
_HINT = 'write broker = "redis://127.0.0.1:6379/0" in gossamer.toml, or set GOSSAMER_BROKER'


# -- the broker ------------------------------------------------------------------------------------------------


def broker_of(place: Place) -> str:
    """The URL of the broker. Raises ConfigError if there is none, or none that is known."""
    if place.broker is None:
        raise ConfigError(f"there is no broker to carry work to workers: {_HINT}")
    scheme, _, rest = place.broker.partition("://")
    if scheme.lower() not in _SCHEMES or not rest:
        raise ConfigError(f"the broker is none of {', '.join(f'{each}://' for each in _SCHEMES)}: {_HINT}")
    database = rest.partition("?")[0].partition("/")[2]
    if scheme.lower() in _REDIS and database and not (database.isascii() and database.isdigit()):
        raise ConfigError(f"a database of Redis is a number, and that of the broker is none: {_HINT}")
    return place.broker


def is_redis(broker: str) -> bool:
    """Whether a broker is a Redis."""
    return broker.partition("://")[0].lower() in _REDIS


def level(priority: int, broker: str) -> int:
    """A run's priority (-9 to 9) as the broker counts: Redis delivers 0 first, RabbitMQ 9."""
    steps = (min(9, max(-9, priority)) + 9) // 2
    return HIGHEST - steps if is_redis(broker) else steps


def configuration(place: Place) -> dict[str, Any]:
    """What Celery is told. Raises ConfigError if there is no broker."""
    broker = broker_of(place)
    redis = is_redis(broker)
    return {
        "broker_url": broker,
        "broker_connection_retry": True,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_connection_timeout": CONNECT,
        "broker_transport_options": _redis_options(place) if redis else {"confirm_publish": True},
        # Tickets are hints, so Redis forgets one as soon as a worker has it: one it held on to would have to be given
        # back when a connection breaks, which can end a worker. RabbitMQ gives its own back by itself, and waits with
        # the next one until a slot is free.
        "task_acks_late": not redis,
        "worker_disable_prefetch": redis,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": redis,  # with early acks it cancels nothing
        "worker_enable_prefetch_count_reduction": False,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "result_backend": None,
        "task_serializer": "json",
        "result_serializer": "json",
        "event_serializer": "json",
        "accept_content": ["json"],
        "task_publish_retry": True,
        "task_publish_retry_policy": {"max_retries": 2, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5},
        "task_default_queue": QUEUE,
        "task_queues": _queues(),
        "task_routes": {RECONCILE: {"queue": BEAT}, TICK: {"queue": BEAT}},
        "task_create_missing_queues": True,
        "worker_pool": "threads",
        "worker_concurrency": CONCURRENCY,
        "worker_consumer": "gossamer.workers:Listener",
        "worker_send_task_events": True,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "beat_scheduler": "gossamer.workers:Ticker",
        "beat_max_loop_interval": BEAT_EVERY,
        "beat_schedule": {name: _every_second(name, broker) for name in (RECONCILE, TICK)},
        "enable_utc": True,
        "timezone": "UTC",
    }


def _redis_options(place: Place) -> dict[str, Any]:
    return {
        "visibility_timeout": max(60, int(2 * place.lease)),
        "priority_steps": list(range(HIGHEST + 1)),
        "sep": ":",
        "queue_order_strategy": "priority",
        "socket_connect_timeout": CONNECT,
        "socket_keepalive": True,
        "health_check_interval": 10,
    }


def _queues() -> dict[str, Any]:
    shape = {"exchange_type": "direct", "queue_arguments": {"x-max-priority": HIGHEST}}
    return {name: {"exchange": name, "routing_key": name, **shape} for name in (BEAT, QUEUE)}


def _every_second(name: str, broker: str) -> dict[str, Any]:
    options = {"queue": BEAT, "expires": BEAT_EXPIRES, "priority": level(9, broker)}
    return {"task": name, "schedule": BEAT_EVERY, "options": options}


class Unusable(ConfigError, click.ClickException):
    """What has to be set right before `celery -A gossamer.workers` can work: one sentence there, too."""


@functools.cache
def read() -> Settings:
    """The settings of this process. Raises Unusable."""
    try:
        return settings.read()
    except ConfigError as why:
        raise Unusable(str(why)) from None


def _configured() -> dict[str, Any]:
    try:
        told = configuration(read().place)
    except ConfigError as why:
        raise Unusable(str(why)) from None
    # Celery takes `--pool=prefork` for nothing said, and what is configured instead.
    if "--pool=prefork" in sys.argv or ("prefork" in sys.argv and {"-P", "--pool"} & set(sys.argv)):
        told["worker_pool"] = "prefork"
    return told


app: Any = Celery("gossamer", set_as_current=False, fixups=[])
app.add_defaults(_configured)


# -- publishing ------------------------------------------------------------------------------------------------


class Publisher:
    """Gives tickets to the broker. Blocks: on a loop, call it in a thread. Any thread may."""

    def __init__(self, celery: Any, broker: str) -> None:
        self._celery = celery
        self._broker = broker

    def __call__(self, tickets: Iterable[Ticket]) -> None:
        """Publish tickets. Raises StoreError if the broker does not take them; they are only hints, none is lost."""
        self._try(lambda: self._publish(tickets))

    def again(self, run: int, shard: int, rank: int | None) -> None:
        """Publish a ticket as it came: `rank` is what the broker called its priority."""
        self._try(lambda: self._celery.send_task(WALK, (run, shard), queue=QUEUE, priority=rank))

    def depth(self) -> int:
        """Tickets that wait for a worker. Raises StoreError if the broker does not answer."""
        found: list[int] = []
        self._try(lambda: found.append(self._depth()))
        return found[0]

    def close(self) -> None:
        """Let go of it. Connections stay with this process: whoever talks to the same broker shares them."""
        self._celery.close()

    def _publish(self, tickets: Iterable[Ticket]) -> None:
        with self._celery.producer_or_acquire() as producer:
            for run, shard, priority in tickets:
                rank = level(priority, self._broker)
                self._celery.send_task(WALK, (run, shard), queue=QUEUE, priority=rank, producer=producer)

    def _depth(self) -> int:
        with self._celery.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0.2)
            return waiting(connection, QUEUE)

    def _try(self, work: Callable[[], object]) -> None:
        try:
            work()
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - drivers raise what they like
            told = redaction.text(str(error) or type(error).__name__, 200).splitlines()[0]
            if any(type(each).__name__ in _SHUT for each in (error, error.__cause__, error.__context__)):
                raise StoreError(
                    f"the broker {shown(self._broker)} does not let us in ({told}): check the user, the password and "
                    "the last part of its URL; no work is lost, it is offered again"
                ) from None
            raise StoreAway(
                f"the broker {shown(self._broker)} does not answer ({told}): see whether it runs; "
                "no work is lost, it is offered again"
            ) from None


def publisher(place: Place | None = None) -> Publisher:
    """Who gives tickets to the broker of these settings. Raises ConfigError if there is none.

    Nothing is connected before the first ticket.
    """
    place = place or read().place
    made = Celery("gossamer", set_as_current=False, fixups=[])
    made.add_defaults(configuration(place))
    redaction.shared.learn(passwords(broker_of(place)), lasting=True)
    return Publisher(made, broker_of(place))


def waiting(connection: Any, queue: str) -> int:
    """Messages that wait in a queue; none if there is no such queue."""
    with connection.channel() as channel:
        try:
            return int(channel.queue_declare(queue, passive=True).message_count)
        except connection.channel_errors:
            return 0


# -- the station of this process -------------------------------------------------------------------------------


class _Process:
    """What this process knows as a worker. A pool of processes has one of these in each."""

    def __init__(self) -> None:
        self.bridge: Bridge | None = None
        self.pid = 0
        #: What the station is told about its worker.
        self.worker: dict[str, Any] = {"name": "", "pool": "threads", "concurrency": CONCURRENCY}
        #: Who shows a person what the station says; and who ends the worker if it cannot live.
        self.note: Callable[[str], None] | None = None
        self.lost: Callable[[], None] | None = None

    def station(self) -> Bridge:
        """The bridge to the station of this process, started if it was not."""
        if self.bridge is None or self.pid != os.getpid():
            place = read().place
            self.pid = os.getpid()
            self.bridge = Bridge(
                [*STATION, msgspec.json.encode(self.worker).decode()],
                Publisher(app, broker_of(place)),
                environ=_told(place),
                grace=place.grace + 5,
                note=self.note,
                lost=self.lost,
            )
        self.bridge.start()
        return self.bridge

    def known(self) -> Bridge | None:
        """The same, if there is one."""
        return self.bridge if self.pid == os.getpid() else None


def _told(place: Place) -> dict[str, str | None]:
    """The URLs as the station's environment has them: not from a file as well, which would be one too many."""
    told: dict[str, str | None] = {}
    for name, url in (("store", place.store), ("broker", broker_of(place))):
        told |= {PREFIX + (name + IN_FILE).upper(): None, PREFIX + name.upper(): url}
    return told


_process = _Process()


def _set_up(sender: Any = None, instance: Any = None, **_: Any) -> None:
    """The worker knows what it is."""
    pool = instance.pool_cls.__module__.rpartition(".")[2]
    pool = {"thread": "threads"}.get(pool, pool)
    _process.worker = {
        "name": instance.hostname,
        "pool": pool,
        "concurrency": 1 if pool in ("prefork", "solo") else instance.concurrency,
    }


def _begun(sender: Any = None, **_: Any) -> None:
    """The worker takes tickets: so shall its station. In a pool of processes each of them has its own."""
    if _process.worker["pool"] != "prefork":
        _process.station()


def _process_begun(**_: Any) -> None:
    if _process.worker["pool"] == "prefork":
        _process.station()


def _ending(sender: Any = None, how: str = "Warm", **_: Any) -> None:
    """Told to end, in a signal handler: the station settles while Celery waits for its tasks."""
    bridge = _process.known()
    if bridge is not None and how == "Warm":
        bridge.hang_up()
    elif bridge is not None:
        bridge.kill()


def _ended(**_: Any) -> None:
    bridge = _process.known()
    if bridge is not None:
        bridge.close()


def _log_as_gossamer(loglevel: int | None = None, **_: Any) -> None:
    """Celery's log goes where Gossamer's does, without secrets. `celery ... -l info` shows more of it."""
    told = read()
    place = told.place
    number = min(telemetry.LEVELS[place.log_level], max(loglevel or logging.WARNING, logging.DEBUG))
    level = next(name for name, least in telemetry.LEVELS.items() if number <= least)
    secrets = [*redaction.secrets_of(told), *passwords(place.store), *passwords(place.broker or "")]
    telemetry.configure(level, place.log_format, folder=place.log_dir, secrets=secrets)
    if number < logging.WARNING:
        logging.getLogger("celery").setLevel(number)
        for handler in logging.getLogger().handlers:
            handler.setLevel(min(handler.level, number))


signals.celeryd_after_setup.connect(_set_up)
signals.worker_ready.connect(_begun)
signals.worker_process_init.connect(_process_begun)
signals.worker_shutting_down.connect(_ending)
signals.worker_shutdown.connect(_ended)
signals.worker_process_shutdown.connect(_ended)
signals.setup_logging.connect(_log_as_gossamer)


# -- tasks -----------------------------------------------------------------------------------------------------


def _walk(task: Any, run: int, shard: int) -> str:
    """Have the station walk a shard of a run, until it is done with it or others are to have a turn."""
    if not (0 < run < 1 << 63 and CONDUCTOR <= shard < 1 << 31):
        return "none"
    station = _process.station()
    why = station.walk(run, shard)
    if why in (NO_ROOM, AWAY, ENDED):
        if why != AWAY and not station.ending:  # the station may end without its worker, to be started anew
            time.sleep(LATER)
        rank = (task.request.delivery_info or {}).get("priority")
        with suppress(StoreError):  # then it is issued again, later
            Publisher(app, broker_of(read().place)).again(run, shard, rank)
    return why


def _reconcile() -> bool:
    """Have the station look for shards that nobody walks."""
    return _process.station().ask("reconcile")


def _tick() -> bool:
    """Have the station start the runs that are due."""
    return _process.station().ask("tick")


@app.on_after_finalize.connect  # type: ignore[untyped-decorator]
def _offer(sender: Any, **_: Any) -> None:
    """Celery knows its settings: so can the tasks. Made before, whoever looks at them asks for the settings."""
    sender.task(bind=True, name=WALK)(_walk)
    sender.task(name=RECONCILE)(_reconcile)
    sender.task(name=TICK)(_tick)


class Listener(Consumer):  # type: ignore[misc]
    """Outlives a message that is none: Redis gives out whatever somebody put into a queue, and it fits no envelope."""

    UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, DataError)
    connection_errors: tuple[type[Exception], ...]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # As after a lost connection, it is listened to anew. What could not be read is gone by then.
        self.connection_errors = (*self.connection_errors, *self.UNREADABLE)

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Nothing was read yet: then it is the broker's URL, or a defect, and trying again does not help."""
        if isinstance(exc, self.UNREADABLE):
            raise exc
        super().on_connection_error_before_connected(exc)


class Ticker(Scheduler):  # type: ignore[misc]
    """The schedule of beat: in memory, and silent while nobody takes what it sends, so that it does not pile up."""

    def apply_async(self, entry: Any, producer: Any = None, advance: bool = True, **options: Any) -> Any:
        """Send one, unless enough of them wait."""
        with suppress(Exception):  # sending has its own way to say that the broker is away
            if waiting(self.connection, BEAT) >= BEAT_MOST:
                return self.reserve(entry) if advance else None
        return super().apply_async(entry, producer=producer, advance=advance, **options)


# -- gossamer worker -------------------------------------------------------------------------------------------


class _Program(Worker):  # type: ignore[misc]
    """Celery's worker as `gossamer worker` runs it: signals end it in good order, and twice at once."""

    say: Callable[[str], None]
    #: When it was told first, and whether it was told twice.
    told = 0.0
    cold = False

    def install_platform_tweaks(self, worker: Any) -> None:
        """Signals are ours."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)

    def _stop(self, number: int, frame: Any) -> None:
        """Told to end. However a connection to a broker hangs, it ends: the alarm needs nobody who listens."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        if state.should_stop is None:
            signal.alarm(math.ceil(read().place.grace) + LAST)
            self.say("gossamer: settling what is being walked ... (again: stop at once)")
            signals.worker_shutting_down.send(sender=self.hostname, sig=number, how="Warm", exitcode=0)
            state.should_stop = 0
            self.told = time.monotonic()
        elif time.monotonic() - self.told > ECHO:
            self.say("gossamer: stopped at once: others take over when the leases have run out")
            signals.worker_shutting_down.send(sender=self.hostname, sig=number, how="Cold", exitcode=1)
            self.cold = True
            state.should_terminate = 1
            signal.alarm(AT_ONCE)


def work(options: Mapping[str, Any], say: Callable[[str], None]) -> int:
    """Be a worker until a signal comes; returns the exit code. `say` tells a person something."""

    def lost() -> None:
        say("gossamer: the station cannot be kept alive: the lines above say why")
        signals.worker_shutting_down.send(sender="gossamer", sig=0, how="Warm", exitcode=1)
        state.should_stop = 1

    _process.note, _process.lost = say, lost
    warnings.filterwarnings("ignore", category=SecurityWarning)  # it advises options that we do not have
    program = _Program(app=app, quiet=True, without_gossip=True, without_mingle=True, loglevel="WARNING", **options)
    program.say = say
    program.start()
    signal.alarm(0)
    if not program.cold:
        say("gossamer: this worker has stopped; what it walked is settled and given back")
    return int(program.exitcode or program.cold)
