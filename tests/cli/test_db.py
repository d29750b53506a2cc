"""`gossamer db`: which form a store has, bringing it up to date, and moving it to another database and back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gossamer import urls
from gossamer.errors import GossamerError, StoreBusy, StoreError
from gossamer.storage import copy_ends, copy_postgres, copying, forms
from gossamer.storage.copy_values import shapes
from gossamer.storage.filelock import FileLock
from gossamer.storage.migrations import upgrade as migrations
from tests import databases
from tests.conftest import Cli

OLD = Path(__file__).parent.parent / "unit" / "store_0001.sql"


def sql(url: str, statement: str) -> str:
    return databases.postgres().sql(statement, url.partition("?")[0].rpartition("/")[2])


def new_file(path: str) -> str:
    """A store in its present form, with something in every table."""
    with closing(sqlite3.connect(path)) as db:
        for statement in migrations.head_form():
            db.execute(statement)
        for shape in shapes():
            for n in (1, 2, 3):
                row = [_value(shape.name, name, kind, n) for name, kind in zip(shape.columns, shape.kinds, strict=True)]
                db.execute(f'insert into "{shape.name}" values ({", ".join("?" * len(row))})', row)
        db.execute("insert into worker (name, pid, started, at) values ('me', 1, 1, 1)")
        db.execute("pragma journal_mode = wal")
        db.commit()
    return path


def _value(table: str, name: str, kind: str, n: int) -> Any:
    if name == "host":
        return f"host{n}.example"
    if (table, name) == ("item", "data"):
        return f'{{"n": {n}, "text": "ä\\u0000"}}' if n == 2 else f'{{"n": {n}}}'
    made = {"text": f"{name} {n} ☃'\\\n", "int": n, "big": n * 10**12, "float": n + 0.1, "bytes": bytes(range(n, 256))}
    return n if name == "id" or name.endswith("_id") else made[kind]


def everything(path: str) -> dict[str, list[Any]]:
    """All rows of a file, but those that do not travel."""
    with closing(sqlite3.connect(path)) as db:
        found = {shape.name: db.execute(copy_ends.select_of(shape)).fetchall() for shape in shapes()}
    return {name: rows for name, rows in found.items() if name not in ("lease", "request")}


@pytest.fixture
def empty() -> str:
    """The URL of an empty database, with a password in it."""
    url = databases.postgres_url(empty=True)
    name = url.rpartition("/")[2]
    sql(url, f"alter database {name} owner to {databases.ROLE}; alter schema public owner to {databases.ROLE}")
    return databases.postgres().url(name, password=True)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rows travel in groups of few."""
    for module in (copy_ends, copy_postgres):
        monkeypatch.setattr(module, "GROUP", 4)
    return


# -- copying ---------------------------------------------------------------------------------------------------


def test_a_store_is_moved_to_postgresql_and_back(gossamer: Cli, store: str, empty: str, tmp_path: Path) -> None:
    new_file(store)
    Path(f"{store}.archive").touch()
    there = gossamer("db", "copy", f"sqlite:///{store}", empty, "--json")
    assert there.returncode == 0, there.stderr
    told = json.loads(there.stdout)
    assert set(told["rows"].values()) == {3}
    assert set(told["rows"]) == migrations.tables() - {"worker"}
    assert told["altered"] == {}
    assert told["target"].startswith("postgresql://keeper:***@127.0.0.1")
    assert gossamer("db", "check", "--store", empty).returncode == 0
    assert sql(empty, "select record from item order by id").split("\n") == ['{"n": 1}', "", '{"n": 3}']
    assert sql(empty, "select shard from request order by id").split() == [
        str(urls.shard(f"host{n}.example")) for n in (1, 2, 3)
    ]
    assert sql(empty, "select owner, until, crashes from lease") == "\n".join(["|0|0"] * 3)
    assert sql(empty, "select nextval('run_id_seq'), nextval('item_id_seq')") == "4|4"
    # And back again, by the table that people see.
    back = gossamer("db", "copy", empty, tmp_path / "back.db")
    assert back.returncode == 0, back.stderr
    assert f"is copied to {tmp_path / 'back.db'}: {3 * len(told['rows'])} rows" in back.stderr
    assert told["digests"]["source"] in back.stdout
    assert everything(str(tmp_path / "back.db")) == {**everything(store), "run": [*_alone(store)]}
    assert gossamer("db", "check", "--store", tmp_path / "back.db").returncode == 0
    assert databases.PASSWORD not in there.stderr + back.stderr + there.stdout + back.stdout
    assert not list(tmp_path.glob("*.copying"))


def _alone(path: str) -> Iterator[Any]:
    """Runs as a file has them: nobody shares them there."""
    shape = next(shape for shape in shapes() if shape.name == "run")
    for row in everything(path)["run"]:
        yield tuple(0 if name == "cluster" else value for name, value in zip(shape.columns, row, strict=True))


def test_archived_pages_and_what_to_do_with_them_are_told(gossamer: Cli, store: str, empty: str) -> None:
    new_file(store)
    Path(f"{store}.archive").touch()
    done = gossamer("db", "copy", store, empty)
    assert "archived pages are in a file of their own: cp " in done.stderr


def test_what_sqlite_keeps_and_postgresql_does_not(gossamer: Cli, store: str, empty: str) -> None:
    new_file(store)
    with closing(sqlite3.connect(store)) as db:
        db.execute("update request set detail = 'a' || char(0) || 'b' where id = 1")
        db.execute("update request set detail = cast(x'61eda08062ff' as text) where id = 2")
        db.execute("update request set detail = x'c3a4', priority = 5000000000, not_before = 9e999 where id = 3")
        db.execute("update request set reason = 12, depth = 2.5 where id = 3")
        db.execute("update run set ended = '7' where id = 1")
        db.commit()
    done = gossamer("db", "copy", store, empty, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["altered"] == {"request.depth": 1, "request.detail": 2, "request.priority": 1}
    assert sql(empty, "select detail from request order by id").split("\n") == ["a�b", "a���b�", "ä"]
    rest = "select priority, not_before, reason, depth from request where id = 3"
    assert sql(empty, rest) == "2147483647|Infinity|12|2"


def test_what_is_no_number_is_named(gossamer: Cli, store: str, empty: str) -> None:
    new_file(store)
    with closing(sqlite3.connect(store)) as db:
        db.execute("update request set depth = 'deep' where id = 3")
        db.commit()
    done = gossamer("db", "copy", store, empty)
    assert (done.returncode, "request.depth holds 'deep', which is no number" in done.stderr) == (2, True)


def test_a_copy_that_breaks_off_says_so_and_goes_on(few: None, gossamer: Cli, store: str, empty: str) -> None:
    new_file(store)
    with closing(sqlite3.connect(store)) as db:
        _more_requests(db, 40)
    done: list[str] = []

    def stumble(what: str, *_: int) -> None:
        done.append(what)
        if done.count("copying request") == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(copying.copy(store, empty, watch=stumble))
    assert 0 < int(sql(empty, "select count(*) from request")) < 43
    assert asyncio.run(forms.form(empty)).state == "copying"
    for words in (("db", "copy", store, empty), ("db", "check", "--store", empty), ("runs", "--store", empty)):
        refused = gossamer(*words)
        assert refused.returncode, words
        assert "broke off" in refused.stderr + refused.stdout, words
    before = sql(empty, "select min(xmin::text::bigint), max(xmin::text::bigint) from run")
    gone_on = gossamer("db", "copy", store, empty, "--resume", "--json")
    assert gone_on.returncode == 0, gone_on.stderr
    assert json.loads(gone_on.stdout)["rows"]["request"] == 43
    assert sql(empty, "select min(xmin::text::bigint), max(xmin::text::bigint) from run") == before, "not copied twice"
    assert gossamer("db", "check", "--store", empty).returncode == 0
    assert asyncio.run(forms.form(empty)).state == "newest"
    again = gossamer("db", "copy", store, empty, "--resume")
    assert (again.returncode, "has something in it" in again.stderr) == (2, True)


def _more_requests(db: sqlite3.Connection, many: int) -> None:
    rows = [(f"digest {n}", f"https://a.example/{n}") for n in range(many)]
    db.executemany(
        "insert into request (run_id, digest, url, host, shard, handler, depth, priority, hops) "
        "values (1, ?, ?, 'a.example', 1, 'parse', 0, 0, 0)",
        rows,
    )
    db.commit()


def test_ctrl_c_is_one_line_and_leaves_a_copy_that_says_it_is_incomplete(store: str, empty: str) -> None:
    new_file(store)
    with closing(sqlite3.connect(store)) as db:
        _more_requests(db, 60_000)
    words = [sys.executable, "-m", "gossamer", "db", "copy", store, empty]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as copy:
        until = time.monotonic() + 60
        while copy.poll() is None and time.monotonic() < until:
            there = sql(empty, "select to_regclass('gossamer_copying') is not null")
            if there == "t":
                copy.send_signal(signal.SIGINT)
                break
            time.sleep(0.02)
        assert copy.stderr is not None
        said = copy.stderr.read()
    assert copy.returncode == 130, said
    assert said == (
        "gossamer: interrupted: the target says that it is incomplete; the same command with --resume goes on\n"
    )
    assert asyncio.run(forms.form(empty)).state == "copying"
    assert asyncio.run(copying.copy(store, empty, resume=True)).rows["request"] == 60_003


def test_a_copy_of_what_was_worked_on_meanwhile_is_told_by_its_table(few: None, store: str, empty: str) -> None:
    new_file(store)
    with closing(sqlite3.connect(store)) as db:
        _more_requests(db, 40)

    def stumble(what: str, *_: int) -> None:
        if what == "copying start":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(copying.copy(store, empty, watch=stumble))
    with closing(sqlite3.connect(store)) as db:
        db.execute("update request set state = 1 where id = 7")
        db.commit()
    with pytest.raises(StoreError, match=r"differs from its source in the table request \(43 rows on both sides, with"):
        asyncio.run(copying.copy(store, empty, resume=True))
    assert asyncio.run(forms.form(empty)).state == "copying"


def test_nobody_works_on_either_end_of_a_copy(gossamer: Cli, store: str, empty: str) -> None:
    new_file(store)
    lock = FileLock(store)
    try:
        busy = gossamer("db", "copy", store, empty)
        assert (busy.returncode, f"is in use by process {os.getpid()}" in busy.stderr) == (2, True)
    finally:
        lock.close()

    async def twice() -> None:
        async with copying.target_of(empty):
            with pytest.raises(StoreBusy, match="another process is copying into"):
                await copying.copy(store, empty)

    asyncio.run(twice())
    assert gossamer("db", "copy", store, empty, "-q").returncode == 0
    sql(empty, "update lease set owner = 'box:1:ab', until = extract(epoch from now()) + 60")
    walked = gossamer("db", "copy", empty, "back.db")
    assert (walked.returncode, "is being walked by box:1:ab" in walked.stderr) == (2, True)


SECRET = "hunter2"
REFUSED = {
    "no source": ("nowhere.db", "{empty}", "there is no store at nowhere.db"),
    "empty source": ("{empty}", "x.db", "is empty: there is nothing to copy"),
    "full target": ("{store}", "{full}", "is a store that has something in it: give an empty database"),
    "full file": ("{full}", "{store}", "is there already: a store is copied to where none is"),
    "no folder": ("{full}", "nowhere/x.db", "the folder of the store nowhere/x.db does not exist"),
    "itself": ("{store}", "{store}", "a store cannot be copied to itself"),
    "unknown": ("{store}", "mysql://x/y", "no store of kind 'mysql' is known"),
    "old": ("old.db", "{empty}", "`gossamer db upgrade` brings it up to date"),
    "no server": ("{store}", "postgresql://me:{secret}@127.0.0.1:1/x", "no PostgreSQL answers at postgresql://me:***@"),
    "no database": ("{store}", "{empty}x", "there is no such database as postgresql://keeper:***@"),
    "wrong password": ("{store}", "{wrong}", "does not let us in at postgresql://keeper:***@"),
    "no URL": ("{store}", "postgresql://me:{secret}@[x/y", "is no URL"),
}


@pytest.mark.parametrize(("source", "target", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_copied_is_said_in_a_sentence_without_the_password(
    store: str, empty: str, source: str, target: str, sentence: str, tmp_path: Path
) -> None:
    new_file(store)
    full = databases.postgres_url()
    sql(full, "insert into mark (digest, url, at) values ('d', 'u', 1)")
    with closing(sqlite3.connect(tmp_path / "old.db")) as db:
        db.executescript(OLD.read_text("utf-8"))
    wrong = empty.replace(databases.QUOTED, SECRET)
    names = {"store": store, "empty": empty, "full": full, "secret": SECRET, "wrong": wrong}
    with pytest.raises(GossamerError) as refused:
        asyncio.run(copying.copy(source.format(**names), target.format(**names)))
    told = str(refused.value)
    assert sentence in told
    assert "\n" not in told
    assert not [word for word in (SECRET, databases.PASSWORD, databases.QUOTED) if word in told]


def test_a_refusal_is_one_line(gossamer: Cli, store: str) -> None:
    done = gossamer("db", "copy", new_file(store), f"postgresql://me:{SECRET}@127.0.0.1:1/x")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "no PostgreSQL answers at postgresql://me:***@127.0.0.1:1/x" in done.stderr


def test_a_digest_does_not_depend_on_the_order_but_on_every_value() -> None:
    from gossamer.storage.copy_values import Digest

    def of(*rows: tuple[Any, ...]) -> Digest:
        digest = Digest()
        digest.add(rows)
        return digest

    assert of((1, "a"), (2, None)) == of((2, None), (1, "a"))
    for other in [((1, "a"),), ((1, "a"), (2, "")), ((1, "a"), (2, None), (2, None)), ((1, None), (2, "a"))]:
        assert of((1, "a"), (2, None)) != of(*other)
    assert of((float("inf"),)) != of((None,))


# -- the form --------------------------------------------------------------------------------------------------


def test_the_form_of_a_file_and_its_upgrade(gossamer: Cli, store: str) -> None:
    with closing(sqlite3.connect(store)) as db:
        db.executescript(OLD.read_text("utf-8"))
    words = ("--store", store)
    assert "has the form 0001, the newest is 0005: `gossamer db upgrade`" in gossamer("db", "current", *words).stdout
    assert gossamer("db", "check", *words).returncode == 1
    up = gossamer("db", "upgrade", *words)
    assert up.returncode == 0, up.stderr
    assert "from form 0001 to 0005" in up.stderr
    assert "has the form 0005 now (it had the form 0001" in up.stdout
    assert "nothing to do" in gossamer("db", "upgrade", *words).stdout
    assert json.loads(gossamer("db", "current", *words, "--json").stdout) == {
        "store": store,
        "form": "0005",
        "newest": "0005",
        "state": "newest",
    }
    good = gossamer("db", "check", *words)
    assert (good.returncode, "its tables are as they should be" in good.stdout) == (0, True)
    with closing(sqlite3.connect(store)) as db:
        db.execute("drop index request_ready")
        db.execute("alter table mark add column more text")
    bad = gossamer("db", "check", *words)
    assert bad.returncode == 1
    assert "the index request_ready is missing" in bad.stdout
    assert "the table mark is not as it should be" in bad.stdout


def test_the_form_of_a_database_and_its_upgrade(gossamer: Cli, empty: str) -> None:
    words = ("--store", empty)
    assert "has no tables yet" in gossamer("db", "current", *words).stdout
    assert gossamer("db", "check", *words).returncode == 1
    assert "its tables were made" in gossamer("db", "upgrade", *words).stdout
    assert gossamer("db", "check", *words).returncode == 0
    sql(empty, "drop index request_ready")
    bad = gossamer("db", "check", *words, "--json")
    assert bad.returncode == 1
    assert json.loads(bad.stdout)["differences"] == ["the index request_ready is missing"]
    sql(empty, "update alembic_version set version_num = '9999'")
    assert "this Gossamer knows up to 0005: upgrade Gossamer" in gossamer("db", "current", *words).stdout
    newer = gossamer("db", "upgrade", *words)
    assert (newer.returncode, "was written by a newer Gossamer" in newer.stderr) == (2, True)


def test_an_old_database_is_upgraded_and_one_that_is_walked_is_not(gossamer: Cli, empty: str) -> None:
    asyncio.run(migrations.upgrade_postgres(empty, to="0003"))
    sql(
        empty,
        "insert into run (scraper, ref, signature, params, options, state, created) "
        "values ('s', 'r', 'x', '{}', '{}', 'running', 1);"
        "insert into lease (run_id, shard, owner, token, until) values (1, -1, 'box:1:ab', 1, 1e12)",
    )
    refused = gossamer("runs", "--store", empty)
    assert (refused.returncode, "`gossamer db upgrade` brings it up to date" in refused.stderr) == (2, True)
    walked = gossamer("db", "upgrade", "--store", empty)
    assert (walked.returncode, "is being walked by box:1:ab: stop the workers" in walked.stderr) == (2, True)
    sql(empty, "update lease set until = 0")
    up = gossamer("db", "upgrade", "--store", empty, "--json")
    assert json.loads(up.stdout) | {"store": ""} == {"store": "", "from": "0003", "to": migrations.HEAD}
    assert gossamer("db", "check", "--store", empty).returncode == 0
    assert gossamer("runs", "--store", empty).returncode == 0


def test_a_user_who_may_not_make_tables_is_told(gossamer: Cli) -> None:
    url = databases.postgres_url(empty=True)
    by_role = databases.postgres().url(url.rpartition("/")[2], password=True)
    done = gossamer("db", "upgrade", "--store", by_role)
    assert done.returncode == 2
    assert "cannot be used (permission denied for schema public): give its user the right to do that" in done.stderr
