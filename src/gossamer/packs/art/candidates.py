"""Calls on a page that nobody wrote a reader for: the blocks that speak of one, each read once.

Blocks lie in blocks: a row holds a card, which holds an article. Of those that are about one thing, the outermost
counts; of those that hold several, the ones within.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from gossamer import Page, urls
from gossamer.packs.art import labelled
from gossamer.packs.art.found import Found
from gossamer.packs.art.states import place_in
from gossamer.parse import labels, opportunity

__all__ = ["read", "speaks"]

#: Blocks that are looked at, and letters of one.
_MOST: Final = 1_500
_LONGEST: Final = 20_000
#: Calls of one page; letters of all of them, and those of one that are read even after that.
_MOST_CALLS: Final = 300
_MOST_LETTERS: Final = 60_000
_LEAST: Final = 200
#: Headings that are looked at, and how deep anything may lie.
_MOST_HEADINGS: Final = 6_000
_DEEPEST: Final = 60
_BLOCKS: Final = (
    "article, .opportunity, .post, .listing, .job-listing, .card, .item, .result, .entry, div.row, li.listing,"
    " div[id*=opportunity i], div[class*=opportunity i], li[class*=opportunity i], div[id*=post], div[class*=post],"
    " div[id*=listing], div[class*=listing], li[class*=listing]"
)
_HEADINGS: Final = "h1, h2, h3, h4"
_CHROME: Final = frozenset({"nav", "footer", "aside", "form"})
_WORDS: Final = re.compile(
    r"\b(?:calls? for|call to artists|open calls?|opportunit(?:y|ies)|submissions?|apply|applications?|deadlines?"
    r"|residenc(?:y|ies)|grants?|funding|fellowships?|exhibitions?|contests?|competitions?|commissions?|awards?"
    r"|stipends?|scholarships?|artists wanted|seeking artists)\b",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"\b(?:apply|details?|learn more|more info(?:rmation)?|read more|view call)\b", re.IGNORECASE)
_DEADLINE: Final = re.compile(
    r"\b(?:deadlines?|due(?: by| on)?|applications due|closing date|closes(?: on)?|(?:submit|apply|enter) by)\s?:?\s?"
    r"(.{4,60})",
    re.IGNORECASE,
)
_DAY: Final = re.compile(
    r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s\d{1,2}"
    r"|\b\d{1,2}(?:st|nd|rd|th)?\s(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
#: Titles of what stands around calls, on any site.
_NO_TITLE: Final = re.compile(
    r"(?:about|contact|home|menu|search|news(?:letter)?|log ?in|sign (?:in|up)|donate|careers?|calendar|share|filters?"
    r"|subscribe|related (?:posts|opportunities)|recent posts|categories|upcoming events|faqs?|read more|learn more"
    r"|apply(?: now)?|opportunities|(?:past|current|open) opportunities|open calls|grants|how to apply|eligibility)"
    r"\W*",
    re.IGNORECASE,
)


def speaks(text: str) -> bool:
    """Whether a text speaks of something one can apply for."""
    return _WORDS.search(text[:_LONGEST]) is not None


def read(page: Page) -> list[Found]:
    """The calls of any page, each once, in order; none if nothing on it looks like one."""
    if not page.is_html and page.kind != "html":
        return []
    made: dict[str | None, Found] = {}
    left = _MOST_LETTERS
    for node in _blocks(page):
        one = _found(node, page, min(max(left, _LEAST), _LONGEST))
        if one is not None:
            made[one.url] = one
            left -= len(one.description or "")
        if len(made) == _MOST_CALLS:
            break
    return list(made.values()) or [_of_parser(one) for one in opportunity.read(page) if one.title and one.url]


def _of_parser(one: opportunity.Opportunity) -> Found:
    """What the parser for opportunities says, where no block does."""
    return Found(
        title=one.title,
        url=one.url,
        organization=one.organisation,
        location=one.location,
        deadline=one.deadline,
        opens=one.opens,
        fee=f"{one.fee} {one.currency or ''}".strip() if one.fee else None,
        award=f"{one.award} {one.currency or ''}".strip() if one.award else None,
        eligibility=one.eligibility,
        description=one.description,
        image=one.image,
    )


def _blocks(page: Page) -> list[Any]:
    """Blocks that are about one thing each, none inside of another."""
    nodes = [node for node in page.tree.css(_BLOCKS)[:_MOST] if _is_placed(node)]
    if not nodes:
        heads = (node for node in page.tree.css(_HEADINGS)[:_MOST] if speaks(_text(node)) and _is_placed(node))
        nodes = [node.parent for node in heads if node.parent is not None and node.parent.tag != "body"]
    blocks = {node.mem_id: node for node in nodes}
    heads_of = _heads(page, blocks)
    taken: set[int] = set()
    several = []
    for number, node in blocks.items():  # in the order of the page: what holds others comes first
        if any(above.mem_id in taken for above in _above(node)):
            continue
        if len(heads_of[number]) <= 1:
            taken.add(number)
        else:
            several.append(node)
    holding = {above.mem_id for number in taken for above in _above(blocks[number])}
    # A block with several headings, and no block within it: one call with sections.
    for node in reversed(several):
        if node.mem_id not in holding:
            taken.add(node.mem_id)
            holding.update(above.mem_id for above in _above(node))
    return [node for number, node in blocks.items() if number in taken]


def _is_placed(node: Any) -> bool:
    """Whether a block is part of what the page is about, and no deeper than people nest."""
    ways = [node, *_above(node)]
    return len(ways) <= _DEEPEST and not any(way.tag in _CHROME for way in ways)


def _above(node: Any) -> Iterator[Any]:
    """What a node lies in, from the inside, as far as anybody would look."""
    for _ in range(_DEEPEST):
        node = node.parent
        if node is None:
            return
        yield node


def _heads(page: Page, blocks: dict[int, Any]) -> dict[int, set[str]]:
    """What the headings in each block say: asked from the headings, as blocks in blocks would tell the same again."""
    found: dict[int, set[str]] = {number: set() for number in blocks}
    for head in page.tree.css(_HEADINGS)[:_MOST_HEADINGS]:
        text = _text(head)
        for above in _above(head) if text else ():
            said = found.get(above.mem_id)
            if said is None:
                continue
            if len(said) > 1:  # and so has all that holds it
                break
            said.add(text)
    return found


def _text(node: Any) -> str:
    return " ".join(labels.lines(node))


def _found(node: Any, page: Page, longest: int) -> Found | None:
    """What a block says of its call; None if it is about something else."""
    lines = [line for line in labels.lines(node) if line.strip()]
    whole = "\n".join(lines)[:longest]
    title = _title(node)
    if title is None or _NO_TITLE.fullmatch(title) or not speaks(whole):
        return None
    said = labelled.fields(labels.labelled(node, lines))
    deadline = said.get("deadline") or _deadline(whole)
    about = "\n".join(line for line in lines if line != title and len(line) > 20)[:longest] or None
    # A word in passing makes no call: it has a deadline, or is called one, or says something about it.
    if not (deadline or said.get("fee") or (speaks(title) and about) or len(about or "") > 60):
        return None
    picture = node.css_first("img[src]")
    return Found(
        title=title,
        url=_link(node, page) or f"{page.url.partition('#')[0]}#:~:text={quote(title)}",
        organization=said.get("organization"),
        location=said.get("location") or place_in(whole),
        deadline=deadline,
        opens=said.get("opens"),
        event=said.get("event"),
        fee=said.get("fee"),
        award=said.get("award"),
        eligibility=said.get("eligibility"),
        category=said.get("category"),
        description=about,
        image=picture.attributes.get("src") if picture is not None else None,
    )


def _title(node: Any) -> str | None:
    """A heading; else what an element is titled; else the first short text."""
    for text in _titles(node):
        if 3 < len(text) < 200:
            return text
    return None


def _titles(node: Any) -> Iterator[str]:
    yield from (_text(head) for head in node.css(_HEADINGS)[:3])
    yield from ((titled.attributes.get("title") or "").strip() for titled in node.css("[title]")[:3])
    yield from (line for line in labels.lines(node)[:5] if len(line) >= 10)


def _link(node: Any, page: Page) -> str | None:
    """Where a block leads: the link of its heading, one that says so, the first; or that around it."""
    head = node.css_first("h1 a[href], h2 a[href], h3 a[href], h4 a[href]")
    links = [head] if head is not None else []
    inside = node.css("a[href]")[:50]
    links += [link for link in inside if _MORE.search(_text(link))] + inside
    around = node if node.tag == "a" else node.parent if node.parent is not None and node.parent.tag == "a" else None
    links += [around] if around is not None else []
    for link in links:
        href = link.attributes.get("href") or ""
        url = urls.resolve(href, page.base_url) if not href.startswith("#") else None
        if url:
            return url
    return None


def _deadline(text: str) -> str | None:
    for found in _DEADLINE.finditer(text):
        if day := _DAY.search(found[1]):
            return found[1][day.start() :].strip(" .;,")
    return None
