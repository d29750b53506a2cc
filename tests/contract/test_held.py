"""Items that are held back: beside unchanged pages, newer runs and clocks set back; and when an item is gone."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest

from gossamer.errors import StoreError
from gossamer.storage.store import Change, Draft, Reread, Store
from gossamer.values import Item, Lease, Request, RunState, Verdict, Visit
from tests.contract.conftest import Opener
from tests.contract.steps import A, done, items_of, played, ready, settle


def item(key: str, value: Any = 1, kind: str = "item") -> Item:
    return Item(kind=kind, key=key, data=msgspec.json.encode({"a": value}).decode())


async def start(store: Store, *, hold: bool = False, params: Any = None, options: Any = None) -> Lease:
    run = await store.new_run(Draft("quotes", "quotes.py:Quotes", "same", params or {}, options or {}))
    lease = await store.acquire(run.id, f"owner of {run.id}", 60.0)
    await store.add(lease, [], last=True)
    if hold:
        await store.hold(lease)
    return lease


async def page(store: Store, lease: Lease, path: str, *found: Item, at: float, **more: Any) -> int:
    """Walk one more page; how many items the run had not seen."""
    url = f"{A}{path}"
    await store.add(lease, [Request(url, to=more.pop("to", "parse"))], last=True)
    request = next(r for r in await ready(store, lease) if r.url == url)
    return (await settle(store, lease, done(request, items=found, started=at, **more))).items


async def end(store: Store, lease: Lease, verdict: Verdict | None = None, gone: Any = 1) -> int:
    """End a run well; how many items are gone by it."""
    if verdict is not None:
        await store.judge(lease, verdict, "{}", None)
    await store.promote()
    found = await store.mark_gone(lease, gone)
    await store.end_run(lease, RunState.FINISHED, "done")
    return found


async def a_run(store: Store, *found: Item, at: float = 0.0, gone: Any = 1, **more: Any) -> int:
    lease = await start(store, **more)
    await page(store, lease, "p", *found, at=at or time.time())
    return await end(store, lease, gone=gone)


async def changes(store: Store) -> list[Change]:
    return [change async for change in store.changes(0.0)]


async def values(store: Store) -> dict[str, Any]:
    return {row["key"]: row["data"]["a"] for row in await items_of(store)}


def visit(*keys: str, at: float = 100.0, digest: str = "d", sha256: str = "s") -> Visit:
    return Visit(digest, at, at, None, None, sha256, (), tuple(("item", key) for key in keys))


# -- beside unchanged pages ------------------------------------------------------------------------------------


@played
async def test_an_unchanged_page_that_shows_an_item_later_does_not_undo_what_was_held_back(store: Opener) -> None:
    async with store() as s:
        await a_run(s, item("k", 1), at=100.0)
        lease = await start(s, hold=True)
        assert await page(s, lease, "changed", item("k", 2), at=200.0) == 1
        assert await page(s, lease, "same", at=201.0, seen=(("item", "k"),)) == 0
        await end(s, lease, Verdict.GOOD)
        assert await values(s) == {"k": 2}


@played
@pytest.mark.parametrize("hold", [False, True])
async def test_an_item_is_counted_once_however_often_a_run_meets_it(store: Opener, hold: bool) -> None:
    async with store() as s:
        await a_run(s, item("k"), item("l"), at=100.0)
        lease = await start(s, hold=hold)
        brought = [
            await page(s, lease, "1", at=200.0, seen=(("item", "k"), ("item", "unknown"))),
            await page(s, lease, "2", item("k", 2), item("n"), item("n"), at=201.0),
            await page(s, lease, "3", item("n", 3), at=202.0, seen=(("item", "k"), ("item", "l"))),
        ]
        if hold:  # stopped, found good, and resumed
            await s.judge(lease, Verdict.GOOD, "{}", None)
            await s.promote()
            await s.hold(lease)
        brought.append(await page(s, lease, "4", item("k", 2), item("n", 4), item("o"), at=203.0))
        assert brought == [1, 1, 1, 1]
        run = await s.run(lease.run)
        assert run is not None
        assert run.items == 4
        assert len(await s.sample(lease.run, 100)) == 4


@played
async def test_what_a_held_page_gave_stands_for_it_only_once_it_comes_through(store: Opener) -> None:
    async with store() as s:
        for verdict, known in ((Verdict.ACCEPTED, True), (Verdict.REJECTED, False)):
            lease = await start(s, hold=True)
            told = visit("k", digest=verdict, sha256=str(lease.run))
            await page(s, lease, "p", item("k", verdict), at=200.0, visit=told)
            await s.judge(lease, Verdict.SUSPECT, "{}", "{}")
            assert await s.visits("quotes", [verdict]) == {}
            await s.decide(lease.run, verdict)
            await s.promote()
            assert (await s.visits("quotes", [verdict]) == {verdict: told}) is known


@played
async def test_what_is_known_of_a_page_since_is_not_undone_by_what_comes_through_late(store: Opener) -> None:
    async with store() as s:
        late = await start(s, hold=True)
        await page(s, late, "p", item("k", 1), at=200.0, visit=visit("k", at=200.0, sha256="old"))
        await s.judge(late, Verdict.SUSPECT, "{}", "{}")
        newer = await start(s)
        await page(s, newer, "p", item("k", 2), at=300.0, visit=visit("k", at=300.0, sha256="new"))
        await end(s, newer)
        await s.decide(late.run, Verdict.ACCEPTED)
        await s.promote()
        assert (await s.visits("quotes", ["d"]))["d"].sha256 == "new"
        assert await values(s) == {"k": 2}


@played
async def test_many_visits_come_through_without_items(store: Opener) -> None:
    async with store() as s:
        lease = await start(s, hold=True)
        await s.add(lease, [Request(f"{A}{n}") for n in range(2500)], last=True)
        requests = await ready(s, lease)
        await settle(s, lease, *(done(r, visit=visit(digest=r.url)) for r in requests))
        await end(s, lease, Verdict.GOOD)
        assert len(await s.visits("quotes", [r.url for r in requests])) == 2500


# -- several pages, and their order ----------------------------------------------------------------------------


@played
async def test_of_several_pages_in_one_group_the_last_says_what_a_held_item_is(store: Opener) -> None:
    async with store() as s:
        lease = await start(s, hold=True)
        await s.add(lease, [Request(f"{A}{n}") for n in range(5)], last=True)
        requests = await ready(s, lease)
        await settle(s, lease, *(done(r, items=(item("k", n),), started=200.0) for n, r in enumerate(requests)))
        await end(s, lease, Verdict.GOOD)
        assert await values(s) == {"k": 4}
        assert [change.what for change in await changes(s)] == ["new"]


@played
async def test_what_pages_gave_is_the_same_whether_items_are_held_back_or_not(store: Opener) -> None:
    """A list shows an item, then its own page: were they counted for another page, good runs would look broken."""
    async with store() as s:
        facts = []
        for hold in (False, True):
            lease = await start(s, hold=hold)
            await page(s, lease, "list", item("a"), item("b"), at=200.0)
            await page(s, lease, "a", item("a", 2), at=201.0, to="detail")
            facts.append(await s.facts(lease.run))
            await end(s, lease, Verdict.GOOD)
        assert facts[0] == facts[1]
        assert facts[0].handlers["parse"].giving == 1


@played
async def test_two_kinds_with_one_key_are_two_items(store: Opener) -> None:
    async with store() as s:
        lease = await start(s, hold=True)
        assert await page(s, lease, "p", item("k", 1, "book"), item("k", 2, "author"), at=200.0) == 2
        await end(s, lease, Verdict.GOOD)
        assert {row["kind"]: row["data"]["a"] for row in await items_of(s)} == {"book": 1, "author": 2}
        lease = await start(s)
        await page(s, lease, "p", item("k", 1, "book"), at=300.0)
        assert await end(s, lease) == 1
        assert [row["kind"] for row in await items_of(s)] == ["book"]


@played
async def test_characters_that_no_store_keeps_tell_held_items_apart_as_others(store: Opener) -> None:
    async with store() as s:
        odd = ("a\0b", "a\ud800b", "a\udfffb", "plain")
        for at, hold in ((100.0, False), (200.0, True)):
            lease = await start(s, hold=hold)
            await page(s, lease, "p", *(item(key, at) for key in odd), at=at, visit=visit(*odd, at=at))
            await end(s, lease, Verdict.GOOD if hold else None)
            assert await values(s) == {"a\ufffdb": at, "plain": at}
        lease = await start(s)
        known = (await s.visits("quotes", ["d"]))["d"]
        assert await page(s, lease, "p", at=300.0, seen=known.items) == 2
        assert await end(s, lease) == 0


@played
async def test_huge_records_come_through(store: Opener) -> None:
    async with store() as s:
        lease = await start(s, hold=True)
        for n in range(12):
            await page(s, lease, f"{n}", item(f"{n}", "x" * (4 << 20)), at=200.0)
        assert len(await s.sample(lease.run, 100)) == 12
        await s.judge(lease, Verdict.GOOD, "{}", None)
        assert await s.promote() == 12
        assert len(await items_of(s)) == 12


# -- what is newer ---------------------------------------------------------------------------------------------


@played
async def test_what_is_gone_since_does_not_come_back_with_an_older_run(store: Opener) -> None:
    async with store() as s:
        await a_run(s, item("k"), item("l"))
        late = await start(s, hold=True)
        await page(s, late, "p", item("k", 2), at=time.time())
        await s.judge(late, Verdict.SUSPECT, "{}", "{}")
        assert await a_run(s, item("l"), at=time.time()) == 1
        await s.decide(late.run, Verdict.ACCEPTED)
        await s.promote()
        assert list(await values(s)) == ["l"]
        assert [change.what for change in await changes(s)] == ["new", "new", "gone"]


@played
async def test_a_clock_that_was_set_back_holds_nothing_back(store: Opener) -> None:
    async with store() as s:
        await a_run(s, item("k", 1), item("g"), at=5e9)
        await a_run(s, item("k", 1), at=5e9)
        lease = await start(s, hold=True)
        await page(s, lease, "p", item("k", 2), item("g", 2), at=100.0)
        assert await end(s, lease, Verdict.GOOD) == 0
        assert await values(s) == {"k": 2, "g": 2}


@played
async def test_an_older_run_that_is_resumed_is_newer_where_it_looked_later(store: Opener) -> None:
    async with store() as s:
        old = await start(s, hold=True)
        await page(s, old, "1", item("a", "old"), item("b", "old"), at=100.0)
        await a_run(s, item("a", "new"), item("b", "new"), at=200.0)
        await page(s, old, "2", item("a", "resumed"), at=300.0)
        assert await end(s, old, Verdict.GOOD) == 0
        assert await values(s) == {"a": "resumed", "b": "new"}


# -- gone ------------------------------------------------------------------------------------------------------


@played
async def test_a_clock_that_was_set_back_keeps_nothing_from_being_gone(store: Opener) -> None:
    async with store() as s:
        await a_run(s, item("a"), item("b"), at=5e9)
        assert await a_run(s, item("a"), at=100.0) == 1


@played
@pytest.mark.parametrize(("gone", "runs"), [(60, 60), (1e-9, 55)])
async def test_gone_may_take_many_runs(store: Opener, gone: Any, runs: int) -> None:
    async with store() as s:
        await a_run(s, item("a"), item("b"), at=100.0)
        for _ in range(runs - 1):
            assert await a_run(s, item("a"), at=200.0, gone=60 if isinstance(gone, int) else "never") == 0
        assert await a_run(s, item("a"), at=200.0, gone=gone) == 1


@played
async def test_runs_that_were_asked_for_something_else_say_nothing(store: Opener) -> None:
    async with store() as s:
        await a_run(s, item("a"), item("b"), params={"q": "art"})
        for other in ({"params": {"q": "jobs"}}, {"params": {"q": "art"}, "options": {"depth": 1}}):
            assert await a_run(s, item("c"), **other) == 0
            assert await a_run(s, **other) == 1  # its own, for which it came back
        assert sorted(await values(s)) == ["a", "b"]
        assert await a_run(s, item("b"), params={"q": "art"}, options={"rate": "5/s"}) == 1


@played
async def test_who_saw_an_item_last_says_when_it_is_gone(store: Opener) -> None:
    """Two searches find the same thing: that one of them no longer does is no news."""
    async with store() as s:
        art, jobs = {"params": {"q": "art"}}, {"params": {"q": "jobs"}}
        await a_run(s, item("k"), item("a"), **art)
        for _ in range(3):
            assert await a_run(s, item("k"), item("j"), **jobs) == 0
            assert await a_run(s, item("a"), **art) == 0
        assert await a_run(s, item("j"), **jobs) == 1
        assert [change.what for change in await changes(s)].count("gone") == 1


@played
async def test_reading_pages_again_is_no_sighting(store: Opener) -> None:
    async with store() as s:
        await a_run(s, item("a"), item("b"), at=100.0)
        replay = await start(s)
        await s.reread(replay, [Reread("item", "b", '{"a":9}', A, 1, 100.0), Reread("item", "n", "{}", A, 1, 100.0)])
        await s.end_run(replay, RunState.FINISHED, "replay")
        assert await a_run(s, item("a"), at=200.0) == 2
        told = {(change.what, change.key): change.run for change in await changes(s)}
        assert (told["new", "a"], told["new", "n"]) == (1, replay.run)


# -- judging ---------------------------------------------------------------------------------------------------


@played
async def test_what_is_sampled_has_kinds_that_take_turns(store: Opener) -> None:
    async with store() as s:
        for hold in (False, True):
            lease = await start(s, hold=hold)
            await page(s, lease, "p", *(item(f"{n}", n, "even" if n % 2 else "odd") for n in range(1000)), at=200.0)
            sample = await s.sample(lease.run, 500)
            assert len(sample) == pytest.approx(500, abs=20)
            assert sum(kind == "odd" for kind, _, _ in sample) == pytest.approx(250, abs=30)


@played
async def test_good_runs_are_remembered_however_many_were_not(store: Opener) -> None:
    async with store() as s:
        for verdict in [Verdict.LEARNING, Verdict.GOOD, Verdict.ACCEPTED] + [Verdict.SUSPECT] * 5:
            lease = await start(s, hold=True, params={"q": "art"})
            await s.judge(lease, verdict, str(lease.run), None)
        narrowed = await start(s, hold=True, params={"q": "art"}, options={"include": ["x"]})
        await s.judge(narrowed, Verdict.GOOD, "narrowed", None)
        now = await start(s, params={"q": "art"}, options={"rate": "1/s"})
        assert [each.profile for each in await s.past(now.run, 2)] == ["3", "2"]
        assert await s.past(2, 9) == (await s.past(now.run, 9))[2:]
        other = await start(s, params={"q": "jobs"})
        assert await s.past(other.run, 9) == []


@played
async def test_a_suspect_run_that_goes_on_is_held_back_and_judged_again_but_a_persons_word_holds(store: Opener) -> None:
    async with store() as s:
        lease = await start(s, hold=True)
        await page(s, lease, "1", item("a"), at=200.0)
        await s.judge(lease, Verdict.SUSPECT, "{}", "{}")
        await s.hold(lease)
        await page(s, lease, "2", item("b"), at=200.0)
        assert await values(s) == {}
        await s.judge(lease, Verdict.SUSPECT, "{}", "{}")
        await s.decide(lease.run, Verdict.ACCEPTED)
        with pytest.raises(StoreError, match="decided on already"):
            await s.hold(lease)


@played
async def test_a_run_whose_items_wait_to_be_judged_is_not_over_and_one_that_was_rejected_is(store: Opener) -> None:
    async with store() as s:
        lease = await start(s, hold=True)
        await s.end_run(lease, RunState.CANCELLED, "interrupted")
        run = await s.unfinished("same")
        assert run is not None
        assert run.id == lease.run
        await s.judge(lease, Verdict.SUSPECT, "{}", "{}")
        assert await s.unfinished("same") is None
        await s.add(lease, [Request(A)], last=True)
        assert await s.unfinished("same") is not None
        await s.decide(lease.run, Verdict.REJECTED)
        assert await s.unfinished("same") is None


@played
async def test_what_is_accepted_late_is_new_and_changed_when_it_becomes_current(store: Opener) -> None:
    """Who asks once a day for what changed since yesterday must not miss it."""
    async with store() as s:
        await a_run(s, item("old", 1), at=100.0)
        lease = await start(s, hold=True)
        await page(s, lease, "p", item("old", 2), item("new"), at=200.0)
        await s.judge(lease, Verdict.SUSPECT, "{}", "{}")
        before = time.time()
        await s.decide(lease.run, Verdict.ACCEPTED)
        await s.promote()
        told = [(change.what, change.key) async for change in s.changes(before)]
        assert sorted(told) == [("changed", "old"), ("new", "new")]
        rows = {row["key"]: row for row in await items_of(s, since=before)}
        assert {key: (row["first_seen"], row["last_seen"]) for key, row in rows.items()} == {
            "old": (100.0, 200.0),
            "new": (200.0, 200.0),
        }


@played
async def test_how_often_an_item_was_seen_is_the_same_whether_it_is_held_back_or_not(store: Opener) -> None:
    async with store() as s:
        for hold in (False, True):
            lease = await start(s, hold=hold)
            await page(s, lease, "list", item("a"), item("b"), item("a", 3), at=200.0)
            await page(s, lease, "a", item("a", 2), at=201.0)
            await end(s, lease, Verdict.GOOD)
            rows = {row["key"]: row["times_seen"] for row in await items_of(s)}
            assert rows == ({"a": 6, "b": 2} if hold else {"a": 3, "b": 1})
