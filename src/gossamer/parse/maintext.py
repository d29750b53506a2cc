"""The main text of a page: what was written for it, without what stands around it on every page of its site.

The text is found by trafilatura. What it is given is put right first (tables that are only layout, paragraphs that
only lead elsewhere) and bounded: its time grows with the square of what some pages hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Any, Final

import msgspec

from gossamer.parse.page import Page

__all__ = ["MainText", "bounded", "main_text", "prose_share", "silence", "without_title", "words"]

#: Letters of markup, and elements, that are looked at: what a page has beyond them is left out.
LARGEST: Final = 4 << 20
MOST_ELEMENTS: Final = 15_000
#: Letters of text, each counted as often as there are elements around it: trafilatura keeps the text of every one.
MOST_WEIGHT: Final = 30_000_000
#: Elements of a page that is read a second time, with more effort, where the first gave no prose.
MOST_AGAIN: Final = 6_000
#: Elements inside one paragraph: one with more is kept as plain text.
MOST_INSIDE: Final = 400
#: Headings of one page: what calls itself one beyond them is a paragraph.
MOST_HEADINGS: Final = 1_000
#: Letters of a line that is prose, and not an entry of a menu or the title of something.
PROSE: Final = 80
#: What stands between the cells of a row, and how often it may in prose.
_CELL: Final = " | "
_MOST_CELLS: Final = 3
#: The share of prose below which a text is doubted.
DOUBTED: Final = 0.5
#: Letters of a text below which the page is looked at again; how many times longer another has to be to be better.
SHORT: Final = 600
_TIMES_LONGER: Final = 8
#: Of a page's paragraphs, the share that may be left out for only leading elsewhere. With more, it is a page of links.
_MOST_LEADING: Final = 0.25

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NO_TEXT = frozenset({"script", "style"})
_TABLE_PARTS = frozenset({"thead", "tbody", "tfoot", "tr", "td", "th", "caption"})
#: Letters of scripts that say in one what others say in two or three.
_DENSE = re.compile("[\u2e80-\ud7af\uf900-\ufaff]")
_WORDS = re.compile(r"\w+")
#: How a line begins that names something else to read.
_LEADS = re.compile(
    r"\W{0,3}(?:read (?:more|also|next)|also read|related|see also|see more|more|don.t miss|recommended|watch"
    r"|leia (?:mais|também)|lee (?:más|también)|lire aussi|mehr zum thema|lesen sie auch|leggi anche)\b[^:]{0,20}:",
    re.IGNORECASE,
)


class MainText(msgspec.Struct, frozen=True):
    """The main text of a page, and how far it is to be trusted."""

    #: Plain text, a line for each paragraph; "" where there is none.
    text: str = ""
    #: The share of it that stands in lines long enough to be prose.
    prose: float = 0.0

    @property
    def is_doubted(self) -> bool:
        """Whether it is more of a list than a text."""
        return self.prose < DOUBTED

    @property
    def is_short(self) -> bool:
        """Whether it may be no more than the lead of a text."""
        return len(self.text) < SHORT


def main_text(page: Page, *, twice: bool = True) -> MainText:
    """The main text of an HTML page; nothing where there is none. Never raises for what a page holds.

    Where what is found is hardly prose, or very short, it is looked for `twice`, the second time with more effort.
    """
    tree = _tree(page)
    if tree is None:
        return MainText()
    size = _prepare(tree)
    found = _found(tree, fast=True)
    if not (found.is_doubted or found.is_short) or size > MOST_AGAIN or not twice:
        return found
    # Reading takes the tree apart. The slow way is better with such pages, and with others it takes in too much.
    again = _tree(page)
    _prepare(again)
    other = _found(again, fast=False)
    if found.is_doubted:
        return other if other.prose > found.prose else found
    return other if not other.is_doubted and len(other.text) > _TIMES_LONGER * len(found.text) else found


def words(text: str) -> list[str]:
    """The words of a text in small letters, by which lines are compared."""
    return _WORDS.findall(text.lower())


def without_title(text: str, titles: Iterable[str | None]) -> str:
    """A text without its title, where one of its first lines repeats it, and without short lines before that."""
    said = [words(title) for title in titles if title]
    lines = text.split("\n", 3)
    for n, line in enumerate(lines[:3]):
        given = words(line[:1000])
        if any(given == title or (len(given) >= 4 and title[: len(given)] == given) for title in said if given):
            return "\n".join(lines[n + 1 :])
        if len(line) >= PROSE:
            break
    return text


# --- what trafilatura finds ---


@cache
def silence() -> None:
    """Let what trafilatura and its kin have to say about pages go to no log."""
    import logging

    for name in ("trafilatura", "htmldate", "justext", "courlan"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _found(tree: Any, *, fast: bool) -> MainText:
    from trafilatura import extract, utils

    silence()
    try:
        text = extract(tree, fast=fast, include_comments=False, include_formatting=False)
    except Exception:  # noqa: BLE001 - whatever it stumbles over in a page of an enemy, there is no text
        return MainText()
    finally:
        # It remembers the last thousand texts it has trimmed, each of which may be a whole page.
        for remembering in (utils.trim, utils.line_processing):
            getattr(remembering, "cache_clear", lambda: None)()
    lines = [line for line in (_line(line) for line in (text or "").split("\n")) if line]
    return MainText("\n".join(lines), prose_share(lines))


def _line(line: str) -> str:
    """A line of text; of a row of a table, its cells."""
    line = " ".join(line.split())
    if line[:1] == "|":
        line = line.strip("| ")
        return "" if not line.strip("-| ") else line
    return line


def prose_share(lines: Iterable[str]) -> float:
    """The share of the letters that stands in lines of prose."""
    total = prose = 0
    for line in lines:
        size = len(line) + len(_DENSE.findall(line))
        total += size
        if size >= PROSE and line.count(_CELL) < _MOST_CELLS:
            prose += size
    return prose / (total or 1)


# --- what it is given ---


#: Rows and columns that a cell may span.
WIDEST_CELL = 20


def bounded(page: Page, most: int = MOST_ELEMENTS) -> Any:
    """The page as an lxml tree of its own, with no more than so many elements; None if there is no markup."""
    tree = _tree(page)
    if tree is not None:
        _bound(tree, most)
    return tree


def _tree(page: Page) -> Any:
    """The page as lxml sees it, without comments; None if there is no markup."""
    from lxml import etree, html

    # It is no deeper than lxml allows (256 elements): nothing that recurses over it can run out of stack.
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    try:
        tree = html.document_fromstring(page.text[:LARGEST].replace("\0", "").encode(errors="replace"), parser=parser)
    except (etree.LxmlError, ValueError):
        return None
    return tree if len(tree) else None


def _prepare(tree: Any) -> int:
    """Put a tree right, and bound it. Gives the number of its elements."""
    from lxml import etree

    for script in list(tree.iter("script")):
        # There trafilatura looks whether a page is a forum. Other texts for machines are not what a page shows.
        if "DiscussionForumPosting" not in (script.text or ""):
            script.tag = "style"
    etree.strip_elements(tree, "style", "svg", with_tail=False)
    for cell in tree.iter("td", "th"):
        # trafilatura fills what a cell claims to span, however much that is.
        for name in ("rowspan", "colspan"):
            said = (cell.get(name) or "1").strip()
            if not said.isdecimal() or len(said) > 3 or int(said) > WIDEST_CELL:
                del cell.attrib[name]
    size = _bound(tree)
    _join_lines(tree)
    _simplify_paragraphs(tree)
    for heading in islice(tree.iter(*_HEADINGS), MOST_HEADINGS, None):
        heading.tag = "p"
    _unframe(tree)
    _leave_out_leads(tree)
    return size


def _bound(tree: Any, most: int = MOST_ELEMENTS) -> int:
    """Cut off what comes after as many elements, or as much text, as are looked at. Gives the number of elements."""
    from lxml import etree

    size = depth = weight = 0
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if event == "end":
            depth -= 1
            weight += len(element.tail or "") * depth
            continue
        size, depth = size + 1, depth + 1
        weight += len(element.text or "") * depth
        if weight > MOST_WEIGHT and element.text:
            element.text = element.text[: MOST_WEIGHT // depth]
        if size > most or weight > MOST_WEIGHT:
            _cut_after(element)
            break
    return size


def _cut_after(element: Any) -> None:
    element.tail = None
    while (parent := element.getparent()) is not None:
        for later in list(element.itersiblings()):
            parent.remove(later)
        element = parent


def _join_lines(tree: Any) -> None:
    """Make spaces of the line ends in markup, which mean nothing there: a line is to be a paragraph."""
    kept = {element for block in tree.iter("pre") for element in block.iter()}
    for element in tree.iter():
        if element.text and "\n" in element.text and element not in kept and element.tag not in _NO_TEXT:
            element.text = element.text.replace("\n", " ")
        if element.tail and "\n" in element.tail and (element not in kept or element.tag == "pre"):
            element.tail = element.tail.replace("\n", " ")


def _simplify_paragraphs(tree: Any) -> None:
    """No paragraph lies in another, and none holds thousands of elements: that takes trafilatura minutes."""
    for paragraph in list(tree.iter("p")):
        if next(paragraph.iterdescendants("p"), None) is not None:
            paragraph.tag = "div"
        elif next(islice(paragraph.iterdescendants(), MOST_INSIDE, None), None) is not None:
            text, tail = paragraph.text_content(), paragraph.tail
            attributes = dict(paragraph.attrib)
            paragraph.clear()
            paragraph.attrib.update(attributes)
            paragraph.text, paragraph.tail = text, tail


def _unframe(tree: Any) -> None:
    """Make blocks of the tables that only lay a page out: those with whole texts, or other tables, in a cell."""
    for table in list(tree.iter("table")):
        if not _is_layout(table):
            continue
        table.tag = "div"
        inside = list(table)
        while inside:
            part = inside.pop()
            if part.tag in _TABLE_PARTS:
                inside.extend(part)
                part.tag = "div"


def _is_layout(table: Any) -> bool:
    if next(table.iterdescendants("table", "h1"), None) is not None:
        return True
    before = None
    for paragraph in table.iterdescendants("p"):
        cell = next(paragraph.iterancestors("td", "th"), None)
        if cell is not None and cell is before:
            return True
        before = cell
    return False


def _leave_out_leads(tree: Any) -> None:
    """Take out the paragraphs that only lead to other pages: "Read more: ..", or a link and nothing else."""
    total, leads, size = 0, [], 0
    for paragraph in tree.iter("p"):
        letters = len(" ".join(paragraph.text_content().split()))
        total += letters
        if _is_lead(paragraph, letters):
            leads.append(paragraph)
            size += letters
    if size <= _MOST_LEADING * total:
        for paragraph in leads:
            paragraph.drop_tree()


def _is_lead(paragraph: Any, letters: int) -> bool:
    linked = sum(len(" ".join(link.text_content().split())) for link in paragraph.iterdescendants("a"))
    if letters < 16 or linked < 0.5 * letters:
        return False
    return linked >= 0.8 * letters or _LEADS.match(paragraph.text_content()[:200].strip()) is not None
