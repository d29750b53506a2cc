"""Lists: every row once, whatever is asked for and whatever is written meanwhile."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gossamer import explain, lists
from gossamer.errors import ConfigError
from gossamer.lists import paging, stories
from gossamer.storage import opening
from gossamer.storage.filters import Filter
from gossamer.storage.store import Batch, Draft, RobotsNote, SourceNote, UrlStory
from gossamer.values import Ending, Fetch, Notice, Outcome, Reject, Request
from tests import stores
from tests.filling import settle
from tests.service.looking import Looking

NOW = float(int(time.time()))
#: The first row's time; rows are a minute apart.
THEN = NOW - 1_000_000.0
MANY = 50

QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of a few rows, so that small stores have many of them."""
    monkeypatch.setattr(paging, "STEPS", (3, 5, 7))
    monkeypatch.setattr(paging, "WINDOW", 15)
    monkeypatch.setattr(paging, "RUNS", 4)
    monkeypatch.setattr(paging, "NEAR", 2)
    monkeypatch.setattr(paging, "ROUGHLY", 90.0)
    monkeypatch.setattr(stories, "RUNS", 5)


@pytest.fixture
def looking(tmp_path: Path) -> Iterator[Looking]:
    with Looking(tmp_path / "store.db") as made:
        yield made


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, kind_of_store: str) -> Iterator[Looking]:
    """A store with some rows of everything, as a die wanted them."""
    with Looking(tmp_path_factory.mktemp("lists") / "store.db") as made:
        fill(made, random.Random(5))
        yield made


def at(n: int) -> float:
    return THEN + 60.0 * n


def run_row(n: int, die: random.Random) -> dict[str, Any]:
    return {
        "id": n,
        "scraper": die.choice(["art", "jobs", "nba"]),
        "ref": "r",
        "signature": f"s{n}",
        "params": '{"city":"Oslo"}',
        "options": "{}",
        "state": die.choice(["finished", "failed", "running", "pending"]),
        "reason": die.choice(["done", "error 7", "100%_sure"]),
        "verdict": die.choice(["", "good", "suspect"]),
        "via": die.choice(["cli", "api"]),
        "asked_by": die.choice(["ann", "Bob"]),
        "created": at(n),
        "rejected": 1,
    }


def request_row(n: int, die: random.Random) -> dict[str, Any]:
    state = die.randrange(4)
    return {
        "id": n,
        "run_id": die.randint(1, 12),
        "digest": f"d{n}",
        "url": f"http://{die.choice('ab')}.example/{n}",
        "host": die.choice(["a.example", "b.example"]),
        "shard": 1,
        "handler": "parse",
        "depth": 1,
        "priority": 0,
        "hops": 0,
        "state": state,
        "reason": [None, "ok", "scope", die.choice(["timeout", "http_404", None])][state],
    }


def item_row(n: int, die: random.Random) -> dict[str, Any]:
    return {
        "id": n,
        "scraper": die.choice(["art", "jobs"]),
        "kind": die.choice(["show", "call"]),
        "key": f"k{n}",
        "data": json.dumps({"n": n, "name": die.choice(['the "Ärt" of', "plain"])}, ensure_ascii=False),
        "url": f"http://a.example/{n}",
        "first_seen": at(n),
        "last_seen": at(n),
        "last_changed": at(die.choice([n, n, 4 * MANY])),
        "seq": die.randint(1, 60),
        "gone": die.choice([None, None, at(n)]),
    }


def fill(made: Looking, die: random.Random) -> None:
    numbers = sorted(die.sample(range(1, 4 * MANY), MANY))
    made.insert("run", *(run_row(n, die) for n in {*range(1, 13), *numbers}))
    made.insert("request", *(request_row(n, die) for n in numbers))
    made.insert("item", *(item_row(n, die) for n in numbers))
    seen = {(die.randint(1, 3), die.choice(numbers)) for _ in range(MANY)}
    made.insert("sighting", *({"run_id": run, "item_id": item, "request_id": item} for run, item in seen))
    made.insert(
        "change",
        *(
            {
                "id": n,
                "item_id": die.choice(numbers),
                "run_id": 1,
                "at": at(die.choice([n, n - 1])),
                "what": die.choice(["changed", "gone", "back"]),
                "before": '{"n":0}',
            }
            for n in numbers
        ),
    )
    # An item that changed has a history.
    made.write(
        "update item set last_changed = first_seen where not exists (select 1 from change where item_id = item.id)"
    )
    made.insert(
        "reject",
        *(
            {
                "id": n,
                "run_id": die.randint(1, 12),
                "request_id": n,
                "kind": "show",
                "data": "{}",
                "step": "clean",
                "reason": "no name",
                "at": at(n),
            }
            for n in numbers
        ),
    )
    made.insert(
        "event",
        *(
            {
                "id": n,
                "at": at(n),
                "level": die.choice(["debug", "info", "warning", "error"]),
                "name": die.choice(["run.start", "host.slow"]),
                "run_id": die.choice([None, 1, 2]),
                "scraper": die.choice(["", "art"]),
                "message": die.choice(["It went well", "100%_sure"]),
            }
            for n in numbers
        ),
    )
    made.insert(
        "trail",
        *(
            {
                "id": n,
                "at": at(n),
                "who": die.choice(["ann", "bob"]),
                "via": "api",
                "action": die.choice(["run.start", "run.cancel", "runner.stop"]),
                "target": die.choice(["1", "2"]),
            }
            for n in numbers
        ),
    )
    made.insert(
        "firing",
        *(
            {
                "schedule": die.choice(["art", "jobs"]),
                "due": at(n),
                "at": at(die.choice([n, 7])),
                "what": die.choice(["started", "skipped"]),
                "run_id": n,
            }
            for n in numbers
        ),
    )
    made.insert(
        "alert",
        *(
            {
                "id": n,
                "key": f"k{n}",
                "kind": die.choice(["failure", "drift"]),
                "scraper": die.choice(["art", "jobs"]),
                "at": at(n),
                "title": "t",
                "seen": die.choice([None, NOW]),
            }
            for n in numbers
        ),
    )
    made.insert(
        "source",
        *(
            {
                "host": f"{die.choice('abc')}{n}.example",
                "last_hit": at(n),
                "ready_at": 0,
                "breaker": die.choice(["closed", "open"]),
                "paused": die.choice([0, 1]),
                "budget": die.choice([None, 5]),
            }
            for n in numbers
        ),
    )


# -- every row once --------------------------------------------------------------------------------------------

maybe = st.none
limits = st.sampled_from([1, 7, 30])


def rows_of(looking: Looking, statement: str) -> list[dict[str, Any]]:
    """Rows as mappings, read by a statement without any cleverness."""

    if stores.is_postgres():
        found = looking.wait(looking.desk._read(lambda db: db.fetch(statement)))
        return [dict(row) for row in found]

    def read(db: Any) -> list[dict[str, Any]]:
        found = db.execute(statement)
        return [dict(zip([column[0] for column in found.description], row, strict=True)) for row in found]

    return looking.wait(looking.desk.read(read))


def has(value: Any, wanted: Any) -> bool:
    return wanted is None or value == wanted


@QUICK
@given(
    limit=limits,
    scraper=maybe() | st.sampled_from(["art", "nba", "none"]),
    state=maybe() | st.sampled_from(["finished", "failed", "pending", "running", "killed"]),
    via=maybe() | st.sampled_from(["api"]),
    asked_by=maybe() | st.sampled_from(["ann", "Bob"]),
    verdict=maybe() | st.sampled_from(["good", "suspect"]),
    q=maybe() | st.sampled_from(["7", "ERROR", "%_s", "ann", "12", " "]),
    since=maybe() | st.integers(0, 4 * MANY).map(at),
    until=maybe() | st.integers(0, 4 * MANY).map(at),
)
def test_runs(filled: Looking, limit: int, **asked: Any) -> None:
    found = filled.all_pages(lists.runs, limit=limit, **asked)
    # Nobody walks them: what is called running was killed.
    stored = {"killed": "running", "running": "nothing"}.get(asked["state"] or "", asked["state"])
    q = (asked["q"] or "").strip().lower()
    expected = [
        row["id"]
        for row in rows_of(filled, "select * from run order by id desc")
        if has(row["scraper"], asked["scraper"])
        and has(row["state"], stored)
        and has(row["via"], asked["via"])
        and has(row["asked_by"], asked["asked_by"])
        and has(row["verdict"], asked["verdict"])
        and (asked["since"] is None or row["created"] >= asked["since"])
        and (asked["until"] is None or row["created"] < asked["until"])
        and (q == str(row["id"]) or any(q in row[name].lower() for name in ("scraper", "reason", "asked_by")))
    ]
    if q in [str(number) for number in expected]:  # the run of that number comes first
        expected.remove(int(q))
        expected.insert(0, int(q))
    assert [row.id for row in found] == expected
    assert all(row.state != "running" and row.params == {"city": "Oslo"} for row in found)


@QUICK
@given(
    limit=limits,
    scraper=maybe() | st.sampled_from(["art", "none"]),
    kind=maybe() | st.sampled_from(["show"]),
    run=maybe() | st.integers(1, 4),
    q=maybe() | st.sampled_from(['"Ärt"', "PLAIN", "k1", "example/2", "%"]),
    since=maybe() | st.integers(0, 4 * MANY).map(at),
    gone=st.sampled_from([None, True, False]),
    where=maybe() | st.sampled_from(["n > 150", "name ~ 'plain' and n < 200", "_kind = 'call' or _gone is null"]),
)
def test_items(filled: Looking, limit: int, where: str | None, **asked: Any) -> None:
    found = filled.all_pages(lists.items, limit=limit, where=where, **asked)
    seen = {row["item_id"] for row in rows_of(filled, "select * from sighting") if row["run_id"] == asked["run"]}
    q = (asked["q"] or "").lower()
    order = "id desc" if asked["since"] is None else "seq desc, id desc"
    test = Filter(where).holds if where else lambda record: True

    def record(row: dict[str, Any]) -> dict[str, Any]:
        gone = {"_gone": row["gone"]} if row["gone"] else {}
        return json.loads(row["data"]) | {"_kind": row["kind"]} | gone

    expected = [
        row["id"]
        for row in rows_of(filled, f"select * from item order by {order}")
        if has(row["scraper"], asked["scraper"])
        and has(row["kind"], asked["kind"])
        and (asked["run"] is None or row["id"] in seen)
        and (asked["since"] is None or row["last_changed"] >= asked["since"])
        and (asked["gone"] is None or (row["gone"] is not None) is asked["gone"])
        and any(q in text.lower() for text in (row["key"], row["url"], json.loads(row["data"])["name"]))
        and test(record(row))
    ]
    assert [row.id for row in found] == expected


@QUICK
@given(
    limit=limits,
    run=maybe() | st.integers(1, 13),
    scraper=maybe() | st.sampled_from(["art", "jobs", "none"]),
    host=maybe() | st.sampled_from(["a.example"]),
    state=maybe() | st.sampled_from(["waiting", "done", "skipped", "failed"]),
    reason=maybe() | st.sampled_from(["timeout", "ok", "none"]),
    q=maybe() | st.sampled_from(["A.EXAMPLE/1", "3"]),
)
def test_urls(filled: Looking, limit: int, **asked: Any) -> None:
    found = filled.all_pages(lists.urls, limit=limit, **asked)
    by_run = asked["scraper"] is not None and asked["run"] is None
    scrapers = {row["id"]: row["scraper"] for row in rows_of(filled, "select id, scraper from run")}
    q = (asked["q"] or "").lower()
    expected = [
        row["id"]
        for row in rows_of(filled, f"select * from request order by {'run_id desc, ' if by_run else ''}id desc")
        if has(row["run_id"], asked["run"])
        and has(scrapers[row["run_id"]], asked["scraper"])
        and has(row["host"], asked["host"])
        and has(["waiting", "done", "skipped", "failed"][row["state"]], asked["state"])
        and has(row["reason"], asked["reason"])
        and q in row["url"].lower()
    ]
    assert [row.id for row in found] == expected


@QUICK
@given(
    limit=limits,
    since=maybe() | st.integers(0, 4 * MANY).map(at),
    scraper=maybe() | st.sampled_from(["art", "none"]),
    kind=maybe() | st.sampled_from(["show"]),
    what=maybe() | st.sampled_from(["new", "changed", "gone", "back"]),
)
def test_changes(filled: Looking, store_changes: Callable[..., list[Any]], limit: int, **asked: Any) -> None:
    found = filled.all_pages(lists.changes, limit=limit, **asked)
    told = [(row.at, row.what, row.scraper, row.kind, row.key, row.after) for row in found]
    expected = [
        (each.at, each.what, each.scraper, each.kind, each.key, json.loads(each.after) if each.after else None)
        for each in store_changes(asked["since"] or 0.0, scraper=asked["scraper"], kind=asked["kind"])
        if has(each.what, asked["what"])
    ]
    assert sorted(told, key=repr) == sorted(expected, key=repr)
    if asked["what"] in ("changed", "gone", "back"):
        assert [row.at for row in found] == sorted((row.at for row in found), reverse=True)


@pytest.fixture
def store_changes(filled: Looking) -> Callable[..., list[Any]]:
    """The changes as the store itself tells them."""

    async def read(since: float, **asked: Any) -> list[Any]:
        async with opening.reading(filled.store) as store:
            return [change async for change in store.changes(since, **asked)]

    return lambda since, **asked: filled.wait(read(since, **asked))


@QUICK
@given(limit=limits, run=maybe() | st.integers(1, 12), scraper=maybe() | st.sampled_from(["art", "none"]))
def test_rejects(filled: Looking, limit: int, run: int | None, scraper: str | None) -> None:
    found = filled.all_pages(lists.rejects, limit=limit, run=run, scraper=scraper)
    expected = [
        row["id"]
        for row in rows_of(filled, "select reject.*, scraper from reject join run on run.id = run_id")
        if has(row["run_id"], run) and has(row["scraper"], scraper)
    ]
    assert sorted(row.id for row in found) == sorted(expected)
    assert len({row.id for row in found}) == len(found)


@QUICK
@given(
    limit=limits,
    run=maybe() | st.integers(1, 3),
    level=maybe() | st.sampled_from(["debug", "warning", "error", "critical"]),
    scraper=maybe() | st.sampled_from(["art"]),
    q=maybe() | st.sampled_from(["WELL", "%_", "host."]),
    since=maybe() | st.integers(0, 4 * MANY).map(at),
    after=maybe() | st.integers(0, 4 * MANY),
)
def test_events(filled: Looking, limit: int, **asked: Any) -> None:
    found = filled.all_pages(lists.events, limit=limit, **asked)
    levels = ["debug", "info", "warning", "error", "critical"]
    q = (asked["q"] or "").lower()
    expected = [
        row["id"]
        for row in rows_of(filled, "select * from event order by id desc")
        if has(row["run_id"], asked["run"])
        and (asked["level"] is None or levels.index(row["level"]) >= levels.index(asked["level"]))
        and has(row["scraper"], asked["scraper"])
        and (q in row["message"].lower() or q in row["name"])
        and (asked["since"] is None or row["at"] >= asked["since"])
        and (asked["after"] is None or row["id"] > asked["after"])
    ]
    assert [row.id for row in found] == expected


@QUICK
@given(
    limit=limits,
    who=maybe() | st.sampled_from(["ann", "nobody"]),
    action=maybe() | st.sampled_from(["run", "run.start", "runner"]),
    target=maybe() | st.sampled_from(["1"]),
)
def test_the_trail(filled: Looking, limit: int, who: str | None, action: str | None, target: str | None) -> None:
    found = filled.all_pages(lists.trail, limit=limit, who=who, action=action, target=target)
    expected = [
        row["id"]
        for row in rows_of(filled, "select * from trail order by id desc")
        if has(row["who"], who)
        and has(row["target"], target)
        and (action is None or row["action"] == action or row["action"].startswith(f"{action}."))
    ]
    assert [row.id for row in found] == expected


@QUICK
@given(limit=limits, schedule=maybe() | st.sampled_from(["art", "none"]), what=maybe() | st.sampled_from(["skipped"]))
def test_firings(filled: Looking, limit: int, schedule: str | None, what: str | None) -> None:
    found = filled.all_pages(lists.firings, limit=limit, schedule=schedule, what=what)
    order = "at desc, schedule desc, due desc" if schedule is None else "due desc"
    expected = [
        (row["schedule"], row["due"])
        for row in rows_of(filled, f"select * from firing order by {order}")
        if has(row["schedule"], schedule) and has(row["what"], what)
    ]
    assert [(row.schedule, row.due) for row in found] == expected


@QUICK
@given(
    limit=limits,
    kind=maybe() | st.sampled_from(["drift"]),
    scraper=maybe() | st.sampled_from(["art"]),
    seen=st.sampled_from([None, True, False]),
)
def test_alerts(filled: Looking, limit: int, kind: str | None, scraper: str | None, seen: bool | None) -> None:
    found = filled.all_pages(lists.alerts, limit=limit, kind=kind, scraper=scraper, seen=seen)
    expected = [
        row["id"]
        for row in rows_of(filled, "select * from alert order by id desc")
        if has(row["kind"], kind)
        and has(row["scraper"], scraper)
        and (seen is None or (row["seen"] is not None) is seen)
    ]
    assert [row.id for row in found] == expected


@QUICK
@given(
    limit=limits,
    q=maybe() | st.sampled_from(["A1", ".example", "none"]),
    paused=st.sampled_from([None, True, False]),
    breaker=maybe() | st.sampled_from(["open", "half_open"]),
)
def test_sources(filled: Looking, limit: int, q: str | None, paused: bool | None, breaker: str | None) -> None:
    found = filled.all_pages(lists.sources, limit=limit, q=q, paused=paused, breaker=breaker)
    expected = [
        row["host"]
        for row in rows_of(filled, "select * from source order by host")
        if (q or "").lower() in row["host"]
        and (paused is None or bool(row["paused"]) is paused)
        and has(row["breaker"], breaker)
    ]
    assert [row.host for row in found] == expected


# -- while others write ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("filters", [{}, {"scraper": "art"}, {"state": "finished"}, {"q": "done"}, {"since": 0.0}])
def test_runs_that_begin_meanwhile_are_given_once_or_not_at_all(looking: Looking, filters: dict[str, Any]) -> None:
    die = random.Random(1)
    begun = [run_row(n, die) | {"scraper": "art", "state": "finished", "reason": "done"} for n in range(1, 200)]
    looking.insert("run", *begun[:60])
    later = iter(begun[60:])
    found = looking.all_pages(lists.runs, lambda: looking.insert("run", next(later), next(later)), limit=4, **filters)
    numbers = [row.id for row in found]
    assert len(numbers) == len(set(numbers))
    assert set(numbers) >= set(range(1, 61))


@pytest.mark.parametrize("filters", [{}, {"scraper": "art"}, {"what": "new"}, {"what": "changed"}, {"since": 1.0}])
def test_changes_that_happen_meanwhile_do_not_double_others(looking: Looking, filters: dict[str, Any]) -> None:
    die = random.Random(2)
    looking.insert("item", *(item_row(n, die) | {"scraper": "art", "last_changed": at(n)} for n in range(1, 40)))
    change = {"run_id": 1, "what": "changed", "before": "{}"}
    looking.insert("change", *({"id": n, "item_id": n, "at": at(n)} | change for n in range(1, 30)))
    more = iter(range(1000, 2000))

    def meanwhile() -> None:
        n = next(more)
        looking.insert("item", item_row(n, die) | {"scraper": "art", "last_changed": at(n)})
        looking.insert("change", {"id": n, "item_id": n, "at": at(n)} | change)

    found = looking.all_pages(lists.changes, meanwhile, limit=5, **filters)
    told = [(row.item, row.what) for row in found]
    assert len(told) == len(set(told))
    before = {(n, "new") for n in range(1, 40)} | {(n, "changed") for n in range(1, 30)}
    assert set(told) >= {pair for pair in before if has(pair[1], filters.get("what"))}


# -- what callers give -----------------------------------------------------------------------------------------

LISTS = [
    lists.runs,
    lists.items,
    lists.changes,
    lists.rejects,
    lists.urls,
    lists.sources,
    lists.events,
    lists.trail,
    lists.firings,
    lists.alerts,
]


NAMES = ("runs", "items", "urls", "events", "trail", "alerts", "rejects", "changes", "sources", "firings")


@pytest.mark.parametrize("listing", LISTS)
@pytest.mark.parametrize("limit", [0, -1, 501])
def test_a_limit_that_is_none_is_refused(filled: Looking, listing: Any, limit: int) -> None:
    with pytest.raises(ConfigError, match="limit"):
        filled.wait(listing(filled.desk, limit=limit))


@pytest.mark.parametrize("listing", LISTS)
def test_a_cursor_that_nobody_gave_is_refused(filled: Looking, listing: Any) -> None:
    odd: list[tuple[Any, ...]] = [("x",), (-1,), (2**70,), (None,), ([1],), (1, 2, 3, 4)]
    forged = [
        paging.cursor_text(name, place) for name in NAMES for place in odd if (name, place[0]) != ("sources", "x")
    ]
    for cursor in ("", "?", "é", "bm9uZQ", paging.cursor_text("others", (5,)), paging.cursor_text("runs", ()), *forged):
        with pytest.raises(ConfigError, match="cursor"):
            filled.wait(listing(filled.desk, cursor=cursor))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60), st.sampled_from(LISTS))
def test_any_text_as_a_cursor_is_refused_in_a_sentence(filled: Looking, cursor: str, listing: Any) -> None:
    with pytest.raises(ConfigError, match="cursor"):
        filled.wait(listing(filled.desk, cursor=cursor))


@pytest.mark.parametrize(
    ("listing", "asked"),
    [
        (lists.runs, {"state": "sleeping"}),
        (lists.runs, {"via": "post"}),
        (lists.runs, {"verdict": "odd"}),
        (lists.runs, {"since": float("nan")}),
        (lists.runs, {"until": float("inf")}),
        (lists.runs, {"q": "x" * 301}),
        (lists.items, {"run": -1}),
        (lists.items, {"run": 2**63}),
        (lists.items, {"where": "price >"}),
        (lists.urls, {"state": "gone"}),
        (lists.changes, {"what": "old"}),
        (lists.events, {"level": "loud"}),
        (lists.sources, {"breaker": "ajar"}),
        (lists.errors, {"hours": 0}),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(filled: Looking, listing: Any, asked: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        filled.wait(listing(filled.desk, **asked))


def test_odd_texts_are_looked_for_as_they_are(filled: Looking) -> None:
    for odd in ("\ud800", "\0", "'; drop table run; --", "!%_", "\\", "𝄞" * 50):
        assert filled.wait(lists.runs(filled.desk, q=odd)).rows == []
        assert filled.wait(lists.urls(filled.desk, q=odd, host=odd)).rows == []


def test_a_page_of_heavy_records_ends_early(looking: Looking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "HEAVY", 50_000)
    heavy = json.dumps({"text": "x" * 1_000})
    looking.insert("item", *(item_row(n, random.Random(3)) | {"data": heavy} for n in range(1, 301)))
    first = looking.wait(lists.items(looking.desk, gone=None, limit=300))
    assert 1 <= len(first.rows) < 300
    assert len(looking.all_pages(lists.items, gone=None, limit=300)) == 300


# -- one of them -----------------------------------------------------------------------------------------------


def test_a_run_that_nobody_walks_was_killed(looking: Looking) -> None:
    row = run_row(1, random.Random(1)) | {"state": "running"}
    looking.insert("run", row)

    def told() -> tuple[str, list[int], list[int]]:
        detail = looking.wait(lists.run(looking.desk, 1))
        assert detail is not None
        ids = [[r.id for r in looking.wait(lists.runs(looking.desk, state=s)).rows] for s in ("running", "killed")]
        assert looking.wait(lists.runs(looking.desk)).rows[0].state == detail.run.state
        return detail.run.state, ids[0], ids[1]

    assert told() == ("killed", [], [1])
    worker = {"name": "w", "pid": 1, "started": 0, "at": time.time() - 60, "data": '{"runs": {}}'}
    looking.insert("worker", worker)
    assert told() == ("killed", [], [1])
    looking.write("update worker set at = :at", [{"at": time.time()}])
    assert told() == ("running", [1], [])
    looking.write("delete from worker")
    # One that the command line walks beside the service has a lease.
    looking.insert("lease", {"run_id": 1, "shard": -1, "owner": "cli", "token": 1, "until": time.time() + 60})
    assert told() == ("running", [1], [])


def test_a_run_in_detail(looking: Looking) -> None:
    async def work() -> int:
        async with opening.working(looking.store) as store:
            run = await store.new_run(Draft("shop", "shop.py:Shop", "sig", {"a": 1}, {"rate": "2/s"}, {"parser": "p"}))
            lease = await store.acquire(run.id, "me", 60, {"rate": 0.5})
            await store.add(lease, [Request(f"http://a.example/{n}") for n in range(5)], last=True)
            first, second, third, *_ = await store.peek(run.id, "a.example", 5, ())
            outcomes = [
                Outcome(first, Ending.DONE, "ok", status=200, size=7, started=NOW, elapsed=0.1),
                Outcome(second, Ending.FAILED, "timeout", started=NOW, elapsed=1),
                Outcome(third, Ending.LATER, "timeout", attempt=True, not_before=NOW + 5000, started=NOW, elapsed=1),
            ]
            await store.settle(lease, Batch(outcomes, seconds=2.0))
            return run.id

    number = looking.wait(work())
    detail = looking.wait(lists.run(looking.desk, number))
    assert detail is not None
    assert (detail.run.pages, detail.run.failed, detail.run.retried, detail.run.size) == (1, 1, 1, 7)
    assert (detail.waiting, detail.parked, detail.due) == (2, 1, pytest.approx(NOW + 5000))
    assert detail.by_reason == {"ok": 1, "timeout": 1}
    assert (detail.ref, detail.options, detail.reading) == ("shop.py:Shop", {"rate": "2/s"}, {"parser": "p"})
    assert detail.starts[0].limits == {"rate": 0.5}
    assert detail.seeded
    assert detail.run.params == {"a": 1}
    assert looking.wait(lists.run(looking.desk, 99)) is None
    assert looking.wait(lists.run(looking.desk, 2**70)) is None


def test_an_item_with_its_history_and_who_saw_it(looking: Looking) -> None:
    async def work() -> list[int]:
        async with opening.working(looking.store) as store:
            return [
                await settle(store, [{"id": "1", "price": 3}, {"id": "2", "price": 9}]),
                await settle(store, [{"id": "1", "price": 4}, {"id": "2", "price": 9}]),
                await settle(store, [{"id": "2", "price": 9}]),
                await settle(store, [{"id": "1", "price": 4}, {"id": "2", "price": 9}]),
            ]

    first, second, third, fourth = looking.wait(work())
    (row,) = [row for row in looking.wait(lists.items(looking.desk)).rows if row.key == "1"]
    assert row.data == {"id": "1", "price": 4}
    detail = looking.wait(lists.item(looking.desk, row.id))
    assert detail is not None
    assert detail.whole
    assert [(each.what, each.run) for each in detail.history] == [
        ("back", fourth),
        ("gone", third),
        ("changed", second),
        ("new", first),
    ]
    back, gone, changed, new = detail.history
    assert [(delta.path, delta.before, delta.after) for delta in changed.fields] == [("price", 3, 4)]
    assert (gone.before, gone.after) == ({"id": "1", "price": 4}, None)
    assert (back.after, new.before, new.after) == ({"id": "1", "price": 4}, None, {"id": "1", "price": 3})
    assert [(seen.run, seen.url) for seen in detail.seen] == [
        (run, "http://shop.example/") for run in (fourth, second, first)
    ]
    assert looking.wait(lists.item(looking.desk, 999)) is None
    assert [row.what for row in looking.wait(lists.changes(looking.desk, scraper="shop")).rows].count("new") == 2


def test_a_source_with_its_robots_and_notices(looking: Looking) -> None:
    async def work() -> None:
        async with opening.working(looking.store) as store:
            note = SourceNote(
                "a.example", NOW, NOW + 90_000, 1.5, 3.0, 0.2, "open", 2, NOW + 90_000, "too many failures"
            )
            await store.remember([note, SourceNote("b.example", NOW, 0.0)])
            await store.keep_robots(RobotsNote("http://a.example", NOW - 9, NOW - 9, 404, b""))
            await store.keep_robots(RobotsNote("http://a.example", NOW - 5, NOW - 5, 200, b"User-agent: *"))
            await store.keep_robots(RobotsNote("https://b.example", NOW, NOW, 0, b"", "it cannot be reached"))
            run = await store.new_run(Draft("shop", "r", "s", {}, {}))
            lease = await store.acquire(run.id, "me", 60)
            notices = [Notice("a.example", NOW - n, "slowed", 1.0, f"slower {n}") for n in (3, 2, 1)]
            await store.settle(lease, Batch([], notices=notices))

    looking.wait(work())
    looking.write("update source set paused = 1, budget = 7, ruled_by = 'ann' where host = 'b.example'")
    first, second = looking.wait(lists.sources(looking.desk)).rows
    assert (first.host, first.interval, first.crawl_delay, first.breaker) == ("a.example", 1.5, 3.0, "open")
    assert first.held_until == pytest.approx(NOW + 90_000)
    assert first.why == "too many failures"
    assert (first.robots, first.robots_at) == ("rules", NOW - 5)
    assert first.notice is not None
    assert first.notice.detail == "slower 1"
    assert (second.paused, second.budget, second.ruled_by, second.held_until) == (True, 7, "ann", None)
    assert (second.robots, second.notice) == ("closed", None)
    detail = looking.wait(lists.source(looking.desk, "a.example"))
    assert detail is not None
    assert [(version.status, version.text) for version in detail.robots] == [(200, "User-agent: *"), (404, "")]
    assert [notice.detail for notice in detail.notices] == ["slower 1", "slower 2", "slower 3"]
    assert looking.wait(lists.source(looking.desk, "c.example")) is None


def test_urls_that_are_not_to_be_fetched_say_so(looking: Looking) -> None:
    die = random.Random(4)
    looking.insert("run", run_row(1, die))
    looking.insert("request", *(request_row(n, die) | {"run_id": 1, "url": f"http://a.example/{n}"} for n in (1, 2)))
    from gossamer import urls

    digest = urls.digest(urls.comparable("http://a.example/2"))
    looking.insert("mark", {"digest": digest, "url": "http://a.example/2", "by": "ann", "at": NOW})
    assert {row.url: row.inactive for row in looking.wait(lists.urls(looking.desk)).rows} == {
        "http://a.example/1": False,
        "http://a.example/2": True,
    }
    assert looking.wait(lists.why(looking.desk, "http://a.example/2")).inactive


def test_workers(looking: Looking) -> None:
    looking.insert(
        "worker",
        {"name": "old", "pid": 1, "started": 0, "at": NOW - 600, "data": "broken"},
        {"name": "new", "pid": 2, "started": 0, "at": time.time(), "data": '{"runs": {"5": {"waiting": 7}}}'},
    )
    new, old = looking.wait(lists.workers(looking.desk))
    assert (new.name, new.alive, new.data) == ("new", True, {"runs": {"5": {"waiting": 7}}})
    assert (old.name, old.alive, old.data) == ("old", False, {})


# -- why -------------------------------------------------------------------------------------------------------


def test_why_is_the_truth_that_the_store_tells(looking: Looking) -> None:
    url = "http://a.example/page?b=2&a=1"

    async def work() -> list[Any]:
        async with opening.working(looking.store) as store:
            for n in range(3):
                run = await store.new_run(Draft("shop", "r", f"s{n}", {}, {}))
                lease = await store.acquire(run.id, "me", 60, {"robots": n != 1, "agent": "gossamer"})
                again = [Request(url, data={"q": "1"}), Request(url, revisit=True)] if n else []
                await store.add(lease, [Request("http://a.example/"), *again], last=True)
                for page in await store.peek(run.id, "a.example", 5, ()):
                    found = (Request(url, depth=1),) if page.url.endswith("/") else ()
                    rejects = (Reject("product", "{}", "clean", "no name"),) if n else ()
                    done = Outcome(page, Ending.DONE, "ok", status=200, size=9, started=NOW, elapsed=0.1)
                    await store.settle(lease, Batch([replace(done, found=found, rejects=rejects)]))
                (page,) = await store.peek(run.id, "a.example", 5, ())
                failed = Outcome(page, Ending.LATER, "timeout", "slow", attempt=True, started=NOW, elapsed=5)
                log = Fetch(page.url, "a.example", NOW, 5.0, 0, 0, "timeout", page.id, "slow")
                await store.settle(lease, Batch([failed], fetches=[log]))
                await store.release(lease)
            await settle(store, [{"id": "1"}])
            await settle(store, [{"id": "1", "held": True}], held=True)
            body = b"User-agent: *\nDisallow: /private\nCrawl-delay: 3"
            await store.keep_robots(RobotsNote("http://a.example", NOW - 60, NOW, 200, body))
            await store.remember([SourceNote("a.example", NOW, NOW + 900, 2.0, 3.0, why="it said so")])
            told = []
            for each in (url, "http://a.example/", "http://shop.example/", "http://a.example/none"):
                told.append((each, await store.why(each), await explain.url_story(store, each)))
            return told

    for each, expected, (known, words) in looking.wait(work()):
        told = looking.wait(lists.why(looking.desk, each, limit=100))
        cursor = told.next
        found = [*told.stories]
        while cursor:
            page = looking.wait(lists.why(looking.desk, each, limit=2, cursor=cursor))
            found += page.stories
            cursor = page.next
        assert sorted([rounded(story.story) for story in found], key=repr) == sorted(map(rounded, expected), key=repr)
        assert bool(found) is known
        for story in found:
            assert "\n  ".join(story.sentences) in words
        assert not known or "; ".join(told.host) in words
        assert all(guess in words for guess in told.guesses)
        assert bool(told.guesses) is not known


def rounded(story: UrlStory) -> UrlStory:
    """A story without the last digits of its time, which JSON in SQLite does not have."""
    return replace(story, started=story.started and round(story.started, 3))


def test_why_by_pages_tells_each_run_once(looking: Looking) -> None:
    from gossamer import urls

    die = random.Random(6)
    url = "http://a.example/page"
    digest = urls.digest(url)
    looking.insert("run", *(run_row(n, die) for n in range(1, 31)))
    plain = [request_row(n, die) | {"run_id": n, "url": url, "digest": digest} for n in range(1, 31, 2)]
    other = [request_row(100 + n, die) | {"run_id": n, "url": url} for n in range(1, 31, 3)]
    looking.insert("request", *plain, *other, *(request_row(200 + n, die) | {"run_id": 30} for n in range(40)))
    found: list[int] = []
    cursor = None
    while True:
        page = looking.wait(lists.why(looking.desk, url, limit=4, cursor=cursor))
        found += [each.request for each in page.stories]
        cursor = page.next
        if cursor is None:
            break
    assert sorted(found) == sorted(row["id"] for row in [*plain, *other])


def test_why_of_what_is_no_url_is_refused(looking: Looking) -> None:
    with pytest.raises(ConfigError):
        looking.wait(lists.why(looking.desk, "no url"))
    with pytest.raises(ConfigError, match="cursor"):
        looking.wait(lists.why(looking.desk, "http://a.example/", cursor="bm9uZQ"))


# -- errors ----------------------------------------------------------------------------------------------------


def test_errors_by_cause(looking: Looking) -> None:
    die = random.Random(7)
    hour = int(time.time()) // 3600
    looking.insert("run", run_row(1, die) | {"scraper": "art"}, run_row(2, die) | {"scraper": "jobs"})
    failed = {"state": 3, "reason": "timeout", "detail": "slow", "started": NOW, "status": 0}
    looking.insert("request", *(request_row(n, die) | failed | {"run_id": 1 + n % 2} for n in range(1, 13)))
    looking.insert(
        "cause",
        {"hour": hour, "scraper": "art", "reason": "timeout", "n": 6},
        {"hour": hour - 1, "scraper": "art", "reason": "timeout", "n": 2},
        {"hour": hour - 1, "scraper": "jobs", "reason": "http_404", "n": 2},
        {"hour": hour - 30, "scraper": "art", "reason": "timeout", "n": 99},
    )
    slow, missing = looking.wait(lists.errors(looking.desk, hours=4))
    assert (slow.reason, slow.count, slow.share, slow.trend) == ("timeout", 8, 0.8, [0, 0, 2, 6])
    assert (slow.first, slow.last) == ((hour - 1) * 3600.0, hour * 3600.0)
    assert slow.meaning
    assert "timeout" in slow.advice
    assert [example.request for example in slow.examples] == [12, 11, 10, 9, 8]
    assert (missing.reason, missing.trend) == ("http_404", [0, 0, 2, 0])
    assert "not exist" in missing.meaning
    (only,) = looking.wait(lists.errors(looking.desk, scraper="jobs", hours=4))
    assert (only.reason, only.share) == ("http_404", 1.0)
    (art,) = looking.wait(lists.errors(looking.desk, scraper="art", hours=4))
    assert {example.scraper for example in art.examples} == {"art"}


def test_a_store_without_anything(looking: Looking) -> None:
    for listing in LISTS:
        page = looking.wait(listing(looking.desk))
        assert (page.rows, page.next) == ([], None)
    assert looking.wait(lists.errors(looking.desk)) == []
    assert looking.wait(lists.workers(looking.desk)) == []
    assert looking.wait(lists.why(looking.desk, "http://a.example/")).stories == []
