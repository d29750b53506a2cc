"""`/cluster`: the workers that share a store, what each holds and how it is, and the runs they are at."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from gossamer import lists
from gossamer.dashboard import deeds, words
from gossamer.dashboard.parts import Cell, Column, Row, Sheet, Table, Text, at, badge, box, card, empty, note, stats
from gossamer.dashboard.shell import Here, page
from gossamer.lists import Cluster, ClusterRun, ClusterWorker, LeaseRow

#: Seconds between two looks.
EVERY = 2.0
#: Leases on one page.
ROWS = 50
WORKERS = (
    Column("Worker"),
    Column("State"),
    Column("Heard"),
    Column("Shards", "right"),
    Column("Room", "right"),
    Column("CPU", "right"),
    Column("Memory", "right"),
    Column("Late", "right", minor=True),
    Column("Pages", "right"),
    Column("Now", "right"),
    Column("Why", form="text", minor=True),
    Column("Since", minor=True),
)
RUNS = (
    Column("Run"),
    Column("Scraper"),
    Column("State"),
    Column("Priority", "right", minor=True),
    Column("Workers", "right"),
    Column("Waiting", "right"),
    Column("Tickets", "right", minor=True),
    Column("Pages", "right"),
    Column("Now", "right"),
    Column("Shards", form="text"),
)
LEASES = (
    Column("Run"),
    Column("Shard", "right"),
    Column("State"),
    Column("Worker"),
    Column("Since", minor=True),
    Column("Ends in", "right"),
    Column("Crashes", "right", minor=True),
)
#: Leases that are of no hosts.
PARTS = {-1: "whole run", -2: "conductor"}
_TONES = {"leased": "good", "expired": "bad", "ticket": "info", "pausing": "warn", "cancelling": "warn"}


def worker_row(worker: ClusterWorker) -> Row:
    """A worker as a row."""
    room = words.number(worker.room)
    told = ", ".join(filter(None, (worker.kind, worker.pool, worker.version and f"version {worker.version}")))
    tip = f"{worker.name}: {told}, process {worker.pid}" + (f", tickets from {worker.broker}" if worker.broker else "")
    return Row(
        worker.name,
        (
            Cell(words.cut(_named(worker), 60), tip=words.cut(tip, 400)),
            Cell("alive", tone="good") if worker.alive else Cell("silent", tone="dim"),
            at(worker.at),
            words.number(worker.leases),
            room if worker.most is None else f"{room} of {words.number(worker.most)}",
            words.NOTHING if worker.cpu is None else words.percent(round(worker.cpu, 2)),
            words.size(worker.memory),
            words.NOTHING if worker.lag is None else f"{1000 * worker.lag:,.0f} ms",
            words.number(worker.pages),
            words.rate(worker.rate),
            words.cut(worker.why, 200),
            at(worker.started),
        ),
    )


def run_row(here: Here, run: ClusterRun) -> Row:
    """A run as a row."""
    standing = badge(run.standing) if run.standing not in _TONES else Cell(run.standing, tone=_TONES[run.standing])
    at_work = ", ".join(f"{each.worker} ({words.plural(each.shards, 'shard')})" for each in run.at_work[:20])
    most = "" if run.workers is None else f" of {words.number(run.workers)}"
    return Row(
        str(run.id),
        (
            Cell(str(run.id), href=f"/runs/{run.id}"),
            Cell(run.scraper, href=f"/scrapers?{urlencode({'name': run.scraper})}"),
            standing,
            str(run.priority),
            Cell(f"{len(run.at_work)}{most}", tip=words.cut(at_work, 600)),
            f"{'≥ ' if run.more else ''}{words.number(run.waiting)}",
            Cell(words.number(run.tickets), tip=_oldest(run)),
            words.number(run.pages),
            words.rate(run.rate),
            run.shards.told or ("one process walks it" if not run.cluster else words.NOTHING),
        ),
        acts=_offered(here, run),
    )


def _oldest(run: ClusterRun) -> str:
    return f"the first waits since {words.moment(run.oldest_ticket)}" if run.oldest_ticket is not None else ""


def _offered(here: Here, run: ClusterRun) -> list[str]:
    """What can be done with a run from here, by whoever looks."""
    if not here.may("run"):
        return []
    if run.state == "stopped":
        return [deeds.RESUME]
    found = [] if run.wanted else [deeds.PAUSE]
    found += [deeds.PRIORITY, deeds.WORKERS] if run.cluster else []
    return found + ([] if run.wanted == "cancel" else [deeds.CANCEL])


def _named(worker: ClusterWorker) -> str:
    """What a worker is called, and its process, by which leases name it."""
    process = ":".join(worker.name.split(":")[:2])
    return f"{worker.called} ({process})" if worker.called else process


def lease_row(lease: LeaseRow) -> Row:
    """A lease as a row."""
    return Row(
        f"{lease.run}:{lease.shard}",
        (
            Cell(str(lease.run), href=f"/runs/{lease.run}"),
            PARTS.get(lease.shard, str(lease.shard)),
            Cell(lease.state, tone=_TONES[lease.state]),
            Cell(words.cut(":".join(lease.owner.split(":")[:2]), 60) or words.NOTHING, tip=lease.owner[:200]),
            at(lease.since if lease.since is not None else lease.ticket_at),
            words.duration(lease.ends_in) if lease.ends_in is not None and lease.ends_in > 0 else words.NOTHING,
            words.number(lease.crashes) if lease.crashes else words.NOTHING,
        ),
    )


class View:
    """The page: numbers on top, then workers, runs and leases."""

    def __init__(self, here: Here) -> None:
        self.here = here
        with box("g-title"):
            Text("Cluster", "h1")
        self._alone = note(
            "One process walks this store: a SQLite file cannot be shared. A PostgreSQL store can, by as many workers "
            "as you start.",
            "info",
        )
        with card():
            self._stats = stats(
                "workers", "pages a second", "leases", "tickets waiting", "shards free", "shards parked"
            )
            self._stats[3].tip("Parts of runs that the next worker with room takes")
            self._stats[4].tip("Parts of runs with work, and no ticket yet")
        with card("Workers"):
            self._workers = Table(WORKERS, nothing=self._draw_no_worker, label="Workers")
        with card("Runs"):
            nothing = "No run waits or goes on."
            self._runs = Table(RUNS, nothing=lambda: empty(nothing), act=self._act, label="Runs")
        with card("Leases"):
            nobody = "Nobody holds a part of a run, and no ticket is out."
            self._leases = Table(LEASES, self._load_leases, nothing=lambda: empty(nobody), label="Leases")

    def _draw_no_worker(self) -> None:
        if self.here.desk.dialect.shared:
            empty("No worker was heard of. Start one, on any machine that reaches the store: ", "gossamer worker")
        else:
            empty("Nobody walks runs: the runner starts with the service, so look at the logs.")

    async def follow(self) -> None:
        """Show it, and keep it current."""
        await self.here.watch("cluster", lambda: lists.cluster(self.here.desk), self._show, EVERY)
        await self.here.watch("leases", lambda: lists.leases(self.here.desk, limit=ROWS), self._show_leases, EVERY)

    def _show(self, found: Cluster) -> None:
        self._alone.set_visibility(not found.shared)
        shards = found.shards
        counts = (found.leases, found.tickets, shards.free, shards.parked)
        self._stats[0].show(words.number(found.alive))
        self._stats[1].show(words.rate(found.rate))
        for stat, n in zip(self._stats[2:], counts, strict=True):
            stat.show(words.number(n))
        self._workers.show(Sheet([worker_row(each) for each in found.workers]))
        self._runs.show(Sheet([run_row(self.here, each) for each in found.runs]))

    def _show_leases(self, found: lists.Listing[LeaseRow]) -> None:
        if self._leases.first:
            self._leases.show(_sheet(found))

    async def _load_leases(self, cursor: Any) -> Sheet:
        return _sheet(await lists.leases(self.here.desk, limit=ROWS, cursor=cursor))

    async def _act(self, row: str, deed: str) -> None:
        await deeds.do(self.here, int(row), deed)


def _sheet(found: lists.Listing[LeaseRow]) -> Sheet:
    return Sheet([lease_row(each) for each in found.rows], found.next)


@page("/cluster", "Cluster")
async def cluster(here: Here) -> None:
    """All of it."""
    await View(here).follow()
