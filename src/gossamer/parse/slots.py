"""The fields that alike elements have: where each stands, what it is called, and whether it comes several times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from gossamer.parse import clean
from gossamer.parse.outline import Outline, best_class, words

__all__ = ["Slot", "slots"]

#: Fields of one element that are looked at, and those that are kept; elements looked at in one.
MOST_TRIED: Final = 60
MOST: Final = 16
MOST_INSIDE: Final = 400
#: Letters of a sample.
SAMPLE: Final = 200
#: What a reader sees of an element, rather than where it leads.
_SEEN = ("text", "title")
_SOURCES = ("src", "data-src", "data-original", "data-lazy-src")
#: Of the elements, how many must have a field: where a class names it, and where none does.
_OFTEN, _MOSTLY = 0.25, 0.5

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
#: Elements that are part of the sentence they stand in.
_INLINE = frozenset(
    {"b", "i", "em", "strong", "u", "br", "sup", "sub", "mark", "code", "wbr", "span", "abbr", "q", "cite"}
)
#: A word in a class -> what the field is called.
_ROLES = {
    "author": "author byline writer creator speaker",
    "price": "price cost amount",
    "date": "date time published posted created updated datetime",
    "rating": "rating stars score",
    "availability": "availability stock",
    "location": "location place address venue city",
    "company": "company employer organization organisation",
    "description": "description desc summary excerpt abstract teaser",
    "image": "image img photo picture thumb thumbnail",
    "title": "title headline heading name subject",
}
_ROLE_OF = {word: role for role, named in _ROLES.items() for word in named.split()}
#: Words in the classes of what is the same everywhere, and no value.
_LABELS = frozenset({"btn", "button", "label", "more", "buy", "cart", "icon", "caption", "toggle", "action", "actions"})
_BY_TAG = {"img": "image", "time": "date", "p": "text", "blockquote": "text", "address": "location"}


class Slot(msgspec.Struct, frozen=True):
    """A field of alike elements."""

    name: str
    #: What finds it below the element; empty: the element itself.
    selector: str
    #: "text", or the attribute that holds it: "href", "src", "title", "datetime", "content".
    take: str
    #: Whether an element has it several times.
    many: bool
    #: What cleans it: "url", "money", "date", or nothing.
    clean: str
    #: The first value found.
    sample: str


class _Found(msgspec.Struct):
    """A field before it has a name."""

    selector: str
    take: str
    #: The first element that has it.
    first: int
    #: For each block, the values in it.
    values: list[list[str]]
    #: Whether a class or an itemprop says what it is.
    named: bool
    #: Of a link: what it says in each block.
    labels: list[str] = []

    @property
    def firsts(self) -> list[str]:
        return [each[0] if each else "" for each in self.values]

    @property
    def many(self) -> bool:
        filled = [each for each in self.values if each]
        return sum(map(len, filled)) >= 1.5 * len(filled)

    @property
    def constant(self) -> bool:
        return len({value for each in self.values for value in each}) == 1 and len(self.values) > 1


def slots(outline: Outline, places: Sequence[int]) -> list[Slot]:
    """The fields that the elements at these places have in common, in the order of the page."""
    found = _without_doubles(outline, _often(outline, places))
    title = _title(outline, found)
    texts = {each.selector: each.many for each in found if each.take in _SEEN}
    taken: set[str] = set()
    made = []
    for each in found[:MOST]:
        if each.constant and (each.take not in _SEEN or _says_nothing(outline, each)):
            continue
        # Of ten tags nobody wants the addresses; but of two links that say the same, the first.
        if each.take == "href" and each.many and texts.get(each.selector):
            continue
        many = each.many and each.selector not in texts if each.take == "href" else each.many
        name = _unique(_name(outline, each, title, many=many), taken)
        sample = next((value for value in each.firsts if value), "")[:SAMPLE]
        made.append(Slot(name, each.selector, each.take, many, _cleaner(name, each), sample))
    return sorted(made, key=lambda slot: {"title": 0, "url": 1}.get(slot.name, 2))


def _often(outline: Outline, places: Sequence[int]) -> list[_Found]:
    """What enough of the elements have."""
    first: dict[tuple[str, str], int] = {}
    for block in places:
        for n in range(block, min(outline.end[block], block + MOST_INSIDE)):
            for take in _offers(outline, block, n):
                first.setdefault((_selector(outline, block, n), take), n)
    found = []
    for (selector, take), n in list(first.items())[:MOST_TRIED]:
        values = [_values(outline.nodes[block], selector, take) for block in places]
        named = bool(best_class(outline.classes[n]) or outline.nodes[n].attributes.get("itemprop"))
        share = sum(map(bool, values)) / len(places)
        if share > (_OFTEN if named and len(places) > 3 else _MOSTLY):
            found.append(_Found(selector, take, n, values, named, _labels(outline, places, selector, take)))
    return found


def _labels(outline: Outline, places: Sequence[int], selector: str, take: str) -> list[str]:
    texts = [_values(outline.nodes[block], selector, "text") for block in places] if take == "href" else []
    return [each[0] if len(each) == 1 else "" for each in texts]


def _offers(outline: Outline, block: int, n: int) -> Iterator[str]:
    """What an element holds that may be a field: attributes, text."""
    tag, attributes = outline.tags[n], outline.nodes[n].attributes
    if tag == "a" and (attributes.get("href") or "#")[:1] != "#":
        yield "href"
    elif tag == "img":
        lazy = next((name for name in ("data-src", "data-original", "data-lazy-src") if attributes.get(name)), "src")
        yield lazy if (attributes.get("src") or "data:").startswith("data:") else "src"
    elif tag == "time" and attributes.get("datetime"):
        yield "datetime"
        return
    if attributes.get("itemprop") and attributes.get("content"):
        yield "content"
    elif _has_text(outline, block, n):
        # Where there was no room for all of it, the whole stands where the mouse finds it.
        cut = attributes.get("title") and outline.nodes[n].text().rstrip().endswith(("...", "…"))
        yield "title" if cut else "text"


def _has_text(outline: Outline, block: int, n: int) -> bool:
    """Whether the text of an element is one field, and not several fields with words between them."""
    if outline.tags[n] in ("td", "th", "dd"):
        return outline.letters[n] > 0
    if not _is_one(outline, n):
        return False
    # Of nested ones, the outermost is the field; but a link or a named part inside of one is a field of its own.
    if outline.tags[n] in _INLINE and not outline.classes[n]:
        return not any(_is_one(outline, above) for above in outline.above(n) if above > block)
    return True


def _is_one(outline: Outline, n: int) -> bool:
    own = outline.own[n]
    if own == 0 or own == outline.letters[n]:
        return own > 0
    fields_inside = any(outline.tags[m] == "a" or outline.classes[m] for m in range(n + 1, outline.end[n]))
    return own >= outline.letters[n] * (0.6 if fields_inside else 0.4)


def _selector(outline: Outline, block: int, n: int) -> str:
    """How to find an element below its block."""
    if n == block:
        return ""
    tag, prop = outline.tags[n], outline.nodes[n].attributes.get("itemprop") or ""
    if re.fullmatch(r"[A-Za-z_]\w{0,40}", prop):
        return f"[itemprop={prop}]"
    if outline.name(n) != tag:
        return outline.name(n)
    parent = outline.parents[n]
    if tag in ("td", "th"):
        return f"{tag}:nth-child({outline.children(parent).index(n) + 1})"
    alike = [m for m in outline.children(parent) if outline.name(m) == tag]
    if len(alike) > 1 and tag in ("span", "div", "dd", "strong", "b", "small"):
        tag = f"{tag}:nth-of-type({[m for m in outline.children(parent) if outline.tags[m] == tag].index(n) + 1})"
    return tag if parent == block else f"{outline.name(parent)} {tag}"


def _values(block: Any, selector: str, take: str) -> list[str]:
    nodes = block.css(selector)[:MOST_TRIED] if selector else [block]
    nodes = [node for node in nodes if node.mem_id != block.mem_id or not selector]
    given = [node.text() if take == "text" else node.attributes.get(take) or "" for node in nodes]
    # What is there twice, once for narrow screens, is there once.
    return list(dict.fromkeys(value for text in given if (value := " ".join(text[:5000].split()))))


def _without_doubles(outline: Outline, found: Sequence[_Found]) -> list[_Found]:
    """Each value once: a heading and the link in it say the same, and a picture links to where its title does."""
    whole = {each.selector for each in found if each.take == "title"}
    kept: list[_Found] = []
    by_values: dict[tuple[bool, tuple[str, ...]], int] = {}
    for each in found:
        if each.take == "text" and each.selector in whole:
            continue
        same = (each.take in _SEEN, tuple(" ".join(values) for values in each.values))
        if same not in by_values:
            by_values[same] = len(kept)
            kept.append(each)
        elif _rank(outline, each) < _rank(outline, kept[by_values[same]]):
            kept[by_values[same]] = each
    return kept


def _rank(outline: Outline, found: _Found) -> tuple[bool, bool, bool]:
    """How little is known of what a field is; of two that say the same, the lesser counts."""
    titled = _in_heading(outline, found.first) or _role(outline, found.first) == "title"
    return not titled, _role(outline, found.first) is None, not found.named


def _title(outline: Outline, found: Sequence[_Found]) -> _Found | None:
    """The field that is the element's title: named so, a heading, or the text of its first link."""
    texts = [each for each in found if each.take in _SEEN and not each.many and not each.constant]
    for fits in (
        lambda each: _role(outline, each.first) == "title",
        lambda each: _in_heading(outline, each.first),
        lambda each: outline.tags[each.first] == "a",
    ):
        if (title := next(filter(fits, texts), None)) is not None:
            return title
    return None


def _in_heading(outline: Outline, n: int) -> bool:
    return outline.tags[n] in _HEADINGS or outline.tags[outline.parents[n]] in _HEADINGS


def _says_nothing(outline: Outline, found: _Found) -> bool:
    """Whether a text that is always the same is a label or a button, and no value."""
    if _role(outline, found.first) is not None:
        return False
    if outline.tags[found.first] in ("a", "button", "label", "dt", "th") or not found.named:
        return True
    return not _LABELS.isdisjoint(words(best_class(outline.classes[found.first]) or ""))


def _role(outline: Outline, n: int) -> str | None:
    given = outline.nodes[n].attributes.get("itemprop") or best_class(outline.classes[n]) or ""
    said = words(given)
    return next((role for role in _ROLES if any(_ROLE_OF.get(word) == role for word in said)), None)


def _name(outline: Outline, found: _Found, title: _Found | None, *, many: bool) -> str:
    n, tag = found.first, outline.tags[found.first]
    if found is title:
        return "title"
    if found.take == "href":
        return _link_name(outline, found, title, many=many)
    if found.take in _SOURCES:
        return "image"
    if found.take == "datetime":
        return "date"
    name = _said(outline, n) or ("title" if title is None and tag in _HEADINGS else _column(outline, n))
    name = name or _BY_TAG.get(tag) or _said(outline, outline.parents[n]) or "text"
    return f"{name}s" if many and not name.endswith("s") and name != "text" else name


def _said(outline: Outline, n: int) -> str:
    """What the class of an element says that it is; empty if it says nothing."""
    prop = outline.nodes[n].attributes.get("itemprop") or best_class(outline.classes[n]) or ""
    return _role(outline, n) or "_".join(words(prop)[:3])


def _link_name(outline: Outline, found: _Found, title: _Found | None, *, many: bool) -> str:
    """`url` for the link to what the element is about; else what the link is called."""
    n = found.first
    if not many and (not found.selector or (title is not None and _belong_together(outline, found, title))):
        return "url"
    label = found.labels[0] if len(set(found.labels)) == 1 else ""
    said = words(best_class(outline.classes[n]) or "") or words(label) or words(_said(outline, outline.parents[n]))
    name = "_".join(said[:2]) or "link"
    return f"{name}_urls" if many else f"{name}_url"


def _belong_together(outline: Outline, link: _Found, title: _Found) -> bool:
    """Whether a link stands around a title, in it, or says the same."""
    n, m = link.first, title.first
    return n <= m < outline.end[n] or m <= n < outline.end[m] or link.labels == title.firsts


def _column(outline: Outline, n: int) -> str:
    """What stands above a cell, in the first row of its table."""
    if outline.tags[n] not in ("td", "th"):
        return ""
    at = outline.children(outline.parents[n]).index(n)
    table = next((above for above in outline.above(n) if outline.tags[above] == "table"), None)
    if table is None:
        return ""
    row = next((m for m in range(table, outline.end[table]) if outline.tags[m] == "tr"), table)
    cells = outline.children(row)
    is_header = all(outline.tags[m] == "th" for m in cells)
    said = words(outline.nodes[cells[at]].text()) if is_header and at < len(cells) else []
    return "_".join(said[:3]) or f"column_{at + 1}"


def _unique(name: str, taken: set[str]) -> str:
    name = name if re.match(r"[a-z]", name) else f"field_{name}"
    made, number = name, 2
    while made in taken:
        made, number = f"{name}_{number}", number + 1
    taken.add(made)
    return made


def _cleaner(name: str, found: _Found) -> str:
    """What makes a value of a field's texts: only where it can be made of all of them."""
    if found.take in ("href", *_SOURCES):
        return "url"
    values = [value for each in found.values for value in each]
    if name.startswith("price") and all(clean.money(value) for value in values):
        return "money"
    if name.startswith("date") and all(clean.date(value) for value in values):
        return "date"
    return ""
