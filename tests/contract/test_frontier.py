"""The frontier: what goes in once, what comes out first, what waits for its time."""

from __future__ import annotations

import pytest

from gossamer.values import Drop, Ending, Outcome, Request
from tests.contract.conftest import Opener
from tests.contract.steps import HOST, A, begin, done, draft, later, played, ready, ready_urls, settle

B = "https://b.example:8443/"


@played
async def test_adding_says_how_many_were_new_for_each_host(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s)
        assert await s.add(lease, [Request(A), Request(f"{A}2"), Request(B)]) == {HOST: 2, "b.example:8443": 1}
        assert await s.add(lease, [Request(A), Request(f"{B}2"), Request(f"{B}2")]) == {"b.example:8443": 1}
        assert await s.add(lease, []) == {}
        assert await s.hosts(lease.run) == {HOST: 2, "b.example:8443": 2}


@played
async def test_a_run_is_seeded_once_it_was_told_that_these_are_all(store: Opener) -> None:
    async with store() as s:
        run = await s.new_run(draft())
        lease = await s.acquire(run.id, "me", 60.0)
        for last in (False, True):
            await s.add(lease, [], last=last)
            told = await s.run(run.id)
            assert told is not None
            assert told.seeded is last


@played
async def test_runs_do_not_know_each_others_requests(store: Opener) -> None:
    async with store() as s:
        one, two = await begin(s, A), await begin(s, A, f"{A}2", owner="other")
        assert await ready_urls(s, one) == [A]
        assert await ready_urls(s, two) == [A, f"{A}2"]
        await settle(s, one, done((await ready(s, one))[0]))
        assert (await s.pending(two.run)).waiting == 2


SAME = [
    (Request(f"{A}x"), Request(f"{A}x")),
    (Request(f"{A}x"), Request(f"{A}x", priority=9)),
    (Request(f"{A}x"), Request(f"{A}x", headers={"accept": "text/plain"})),
    (Request(f"{A}x"), Request(f"{A}x", carry={"n": 1})),
    (Request(f"{A}x"), Request(f"{A}x", session="s", country="dk", render=True, wait_for="a", save="b")),
    (Request(f"{A}?b=2&a=1"), Request(f"{A}?a=1&b=2")),
    (Request(f"{A}%7euser"), Request(f"{A}~user")),
    (Request(f"{A}x", json={"q": 1}), Request(f"{A}x", method="post", json={"q": 1})),
    (Request(f"{A}x", data={"q": "1"}), Request(f"{A}x", data=b"q=1")),
]
DIFFERENT = [
    (Request(f"{A}x"), Request(f"{A}X")),
    (Request(f"{A}x"), Request("http://a.example/x")),
    (Request(f"{A}x"), Request(f"{A}x", to="detail")),
    (Request(f"{A}x"), Request(f"{A}x", method="HEAD")),
    (Request(f"{A}x"), Request(f"{A}x", data=b"")),
    (Request(f"{A}x", json={"q": 1}), Request(f"{A}x", json={"q": 2})),
    (Request(f"{A}x", json={"q": 1}), Request(f"{A}x", method="PUT", json={"q": 1})),
    (Request(f"{A}x", data="a"), Request(f"{A}x", data=b"b")),
    (Request(f"{A}x"), Request(f"{A}x", revisit=True)),
]


@pytest.mark.parametrize("pair", SAME, ids=str)
@played
async def test_the_same_thing_to_fetch_is_known(store: Opener, pair: tuple[Request, Request]) -> None:
    async with store() as s:
        lease = await begin(s, pair[0])
        assert await s.add(lease, [pair[1]]) == {}


@pytest.mark.parametrize("pair", DIFFERENT, ids=str)
@played
async def test_another_thing_to_fetch_is_not_known(store: Opener, pair: tuple[Request, Request]) -> None:
    async with store() as s:
        lease = await begin(s, pair[0])
        assert await s.add(lease, [pair[1]]) == {HOST: 1}


@played
async def test_known_means_known_not_done(store: Opener) -> None:
    """Whatever became of a request, it is not walked a second time because somebody links to it."""
    async with store() as s:
        lease = await begin(s, *(f"{A}{ending}" for ending in Ending))
        outcomes = [Outcome(r, Ending(r.url.removeprefix(A)), not_before=2e9) for r in await ready(s, lease)]
        await settle(s, lease, *outcomes)
        assert await s.add(lease, [Request(f"{A}{ending}") for ending in Ending]) == {}


@played
async def test_a_revisit_is_always_new_to_another_page_but_not_to_its_own(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, f"{A}1", f"{A}2")
        again = Request(f"{A}poll", revisit=True)
        one, two = await ready(s, lease)
        assert (await settle(s, lease, done(one, again))).fresh == {HOST: 1}
        assert (await settle(s, lease, done(two, again, again))).fresh == {HOST: 2}
        assert all(r.revisit for r in await ready(s, lease))


# -- what comes out first --------------------------------------------------------------------------------------


@played
async def test_the_best_come_first_highest_priority_then_first_found(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(Request(f"{A}{n}", priority=n % 3 - 1) for n in range(9)))
        order = [f"{A}{n}" for n in (2, 5, 8, 1, 4, 7, 0, 3, 6)]
        assert await ready_urls(s, lease) == order
        for limit in (0, 1, 4):
            assert [r.url for r in await s.peek(lease.run, HOST, limit, ())] == order[:limit]


@played
async def test_peeking_changes_nothing_and_can_leave_requests_out(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"{A}{n}" for n in range(5)))
        first, second, third, *_ = await ready(s, lease)
        assert await s.peek(lease.run, HOST, 1, {first.id, second.id}) == [third]
        assert await s.peek(lease.run, HOST, 9, [r.id for r in await ready(s, lease)]) == []
        assert await s.peek(lease.run, HOST, 1, [10**12]) == [first]
        assert await s.peek(lease.run, HOST, 1, ()) == [first]


@played
async def test_peeking_sees_one_host_of_one_run(store: Opener) -> None:
    async with store() as s:
        lease, _ = await begin(s, A, B), await begin(s, f"{A}other", owner="other")
        assert await ready_urls(s, lease) == [A]
        assert await ready_urls(s, lease, "b.example:8443") == [B]
        assert await ready_urls(s, lease, "b.example") == []
        assert await s.peek(4711, HOST, 9, ()) == []


@played
async def test_levels_keep_deeper_requests_back_whatever_their_priority(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(Request(f"{A}{n}", depth=n, priority=n) for n in (3, 1, 2, 1)))
        assert await s.level(lease.run, HOST) == 1
        assert [r.depth for r in await ready(s, lease, level=0)] == []
        assert [r.depth for r in await ready(s, lease, level=1)] == [1]
        assert [r.depth for r in await ready(s, lease, level=2)] == [2, 1]
        assert [r.depth for r in await ready(s, lease)] == [3, 2, 1]


@played
async def test_the_level_is_that_of_the_shallowest_waiting_request_of_the_host(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, Request(f"{A}1", depth=1), Request(B, depth=7))
        assert await s.level(lease.run, HOST) == 0
        assert await s.level(lease.run, "b.example:8443") == 7
        assert await s.level(lease.run, "nobody.example") is None
        root, one = await ready(s, lease)
        await settle(s, lease, later(root, 2e9))
        assert await s.level(lease.run, HOST) == 0, "a parked request holds its level open"
        await s.wake(lease.run, 3e9)
        await settle(s, lease, done(root))
        assert await s.level(lease.run, HOST) == 1
        await settle(s, lease, done(one))
        assert await s.level(lease.run, HOST) is None


@played
async def test_roots_are_the_start_urls_and_what_they_redirected_to(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, f"{A}docs/", f"{A}blog/", B)
        docs, _ = await ready(s, lease)
        hop = Request("https://www.a.example/docs/", hops=1)
        await settle(s, lease, done(docs, hop, f"{A}docs/page", reason="redirect"))
        assert sorted(await s.roots(lease.run, by_host=False)) == sorted([f"{A}docs/", f"{A}blog/", B, hop.url])
        by_host = await s.roots(lease.run, by_host=True)
        assert sorted(url.split("/")[2] for url in by_host) == [HOST, "b.example:8443", "www.a.example"]
        assert sorted(url.split("/")[2] for url in await s.given_hosts(lease.run)) == [HOST, "b.example:8443"]
        for each in (True, False):
            found = await s.roots(lease.run, by_host=each, hosts=["b.example:8443", "nowhere.example"])
            assert found == [B]
            assert await s.roots(lease.run, by_host=each, hosts=[]) == []
        assert await s.given_hosts(4711) == []
        assert await s.roots(4711, by_host=True) == []
        assert await s.roots(4711, by_host=False) == []


# -- what waits for its time -----------------------------------------------------------------------------------


@played
async def test_a_parked_request_is_out_of_sight_until_it_is_woken(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        await settle(s, lease, later(first, 5000.0))
        assert await ready(s, lease) == [second]
        assert await s.hosts(lease.run) == {HOST: 1}
        left = await s.pending(lease.run)
        assert (left.waiting, left.parked, left.due) == (2, 1, 5000.0)
        assert await s.wake(lease.run, 4999.0) == ({}, 5000.0)
        assert await ready(s, lease) == [second]
        assert await s.wake(lease.run, 5000.0) == ({HOST: 1}, None)
        assert [r.url for r in await ready(s, lease)] == [A, f"{A}2"], "it has kept its place"
        left = await s.pending(lease.run)
        assert (left.waiting, left.parked, left.due) == (2, 0, None)


@played
async def test_waking_tells_hosts_and_when_the_next_is_due(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, f"{A}1", f"{A}2", f"{A}3", B)
        for n, request in enumerate([*await ready(s, lease), *await ready(s, lease, "b.example:8443")]):
            await settle(s, lease, later(request, 100.0 + n))
        assert await s.hosts(lease.run) == {}
        assert await s.wake(lease.run, 101.0) == ({HOST: 2}, 102.0)
        assert await s.wake(lease.run, 1000.0) == ({HOST: 1, "b.example:8443": 1}, None)
        assert await s.wake(lease.run, 1000.0) == ({}, None)
        assert await s.hosts(lease.run) == {HOST: 3, "b.example:8443": 1}


@played
async def test_waking_leaves_other_runs_alone(store: Opener) -> None:
    async with store() as s:
        one, two = await begin(s, A), await begin(s, A, owner="other")
        await settle(s, two, later((await ready(s, two))[0], 100.0))
        assert await s.wake(one.run, 1e9) == ({}, None)
        assert (await s.pending(two.run)).parked == 1


@played
async def test_only_an_attempt_that_failed_counts_as_one(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        for attempt, attempts in ((True, 1), (False, 1), (True, 2)):
            await settle(s, lease, later((await ready(s, lease))[0], 100.0, attempt=attempt))
            await s.wake(lease.run, 100.0)
            assert (await ready(s, lease))[0].attempts == attempts
        run = await s.run(lease.run)
        assert run is not None
        assert (run.retried, run.settled, run.by_reason) == (2, 0, {})


@played
async def test_what_is_parked_is_still_parked_after_reopening(lasting: Opener) -> None:
    async with lasting() as s:
        lease = await begin(s, A)
        await settle(s, lease, later((await ready(s, lease))[0], 5000.0))
    async with lasting() as s:
        lease = await s.acquire(lease.run, "heir", 60.0)
        assert await ready(s, lease) == []
        assert (await s.pending(lease.run)).due == 5000.0


@played
async def test_pending_counts_what_is_left(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"{A}{n}" for n in range(5)))
        one, two, three, four, _ = await ready(s, lease)
        await settle(
            s,
            lease,
            Outcome(one, Ending.DONE, dropped=(Drop(Request(f"{A}no"), "exclude"),)),
            Outcome(two, Ending.FAILED, "http_500"),
            Outcome(three, Ending.SKIPPED, "robots"),
            later(four, 5000.0),
        )
        left = await s.pending(lease.run)
        assert (left.settled, left.waiting, left.parked, left.due, left.in_flight) == (3, 2, 1, 5000.0, 0)


@played
async def test_of_a_run_nobody_made_nothing_is_left(store: Opener) -> None:
    async with store() as s:
        left = await s.pending(4711)
        assert (left.settled, left.waiting, left.parked, left.due, left.in_flight) == (0, 0, 0, None, 0)
        assert await s.hosts(4711) == {}
        assert await s.level(4711, HOST) is None
        assert await s.wake(4711, 1e9) == ({}, None)
