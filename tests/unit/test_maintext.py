"""The main text of a page."""

from __future__ import annotations

import pytest

from gossamer.parse import maintext
from gossamer.parse.maintext import main_text, prose_share, without_title
from gossamer.parse.page import Page

SENTENCE = "Every morning the ferry leaves the pier at seven, and every evening it comes back with the same people. "


def test_what_is_beyond_the_bound_is_left_out() -> None:
    """A page with too many elements gives its beginning."""
    page = Page.of("<article>" + "".join(f"<p>Part {n}. {SENTENCE}</p>" for n in range(1_000)) + "</article>")
    tree = maintext.bounded(page, 300)
    assert sum(1 for _ in tree.iter()) <= 301
    assert "Part 290." in tree.text_content()
    assert "Part 400." not in tree.text_content()


def test_markup_that_is_none_gives_nothing() -> None:
    for body in ("", " ", "<!-- -->", "\0"):
        assert main_text(Page.of(body)) == maintext.MainText()


def test_a_page_of_a_menu_and_a_short_text_gives_the_text() -> None:
    """Where the quick way gives the menu, the slow way is tried."""
    menu = "".join(f"<div><a href='/{n}'>Department {n}</a></div>" for n in range(120))
    found = main_text(Page.of(f"<html><body><div>{menu}</div><div class='x'><p>{SENTENCE * 3}</p></div></body></html>"))
    assert SENTENCE.strip() in found.text
    assert "Department" not in found.text
    assert not found.is_doubted


def test_line_ends_in_preformatted_text_stay() -> None:
    page = Page.of(f"<article><p>{SENTENCE * 4}</p><pre>first line\nsecond line</pre><p>{SENTENCE * 4}</p></article>")
    assert "first line\nsecond line" in main_text(page).text


def test_a_page_of_links_keeps_them() -> None:
    """Where most paragraphs are links, the links are the text."""
    links = "".join(f"<p><a href='/{n}'>The story of the ferry, part {n} of many</a></p>" for n in range(20))
    tree = maintext._tree(Page.of(f"<main><p>{SENTENCE}</p>{links}</main>"))
    maintext._leave_out_leads(tree)
    assert len(list(tree.iter("a"))) == 20


@pytest.mark.parametrize(
    ("text", "titles", "left"),
    [
        ("The Ferry\nIt leaves.", ["The ferry!"], "It leaves."),
        ("Travel\nThe Ferry\nIt leaves.", ["The Ferry"], "It leaves."),
        ("The last ferry home\nIt leaves.", ["The last ferry home | Site"], "It leaves."),
        ("It leaves.\nAnd comes back.", ["The Ferry", None, ""], "It leaves.\nAnd comes back."),
        (f"{SENTENCE}\nThe Ferry\nIt leaves.", ["The Ferry"], f"{SENTENCE}\nThe Ferry\nIt leaves."),
        ("The\nIt leaves.", ["The ferry"], "The\nIt leaves."),
        ("The Ferry", ["The Ferry"], ""),
    ],
)
def test_the_title_is_taken_off(text: str, titles: list[str | None], left: str) -> None:
    assert without_title(text, titles) == left


def test_prose_is_told_from_lists_and_tables() -> None:
    assert prose_share([SENTENCE, SENTENCE]) == 1
    assert prose_share(["Home", "Contact", "Imprint"]) == 0
    assert prose_share(["| ".join(["cell "] * 40)]) == 0
    assert (
        prose_share(["渡し船は毎朝七時に桟橋を離れ、毎晩同じ人々を乗せて戻ってくる。それは百年前から変わらない。"]) == 1
    )
    assert prose_share([]) == 0
