"""Prices as people write them, and the currencies they mean."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from gossamer.parse import currencies, prices


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("$14.99", "14.99", "USD"),
        ("12,50 €", "12.50", "EUR"),
        ("1.299,- €", "1299", "EUR"),
        ("€1.234.567,89", "1234567.89", "EUR"),
        ("1'299.00 CHF", "1299", "CHF"),
        ("12 590 Kč", "12590", "CZK"),
        ("1\u202f299,90\u00a0zł", "1299.90", "PLN"),
        ("NT$ 1,160", "1160", "TWD"),
        ("AU $59.95", "59.95", "AUD"),
        ("SGD $14", "14", "SGD"),
        ("R$ 1.299,90", "1299.90", "BRL"),
        ("₹ 1,23,456.00", "123456", "INR"),
        ("٩٩ ر.س", "99", "SAR"),
        ("10,000원", "10000", "KRW"),
        ("￥１２００", "1200", "JPY"),
        ("35€ 99", "35.99", "EUR"),
        ("BHD 12.345", "12.345", "BHD"),
        ("0,99 €", "0.99", "EUR"),
        ("1.299.00", "1299", None),
        ("eur 5", "5", "EUR"),
    ],
)
def test_prices_of_the_world(text: str, amount: str, currency: str | None) -> None:
    """Marks before and after, points and commas, digits of other scripts."""
    assert prices.price(text) == (amount, currency)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("3 for £10", "10"),
        ("3 Ausgaben für nur 14,85 EUR", "14.85"),
        ("-20% 79,00 zł 99,00 zł", "79"),
        ("12,99 - 15,99 €", "12.99"),
        ("4 x 25,00 €", "25"),
        ("free", "0"),
        ("Free shipping", None),
        ("15.08.2017", None),
        ("50%", None),
        ("call us", None),
        ("", None),
    ],
)
def test_which_number_is_the_price(text: str, amount: str | None) -> None:
    """The one beside the mark; no date, no percentage."""
    assert prices.price(text)[0] == amount


def test_a_hint_names_the_currency() -> None:
    """A code beside the price, the text around it, or the country of the shop."""
    assert prices.price("19.90", "EUR") == ("19.90", "EUR")
    assert prices.price("19.90", "MSRP: £25") == ("19.90", "GBP")
    assert prices.price("$19.90", "CAD") == ("19.90", "CAD")
    assert prices.price("$19.90", "EUR") == ("19.90", "USD")
    assert prices.price("$24.990", country="CL") == ("24990", "CLP")
    assert prices.price("249 kr", country="NO") == ("249", "NOK")
    assert prices.price("249 kr") == ("249", None)
    assert prices.price("R 249", country="ZA") == ("249", "ZAR")


def test_numbers_are_taken_as_they_are() -> None:
    """JSON gives numbers: they have no thousands to be guessed."""
    assert prices.price(1299.5, "EUR") == ("1299.50", "EUR")
    assert prices.price(1.299, "EUR") == ("1.299", "EUR")
    assert prices.price(5, None) == ("5", None)
    assert prices.price(True) == (None, None)
    assert prices.price(float("nan")) == (None, None)
    assert prices.price(-3) == (None, None)
    assert prices.price(None, "USD") == (None, "USD")


def test_one_spelling_of_an_amount() -> None:
    """Sources that agree give the same text."""
    assert [prices.plain(value) for value in ("79.00", 79, 79.0, Decimal("79.0000"))] == ["79"] * 4
    assert [prices.plain(value) for value in ("12.5", 12.5, "12.500")] == ["12.50"] * 3
    assert prices.plain("1e30") is None
    assert prices.plain("x") is None


def test_the_mark_as_written() -> None:
    """For those who want it as the page has it."""
    assert prices.written("1 299 руб.") == ("1299", "руб.")
    assert prices.written("2 400", "2 069 рублей") == ("2400", "руб")


def test_every_country_has_one_currency() -> None:
    """The table is sound: codes of three capitals, no country twice, no mark that means nothing."""
    table = currencies.currencies()
    countries = [country for currency in table.values() for country in currency.countries]
    assert all(len(code) == 3 and code.isupper() for code in table)
    assert len(countries) == len(set(countries))
    assert all(code in table for codes in currencies.by_mark().values() for code in codes)
    assert currencies.of_country("de") == "EUR"
    assert currencies.code("Kč") == "CZK"
    assert currencies.code("M") is None
    assert currencies.code("widgets") is None
    assert currencies.decimals("JPY") == 0


def test_a_long_text_costs_little() -> None:
    """Only its beginning is looked at."""
    began = time.process_time()
    for text in ("1" * 1_000_000 + "€", "1 " * 500_000, "€" * 500_000, "1.,'" * 250_000):
        prices.price(text, text)
    assert time.process_time() - began < 6
