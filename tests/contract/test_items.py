"""What becomes of items: history, gone and back, the log of changes, rejects, items held back, sinks."""

from __future__ import annotations

import time
from typing import Any

import pytest

from gossamer.errors import LeaseLost, StoreError
from gossamer.storage.store import Change, Draft, Reread, SinkNote, Store, Wanted
from gossamer.values import Ending, Item, Lease, Outcome, Reject, Request, RunState, Verdict
from tests.contract.conftest import Opener
from tests.contract.steps import A, begin, done, items_of, played, ready, settle


def item(key: str, data: str = '{"a":1}', kind: str = "item") -> Item:
    return Item(kind=kind, key=key, data=data)


async def page(store: Store, lease: Lease, url: str, *found: Item, at: float, **more: Any) -> int:
    """Walk one more page that shows these items; how many of them the run had not seen."""
    await store.add(lease, [Request(url)], last=True)
    request = next(r for r in await ready(store, lease) if r.url == url)
    return (await settle(store, lease, done(request, items=found, started=at, **more))).items


async def finished(store: Store, *pages: tuple[str, tuple[Item, ...]], at: float | None = None, gone: Any = 1) -> Lease:
    """A run that read these pages, now unless a time is given, and ended well."""
    lease = await begin(store)
    for url, found in pages:
        await page(store, lease, url, *found, at=at or time.time())
    await store.end_run(lease, RunState.FINISHED, "done")
    await store.mark_gone(lease, gone)
    return lease


async def changes(store: Store, since: float = 0.0, **of: Any) -> list[Change]:
    return [change async for change in store.changes(since, **of)]


async def told(store: Store, **of: Any) -> list[tuple[str, str, str | None, str | None]]:
    return [(c.what, c.key, c.before, c.after) for c in await changes(store, **of)]


FUTURE = 4e9  # runs are dated by the machine's clock: items are seen after that

# -- history ---------------------------------------------------------------------------------------------------


@played
async def test_every_version_of_an_item_is_kept(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        for n, data in enumerate(["1", "2", "2", "3"]):
            await page(s, lease, f"{A}{n}", item("k", f'{{"a":{data}}}'), at=100.0 + n)
        assert await told(s) == [
            ("new", "k", None, '{"a":1}'),
            ("changed", "k", '{"a":1}', '{"a":2}'),
            ("changed", "k", '{"a":2}', '{"a":3}'),
        ]
        assert [change.at for change in await changes(s)] == [100.0, 101.0, 103.0]
        assert [change.run for change in await changes(s)] == [lease.run] * 3
        (row,) = await items_of(s)
        assert (row["times_seen"], row["last_changed"], row["last_seen"]) == (4, 103.0, 103.0)


@played
async def test_versions_on_one_page_are_told_apart(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        await page(s, lease, A, item("k", '{"a":1}'), item("k", '{"a":2}'), item("l"), item("k", '{"a":3}'), at=100.0)
        assert [(c.before, c.after) for c in await changes(s, key="k")] == [
            (None, '{"a":1}'),
            ('{"a":1}', '{"a":2}'),
            ('{"a":2}', '{"a":3}'),
        ]


@played
async def test_changes_are_asked_for_by_time_scraper_kind_and_key(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        await page(s, lease, A, item("k"), item("k", kind="other"), at=100.0)
        await page(s, lease, f"{A}2", item("k", '{"a":2}'), at=200.0)
        assert [c.what for c in await changes(s, 150.0)] == ["changed"]
        assert [c.kind for c in await changes(s, kind="other")] == ["other"]
        assert await changes(s, scraper="nobody") == []
        assert len(await changes(s, key="k")) == 3


@played
async def test_a_clock_that_was_set_back_hides_no_change(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        await page(s, lease, A, item("k", '{"a":1}'), at=500.0)
        await page(s, lease, f"{A}2", item("k", '{"a":2}'), at=100.0)
        (row,) = await items_of(s)
        assert row["data"] == {"a": 2}
        assert len(await changes(s)) == 2


@played
async def test_a_volatile_field_makes_no_item_another_one(store: Opener) -> None:
    async with store() as s:
        run = await s.new_run(Draft("quotes", "q", "sig", {}, {}, {"volatile": ["at", "odd-one"]}))
        lease = await s.acquire(run.id, "me", 60)
        await page(s, lease, A, item("k", '{"a":1,"at":1,"odd-one":1}'), at=100.0)
        before = await s.item_cursor()
        await page(s, lease, f"{A}2", item("k", '{"a":1,"at":2,"odd-one":2}'), at=200.0)
        (row,) = await items_of(s)
        assert (row["data"]["at"], row["last_changed"], row["last_seen"]) == (2, 100.0, 200.0)
        assert (await s.item_cursor(), [c.what for c in await changes(s)]) == (before, ["new"])
        await page(s, lease, f"{A}3", item("k", '{"a":2,"at":3}'), at=300.0)
        assert [c.what for c in await changes(s)] == ["new", "changed"]


# -- the log of changes ----------------------------------------------------------------------------------------


@played
async def test_the_log_of_changes_is_read_onward(store: Opener) -> None:
    async with store() as s:
        assert await s.item_cursor() == 0
        lease = await begin(s)
        await page(s, lease, A, item("a"), item("b"), at=100.0)
        first = await s.item_cursor()
        assert [i.key async for i in s.items(Wanted(after=0))] == ["a", "b"]
        assert [i.key async for i in s.items(Wanted(after=first))] == []
        await page(s, lease, f"{A}2", item("b"), item("a", '{"a":2}'), item("c"), at=200.0)
        assert [i.key async for i in s.items(Wanted(after=first))] == ["a", "c"]
        assert [i.key async for i in s.items(Wanted(after=0))] == ["b", "a", "c"]
        assert await s.item_cursor() > first


@played
async def test_a_long_log_of_changes_is_read_whole(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        await page(s, lease, A, *(item(f"{n}") for n in range(1200)), at=100.0)
        await page(s, lease, f"{A}2", *(item(f"{n}") for n in range(1200, 1800)), at=200.0)
        assert [i.key async for i in s.items(Wanted(after=0))] == [f"{n}" for n in range(1800)]


@played
async def test_items_are_asked_for_by_kind_and_time(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        await page(s, lease, A, item("a"), item("b", kind="other"), at=100.0)
        await page(s, lease, f"{A}2", item("a", '{"a":2}'), at=200.0)
        assert [row["key"] for row in await items_of(s, kind="other")] == ["b"]
        assert [row["key"] for row in await items_of(s, since=150.0)] == ["a"]


# -- gone and back ---------------------------------------------------------------------------------------------


@played
async def test_an_item_that_a_finished_run_did_not_see_is_gone_and_may_come_back(store: Opener) -> None:
    async with store() as s:
        await finished(s, (A, (item("a"), item("b"))), at=100.0)
        cursor = await s.item_cursor()
        await finished(s, (A, (item("a"),)), at=FUTURE)
        assert [row["key"] for row in await items_of(s)] == ["a"]
        assert [row["key"] for row in await items_of(s, gone=True)] == ["a", "b"]
        assert [(i.key, i.gone is not None) async for i in s.items(Wanted(after=cursor))] == [("b", True)]
        await finished(s, (A, (item("a"), item("b"))), at=FUTURE + 1)
        assert [row["key"] for row in await items_of(s)] == ["a", "b"]
        assert [what for what, key, *_ in await told(s, key="b")] == ["new", "gone", "back"]


@played
async def test_gone_may_take_several_runs_or_never_come(store: Opener) -> None:
    async with store() as s:
        await finished(s, (A, (item("a"), item("b"))))
        await finished(s, (A, (item("a"),)), at=FUTURE, gone=2)
        await finished(s, (A, (item("a"),)), at=FUTURE, gone="never")
        assert len(await items_of(s)) == 2
        await finished(s, (A, (item("a"),)), at=FUTURE, gone=3)
        assert len(await items_of(s)) == 1


@played
async def test_gone_may_be_an_age(store: Opener) -> None:
    async with store() as s:
        await finished(s, (A, (item("a"), item("b"))), at=100.0)
        await finished(s, (A, (item("a"),)), at=FUTURE, gone=1e12)
        assert len(await items_of(s)) == 2
        await finished(s, (A, (item("a"),)), at=FUTURE, gone=3600.0)
        assert len(await items_of(s)) == 1


@played
async def test_what_was_on_a_page_that_failed_is_not_gone(store: Opener) -> None:
    async with store() as s:
        await finished(s, (A, (item("a"),)), (f"{A}2", (item("b"),)), (f"{A}3", (item("c"),)), at=100.0)
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        await settle(s, lease, done(first, items=(item("a"),), started=FUTURE))
        await settle(s, lease, Outcome(second, Ending.FAILED, "timeout", status=0, started=FUTURE))
        await s.end_run(lease, RunState.FINISHED, "done")
        # Page 3 was not reached: perhaps page 2 would have led there.
        assert await s.mark_gone(lease, 1) == 0
        assert len(await items_of(s)) == 3


@played
@pytest.mark.parametrize("status", [404, 410])
async def test_what_was_on_a_page_that_is_no_more_is_gone(store: Opener, status: int) -> None:
    async with store() as s:
        await finished(s, (A, (item("a"),)), (f"{A}2", (item("b"),)), at=100.0)
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        await settle(s, lease, done(first, items=(item("a"),), started=FUTURE))
        await settle(s, lease, Outcome(second, Ending.FAILED, f"http_{status}", status=status, started=FUTURE))
        await s.end_run(lease, RunState.FINISHED, "done")
        assert await s.mark_gone(lease, 1) == 1


@played
async def test_a_replay_can_say_that_items_are_lost(store: Opener) -> None:
    async with store() as s:
        await finished(s, (A, (item("a"), item("b"))), at=100.0)
        lease = await begin(s)
        assert await s.lost(lease, [("item", "b"), ("item", "unknown")]) == 1
        assert await s.lost(lease, [("item", "b")]) == 0
        assert [row["key"] for row in await items_of(s)] == ["a"]


@played
async def test_a_replay_changes_what_an_item_says_and_not_when_it_was_seen(store: Opener) -> None:
    async with store() as s:
        old = await finished(s, (A, (item("a"), item("b"))), at=100.0)
        request = [row async for row in s.pages(old.run, None)]
        assert len(request) == 1
        lease = await begin(s)
        news = [Reread("item", "a", '{"a":9}', A, 1, 100.0), Reread("item", "b", '{"a":1}', A, 1, 100.0)]
        news += [Reread("item", "n", '{"a":1}', A, 1, 100.0)]
        assert await s.reread(lease, news) == 2
        rows = {row["key"]: row for row in await items_of(s)}
        assert (rows["a"]["data"], rows["a"]["times_seen"], rows["a"]["last_seen"]) == ({"a": 9}, 1, 100.0)
        assert rows["a"]["last_changed"] > 1.7e9
        assert rows["b"]["last_changed"] == 100.0
        assert rows["n"]["first_seen"] == 100.0


# -- rejects ---------------------------------------------------------------------------------------------------


@played
async def test_records_that_became_no_items_are_kept_apart_and_counted(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        bad = Reject("item", '{"price":"x"}', "model", "price is no number")
        await page(s, lease, A, item("a"), at=100.0, rejects=(bad, bad))
        found = [r async for r in s.rejects(lease.run, None)]
        assert [(r.url, r.step, r.reason, r.data) for r in found] == [(A, "model", bad.reason, bad.data)] * 2
        assert found == [r async for r in s.rejects(None, "quotes")]
        assert [r async for r in s.rejects(None, "nobody")] == []
        run = await s.run(lease.run)
        assert run is not None
        assert (run.items, run.rejected) == (1, 2)
        assert (await s.why(A))[0].rejects == [("model", bad.reason)] * 2


# -- held back -------------------------------------------------------------------------------------------------


async def held(store: Store, *found: Item, at: float = FUTURE) -> Lease:
    lease = await begin(store)
    await store.hold(lease)
    await page(store, lease, A, *found, at=at)
    return lease


@played
async def test_what_is_held_back_leaves_what_is_current(store: Opener) -> None:
    async with store() as s:
        await finished(s, (A, (item("a"), item("b"))), at=100.0)
        lease = await held(s, item("a", '{"a":2}'), item("c"))
        assert {row["key"]: row["data"] for row in await items_of(s)} == {"a": {"a": 1}, "b": {"a": 1}}
        waiting = await items_of(s, run=lease.run, held=True)
        assert {row["key"]: row["data"] for row in waiting} == {"a": {"a": 2}, "c": {"a": 1}}
        story = (await s.why(A))[0]
        assert (story.held, sorted(story.items)) == (True, [("item", "a"), ("item", "c")])
        run = await s.run(lease.run)
        assert run is not None
        assert (run.items, run.verdict) == (2, Verdict.PENDING)


@played
async def test_a_good_run_comes_through_with_history(store: Opener) -> None:
    async with store() as s:
        await finished(s, (A, (item("a"), item("b"))), at=100.0)
        lease = await held(s, item("a", '{"a":2}'), item("c"))
        assert await s.promote() == 0
        await s.judge(lease, Verdict.GOOD, "{}", None)
        assert await s.promote() == 2
        assert await s.promote() == 0
        assert {row["key"]: row["data"]["a"] for row in await items_of(s)} == {"a": 2, "b": 1, "c": 1}
        assert [row["key"] for row in await items_of(s, run=lease.run)] == ["a", "c"]
        assert await told(s, key="a") == [("new", "a", None, '{"a":1}'), ("changed", "a", '{"a":1}', '{"a":2}')]
        assert (await s.why(A))[0].held is False


@played
async def test_a_person_decides_on_a_suspect_run_once(store: Opener) -> None:
    async with store() as s:
        lease = await held(s, item("a"))
        with pytest.raises(StoreError, match="not suspect"):
            await s.decide(lease.run, Verdict.ACCEPTED)
        await s.judge(lease, Verdict.SUSPECT, '{"p":1}', '{"cause":"empty"}')
        assert await s.promote() == 0
        await s.decide(lease.run, Verdict.ACCEPTED)
        assert await s.promote() == 1
        with pytest.raises(StoreError):
            await s.decide(lease.run, Verdict.REJECTED)
        judged = await s.judgement(lease.run)
        assert judged is not None
        assert (judged.verdict, judged.profile, judged.alarm) == (Verdict.ACCEPTED, '{"p":1}', '{"cause":"empty"}')


@played
async def test_what_is_rejected_is_discarded(store: Opener) -> None:
    async with store() as s:
        lease = await held(s, item("a"))
        await s.judge(lease, Verdict.SUSPECT, "{}", "{}")
        await s.decide(lease.run, Verdict.REJECTED)
        assert await s.promote() == 0
        assert await items_of(s) == []
        assert await items_of(s, run=lease.run, held=True) == []


@played
async def test_what_is_accepted_late_gives_way_to_what_is_newer(store: Opener) -> None:
    async with store() as s:
        lease = await held(s, item("a", '{"a":1}'), at=FUTURE)
        await s.judge(lease, Verdict.SUSPECT, "{}", "{}")
        await finished(s, (A, (item("a", '{"a":2}'),)), at=FUTURE + 100)
        await s.decide(lease.run, Verdict.ACCEPTED)
        await s.promote()
        (row,) = await items_of(s)
        assert row["data"] == {"a": 2}
        assert [change.what for change in await changes(s)] == ["new"]


@played
async def test_many_held_items_come_through_in_groups(store: Opener) -> None:
    async with store() as s:
        lease = await held(s, *(item(f"{n}") for n in range(4500)))
        await s.judge(lease, Verdict.GOOD, "{}", None)
        assert await s.promote() == 4500
        assert len(await items_of(s)) == 4500


@played
async def test_a_run_is_held_back_again_when_it_is_resumed(store: Opener) -> None:
    async with store() as s:
        lease = await held(s, item("a"))
        await s.judge(lease, Verdict.GOOD, "{}", None)
        await s.promote()
        await s.hold(lease)
        await page(s, lease, f"{A}2", item("b"), at=FUTURE)
        assert [row["key"] for row in await items_of(s)] == ["a"]


@played
async def test_a_lost_lease_judges_nothing(store: Opener) -> None:
    async with store() as s:
        lease = await held(s, item("a"))
        await s.release(lease)
        await s.acquire(lease.run, "other", 60)
        for verb in (
            s.hold(lease),
            s.judge(lease, Verdict.GOOD, "{}", None),
            s.mark_gone(lease, 1),
            s.reread(lease, []),
        ):
            with pytest.raises(LeaseLost):
                await verb


@played
async def test_facts_and_samples_tell_what_a_run_was_like(store: Opener) -> None:
    async with store() as s:
        for lease in (await begin(s), await held(s, item("h"))):
            base = len(await s.sample(lease.run, 100))
            await page(s, lease, f"{A}1", *(item(f"{n}") for n in range(10)), at=FUTURE)
            await page(s, lease, f"{A}2", at=FUTURE)
            facts = await s.facts(lease.run)
            parse = facts.handlers["parse"]
            assert (parse.pages - parse.giving, parse.items) == (1, 10 + base)
            assert facts.barren == [f"{A}2"]
            assert len(await s.sample(lease.run, 100)) == 10 + base
            assert 0 < len(await s.sample(lease.run, 4)) <= 4


# -- sinks -----------------------------------------------------------------------------------------------------


@played
async def test_how_far_a_sink_has_come_is_remembered(store: Opener) -> None:
    async with store() as s:
        assert await s.sink("bucket", "quotes") is None
        note = SinkNote("bucket", "quotes", 7, 20, 3, "", 100.0)
        await s.keep_sink(note)
        await s.keep_sink(SinkNote("bucket", "other", 1))
        later = SinkNote("bucket", "quotes", 9, 25, 4, "it is down", 200.0)
        await s.keep_sink(later)
        assert await s.sink("bucket", "quotes") == later
        assert [each.scraper for each in await s.sinks()] == ["other", "quotes"]
