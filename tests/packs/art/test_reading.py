"""Days, fees, states, types and fingerprints: what a text says, and what it only seems to say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import Page
from gossamer.packs.art import classify, deadlines, fees, fingerprints, states, titlewords

TODAY = date(2026, 5, 1)
DATES = deadlines.dates_of(Page.of("", "https://arts.example/"))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("June 15, 2026", "2026-06-15"),
        ("Deadline: June 15th, 2026", "2026-06-15"),
        ("15 June 2026", "2026-06-15"),
        ("Sept. 5, 2026 at 11:59 PM", "2026-09-05"),
        ("Monday, September 14th, 2026", "2026-09-14"),
        ("06/15/2026", "2026-06-15"),
        ("03/04/2026", "2026-03-04"),
        ("8/25/20", "2020-08-25"),
        ("3/29/26", "2026-03-29"),
        ("2026-06-15", "2026-06-15"),
        ("2026/06/15", "2026-06-15"),
        ("01-03-2018", "2018-01-03"),
        ("11/17/2019 12:00:00 AM (PT)", "2019-11-17"),
        ("June 15th", "2026-06-15"),
        ("March 3", "2027-03-03"),
        ("May 1", "2026-05-01"),
        ("6/15", "2026-06-15"),
        ("4/30", "2027-04-30"),
        ("Feb 29", "2028-02-29"),
        ("0000-00-00", None),
        ("00/00/0000", None),
        ("Ongoing", None),
        ("Open until filled", None),
        ("June 2026", None),
        ("13/45/2026", None),
        ("", None),
        (None, None),
        (20260615, None),
        (date(2026, 6, 15), "2026-06-15"),
    ],
)
def test_a_day_in_every_way_it_is_written(text: object, want: str | None) -> None:
    assert deadlines.day(text, TODAY) == (date.fromisoformat(want) if want else None)


@pytest.mark.parametrize(
    ("text", "event", "want"),
    [
        ("October 3", date(2026, 11, 7), "2026-10-03"),
        ("October 3", date(2026, 2, 7), "2025-10-03"),
        ("10/3", date(2026, 10, 3), "2026-10-03"),
        ("October 3, 2027", date(2026, 11, 7), "2027-10-03"),
        ("February 29", date(2024, 2, 29), "2024-02-29"),
        ("October 3", None, "2026-10-03"),
        ("ongoing", date(2026, 11, 7), None),
    ],
)
def test_a_deadline_without_a_year_lies_before_what_it_is_for(text: str, event: date | None, want: str | None) -> None:
    assert deadlines.last(text, TODAY, event) == (date.fromisoformat(want) if want else None)


def test_without_today_a_day_without_a_year_is_none() -> None:
    assert deadlines.day("June 15th") is None
    assert deadlines.day("6/15") is None


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("4/3/2020-4/24/2020", ("2020-04-03", "2020-04-24")),
        ("6/1/26 - 6/3/26", ("2026-06-01", "2026-06-03")),
        ("5/30-6/2/2026", ("2026-05-30", "2026-06-02")),
        ("June 1 - 3, 2026", ("2026-06-01", "2026-06-03")),
        ("June 1-3", ("2026-06-01", "2026-06-03")),
        ("May 30 to June 2, 2026", ("2026-05-30", "2026-06-02")),
        ("December 20 - January 5, 2027", ("2026-12-20", "2027-01-05")),
        ("2026-06-01 - 2026-07-01", ("2026-06-01", "2026-07-01")),
        ("2026/06/01 – 2026/07/01", ("2026-06-01", "2026-07-01")),
        ("Friday, June 5, 2026 through Sunday, June 7, 2026", ("2026-06-05", "2026-06-07")),
        ("June 5, 2026", ("2026-06-05", None)),
        ("01-03-2018", ("2018-01-03", None)),
        ("0000-00-00 - 0000-00-00", (None, None)),
        ("all summer", (None, None)),
        (None, (None, None)),
    ],
)
def test_a_span_of_days(text: str | None, want: tuple[str | None, str | None]) -> None:
    found = deadlines.span(text, TODAY)
    assert tuple(day.isoformat() if day else None for day in found) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Entry Deadline: 8/25/26. The show opens on 9/30/26.", "2026-08-25"),
        ("The exhibition runs June 1 to July 1, 2026. Applications due: May 20, 2026", "2026-05-20"),
        ("Please apply by June 15th, 2026 to be considered.", "2026-06-15"),
        ("Closing date 2026/06/30", "2026-06-30"),
        ("Submit by 06/30/2026, notification of artists 07/15/2026", "2026-06-30"),
        ("Application Deadline:\nDecember 22, 2026, 4:00 PM PST", "2026-12-22"),
        ("The deadline has been extended to July 4, 2026 (was June 20, 2026).", "2026-07-04"),
        ("We were founded on May 3, 1999.", None),
        ("", None),
    ],
)
def test_the_deadline_in_a_text(text: str, want: str | None) -> None:
    found = deadlines.find(text, DATES, TODAY)
    assert (found.day.isoformat() if found else None) == want


def test_a_deadline_says_how_it_was_written() -> None:
    found = deadlines.find("Apply now. Deadline: August 25th, 2026 at noon.", DATES)
    assert found is not None
    assert found.text.startswith("August 25th, 2026")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("$35.00 USD per 10", ("35", "USD")),
        ("20.00", ("20", "USD")),
        ("12.50", ("12.50", "USD")),
        ("$20 for two pieces", ("20", "USD")),
        ("€15", ("15", "EUR")),
        (25, ("25", "USD")),
        ("Free", ("0", None)),
        ("None", ("0", None)),
        ("No fee", ("0", None)),
        ("$0.00", ("0", None)),
        ("0", ("0", None)),
        ("Not specified", None),
        ("North", None),
        ("", None),
        (None, None),
        (True, None),
        (float("nan"), None),
    ],
)
def test_a_fee_under_a_label(text: object, want: tuple[str, str | None] | None) -> None:
    found = fees.fee_of(text)
    assert (tuple(found) if found else None) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("The entry fee is $35 for three images.", "35"),
        ("You may submit 1-2 images of your work for $25, 3-4 images for $30.", "25"),
        ("Non-refundable $10 per submission.", "10"),
        ("There is no application fee.", "0"),
        ("We offer an artist fee of $500.", None),
        ("A budget of $40,000; the fee for the artist is $6,000.", None),
        ("Best of show wins $1,000.", None),
    ],
)
def test_a_fee_in_a_text(text: str, want: str | None) -> None:
    found = fees.fee_in(text, DATES)
    assert (found.amount if found else None) == want


def test_there_are_fifty_states_a_district_and_five_territories() -> None:
    assert len(states.BY_CODE) == len(set(states.NAMES)) == 56
    for code, name in states.BY_CODE.items():
        assert states.state_named(code) == states.state_named(name.upper()) == name
        assert states.state_of(f"Springfield, {code}") == states.state_of(f"Springfield, {code} 12345, USA") == name
        assert states.state_of(f"Springfield, {name}") == name


@pytest.mark.parametrize(
    ("place", "want"),
    [
        ("Ojai, CA 93023", "California"),
        ("Austin TX", "Texas"),
        ("Austin TX 78701", "Texas"),
        ("CA", "California"),
        ("Chicago, IL, USA", "Illinois"),
        ("rural Oregon", "Oregon"),
        ("Charleston, West Virginia", "West Virginia"),
        ("Washington, D.C.", "District of Columbia"),
        ("Washington, USA", "Washington"),
        ("Kansas City, MO", "Missouri"),
        ("Indiana, PA", "Pennsylvania"),
        ("Atlanta, Georgia", "Georgia"),
        # words that are codes
        ("come in or call me", None),
        ("hi there, ok", None),
        ("open to all, OR not", None),
        ("CALL ME", None),
        ("is a Remote Position", None),
        ("LA", None),
        ("Los Angeles", None),
        ("Miami, Fl", None),
        # places elsewhere
        ("Kansas City", None),
        ("Tbilisi, Georgia", None),
        ("Mexico City, Mexico", None),
        ("London, UK", None),
        ("International", None),
        ("", None),
        (None, None),
    ],
)
def test_the_state_of_a_place(place: str | None, want: str | None) -> None:
    assert states.state_of(place) == want


def test_a_town_in_a_sentence() -> None:
    assert states.place_in("Ten days in Marfa, Texas. Apply soon.") == "Marfa, Texas"
    assert states.place_in("We meet at Fort Ross, CA, in the old barn.") == "Fort Ross, CA"
    assert states.place_in("Applications in English, Or else. In Berlin, Germany.") is None


@pytest.mark.parametrize(
    ("title", "text", "want"),
    [
        ("Emerging Artists Grant", "", "grant"),
        ("Book Prize", "Shown in our gallery.", "grant"),
        ("Winter Residency", "With a show at the end.", "residency"),
        ("Artist in Residence", "", "residency"),
        ("The 12th Annual Crow Show", "", "exhibition"),
        ("Juried: Works on Paper", "", "exhibition"),
        ("Open Call", "", "opportunity"),
        ("Mural RFQ", "", "opportunity"),
        ("Untitled", "An exhibition of small things.", "exhibition"),
        ("Untitled", "Apply with ten pictures.", "opportunity"),
        # parts of words, and words that mean something else
        ("Postmark Studio Visit", "", "general"),
        ("Calligraphy Workshop", "", "general"),
        ("Weekly newsletter", "Works shown last week. Call us. State of residence is asked for.", "general"),
        ("Vintage platform shoes", "Posted by hand.", "general"),
    ],
)
def test_the_type_is_told_by_whole_words(title: str, text: str, want: str) -> None:
    assert classify.type_of(title, text) == want


def test_what_the_source_says_counts_before_the_title() -> None:
    assert classify.type_of("The Lantern Prize", category="Exhibitions") == "exhibition"
    assert classify.type_of("The Lantern Residency", category="Competitions") == "residency"
    assert classify.type_of("Lanterns", category="Competitions") == "opportunity"
    assert classify.type_of("A grant", source="Instagram") == "social_media"
    assert classify.type_of("A grant", source="www.reddit.com") == "social_media"
    assert classify.type_of("A grant", source="instagram-help.example") == "grant"


def test_who_sees_what() -> None:
    records = [
        {"type": kind, "state": state, "membership_level": classify.level_of(kind, state)}
        for kind in classify.TYPES
        for state in (None, "Texas", "Ohio")
    ]
    levels = {(each["type"], each["state"]): each["membership_level"] for each in records}
    assert levels["social_media", None] == levels["general", "Texas"] == "free"
    assert levels["exhibition", "Ohio"] == "supporter"
    assert levels["exhibition", None] == levels["grant", "Ohio"] == levels["opportunity", None] == "premium"

    assert {each["type"] for each in classify.visible(records, "free")} == {"social_media", "general"}
    assert len(classify.visible(records, "premium")) == len(records)
    seen = classify.visible(records, "supporter", ["Texas"])
    assert {each["type"] for each in seen if each["state"] == "Texas"} == set(classify.TYPES)
    assert {each["type"] for each in seen if each["state"] == "Ohio"} == {"social_media", "general"}
    assert classify.visible(records, "nobody") == classify.visible(records, "free")


def test_one_call_has_one_fingerprint_however_it_is_written() -> None:
    day = date(2026, 10, 16)
    same = [
        ("Harbor Light Mural Commission", "Port Alder Arts & Culture"),
        ("Call for Artists: Harbor Light Mural Commission", "Port Alder Arts and Culture, Inc."),
        ("HARBOR LIGHT MURAL COMMISSION - Freelance, Artist Calls", "The Port Alder Arts & Culture"),
        ("Härbor Light – Mural Commission (Deadline extended!)", "port alder arts & culture"),
    ]
    assert len({fingerprints.fingerprint(title, day, who) for title, who in same}) == 1
    first = fingerprints.fingerprint(*same[0][:1], day, same[0][1])
    assert fingerprints.fingerprint(same[0][0], date(2026, 10, 17), same[0][1]) != first
    assert fingerprints.fingerprint(same[0][0], day, None) == first, "posts do not say whose call it is"
    assert fingerprints.fingerprint("Letterpress Prize", day, None) == fingerprints.fingerprint(
        "letterpress prize", day, None
    )


@pytest.mark.parametrize(
    "title",
    [
        "[Call] Open Water: 14th Annual Watercolor Show",
        "OPEN CALL \N{CHEERING MEGAPHONE} Open Water: 14th annual watercolor show",
        "Call to artists | Open Water: 14th Annual Watercolor Show",
        "Call for Entries - Open Water: 14th Annual Watercolor Show",
        "(Open Call) Open Water: 14th Annual Watercolor Show!",
    ],
)
def test_what_posts_put_before_a_title_does_not_count(title: str) -> None:
    want = fingerprints.fingerprint("Open Water: 14th Annual Watercolor Show", TODAY, "River Society")
    assert fingerprints.fingerprint(title, TODAY, None) == want


def test_a_hyphen_within_a_word_ends_no_call() -> None:
    assert fingerprints.tidy_title("Call-and-response quilts") == "Call-and-response quilts"


GENERIC = [
    "Call for Artists",
    "CALL FOR ARTISTS 2026!",
    "Open Call 2026",
    "Annual Juried Exhibition",
    "35th Annual National Juried Exhibition",
    "Artist in Residence",
    "Public Art RFQ: Call for Murals",
    "Landscapes 2026 Art Competition",
    "Small Works",
    "Art in the Park",
    "New York Photography Show",
    "Appel à candidatures 2026",
    "Convocatoria de residencias artista",
    "Ausschreibung: Künstler",
]


@pytest.mark.parametrize("title", GENERIC)
def test_a_title_that_many_calls_have_is_one_of_its_organization(title: str) -> None:
    assert fingerprints.fingerprint(title, TODAY, None) is None
    first, second = (fingerprints.fingerprint(title, TODAY, who) for who in ("Alder Arts", "Birch Gallery"))
    assert first
    assert second
    assert first != second


def test_one_word_of_its_own_needs_an_organization_where_there_is_one() -> None:
    first, second = (fingerprints.fingerprint("Threadwork 2026", TODAY, who) for who in ("Fiber Guild", "Loom House"))
    assert first != second


@given(
    st.lists(st.sampled_from(sorted(titlewords.GENERIC)), min_size=1, max_size=6),
    st.sampled_from(["", " 2026", " 14th", " XII"]),
    st.sampled_from([str.lower, str.upper, str.title]),
)
def test_no_generic_words_make_two_organizations_one(words: list[str], more: str, case: Callable[[str], str]) -> None:
    title = case(" ".join(words) + more)
    assert fingerprints.fingerprint(title, TODAY, None) is None
    assert fingerprints.fingerprint(title, TODAY, "Alder Arts") != fingerprints.fingerprint(title, TODAY, "Birch Hall")


def test_words_of_titles_are_written_as_they_are_compared() -> None:
    for word in titlewords.GENERIC | titlewords.THEMES:
        assert fingerprints._folded(word) == word
    assert not titlewords.GENERIC & titlewords.THEMES


def test_a_title_alone_is_no_fingerprint() -> None:
    assert fingerprints.fingerprint("Open call", None, None) is None
    assert fingerprints.fingerprint(None, TODAY, "Somebody") is None
    assert fingerprints.fingerprint("...", TODAY, "Somebody") is None
