"""Settling: all or nothing, exactly once, found before closed."""

from __future__ import annotations

import pytest

from gossamer.errors import LeaseLost
from gossamer.storage.store import Batch, SourceNote, Store
from gossamer.values import Drop, Ending, Fetch, Item, Lease, Notice, Outcome, Request, Visit
from tests.contract.conftest import Opener
from tests.contract.steps import HOST, A, begin, done, everything, items_of, later, played, ready, ready_urls, settle


def item(key: str, data: str = '{"a":1}', kind: str = "item") -> Item:
    return Item(kind=kind, key=key, data=data)


SHOWN = ("scraper", "kind", "key", "url", "first_seen", "last_seen", "last_changed", "data")


async def items(store: Store, run: int | None = None, scraper: str | None = None) -> list[dict[str, object]]:
    found = await items_of(store, run=run, scraper=scraper)
    return [{name: value for name, value in row.items() if name in SHOWN} for row in found]


async def one_page(store: Store, lease: Lease, url: str, *found: Item, at: float) -> int:
    """Walk one more page that shows these items; how many of them the run had not seen."""
    await store.add(lease, [Request(url)])
    request = next(r for r in await ready(store, lease) if r.url == url)
    return (await settle(store, lease, done(request, items=found, started=at))).items


# -- exactly once, all or nothing ------------------------------------------------------------------------------


@played
async def test_a_page_is_closed_and_what_it_led_to_waits(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        request = (await ready(s, lease))[0]
        settled = await settle(s, lease, done(request, f"{A}1", f"{A}2", "https://b.example/", f"{A}1", A))
        assert settled.fresh == {HOST: 2, "b.example": 1}
        assert (settled.items, settled.dropped) == (0, {})
        assert await ready_urls(s, lease) == [f"{A}1", f"{A}2"]
        left = await s.pending(lease.run)
        assert (left.settled, left.waiting) == (1, 3)


@pytest.mark.parametrize("ending", [Ending.DONE, Ending.SKIPPED, Ending.FAILED])
@played
async def test_a_request_is_settled_exactly_once(store: Opener, ending: Ending) -> None:
    async with store() as s:
        lease = await begin(s, A)
        request = (await ready(s, lease))[0]
        await settle(s, lease, Outcome(request, ending))
        before = await everything(s, lease)
        for again in Ending:
            with pytest.raises(LeaseLost):
                await settle(s, lease, Outcome(request, again))
        assert await everything(s, lease) == before


@played
async def test_a_request_cannot_be_settled_twice_in_one_group(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        request = (await ready(s, lease))[0]
        before = await everything(s, lease)
        with pytest.raises(LeaseLost):
            await settle(s, lease, done(request), done(request))
        assert await everything(s, lease) == before


@played
async def test_a_request_of_another_run_cannot_be_settled(store: Opener) -> None:
    async with store() as s:
        mine, other = await begin(s, A), await begin(s, A, owner="other")
        with pytest.raises(LeaseLost):
            await settle(s, mine, done((await ready(s, other))[0]))
        assert (await s.pending(other.run)).waiting == 1


@played
async def test_a_group_that_fails_changes_nothing_at_all(store: Opener) -> None:
    """The first outcomes are good, the last names a request that does not exist."""
    async with store() as s:
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        before = await everything(s, lease)
        group = Batch(
            outcomes=[
                done(
                    first,
                    f"{A}found",
                    items=(item("k"),),
                    seen=(("item", "k"),),
                    dropped=(Drop(Request(f"{A}no"), "exclude"),),
                    visit=Visit("digest", 1.0, 1.0, None, None, "0"),
                ),
                done(Request(f"{A}nowhere", id=10**9)),
            ],
            claims=[second.id],
            fetches=[Fetch(A, HOST, 1.0, 0.1, 500, 0, "http_500", second.id)],
            sources=[SourceNote(HOST, 1.0, 2.0)],
            notices=[Notice(HOST, 1.0, "slowed", 2.0)],
            seconds=3.0,
        )
        with pytest.raises(LeaseLost):
            await s.settle(lease, group)
        assert await everything(s, lease) == before
        assert await s.why(f"{A}found") == []
        assert await s.why(f"{A}no") == []
        assert await s.visits("quotes", ["digest"]) == {}


@played
async def test_after_a_group_that_failed_its_good_part_can_be_settled(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        request = (await ready(s, lease))[0]
        with pytest.raises(LeaseLost):
            await settle(s, lease, done(request, f"{A}found"), done(Request(A, id=10**9)))
        assert (await settle(s, lease, done(request, f"{A}found"))).fresh == {HOST: 1}


@played
async def test_whoever_looks_never_sees_nothing_waiting_before_the_end(lasting: Opener) -> None:
    """Found requests are in before their page is closed: a chain of pages has one waiting at every moment."""
    async with lasting() as s:
        lease = await begin(s, f"{A}0")
        for n in range(5):
            (request,) = await ready(s, lease)
            await settle(s, lease, done(request, f"{A}{n + 1}"))
            assert (await s.pending(lease.run)).waiting == 1


@played
async def test_an_empty_group_is_fine(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        before = await everything(s, lease)
        settled = await s.settle(lease, Batch())
        assert (settled.fresh, settled.items, settled.dropped) == ({}, 0, {})
        assert await everything(s, lease) == before


@played
async def test_a_big_group_is_settled_in_walk_order(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"{A}{n}" for n in range(300)))
        requests = await ready(s, lease)
        await settle(s, lease, *(done(r, f"{r.url}/a", f"{r.url}/b") for r in reversed(requests)))
        found = await ready_urls(s, lease)
        assert found == [f"{A}{n}/{link}" for n in reversed(range(300)) for link in "ab"]


# -- what is kept of a walk ------------------------------------------------------------------------------------


@played
async def test_counters_grow_by_what_was_settled(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"{A}{n}" for n in range(7)))
        r = await ready(s, lease)
        await settle(
            s,
            lease,
            done(r[0], items=(item("a"), item("b")), size=100),
            done(r[1], items=(item("a"),), size=20),
            Outcome(r[2], Ending.DONE, "redirect", size=3),
            seconds=1.25,
        )
        await settle(
            s,
            lease,
            Outcome(r[3], Ending.SKIPPED, "robots"),
            Outcome(r[4], Ending.FAILED, "http_500", size=7),
            Outcome(r[5], Ending.FAILED, "http_500"),
            later(r[6], 5000.0),
            seconds=0.5,
        )
        run = await s.run(lease.run)
        assert run is not None
        assert (run.settled, run.pages, run.items, run.failed, run.skipped) == (6, 2, 2, 2, 1)
        assert (run.retried, run.size, run.seconds) == (1, 130, 1.75)
        assert run.by_reason == {"ok": 2, "redirect": 1, "robots": 1, "http_500": 2}


@played
async def test_what_became_of_a_request_is_told(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        request = (await ready(s, lease))[0]
        await settle(
            s,
            lease,
            Outcome(request, Ending.FAILED, "http_404", "gone for good", 404, 12, 1000.5, 0.25),
        )
        (story,) = await s.why(A)
        assert (story.state, story.reason, story.detail) == ("failed", "http_404", "gone for good")
        assert (story.status, story.size, story.started, story.elapsed) == (404, 12, 1000.5, 0.25)
        assert story.not_before == 0


@played
async def test_dropped_links_are_kept_with_their_rule_and_never_walked(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        drops = (Drop(Request(f"{A}no", depth=1), "exclude"), Drop(Request("https://b.example/", depth=1), "scope"))
        assert (await settle(s, lease, done(first, dropped=drops))).dropped == {"exclude": 1, "scope": 1}
        again = await settle(s, lease, done(second, f"{A}no", dropped=drops))
        assert (again.dropped, again.fresh) == ({}, {}), "known links are not dropped again, nor walked"
        assert await ready(s, lease) == []
        run = await s.run(lease.run)
        assert run is not None
        assert (run.skipped, run.settled) == (2, 2)
        assert run.by_reason == {"ok": 2, "exclude": 1, "scope": 1}
        (story,) = await s.why(f"{A}no")
        assert (story.state, story.reason, story.found_on) == ("skipped", "exclude", A)


@played
async def test_a_claimed_request_is_known_to_be_in_flight_until_it_is_settled(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2", f"{A}3")
        first, second, third = await ready(s, lease)
        for _ in range(3):  # the same walks, noted again and again
            await settle(s, lease, claims=[first.id, second.id, third.id])
        assert (await s.pending(lease.run)).in_flight == 3
        assert (await s.why(A))[0].in_flight
        assert (await s.why(A))[0].claims == 1
        await settle(s, lease, done(first), later(second, 5000.0), claims=[second.id, third.id])
        assert (await s.pending(lease.run)).in_flight == 1
        assert not (await s.why(A))[0].in_flight


@played
async def test_what_was_in_flight_when_its_owner_died_is_counted_and_walked_again(lasting: Opener) -> None:
    async with lasting() as s:
        dead = await begin(s, A, f"{A}2", f"{A}3")
        first, second, _ = await ready(s, dead)
        await settle(s, dead, claims=[first.id, second.id])
    async with lasting() as s:
        assert (await s.pending(dead.run)).in_flight == 2
        lease = await s.acquire(dead.run, "heir", 60.0)
        left = await s.pending(lease.run)
        assert (left.in_flight, left.waiting) == (0, 3)
        assert len(await ready(s, lease)) == 3
        await settle(s, lease, claims=[first.id])
        assert (await s.why(A))[0].claims == 2
        await settle(s, lease, *(done(r) for r in await ready(s, lease)))


@played
async def test_earlier_fetches_are_told_oldest_first(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        request = (await ready(s, lease))[0]
        robots = Fetch(f"{A}robots.txt", HOST, 1.0, 0.1, 200, 9, "robots")
        for n in (2, 3):
            attempt = Fetch(A, HOST, float(n), 0.5, 503, 7, "http_503", request.id, f"by way {n}")
            await settle(s, lease, later(request, 5000.0), fetches=[robots, attempt])
            await s.wake(lease.run, 1e9)
        await settle(s, lease, done(request))
        (story,) = await s.why(A)
        assert story.fetches == [(2.0, 0.5, 503, "http_503", "by way 2"), (3.0, 0.5, 503, "http_503", "by way 3")]
        assert (story.attempts, story.state, story.status) == (2, "done", 200)


@played
async def test_a_source_is_remembered_as_last_told(lasting: Opener) -> None:
    async with lasting() as s:
        lease = await begin(s, A)
        assert await s.source(HOST) is None
        await settle(s, lease, sources=[SourceNote(HOST, 1.5, 2.5), SourceNote("b.example", 3.0, 4.0)])
        await settle(s, lease, sources=[SourceNote(HOST, 5.0, 6.25)])
    async with lasting() as s:
        assert await s.source(HOST) == SourceNote(HOST, 5.0, 6.25)
        assert await s.source("b.example") == SourceNote("b.example", 3.0, 4.0)


@pytest.mark.parametrize("too_deep", [False, True])
@played
async def test_what_was_met_deep_down_is_lifted_by_a_redirect_to_it(store: Opener, too_deep: bool) -> None:
    """A redirect is no link: its target is as deep as itself, whether or not links led there before."""
    async with store() as s:
        lease = await begin(s, A, f"{A}moved")
        page, moved = await ready(s, lease)
        target = Request(f"{A}target", depth=4)
        facts = {"dropped": (Drop(target, "depth"),)} if too_deep else {"found": (target,)}
        await settle(s, lease, Outcome(page, Ending.DONE, **facts))
        told = await settle(s, lease, done(moved, target.evolve(depth=0, hops=1), reason="redirect"))
        assert told.fresh == ({HOST: 1} if too_deep else {})
        assert [(r.url, r.depth) for r in await ready(s, lease)] == [(target.url, 0)]
        run = await s.run(lease.run)
        assert run is not None
        assert (run.skipped, run.by_reason.get("depth", 0)) == (0, 0)


@played
async def test_a_redirect_lifts_nothing_that_is_settled_excluded_or_not_deeper(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}moved", f"{A}done")
        page, moved, finished = await ready(s, lease)
        excluded = Request(f"{A}no", depth=4)
        await settle(s, lease, done(page, dropped=(Drop(excluded, "exclude"),)), done(finished))
        hops = [Request(f"{A}{name}", depth=depth, hops=1) for name, depth in (("no", 0), ("done", 0), ("moved", 3))]
        assert (await settle(s, lease, later(moved, 1.0))).fresh == {}
        await s.wake(lease.run, 2.0)
        assert (await settle(s, lease, done(moved, *hops))).fresh == {}
        assert await ready(s, lease) == []
        assert [story.state for hop in hops for story in await s.why(hop.url)] == ["skipped", "done", "done"]


# -- items -----------------------------------------------------------------------------------------------------


@played
async def test_an_item_is_kept_with_where_and_when_it_was_seen(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        assert await one_page(s, lease, f"{A}1", item("k", '{"n":1,"t":["x"]}', "quote"), at=100.0) == 1
        assert await items(s) == [
            {
                "scraper": "quotes",
                "kind": "quote",
                "key": "k",
                "url": f"{A}1",
                "first_seen": 100.0,
                "last_seen": 100.0,
                "last_changed": 100.0,
                "data": {"n": 1, "t": ["x"]},
            }
        ]


@played
async def test_the_same_key_again_is_the_same_item_and_counts_once_a_run(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        assert await one_page(s, lease, f"{A}1", item("k"), item("k"), at=100.0) == 1
        assert await one_page(s, lease, f"{A}2", item("k"), item("new"), at=101.0) == 1
        run = await s.run(lease.run)
        assert run is not None
        assert run.items == 2
        other = await begin(s, owner="other")
        assert await one_page(s, other, f"{A}3", item("k"), at=102.0) == 1
        assert [row["key"] for row in await items(s)] == ["k", "new"]


@played
async def test_an_item_remembers_when_it_changed_last(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        times = []
        for at, data in ((100.0, '{"n":1}'), (101.0, '{"n":1}'), (102.0, '{"n":2}'), (103.0, '{"n":2}')):
            await one_page(s, lease, f"{A}{at}", item("k", data), at=at)
            (row,) = await items(s)
            times.append((row["first_seen"], row["last_seen"], row["last_changed"], row["data"]))
        assert times == [
            (100.0, 100.0, 100.0, {"n": 1}),
            (100.0, 101.0, 100.0, {"n": 1}),
            (100.0, 102.0, 102.0, {"n": 2}),
            (100.0, 103.0, 102.0, {"n": 2}),
        ]


@played
async def test_kind_and_scraper_tell_items_of_one_key_apart(store: Opener) -> None:
    async with store() as s:
        quotes, books = await begin(s), await begin(s, scraper="books", owner="other")
        assert await one_page(s, quotes, f"{A}1", item("k"), item("k", kind="author"), at=1.0) == 2
        assert await one_page(s, books, f"{A}1", item("k"), at=2.0) == 1
        seen = [(row["scraper"], row["kind"]) for row in await items(s)]
        assert seen == [("quotes", "item"), ("quotes", "author"), ("books", "item")]


@played
async def test_items_can_be_read_by_run_and_by_scraper_in_the_order_first_seen(store: Opener) -> None:
    async with store() as s:
        one, two = await begin(s), await begin(s, scraper="books", owner="other")
        three = await begin(s, owner="third")
        await one_page(s, one, f"{A}1", item("z"), item("a"), at=1.0)
        await one_page(s, two, f"{A}1", item("b"), at=2.0)
        await one_page(s, three, f"{A}1", item("c"), item("a"), at=3.0)

        async def keys(run: int | None = None, scraper: str | None = None) -> list[object]:
            return [row["key"] for row in await items(s, run, scraper)]

        assert await keys() == ["z", "a", "b", "c"]
        assert await keys(one.run) == ["z", "a"]
        assert await keys(three.run) == ["a", "c"]
        assert await keys(scraper="quotes") == ["z", "a", "c"]
        assert await keys(two.run, "books") == ["b"]
        assert await keys(two.run, "quotes") == []
        assert await keys(4711) == []


@played
async def test_why_tells_which_items_came_out_of_a_page(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        await one_page(s, lease, f"{A}1", item("k", kind="quote"), item("l"), at=1.0)
        (story,) = await s.why(f"{A}1")
        assert story.items == [("quote", "k"), ("item", "l")]
