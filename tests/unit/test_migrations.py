"""The tables: one form, however a store came to it; an old store is brought up to date, a newer one refused."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.pool import StaticPool

from gossamer.errors import StoreError, StoreTooNew
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.migrations import write_head
from gossamer.storage.schema import metadata
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Batch, Draft, SourceNote
from gossamer.values import Ending, Outcome, Run, Visit


def form(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """The tables and indexes of a database, as SQLite wrote them down."""
    rows = db.execute("select name, sql from sqlite_master where sql is not null order by name").fetchall()
    return [(name, " ".join(sql.split())) for name, sql in rows]


def form_of(path: str) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as db:
        return form(db)


@contextmanager
def database() -> Iterator[tuple[sqlite3.Connection, sa.Connection]]:
    """An empty database, as SQLite and as SQLAlchemy know it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        engine = sa.create_engine("sqlite://", creator=lambda: db, poolclass=StaticPool)
        with engine.connect() as connection:
            yield db, connection


def opened(path: str, *, owner: bool = True) -> list[Run]:
    """Open a store, make a run in it if we may, and say which there are."""

    async def main() -> list[Run]:
        async with SqliteStore(path, owner=owner) as store:
            if owner:
                await store.new_run(Draft("s", "s.py:S", "sig", {}, {}))
            return await store.runs()

    return asyncio.run(main())


# -- one form --------------------------------------------------------------------------------------------------


def test_head_sql_is_what_the_migrations_make() -> None:
    """If this fails, there is a new migration: `make schema` writes head.sql."""
    assert (migrations.SCRIPTS / "head.sql").read_text("utf-8") == write_head.head_sql()


def test_a_new_store_has_the_form_the_migrations_make(store: str) -> None:
    opened(store)
    with database() as (db, connection):
        migrations.upgrade(connection)
        assert form_of(store) == form(db)


def test_the_known_revisions_are_the_scripts() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations.SCRIPTS))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [migrations.HEAD]
    assert [script.revision for script in scripts.walk_revisions()][::-1] == list(migrations.REVISIONS)


def test_the_schema_is_what_the_migrations_make() -> None:
    with database() as (_, migrated):
        migrations.upgrade(migrated)

        # Alembic cannot compare indexes on expressions in SQLite; `described` compares all of them word for word.
        def no_index(_object: object, _name: str | None, kind: str, *_: object) -> bool:
            return kind != "index"

        compared = {"compare_type": True, "include_object": no_index}
        context = MigrationContext.configure(migrated, opts=compared)
        assert compare_metadata(context, metadata) == []
        with database() as (_, created):
            metadata.create_all(created)
            assert described(migrated) == described(created)


def described(connection: sa.Connection) -> dict[str, object]:
    """Tables with their columns, keys and indexes, conditions of partial indexes included."""
    found = sa.inspect(connection)
    return {
        table: {
            "columns": [
                (c["name"], str(c["type"]), c["nullable"], c["default"], c["primary_key"])
                for c in found.get_columns(table)
            ],
            "key": found.get_pk_constraint(table)["constrained_columns"],
            "foreign": sorted(
                (k["constrained_columns"][0], k["referred_table"]) for k in found.get_foreign_keys(table)
            ),
            "indexes": sorted(
                sql
                for (sql,) in connection.exec_driver_sql(
                    "select sql from sqlite_master where type = 'index' and tbl_name = ? and sql is not null", (table,)
                )
            ),
            "without rowid": "WITHOUT ROWID"
            in str(connection.exec_driver_sql("select sql from sqlite_master where name = ?", (table,)).scalar()),
        }
        for table in found.get_table_names()
        if table != "alembic_version"
    }


# -- from one form to the next ---------------------------------------------------------------------------------

NEXT = """
import os, signal
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "9999", "{head}", None, None
def upgrade():
    op.add_column("source", sa.Column("grade", sa.Text(), nullable=False, server_default="good"))
    op.execute("update run set reason = 'migrated'")
    {then}
    op.create_table("hereafter", sa.Column("id", sa.Integer(), primary_key=True))
"""

#: Makes this Gossamer a newer one, whose migrations are in another folder.
NEWER = """
from gossamer.storage.migrations import upgrade as migrations
from pathlib import Path
migrations.SCRIPTS, migrations.HEAD = Path({scripts!r}), "9999"
migrations.REVISIONS = (*migrations.REVISIONS, "9999")
"""
OPEN = """
import asyncio, sys
from gossamer.storage.sqlite import SqliteStore
async def main():
    async with SqliteStore(sys.argv[1]) as store:
        print(*[run.reason for run in await store.runs()])
asyncio.run(main())
"""

NewerGossamer = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def newer(tmp_path: Path) -> NewerGossamer:
    """Opens a store as a Gossamer with one more migration would, which does something in the middle."""

    def run(store: str, then: str = "pass") -> subprocess.CompletedProcess[str]:
        scripts = tmp_path / "newer" / "migrations"
        shutil.copytree(migrations.SCRIPTS, scripts, dirs_exist_ok=True)
        text = NEXT.format(head=migrations.HEAD, then=then)
        (scripts / "versions" / "v9999_next.py").write_text(text)
        code = NEWER.format(scripts=str(scripts)) + OPEN
        return subprocess.run([sys.executable, "-c", code, store], capture_output=True, text=True, check=False)

    return run


def test_an_old_store_is_brought_up_to_date_with_all_that_is_in_it(store: str, newer: NewerGossamer) -> None:
    opened(store)
    done = newer(store)
    assert (done.returncode, done.stdout) == (0, "migrated\n"), done.stderr
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("select version_num from alembic_version").fetchall() == [("9999",)]
        names = dict(form(db))
        assert "grade" in names["source"]
        assert "hereafter" in names
    assert newer(store).stdout == "migrated\n", "and then it is left as it is"


def test_a_store_of_the_first_form_is_brought_up_to_date_with_all_that_is_in_it(store: str) -> None:
    """Written by the Gossamer of that time: with a page read, one parked, one in flight, and one waiting."""
    with closing(sqlite3.connect(store)) as db:
        db.executescript(Path(__file__).with_name("store_0001.sql").read_text("utf-8"))
        db.execute("pragma journal_mode = wal")
        before = {table: db.execute(f"select * from {table}").fetchall() for table in OLD_TABLES}
    with pytest.raises(StoreError, match="has an old form"):
        opened(store, owner=False)
    asyncio.run(_open(store))
    with closing(sqlite3.connect(store)) as db:
        for table, rows in before.items():
            kept = [row[: len(old)] for row, old in zip(db.execute(f"select * from {table}"), rows, strict=True)]
            assert kept == rows
    assert form_of(store) == _new_form()
    asyncio.run(_work_on_an_old_store(store))


OLD_TABLES = ("run", "run_reason", "request", "fetch", "item", "sighting", "source", "lease")


def _new_form() -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in migrations.head_form():
            db.execute(statement)
        return form(db)


async def _open(path: str) -> None:
    async with SqliteStore(path):
        pass


async def _work_on_an_old_store(path: str) -> None:
    a = "https://a.example/"
    async with SqliteStore(path) as store:
        (run,) = await store.runs()
        assert (run.scraper, run.params, run.pages, run.items) == ("quotes", {"q": "art"}, 1, 1)
        assert run.by_reason == {"ok": 1, "scope": 1}
        left = await store.pending(run.id)
        assert (left.settled, left.waiting, left.parked, left.in_flight) == (1, 3, 1, 1)
        assert await store.sources() == [SourceNote("a.example", 1001.0, 1002.5)]
        assert [(line.started, line.reason) async for line in store.fetch_log(run.id)] == [
            (999.0, "robots"),
            (1000.0, "ok"),
            (1001.0, "timeout"),
        ]
        assert [story.fetches for story in await store.why(f"{a}slow")] == [[(1001.0, 2.0, 0, "timeout", None)]]
        assert await store.starts(None) == await store.notices() == []
        assert await store.host_counts(run.id) == {"a.example": 4}
        # And it is gone on with.
        lease = await store.acquire(run.id, "heir", 60.0, {"rate": 1.0})
        post, following = await store.peek(run.id, "a.example", 10, ())
        assert (post.json, post.carry, following.url) == ({"q": 1}, {"n": 2}, f"{a}next")
        visit = Visit(following.fingerprint, 1.0, 1.0, None, None, "0")
        done = Outcome(following, Ending.DONE, started=5.0, visit=visit)
        await store.settle(lease, Batch(outcomes=[done], sources=[SourceNote("a.example", 5.0, 6.0, breaker="open")]))
        assert await store.visits("quotes", [visit.digest]) == {visit.digest: visit}


def test_a_newer_store_is_refused_by_a_clear_sentence_and_left_alone(store: str, newer: NewerGossamer) -> None:
    opened(store)
    assert newer(store).returncode == 0
    before = Path(store).read_bytes()
    for owner in (True, False):
        with pytest.raises(StoreTooNew, match=r"was written by a newer Gossamer \(form 9999, .*upgrade Gossamer"):
            opened(store, owner=owner)
    assert Path(store).read_bytes() == before


FAILURES = {
    "raises": ("raise ValueError('half way')", 1),
    "bad statement": ("op.execute('update nowhere set x = 1')", 1),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
}


@pytest.mark.parametrize(("then", "exit_code"), FAILURES.values(), ids=FAILURES.keys())
def test_a_migration_that_breaks_off_leaves_the_old_store(
    store: str, newer: NewerGossamer, then: str, exit_code: int
) -> None:
    opened(store)
    before = form_of(store)
    assert newer(store, then).returncode == exit_code
    assert form_of(store) == before
    assert [run.reason for run in opened(store)] == ["", ""], "and it works as before"
    assert newer(store).stdout == "migrated migrated\n", "until the migration succeeds"


def test_a_store_is_made_by_alembic_where_none_of_its_migrations_was_applied_yet(store: str) -> None:
    with closing(sqlite3.connect(store)) as db:
        db.execute("create table alembic_version (version_num varchar(32) not null primary key)")
    assert len(opened(store)) == 1
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("select version_num from alembic_version").fetchall() == [(migrations.HEAD,)]
        tables = {name for name, _ in form(db)}
    with database() as (_, connection):
        migrations.upgrade(connection)
        assert set(sa.inspect(connection).get_table_names()) <= tables


def test_an_outdated_store_is_not_changed_by_reading_it(store: str) -> None:
    with closing(sqlite3.connect(store)) as db:
        db.execute("create table alembic_version (version_num varchar(32) not null primary key)")
    before = Path(store).read_bytes()
    with pytest.raises(StoreError, match="has an old form: any crawl or run on it brings it up to date"):
        opened(store, owner=False)
    assert Path(store).read_bytes() == before


def test_a_new_store_does_not_wait_for_alembic(store: str) -> None:
    code = OPEN + "assert not {'alembic', 'sqlalchemy'} & set(sys.modules)"
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code, store], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
