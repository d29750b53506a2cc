"""Runs and leases: who may walk what, and what is left to walk."""

from __future__ import annotations

import time

import msgspec
import pytest

from gossamer.errors import LeaseLost, StoreBusy
from gossamer.storage.store import Batch, SourceNote, Store
from gossamer.values import Ending, Lease, Outcome, Request, RunState
from tests.contract.conftest import Opener
from tests.contract.steps import A, begin, done, draft, everything, later, played, ready, settle


@played
async def test_a_new_run_is_pending_and_remembers_what_was_asked(store: Opener) -> None:
    async with store() as s:
        before = time.time()
        run = await s.new_run(draft())
        assert (run.scraper, run.ref, run.signature) == ("quotes", "quotes.py:Quotes", "same")
        assert (run.params, run.options) == ({"q": "art"}, {"depth": 3})
        assert (run.state, run.reason, run.ended, run.seeded) == (RunState.PENDING, "", None, False)
        assert before - 1 <= run.created <= time.time() + 1
        assert (run.settled, run.pages, run.items, run.failed, run.skipped, run.retried, run.size) == (0,) * 7
        assert run.by_reason == {}
        assert await s.run(run.id) == run


@played
async def test_a_run_nobody_made_is_none(store: Opener) -> None:
    async with store() as s:
        assert await s.run(4711) is None
        assert await s.runs() == []
        assert await s.unfinished("same") is None


@played
async def test_runs_come_newest_first_and_no_more_than_asked_for(store: Opener) -> None:
    async with store() as s:
        made = [(await s.new_run(draft(signature=str(n)))).id for n in range(5)]
        assert [run.id for run in await s.runs()] == made[::-1]
        assert [run.id for run in await s.runs(2)] == made[:-3:-1]


@played
async def test_a_run_goes_from_pending_over_running_to_its_end_and_lasts(lasting: Opener) -> None:
    async with lasting() as s:
        lease = await begin(s, A)
        running = await s.run(lease.run)
        assert running is not None
        assert (running.state, running.ended, running.seeded) == (RunState.RUNNING, None, True)
        await settle(s, lease, done((await ready(s, lease))[0]), seconds=1.5)
        ended = await s.end_run(lease, RunState.FINISHED, "done")
        assert (ended.state, ended.reason, ended.pages, ended.seconds) == (RunState.FINISHED, "done", 1, 1.5)
        assert ended.ended is not None
        assert ended.ended >= ended.created
        await s.release(lease)
    async with lasting() as s:
        assert await s.run(lease.run) == ended


@played
async def test_a_run_that_ended_early_can_be_acquired_again_and_is_running_then(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        await s.end_run(lease, RunState.CANCELLED, "interrupted")
        await s.release(lease)
        again = await s.acquire(lease.run, "other", 60.0)
        run = await s.run(lease.run)
        assert run is not None
        assert (run.state, run.reason, run.ended) == (RunState.RUNNING, "", None)
        assert [r.url for r in await ready(s, again)] == [A]


# -- what the same command goes on with ------------------------------------------------------------------------


@played
async def test_a_run_with_waiting_requests_is_unfinished_however_it_ended(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        for state in (RunState.CANCELLED, RunState.FAILED, RunState.FINISHED):
            await s.end_run(lease, state, "some reason")
            found = await s.unfinished("same")
            assert found is not None
            assert (found.id, found.state) == (lease.run, state)


@played
async def test_parked_requests_wait_too(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        await settle(s, lease, later((await ready(s, lease))[0], 2e9))
        await s.end_run(lease, RunState.CANCELLED, "interrupted")
        assert await s.unfinished("same") is not None


@played
async def test_a_run_that_has_ended_with_nothing_waiting_is_not_unfinished(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        await settle(s, lease, done((await ready(s, lease))[0]))
        await s.end_run(lease, RunState.FINISHED, "done")
        assert await s.unfinished("same") is None


@played
async def test_a_run_that_died_before_its_end_was_written_is_unfinished(store: Opener) -> None:
    """Its last page was settled, but nobody said how it ended."""
    async with store() as s:
        lease = await begin(s, A)
        await settle(s, lease, done((await ready(s, lease))[0]))
        found = await s.unfinished("same")
        assert found is not None
        assert found.id == lease.run


@played
async def test_a_run_whose_start_requests_are_not_all_in_is_unfinished(store: Opener) -> None:
    async with store() as s:
        run = await s.new_run(draft())
        lease = await s.acquire(run.id, "me", 60.0)
        await s.add(lease, [Request(A)])
        await settle(s, lease, done((await ready(s, lease))[0]))
        await s.end_run(lease, RunState.FAILED, "start() raised")
        found = await s.unfinished("same")
        assert found is not None
        assert not found.seeded


@played
async def test_only_the_newest_run_of_a_signature_counts(store: Opener) -> None:
    async with store() as s:
        await begin(s, A)
        newer = await begin(s, A)
        await settle(s, newer, done((await ready(s, newer))[0]))
        await s.end_run(newer, RunState.FINISHED, "done")
        assert await s.unfinished("same") is None
        assert await s.unfinished("another") is None


# -- leases ----------------------------------------------------------------------------------------------------


@played
async def test_a_run_is_refused_while_a_living_owner_holds_it(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        before = await everything(s, lease)
        for owner in ("other", "me"):
            with pytest.raises(StoreBusy, match=f"run {lease.run} "):
                await s.acquire(lease.run, owner, 60.0)
        assert await everything(s, lease) == before
        await settle(s, lease, done((await ready(s, lease))[0]))  # the refused did no harm


@played
async def test_each_run_has_a_lease_of_its_own(store: Opener) -> None:
    async with store() as s:
        one, two = await begin(s, A), await begin(s, A, owner="other")
        assert one.run != two.run
        await settle(s, one, done((await ready(s, one))[0]))
        await settle(s, two, done((await ready(s, two))[0]))


@played
async def test_a_released_run_can_be_acquired_at_once_with_a_greater_token(store: Opener) -> None:
    async with store() as s:
        tokens = []
        run = await s.new_run(draft())
        for owner in ("one", "two", "one"):
            lease = await s.acquire(run.id, owner, 60.0)
            assert (lease.run, lease.owner) == (run.id, owner)
            assert lease.until > time.time() + 30
            tokens.append(lease.token)
            await s.release(lease)
        assert tokens == sorted(set(tokens))


@played
async def test_a_lease_that_was_not_renewed_in_time_passes_on(store: Opener) -> None:
    async with store() as s:
        run = await s.new_run(draft())
        slow = await s.acquire(run.id, "slow", 0.0)
        quick = await s.acquire(run.id, "quick", 60.0)
        assert quick.token > slow.token


@played
async def test_settling_renews_the_lease(store: Opener) -> None:
    async with store() as s:
        run = await s.new_run(draft())
        lease = await s.acquire(run.id, "me", 0.0)
        await s.settle(msgspec.structs.replace(lease, ttl=60.0), Batch())
        with pytest.raises(StoreBusy):
            await s.acquire(run.id, "other", 60.0)


@played
async def test_a_dead_owners_run_is_taken_over_when_the_store_is_opened_again(lasting: Opener) -> None:
    async with lasting() as s:
        dead = await begin(s, A, f"{A}b")
        await settle(s, dead, claims=[r.id for r in await ready(s, dead)])
    async with lasting() as s:
        lease = await s.acquire(dead.run, "heir", 60.0)
        assert lease.token > dead.token
        assert [r.url for r in await ready(s, lease)] == [A, f"{A}b"]
        with pytest.raises(LeaseLost):
            await settle(s, dead)


async def _passed_on(s: Store) -> tuple[Lease, Lease, Request]:
    """A lease that was taken over, the one it passed to, and a request that waits."""
    old = await begin(s, A)
    await s.release(old)
    new = await s.acquire(old.run, "other", 60.0)
    return old, new, (await ready(s, new))[0]


@played
async def test_nothing_is_written_under_a_lease_that_has_passed_on(store: Opener) -> None:
    async with store() as s:
        old, new, request = await _passed_on(s)
        before = await everything(s, new)
        with pytest.raises(LeaseLost):
            await settle(s, old, done(request, f"{A}found"))
        with pytest.raises(LeaseLost):
            await s.settle(old, Batch(claims=[request.id], seconds=9.0))
        with pytest.raises(LeaseLost):
            await s.add(old, [Request(f"{A}added")], last=True)
        with pytest.raises(LeaseLost):
            await s.end_run(old, RunState.FINISHED, "done")
        await s.release(old)  # says nothing, does nothing
        assert await everything(s, new) == before
        with pytest.raises(StoreBusy):
            await s.acquire(new.run, "third", 60.0)
        await settle(s, new, done(request))


@played
async def test_a_lease_with_another_owners_name_is_refused(store: Opener) -> None:
    """A token alone is no proof: two stores might count the same."""
    async with store() as s:
        lease = await begin(s, A)
        forged = Lease(run=lease.run, owner="forger", token=lease.token, until=lease.until)
        with pytest.raises(LeaseLost):
            await settle(s, forged, done((await ready(s, lease))[0]))


@played
async def test_a_released_lease_is_worth_nothing(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        request = (await ready(s, lease))[0]
        await s.release(lease)
        for ending in Ending:
            with pytest.raises(LeaseLost):
                await settle(s, lease, Outcome(request, ending))


@played
async def test_a_run_without_requests_can_be_taken_back_and_another_not(store: Opener) -> None:
    async with store() as s:
        empty = await s.new_run(draft(signature="empty"))
        await s.acquire(empty.id, "me", 60.0)
        lease = await begin(s, A)
        await s.forget_run(empty.id)
        await s.forget_run(lease.run)
        assert [run.id for run in await s.runs()] == [lease.run]
        assert await s.unfinished("empty") is None


@played
async def test_a_run_that_is_walked_says_by_whom(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        assert await s.walked(lease.run)


@played
async def test_notes_on_hosts_are_kept_at_once(lasting: Opener) -> None:
    async with lasting() as s:
        await s.remember([SourceNote("a.org", 1.0, 2.0), SourceNote("b.org", 3.0, 4.0)])
        await s.remember([SourceNote("a.org", 5.0, 6.0)])
        await s.remember([])
    async with lasting() as s:
        assert await s.source("a.org") == SourceNote("a.org", 5.0, 6.0)
        assert await s.source("b.org") == SourceNote("b.org", 3.0, 4.0)
