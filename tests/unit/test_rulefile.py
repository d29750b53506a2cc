"""Scrapers that are nothing but a file: what becomes of one, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gossamer import ConfigError, Page, Request, Scraper
from gossamer.rulefile import LARGEST, NOT_HERE, scraper_from
from gossamer.settings import ScraperConfig

EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = 'start_urls = ["https://a.org/"]\n'
FIELDS = '[fields]\ntitle = "h1"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def made(folder: Path, text: str | bytes, name: str = "shop.toml") -> type[Scraper]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return scraper_from(path)


def records(scraper: type[Scraper], page: Page) -> list[Any]:
    return list(scraper().handler(page.request.handler)(page))


# -- what becomes of a file ------------------------------------------------------------------------------------


def test_a_file_becomes_a_scraper(folder: Path) -> None:
    text = """
        name = "loom.shop"
        start_urls = ["https://loom.example/"]
        rate = "30/min"
        max_pages = 7
        headers = { "Accept-Language" = "en" }
        key = ["sku", "size"]
        kind = "thread"
        each = "p"
        follow = "a"
        [fields]
        sku = "b"
        size = "i"
    """
    shop = made(folder, text)
    assert issubclass(shop, Scraper)
    assert (shop.name, shop.__name__, shop.kind, shop.key) == ("loom.shop", "LoomShop", "thread", ("sku", "size"))
    assert tuple(shop.start_urls) == ("https://loom.example/",)
    assert shop.knobs() == {"rate": "30/min", "max_pages": 7, "headers": {"Accept-Language": "en"}}
    page = Page.of("<p><b>A1</b> <i>10 m</i></p><a href=/2>", url="https://loom.example/")
    assert records(shop, page) == [{"sku": "A1", "size": "10 m"}, Request("https://loom.example/2")]


def test_all_three_languages_say_the_same(folder: Path) -> None:
    rules = {
        "start_urls": ["https://a.org/"],
        "each": "p",
        "follow": ["a", {"css": "b", "to": "more"}],
        "fields": {"x": "::text", "y": {"css": "i", "list": True, "default": ["none"]}},
        "pages": {"more": {"fields": {"z": "h1"}}},
    }
    toml = """
        start_urls = ["https://a.org/"]
        each = "p"
        follow = ["a", { css = "b", to = "more" }]
        [fields]
        x = "::text"
        y = { css = "i", list = true, default = ["none"] }
        [pages.more.fields]
        z = "h1"
    """
    yaml = """
start_urls: [https://a.org/]
each: p
follow: [a, {css: b, to: more}]
fields:
  x: "::text"
  y: {css: i, list: true, default: [none]}
pages: {more: {fields: {z: h1}}}
"""
    files = {"a.json": json.dumps(rules), "a.toml": toml, "a.yaml": yaml, "a.YML": yaml}
    for name, text in files.items():
        assert made(folder, text, name).rules == {k: v for k, v in rules.items() if k != "start_urls"}, name


def test_a_file_gives_its_name_where_none_is_written(folder: Path) -> None:
    assert made(folder, GOOD + FIELDS, "My Shop (2).toml").name == "my-shop-2"
    assert made(folder, GOOD + FIELDS, "---.toml").name == "rules"
    assert made(folder, b"\xef\xbb\xbf" + (GOOD + FIELDS).encode()).name == "shop"


def test_kinds_of_pages_become_handlers(folder: Path) -> None:
    shop = made(folder, GOOD + 'follow = { css = "a", to = "thread" }\n[pages.thread.fields]\nname = "h1"')
    listing = Page.of("<h1>no</h1><a href=/red>", url="https://a.org/")
    assert records(shop, listing) == [Request("https://a.org/red", to="thread")]
    detail = Page(Request("https://a.org/red", to="thread"), Page.of("<h1>Red</h1>").response)
    assert records(shop, detail) == [{"name": "Red"}]


def test_a_parser_may_stand_instead_of_fields(folder: Path) -> None:
    shop = made(folder, GOOD + 'parser = "article"\nfollow = "a"')
    assert (shop.parser, shop.rules) == ("article", {"follow": "a"})
    assert made(folder, GOOD + 'parser = "article"').rules is None


def test_sitemaps_may_stand_instead_of_start_urls(folder: Path) -> None:
    shop = made(folder, 'start_sitemaps = ["https://a.org/sitemap.xml"]\n' + FIELDS)
    assert shop.start_sitemaps == ("https://a.org/sitemap.xml",)
    assert made(folder, GOOD + 'start_sitemaps = "auto"\n' + FIELDS).start_sitemaps == "auto"


@pytest.mark.parametrize("name", ["quotes.toml", "books.yaml"])
def test_the_examples_are_scrapers(name: str) -> None:
    assert scraper_from(EXAMPLES / name).name == Path(name).stem


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "shop.toml: is empty: write start_urls and fields"),
        ("# only a remark", "shop.toml: is empty"),
        ("start_urls = [", "shop.toml is not TOML: "),
        ("a = 1\na = 2", "shop.toml is not TOML: "),
        (b"a = \xff", "shop.toml is not UTF-8: "),
        (FIELDS, "shop.toml: has no start_urls"),
        ("start_urls = []\n" + FIELDS, "shop.toml: start_urls: [] cannot be used"),
        ("start_urls = [5]\n" + FIELDS, "shop.toml: start_urls: [5] cannot be used: write a text, or a list of texts"),
        ('start_urls = ["shop"]\n' + FIELDS, "shop.toml: start_urls: 'shop' is not a URL"),
        ('start_urls = ["ftp://a.org/"]\n' + FIELDS, "shop.toml: start_urls: 'ftp://a.org/' cannot be fetched"),
        ('start_urls = ["https://u:pw@"]\n' + FIELDS, "start_urls: 'https://***@' is not a URL"),
        (GOOD, "shop.toml: has nothing to read: write fields, or name a parser"),
        (GOOD + "[fields]", "shop.toml: fields: there are no fields in it"),
        (GOOD + 'rats = "2/s"\n' + FIELDS, "shop.toml: 'rats' is neither a rule nor a setting: did you mean 'rate'?"),
        (GOOD + 'delay = "2s"\n' + FIELDS, "did you mean 'rate'?"),
        (GOOD + 'zzz = "2s"\n' + FIELDS, "'zzz' is neither a rule nor a setting: rules and settings are listed"),
        (GOOD + 'rate = "often"\n' + FIELDS, "shop.toml: rate = 'often' cannot be used: write requests per time"),
        (GOOD + "max_pages = -1\n" + FIELDS, "shop.toml: max_pages = -1 cannot be used"),
        (GOOD + "headers = 5\n" + FIELDS, "shop.toml: headers cannot be used: write headers"),
        (GOOD + 'name = "My Shop"\n' + FIELDS, "shop.toml: name: 'My Shop' cannot be used: write small letters"),
        (GOOD + 'key = "titel"\n' + FIELDS, "shop.toml: key: 'titel' is none of the fields: did you mean 'title'?"),
        (GOOD + 'parser = "artikel"', "shop.toml: parser: "),
        (GOOD + "parser = 5", "shop.toml: parser: 5 cannot be used: write a text"),
        (GOOD + "by_level = 1\n" + FIELDS, "shop.toml: by_level: 1 cannot be used: write true or false"),
        (GOOD + '[fields]\nx = "p["', "shop.toml: fields.x: 'p[' is not a CSS selector"),
        (GOOD + "[fields]\nx = 2024-01-01", "shop.toml: fields.x: datetime.date(2024, 1, 1) cannot be used"),
        (GOOD + "[fields]\nx = { value = 2024-01-01 }", "shop.toml: fields.x.value: "),
        (GOOD + '[pages.start.fields]\nx = "p"', "shop.toml: pages.start: "),
        (GOOD + '[pages.rate.fields]\nx = "p"', "shop.toml: pages.rate: "),
        (GOOD + '[pages._x.fields]\nx = "p"', "shop.toml: pages._x: "),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_file_and_place(folder: Path, text: Any, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(folder, text)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.json", "", "a.json: is empty"),
        ("a.json", "[]", "a.json: [] cannot be used: write a table of rules"),
        ("a.json", "{", "a.json is not JSON: "),
        ("a.json", '{"name": "a", "name": "b"}', "a.json is not JSON: the key 'name' stands twice"),
        ("a.json", "[" * 100_000, "too deep"),
        ("a.json", "[" * 50 + "]" * 50, "too many values, or they stand too deep"),
        ("a.yaml", "", "a.yaml: is empty"),
        ("a.yaml", "just a text", "a.yaml: 'just a text' cannot be used: write a table of rules"),
        ("a.yaml", "a: [", "a.yaml is not YAML: "),
        ("a.yaml", "a: 1\nb: 2\na: 3", "a.yaml is not YAML: a key stands twice, line 1"),
        ("a.yaml", "a: \x07", "a.yaml is not YAML: "),
        ("a.yaml", "on: 5", "a.yaml: the name True is no text: put it into quotes"),
        ("a.yaml", "[" * 5_000, "a.yaml"),
        ("a.yaml", "a: !!python/object/apply:os.system ['touch hacked']", "could not determine a constructor"),
        ("a.yaml", "a: !!python/name:os.system", "could not determine a constructor"),
        ("a.yaml", "a: &a [*a]", "too many values, or they stand too deep"),
        ("a.py", "name = 1", "a.py is no file of rules: its name must end in .toml, .yaml, .yml, .json"),
    ],
)
def test_other_languages_are_refused_alike(folder: Path, name: str, text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(folder, text, name)
    assert complaint in str(caught.value)
    assert not (folder / "hacked").exists()


def test_a_bomb_of_aliases_is_refused_at_once(folder: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(ConfigError, match="too many values"):
        made(folder, "\n".join(lines), "bomb.yaml")


def test_a_file_too_large_a_folder_and_no_file_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="larger than 1 MB"):
        made(folder, b"#" * (LARGEST + 1))
    with pytest.raises(ConfigError, match="there is no file"):
        scraper_from(folder / "none.toml")
    (folder / "folder.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        scraper_from(folder / "folder.toml")


@pytest.mark.parametrize("knob", sorted(NOT_HERE))
def test_a_file_names_no_places_on_this_machine(folder: Path, knob: str) -> None:
    with pytest.raises(ConfigError, match=f"{knob}: cannot stand in a file of rules: write it in gossamer.toml"):
        made(folder, GOOD + f'{knob} = "/etc"\n' + FIELDS)


def test_no_knob_that_takes_a_path_or_code_may_stand_in_a_file() -> None:
    """Whoever adds one thinks of this: what a stranger's file says must not reach the disk."""
    about = {name: field.metadata["about"] for name, field in ScraperConfig.__dataclass_fields__.items()}
    paths = {name for name, text in about.items() if "folder" in text or "a file of" in text}
    assert paths <= NOT_HERE


@pytest.mark.parametrize("key", ["parse", "start", "config", "rules", "secrets", "params", "validate", "steps", "item"])
def test_what_only_code_can_say_is_no_rule(folder: Path, key: str) -> None:
    with pytest.raises(ConfigError, match="is neither a rule nor a setting"):
        made(folder, GOOD + f'{key} = "os.system"\n' + FIELDS)


def test_who_has_a_page_needs_no_start(folder: Path) -> None:
    path = folder / "bits.toml"
    path.write_text('[fields]\ntitle = "h1"\n')
    with pytest.raises(ConfigError, match="has no start_urls"):
        scraper_from(path)
    found = scraper_from(path, starts=False)
    assert records(found, Page.of("<h1>Lamp</h1>")) == [{"title": "Lamp"}]
