"""What the drift gate says of runs, as lists tell it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.drift import Alarm, Finding
from gossamer.lists import of_drift
from gossamer.profiles import Profile
from tests.service.looking import Looking


@pytest.fixture
def looking(tmp_path: Path) -> Iterator[Looking]:
    with Looking(tmp_path / "store.db") as made:
        yield made


ALARM = Alarm("empty", "not one page was read", [Finding("items", "", "", 9.0, 0.0, "0 items")], ["http://a.test/"])


def a_run(looking: Looking, number: int, verdict: str, profile: Profile | str, **more: Any) -> None:
    about = {"params": "{}", "options": "{}", "alarm": None, "scraper": "shop", **more}
    alarm = about.pop("alarm")
    row = {"id": number, "ref": "r", "signature": f"s{number}", "state": "finished", "created": number}
    looking.insert("run", {**row, "verdict": verdict, **about})
    data = profile if isinstance(profile, str) else msgspec.json.encode(profile).decode()
    told = msgspec.json.encode(alarm).decode() if alarm else None
    kept = {"run_id": number, "scraper": about["scraper"], "params": about["params"], "at": number, "data": data}
    looking.insert("profile", {**kept, "alarm": told})


def like(items: int, *, partial: bool = False) -> Profile:
    return Profile(items, 0, 1, 1.0, {}, {}, {}, partial=partial)


def test_a_run_stands_beside_the_last_good_one_that_had_the_same_to_do(looking: Looking) -> None:
    a_run(looking, 1, "good", like(1))
    a_run(looking, 2, "accepted", like(2))
    a_run(looking, 3, "good", like(3, partial=True))
    a_run(looking, 4, "good", like(4), params='{"city":"Berlin"}')
    a_run(looking, 5, "good", like(5), options='{"depth":1}')
    a_run(looking, 6, "good", like(6), scraper="other")
    a_run(looking, 7, "rejected", like(7))
    a_run(looking, 8, "good", '{"written": "by another version"}')
    a_run(looking, 9, "suspect", like(0), alarm=ALARM, options='{"rate":"1/s"}')
    looking.insert(
        "staged",
        {"run_id": 9, "kind": "k", "key": "a", "data": '{"x":1}', "url": "http://a.test/", "request_id": 1, "seen": 1},
    )
    found = looking.wait(of_drift.judged(looking.desk, 9))
    assert found is not None
    assert (found.good, found.good_profile) == (2, like(2))
    assert (found.profile, found.alarm) == (like(0), ALARM)
    assert [item.data for item in found.held] == [{"x": 1}]
    first = looking.wait(of_drift.judged(looking.desk, 1))
    assert first is not None
    assert (first.good, first.good_profile, first.alarm, first.held) == (None, None, None, [])


def test_a_run_that_is_not_there_and_one_that_nobody_judged(looking: Looking) -> None:
    assert looking.wait(of_drift.judged(looking.desk, 1)) is None
    assert looking.wait(of_drift.judged(looking.desk, -1)) is None
    assert looking.wait(of_drift.judged(looking.desk, 2**70)) is None
    row = {"id": 1, "scraper": "shop", "ref": "r", "signature": "s", "params": "{}", "options": "{}"}
    looking.insert("run", {**row, "state": "running", "created": 1})
    found = looking.wait(of_drift.judged(looking.desk, 1))
    assert found is not None
    assert (found.verdict, found.at, found.profile) == ("", None, None)


def test_alarms_of_many_runs_at_once(looking: Looking) -> None:
    a_run(looking, 1, "good", like(1))
    a_run(looking, 2, "suspect", like(0), alarm=ALARM)
    assert looking.wait(of_drift.alarms(looking.desk, [1, 2, 3])) == {2: ALARM}
    assert looking.wait(of_drift.alarms(looking.desk, [])) == {}
