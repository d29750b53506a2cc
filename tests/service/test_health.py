"""The breaker of a scraper: it opens after failures, waits longer each time, tries, and closes after a success."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gossamer import health
from gossamer.health import CLOSED, GO, HALF_OPEN, HOLD, OPEN, PROBE, Health, pause, settled, verdict

AFTER = 3


def failed(seen: Health, now: float) -> Health:
    return msgspec.structs.replace(seen, streak=seen.streak + 1, last_state="failed", last_ended=now)


def succeeded(seen: Health, now: float) -> Health:
    return msgspec.structs.replace(seen, streak=0, last_state="finished", last_ended=now)


def test_it_opens_after_so_many_failures_and_not_before() -> None:
    seen = Health()
    for n in range(1, AFTER + 1):
        seen = settled(failed(seen, 100.0), AFTER, busy=False, now=100.0)
        assert seen.breaker == (OPEN if n == AFTER else CLOSED)
    assert (seen.openings, seen.open_until) == (1, 100 + health.FIRST_PAUSE)
    assert verdict(seen, 100) == HOLD
    assert verdict(seen, seen.open_until) == PROBE


def test_who_never_backs_off_never_does() -> None:
    assert settled(Health(streak=50), None, busy=False, now=0).breaker == CLOSED
    assert settled(Health(50, OPEN, 3, 1e9), None, busy=False, now=0) == Health(50)


def test_a_probe_decides() -> None:
    seen = health.probing(Health(3, OPEN, 1, 900.0, "failed", 0.0))
    assert verdict(seen, 1000) == HOLD
    assert settled(seen, AFTER, busy=True, now=1000) == seen, "it is still on its way"
    well = settled(succeeded(seen, 1010), AFTER, busy=False, now=1010)
    assert (well.breaker, well.openings, verdict(well, 1010)) == (CLOSED, 0, GO)
    ill = settled(failed(seen, 1010), AFTER, busy=False, now=1011)
    assert (ill.breaker, ill.openings, ill.open_until) == (OPEN, 2, 1010 + 2 * health.FIRST_PAUSE)
    given_up = settled(msgspec.structs.replace(seen, last_state="cancelled"), AFTER, busy=False, now=1010)
    assert (given_up.breaker, given_up.openings, verdict(given_up, 1010)) == (OPEN, 1, PROBE)


def test_a_run_by_hand_that_succeeds_closes_it() -> None:
    assert settled(succeeded(Health(5, OPEN, 4, 1e9), 10), AFTER, busy=False, now=10).breaker == CLOSED


def test_a_clock_that_is_set_back_does_not_make_a_pause_longer() -> None:
    seen = settled(Health(3, OPEN, 1, 1e9, "failed", 1e9), AFTER, busy=False, now=1000.0)
    assert seen.open_until == 1000 + health.FIRST_PAUSE


@given(st.integers(1, 10_000))
def test_pauses_grow_up_to_a_day(openings: int) -> None:
    assert health.FIRST_PAUSE <= pause(openings) <= pause(openings + 1) <= health.LONGEST_PAUSE
    assert pause(openings + 1) in (2 * pause(openings), health.LONGEST_PAUSE)


class Breaker(RuleBasedStateMachine):
    """A scraper whose runs end as they like, started by a schedule and by hand, and looked at now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.seen = Health()
        self.running = ""

    @rule(seconds=st.floats(0, 2 * 86400))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.look()

    @rule()
    def look(self) -> None:
        self.seen = settled(self.seen, AFTER, busy=bool(self.running), now=self.now)

    @precondition(lambda self: not self.running)
    @rule()
    def comes_due(self) -> None:
        self.look()
        said = verdict(self.seen, self.now)
        if said == PROBE:
            assert self.seen.streak >= AFTER
            self.seen = health.probing(self.seen)
        self.running = said if said != HOLD else ""

    @precondition(lambda self: not self.running)
    @rule()
    def by_hand(self) -> None:
        self.running = "by hand"

    @precondition(lambda self: bool(self.running))
    @rule(ending=st.sampled_from(["failed", "finished", "cancelled"]))
    def ends(self, ending: str) -> None:
        streak = {"failed": self.seen.streak + 1, "finished": 0, "cancelled": self.seen.streak}[ending]
        self.seen = msgspec.structs.replace(self.seen, streak=streak, last_state=ending, last_ended=self.now)
        self.running = ""

    @invariant()
    def what_holds_always(self) -> None:
        seen = settled(self.seen, AFTER, busy=bool(self.running), now=self.now)
        assert seen == settled(seen, AFTER, busy=bool(self.running), now=self.now), "looking twice is looking once"
        assert (seen.breaker == CLOSED) == (seen.streak < AFTER)
        assert (seen.openings == 0) == (seen.breaker == CLOSED)
        assert seen.breaker != HALF_OPEN or self.running, "a probe that ended has said what it has to say"
        if seen.breaker == OPEN:
            assert seen.open_until <= self.now + pause(seen.openings), "no pause is longer than it should be"
        if not self.running:
            assert verdict(seen, self.now + health.LONGEST_PAUSE) in (GO, PROBE), "it is tried again, whatever happened"


TestBreaker = Breaker.TestCase
