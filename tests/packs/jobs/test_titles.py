"""The title filter."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gossamer import ConfigError
from gossamer.packs.jobs import titles
from tests.packs import fixture

BUILT_IN = titles.filter_of({})


@pytest.mark.parametrize(
    ("title", "score", "level"),
    [
        ("Flight Dispatcher", 5.0, "high"),
        ("FLIGHT  DISPATCHER (m/f/d)", 5.0, "high"),
        ("Flight-Dispatcher", 5.0, "high"),
        ("Head of Flight Operations", 3.0, "medium"),
        ("Dispatcher", 2.5, "low"),
        ("OCC", 3.0, "medium"),
        ("OCC Manager", 6.0, "high"),
        ("Operations Control Centre", 6.0, "high"),
    ],
)
def test_phrases_are_worth_twice_their_weight_and_words_once(title: str, score: float, level: str) -> None:
    verdict = BUILT_IN.judge(title)
    assert (verdict.match, verdict.score, verdict.level) == (True, score, level)


@pytest.mark.parametrize(
    "title", ["Guest Desk Host", "Dispatchers' Cook", "SOCCER Coach", "First Officer A320", "", None, 5]
)
def test_words_count_as_whole_words(title: object) -> None:
    verdict = BUILT_IN.judge(title)
    assert (verdict.match, verdict.level, verdict.primary) == (False, None, None)


@pytest.mark.parametrize(
    ("title", "word"),
    [
        ("IT Manager, Operations Control", "IT"),
        ("Cabin Crew Scheduler and Flight Dispatcher", "Cabin Crew"),
        ("Truck Dispatcher", "Truck"),
        ("Aircraft Technician OCC", "Technician"),
    ],
)
def test_an_exclusion_wins(title: str, word: str) -> None:
    verdict = BUILT_IN.judge(title)
    assert (verdict.match, verdict.score, verdict.excluded) == (False, 0.0, word)


def test_it_is_not_the_same_as_IT() -> None:
    assert BUILT_IN.judge("Love it: Flight Dispatcher").match


def test_the_category_with_the_most_is_the_primary_one() -> None:
    verdict = BUILT_IN.judge("Senior Flight Dispatcher")
    assert verdict.primary == "Operative_Functional_Control_Keywords"
    assert verdict.categories == ("Operative_Functional_Control_Keywords", "Supervisory_Level_Control_Keywords")
    assert verdict.keywords == ("flight dispatcher", "senior flight dispatcher")


def test_a_file_of_ones_own_in_json_or_toml(tmp_path: Path) -> None:
    told = {"Filters": [{"FilterType": "Boats", "Keywords": ["ferry captain", "mate"], "Weight": 2}], "Exclusions": []}
    json, toml = tmp_path / "mine.json", tmp_path / "mine.toml"
    json.write_bytes(msgspec.json.encode(told))
    toml.write_text(
        'Exclusions = ["navy"]\n[[Filters]]\nFilterType = "Core boats"\nKeywords = ["ferry captain"]\n', "utf-8"
    )
    assert titles.load(json).judge("Ferry Captain").score == 4.0
    assert titles.filter_of({"filter": str(json)}).judge("First Mate, cabin crew").match  # it excludes nothing
    assert titles.load(toml).judge("Ferry Captain").score == 6.0  # a core term
    assert not titles.load(toml).judge("Navy Ferry Captain").match


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "is no title filter"),
        ('{"Filters": []}', "is no title filter"),
        ('{"Filters": [{"Keywords": []}]}', "has no FilterType"),
        ('{"Filters": [{"FilterType": "a", "Keywords": "b"}]}', "is a list of words"),
        ('{"Filters": [{"FilterType": "a", "Keywords": [""]}]}', "is a list of words"),
        ('{"Filters": [{"FilterType": "a", "Keywords": ["b"], "Weight": -1}]}', "write a number above 0"),
        ('{"Filters": [{"FilterType": "a", "Keywords": ["b"]}], "Exclusions": 5}', "Exclusions is a list"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=says):
        titles.filter_of({"filter": str(path)})


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        titles.filter_of({"filter": "nowhere.json"})


def test_keywords_are_words_and_no_expressions(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"Filters": [{"FilterType": "core", "Keywords": ["(a+)+$", "c++"]}], "Exclusions": []}', "utf-8")
    assert not titles.load(path).judge("a" * 400).match
    assert titles.load(path).judge("C++ pilot").match


def test_the_filter_of_the_job_board_loads(tmp_path: Path) -> None:
    path = tmp_path / "filter_title.json"
    path.write_bytes(fixture("jobs/filter_title.json"))
    loaded = titles.load(path)
    assert {each.name.partition("_")[0]: each.weight for each in loaded.categories} == {
        "Core": 3.0,
        "Operative": 2.5,
        "Supervisory": 2.0,
        "Management": 1.5,
    }
    assert sum(len(each.keywords) for each in loaded.categories) == 195
    assert loaded.judge("Flight Dispatcher").level == "high"
    assert loaded.judge("Cabin Crew").excluded
