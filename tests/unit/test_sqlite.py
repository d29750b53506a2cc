"""The store in one SQLite file: whose file it is, what its errors say, and what its statements cost."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gossamer.errors import ConfigError, StoreBusy, StoreError
from gossamer.storage import filelock
from gossamer.storage import item_statements as item_sql
from gossamer.storage import statements as sql
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.sqlite import MEMORY, SqliteStore, path_of
from gossamer.storage.store import Batch, Draft, SourceNote
from gossamer.values import Ending, Item, Lease, Outcome, Request

A = "https://a.example/"
DRAFT = Draft("s", "s.py:S", "sig", {}, {})

#: What another process does: open the store, say so, and wait to be told to end.
HOLDER = """
import asyncio, sys
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Draft
async def main():
    async with SqliteStore(sys.argv[1]) as store:
        run = await store.new_run(Draft("other", "", "", {}, {}))
        await store.acquire(run.id, "other", 3600.0)
        print("open", flush=True)
        sys.stdin.readline()
asyncio.run(main())
"""


@contextmanager
def held(path: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that works on the store."""
    command = [sys.executable, "-c", HOLDER, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            yield process
        finally:
            process.kill()


def told(code: str, *args: object) -> str:
    """What a Python program prints, in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def opened(path: str, *, owner: bool = True) -> None:
    async def main() -> None:
        async with SqliteStore(path, owner=owner):
            pass

    asyncio.run(main())


def refused(path: str, *, owner: bool = True, kind: type[Exception] = StoreError) -> str:
    """The sentence with which a store is refused."""
    with pytest.raises(kind) as caught:
        opened(path, owner=owner)
    return str(caught.value)


async def begin(store: SqliteStore, *urls: str) -> tuple[Lease, list[Request]]:
    run = await store.new_run(DRAFT)
    lease = await store.acquire(run.id, "me", 60.0)
    await store.add(lease, [Request(url) for url in urls], last=True)
    return lease, await store.peek(run.id, "a.example", 10_000, ())


# -- one working process ---------------------------------------------------------------------------------------


def test_a_second_process_is_refused_by_a_sentence_that_names_the_first(store: str) -> None:
    with held(store) as process:
        assert f"is in use by process {process.pid}:" in refused(store, kind=StoreBusy)


def test_a_second_opening_in_the_same_process_is_refused(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store):
            with pytest.raises(StoreBusy, match="in use by this process"):
                async with SqliteStore(store):
                    pass
        async with SqliteStore(store):
            pass

    asyncio.run(main())


def test_another_name_for_the_same_file_is_the_same_store(store: str, tmp_path: Path) -> None:
    opened(store)
    (tmp_path / "other.db").symlink_to(store)
    (tmp_path / "folder").symlink_to(tmp_path)
    with held(store) as process:
        for name in ("other.db", "folder/store.db", "./store.db"):
            assert f"process {process.pid}:" in refused(str(tmp_path / name), kind=StoreBusy)


def test_a_killed_process_lets_go_of_the_store_and_its_run_is_taken_over(store: str) -> None:
    with held(store) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()

        async def main() -> None:
            async with SqliteStore(store) as opened:
                (run,) = await opened.runs()
                assert (await opened.acquire(run.id, "heir", 60.0)).token == 2

        asyncio.run(main())


def test_a_refused_process_disturbs_nothing(store: str) -> None:
    with held(store):
        before = Path(store).stat().st_mtime_ns
        refused(store, kind=StoreBusy)
        assert Path(store).stat().st_mtime_ns == before


def test_reading_goes_on_while_another_process_works(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store, owner=False) as reader:
            (run,) = await reader.runs()
            assert (run.scraper, run.state) == ("other", "running")
            assert await reader.why(A) == []

    with held(store):
        asyncio.run(main())


def test_a_reader_sees_what_was_written_since_it_opened(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as writer, SqliteStore(store, owner=False) as reader:
            lease, (request,) = await begin(writer, A)
            assert (await reader.pending(lease.run)).waiting == 1
            await writer.settle(lease, Batch(outcomes=[Outcome(request, Ending.DONE)]))
            assert (await reader.pending(lease.run)).waiting == 0

    asyncio.run(main())


def test_a_reader_cannot_write(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store, owner=False) as reader:
            with pytest.raises(StoreError, match="cannot be written"):
                await reader.new_run(DRAFT)

    opened(store)
    asyncio.run(main())


def test_a_file_locked_by_another_program_is_refused_by_a_sentence(store: str) -> None:
    opened(store)
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("begin immediate")

        async def main() -> None:
            async with SqliteStore(store) as mine:
                mine._db.execute("pragma busy_timeout = 50")  # patience is not what is tested
                with pytest.raises(StoreError, match="locked by another program"):
                    await mine.new_run(DRAFT)
                other.execute("rollback")
                assert (await mine.new_run(DRAFT)).id == 1

        asyncio.run(main())


# -- not a store -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("owner", [True, False])
def test_a_file_that_is_no_database_is_refused_and_left_alone(store: str, owner: bool) -> None:
    Path(store).write_bytes(b"Dear diary, " * 1000)
    assert "is not a Gossamer store" in refused(store, owner=owner)
    assert Path(store).read_bytes() == b"Dear diary, " * 1000


@pytest.mark.parametrize("owner", [True, False])
@pytest.mark.parametrize("managed", [False, True])
def test_the_database_of_another_program_is_refused_and_left_alone(store: str, owner: bool, managed: bool) -> None:
    """Also that of one which uses Alembic as we do, and numbers its migrations as we do."""
    with closing(sqlite3.connect(store)) as other:
        other.execute("create table diary (text)")
        if managed:
            other.execute("create table alembic_version (version_num)")
            other.execute("insert into alembic_version values (?)", (migrations.HEAD,))
        other.commit()
    before = Path(store).read_bytes()
    assert "is the database of another program" in refused(store, owner=owner)
    assert Path(store).read_bytes() == before


def test_a_folder_is_refused_by_a_sentence(tmp_path: Path) -> None:
    assert "is a folder: give a file" in refused(str(tmp_path))


def test_a_missing_folder_is_refused_by_a_sentence(tmp_path: Path) -> None:
    for owner in (True, False):
        assert "does not exist: make it first" in refused(str(tmp_path / "no" / "store.db"), owner=owner)


def test_reading_makes_no_store(store: str) -> None:
    assert "there is no store at" in refused(store, owner=False)
    assert not Path(store).exists()


def test_a_damaged_store_is_refused_by_a_sentence(store: str) -> None:
    opened(store)
    size = Path(store).stat().st_size
    with Path(store).open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * (size - 100))
    assert "is not a Gossamer store" in refused(store)


def test_an_empty_file_becomes_a_store(store: str) -> None:
    Path(store).touch()
    opened(store)
    opened(store, owner=False)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("gossamer.db", "gossamer.db"),
        ("/var/lib/x.db", "/var/lib/x.db"),
        ("sqlite:///x.db", "x.db"),
        ("sqlite:////var/lib/x.db", "/var/lib/x.db"),
        (":memory:", MEMORY),
        ("sqlite:///:memory:", MEMORY),
    ],
)
def test_a_store_is_given_as_a_path_or_a_url(given: str, path: str) -> None:
    assert path_of(given) == path


@pytest.mark.parametrize("given", ["postgresql://host/db", "s3://bucket/x", "://", "http://x/y.db"])
def test_a_store_of_an_unknown_kind_is_refused_by_name(given: str) -> None:
    with pytest.raises(ConfigError, match=f"no store of kind {given.partition('://')[0]!r} is known"):
        path_of(given)


@pytest.mark.parametrize("given", ["", "sqlite:///"])
def test_an_empty_path_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="the store's path is empty"):
        path_of(given)


def test_names_that_mean_something_in_urls_are_ordinary_names(tmp_path: Path) -> None:
    for name in ("what?.db", "50%.db", "a#b.db", "ü 🕸.db"):
        opened(str(tmp_path / name))
        opened(str(tmp_path / name), owner=False)
        assert (tmp_path / name).exists()


# -- closed, full, read-only -----------------------------------------------------------------------------------


def test_a_closed_store_says_so(store: str) -> None:
    async def main() -> None:
        made = SqliteStore(store)
        for _ in range(2):
            with pytest.raises(StoreError, match="is closed"):
                await made.runs()
            async with made:
                await made.runs()
        with pytest.raises(StoreError, match="is closed"):
            await made.new_run(DRAFT)

    asyncio.run(main())


def much(request: Request) -> Batch:
    """A group that keeps the store busy for a while."""
    return Batch(outcomes=[Outcome(request, Ending.DONE, found=tuple(Request(f"{A}{n}") for n in range(20_000)))])


def test_a_verb_under_way_is_completed_when_its_caller_is_cancelled_and_the_store_closed(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as first:
            lease, (request,) = await begin(first, A)
            settling = asyncio.create_task(first.settle(lease, much(request)))
            await asyncio.sleep(0.05)  # begun, and far from done
            settling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await settling
        async with SqliteStore(store) as second:
            assert (await second.pending(lease.run)).waiting == 20_000

    asyncio.run(main())


def test_cancelling_the_one_who_closes_still_lets_go_of_the_file(store: str) -> None:
    async def main() -> None:
        async def work() -> None:
            async with SqliteStore(store) as mine:
                lease, (request,) = await begin(mine, A)
                busy.append(asyncio.create_task(mine.settle(lease, much(request))))
                await asyncio.sleep(0.05)

        busy: list[asyncio.Task[object]] = []
        working = asyncio.create_task(work())
        await asyncio.sleep(0.15)  # it is closing now, behind the long verb
        working.cancel()
        await asyncio.gather(working, *busy, return_exceptions=True)
        async with SqliteStore(store):
            pass

    asyncio.run(main())


def test_a_full_disk_is_told_changes_nothing_and_the_same_goes_on_afterwards(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as full:
            lease, (request,) = await begin(full, A)
            pages = full._one("pragma page_count")
            full._db.execute(f"pragma max_page_count = {pages + 2}")
            found = tuple(Request(f"{A}{n}/{'x' * 500}") for n in range(1000))
            group = Batch(outcomes=[Outcome(request, Ending.DONE, found=found)])
            with pytest.raises(StoreError, match=r"disk of the store .* is full: free some space"):
                await full.settle(lease, group)
            left = await full.pending(lease.run)
            assert (left.settled, left.waiting) == (0, 1)
            full._db.execute("pragma max_page_count = 1000000")
            assert (await full.settle(lease, group)).fresh == {"a.example": 1000}

    asyncio.run(main())


LIMITED = """
import asyncio, resource, sys
from gossamer.errors import StoreError
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Draft
from gossamer.values import Request
async def main():
    async with SqliteStore(sys.argv[1]) as store:
        run = await store.new_run(Draft("s", "", "", {}, {}))
        lease = await store.acquire(run.id, "me", 60.0)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
        added = 0
        try:
            while True:
                await store.add(lease, [Request(f"https://a.example/{added + n}") for n in range(1000)])
                added += 1000
        except StoreError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(added, (await store.pending(run.id)).waiting)
        await store.add(lease, [Request("https://a.example/more")])
        print((await store.pending(run.id)).waiting)
asyncio.run(main())
"""


def test_a_disk_that_takes_no_more_bytes_loses_nothing_that_was_written(store: str) -> None:
    """The system itself refuses the write, somewhere in the middle of a page."""
    sentence, counts, after = told(LIMITED, store).splitlines()
    assert f"the store {store} cannot be written" in sentence
    assert "disk full" in sentence
    added, waiting = map(int, counts.split())
    assert added == waiting > 0
    assert int(after) == added + 1


NOBODY = """
import asyncio, os, pwd, sys
from gossamer.errors import StoreError
from gossamer.storage.sqlite import SqliteStore
os.setuid(pwd.getpwnam("nobody").pw_uid)  # not before: nobody may not read Python itself where it is root's
async def main():
    for owner in (True, False):
        try:
            async with SqliteStore(sys.argv[1], owner=owner) as store:
                print(len(await store.runs()))
        except StoreError as error:
            print(error)
asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("folder_mode", [0o755, 0o777])
def test_a_read_only_store_is_refused_to_work_on_and_can_be_read(folder_mode: int) -> None:
    async def main(store: str) -> None:
        async with SqliteStore(store) as made:
            await made.new_run(DRAFT)

    # Not in pytest's folder, which only its owner may enter.
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/store.db"
        asyncio.run(main(store))
        for file in Path(folder).iterdir():
            file.chmod(0o444)
        Path(folder).chmod(folder_mode)
        working, reading = told(NOBODY, store).splitlines()
        assert f"the store {store} cannot be written" in working
        assert reading == "1"


# -- taken away from under us ----------------------------------------------------------------------------------


async def settled_after(store: str, monkeypatch: pytest.MonkeyPatch, taking: Callable[[], object]) -> str:
    """The sentence with which a settle is refused after the files were tampered with; nothing is settled then."""
    monkeypatch.setattr(filelock, "LOOK", 0.0)
    async with SqliteStore(store) as mine:
        lease, (request,) = await begin(mine, A)
        await mine.settle(lease, Batch(claims=[request.id]))
        taking()
        for _ in range(2):
            with pytest.raises(StoreError) as caught:
                await mine.settle(lease, Batch(outcomes=[Outcome(request, Ending.DONE)]))
        assert (await mine.pending(lease.run)).waiting == 1
        return str(caught.value)


def test_a_store_that_was_deleted_is_not_written_to(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = asyncio.run(settled_after(store, monkeypatch, Path(store).unlink))
    assert f"the store {store} was deleted, moved or replaced" in told
    assert not Path(store).exists()


def test_a_store_that_was_moved_can_be_put_back(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = asyncio.run(settled_after(store, monkeypatch, lambda: Path(store).rename(f"{store}.old")))
    assert "was deleted, moved or replaced" in told
    Path(f"{store}.old").rename(store)
    opened(store)


def test_a_store_that_was_replaced_is_not_written_to(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = str(tmp_path / "other.db")
    opened(other)
    told = asyncio.run(settled_after(store, monkeypatch, lambda: Path(other).replace(store)))
    assert "was deleted, moved or replaced" in told
    opened(store)


@pytest.mark.parametrize("another", [False, True])
def test_without_its_lock_nothing_is_written(store: str, monkeypatch: pytest.MonkeyPatch, another: bool) -> None:
    def take() -> None:
        Path(f"{store}.lock").unlink()
        if another:
            Path(f"{store}.lock").touch()

    assert f"the lock {store}.lock was deleted" in asyncio.run(settled_after(store, monkeypatch, take))


def test_looking_after_the_files_costs_next_to_nothing(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, _ = await begin(mine, A)
            looks: list[str] = []
            true = filelock._is
            monkeypatch.setattr(filelock, "_is", lambda name, known: looks.append(name) or true(name, known))
            for _ in range(50):
                await mine.settle(lease, Batch())
            assert len(looks) <= 6  # two files, once a second; fifty settles take far less than three

    asyncio.run(main())


def test_who_works_on_a_store_is_told_whichever_name_it_is_asked_by(store: str, tmp_path: Path) -> None:
    async def main() -> str | None:
        async with SqliteStore(str(tmp_path / "other.db"), owner=False) as reader:
            return await reader.walked(1)

    opened(store)
    (tmp_path / "other.db").symlink_to(store)
    with held(store) as process:
        assert asyncio.run(main()) == f"process {process.pid}"
    assert asyncio.run(main()) is None


# -- what waits together is written together -------------------------------------------------------------------


def test_notes_that_wait_together_are_one_transaction(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            begun: list[str] = []
            mine._db.set_trace_callback(lambda text: begun.append(text) if text.startswith("begin") else None)
            await asyncio.gather(*(mine.remember([SourceNote(f"{n}.example", 1.0, 2.0)]) for n in range(200)))
            assert len(begun) <= 3
            assert len(await mine.sources()) == 200

    asyncio.run(main())


def test_notes_are_there_for_others_when_their_author_is_told_so(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine, SqliteStore(store, owner=False) as reader:

            async def one(n: int) -> None:
                await mine.remember([SourceNote(f"{n}.example", 1.0, 2.0)])
                assert await reader.source(f"{n}.example") is not None

            await asyncio.gather(*(one(n) for n in range(50)))

    asyncio.run(main())


def test_notes_that_could_not_be_written_are_told_to_all_who_waited(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            with closing(sqlite3.connect(store, isolation_level=None)) as other:
                mine._db.execute("pragma busy_timeout = 50")
                other.execute("begin immediate")
                notes = [SourceNote(f"{n}.example", 1.0, 2.0) for n in range(3)]
                told = await asyncio.gather(*(mine.remember([note]) for note in notes), return_exceptions=True)
                assert [type(each) for each in told] == [StoreError] * 3
                other.execute("rollback")
                await mine.remember(notes)
                assert await mine.sources() == notes

    asyncio.run(main())


def test_notes_cannot_be_left_with_a_closed_store(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            pass
        with pytest.raises(StoreError, match="is closed"):
            await mine.remember([SourceNote("a.example", 1.0, 2.0)])
        async with mine:
            await mine.remember([SourceNote("a.example", 1.0, 2.0)])

    asyncio.run(main())


# -- what statements cost --------------------------------------------------------------------------------------

#: Not on the way of a page: they read a run from first to last, once, when somebody asks.
READ_ALL = {
    "PAGES",
    "ITEMS_OUT",
    "HOST_TABLE",
    "HOST_COUNTS",
    "STORIES",
    "FETCH_LOG",
    "FETCH_LOG_OF_RUN",
    "STARTS",
    "NOTICES",
    "SOURCES",
    # At the end of a run, or for a person.
    "READY",
    "SAMPLE",
    "FACTS",
    "ALIKE",
    "NTH_RUN",
    "CLEAN",
    "MISSING",
    "ITEMS_AFTER",
    "FIRST_BY_KEY",
    "NEXT_BY_KEY",
    "FIRST_HELD_BY_KEY",
    "NEXT_HELD_BY_KEY",
    "CHANGES_OUT",
    "REJECTS_OUT",
    "SINKS",
}
HOT = {
    name: text
    for name, text in (vars(sql) | vars(item_sql)).items()
    if name.isupper() and not name.startswith("_") and name != "PRAGMAS" and name not in READ_ALL
}
MADE = (item_sql.changes, item_sql.items)
HOT |= {f"{make.__name__} {held}": make((), held=held) for make in MADE for held in (False, True)}


@pytest.mark.parametrize("name", HOT)
def test_a_hot_statement_never_reads_a_whole_table(name: str) -> None:
    """Also with many rows, when the planner has statistics to be misled by."""
    with closing(sqlite3.connect(MEMORY)) as db:
        for statement in migrations.head_form():
            db.execute(statement)
        for analysed in (False, True):
            if analysed:
                fill(db)
                db.execute("analyze")
            count = HOT[name].count("?")
            names = dict.fromkeys(("run", "token", "now", "limit", "level", "until", "n", "id", "checked"), 1)
            names |= dict.fromkeys(("success", "failure", "new", "minute", "hour", "trusted"), 1)
            names |= dict.fromkeys(
                ("first", "last", "heavy", "share", "newer", "late", "times", "seq", "held", "clean"), 1
            )
            values = names | dict.fromkeys(("rows", "but", "ids", "alike"), "[]") | dict.fromkeys(COUNTED, 0)
            plan = db.execute(f"explain query plan {HOT[name]}", (1,) * count if count else values | TEXTS).fetchall()
            steps = [row[3] for row in plan]
            scans = [step for step in steps if step.startswith("SCAN") and step.split()[1] in TABLES]
            assert [step for step in scans if "USING" not in step] == [], steps
            # A step through an index must still be bound to one run: SEARCH, not SCAN.
            assert not scans, steps


COUNTED = (
    "settled",
    "pages",
    "items",
    "failed",
    "skipped",
    "retried",
    "size",
    "seconds",
    "ended",
    "by_host",
    "rejected",
)
COUNTED += ("seq", "late", "times", "last", "at", "step", "before")
TEXTS = dict.fromkeys(
    (
        "host",
        "scraper",
        "ref",
        "signature",
        "params",
        "options",
        "state",
        "reason",
        "owner",
        "digest",
        "url",
        "limits",
        "blobs",
        "reading",
        "asked_by",
        "via",
        "verdict",
        "data",
        "alarm",
        "kind",
    ),
    "x",
)
TABLES = {
    *("request", "item", "sighting", "fetch", "lease", "run_reason", "parent"),
    *("source", "robots", "notice", "start", "visit"),
    *("change", "staged", "reject", "profile", "sink"),
}


def fill(db: sqlite3.Connection) -> None:
    db.execute(
        "insert into run (id, scraper, ref, signature, params, options, state, created) values (1,1,1,1,1,1,1,1)"
    )
    db.execute(
        """with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
        insert into request (run_id, digest, url, host, shard, handler, depth, priority, hops, state)
        select 1, i, i, i % 3, 0, 'parse', i % 5, 0, 0, i % 2 from n"""
    )
    db.execute(
        "insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed)"
        " select 's', 'k', id, '{}', url, 0, 0, 0 from request"
    )
    db.execute("insert into sighting select 1, id, id from item")


def test_a_page_costs_at_most_three_row_writes_and_one_for_each_new_link(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, requests = await begin(mine, *(f"{A}{n}" for n in range(64)))
            for known_links in (0, 30):
                before = mine._db.total_changes
                await mine.settle(lease, Batch(outcomes=[page(r, known_links) for r in requests], claims=[]))
                written = mine._db.total_changes - before
                # A page: its row closed, its item, the sighting of it. A group: lease, run, minute and one reason.
                assert written <= 3 * len(requests) + 5 * len(requests) + 4
                ids = {r.id for r in requests}
                found = await mine.peek(lease.run, "a.example", 1000, ids)
                requests = [r for r in found if r.url.endswith("/0")]
                assert len(requests) == 64

    def page(request: Request, known_links: int) -> Outcome:
        new = [Request(f"{request.url}/{n}") for n in range(5)]
        known = [Request(f"{A}{n}") for n in range(known_links)]
        item = Item("page", request.url, "{}")
        return Outcome(request, Ending.DONE, items=(item,), found=(*known, *new))

    asyncio.run(main())


def test_noting_what_is_in_flight_writes_each_row_once(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, requests = await begin(mine, *(f"{A}{n}" for n in range(64)))
            claims = [r.id for r in requests]
            costs = []
            for _ in range(3):
                before = mine._db.total_changes
                await mine.settle(lease, Batch(claims=claims, sources=[SourceNote("a.example", 1.0, 1.0)]))
                costs.append(mine._db.total_changes - before)
            assert costs == [64 + 3, 3, 3]

    asyncio.run(main())


def test_a_group_without_news_runs_no_statement_for_any(store: str) -> None:
    """Visits, notices and items seen again cost those who have none nothing."""

    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, (request, other) = await begin(mine, A, A + "2")
            await mine.settle(lease, Batch(outcomes=[Outcome(other, Ending.DONE)]))  # which asks for the scraper, once
            ran: list[str] = []
            mine._db.set_trace_callback(ran.append)
            await mine.settle(lease, Batch(outcomes=[Outcome(request, Ending.DONE)]))
            # begin, fence, close, count, count for the minute, reasons, commit
            assert len([text for text in ran if not text.startswith("--")]) == 7, ran

    asyncio.run(main())
