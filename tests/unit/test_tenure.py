"""What is leased is asked for no longer than it is ours."""

from __future__ import annotations

import math

from gossamer import clock
from gossamer.tenure import FOREVER, Tenure


def test_a_lease_that_is_renewed_in_time_holds() -> None:
    tenure = Tenure(10.0)
    assert tenure.holds
    assert 9.0 < tenure.left <= 9.5


def test_nothing_is_asked_after_four_fifths_of_its_time_and_nothing_is_left_when_it_ends() -> None:
    now = clock.steady()
    assert Tenure(10.0, now - 7.5).holds
    assert not Tenure(10.0, now - 8.1).holds
    assert Tenure(10.0, now - 8.1).left > 0
    assert Tenure(10.0, now - 9.6).left == 0.0


def test_it_counts_from_before_the_question_was_sent_and_never_goes_back() -> None:
    now = clock.steady()
    tenure = Tenure(10.0, now - 9.0)
    tenure.renewed(now - 1.0)
    assert tenure.holds
    tenure.renewed(now - 9.0)
    assert tenure.holds


def test_what_is_known_to_be_lost_is_lost_and_what_nobody_can_take_is_ours() -> None:
    tenure = Tenure(10.0)
    tenure.end()
    assert not tenure.holds
    assert tenure.left == 0.0
    assert FOREVER.holds
    assert FOREVER.left == math.inf
