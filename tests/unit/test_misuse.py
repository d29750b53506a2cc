"""Scrapers whose models, steps, keys or knobs cannot be used: each is told in one sentence, when the class is made."""

from __future__ import annotations

import dataclasses
import functools
import sqlite3
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

import msgspec
import pydantic
import pydantic.v1
import pytest

from gossamer import Page, Scraper, step
from gossamer.errors import ConfigError, ReadError, Rejected, Retry
from gossamer.pipeline import Pipeline
from gossamer.steps import dedupe, require, tidy
from gossamer.values import Item, Reject

PAGE = Page.of("<p>x</p>", url="https://a.org/")
T = TypeVar("T")


def scraper(**attributes: Any) -> type[Scraper]:
    return type("Shop", (Scraper,), {"parse": lambda self, page: None, **attributes})


def made(value: Any, **attributes: Any) -> Item | Reject:
    return Pipeline(scraper(**attributes)()).item(value, PAGE)


def refused(**attributes: Any) -> str:
    """What is said of a class that cannot be made: one sentence that names it."""
    with pytest.raises(ConfigError) as told:
        scraper(**attributes)
    assert str(told.value).startswith("Shop.")
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 300
    return str(told.value)


# -- models ----------------------------------------------------------------------------------------------------


class Quote(msgspec.Struct):
    text: str
    of: Quote | None = None


class Unknown(msgspec.Struct):
    text: Nowhere  # type: ignore[name-defined]  # noqa: F821


@dataclasses.dataclass
class UnknownToo:
    text: Nowhere  # type: ignore[name-defined]  # noqa: F821


class UnknownAsWell(pydantic.BaseModel):
    text: Nowhere  # type: ignore[name-defined]  # noqa: F821


class Calls(msgspec.Struct):
    many: list[Callable[[int], int] | None]


@dataclasses.dataclass
class Connected:
    store: dict[str, tuple[sqlite3.Connection, ...]]


class Ambiguous(msgspec.Struct):
    text: list[int] | set[int]


class Row(msgspec.Struct, array_like=True):
    text: str


class Old(pydantic.v1.BaseModel):
    text: str


class Hints(TypedDict):
    text: str


class Pair(NamedTuple):
    text: str


class Box(msgspec.Struct, Generic[T]):
    text: T


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (Unknown, "'Nowhere' is not defined"),
        (UnknownToo, "'Nowhere' is not defined"),
        (UnknownAsWell, "'Nowhere' is not defined"),
        (Calls, "Callable is no type that JSON has"),
        (Connected, "Connection is no type that JSON has"),
        (Ambiguous, "may not contain more than one array-like"),
        (Row, "no named fields"),
        (Old, "Old is a model of pydantic 1: make it one of pydantic 2"),
        (Hints, "give a msgspec Struct, a dataclass or a pydantic model"),
        (Pair, "give a msgspec Struct, a dataclass or a pydantic model"),
        (Box[int], "give a msgspec Struct, a dataclass or a pydantic model"),
        (Quote("x"), "give a msgspec Struct, a dataclass or a pydantic model"),
        ("Quote", "give a msgspec Struct, a dataclass or a pydantic model"),
        ([Quote], "give a msgspec Struct, a dataclass or a pydantic model"),
        ({"quote": "Quote"}, "Shop.item['quote'] = 'Quote' cannot be used"),
        ({None: Quote}, "None is no kind"),
        ({1: Quote}, "1 is no kind"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(model: Any, told: str) -> None:
    assert told in refused(item=model)


@pytest.mark.parametrize("model", [Quote, Box])
def test_models_of_their_own_kind_and_open_ones_can_be_used(model: Any) -> None:
    assert isinstance(made({"text": "x", "of": {"text": "y"}}, item=model), Item)


def test_where_kinds_have_models_a_plain_dict_says_which_it_is() -> None:
    both = {"quote": Quote, "pair": UnknownPair}
    reject = made({"text": "x"}, item=both)
    assert isinstance(reject, Reject)
    assert reject.reason == "a plain dict is of kind 'item', and only pair, quote have models: say which it is"
    assert isinstance(made({"text": "x"}, item=both, kind="quote"), Item)
    assert isinstance(made(Item.of({"text": "x"}, key="k", kind="quote"), item=both), Item)
    assert isinstance(made({"text": "x"}, item=both, kind="other"), Item)


@dataclasses.dataclass
class UnknownPair:
    text: str


# -- steps -----------------------------------------------------------------------------------------------------


def plain(record: Any) -> Any:
    return record


def three(a: Any, b: Any, c: Any) -> Any:
    return a


def named_only(record: Any, *, strict: bool) -> Any:
    return record


async def waits(record: Any) -> Any:
    return record


def yields(record: Any) -> Any:
    yield record


class Cleaner:
    def clean(self, record: Any) -> Any:
        return {**record, "cleaned": True}

    def seen(self, record: Any, page: Page) -> Any:
        return {**record, "page": page.url}

    @staticmethod
    def static(record: Any) -> Any:
        return record

    def __call__(self, record: Any) -> Any:
        return record


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (None, "None is no step"),
        ("tidy", "'tidy' is no step"),
        (({plain},), "is no step"),
        ((tidy,), "tidy makes a step: write tidy()"),
        ((dedupe,), "dedupe makes a step"),
        ((three,), "step three takes 3 arguments (a, b, c)"),
        ((lambda: 1,), "step lambda takes 0 arguments ()"),
        ((named_only,), "step named_only takes 2 arguments (record, strict)"),
        ((waits,), "step waits is async, or yields"),
        ((yields,), "step yields is async, or yields"),
        ((Cleaner.clean,), "step clean takes self: write it outside of the class"),
        ((Cleaner(),), "give it a name"),
        ((functools.partial(named_only, strict=True),), "give it a name"),
        ((plain, plain), "two are called alike"),
        ((lambda r: r, lambda r: r), "two are called alike"),
    ],
)
def test_a_step_that_cannot_be_used_is_refused(steps: Any, told: str) -> None:
    assert told in refused(steps=steps)


def test_a_method_of_the_scraper_is_no_step_unless_it_is_static() -> None:
    with pytest.raises(ConfigError, match=r"Own.steps: step clean takes self"):

        class Own(Scraper):
            def clean(self, record: Any) -> Any:
                return record

            steps = (clean,)


@pytest.mark.parametrize(
    "one",
    [
        plain,
        lambda record: record,
        lambda *given: given[0],
        Cleaner().clean,
        Cleaner().seen,
        Cleaner.static,
        dict,
        step(name="called")(Cleaner()),
        step(name="part")(functools.partial(named_only, strict=True)),
    ],
)
def test_any_function_of_a_record_is_a_step_alone_or_among_others(one: Any) -> None:
    for steps in ((one,), [tidy(), one], one):
        assert isinstance(made({"a": 1}, steps=steps), Item)


def test_a_step_may_change_the_record_it_gets() -> None:
    def change(record: Any) -> Any:
        record["a"] = 9
        del record["b"]
        return record

    given = {"a": 1, "b": 2}
    item = made(given, steps=(change,))
    assert isinstance(item, Item)
    assert (item.record(), given) == ({"a": 9}, {"a": 1, "b": 2})


@pytest.mark.parametrize("result", [None, [{}], "x", Quote("x"), Item("k", "v", "{}"), (1, 2), iter(())])
def test_a_step_that_returns_no_record_fails_its_page(result: Any) -> None:
    with pytest.raises(ReadError, match=r"step gives gave .*: return the record, or raise Rejected"):
        made({"a": 1}, steps=(step(name="gives")(lambda record: result),))


@pytest.mark.parametrize("error", [ValueError("odd"), KeyError("odd"), ZeroDivisionError("odd"), RecursionError("odd")])
def test_an_error_in_a_step_fails_its_page_and_names_the_step(error: Exception) -> None:
    def breaks(record: Any) -> Any:
        raise error

    with pytest.raises(ReadError, match=rf"step breaks: {type(error).__name__}: .*odd"):
        made({"a": 1}, steps=(breaks,))


def test_what_a_step_says_of_the_page_is_heard() -> None:
    def again(record: Any) -> Any:
        raise Retry("it was not ready")

    with pytest.raises(Retry, match="not ready"):
        made({"a": 1}, steps=(again,))


def test_a_reason_is_no_longer_than_a_person_reads() -> None:
    def no(record: Any) -> Any:
        raise Rejected("x" * 100_000)

    reject = made({"a": 1}, steps=(no,))
    assert isinstance(reject, Reject)
    assert len(reject.reason) == 1000


@pytest.mark.parametrize("wrong", [0, -1, True, "2", None, 1.5])
def test_a_version_is_a_whole_number(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="write a whole number from 1"):
        step(version=wrong)(plain)


def test_steps_that_are_about_fields_want_their_names() -> None:
    for maker in (require, dedupe):
        with pytest.raises(ConfigError, match=r"wants the names of fields, like \w+\('title'\)"):
            maker()
        with pytest.raises(ConfigError, match="wants the names of fields"):
            maker(["title"])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="7 is no step"):
        step(7)  # type: ignore[call-overload]


def test_with_a_step_that_knows_the_key_the_fields_of_another_may_be_missing() -> None:
    item = made({"title": "A"}, steps=(dedupe("title"),), key="id")
    assert isinstance(item, Item)
    assert item.key == made({"title": "a!", "id": 1}, steps=(dedupe("title"),)).key  # type: ignore[union-attr]


# -- keys, kinds and knobs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"key": ""}, "Shop.key = '' cannot be used: write the name of a field"),
        ({"key": ()}, "Shop.key = () cannot be used"),
        ({"key": 3}, "Shop.key = 3 cannot be used"),
        ({"key": ("id", None)}, "Shop.key = ('id', None) cannot be used"),
        ({"kind": ""}, "Shop.kind = '' cannot be used: write a word"),
        ({"kind": None}, "Shop.kind = None cannot be used"),
        ({"volatile": None}, "Shop.volatile: None is no name of a field"),
        ({"volatile": 3}, "Shop.volatile: 3 is no name of a field"),
        ({"volatile": ("a", "b c")}, "Shop.volatile: 'b c' is no name of a field"),
        ({"gone": 0}, "Shop.gone = 0 cannot be used: write never, a number of runs like 2, or an age like '7d'"),
        ({"gone": "soon"}, "Shop.gone = 'soon' cannot be used"),
        ({"gone": True}, "Shop.gone = True cannot be used"),
        ({"gone": float("nan")}, "Shop.gone = nan cannot be used"),
        ({"drift": "maybe"}, "Shop.drift = 'maybe' cannot be used: write one of quarantine, warn, off"),
        ({"drift": False}, "Shop.drift = False cannot be used"),
        ({"archive": "maybe"}, "Shop.archive = 'maybe' cannot be used: write true or false"),
    ],
)
def test_what_cannot_be_used_is_refused(attributes: dict[str, Any], told: str) -> None:
    assert told in refused(**attributes)


def test_names_that_are_no_texts_become_ones() -> None:
    item = made({1: "a", 2: "b"})
    assert isinstance(item, Item)
    assert item.record() == {"1": "a", "2": "b"}
    assert item.key == made({2: "b", 1: "a"}).key  # type: ignore[union-attr]
