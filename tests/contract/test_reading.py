"""Reading: the story of a URL, the table of hosts, and everything from first to last."""

from __future__ import annotations

from gossamer.storage.store import Store, Wanted
from gossamer.values import Drop, Ending, Item, Outcome, Request, RunState
from tests.contract.conftest import Opener
from tests.contract.steps import HOST, A, begin, done, later, played, ready, settle


async def pages(store: Store, run: int | None = None, scraper: str | None = None) -> list[dict[str, object]]:
    return [row async for row in store.pages(run, scraper)]


@played
async def test_the_story_of_a_waiting_request(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        await settle(s, lease, done((await ready(s, lease))[0], Request(f"{A}d", to="detail", depth=1, priority=5)))
        (story,) = await s.why(f"{A}d")
        assert (story.run, story.scraper, story.run_state) == (lease.run, "quotes", "running")
        assert (story.state, story.url, story.host, story.handler) == ("waiting", f"{A}d", HOST, "detail")
        assert (story.depth, story.priority, story.attempts, story.claims) == (1, 5, 0, 0)
        assert (story.in_flight, story.not_before, story.found_on) == (False, 0, A)
        assert (story.reason, story.detail, story.status, story.size) == (None,) * 4
        assert (story.started, story.elapsed, story.fetches, story.items) == (None, None, [], [])


@played
async def test_a_url_that_no_run_knows_has_no_story(store: Opener) -> None:
    async with store() as s:
        await begin(s, A)
        for url in (f"{A}nowhere", "", "no url at all", "https://%zz/'\"\x00"):
            assert await s.why(url) == []


@played
async def test_each_run_tells_its_own_story_newest_first(store: Opener) -> None:
    async with store() as s:
        old = await begin(s, A)
        await settle(s, old, done((await ready(s, old))[0]))
        await s.end_run(old, RunState.FINISHED, "done")
        new = await begin(s, A, owner="other")
        assert [(story.run, story.state) for story in await s.why(A)] == [(new.run, "waiting"), (old.run, "done")]


@played
async def test_another_spelling_of_a_url_finds_its_story(store: Opener) -> None:
    async with store() as s:
        await begin(s, f"{A}~me?b=2&a=1")
        (story,) = await s.why(f"{A}%7Eme?a=1&b=2")
        assert story.url == f"{A}~me?b=2&a=1"


@played
async def test_a_url_is_explained_whichever_way_it_was_asked_for(store: Opener) -> None:
    """A plain visit in one run does not hide the form sent to it, nor the handler that read it in another."""
    async with store() as s:
        plain = await begin(s, A, Request(A, json={"q": 1}))
        other = await begin(s, Request(A, to="detail"), owner="other")
        stories = await s.why(A)
        assert [(story.run, story.method, story.handler) for story in stories] == [
            (other.run, "GET", "detail"),
            (plain.run, "GET", "parse"),
            (plain.run, "POST", "parse"),
        ]


@played
async def test_the_story_says_when_a_parked_request_is_due(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        await settle(s, lease, later((await ready(s, lease))[0], 5000.0))
        (story,) = await s.why(A)
        assert (story.state, story.not_before, story.reason, story.attempts) == ("waiting", 5000.0, "timeout", 1)


@played
async def test_the_table_of_hosts_counts_what_happened_at_each(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"{A}{n}" for n in range(5)), "https://b.example/")
        r = await ready(s, lease)
        await settle(s, lease, done(r[0], size=5, started=10.0), done(r[1], size=6, started=20.0))
        await settle(s, lease, Outcome(r[2], Ending.FAILED, "timeout", started=15.0), later(r[3], 2e9))
        first, second = await s.host_table(lease.run)
        assert (first["host"], first["pages"], first["failed"], first["waiting"]) == (HOST, 2, 1, 2)
        assert (first["retries"], first["size"]) == (1, 11)
        assert (first["first"], first["last"]) == (10.0, 1000.0)
        assert (second["host"], second["pages"], second["waiting"], second["first"]) == ("b.example", 0, 1, None)
        assert await s.host_table(4711) == []


@played
async def test_pages_come_in_the_order_found_with_what_became_of_them(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        other = await begin(s, f"{A}other", scraper="books", owner="other")
        request = (await ready(s, lease))[0]
        await settle(s, lease, done(request, f"{A}2", dropped=(Drop(Request(f"{A}no", depth=1), "exclude"),)))
        mine = await pages(s, lease.run)
        assert mine[0] == {
            "run": lease.run,
            "url": A,
            "state": "done",
            "reason": "ok",
            "status": 200,
            "depth": 0,
            "fetches": 1,
            "bytes": 10,
            "fetched_at": 1000.0,
            "seconds": 0.5,
            "detail": None,
        }
        told = [(page["url"], page["state"], page["reason"]) for page in mine[1:]]
        assert told == [(f"{A}2", "waiting", None), (f"{A}no", "skipped", "exclude")]
        assert [page["url"] for page in await pages(s)] == [A, f"{A}other", f"{A}2", f"{A}no"]
        assert [page["url"] for page in await pages(s, None, "books")] == [f"{A}other"]
        assert await pages(s, other.run, "quotes") == []
        assert await pages(s, 4711) == []


@played
async def test_everything_is_read_however_much_there_is(store: Opener) -> None:
    async with store() as s:
        urls = [f"{A}{n}" for n in range(2500)]
        between = await begin(s, owner="between")
        lease = await begin(s, *urls)
        await s.add(between, [Request(url) for url in urls[:1500]])
        requests = await ready(s, lease)
        assert len(requests) == 2500
        await settle(s, lease, *(done(r, items=(Item("item", r.url, '{"a":1}'),)) for r in requests))
        assert [page["url"] for page in await pages(s, lease.run)] == urls
        assert len(await pages(s)) == 4000
        assert [item.key async for item in s.items(Wanted(run=lease.run))] == urls


@played
async def test_reading_and_writing_may_alternate(store: Opener) -> None:
    """What is added while somebody reads is seen or not seen, but nothing is read twice or left out."""
    async with store() as s:
        urls = [f"{A}{n}" for n in range(1200)]
        lease = await begin(s, *urls)
        seen = []
        async for page in s.pages(lease.run, None):
            if len(seen) in (5, 1005):
                await s.add(lease, [Request(f"{A}new{len(seen)}")])
            seen.append(page["url"])
        assert seen[:1200] == urls
        assert len(seen) == len(set(seen))


@played
async def test_a_reader_may_stop_in_the_middle(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"{A}{n}" for n in range(1500)))
        rows = s.pages(lease.run, None)
        async for page in rows:
            assert page["url"] == f"{A}0"
            break
        await rows.aclose()  # type: ignore[attr-defined]
        assert len(await pages(s, lease.run)) == 1500
