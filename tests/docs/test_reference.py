"""The reference names every command, option and setting there is, and none that is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gossamer import settings
from tests.docs import reading, reference

CLI, SETTINGS = reference.PAGES


@pytest.mark.parametrize("page", reference.PAGES, ids=lambda page: page.name)
def test_the_generated_parts_say_what_the_program_says(page: Path) -> None:
    hint = "write it anew: python -m tests.docs.reference"
    assert page.read_text("utf-8") == reference.rendered(page), hint


def test_every_command_has_a_part_and_a_heading_in_the_reference() -> None:
    assert reference.parts(CLI) == set(reference.commands())
    assert {name.replace(" ", "-") for name in reference.commands()} <= reading.anchors(CLI)


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


def test_no_page_names_an_option_that_does_not_exist() -> None:
    known = {option for command in reference.commands().values() for p in command.params for option in p.opts}
    known |= {"--help", "--pages", "--port", "--kills"}  # of every command, of gossamer.testing, of the chaos test
    for page in reading.PAGES:
        text = "\n".join(line for line in page.read_text("utf-8").splitlines() if "gossamer" in line or "`--" in line)
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
            assert option in known, f"{page.name} names {option}"


def test_no_page_names_an_environment_variable_that_does_not_exist() -> None:
    known = {f"{settings.PREFIX}{name.upper()}" for name in settings.KNOBS}
    known |= {"GOSSAMER_CORPORA", "GOSSAMER_RAET"}  # of our tests; shown misspelled
    for page in reading.PAGES:
        for name in re.findall(r"GOSSAMER_[A-Z]\w*", page.read_text("utf-8")):
            assert name in known, f"{page.name} names {name}"
