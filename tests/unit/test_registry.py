"""Finding scrapers, and saying what is wrong with those that cannot be loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer import registry, runs
from gossamer.errors import ConfigError

QUOTES = """
from gossamer import Scraper

class Quotes(Scraper):
    start_urls = ["http://a.org/"]
"""


@pytest.fixture(autouse=True)
def _own_modules(tmp_path: Path) -> Iterator[None]:
    """What a test imports from its own folder is forgotten after it."""
    path, known = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def _file(folder: Path, text: str, name: str = "quotes.py") -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return name


def _refusal(text: str, *listed: str) -> str:
    with pytest.raises(ConfigError) as refused:
        registry.find(text, listed)
    told = str(refused.value)
    assert "\n" not in told
    return told


# --- found ---


@pytest.mark.parametrize("ref", ["quotes.py", "./quotes.py", "quotes.py:Quotes", "{folder}/quotes.py"])
def test_a_scraper_is_found_by_its_file(tmp_path: Path, ref: str) -> None:
    _file(tmp_path, QUOTES)
    found = registry.find(ref.format(folder=tmp_path))
    assert found.scraper.__name__ == "Quotes"
    assert found.ref == f"{tmp_path}/quotes.py:Quotes"
    assert registry.find(found.ref).ref == found.ref


def test_a_scraper_is_found_by_its_module(tmp_path: Path) -> None:
    _file(tmp_path, "", "shop/__init__.py")
    _file(tmp_path, QUOTES, "shop/pages.py")
    found = registry.find("shop.pages:Quotes")
    assert (found.scraper.__name__, found.ref) == ("Quotes", "shop.pages:Quotes")


def test_a_file_may_import_its_neighbours_and_define_dataclasses(tmp_path: Path) -> None:
    _file(tmp_path, "TITLE = 'x'", "folder/neighbour_of_quotes.py")
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom neighbour_of_quotes import TITLE\n"
    )
    text += "@dataclass\nclass Quote:\n    text: str\n"
    _file(tmp_path, text + QUOTES.strip().replace("from", "from", 1), "folder/quotes.py")
    assert registry.find("folder/quotes.py").scraper.name == "quotes"


def test_imported_scrapers_and_second_names_do_not_count(tmp_path: Path) -> None:
    _file(tmp_path, QUOTES, "base_of_quotes.py")
    _file(tmp_path, "from base_of_quotes import Quotes\nclass Mine(Quotes): ...\nAlso = Mine\n", "mine.py")
    assert registry.find("mine.py").scraper.__name__ == "Mine"


def test_listed_scrapers_are_known_by_name(tmp_path: Path) -> None:
    _file(tmp_path, QUOTES)
    assert registry.find("quotes", ("quotes.py",)).ref.endswith("quotes.py:Quotes")
    assert list(registry.registered(("quotes.py",))) == ["quotes"]


def test_installed_packages_offer_scrapers_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _file(tmp_path, QUOTES, "lib/offered_shop.py")
    _file(tmp_path, "Metadata-Version: 2.1\nName: offered\nVersion: 1\n", "lib/offered-1.dist-info/METADATA")
    entry = "[gossamer.scrapers]\noffered = offered_shop:Quotes\n"
    _file(tmp_path, entry, "lib/offered-1.dist-info/entry_points.txt")
    monkeypatch.syspath_prepend(tmp_path / "lib")
    assert registry.find("offered").ref == "offered_shop:Quotes"
    assert _refusal("offerd") == "no scraper is called 'offerd': did you mean 'offered'?"


PACK = """
'''Two quiet scrapers and one that ships paused.'''
from gossamer import Scraper

class One(Scraper):
    name = "moss.one"
    takes = {"season": "The year a season ends in."}

class Two(Scraper):
    name = "moss.two"
    matches = "moss[.]example"

class Three(Scraper):
    name = "moss.three"
    paused = "nobody may ask it yet"

SCRAPERS = (One, Two, Three)
"""


@pytest.fixture
def moss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that offers a pack, and another whose pack lists nothing."""
    _file(tmp_path, PACK, "lib/moss_pack.py")
    _file(tmp_path, "", "lib/bare_pack.py")
    _file(tmp_path, "Metadata-Version: 2.1\nName: moss\nVersion: 1\n", "lib/moss-1.dist-info/METADATA")
    entry = "[gossamer.packs]\nmoss = moss_pack\nbare = bare_pack\n"
    _file(tmp_path, entry, "lib/moss-1.dist-info/entry_points.txt")
    monkeypatch.syspath_prepend(tmp_path / "lib")


def _names(found: list[registry.Found]) -> list[str]:
    return [each.scraper.name for each in found]


@pytest.mark.usefixtures("moss")
def test_a_pack_is_all_its_scrapers_but_those_that_ship_paused() -> None:
    assert {"art", "jobs", "nba", "moss"} <= set(registry.packs())
    assert _names(registry.choose("moss")) == ["moss.one", "moss.two"]
    assert _names(registry.choose("moss.three")) == ["moss.three"]
    assert registry.find("moss.two").ref == "moss_pack:Two"
    assert registry.load_all("moss_pack:Two")[0].scraper.name == "moss.two"
    assert registry.find("https://moss.example/x").scraper.name == "moss.two"


@pytest.mark.usefixtures("moss")
def test_packs_run_when_they_are_listed_or_asked_for_and_never_with_all() -> None:
    assert registry.choose("all") == []
    assert list(registry.registered(("moss",))) == ["moss.one", "moss.three", "moss.two"]
    assert list(registry.registered(("moss.one",))) == ["moss.one"]
    assert _names(registry.choose("all", ("moss",))) == ["moss.one", "moss.two"]
    assert {"moss", "moss.one", "all", "art"} <= set(registry.names())


@pytest.mark.usefixtures("moss")
def test_what_no_pack_has_is_said() -> None:
    assert _refusal("moss.tow") == "no scraper is called 'moss.tow': did you mean 'moss.two'?"
    assert _refusal("moss") == "moss is a pack of 3 scrapers: choose one of moss.one, moss.two, moss.three"
    assert _refusal("bare") == "the pack 'bare' lists no scrapers: write SCRAPERS = (Mine, ...) in bare_pack"


@pytest.mark.usefixtures("moss")
def test_a_parameter_that_a_scraper_does_not_take_is_refused() -> None:
    found = registry.find("moss.one")
    assert runs.plan(found, {"season": "2024"}).params == {"season": "2024"}
    with pytest.raises(ConfigError, match=r"moss\.one has no parameter 'seasn': did you mean 'season'"):
        runs.plan(found, {"seasn": "2024"})
    with pytest.raises(ConfigError, match=r"moss\.one has no parameter 'x': it takes season"):
        found.scraper({"x": 1})
    assert runs.plan(registry.find("moss.two"), {"anything": "1"}).params == {"anything": "1"}


# --- refused, in one sentence that says what to do ---


def test_an_unknown_name_suggests_a_near_one(tmp_path: Path) -> None:
    _file(tmp_path, QUOTES)
    assert _refusal("qoutes", "quotes.py") == "no scraper is called 'qoutes': did you mean 'quotes'?"
    assert _refusal("zzz", "quotes.py") == (
        "no scraper is called 'zzz': give a file (quotes.py) or module:Class, or list it in gossamer.toml"
    )


def test_a_missing_file_module_or_class_is_named(tmp_path: Path) -> None:
    _file(tmp_path, QUOTES)
    assert _refusal("nowhere.py") == "there is no file nowhere.py: check the path"
    assert _refusal("no_such.pages:X") == "there is no module 'no_such': check the spelling of 'no_such.pages'"
    assert _refusal("quotes.py:Qoutes") == "quotes.py:Qoutes: there is no scraper class 'Qoutes' in it"
    assert _refusal("json:dumps") == "json:dumps: there is no scraper class 'dumps' in it"


def test_a_file_with_two_scrapers_asks_which(tmp_path: Path) -> None:
    _file(tmp_path, QUOTES + "class Books(Scraper): ...\n")
    assert _refusal("quotes.py") == ("quotes.py holds 2 scrapers: choose one of quotes.py:Quotes, quotes.py:Books")


def test_a_file_without_a_scraper_says_what_to_write(tmp_path: Path) -> None:
    _file(tmp_path, "from gossamer import Scraper\nx = 1\n")
    assert _refusal("quotes.py") == ("quotes.py holds no scraper: write a class there that subclasses gossamer.Scraper")


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    _file(tmp_path, "x = 1\nclass Quotes(:\n")
    assert _refusal("quotes.py") == "quotes.py, line 2: invalid syntax"
    assert _refusal("quotes:Quotes") == "quotes, line 2: invalid syntax"


def test_a_syntax_error_in_a_neighbour_names_the_neighbour(tmp_path: Path) -> None:
    _file(tmp_path, "\n\n\n(", "helper_of_quotes.py")
    _file(tmp_path, "import helper_of_quotes\n")
    assert _refusal("quotes.py") == "quotes.py, importing helper_of_quotes.py, line 4: '(' was never closed"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
@pytest.mark.parametrize("ref", ["quotes.py", "../{here}/quotes.py", "quotes:Quotes"])
def test_an_exception_at_import_is_told_with_its_line(tmp_path: Path, line: str, why: str, ref: str) -> None:
    _file(tmp_path, f"def f():\n    {line}\n\nf()\n")
    place = ref.format(here=tmp_path.name)
    assert _refusal(place) == f"{place.partition(':')[0]}, line 2: {why}"


def test_an_exception_deep_in_a_library_is_told_with_the_authors_line(tmp_path: Path) -> None:
    _file(tmp_path, "import json\njson.loads('{')\n")
    assert _refusal("quotes.py").startswith("quotes.py, line 2: JSONDecodeError: ")


def test_a_bad_knob_is_told_with_file_and_class(tmp_path: Path) -> None:
    _file(tmp_path, QUOTES + "    rate = 'fast'\n")
    assert _refusal("quotes.py").startswith("quotes.py: Quotes.rate = 'fast' cannot be used: write requests per time")


def test_an_unknown_knob_in_a_config_is_told_by_name(tmp_path: Path) -> None:
    _file(tmp_path, "import gossamer\nc = gossamer.ScraperConfig(ratee=1)\n")
    told = _refusal("quotes.py")
    assert told.startswith("quotes.py, line 2: TypeError: ")
    assert "'ratee'" in told
