"""The recording in the README: what a terminal shows, and an image that is nothing but an image."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tests.docs import reading
from tests.docs.recording import Look, Screen, pictures, svg

IMAGE = reading.ROOT / "docs" / "images" / "demo.svg"


def _text(screen: Screen) -> list[str]:
    return ["".join(text for _, text, _ in line) for line in screen.shown()]


def test_a_live_picture_is_drawn_over() -> None:
    screen = Screen()
    screen.feed("begin\r\n\x1b[?25lone\r\ntwo\r\x1b[2K\x1b[1A\x1b[2K1\r\n2\x1b[?25h")
    assert _text(screen) == ["begin", "1", "2"]


def test_a_sequence_may_come_in_pieces() -> None:
    screen = Screen()
    for piece in ("a\x1b", "[1;3", "6mb", "\x1b[0m c"):
        screen.feed(piece)
    assert screen.shown() == ((((0, "a", Look())), (1, "b", Look(colour="#56b6c2", bold=True)), (2, " c", Look())),)


def test_long_lines_wrap_and_old_ones_leave() -> None:
    screen = Screen(columns=4, lines=2)
    screen.feed("abcdefgh\r\nij")
    assert _text(screen) == ["efgh", "ij"]


def test_pauses_are_cut_short_and_pictures_are_not_too_many() -> None:
    written = [(0.0, "a\r\n"), (60.0, "b\r\n"), (60.01, "c\r\n")]
    seen = pictures("hi", iter(written))
    assert seen[-1][0] < 3
    assert len(seen) == 4  # two letters typed, a, then b and c in one


def test_what_pages_say_is_text_in_the_image() -> None:
    screen = Screen()
    screen.feed("<script>&")
    drawn = svg('a "title" & more', [(0.0, screen.shown()), (1.0, ())])
    ElementTree.fromstring(drawn)
    assert "&lt;script&gt;&amp;" in drawn


def test_the_recording_is_a_small_image_that_loads_and_runs_nothing() -> None:
    drawn = IMAGE.read_text("utf-8")
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(drawn).iter()}
    assert tags <= {"svg", "title", "style", "rect", "circle", "text", "tspan", "g"}
    assert not re.search(r"(href|url\(|@import|\son\w+=)", drawn)
    assert len(drawn) < 400_000


def test_the_recording_shows_the_demo_to_its_end() -> None:
    said = "".join(ElementTree.fromstring(IMAGE.read_text("utf-8")).itertext())
    for words in ("gossamer demo", "pages", "items", "try next:", "gossamer why"):
        assert words in said
