"""Items in the SQLite store: written with their history, held back, marked as gone, read."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from gossamer.errors import StoreError
from gossamer.storage import item_statements as sql
from gossamer.storage import rows
from gossamer.storage import statements as other
from gossamer.storage.sqlite_file import SqliteFile
from gossamer.storage.store import Change, Judgement, Rejection, Reread, RunFacts, SinkNote, StoredItem, Wanted
from gossamer.values import Lease, Outcome, Verdict

#: Held items let through in one transaction, and bytes of them: so many come through at once or not at all, and others
#: get their turn between two groups.
GROUP = 100_000
AT_ONCE = 256 << 20
#: Bytes of items handed to SQLite, or taken from it, at once.
HEAVY = 16 << 20
#: Bytes of records that a sample of a run's items may have.
SAMPLE_BYTES = 64 << 20
#: More runs than anybody will have: an item that must be missing from more is never gone.
MOST_RUNS = 1 << 32
#: Items handed out at once: at first, and at most.
FIRST_ROWS = 20
MOST_ROWS = 500
#: Changes handed out at once.
LINES = 100

_decode_items = msgspec.json.Decoder(list[tuple[Any, ...]]).decode
_decode_facts = msgspec.json.Decoder(RunFacts).decode
_FOR_PROMOTE = {"late": True, "times": 1}
_FOR_SETTLE = {"late": False, "newer": False, "now": None, "times": 1}


class SqliteItems(SqliteFile):
    """The part of the store that knows what became of items."""

    # -- writing -----------------------------------------------------------------------------------------------

    def _upsert(self, run: int, outcomes: Sequence[Outcome]) -> int:
        """Write items, rejects and visits; returns how many of the items this run had not seen."""
        items = rows.item_rows(outcomes)
        seen = rows.seen_rows(outcomes, time.time())
        visits, blobs = rows.visit_rows([o.visit for o in outcomes if o.visit is not None])
        self._write(sql.REJECT, rows.reject_rows(outcomes, time.time()), run=run)
        if not items and not seen and not visits:
            return 0
        scraper, verdict, volatile = self._about(run)
        held = verdict == Verdict.PENDING
        # What a page gave that was held back holds for later runs only once it comes through.
        self._write(other.KEEP_VISITS, visits, scraper=f"@{run}" if held else scraper, blobs=blobs)
        names = {"run": run, "scraper": scraper, "seq": self._one(sql.NEXT_SEQ)}
        unknown = self._fresh(items, seen, names) if held else 0
        self._see(seen, names)
        # A page that did not change gives what it gave, and that is current already: only its sighting is new.
        fresh = self._write(sql.SIGHTINGS, [row[:3] for row in seen], run=run, scraper=scraper)
        if held:
            for wave in rows.waves(items, HEAVY):
                self._write(sql.STAGE, wave, run=run)
            return unknown
        return fresh + self._put(items, names, _FOR_SETTLE, volatile)[0]

    def _fresh(self, items: Sequence[Any], seen: Sequence[Any], names: Mapping[str, Any]) -> int:
        """How many of the items that are to be held back, or are current on unchanged pages, the run has not met."""
        met = [(row[1], row[2], 0) for row in items] + [(row[1], row[2], 1) for row in seen]
        if not met:
            return 0
        found: int = self._one(sql.FRESH, rows=rows.as_json(met), run=names["run"], scraper=names["scraper"])
        return found

    def _about(self, run: int) -> tuple[str, str, tuple[str, ...]]:
        """A run's scraper, its verdict, and the fields that make no item another one."""
        scraper, verdict, volatile = self._db.execute(sql.ABOUT, (run,)).fetchone()
        return scraper, verdict, tuple(msgspec.json.decode(volatile)) if volatile else ()

    def _see(self, seen: Sequence[Any], names: Mapping[str, Any]) -> None:
        if seen:
            made = {"rows": rows.as_json(seen), **names}
            for statement in (sql.BACK, sql.SEEN):
                self._db.execute(statement, made)

    def _put(
        self, items: Sequence[Any], names: Mapping[str, Any], how: Mapping[str, Any], volatile: tuple[str, ...]
    ) -> tuple[int, int]:
        """Write items and what they were before; returns how many this run had not seen, and how many changed."""
        fresh = changed = 0
        for wave in rows.waves(items, HEAVY):
            made = {"rows": rows.as_json(wave), **names, **how}
            changed += self._db.execute(sql.changes(volatile), made).rowcount
            self._db.execute(sql.items(volatile), made)
            fresh += self._db.execute(sql.SIGHTINGS, made).rowcount
        return fresh, changed

    async def reread(self, lease: Lease, items: Sequence[Reread]) -> int:
        made = [(i.request_id, i.kind, i.key, i.data, i.url, i.seen) for i in items]

        def write() -> int:
            with self._transaction():
                self._fence(lease)
                scraper, _, volatile = self._about(lease.run)
                names = {"run": lease.run, "scraper": scraper, "seq": self._one(sql.NEXT_SEQ)}
                unknown: int = self._one(sql.UNKNOWN, rows=rows.as_json(made), scraper=scraper)
                how = {"late": False, "newer": False, "now": time.time(), "times": 0}
                return unknown + self._put(made, names, how, volatile)[1]

        return await self._do(write)

    # -- gone --------------------------------------------------------------------------------------------------

    async def lost(self, lease: Lease, keys: Sequence[tuple[str, str]]) -> int:
        def write() -> int:
            with self._transaction():
                self._fence(lease)
                scraper = self._one("select scraper from run where id = ?", lease.run)
                return self._mark(lease.run, self._one(sql.IDS, rows=rows.as_json(keys), scraper=scraper))

        return await self._do(write)

    async def mark_gone(self, of: Lease | int, rule: str | int | float) -> int:
        if rule == "never":
            return 0

        def write() -> int:
            with self._transaction():
                if isinstance(of, Lease):
                    self._fence(of)
                run, now = of.run if isinstance(of, Lease) else of, time.time()
                scraper = self._one("select scraper from run where id = ?", run)
                alike = self._one(sql.ALIKE, run=run)
                by_runs = isinstance(rule, int)
                before = (
                    self._one(sql.NTH_RUN, alike=alike, run=run, n=min(int(rule), MOST_RUNS) - 1) if by_runs else run
                )
                if before is None:
                    return 0
                until = math.inf if by_runs else now - float(rule)
                names = {"scraper": scraper, "alike": alike, "before": before, "until": until}
                found = self._one(sql.MISSING, **names)
                if found == "[]":
                    return 0
                found = self._one(sql.NOT_EXCUSED, run=run, ids=found, clean=self._one(sql.CLEAN, run=run))
                return self._mark(run, found)

        return await self._do(write)

    def _mark(self, run: int, ids: str) -> int:
        names = {"run": run, "ids": ids, "now": time.time(), "seq": self._one(sql.NEXT_SEQ)}
        self._db.execute(sql.GONE, {name: names[name] for name in ("run", "ids", "now")})
        return self._db.execute(sql.MARK, {name: names[name] for name in ("ids", "now", "seq")}).rowcount

    # -- the drift gate ----------------------------------------------------------------------------------------

    async def hold(self, lease: Lease) -> None:
        def write() -> None:
            with self._transaction() as db:
                self._fence(lease)
                if db.execute(sql.HOLD, {"run": lease.run}).rowcount != 1:
                    raise StoreError(f"run {lease.run} was decided on already: start a new one")

        await self._do(write)

    async def facts(self, run_id: int) -> RunFacts:
        return _decode_facts(await self._do(self._one, sql.FACTS, run=run_id))

    async def sample(self, run_id: int, limit: int) -> list[tuple[str, str, str]]:
        def read() -> list[tuple[str, str, str]]:
            items = self._one("select items from run where id = ?", run_id) or 0
            names = {"run": run_id, "share": _share(100, items), "n": 100}
            most = min(limit, max(100, int(SAMPLE_BYTES / max(1.0, self._one(sql.MEAN_SIZE, **names)))))
            names = {"run": run_id, "share": _share(most, items), "n": most}
            return self._db.execute(sql.SAMPLE, names).fetchall()

        return await self._do(read)

    async def judge(self, lease: Lease, verdict: Verdict, profile: str, alarm: str | None) -> None:
        def write() -> None:
            with self._transaction() as db:
                self._fence(lease)
                names = {"run": lease.run, "at": time.time(), "data": profile, "alarm": alarm}
                db.execute(sql.KEEP_PROFILE, names)
                db.execute(sql.VERDICT, {"run": lease.run, "verdict": verdict})

        await self._do(write)

    async def decide(self, run_id: int, verdict: Verdict) -> None:
        def write() -> None:
            with self._transaction() as db:
                if db.execute(sql.DECIDE, {"run": run_id, "verdict": verdict}).rowcount != 1:
                    raise StoreError(f"run {run_id} is not suspect: there is nothing to decide")
                if verdict is Verdict.REJECTED:
                    db.execute(sql.DISCARD, {"run": run_id})
                    db.execute(sql.FORGET_VISITS, {"held": f"@{run_id}", "last": None})

        await self._do(write)

    async def promote(self) -> int:
        through = 0
        while (group := await self._do(self._promote_group)) is not None:
            through += group
        return through

    def _promote_group(self) -> int | None:
        """Let one group through; None if none waits."""
        with self._transaction() as db:
            ready = db.execute(sql.READY).fetchone()
            if ready is None:
                return None
            run, scraper, verdict, newer = ready
            first, last = db.execute(sql.GROUP, {"run": run, "n": GROUP, "heavy": AT_ONCE}).fetchone()
            if first is None:
                self._keep_visits(run, scraper, newer=newer)
                return 0
            names = {"run": run, "scraper": scraper, "seq": self._one(sql.NEXT_SEQ), "first": first, "last": last}
            # A key stands once in what is held of a run, so these need no waves.
            _, verdict, volatile = self._about(run)
            # What a person lets through changes when they say so, however long it waited for that.
            now = time.time() if verdict == Verdict.ACCEPTED else None
            made = {**names, **_FOR_PROMOTE, "now": now, "newer": newer}
            db.execute(sql.changes(volatile, held=True), made)
            db.execute(sql.items(volatile, held=True), made)
            db.execute(sql.SIGHTINGS_HELD, names)
            return db.execute(sql.UNSTAGE, names).rowcount

    def _keep_visits(self, run: int, scraper: str, *, newer: bool) -> None:
        """The pages of a run whose items came through need not be read again while they stay as they are."""
        held = f"@{run}"
        names = {
            "held": held,
            "scraper": scraper,
            "newer": newer,
            "last": self._one(sql.LAST_VISIT, held=held, n=GROUP),
        }
        self._db.execute(sql.MOVE_VISITS, names)
        self._db.execute(sql.FORGET_VISITS, names)

    async def judgement(self, run_id: int) -> Judgement | None:
        found = await self._do(self._all, sql.JUDGEMENT, run_id)
        return _judgement(found[0]) if found else None

    async def past(self, run_id: int, limit: int) -> list[Judgement]:
        found = await self._do(lambda: self._db.execute(sql.PAST, {"run": run_id, "n": limit}).fetchall())
        return [_judgement(row) for row in found]

    # -- sinks -------------------------------------------------------------------------------------------------

    async def sink(self, name: str, scraper: str) -> SinkNote | None:
        found = await self._do(self._all, sql.SINK, name, scraper)
        return SinkNote(*found[0]) if found else None

    async def sinks(self) -> list[SinkNote]:
        return [SinkNote(*row) for row in await self._do(self._all, sql.SINKS)]

    async def keep_sink(self, note: SinkNote) -> None:
        def write() -> None:
            with self._transaction() as db:
                db.execute(sql.KEEP_SINK, msgspec.structs.astuple(note))

        await self._do(write)

    # -- reading -----------------------------------------------------------------------------------------------

    async def items(self, wanted: Wanted) -> AsyncIterator[StoredItem]:
        async with aclosing(self._by_key(wanted) if wanted.by_key else self._in_order(wanted)) as pieces:
            async for found in pieces:
                for row in found:
                    yield StoredItem(*row)

    async def _in_order(self, wanted: Wanted) -> AsyncGenerator[list[tuple[Any, ...]], None]:
        """Items in the order first seen, or of the log of changes."""
        statement = sql.ITEMS_OUT if wanted.after is None else sql.ITEMS_AFTER
        names = {"run": wanted.run, "scraper": wanted.scraper, "kind": wanted.kind, "since": wanted.since}
        names |= {"last": 0}
        if wanted.held:
            statement, names = sql.ITEMS_HELD, {"run": wanted.run, "kind": wanted.kind, "last": 0}
        elif wanted.after is not None:
            names |= {"after": wanted.after, "seq": wanted.after}
        else:
            names |= {"gone": wanted.gone}
        async with aclosing(self._pieces(statement, statement, names)) as pieces:
            async for found in pieces:
                yield found
                names["last"] = found[-1][0]
                if "seq" in names:
                    names["seq"] = found[-1][1]

    async def _by_key(self, wanted: Wanted) -> AsyncGenerator[list[tuple[Any, ...]], None]:
        """Items by their names."""
        first, then = sql.FIRST_BY_KEY, sql.NEXT_BY_KEY
        names: dict[str, Any] = {"run": wanted.run, "kind": wanted.kind}
        names |= {"last_kind": (wanted.kind or "") if wanted.held or wanted.scraper else "", "last_key": ""}
        if wanted.held:
            first, then = sql.FIRST_HELD_BY_KEY, sql.NEXT_HELD_BY_KEY
        else:
            names |= {"scraper": wanted.scraper, "since": wanted.since, "gone": wanted.gone}
            names |= {"last_scraper": wanted.scraper or ""}
        async with aclosing(self._pieces(first, then, names)) as pieces:
            async for found in pieces:
                yield found
                last = dict(zip(("last_scraper", "last_kind", "last_key"), found[-1][2:5], strict=True))
                names |= {name: last[name] for name in last if name in names}

    async def _pieces(
        self, first: str, then: str, names: Mapping[str, Any]
    ) -> AsyncGenerator[list[tuple[Any, ...]], None]:
        """Rows of a statement, and then of another, some at a time: as many as make a text neither small nor huge.

        `names` is read anew each time: who takes the rows says in it where to go on.
        """
        n, statement = FIRST_ROWS, first
        while True:
            try:
                text = await self._do(self._one, statement, **names, n=n)
            except StoreError as error:
                if n == 1 or not isinstance(error.__cause__, sqlite3.DataError):
                    raise
                n = max(1, n // 16)  # large records, all of a sudden: SQLite makes no text of a gigabyte
                continue
            found = _decode_items(text)
            if not found:
                return
            yield found
            n, statement = max(1, min(MOST_ROWS, 4 * n, n * HEAVY // max(1, len(text)))), then

    async def item_cursor(self) -> int:
        found: int = await self._do(self._one, sql.CURSOR)
        return found

    async def changes(
        self, since: float, *, scraper: str | None = None, kind: str | None = None, key: str | None = None
    ) -> AsyncIterator[Change]:
        names = {"since": since, "scraper": scraper, "kind": kind, "key": key}
        log = await self._do(self._long, sql.CHANGES_OUT, names)
        try:
            while lines := await self._do(log.fetchmany, LINES):
                for line in lines:
                    yield Change(*line)
        finally:
            self._let_go(log)

    async def rejects(self, run_id: int | None, scraper: str | None) -> AsyncIterator[Rejection]:
        names = {"last": 0, "run": run_id, "scraper": scraper}
        async with aclosing(self._pieces(sql.REJECTS_OUT, sql.REJECTS_OUT, names)) as pieces:
            async for found in pieces:
                for row in found:
                    yield Rejection(*row[1:])
                names["last"] = found[-1][0]


def _judgement(row: tuple[Any, ...]) -> Judgement:
    run, verdict, at, profile, alarm = row
    return Judgement(run, Verdict(verdict), at, profile, alarm)


def _share(wanted: int, of: int) -> int:
    """The part of all hashes that gives so many of so many."""
    return (1 << 32) * wanted // max(wanted, of)
