"""Visits: what the next run knows of pages that were read before, and items that unchanged pages stand for."""

from __future__ import annotations

import pytest

from gossamer.values import Ending, Item, Outcome, Request, Visit
from tests.contract.conftest import Opener
from tests.contract.steps import HOST, A, begin, done, items_of, played, ready, settle

SHA = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def visit(digest: str = "d", **facts: object) -> Visit:
    told = {"fetched": 100.5, "checked": 101.5, "etag": '"x"', "modified": None, "sha256": SHA} | facts
    return Visit(digest, **told)  # type: ignore[arg-type]


def unchanged(request: Request, *seen: tuple[str, str], reason: str = "unchanged", started: float = 200.0) -> Outcome:
    return Outcome(request, Ending.DONE, reason, status=304, started=started, seen=seen)


# -- what is remembered ----------------------------------------------------------------------------------------


@played
async def test_what_a_page_was_like_and_gave_comes_back(lasting: Opener) -> None:
    found = (
        Request(f"{A}1", depth=3, priority=-2, hops=1, via=(A,)),
        Request(f"{A}ü?q='\"", to="detail", carry={"n": [1, None]}, headers={"x": "y"}),
        Request(f"{A}form", data={"q": "x"}, revisit=True),
        Request(f"{A}bytes", data=b"\x00\xff", session="s", country="dk", render=True, wait_for="a.b", save="f/g.pdf"),
        Request(f"{A}json", json={"data64": 0}, render=False),
    )
    told = visit(modified="Wed, 21 Oct 2015 07:28:00 GMT", found=found, items=(("item", "k"), ("quote", "🕸\0")))
    async with lasting() as s:
        lease = await begin(s, A)
        await settle(s, lease, done((await ready(s, lease))[0], visit=told))
    async with lasting() as s:
        assert await s.visits("quotes", ["d"]) == {"d": told}


@pytest.mark.parametrize("links", [0, 5_000])
@played
async def test_a_page_may_give_nothing_or_much(store: Opener, links: int) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        told = visit(found=tuple(Request(f"{A}{n}") for n in range(links)), etag=None)
        other = visit("e", items=(("item", "k"),))
        await settle(s, lease, done(first, visit=told), done(second, visit=other))
        assert await s.visits("quotes", ["e", "d"]) == {"d": told, "e": other}


@played
async def test_visits_are_known_by_scraper_and_fingerprint(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        await settle(s, lease, done(first, visit=visit("d")), done(second, visit=visit("e")))
        assert set(await s.visits("quotes", ["d", "e", "f"])) == {"d", "e"}
        assert set(await s.visits("quotes", ["e"])) == {"e"}
        assert await s.visits("quotes", []) == {}
        assert await s.visits("books", ["d", "e"]) == {}


@played
async def test_the_last_visit_told_is_the_one_that_is_kept(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2", f"{A}3")
        first, second, third = await ready(s, lease)
        newer = visit(checked=500.0, found=(Request(f"{A}new"),))
        await settle(s, lease, done(first, visit=visit(items=(("item", "k"),))), done(second, visit=newer))
        assert await s.visits("quotes", ["d"]) == {"d": newer}
        await settle(s, lease, unchanged(third))
        assert await s.visits("quotes", ["d"]) == {"d": newer}, "a walk that tells of none leaves it as it is"


@played
async def test_half_a_character_in_a_visit_fails_nothing(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        told = visit(etag="\ud83d", found=(Request(f"{A}1", carry={"half": "\ud83d"}),))
        await settle(s, lease, done((await ready(s, lease))[0], visit=told))
        back = (await s.visits("quotes", ["d"]))["d"]
        assert (back.etag, back.found[0].carry) == ("\ufffd", {"half": "\ufffd"})


# -- items that are seen again ---------------------------------------------------------------------------------


@played
async def test_an_unchanged_page_keeps_its_items_current(store: Opener) -> None:
    async with store() as s:
        old = await begin(s, A)
        both = (Item("item", "k", '{"n":1}'), Item("item", "gone", "{}"))
        await settle(s, old, done((await ready(s, old))[0], items=both, started=100.0))
        new = await begin(s, A, owner="other")
        told = await settle(s, new, unchanged((await ready(s, new))[0], ("item", "k"), ("item", "never met")))
        assert told.items == 1
        kept, gone = await items_of(s)
        assert (kept["first_seen"], kept["last_seen"], kept["last_changed"]) == (100.0, 200.0, 100.0)
        assert (kept["data"], kept["url"], gone["last_seen"]) == ({"n": 1}, A, 100.0)
        assert [row["key"] for row in await items_of(s, run=new.run)] == ["k"]
        assert (await s.why(A))[0].items == [("item", "k")]


@played
async def test_what_was_not_fetched_is_seen_now(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        await settle(s, lease, done(first, items=(Item("item", "k", "{}"),), started=100.0))
        await settle(s, lease, unchanged(second, ("item", "k"), reason="fresh", started=0.0))
        (row,) = await items_of(s)
        assert row["last_seen"] > 1.7e9


@played
async def test_an_item_counts_once_a_run_however_it_was_seen(store: Opener) -> None:
    async with store() as s:
        old = await begin(s, A)
        await settle(s, old, done((await ready(s, old))[0], items=(Item("item", "k", "{}"), Item("item", "l", "{}"))))
        new = await begin(s, A, f"{A}2", f"{A}3", owner="other")
        first, second, third = await ready(s, new)
        k, l = ("item", "k"), ("item", "l")  # noqa: E741
        told = await settle(s, new, done(first, items=(Item("item", "k", "{}"),)), unchanged(second, k, l, l))
        assert told.items == 2
        assert (await settle(s, new, unchanged(third, k, l))).items == 0
        run = await s.run(new.run)
        assert run is not None
        assert run.items == 2


@played
async def test_items_of_another_scraper_are_left_alone(store: Opener) -> None:
    async with store() as s:
        books = await begin(s, A, scraper="books")
        await settle(s, books, done((await ready(s, books))[0], items=(Item("item", "k", "{}"),), started=100.0))
        quotes = await begin(s, A, owner="other")
        assert (await settle(s, quotes, unchanged((await ready(s, quotes))[0], ("item", "k")))).items == 0
        (row,) = await items_of(s)
        assert row["last_seen"] == 100.0


@played
async def test_a_page_that_did_not_change_is_no_page_read_and_its_host_is_told_of(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2", f"{A}3")
        first, second, third = await ready(s, lease)
        await settle(s, lease, unchanged(first), unchanged(second, reason="fresh", started=0.0), done(third))
        run = await s.run(lease.run)
        assert run is not None
        assert (run.settled, run.pages, run.by_reason) == (3, 1, {"unchanged": 1, "fresh": 1, "ok": 1})
        (row,) = await s.host_table(lease.run)
        assert (row["host"], row["pages"], row["unchanged"]) == (HOST, 1, 2)
        assert (await s.pending(lease.run)).waiting == 0


@played
async def test_a_host_where_nothing_changed_is_in_the_table(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        await settle(s, lease, unchanged((await ready(s, lease))[0]))
        assert [(row["host"], row["unchanged"]) for row in await s.host_table(lease.run)] == [(HOST, 1)]
