"""Endless URL spaces are left early, and no page that somebody wrote is dropped for them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import traps
from gossamer.settings import ScraperConfig
from gossamer.traps import Traps
from tests.conftest import corpora


@dataclass(frozen=True)
class Limits:
    max_queries: int = 10_000
    max_per_host: int | None = None
    traps: bool = True


def guard(**limits: int) -> Traps:
    """A guard with these limits."""
    return Traps(Limits(**limits))


# --- paths ---


@pytest.mark.parametrize(
    "path",
    [
        "/x/x/x/x",
        "/x/x/x/x/",
        "/x/x/x/x/page.html",
        "/shop/x/x/x/x/page.html",
        "/a/b/a/b/a/b/",
        "/docs/a/b/a/b/a/b/index.html",
        "/a/b/c/a/b/c/a/b/c",
        "/en/1/en/2/en/3/en/4/en/5/en/6/en/7",
        "/" + "/".join(map(str, range(41))),
    ],
)
def test_a_path_that_repeats_itself_is_a_trap(path: str) -> None:
    assert guard().drops(f"https://a.org{path}", 3) == "trap_path"
    assert guard().drops(f"https://a.org{path}?x=1", 3) == "trap_path"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/x/x/x",
        "/a/b/a/b",
        "/a/b/a/b/a",
        "/tiles/0/0/0.png",
        "/2011/11/11/eleven/",
        "/2011/11/11/11/",
        "/a//b///c",
        "/en/docs/en/guide/en/start",
        "/src/org/shop/src/main/java/org/shop/web/org.html",
        "/" + "/".join(map(str, range(40))),
    ],
)
def test_a_path_that_somebody_wrote_is_none(path: str) -> None:
    assert guard().drops(f"https://a.org{path}", 3) is None


# --- queries ---


@pytest.mark.parametrize(
    "query",
    [
        "&".join(f"p{n}={n}" for n in range(31)),
        "&".join(f"tag[]={n}" for n in range(13)),
        "lang=en&lang=en&lang=en",
        "a=1&lang=en&b=2&lang=en&c=3&lang=en",
    ],
)
def test_a_query_with_more_than_any_form_has_is_a_trap(query: str) -> None:
    assert guard().drops(f"https://a.org/list?{query}", 3) == "trap_query"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "&&&&",
        "a",
        "page=2",
        "a=1&b=2",
        "lang=en&lang=en",
        "&".join(f"tag[]={n}" for n in range(12)),
        "&".join(f"p{n}=x" for n in range(30)),
        "from=2024-01-01&to=2030-12-31",
    ],
)
def test_a_query_of_a_form_is_none(query: str) -> None:
    assert guard().drops(f"https://a.org/list?{query}", 3) is None


def test_queries_explode_on_one_path_only() -> None:
    asked = guard(max_queries=100)
    rules = [asked.drops(f"https://a.org/list?a={n}&b={n}") for n in range(150)]
    assert rules == [None] * 100 + ["trap_query"] * 50
    assert asked.drops("https://a.org/other?a=1&b=2") is None
    assert asked.drops("https://a.org/list") is None
    assert [asked.drops(f"https://a.org/list?page={n}") for n in range(200)] == [None] * 200


# --- calendars and sessions ---


@pytest.mark.parametrize(
    "url", ["https://a.org/cal/{}/05", "https://a.org/cal/{}-05-01/", "https://a.org/cal?day={}-05"]
)
def test_a_calendar_is_followed_for_a_while(url: str) -> None:
    asked = guard()
    rules = [asked.drops(url.format(year)) for year in range(2000, 3000)]
    assert rules[:35] == [None] * 35
    let_pass = rules.index("trap_query" if "?" in url else "trap_path")
    assert traps.MOST_FAR_DATES < let_pass < traps.MOST_FAR_DATES + 60
    assert set(rules[let_pass:]) == {rules[let_pass]}
    assert asked.drops(url.format(2024)) is None
    assert asked.drops(url.format(2999).replace("a.org", "b.org")) is None


@pytest.mark.parametrize(
    ("one", "two", "rule"),
    [
        ("https://a.org/x;jsessionid=A1?p=1", "https://a.org/x;jsessionid=B2?p=1", "trap_path"),
        ("https://a.org/(S(abcdefgh12345678))/x", "https://a.org/(S(12345678abcdefgh))/x", "trap_path"),
        ("https://a.org/x?PHPSESSID=0123456789abcdef", "https://a.org/x?PHPSESSID=fedcba9876543210", "trap_query"),
        ("https://a.org/x?p=1&sid=0123456789abcdef", "https://a.org/x?p=1&sid=fedcba9876543210", "trap_query"),
        ("https://a.org/x?p=1", "https://a.org/x?p=2", None),
        ("https://a.org/x?sid=1", "https://a.org/x?sid=2", None),
        ("https://a.org/x?sid=a-long-name-of-a-story", "https://a.org/x?sid=another-name-of-a-story", None),
        ("https://a.org/x;jsessionid=A1?p=1", "https://a.org/x;jsessionid=A1?p=2", None),
    ],
)
def test_a_page_is_walked_under_one_session(one: str, two: str, rule: str | None) -> None:
    asked = guard()
    assert asked.drops(one) is None
    assert asked.drops(one) is None, "the very same URL is the frontier's business"
    assert asked.drops(two) == rule


# --- budgets ---


def test_a_host_has_a_budget_of_pages() -> None:
    asked = guard(max_per_host=3)
    asked.count("a.org", 2)
    assert asked.drops("https://a.org/1") is None
    assert asked.drops("https://a.org/2") == "host_budget"
    assert asked.drops("https://a.org:8080/1") is None
    assert asked.drops("https://b.org/x/x/x/x") == "trap_path"
    assert [asked.drops(f"https://b.org/{n}") for n in range(4)] == [None, None, None, "host_budget"]


def test_the_settings_are_limits() -> None:
    asked = Traps(ScraperConfig(max_per_host=1, max_queries=1))
    assert asked.drops("https://a.org/?a=1&b=1") is None
    assert asked.drops("https://a.org/?a=1&b=2") == "trap_query"
    assert asked.drops("https://a.org/") == "host_budget"


def test_memory_is_bounded_and_the_heaviest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traps, "MOST_PATHS", 100)
    monkeypatch.setattr(traps, "MOST_HOSTS", 100)
    asked = guard(max_queries=50, max_per_host=1000)
    for n in range(50):
        asked.drops(f"https://a.org/trap?a={n}&b=1")
    for n in range(1000):
        asked.drops(f"https://h{n}.org/{n}?a=1&b=1")
        asked.drops(f"https://h{n}.org/{n};jsessionid=1")
    assert len(asked._queries) <= 100
    assert len(asked._hosts) <= 100
    assert len(asked._sessions) <= 100
    assert asked.drops("https://a.org/trap?a=x&b=1") == "trap_query"


# --- all URLs ---

words = st.text(st.sampled_from("ab/-;?&=%1209."), max_size=60)


@given(words, st.lists(st.sampled_from(["a", "b", "cc", ""]), max_size=60))
def test_every_url_gets_an_answer(tail: str, segments: list[str]) -> None:
    asked = guard(max_per_host=5)
    for url in (f"https://a.org/{tail}", f"https://a.org/{'/'.join(segments)}/{tail}"):
        assert asked.drops(url, 1) in (None, "trap_path", "trap_query", "host_budget")


@given(st.lists(st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1), unique=True, max_size=12))
def test_folders_of_different_names_are_no_trap(segments: list[str]) -> None:
    assert guard().drops("https://a.org/" + "/".join(segments), 1) is None


@given(
    st.lists(st.sampled_from(["a", "b", "c", "dd"]), min_size=1, max_size=5),
    st.integers(4, 8),
    st.lists(st.sampled_from(["x", "y", "z"]), max_size=3),
    st.lists(st.sampled_from(["x", "y", "z"]), max_size=3),
)
def test_whatever_repeats_is_found_wherever_it_stands(
    cycle: list[str], times: int, before: list[str], after: list[str]
) -> None:
    path = "/".join([*before, *cycle * times, *after])
    assert guard().drops(f"https://a.org/{path}", 1) == "trap_path"


def test_long_urls_take_no_longer_than_their_length() -> None:
    asked = guard()
    began = time.process_time()
    for tail in (
        "a/" * 4000,
        "?" + "a&" * 4000,
        "-" * 8000,
        "?sid=" + "a" * 8000,
        ";" * 8000,
        "2" * 8000,
        "/(s(" * 2000,
    ):
        asked.drops(f"https://a.org/{tail}")
    assert time.process_time() - began < 3


def _rows(path: Path) -> list[str]:
    return path.read_text("utf-8").strip().split("\n")


@pytest.mark.suite
def test_no_link_of_real_sites_is_dropped() -> None:
    suites = corpora("suites")
    asked = guard()
    found: set[str] = set()
    for graph in (suites / "sites" / "graphs").glob("*.jsonl"):
        found |= {f"http://{graph.stem}.test{json.loads(row)['path']}" for row in _rows(graph)}
    for row in _rows(suites / "links" / "shared" / "oracle.jsonl"):
        found |= {link for link in json.loads(row)["links"] if link.startswith("http")}
    assert len(found) > 10_000
    assert not {url: rule for url in found if (rule := asked.drops(url, 1))}


def test_without_the_guard_only_the_budget_counts() -> None:
    asked = Traps(ScraperConfig(traps=False, max_per_host=1))
    assert asked.drops("http://a.org/x/x/x/x/x/x/") is None
    assert asked.drops("http://a.org/y") == "host_budget"
