"""Structured events: a line a person can read, or a line of JSON."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog

from gossamer.telemetry import configure, log


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What was written; the world's logging is put back afterwards."""
    level = logging.getLogger().level
    yield []
    structlog.reset_defaults()
    logging.getLogger().setLevel(level)


def test_a_human_reads_time_level_event_and_facts(lines: list[str]) -> None:
    configure("info", "human", lines.append)
    log.warning("page.unreadable", url="http://a.org/x", why="no price", n=3)
    log.info("run.started")
    assert re.fullmatch(r"\d\d:\d\d:\d\d warning page\.unreadable url=http://a\.org/x why='no price' n=3", lines[0])
    assert re.fullmatch(r"\d\d:\d\d:\d\d info run\.started", lines[1])


def test_one_event_is_one_line_whatever_a_page_said(lines: list[str]) -> None:
    configure("info", "human", lines.append)
    log.info("x", why="a\nb", other="\x1b[31mred")
    assert lines[0].endswith(r"x why='a\nb' other='\x1b[31mred'")


def test_json_keeps_the_facts_apart(lines: list[str]) -> None:
    configure("debug", "json", lines.append)
    with structlog.contextvars.bound_contextvars(run=3, scraper="shop"):
        log.debug("fetch.retry", url="http://a.org/", wait=0.5, odd=object)
    event = json.loads(lines[0])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", event.pop("timestamp"))
    assert event.pop("odd")
    assert event == {
        "event": "fetch.retry",
        "level": "debug",
        "run": 3,
        "scraper": "shop",
        "url": "http://a.org/",
        "wait": 0.5,
    }


@pytest.mark.parametrize(("level", "heard"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_less_important_events_are_not_written(lines: list[str], level: str, heard: int) -> None:
    configure(level, "human", lines.append)
    for say in (log.debug, log.info, log.warning, log.error):
        say("event")
    assert len(lines) == heard


def test_an_exception_comes_with_its_trace(lines: list[str]) -> None:
    configure("info", "human", lines.append)
    try:
        raise ValueError("no price")
    except ValueError:
        log.exception("page.broken")
    assert lines[0].splitlines()[0].endswith(" error page.broken")
    assert lines[0].endswith("ValueError: no price")


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)


SAY = "from gossamer import telemetry as t\n{}\nt.log.info('quiet')\nt.log.warning('loud')"


def test_who_uses_the_library_hears_warnings_only_and_on_stderr() -> None:
    said = _python(SAY.format("t.configure_unless_done()"))
    assert said.stdout == ""
    assert said.stderr.endswith(" warning loud\n")
    assert "quiet" not in said.stderr


def test_who_told_structlog_how_to_speak_is_left_alone() -> None:
    said = _python(SAY.format("import structlog\nstructlog.configure()\nt.configure_unless_done()"))
    assert "quiet" in said.stdout
    assert "loud" in said.stdout


def test_the_library_door_sees_to_it(store: str) -> None:
    code = f"""
import gossamer
from gossamer.testing import Site
class Shop(gossamer.Scraper):
    name = "shop"
    robots = False
    def start(self):
        return [site.url("/")]
    def parse(self, page):
        raise ValueError("no price")
with Site() as site:
    site.page("/", "<p>hi")
    gossamer.run(Shop, store={store!r})
"""
    said = _python(code)
    assert said.stdout == ""
    assert " warning page.unreadable url=http://127.0.0.1" in said.stderr
    assert {"run=1", "scraper=shop"} <= set(said.stderr.split())
