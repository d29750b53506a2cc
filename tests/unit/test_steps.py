"""Steps and models: what a record passes before it becomes an item, and what becomes of those that do not."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import msgspec
import pydantic
import pytest

from gossamer import Page, Scraper
from gossamer.errors import ConfigError, ReadError, Rejected
from gossamer.pipeline import Pipeline
from gossamer.steps import Step, dedupe, require, step, tidy
from gossamer.values import Item, Lacking, Reject

PAGE = Page.of("<p>x</p>")


class Film(msgspec.Struct):
    title: str
    year: int | None = None
    seen: datetime.date | None = None


@dataclasses.dataclass
class Book:
    title: str
    year: int | None = None
    seen: datetime.date | None = None


class Song(pydantic.BaseModel):
    title: str
    year: int | None = None
    seen: datetime.date | None = None


MODELS = [Film, Book, Song]


def made(value: Any, **attributes: Any) -> Item | Reject:
    scraper = type("Shop", (Scraper,), {"parse": lambda self, page: None, **attributes})
    return Pipeline(scraper).item(value, PAGE)


# -- models ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_texts_become_what_the_model_wants(model: type) -> None:
    item = made({"title": "x", "year": "1999", "seen": "2026-01-02"}, item=model)
    assert isinstance(item, Item)
    assert (item.kind, item.record()) == (model.__name__.lower(), {"title": "x", "year": 1999, "seen": "2026-01-02"})


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("record", [{"title": "x", "year": "soon"}, {"title": None}, {"year": 1}])
def test_a_record_that_is_not_valid_is_kept_apart_with_the_field(model: type, record: dict[str, Any]) -> None:
    reject = made(record, item=model)
    assert isinstance(reject, Reject)
    assert (reject.step, msgspec.json.decode(reject.data)) == ("model", record)
    assert ("year" if record.get("title") else "title") in reject.reason


def test_each_kind_may_have_its_model() -> None:
    both = {"film": Film, "book": Book}
    assert isinstance(made({"title": 1}, item=both, kind="other"), Item)
    assert isinstance(made({"year": 1}, item=both, kind="film"), Reject)
    assert isinstance(made(Item.of({"year": 1}, key="k", kind="book"), item=both), Reject)


def test_what_is_yielded_as_a_model_is_held_against_it() -> None:
    assert isinstance(made(Film("x", year=1)), Item)
    for wrong in (Film(None), Book(["x"]), Film("x", year="soon")):  # type: ignore[arg-type]
        assert isinstance(made(wrong), Reject)


@pytest.mark.parametrize("model", [int, "Film", 3, Film("x")])
def test_what_is_no_model_is_refused_by_name(model: Any) -> None:
    with pytest.raises(ConfigError, match=r"Shop\.item.*cannot be used"):
        made({}, item=model)


# -- steps -----------------------------------------------------------------------------------------------------


def test_records_pass_the_steps_in_order_then_the_model() -> None:
    @step
    def year(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "year": record["title"][-4:]}

    @step(name="cut", version=3)
    def shorten(record: dict[str, Any], page: Page) -> dict[str, Any]:
        assert page is PAGE
        return {**record, "title": record["title"][:-5]}

    item = made({"title": "  Heat 1995 "}, steps=(tidy(), year, shorten), item=Film)
    assert isinstance(item, Item)
    assert item.record() == {"title": "Heat", "year": 1995, "seen": None}


def test_a_run_writes_down_what_it_read_with() -> None:
    @step(version=2)
    def clean(record: dict[str, Any]) -> dict[str, Any]:
        return record

    scraper = type("Shop", (Scraper,), {"parse": lambda s, p: None, "steps": (clean, tidy()), "item": Film})
    assert Pipeline(scraper).reading == {"steps": ["clean@2", "tidy@1"], "models": {"item": "Film"}}


def test_a_step_rejects_with_a_reason() -> None:
    def only_new(record: dict[str, Any]) -> dict[str, Any]:
        raise Rejected("it is old")

    reject = made({"title": "x"}, steps=(only_new,))
    assert reject == Reject("item", '{"title":"x"}', "only_new", "it is old")


def test_require_names_what_is_missing() -> None:
    reject = made({"a": "", "b": 0, "c": None}, steps=(require("a", "b", "c"),))
    assert isinstance(reject, Reject)
    assert reject.reason == "it has no a, c"


def test_dedupe_knows_alike_records_as_one_item() -> None:
    steps = (dedupe("title", "by"),)
    keys = {
        made({"title": title, "by": "A. Weaver", "n": n}, steps=steps).key  # type: ignore[union-attr]
        for n, title in enumerate(["Café at Night!", "cafe at night", "CAFÉ  AT NIGHT."])
    }
    assert len(keys) == 1
    assert made({"title": "Other", "by": "A. Weaver"}, steps=steps).key not in keys  # type: ignore[union-attr]
    assert isinstance(made({"n": 1}, steps=steps), Reject)


@pytest.mark.parametrize("given", [None, 7, "text", [1]])
def test_a_step_that_gives_no_record_is_broken(given: Any) -> None:
    with pytest.raises(ReadError, match="step odd gave"):
        made({"a": 1}, steps=(Step("odd", lambda record: given),))


def test_an_error_in_a_step_is_no_reject() -> None:
    with pytest.raises(ReadError, match="step bad"):
        made({"a": "x"}, steps=(Step("bad", lambda record: {"a": int(record["a"])}),))


def test_steps_that_cannot_be_used_are_refused_when_the_class_is_made() -> None:
    def three(a: Any, b: Any, c: Any) -> Any:
        return a

    for steps, said in [((7,), "is no step"), ((three,), "takes 3 arguments"), ((tidy(), tidy()), "two are called")]:
        with pytest.raises(ConfigError, match=said):
            made({}, steps=steps)
    with pytest.raises(ConfigError, match="version"):
        step(name="none", version=0)(lambda record: record)


def test_one_step_need_not_be_a_tuple() -> None:
    assert isinstance(made({"a": " x "}, steps=tidy()), Item)


# -- keys ------------------------------------------------------------------------------------------------------


def test_a_record_without_its_key_is_kept_apart() -> None:
    reject = made({"name": "x"}, key="id")
    assert isinstance(reject, Reject)
    assert (reject.step, reject.reason) == ("key", "an item has no 'id', which its scraper names as key")


def test_the_key_is_made_of_what_the_steps_leave() -> None:
    item = made({"id": " 7 "}, key="id", steps=(tidy(),))
    assert isinstance(item, Item)
    assert item.key == "7"


def test_an_item_with_a_key_of_its_own_keeps_it() -> None:
    item = made(Item.of({"a": " x "}, key="k", kind="b"), steps=(tidy(),), key="a")
    assert item == Item("b", "k", '{"a":"x"}')


def test_what_lacks_fields_by_its_rules_is_kept_apart() -> None:
    assert made(Lacking({"a": 1}, ("b", "c"))) == Reject("item", '{"a":1}', "rules", "it has no b, c")


def test_text_that_json_has_no_place_for_is_kept_apart() -> None:
    reject = made({"a": "\ud800"})
    assert isinstance(reject, Reject)
    assert reject.step == "json"
