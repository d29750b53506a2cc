"""What repeats on a page: the entries of a listing, found by what they have in common."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from gossamer.parse.outline import Outline, is_telling
from gossamer.parse.page import Page
from gossamer.parse.slots import Slot, slots

__all__ = ["Block", "blocks"]

#: Ways to repeat that are looked into; instances of each whose fields are compared.
MOST_TRIED: Final = 20
SAMPLE: Final = 12
#: Elements in one entry: what has more is a part of the page, and what has many more is not looked into.
MOST_INSIDE: Final = 300
LARGEST: Final = 2000
#: Tags that entries are made of where no class tells them.
_ENTRIES = frozenset({"li", "tr", "article", "section", "div", "dl", "a"})
#: Parts of a page that hold many alike things, which nobody comes for.
_ASIDE_TAGS = frozenset({"nav", "header", "footer", "aside", "form", "select", "menu"})
_ASIDE = re.compile(
    r"(?<![a-z])(?:nav|navbar|menu|footer|header|breadcrumbs?|pager|pagination|sidebar|cookies?|share|social|related|"
    r"toolbar|languages?|comments?|banner|advert|ads|skip)(?![a-z])"
)


class Block(msgspec.Struct, frozen=True):
    """Elements of a page that are alike: a quote of many quotes, a book of many books."""

    #: What finds them.
    selector: str
    count: int
    #: Their share of the page's text, from 0 to 1.
    share: float
    slots: tuple[Slot, ...]
    #: How much it looks like what a person comes for; only for comparing.
    score: float


class _Candidate(msgspec.Struct, frozen=True):
    selector: str
    places: list[int]
    rough: float


def blocks(page: Page, most: int = 3) -> list[Block]:
    """What repeats on a page and has fields, the likeliest first."""
    outline = Outline(page)
    found = []
    for candidate in sorted(_candidates(outline), key=lambda each: -each.rough)[:MOST_TRIED]:
        given = slots(outline, candidate.places[:SAMPLE])
        if given:
            found.append(_block(outline, candidate, given))
    found.sort(key=lambda block: -block.score)
    return _different(found)[:most]


def _candidates(outline: Outline) -> list[_Candidate]:
    """Elements that share tag and class, or tag and parent; the same elements only once, under their best name."""
    groups: dict[str, list[int]] = defaultdict(list)
    for n in range(1, len(outline)):
        for name in outline.classes[n][:8]:
            groups[f"{outline.tags[n]}.{name}"].append(n)
        if outline.tags[n] in _ENTRIES:
            groups[_under(outline, n)].append(n)
    unique: dict[tuple[int, ...], str] = {}
    for selector, places in groups.items():
        if len(places) < 2 or _nested(outline, places) or any(outline.end[n] - n > LARGEST for n in places[:SAMPLE]):
            continue
        same = tuple(places)
        if same not in unique or _plainness(selector) < _plainness(unique[same]):
            unique[same] = selector
    return [_Candidate(selector, list(places), _rough(outline, places)) for places, selector in unique.items()]


def _under(outline: Outline, n: int) -> str:
    """An element by its parent: `ol.books > li`; rows of a table are those that have cells."""
    tag, parent = outline.tags[n], outline.parents[n]
    if tag == "tr":
        table = next((above for above in outline.above(n) if outline.tags[above] == "table"), parent)
        return f"{_own_name(outline, table)} tr:has(td)" if _has_cells(outline, n) else f"{table} tr"
    return f"{_own_name(outline, parent)} > {tag}"


def _has_cells(outline: Outline, n: int) -> bool:
    return any(outline.tags[child] == "td" for child in outline.children(n))


def _own_name(outline: Outline, n: int) -> str:
    given = outline.nodes[n].attributes.get("id") or ""
    return f"#{given}" if re.fullmatch(r"[A-Za-z][\w-]{0,60}", given) and is_telling(given) else outline.name(n)


def _plainness(selector: str) -> tuple[bool, bool, int]:
    """How little a selector says; less is better."""
    by_class = re.fullmatch(r"\w+\.([\w-]+)", selector)
    return by_class is None, by_class is not None and not is_telling(by_class[1]), len(selector)


def _nested(outline: Outline, places: Sequence[int]) -> bool:
    return any(after < outline.end[before] for before, after in pairwise(places))


def _rough(outline: Outline, places: Sequence[int]) -> float:
    """What a group is worth before its fields are known: much text, often, in equal parts, and not beside the point."""
    letters = sorted(outline.letters[n] for n in places)
    total = sum(letters)
    if not total:
        return 0.0
    alike = min(1.0, letters[(len(letters) - 1) // 2] * len(letters) / total)
    share = total / max(1, outline.letters[0])
    large = outline.end[places[0]] - places[0] > MOST_INSIDE
    beside = _beside(outline, places[0])
    return math.sqrt(share) * math.log2(1 + len(places)) * alike * (0.15 if beside else 0.3 if large else 1.0)


def _beside(outline: Outline, n: int) -> bool:
    """Whether an element stands in a part of the page that nobody comes for, such as a menu."""
    for each in (n, *outline.above(n)):
        if outline.tags[each] in _ASIDE_TAGS and each != n:
            return True
        if outline.tags[each] in ("body", "main"):
            return False
        marks = " ".join((*outline.classes[each], (outline.nodes[each].attributes.get("id") or "")[:100])).lower()
        if _ASIDE.search(marks):
            return True
    return False


def _block(outline: Outline, candidate: _Candidate, given: Sequence[Slot]) -> Block:
    share = sum(outline.letters[n] for n in candidate.places) / max(1, outline.letters[0])
    single = sum(not slot.many for slot in given)
    fields = min(single, 6) + min(len(given) - single, 1) / 2
    score = candidate.rough * (0.5 + fields) * (0.9 if _plainness(candidate.selector)[:2] != (False, False) else 1.0)
    return Block(candidate.selector, len(candidate.places), round(share, 3), tuple(given), round(score, 3))


def _different(found: Iterable[Block]) -> list[Block]:
    """Without those that find the same fields again, a step further in or out."""
    kept: list[Block] = []
    for block in found:
        fields = {(slot.name, slot.sample) for slot in block.slots}
        if not any(fields <= {(slot.name, slot.sample) for slot in other.slots} for other in kept):
            kept.append(block)
    return kept
