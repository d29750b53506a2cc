"""Alerts: what happens in a store that people should hear of, kept as rows and brought to whoever is to be told.

`Alerts` looks at what the store knows of each scraper, raises what is new (once, whoever else looks), and sends it by
webhook and by mail. `listed`, `acknowledge` and `test` are for the doors.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

import msgspec

from gossamer import couriers, explain, redaction, settings, trail, watching
from gossamer.catalog import Catalog
from gossamer.couriers import Courier, Waits
from gossamer.errors import ConfigError, GossamerError, NotFound, Undelivered
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.client import Client
from gossamer.lists import causes
from gossamer.mail import Mail, MailServer
from gossamer.messages import Message, Receiver
from gossamer.settings import Place
from gossamer.storage.desk import Desk, Writing
from gossamer.telemetry import log
from gossamer.trail import Asker
from gossamer.watching import Ended, Standing
from gossamer.webhooks import Webhook

#: Seconds between two looks at the store, and between two rounds of a courier.
TICK = 2.0
#: The newest runs of a scraper that are looked at when something changed there.
WINDOW = 50
#: Causes of a failure that are told, and requests of its run that are looked at for the latest error.
CAUSES = 3
NEWEST = 5_000
#: Keys asked for at once.
CHUNK = 200
#: Seconds between two looks for messages that nobody will fetch any more.
TIDY = 3600.0
#: Rows that a list gives at most.
MOST_LISTED = 500
#: The key of the row that says since when the store is watched. It is listed like an alert, and sent to nobody.
SINCE = "start"

_SCRAPERS = """
select name, enabled, runs, last_run, last_ended, last_new, streak, breaker, open_until from scraper
"""
_RUN = """
select run.id, state, reason, verdict, ended, pages, items, failed, profile.alarm
from run left join profile on profile.run_id = run.id
"""
_WINDOW = f"{_RUN} where run.scraper = :scraper order by run.id desc limit :limit"
_LAST = f"{_RUN} where run.id = :run"
_UNDER_WAY = """
select started from (select state, started from run where scraper = :scraper order by id desc limit 10) as newest
where state = 'running' and started is not null
"""
_NEWEST_KEY = """
select key from alert where key{bytewise} >= :first and key{bytewise} < :last order by key{bytewise} desc limit 1
"""
_BEGIN = """
insert into alert (key, kind, at, title, seen)
values (:key, 'start', :now, 'Alerts are on: what happens from now on is told here', :now)
on conflict (key) do nothing
"""
_BEGAN = "select at from alert where key = :key"
_RAISE = """
insert into alert (key, kind, scraper, run_id, at, title, body)
values (:key, :kind, :scraper, :run, :at, :title, :body) on conflict (key) do nothing returning id
"""
_KNOWN = "select key from alert where key in ({keys})"
_REASONS = "select reason, n from run_reason where run_id = :run order by n desc, reason limit 20"
# The one with the most to say of those that failed, among so many requests of the run.
_LATEST = """
select detail, url from (
    select id, state, reason, coalesce(nullif(detail, ''), reason) as detail, detail as said, url
    from request where run_id = :run order by id {order} limit :limit
) as newest
where state = 3 order by coalesce(said, '') = '', id desc limit 1
"""
_DISPATCH = "insert into dispatch (alert_id, target, next_at) values (:alert, :target, :now) on conflict do nothing"


class Alerts:
    """Watches a store and tells receivers. Any number of them may watch one store, with the same settings."""

    def __init__(
        self,
        desk: Desk,
        place: Place,
        catalog: Catalog | None = None,
        *,
        addresses: Addresses | None = None,
        tick: float = TICK,
        waits: Waits | None = None,
    ) -> None:
        """`catalog` says which scrapers are not to be silent for long. Raises ConfigError for a receiver that is none.

        `addresses`, `tick` and `waits` are as they are told here only in tests.
        """
        self._desk = desk
        self._catalog = catalog
        self._tick = tick
        self._client = Client()
        self.receivers = receivers(place, self._client, addresses or Addresses())
        self._couriers = [Courier(desk, each, waits or Waits()) for each in self.receivers]
        self._since: float | None = None
        #: Scraper -> what it was like when it was last looked at: what did not change is not looked at again.
        self._known: dict[str, Standing] = {}
        #: Scraper -> the key of its silence that was told of.
        self._silent: dict[str, str] = {}
        self._tidied = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Watch and tell until cancelled. A receiver that is slow, or away, keeps no other one waiting."""
        async with self._client, asyncio.TaskGroup() as group:
            group.create_task(self._keep(self._watch), name="alerts")
            for courier in self._couriers:
                group.create_task(self._keep(courier.go), name=f"courier to {courier.receiver.target}")

    async def _keep(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do something for ever: a store that is busy, or a mistake of ours, is said and outlived."""
        while True:
            try:
                await work()
            except GossamerError as error:
                log.warning("alerts.trouble", why=str(error))
            except Exception as error:  # noqa: BLE001 - nobody would hear of anything any more
                log.error("alerts.trouble", why=f"{type(error).__name__} at {_where(error)}")
            await asyncio.sleep(self._tick)

    async def _watch(self) -> None:
        await self.look()
        if time.monotonic() - self._tidied > TIDY:
            await couriers.give_up_orphans(self._desk, {each.target for each in self.receivers})
            self._tidied = time.monotonic()

    async def test(self) -> list[Told]:
        """Send a test to every receiver, now and once; what came of it, in their order."""
        return await _test(self.receivers)

    async def deliver(self) -> int:
        """Bring all receivers what is due, once; returns how many messages were taken. Raises StoreError."""
        return sum(await asyncio.gather(*[courier.go() for courier in self._couriers]))

    # -- looking -------------------------------------------------------------------------------------------------

    async def look(self) -> int:
        """Raise what is new since the last look, by whomever; returns how many alerts that were. Raises StoreError."""
        since = await self._began()
        now = time.time()
        found: list[Message] = []
        silent: dict[str, str] = {}
        standings = [Standing(*row) for row in await self._desk.rows(_SCRAPERS)]
        for standing in standings:
            if self._known.get(standing.name) != standing:
                found += watching.of_runs(standing, await self._window(standing), since=since, now=now)
                found += await self._pauses(standing, now)
            if quiet := await self._silence(standing, since, now):
                silent[standing.name] = quiet.key
                found.append(quiet)
        raised = await self._raise(sorted(found, key=lambda each: each.at))
        self._known = {standing.name: standing for standing in standings}
        self._silent |= silent
        return raised

    async def _began(self) -> float:
        """Since when the store is watched, by whoever was first: what ended before is no news."""
        if self._since is None:
            if await self._desk.row(_BEGAN, key=SINCE) is None:
                async with self._desk.writing() as writing:
                    await writing.run(_BEGIN, key=SINCE, now=time.time())
            row = await self._desk.row(_BEGAN, key=SINCE)
            assert row is not None
            self._since = float(row[0])
        return self._since

    async def _window(self, standing: Standing) -> list[Ended]:
        rows = {row[0]: row for row in await self._desk.rows(_WINDOW, scraper=standing.name, limit=WINDOW)}
        if standing.last_run is not None and standing.last_run not in rows:  # an old one that was resumed
            rows |= {row[0]: row for row in await self._desk.rows(_LAST, run=standing.last_run)}
        return [Ended(*row) for row in rows.values() if row[4] is not None]

    async def _pauses(self, standing: Standing, now: float) -> list[Message]:
        first, last = watching.pauses(standing)
        newest = await self._desk.row(_NEWEST_KEY.format(bytewise=self._desk.dialect.bytewise), first=first, last=last)
        found = watching.breaker(standing, newest[0] if newest else None, now=now)
        return [found] if found else []

    async def _silence(self, standing: Standing, since: float, now: float) -> Message | None:
        longest = self._longest_silence(standing.name)
        found = watching.silence(standing, longest, since=since, now=now) if longest and standing.enabled else None
        if found is None or self._silent.get(standing.name) == found.key:
            return None
        # A run that has just begun may be about to end it.
        rows = await self._desk.rows(_UNDER_WAY, scraper=standing.name)
        return None if any(started > now - longest for (started,) in rows) else found

    def _longest_silence(self, name: str) -> float:
        """Seconds that a scraper may bring nothing new; 0: as long as it likes."""
        found = self._catalog.get(name) if self._catalog is not None else None
        text = getattr(found.scraper, "silence", None) if found is not None else None
        with suppress(ValueError):
            return settings.duration(text) if text else 0.0
        return 0.0

    async def _raise(self, found: Sequence[Message]) -> int:
        """Keep what is not known yet, each with what is to be dispatched, in one transaction."""
        known: set[str] = set()
        for first in range(0, len(found), CHUNK):
            names = {f"k{n}": each.key for n, each in enumerate(found[first : first + CHUNK])}
            rows = await self._desk.rows(_KNOWN.format(keys=_names(names)), **names)
            known |= {key for (key,) in rows}
        fresh = [await self._with_causes(each) for each in found if each.key not in known]
        raised = 0
        if fresh:
            async with self._desk.writing() as writing:
                for message in fresh:
                    raised += await self._keep_one(writing, message)
        return raised

    async def _with_causes(self, message: Message) -> Message:
        """A failure with what the store knows of its causes; anything else as it is. Raises StoreError."""
        if message.kind != "failure" or message.run is None:
            return message
        rows = await self._desk.rows(_REASONS, run=message.run)
        found = [(_meaning(reason), n) for reason, n in rows if reason not in explain.NO_FAILURES]
        latest = None
        for order in ("desc", "asc"):  # the newest requests of a large run may all be waiting
            latest = latest or await self._desk.row(_LATEST.format(order=order), run=message.run, limit=NEWEST)
        example = (redaction.text(latest[0]), redaction.text(latest[1])) if latest else None
        return watching.because(message, found[:CAUSES], example)

    async def _keep_one(self, writing: Writing, message: Message) -> bool:
        row = await writing.row(_RAISE, **{name: getattr(message, name) for name in message.__struct_fields__})
        if row is None:  # somebody else saw it a moment ago
            return False
        for receiver in self.receivers:
            await writing.run(_DISPATCH, alert=row[0], target=receiver.target, now=time.time())
        log.info("alert.raised", alert=row[0], kind=message.kind, scraper=message.scraper, run=message.run)
        return True


def _meaning(reason: str) -> str:
    """A reason in words, with the word that `gossamer why` and filters have for it."""
    meaning = causes.told(reason)[0]
    return meaning if meaning == reason else f"{meaning} ({reason})"


def _names(names: Iterable[str]) -> str:
    """Names of values, as a statement has them in a list."""
    return ", ".join(f":{name}" for name in names)


def _where(error: Exception) -> str:
    """The line that an error came from: its text may hold a secret."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "?"


# -- receivers ---------------------------------------------------------------------------------------------------


def receivers(place: Place, client: Client, addresses: Addresses) -> list[Receiver]:
    """Everybody who is to be told, as the settings say. Raises ConfigError."""
    found: dict[str, Receiver] = {}
    for url in place.alert_webhooks:
        hook = Webhook(url, client, addresses)
        found[hook.target] = hook
    if place.alert_mail:
        if place.smtp is None:
            raise ConfigError("alert_mail is set, and smtp is not: name a mail server, like smtp://mail.example.org")
        server = MailServer.of(place.smtp)
        found |= {each.target: each for each in (Mail(to, server, place.mail_from) for to in place.alert_mail)}
    return list(found.values())


class Told(msgspec.Struct, frozen=True):
    """What came of telling one receiver."""

    target: str
    ok: bool
    seconds: float
    #: Why not, in a sentence.
    why: str = ""


async def test(place: Place) -> list[Told]:
    """Send a test to every receiver of the settings, without a store. Raises ConfigError if there is none."""
    async with Client() as client:
        found = receivers(place, client, Addresses())
        if not found:
            raise ConfigError("nobody is to be told: set alert_webhooks, or smtp and alert_mail, in gossamer.toml")
        return await _test(found)


async def _test(found: Sequence[Receiver]) -> list[Told]:
    now = time.time()
    body = "If you can read this, alerts of Gossamer reach you."
    message = Message(f"test:{now!r}", "test", "This is a test", body, now)

    async def tell(receiver: Receiver) -> Told:
        began, why = time.monotonic(), ""
        try:
            await receiver.tell(message)
        except Undelivered as error:
            why = str(error)
        return Told(receiver.target, not why, round(time.monotonic() - began, 3), why)

    return list(await asyncio.gather(*[tell(receiver) for receiver in found]))


# -- lists -------------------------------------------------------------------------------------------------------


class Dispatch(msgspec.Struct, frozen=True):
    """An alert on its way to one receiver."""

    target: str
    #: "waiting", "sent" or "failed".
    state: str
    attempts: int
    #: When it is tried next, or was sent or given up.
    at: float
    #: Why it is not there yet.
    error: str


class Alert(msgspec.Struct, frozen=True):
    """An alert as it is listed."""

    id: int
    kind: str
    scraper: str
    run: int | None
    at: float
    title: str
    body: str
    #: When somebody acknowledged it.
    seen: float | None
    dispatches: list[Dispatch] = []


_LISTED = """
select id, kind, scraper, run_id, at, title, body, seen from alert
where id < :before {unseen} order by id desc limit :limit
"""
_DISPATCHES = """
select alert_id, target, state, attempts, next_at, error from dispatch
where alert_id in ({ids}) order by alert_id, target
"""
_SEE = "update alert set seen = :now where id = :id and seen is null"
_SEE_ALL = "update alert set seen = :now where seen is null"


async def listed(desk: Desk, *, before: int | None = None, limit: int = 50, unseen_only: bool = False) -> list[Alert]:
    """Alerts, newest first, with what became of each at each receiver. `before` is the id of the last one of a page."""
    last = 2**63 - 1 if before is None else before
    statement = _LISTED.format(unseen="and seen is null" if unseen_only else "")
    rows = await desk.rows(statement, before=last, limit=max(1, min(limit, MOST_LISTED)))
    if not rows:
        return []
    names = {f"i{n}": row[0] for n, row in enumerate(rows)}
    parts: dict[int, list[Dispatch]] = {row[0]: [] for row in rows}
    for alert, *rest in await desk.rows(_DISPATCHES.format(ids=_names(names)), **names):
        parts[alert].append(Dispatch(*rest))
    return [Alert(*(*row, parts[row[0]])) for row in rows]


async def acknowledge(desk: Desk, alert: int | None, *, by: Asker) -> int:
    """Say that an alert was seen (None: all of them); returns how many were not before. Raises NotFound."""
    if alert is not None and await desk.row("select 1 from alert where id = :id", id=alert) is None:
        raise NotFound(f"there is no alert {alert}: `gossamer alerts list` lists them")
    async with desk.writing() as writing:
        now = time.time()
        seen = await (writing.run(_SEE_ALL, now=now) if alert is None else writing.run(_SEE, id=alert, now=now))
        if seen:
            await trail.note(writing, by, "alert.acknowledge", "all" if alert is None else alert)
    return seen
