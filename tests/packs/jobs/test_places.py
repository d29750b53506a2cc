"""In which country a place is."""

from __future__ import annotations

import pytest

from gossamer.packs.jobs.countries import AIRPORTS, CITIES, COUNTRIES, STATES
from gossamer.packs.jobs.places import country_code, named


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("Quillan Bay, NY, United States", "US"),
        ("Calgary, AB, Canada", "CA"),
        ("Costa Rica", "CR"),
        ("Manila", "PH"),
        ("Germany", "DE"),
        ("Köln, Deutschland", "DE"),
        ("Philadelphia", "US"),
        ("Pan-India", "IN"),
        ("Remote - Germany", "DE"),
        ("Dubai - United Arab Emirates", "AE"),
        ("London, UK", "GB"),
        ("usa", "US"),
        ("Sydney CBD NSW", "AU"),
        ("Minto, New South Wales, Australia", "AU"),
        ("Bosnia and Herzegovina", "BA"),
        ("Turks and Caicos", "TC"),
        ("Milan, Italy; Paris, France", "IT"),
        ("London or Paris", "GB"),
        ("Austin, TX 78701", "US"),
    ],
)
def test_places_as_postings_write_them(place: str, code: str) -> None:
    assert country_code(place) == code


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("Lima, Ohio", "US"),
        ("Panama City, Florida", "US"),
        ("London, Ontario", "CA"),
        ("Melbourne, FL", "US"),
        ("Albuquerque, New Mexico", "US"),
        ("Jersey City, NJ", "US"),
        ("Atlanta, Georgia", "US"),
        ("Tbilisi, Georgia", "GE"),
        ("Papua New Guinea", "PG"),
        ("Niger", "NE"),
        ("Nigeria", "NG"),
        ("Romania", "RO"),
        ("Isle of Man", "IM"),
    ],
)
def test_what_is_written_last_says_most_and_longer_names_win(place: str, code: str) -> None:
    assert country_code(place) == code


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("Berlin, DE", "DE"),
        ("Wilmington, DE", "US"),
        ("Los Angeles, CA", "US"),
        ("Toronto, CA", "CA"),
        ("Nowhere, CA", None),
        ("Perth, WA", "AU"),
        ("Vancouver, WA", "US"),
        ("Mumbai, IN", "IN"),
        ("Indianapolis, IN", "US"),
        ("Greensboro, NC", "US"),
    ],
)
def test_two_letters_are_a_state_or_a_country_as_the_city_tells(place: str, code: str | None) -> None:
    assert country_code(place) == code


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("MAN", "GB"),
        ("Base: MAN", "GB"),
        ("New Delhi (DEL)", "IN"),
        ("Ramp, BUF", "US"),
        ("man", None),
        ("del", None),
        ("Delft", None),
        ("Manhattan", None),
        ("CABO DEL SOL", None),
        ("Working in us", None),
    ],
)
def test_codes_count_only_where_they_stand_as_codes(place: str, code: str | None) -> None:
    assert country_code(place) == code


@pytest.mark.parametrize("place", [None, 5, "", "Remote", "Anywhere", "N/A", ",,,", "(" * 5000, ["Oslo"]])
def test_what_names_no_place_is_in_no_country(place: object) -> None:
    assert country_code(place) is None


def test_a_company_may_name_its_country() -> None:
    assert named("Air India Express") == "IN"
    assert named("Omanis & Sons") is None


def test_the_table_is_in_order() -> None:
    codes = set(COUNTRIES)
    assert all(len(code) == 2 and code.isupper() for code in codes)
    assert set(STATES) | set(CITIES) | set(AIRPORTS) <= codes
    airports = [code for some in AIRPORTS.values() for code in some.split()]
    assert len(airports) == len(set(airports))
    assert all(len(code) == 3 and code.isupper() for code in airports)
