"""What docs/postgresql.md says: its SQL works, the rights it names are enough, a dump comes back as a store."""

from __future__ import annotations

import asyncio
import subprocess

from gossamer.storage import forms
from gossamer.testing import Site
from tests import databases
from tests.conftest import Cli
from tests.docs import reading

PAGE = reading.ROOT / "docs" / "postgresql.md"

ITEMS = """
insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed) values
    ('books', 'item', 'a', '{"title": "A", "author": "Albert Einstein", "price": 1.5, "tags": ["x"]}', 'u', 1, 1, 1),
    ('books', 'item', 'b', '{"title": "B", "author": "B", "price": "2.5"}', 'u', 2, 2, 2),
    ('books', 'item', 'c', '{"title": "\\u0000"}', 'u', 3, 3, 3);
insert into change (item_id, at, what, before) values (1, extract(epoch from now()), 'changed', '{"price": 1}');
"""


def sql(url: str, statement: str) -> str:
    return databases.postgres().sql(statement, url.rpartition("/")[2])


def blocks() -> list[str]:
    return [block.text for block in reading.blocks(PAGE) if block.language == "sql"]


def test_every_query_works_and_finds_something() -> None:
    url = databases.postgres_url()
    sql(url, ITEMS)
    grants = [text for text in blocks() if "create role" in text]
    told = {text: sql(url, text) for text in blocks() if text not in grants}
    assert len(grants) == 2
    (queries,) = [found for text, found in told.items() if "ten newest" in text]
    lines = queries.split("\n")
    assert [line.split("|")[0] for line in lines[:3]] == ["c", "b", "a"]
    assert "x|1" in lines
    assert lines[-1] == "a|changed|1|1.5"
    (by_value,) = [found for text, found in told.items() if "@>" in text]
    assert by_value == "a"
    plan = sql(url, 'set enable_seqscan = off; explain select key from item where record @> \'{"author": "B"}\'')
    assert "item_record" in plan, "the index is one that the query uses"
    assert asyncio.run(forms.differences(url)) == []


def test_the_rights_it_names_are_enough(gossamer: Cli, site: Site) -> None:
    site.page("/", "<title>A</title>")
    url = databases.postgres_url()
    for text in blocks():
        if "create role" in text:
            sql(url, text)
    try:
        by = {who: url.replace("postgres@", f"{who}@") for who in ("crawler", "reader")}
        made = gossamer("crawl", site.url("/"), "--store", by["crawler"], "--quiet")
        assert made.returncode == 0, made.stderr
        assert sql(url, "select state, pages from run") == "finished|1"
        refused = gossamer("crawl", site.url("/"), "--store", by["reader"], "--quiet")
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr
        for words in (("runs", "--json"), ("export", "items"), ("db", "check")):
            looked = gossamer(*words, "--store", by["reader"])
            assert looked.returncode == 0, looked.stderr
    finally:
        name = url.rpartition("/")[2]
        sql(url, "drop owned by crawler, reader; drop role crawler, reader")
        databases.postgres().sql(f"drop database {name}")


def test_a_dump_comes_back_as_a_store() -> None:
    url, restored = databases.postgres_url(), databases.postgres_url(empty=True)
    sql(url, ITEMS)
    server = databases.postgres()
    dump = str(server.folder / "crawls.dump")
    commands = (
        ["pg_dump", "-Fc", f"--file={dump}", url],
        ["pg_restore", f"--dbname={restored}", "--no-owner", "--exit-on-error", "--jobs=4", dump],
    )
    for command in commands:
        done = subprocess.run([f"{server.bin}/{command[0]}", *command[1:]], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert asyncio.run(forms.differences(restored)) == []
    for table in ("item", "change"):
        assert sql(restored, f"select * from {table} order by id") == sql(url, f"select * from {table} order by id")
