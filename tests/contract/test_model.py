"""Whatever order of verbs: the store says the same as a small model of it in memory."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gossamer.errors import LeaseLost
from gossamer.storage.store import Store
from gossamer.values import Drop, Ending, Item, Lease, Outcome, Request
from tests.contract.conftest import KINDS, LASTING, Opener
from tests.contract.steps import draft, settle

HOSTS = ("a.example", "b.example")
#: Few, so that the same is met again and again.
links = st.lists(
    st.builds(
        lambda host, n, depth, priority: Request(f"https://{host}/{n}", depth=depth, priority=priority),
        st.sampled_from(HOSTS),
        st.integers(0, 12),
        st.integers(0, 2),
        st.integers(-1, 1),
    ),
    max_size=6,
)
keys = st.lists(st.sampled_from("klmn"), max_size=3)


class Known:
    """What the model knows of one request."""

    def __init__(self, request: Request, order: int, state: str = "waiting") -> None:
        self.request = request
        self.order = order
        self.state = state
        self.not_before = 0.0
        self.attempts = 0
        self.claimed = False

    @property
    def ready(self) -> bool:
        return self.state == "waiting" and not self.not_before


class StoreMachine(RuleBasedStateMachine):
    """Verbs in any order, on a store and on the model."""

    kind = LASTING[0]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.folder = tempfile.TemporaryDirectory()
        self.opener: Opener = KINDS[self.kind](Path(self.folder.name))
        self.known: dict[str, Known] = {}
        self.seen: dict[str, None] = {}
        self.settled = self.owners = 0
        self.store: Store
        self.lease: Lease

    def do(self, verb: Any) -> Any:
        return self.loop.run_until_complete(verb)

    def teardown(self) -> None:
        self.do(self.stack.aclose())
        self.loop.close()
        self.folder.cleanup()

    # -- the model ---------------------------------------------------------------------------------------------

    def learn(self, requests: list[Request], state: str = "waiting") -> dict[str, int]:
        """Take in what is not known: host -> how many."""
        fresh: dict[str, int] = {}
        for request in requests:
            if request.url not in self.known:
                self.known[request.url] = Known(request, len(self.known), state)
                host = request.url.split("/")[2]
                fresh[host] = fresh.get(host, 0) + 1
        return fresh

    def best(self, host: str, level: int = 9) -> list[Known]:
        found = [k for url, k in self.known.items() if k.ready and f"//{host}/" in url and k.request.depth <= level]
        return sorted(found, key=lambda k: (-k.request.priority, k.order))

    def walked(self, data: st.DataObject) -> tuple[Known, Request] | None:
        """Some request that is ready, as the model and as the store know it."""
        host = data.draw(st.sampled_from(HOSTS), "host")
        rows = self.do(self.store.peek(self.lease.run, host, 3, ()))
        if not rows:
            return None
        row = data.draw(st.sampled_from(rows), "request")
        return self.known[row.url], row

    # -- verbs -------------------------------------------------------------------------------------------------

    @initialize(found=links)
    def begin(self, found: list[Request]) -> None:
        self.store = self.do(self.stack.enter_async_context(self.opener()))
        self.run = self.do(self.store.new_run(draft()))
        self.lease = self.do(self.store.acquire(self.run.id, "0", 60.0))
        self.add(found=[Request(f"https://{host}/{n}") for host in HOSTS for n in range(3)] + found)

    @rule(found=links)
    def add(self, found: list[Request]) -> None:
        assert self.do(self.store.add(self.lease, found)) == self.learn(found)

    @rule(data=st.data(), found=links, dropped=links, shown=keys)
    def finish(self, data: st.DataObject, found: list[Request], dropped: list[Request], shown: list[str]) -> None:
        walk = self.walked(data)
        if walk is None:
            return
        known, request = walk
        items = tuple(Item("item", key, "{}") for key in shown)
        drops = tuple(Drop(link, "exclude") for link in dropped)
        outcome = Outcome(request, Ending.DONE, items=items, found=tuple(found), dropped=drops)
        told = self.do(settle(self.store, self.lease, outcome))
        assert told.fresh == self.learn(found)
        assert sum(told.dropped.values()) == sum(self.learn(dropped, "skipped").values())
        assert told.items == len(set(shown) - set(self.seen))
        self.seen |= dict.fromkeys(shown)
        known.state, known.claimed = "done", False
        self.settled += 1
        with pytest.raises(LeaseLost):
            self.do(settle(self.store, self.lease, outcome))

    @rule(data=st.data(), ending=st.sampled_from([Ending.SKIPPED, Ending.FAILED]))
    def give_up(self, data: st.DataObject, ending: Ending) -> None:
        walk = self.walked(data)
        if walk is not None:
            self.do(settle(self.store, self.lease, Outcome(walk[1], ending)))
            walk[0].state, walk[0].claimed = str(ending), False
            self.settled += 1

    @rule(data=st.data(), due=st.integers(1, 3), attempt=st.booleans())
    def park(self, data: st.DataObject, due: int, attempt: bool) -> None:
        walk = self.walked(data)
        if walk is not None:
            outcome = Outcome(walk[1], Ending.LATER, "timeout", not_before=float(due), attempt=attempt)
            self.do(settle(self.store, self.lease, outcome))
            walk[0].not_before, walk[0].claimed = float(due), False
            walk[0].attempts += attempt

    @rule(now=st.integers(0, 3))
    def wake(self, now: int) -> None:
        parked = [k for k in self.known.values() if k.state == "waiting" and k.not_before]
        due = [k for k in parked if k.not_before <= now]
        rest = [k.not_before for k in parked if k.not_before > now]
        woken, following = self.do(self.store.wake(self.lease.run, float(now)))
        assert (sum(woken.values()), following) == (len(due), min(rest, default=None))
        for known in due:
            known.not_before = 0.0

    @rule(data=st.data())
    def claim(self, data: st.DataObject) -> None:
        walk = self.walked(data)
        if walk is not None:
            self.do(settle(self.store, self.lease, claims=[walk[1].id]))
            walk[0].claimed = True

    @precondition(lambda self: any(known.claimed and known.ready for known in self.known.values()))
    @rule(due=st.integers(1, 3))
    def park_what_was_claimed(self, due: int) -> None:
        known = next(known for known in self.known.values() if known.claimed and known.ready)
        host = known.request.url.split("/")[2]
        rows = self.do(self.store.peek(self.lease.run, host, 100, ()))
        request = next(row for row in rows if row.url == known.request.url)
        self.do(settle(self.store, self.lease, Outcome(request, Ending.LATER, not_before=float(due))))
        known.not_before, known.claimed = float(due), False

    @rule()
    def die_and_come_back(self) -> None:
        self.do(self.stack.aclose())
        self.store = self.do(self.stack.enter_async_context(self.opener()))
        self.agree()
        old, self.owners = self.lease, self.owners + 1
        self.lease = self.do(self.store.acquire(self.run.id, str(self.owners), 60.0))
        with pytest.raises(LeaseLost):
            self.do(settle(self.store, old))
        for known in self.known.values():
            known.claimed = False

    # -- what must agree ---------------------------------------------------------------------------------------

    @invariant()
    def agree(self) -> None:
        if not hasattr(self, "lease"):
            return
        waiting = [k for k in self.known.values() if k.state == "waiting"]
        parked = [k.not_before for k in waiting if k.not_before]
        left = self.do(self.store.pending(self.run.id))
        assert (left.settled, left.waiting, left.parked) == (self.settled, len(waiting), len(parked))
        assert (left.due, left.in_flight) == (min(parked, default=None), sum(k.claimed for k in waiting))
        assert self.do(self.store.hosts(self.run.id)) == {h: len(self.best(h)) for h in HOSTS if self.best(h)}
        for host in HOSTS:
            mine = [k for k in waiting if f"//{host}/" in k.request.url]
            assert self.do(self.store.level(self.run.id, host)) == min((k.request.depth for k in mine), default=None)
            for level in (0, 9):
                rows = self.do(self.store.peek(self.run.id, host, 4, (), level))
                expected = [(k.request.url, k.attempts) for k in self.best(host, level)[:4]]
                assert [(r.url, r.attempts) for r in rows] == expected
        run = self.do(self.store.run(self.run.id))
        skipped = sum(k.state == "skipped" for k in self.known.values())
        assert (run.items, run.settled, run.skipped) == (len(self.seen), self.settled, skipped)


@pytest.mark.parametrize("kind", LASTING)
def test_any_order_of_verbs_agrees_with_the_model(kind: str) -> None:
    machine = type("Machine", (StoreMachine,), {"kind": kind})
    bounds = settings(
        max_examples=20,
        stateful_step_count=20,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=bounds)
