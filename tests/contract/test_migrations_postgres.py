"""The tables in PostgreSQL: one form, from an empty database and from every earlier one, with all that is in them."""

from __future__ import annotations

import asyncio
import warnings
from functools import cache
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from gossamer import urls
from gossamer.errors import StoreBusy, StoreError, StoreTooNew
from gossamer.storage import forms
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.schema import metadata
from tests import databases

Described = dict[str, dict[str, Any]]

EARLIER = migrations.REVISIONS[:-1]

#: What a store of each earlier form may have in it, as that form can hold it.
ROWS = {
    "0001": """
        insert into run (scraper, ref, signature, params, options, state, created, ended, seconds, items)
            values ('quotes', 'q.py:Q', 's', '{}', '{}', 'finished', 1.5, 9.5, 8, 2),
                   ('quotes', 'q.py:Q', 't', '{}', '{}', 'running', 2.5, null, 0, 0);
        insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed)
            values ('quotes', 'item', 'a', '{"a": 1}', 'https://a.example/', 1, 2, 1),
                   ('quotes', 'item', 'b', '{"b": "\\u0000"}', 'https://a.example/', 1, 2, 1);
        insert into request (run_id, digest, url, host, shard, handler, depth, priority, hops, token)
            values (1, 'd', 'https://a.example/', 'a.example', 9999, 'parse', 0, 0, 0, 1),
                   (2, 'd', 'https://www.a.example/', 'www.a.example', 9999, 'parse', 0, 5, 0, null);
        insert into sighting (run_id, item_id, request_id) values (1, 1, 1), (1, 2, 1), (2, 1, 2);
        insert into source (host, last_hit, ready_at) values ('a.example', 1, 2);
        insert into lease (run_id, shard, owner, token, until) values (1, -1, 'me', 3, 4);
        insert into run_reason (run_id, reason, n) values (1, 'ok', 1);
        insert into "fetch" (run_id, request_id, url, host, started, elapsed, status, size, reason)
            values (1, 1, 'https://a.example/', 'a.example', 1, 2, 0, 0, 'timeout');
    """,
    "0002": """
        insert into robots (origin, fetched, checked, status, body) values ('https://a.example', 1, 1, 200, '\\x00');
        insert into notice (host, at, kind, seconds, detail) values ('a.example', 1, 'delay', 2, '');
        insert into start (run_id, at, limits) values (1, 1, '{}');
        insert into visit (scraper, digest, fetched, checked, sha256, gave) values ('quotes', 'd', 1, 1, 'x', '\\x00');
    """,
    "0003": """
        insert into change (item_id, run_id, at, what, before) values (1, 1, 1, 'changed', '{}');
        insert into staged (run_id, kind, key, data, url, request_id, seen) values (1, 'item', 'c', '{}', 'u', 1, 1);
        insert into reject (run_id, request_id, kind, data, step, reason, at) values (1, 1, 'i', '{}', 's', 'r', 1);
        insert into profile (run_id, scraper, params, at, data) values (1, 'quotes', '{}', 1, '{}');
        insert into sink (name, scraper, cursor, updated) values ('files', 'quotes', 1, 1);
    """,
    "0004": """
        insert into alert (key, kind, at, title) values ('k', 'drift', 1, 't');
        insert into dispatch (alert_id, target, next_at) values (1, 'mail', 1);
        insert into event (at, level, name) values (1, 'info', 'run.done');
    """,
}


def name_of(url: str) -> str:
    return url.rpartition("/")[2]


def sql(url: str, statement: str) -> str:
    return databases.postgres().sql(statement, name_of(url))


async def described(url: str) -> Described:
    """Everything PostgreSQL knows of the tables, in its own words."""
    db = await asyncpg.connect(url)
    try:
        return {
            "columns": {
                (row[0], row[1]): tuple(row[2:])
                for row in await db.fetch(
                    "select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated, "
                    "pg_get_expr(d.adbin, d.adrelid) from pg_attribute a join pg_class c on c.oid = a.attrelid "
                    "left join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum) "
                    "where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 "
                    "and not a.attisdropped and c.relname <> 'alembic_version'"
                )
            },
            "indexes": {row[0]: row[1] for row in await db.fetch(_INDEXES)},
            "constraints": {(row[0], row[1]): row[2] for row in await db.fetch(_CONSTRAINTS)},
            "functions": {row[0]: row[1] for row in await db.fetch(_FUNCTIONS)},
        }
    finally:
        await db.close()


_INDEXES = "select indexname, indexdef from pg_indexes where schemaname = current_schema() and indexname !~ 'alembic'"
_CONSTRAINTS = (
    "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint "
    "where connamespace = current_schema()::regnamespace and conname !~ 'alembic'"
)
_FUNCTIONS = (
    "select proname, pg_get_functiondef(oid) from pg_proc where pronamespace = current_schema()::regnamespace "
    "and proname like 'gossamer%'"
)


async def created(url: str) -> None:
    """The tables as schema.py says they are."""

    async def connect() -> Any:
        return await asyncpg.connect(url)

    engine = create_async_engine("postgresql+asyncpg://", async_creator=connect, poolclass=NullPool)
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)
    await engine.dispose()


@pytest.fixture(scope="module")
def wanted() -> Described:
    url = databases.postgres_url(empty=True)
    asyncio.run(created(url))
    return asyncio.run(described(url))


def old_store(form: str) -> str:
    """A database of an earlier form, with rows in every table that it had."""
    return databases.postgres().fresh(_old_template(form))


@cache
def _old_template(form: str) -> str:
    at = EARLIER.index(form)
    url = databases.postgres().fresh(_old_template(EARLIER[at - 1]) if at else None)
    asyncio.run(migrations.upgrade_postgres(url, to=form))
    sql(url, ROWS[form])
    return name_of(url)


# -- one form --------------------------------------------------------------------------------------------------


def test_the_schema_is_what_the_migrations_make(wanted: Described) -> None:
    assert asyncio.run(described(databases.postgres_url())) == wanted


@pytest.mark.parametrize("form", EARLIER)
def test_from_every_earlier_form_it_becomes_the_same_with_all_that_is_in_it(form: str, wanted: Described) -> None:
    url = old_store(form)
    kept = {table: sql(url, f'select count(*) from "{table}"') for table in metadata.tables if _has(url, table)}
    assert asyncio.run(migrations.upgrade_postgres(url)) == form
    assert asyncio.run(described(url)) == wanted
    assert {table: sql(url, f'select count(*) from "{table}"') for table in kept} == kept
    assert sql(url, "select key, record from item order by id") == 'a|{"a": 1}\nb|'
    assert sql(url, "select seq, first_run, last_run from item order by id") == "1|1|2\n2|1|1"
    assert sql(url, "select name, runs, items, last_state, last_ended from scraper") == "quotes|1|2|finished|9.5"
    assert sql(url, "select distinct shard from request") == str(urls.shard("a.example"))
    assert sql(url, "select version_num from alembic_version") == migrations.HEAD
    assert asyncio.run(forms.differences(url)) == []


def _has(url: str, table: str) -> bool:
    return sql(url, f"select to_regclass('{table}') is not null") == "t"


def test_numbers_go_on_after_an_upgrade() -> None:
    url = old_store("0001")
    asyncio.run(migrations.upgrade_postgres(url))
    assert sql(url, ROWS["0001"].partition(";")[0] + " returning id").split() == ["3", "4"]


def test_upgrading_what_is_up_to_date_changes_nothing(wanted: Described) -> None:
    url = databases.postgres_url()
    assert asyncio.run(migrations.upgrade_postgres(url)) == migrations.HEAD
    assert asyncio.run(described(url)) == wanted


# -- several at once -------------------------------------------------------------------------------------------


def test_several_may_make_the_tables_at_once(wanted: Described) -> None:
    url = databases.postgres_url(empty=True)

    async def main() -> list[str | None]:
        return await asyncio.gather(*(migrations.upgrade_postgres(url) for _ in range(6)))

    assert sorted(asyncio.run(main()), key=str) == [migrations.HEAD] * 5 + [None]
    assert asyncio.run(described(url)) == wanted


def test_a_run_that_is_being_walked_keeps_the_tables_from_changing() -> None:
    url = old_store("0004")
    sql(url, "update lease set owner = 'box:1:ab', until = extract(epoch from now()) + 60")
    with pytest.raises(StoreBusy, match=r"run 1 of the store .* is being walked by box:1:ab: stop the workers"):
        asyncio.run(migrations.upgrade_postgres(url))
    assert sql(url, "select version_num from alembic_version") == "0004"
    sql(url, "update lease set until = extract(epoch from now()) - 1")
    assert asyncio.run(migrations.upgrade_postgres(url)) == "0004"


def test_a_migration_that_breaks_off_leaves_the_old_tables() -> None:
    url = old_store("0003")
    before = asyncio.run(described(url))
    sql(url, "create table worker (x int)")  # in the way of a later one
    with pytest.raises(sa.exc.ProgrammingError):
        asyncio.run(migrations.upgrade_postgres(url))
    sql(url, "drop table worker")
    assert asyncio.run(described(url)) == before
    assert sql(url, "select version_num from alembic_version") == "0003"
    assert asyncio.run(migrations.upgrade_postgres(url)) == "0003"


# -- what is not ours ------------------------------------------------------------------------------------------


def test_a_newer_store_and_another_programs_are_refused() -> None:
    newer = databases.postgres_url()
    sql(newer, "update alembic_version set version_num = '9999'")
    with pytest.raises(StoreTooNew, match=r"newer Gossamer .form 9999"):
        asyncio.run(migrations.upgrade_postgres(newer))
    other = databases.postgres_url(empty=True)
    sql(other, "create table account (name text)")
    with pytest.raises(StoreError, match=r"has tables of another program \(account\)"):
        asyncio.run(migrations.upgrade_postgres(other))
    assert sql(other, "select count(*) from pg_tables where schemaname = 'public'") == "1"
    sql(other, "drop table account; create table something_else (name text)")
    assert asyncio.run(migrations.upgrade_postgres(other)) is None


# -- users and schemas -----------------------------------------------------------------------------------------


def test_a_schema_of_its_own_beside_another_programs_tables(wanted: Described) -> None:
    url = databases.postgres_url(empty=True)
    sql(url, "create table request (theirs int); create schema crawls")
    mine = f"{url}?search_path=crawls"
    with pytest.raises(StoreError, match=r"none of the schemas that .* looks in exists"):
        asyncio.run(migrations.upgrade_postgres(f"{url}?search_path=nowhere"))
    assert asyncio.run(migrations.upgrade_postgres(mine)) is None
    assert asyncio.run(described(mine))["columns"] == wanted["columns"]
    assert asyncio.run(forms.differences(mine)) == []
    assert sql(url, "select count(*) from information_schema.columns where table_schema = 'public'") == "1"


def test_one_user_makes_the_tables_and_another_only_works_on_them() -> None:
    url = databases.postgres_url()
    by_role = databases.postgres().url(name_of(url), password=True)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        asyncio.run(_use(by_role))
    sql(
        url,
        f"grant select, insert, update, delete on all tables in schema public to {databases.ROLE};"
        f"grant usage on all sequences in schema public to {databases.ROLE}",
    )
    assert asyncio.run(_use(by_role)) == '{"a": 1}'


async def _use(url: str) -> Any:
    db = await asyncpg.connect(url)
    try:
        return await db.fetchval(
            "insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed) "
            """values ('s', 'k', 'a', '{"a": 1}', 'u', 1, 1, 1) returning record"""
        )
    finally:
        await db.close()


def test_records_hold_what_jsonb_can_hold() -> None:
    url = databases.postgres_url()
    deep = "[" * 100_000 + "]" * 100_000
    texts = ['{"b": 1, "a": [1.50, null]}', '{"a": "\\u0000"}', "no json", "", "1e999999", deep, '"\\ud800"']
    for n, text in enumerate(texts):
        quoted = text.replace("'", "''")
        sql(
            url,
            "insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed) "
            f"values ('s', 'k', '{n}', '{quoted}', 'u', 1, 1, 1)",
        )
    assert sql(url, "select record from item order by id").split("\n") == ['{"a": [1.50, null], "b": 1}', *[""] * 6]
    assert sql(url, "select data from item where id = 1") == texts[0], "and what came in is what comes out"


def test_what_is_wrong_with_tables_is_named() -> None:
    url = databases.postgres_url()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert asyncio.run(forms.differences(url)) == []
    sql(
        url,
        "drop table mark; alter table run drop column verdict; alter table source alter budget type bigint;"
        "drop index request_parked; create index request_parked on request (run_id); drop index item_known;"
        "alter table robots alter closed set not null; alter table tick drop constraint tick_pkey;"
        "create index mine on request (url); alter table item add column mine text",
    )
    assert sorted(asyncio.run(forms.differences(url))) == [
        "the column robots.closed must be able to hold nothing",
        "the column run.verdict is missing",
        "the column source.budget is of the type bigint, not integer",
        "the index item_known is missing",
        "the index request_parked is not as it should be",
        "the index run_verdict is missing",
        "the primary key of the table tick is not (minute, scraper)",
        "the table mark is missing",
    ]
