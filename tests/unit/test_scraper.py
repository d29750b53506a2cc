"""What an author writes: names, knobs, handlers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

import pytest

from gossamer import settings
from gossamer.errors import ConfigError, ReadError
from gossamer.scraper import Scraper, as_iterable, each
from gossamer.settings import Pace, ScraperConfig
from gossamer.values import Request
from tests.unit.pages import page


def test_a_scraper_without_a_name_is_named_by_its_class() -> None:
    class BookShop(Scraper): ...

    class Named(BookShop):
        name = "books.v2"

    class Heir(Named): ...

    assert [cls.name for cls in (BookShop, Named, Heir)] == ["book-shop", "books.v2", "heir"]


@pytest.mark.parametrize("bad", ["", "a b", "Books", "-x", "x" * 65, "a/b", "é"])
def test_a_name_that_could_be_no_file_name_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError) as refused:
        type("Shop", (Scraper,), {"name": bad})
    assert str(refused.value) == (f"Shop.name = {bad!r} cannot be used: write small letters, digits, dots and dashes")


def test_a_bad_knob_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(ConfigError) as refused:

        class Shop(Scraper):
            rate = "fast"

    assert str(refused.value).startswith("Shop.rate = 'fast' cannot be used: write requests per time")


def test_knobs_stand_as_attributes_or_in_one_value_and_attributes_win() -> None:
    class Shop(Scraper):
        config = ScraperConfig(rate="1/s", retries=7)
        rate = "5/s"

    class Branch(Shop):
        depth = 2

    assert Shop.knobs() == {"rate": "5/s", "retries": 7}
    assert Branch.knobs() == {"rate": "5/s", "retries": 7, "depth": 2}


def test_a_default_written_on_purpose_beats_the_environment() -> None:
    class Shop(Scraper):
        config = ScraperConfig(rate="2/s", robots=True)

    environ = {"GOSSAMER_RATE": "none", "GOSSAMER_ROBOTS": "no", "GOSSAMER_RETRIES": "9"}
    got = settings.read(own=Shop.knobs(), owner="Shop", environ=environ).config
    assert (got.rate, got.robots, got.retries) == (Pace(2.0), True, 9)


def test_a_run_starts_with_the_start_urls() -> None:
    class Shop(Scraper):
        start_urls: ClassVar[list[str]] = ["http://a.org/"]

    assert list(Shop().start()) == ["http://a.org/"]  # type: ignore[arg-type]
    assert Shop({"q": "x"}).params == {"q": "x"}


def test_start_urls_that_are_one_text_are_refused() -> None:
    class Shop(Scraper):
        start_urls = "http://a.org/"

    with pytest.raises(ConfigError, match=r"Shop\.start_urls is one text: write a list of URLs"):
        Shop().start()


def test_a_scraper_without_parse_says_so() -> None:
    class Shop(Scraper): ...

    with pytest.raises(ReadError, match="Shop has no parse method: write one that yields items and Requests"):
        Shop().parse(page())


@pytest.mark.parametrize("name", ["nothing", "_private", "name", "__init__"])
def test_only_public_methods_are_handlers(name: str) -> None:
    class Shop(Scraper):
        def _private(self) -> None: ...

    with pytest.raises(ReadError, match=f"Shop has no handler '{name}'"):
        Shop().handler(name)


def _gone_through(yielded: Any) -> list[Any]:
    async def main() -> list[Any]:
        return [value async for value in each(yielded)]

    return asyncio.run(main())


def test_every_kind_of_function_can_be_a_handler() -> None:
    def plain() -> Iterator[int]:
        yield from (1, 2)

    async def generator() -> AsyncIterator[int]:
        for n in (1, 2):
            await asyncio.sleep(0)
            yield n

    async def coroutine() -> list[int]:
        return [1, 2]

    async def nothing() -> None: ...

    for make in (plain, generator, coroutine):
        assert _gone_through(make()) == [1, 2]
    assert _gone_through(nothing()) == []
    assert _gone_through(None) == []


def test_one_dict_request_or_text_counts_as_one_yield() -> None:
    for one in ({"a": 1}, Request("u"), "text", 5):
        assert list(as_iterable(one)) == [one]
    assert list(as_iterable((1, 2))) == [1, 2]
