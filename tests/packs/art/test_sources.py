"""Every source, on pages of our own, through the door that everybody uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer import ConfigError, Report, Scraper
from gossamer.demo import art as demo
from gossamer.demo.packs import PackSites
from gossamer.packs import art
from gossamer.packs.art.classify import TYPES
from gossamer.packs.art.fingerprints import tidy_title
from gossamer.packs.art.instagram import TAGS
from gossamer.packs.art.statewide import StateSource

BY_NAME = {each.name: each for each in art.SCRAPERS}


@pytest.fixture(scope="module")
def sites() -> Iterator[PackSites]:
    with PackSites(remember=True) as started:
        yield started


@pytest.fixture
def run(sites: PackSites, tmp_path: Path) -> Any:
    """Runs a scraper on the demo sites: its report, and its items by title."""

    def go(scraper: type[Scraper] | str, **params: str) -> tuple[Report, dict[str, dict[str, Any]]]:
        one = BY_NAME[scraper] if isinstance(scraper, str) else scraper
        report = gossamer.run(one, params=params, store=str(tmp_path / "art.db"), **sites.knobs())
        found = gossamer.items(str(tmp_path / "art.db"), scraper=one.name, kind="opportunity")
        return report, {each["title"]: each for each in found}

    return go


def test_every_source_is_listed_once_and_says_what_it_is() -> None:
    assert len(BY_NAME) == len(art.SCRAPERS) == 16
    for name, each in BY_NAME.items():
        assert name.startswith("art.")
        assert each.__doc__
        assert each.every, "it has a schedule"
        assert (each.misfire, each.kind, each.key) == ("coalesce", "opportunity", "url")


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("instagram", "2h"),
        ("social", "2h"),
        ("california", "4h"),
        ("newyork", "4h"),
        ("cafe", "4h"),
        ("texas", "6h"),
        ("florida", "6h"),
        ("arizona", "6h"),
        ("general", "1d"),
        ("artcall", "1d"),
    ],
)
def test_intervals(name: str, every: str) -> None:
    assert BY_NAME[f"art.{name}"].every == every


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_every_source_brings_whole_items_from_the_demo_sites(run: Any, name: str) -> None:
    report, found = run(name)
    assert report.reason == "done"
    assert report.rejected == 0
    assert report.failed == (1 if name == "art.instagram" else 0)
    assert found
    for each in found.values():
        assert each["engine"] == name
        assert each["type"] in TYPES
        assert each["deadline"], "all of them have one"
        assert each["source"]
        assert each["source_url"].startswith("https://")
        assert each["fingerprint"]
        assert "Unknown" not in each.values()


def test_every_host_that_is_asked_has_a_stand_in() -> None:
    for each in art.SCRAPERS:
        hosts = {(r if isinstance(r, str) else r.url).split("/")[2] for r in each().start()}  # type: ignore[union-attr]
        assert hosts <= set(demo.HOSTS), each.name


# -- one by one --------------------------------------------------------------------------------------------------


def test_cafe_asks_as_its_own_page_asks(run: Any, sites: PackSites) -> None:
    sites.site.clear()
    _, found = run("art.cafe", region="5,32")
    (hit,) = [hit for hit in sites.site.hits if hit.method == "POST"]
    assert hit.headers["x-requested-with"] == "XMLHttpRequest"
    assert hit.body == b"start-index=0&keyword=&show-only-fair-id=&region%5B%5D=5%2C32"
    (mural,) = found.values()
    assert (mural["title"], mural["deadline"]) == ("Call for Artists: Harbor Light Mural Commission", "2026-10-16")
    assert (mural["location"], mural["state"], mural["category"]) == (
        "Port Alder, California",
        "California",
        "Public Art",
    )
    assert (mural["fee_to_apply"], mural["fee_amount"], mural["amount"]) == (False, "0", "48000")
    assert mural["url"] == "https://artist.callforentry.org/festivals_unique_info.php?ID=16400"
    assert len(run("art.cafe", state="tx")[1]) == 3
    assert len(run("art.cafe", keyword="glass")[1]) == 4, "items of other questions stay"


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("art.cafe", {"region": "California"}, "write numbers"),
        ("art.cafe", {"state": "Bavaria"}, "is no state"),
        ("art.cafe", {"regoin": "5"}, "did you mean 'region'"),
        ("art.instagram", {"tags": "no spaces"}, "is no hashtag"),
        ("art.instagram", {"pages": "0"}, "pages="),
        ("art.instagram", {"pages": "many"}, "pages="),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(run: Any, name: str, params: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        run(name, **params)


def test_california_reads_its_board_and_the_archive(run: Any) -> None:
    report, found = run("art.california")
    residency = found["Redwood Quiet Residency - Freelance, Artist Calls"]
    assert residency["organization"] == "The Quiet House"
    assert (residency["deadline"], residency["deadline_text"], residency["opens"]) == (
        "2026-11-02",
        "11/02/2026",
        "2026-09-01",
    )
    assert (residency["type"], residency["membership_level"], residency["category"]) == (
        "residency",
        "premium",
        "Artist Calls",
    )
    assert (residency["fee_amount"], residency["fee_currency"], residency["amount"]) == ("10", "USD", "2000")
    assert (residency["location"], residency["state"]) == ("Arden Grove", "California")
    archived = found["Small Worlds: Miniature Art"]
    assert (archived["event_start"], archived["event_end"], archived["source"]) == (
        "2026-12-04",
        "2027-01-09",
        "artworkarchive.com",
    )
    assert report.pages == 8, "three pages of the board, three calls, the archive's page and its call"


def test_the_pages_of_known_calls_are_not_fetched_again_while_they_are_fresh(run: Any, sites: PackSites) -> None:
    run("art.california")
    sites.site.clear()
    report, found = run("art.california")
    asked = [path for path in sites.site.paths() if "robots" not in path]
    assert len(asked) == 4, "the listings only"
    assert (report.by_reason["fresh"], report.items, len(found)) == (4, 4, 4)


def test_blocks_in_blocks_are_one_call_each(run: Any) -> None:
    report, found = run("art.newyork")
    assert list(found) == [
        "Hudson Lantern Fellowship",
        "Open Call: The Subway Sketchbook",
        "Night Market Poster Competition",
    ]
    assert found["Hudson Lantern Fellowship"]["url"] == "https://www.nyfa.org/opportunities/hudson-lantern-fellowship/"
    assert found["Open Call: The Subway Sketchbook"]["fee_amount"] == "15"
    assert report.items == 3


def test_a_place_in_a_sentence_and_a_deadline_behind_a_label(run: Any) -> None:
    (one,) = run("art.florida")[1].values()
    assert (one["location"], one["state"]) == ("Palmetto Key, Florida", "Florida")
    assert (one["deadline"], one["type"], one["membership_level"]) == ("2026-10-30", "exhibition", "supporter")


@pytest.mark.parametrize(
    ("name", "title", "want"),
    [
        (
            "arizona",
            "Artist in Residence at the Adobe School",
            {"deadline": "2027-02-01", "organization": "The Adobe School"},
        ),
        ("artcall", "Winter Glass", {"state": "Washington", "fee_amount": "0", "eligibility": "Regional"}),
        ("artdeadline", "Still Life Now", {"deadline": "2026-09-30", "category": "Competitions", "fee_amount": "18"}),
        (
            "resartis",
            "Lighthouse Winter Residency",
            {"event_start": "2027-01-10", "event_end": "2027-02-21", "opens": None},
        ),
        (
            "zapplication",
            "Linden Park Art Fair",
            {"deadline": "2026-10-01", "event_end": "2027-05-16", "fee_amount": "40"},
        ),
        ("smarterentry", "Silver Gelatin: a Photography Call", {"deadline": "2026-11-17", "opens": "2026-09-01"}),
        (
            "artworkarchive",
            "Gulf Coast Print Exchange",
            {"state": "Texas", "category": "Exhibition", "fee_amount": "12"},
        ),
        ("general", "Orchard Row Commission", {"state": "Virginia", "fee_amount": None}),
    ],
)
def test_what_the_boards_say(run: Any, name: str, title: str, want: dict[str, Any]) -> None:
    one = run(f"art.{name}")[1][title]
    assert {field: one[field] for field in want} == want


def test_a_deadline_without_a_year_is_that_before_the_show(run: Any) -> None:
    (one,) = run("art.showsubmit")[1].values()
    assert (one["deadline"], one["deadline_text"], one["event_start"]) == ("2026-10-03", "October 3", "2026-11-07")


def test_featured_rows_are_not_read_twice(run: Any) -> None:
    report, found = run("art.artcall")
    assert len(found) == report.items == 2


def test_hashtags_in_all_shapes_and_one_behind_a_wall(run: Any, tmp_path: Path) -> None:
    report, found = run("art.instagram")
    assert report.by_reason["blocked"] == 1
    tags = Counter(each["tags"][0] for each in gossamer.items(str(tmp_path / "art.db")))
    assert set(tags) == {tag for tag in TAGS if tag != demo.WALLED}
    one = found["Linden Park Art Fair"]
    assert (one["type"], one["membership_level"], one["is_ad"], one["source"]) == (
        "social_media",
        "free",
        True,
        "Instagram",
    )
    assert one["posted_date"] == "2026-09-01T00:00:00+00:00"
    assert one["url"] == "https://www.instagram.com/p/Zncallfo0/"
    assert not any("Lunch" in title for title in found)


def test_more_pages_of_a_hashtag_where_they_are_asked_for(run: Any) -> None:
    assert len(run("art.instagram", tags="artcall")[1]) == 2
    report, found = run("art.instagram", tags="#artcall", pages="5")
    assert report.pages == 2
    assert "Lighthouse Winter Residency" in found


def test_feeds_and_forums_keep_what_can_be_applied_for(run: Any) -> None:
    _, found = run("art.social")
    assert sorted(found) == [
        "Open Call: Letterpress Prize",
        "Open Call: Orchard Row Commission",
        "[Call] Open Water: 14th Annual Watercolor Show",
    ]
    assert {each["type"] for each in found.values()} == {"social_media"}
    assert found["Open Call: Letterpress Prize"]["deadline"] == "2027-01-31"
    assert found["Open Call: Letterpress Prize"]["tags"] == ["Opportunities"]


def test_a_call_on_two_boards_has_one_fingerprint(run: Any, tmp_path: Path) -> None:
    run("art.cafe")
    run("art.california")
    run("art.artworkarchive")
    store = str(tmp_path / "art.db")
    whole = gossamer.items(store, kind="opportunity")
    once = gossamer.items(store, kind="opportunity", unique="fingerprint")
    murals = [each["engine"] for each in whole if "Harbor Light" in each["title"]]
    assert murals == ["art.cafe", "art.california"]
    assert [each["engine"] for each in once if "Harbor Light" in each["title"]] == ["art.cafe"]
    assert len(whole) - len(once) == 2, "the mural, and what the archive lists for California and for all"


def test_every_call_of_the_demo_sites_is_there_once_by_its_fingerprint(run: Any, tmp_path: Path) -> None:
    for name in BY_NAME:
        run(name)
    whole = gossamer.items(str(tmp_path / "art.db"), kind="opportunity")
    once = gossamer.items(str(tmp_path / "art.db"), kind="opportunity", unique="fingerprint")
    for words in ("Harbor Light", "Still Life Now", "Open Water", "Orchard Row", "Letterpress", "Linden Park"):
        assert len({each["engine"] for each in whole if words in each["title"]}) > 1, words
        assert len([each for each in once if words in each["title"]]) == 1, words
    titles = Counter(tidy_title(each["title"]) for each in once)
    assert set(titles.values()) == {1}
    assert set(titles) == {tidy_title(each["title"]) for each in whole}, "and none is lost"


# -- a state of one's own ----------------------------------------------------------------------------------------


def test_a_new_state_is_a_few_lines(run: Any, sites: PackSites) -> None:
    class Oregon(StateSource):
        name = "art.oregon"
        state = "Oregon"
        start_urls = ("https://www.oregonartscommission.org/opportunities", "https://www.nyfa.org/opportunities/")

    _, found = run(Oregon)
    assert found["Rain Garden Commission"]["state"] == "Oregon"
    assert len(found) == 3
    assert found["Hudson Lantern Fellowship"]["state"] == "New York", (
        "what a call says counts before where it is listed"
    )


def test_a_state_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="is no state"):
        type("Bavaria", (StateSource,), {"name": "art.bavaria", "state": "Bavaria"})


@pytest.mark.parametrize(
    "body",
    [{"name": "art.nowhere"}, {"start_urls": ["https://a.example/"]}, {"listing": "https://a.example/?page={page}"}],
)
def test_a_state_that_is_missing_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"^Nowhere has no state: write state = 'Oregon', or build on Board$"):
        type("Nowhere", (StateSource,), body)


def test_a_class_to_build_upon_needs_no_state() -> None:
    class Library(StateSource):
        entries = ".call"

    class Ohio(Library):
        name = "art.ohio"
        state = "Ohio"
        start_urls = ("https://a.example/",)

    assert Ohio.entries == ".call"
