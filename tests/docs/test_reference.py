"""The reference names every command, option and setting there is, and none that is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gossamer import settings
from gossamer.parse import article, event, feeds, generic, job, pipes, product, rules, social, tables
from gossamer.parse.parsers import BUILTIN
from gossamer.rulefile import NOT_HERE, OWN_KEYS
from tests.docs import reading, reference

CLI, SETTINGS, RULES, API = reference.PAGES


@pytest.mark.parametrize("page", reference.PAGES, ids=lambda page: page.name)
def test_the_generated_parts_say_what_the_program_says(page: Path) -> None:
    hint = "write it anew: python -m tests.docs.reference"
    assert page.read_text("utf-8") == reference.rendered(page), hint


def test_every_command_has_a_part_and_a_heading_in_the_reference() -> None:
    assert reference.parts(CLI) == set(reference.commands())
    assert {name.replace(" ", "-") for name in reference.commands()} <= reading.anchors(CLI)


def test_every_route_of_the_api_is_in_the_reference() -> None:
    assert reference.parts(API) == {"routes"}
    text = API.read_text("utf-8")
    for path, operations in reference.api_document()["paths"].items():
        for method in operations:
            assert f"| `{method.upper()} {path}` |" in text


def test_every_option_of_every_command_is_in_the_reference() -> None:
    text = CLI.read_text("utf-8")
    for name, command in reference.commands().items():
        part = text.partition(f"<!-- generated: {name} -->")[2].partition("<!-- end -->")[0]
        for param in command.params:
            if param.param_type_name == "option":
                assert all(f"{option}" in part for option in param.opts), f"{name}: {param.opts}"
                assert getattr(param, "help", None), f"{name} {param.opts[0]} has no help"


def test_every_setting_is_in_the_reference_with_its_default_and_meaning() -> None:
    text = SETTINGS.read_text("utf-8")
    for name, value, _, about in settings.read(environ={}).shown():
        assert f"| `{name}` | `{value}` | {about} |" in text


def test_every_key_type_and_cleaner_of_rules_is_in_the_reference() -> None:
    assert reference.parts(RULES) == set(reference.OF_RULES)
    text = RULES.read_text("utf-8")
    for name in (*rules.RULES_KEYS, *rules.FIELD_KEYS, *rules.FOLLOW_KEYS, *pipes.CLEANERS, *pipes.TYPES, *OWN_KEYS):
        assert f"`{name}" in text, name
    for name in NOT_HERE:
        assert f"`{name}`" in text, name


@pytest.mark.parametrize("name", sorted({*BUILTIN} - {"structured"}))
def test_every_field_of_every_parser_is_in_the_page_about_parsers(name: str) -> None:
    told = _fields_told((reading.ROOT / "docs" / "parsers.md").read_text("utf-8"))
    for record in _structs(name):
        assert told[record.__name__] == record.__struct_fields__, f"docs/parsers.md: {record.__name__}"


def test_the_page_about_parsers_tells_of_no_other_records() -> None:
    known = {record.__name__ for name in BUILTIN if name != "structured" for record in _structs(name)}
    assert set(_fields_told((reading.ROOT / "docs" / "parsers.md").read_text("utf-8"))) == known


def test_what_a_parser_is_said_to_give_are_its_fields() -> None:
    text = (reading.ROOT / "docs" / "parsers.md").read_text("utf-8")
    for name in ("article", "product", "job", "event", "opportunity"):
        (said,) = re.findall(rf"^\| `{name}` \| ([^|]*?)(?: of [^|]*)? \|", text, re.MULTILINE)
        assert set(said.split(", ")) <= set(_structs(name)[0].__struct_fields__), said


def _fields_told(text: str) -> dict[str, tuple[str, ...]]:
    """Record -> the fields that a page lists under its name, each with a meaning."""
    parts = re.findall(r"<!-- fields: (\w+) -->\n((?:\|.*\n)+)", text)
    return {name: tuple(re.findall(r"^\| `(\w+)` \| \S.* \|$", table, re.MULTILINE)) for name, table in parts}


def _structs(name: str) -> tuple[Any, ...]:
    """The records of a parser, and those in them that have a table of their own."""
    return {
        "article": (article.Article,),
        "event": (event.Event,),
        "feeds": (feeds.Entry, feeds.Enclosure),
        "generic": (generic.PageSummary,),
        "job": (job.Job,),
        "opportunity": (event.Opportunity,),
        "product": (product.Product, product.Variant),
        "social": (social.Social,),
        "tables": (tables.Table,),
    }[name]


#: Options of the programs that people come from, which docs/migrate names beside ours.
THEIRS = {"--install-deps", "--test-instagram", "--test-california", "--test-all", "--migrate", "--max-jobs", "--pool"}
THEIRS |= {"--scale", "--spider"}


def test_no_page_names_an_option_that_does_not_exist() -> None:
    known = {option for command in reference.commands().values() for p in command.params for option in p.opts}
    known |= {"--help", "--pages", "--port", "--kills"}  # of every command, of gossamer.testing, of the chaos test
    # Of useradd, celery, docker compose, systemctl, journalctl, pg_dump, curl: named beside ours.
    theirs = {"deploy.md": set(re.findall(r"--[a-z-]+", (reading.ROOT / "docs/deploy.md").read_text("utf-8")))}
    for page in reading.PAGES:
        text = "\n".join(line for line in page.read_text("utf-8").splitlines() if "gossamer" in line or "`--" in line)
        moving = (THEIRS if "migrate" in page.parts else set()) | theirs.get(page.name, set())
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
            assert option in known | moving, f"{page.name} names {option}"


def test_no_page_names_an_environment_variable_that_does_not_exist() -> None:
    known = {f"{settings.PREFIX}{name.upper()}" for name in settings.KNOBS}
    known |= {f"{name}_FILE" for name in known} | {"GOSSAMER_CORPORA", "GOSSAMER_RAET"}  # of our tests; misspelled
    for page in reading.PAGES:
        for name in re.findall(r"GOSSAMER_[A-Z]\w*", page.read_text("utf-8")):
            assert name in known, f"{page.name} names {name}"
