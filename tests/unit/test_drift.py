"""Profiles of runs, and what breaks their pattern."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from bench.drift import simulate
from hypothesis import given
from hypothesis import strategies as st

from gossamer import drift, profiles
from gossamer.profiles import Profile
from gossamer.storage.store import HandlerFacts, RunFacts
from gossamer.values import Run, RunState


def profiled(records: list[dict[str, Any]], *, pages: int = 10, giving: int | None = None, **more: Any) -> Profile:
    """The profile of a run that found these records."""
    facts = RunFacts({"parse": HandlerFacts(pages, pages if giving is None else giving, len(records))}, 1000.0, [])
    counts = {"pages": pages, "items": len(records), "rejected": more.pop("rejected", 0)}
    run = Run(
        id=1,
        scraper="s",
        ref="",
        signature="",
        params={},
        options={},
        state=RunState.FINISHED,
        reason="done",
        created=0,
        ended=0,
        seconds=1,
        seeded=True,
        settled=pages,
        failed=0,
        skipped=0,
        retried=0,
        size=0,
        by_reason=more.pop("by_reason", {"ok": pages}),
        **counts,
    )
    sample = [("item", f"https://a.org/{n}", msgspec.json.encode(each).decode()) for n, each in enumerate(records)]
    return profiles.profile(run, facts, sample, partial=more.pop("partial", False))


def products(n: int = 50, **changed: Any) -> list[dict[str, Any]]:
    return [
        {"name": f"Thing {i}", "price": f"£{i}.50", "offer": {"stock": i % 3}, "tags": ["a"], **changed}
        for i in range(n)
    ]


GOOD = [profiled(products(n)) for n in (50, 52, 48, 50)]


def fields(alarm: drift.Alarm | None) -> list[tuple[str, str]]:
    return [(finding.what, finding.field) for finding in alarm.findings] if alarm else []


# -- shapes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("£51.77", "£9.9"),
        ("£1,051.77", "£9,9.9"),
        ("AB-1234", "a-9"),
        ("Ada Weaver", "a"),
        ("Ada", "a"),
        ("https://a.org/b?c=d", "url"),
        ("2026-11-16", "date"),
        ("2026-11-16T10:00:00Z", "date"),
        ("In the beginning there was one thread, and nobody saw it.", "a sentence or two"),
        ("word " * 200, "a long text"),
        (3, "number"),
        (0, "0"),
        (True, "yes/no"),
        ([1], "list"),
    ],
)
def test_the_shape_of_a_value(value: Any, shape: str) -> None:
    assert profiles.shape(value) == shape


@given(st.text(max_size=200))
def test_any_text_has_a_shape_that_is_no_longer_than_it(text: str) -> None:
    assert len(profiles.shape(text)) <= max(len(text), 20)


def test_nested_records_are_looked_into() -> None:
    profile = profiled([{"a": {"b": {"c": 1}}, "d": {}, "e": []}])
    assert set(profile.kinds["item"].fields) == {"a.b.c", "d", "e"}
    assert profile.kinds["item"].fields["e"].filled == 0


def test_zero_and_no_are_something() -> None:
    assert not profiles.empty(0)
    assert not profiles.empty(False)
    assert all(profiles.empty(each) for each in (None, "", " \n", [], {}))


# -- what keeps to the pattern ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "records",
    [
        products(50),
        products(30),
        products(500),
        products(50, extra="new"),
        products(50, tags=["b", "c"]),
        [{**each, "price": None} if n == 3 else each for n, each in enumerate(products(50))],
    ],
)
def test_what_varies_as_usual_is_no_drift(records: list[dict[str, Any]]) -> None:
    assert drift.judge(profiled(records), GOOD) is None


def test_a_field_that_was_never_reliable_may_be_missing() -> None:
    past = [
        profiled([{**each, "note": "x" if n % k == 0 else None} for n, each in enumerate(products())])
        for k in (2, 9, 40)
    ]
    assert drift.judge(profiled(products(50, note=None)), past) is None


def test_a_kind_that_not_every_run_had_may_be_missing() -> None:
    odd = profiled(products(50))
    other = msgspec.structs.replace(odd, kinds={**odd.kinds, "rare": odd.kinds["item"]})
    assert drift.judge(profiled(products()), [*GOOD, other]) is None


def test_without_a_whole_run_to_compare_with_there_is_no_alarm() -> None:
    assert drift.judge(profiled([]), []) is None
    assert drift.judge(profiled([]), [profiled(products(), partial=True)]) is None


# -- what breaks it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], ("items", "")),
        (products(20), ("items", "")),
        (products(50, price=None), ("filled", "price")),
        (products(50, price=""), ("filled", "price")),
        (products(50, tags=[]), ("filled", "tags")),
        ([{**each, "price": None} if n % 2 else each for n, each in enumerate(products())], ("filled", "price")),
        (products(50, offer={}), ("filled", "offer.stock")),
        (products(50, price=3.5), ("type", "price")),
        (products(50, price="Call us"), ("shape", "price")),
        ([{k: v for k, v in each.items() if k != "name"} for each in products()], ("filled", "name")),
    ],
)
def test_what_breaks_the_pattern_is_named(records: list[dict[str, Any]], expected: tuple[str, str]) -> None:
    alarm = drift.judge(profiled(records), GOOD)
    assert expected in fields(alarm)
    assert alarm is not None
    assert alarm.cause == "layout changed"


def test_totals_of_a_run_that_was_stopped_say_nothing_but_its_fields_do() -> None:
    assert drift.judge(profiled(products(10), pages=2, partial=True), GOOD) is None
    assert fields(drift.judge(profiled(products(10, price=None), pages=2, partial=True), GOOD)) == [("filled", "price")]


def test_pages_that_give_nothing_any_more_are_named() -> None:
    alarm = drift.judge(profiled(products(48), giving=3), GOOD)
    assert ("giving", "") in fields(alarm)


def test_records_that_are_rejected_more_often_are_named() -> None:
    assert ("rejected", "") in fields(drift.judge(profiled(products(40), rejected=30), GOOD))


def test_a_kind_that_every_run_had_and_this_has_not_is_named() -> None:
    both = [msgspec.structs.replace(each, kinds={**each.kinds, "shop": each.kinds["item"]}) for each in GOOD]
    assert ("kind", "") in fields(drift.judge(profiled(products()), both))


# -- why -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by_reason", "cause"),
    [
        ({"ok": 5, "blocked": 5}, "blocked"),
        ({"http_403": 10}, "blocked"),
        ({"ok": 1, "http_404": 9}, "moved"),
        ({"scope": 1}, "moved"),
        ({"ok": 10}, "layout changed"),
    ],
)
def test_the_likeliest_cause_is_told(by_reason: dict[str, int], cause: str) -> None:
    alarm = drift.judge(profiled([], by_reason=by_reason), GOOD)
    assert alarm is not None
    assert alarm.cause == cause
    assert alarm.because


def test_pages_that_are_much_smaller_are_empty() -> None:
    small = msgspec.structs.replace(profiled([]), size=100.0)
    alarm = drift.judge(small, GOOD)
    assert alarm is not None
    assert alarm.cause == "empty"


# -- many scrapers ---------------------------------------------------------------------------------------------


def test_simulated_scrapers_rarely_cause_false_alarms_and_their_breaks_are_found() -> None:
    """A small part of `python -m bench.drift`."""
    tally = simulate(scrapers=21, runs=14, seed=5)
    assert tally.judged > 200
    assert tally.false_rate < 0.01, tally.why
    assert tally.found_rate > 0.97, tally.why
    assert all(tally.found[how] / n > 0.9 for how, n in tally.tried.items()), tally.why


def test_half_of_what_there_was_is_found_however_few_runs_there_were() -> None:
    for n in (12, 20, 400):
        for past in (1, 3, 10):
            good = [profiled(products(n), pages=max(1, n // 20)) for _ in range(past)]
            assert ("items", "") in fields(drift.judge(profiled(products(n // 2), pages=max(1, n // 20)), good))


def test_at_the_first_weekend_there_may_be_less_but_not_nothing() -> None:
    weekend = msgspec.structs.replace(profiled(products(10)), weekend=True)
    assert drift.judge(weekend, GOOD) is None
    assert fields(drift.judge(profiled(products(10)), GOOD)) == [("items", ""), ("each", "")]
    assert drift.judge(weekend, [msgspec.structs.replace(GOOD[0], weekend=True), *GOOD]) is not None
    assert drift.judge(msgspec.structs.replace(profiled([]), weekend=True), GOOD) is not None


def test_a_kind_of_which_there_was_one_may_be_missing() -> None:
    sponsor = profiled([{"name": "Thing"}]).kinds["item"]
    past = [msgspec.structs.replace(each, kinds={**each.kinds, "sponsor": sponsor}) for each in GOOD * 2]
    assert drift.judge(profiled(products()), past) is None


def test_a_profile_stays_small_whatever_is_in_the_records() -> None:
    odd = [{f"field {n}": "-" * n, "x" * 300: 1, "y": f"{'-.' * (n % 9)}{n}!{'?' * n}"} for n in range(900)]
    profile = profiled(odd)
    assert len(msgspec.json.encode(profile)) < 100_000
    assert sum(profile.kinds["item"].fields["y"].shapes.values()) == pytest.approx(1.0, abs=0.01)
