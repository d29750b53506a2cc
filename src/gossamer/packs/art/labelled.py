"""The page of one call, as most sites write it: lines with a label, and a text."""

from __future__ import annotations

import re
from typing import Any, Final

from gossamer import Page, Selection
from gossamer.packs.art.found import Found
from gossamer.parse import labels, opengraph, plain

__all__ = ["fields", "of_entry", "read"]

_SORT: Final = r"(?:(?:final|extended|entry|application|submission|call|registration|jury)s? )?"
#: Labels, in small letters, and what stands under them. The first that is there counts.
_LABELS: Final = {
    "organization": r"organi[sz]ation(?:\s?/\s?company)?|company|host(?:ed by)?|sponsor|presented by|organi[sz]er"
    rf"|{labels.ORGANISED_BY}",
    "deadline": rf"{_SORT}(?:deadlines?(?: date)?|due(?: date| by)?|clos(?:ing|e) date|closes)"
    r"|deadline (?:for|to) \w+|(?:apply|submit|enter|due) by|(?:entries|applications) (?:due|close)|end date",
    "opens": r"(?:call |applications? |submissions? |entries )?opens?(?:ing)?(?: date)?|start date",
    "event": r"(?:event|exhibition|show|residency|festival|program) (?:dates?|runs?)|dates?",
    "fee": rf"{_SORT}(?:/\s?)?fees?(?: \(.{{0,20}}\))?|entry/fee|cost(?: to (?:enter|apply))?|entry cost",
    "award": r"(?:awards?|prizes?|stipend|honorarium|award amount|(?:art )?budget|grant amount)",
    "eligibility": r"eligibility(?: requirements| criteria)?|who (?:can|may) apply|open to",
    "category": r"(?:call |event |opportunity )?type",
    "tags": r"categor(?:y|ies)|disciplines?|medi(?:a|um|ums)|tags?",
    "location": r"locations?|city(?:\s?[/,]\s?state)?|where|venue",
    "state": r"state",
    "posted": r"(?:date )?posted(?: on)?|published",
}  # fmt: skip
_PATTERNS: Final = {name: re.compile(words) for name, words in _LABELS.items()}
_TAGS: Final = re.compile(r"\s*[,;|•]\s*")
#: Before a label that stands in one line with others.
_BETWEEN: Final = re.compile(
    r"(?=\b(?:(?:Entry|Application|Submission) (?:Deadline|Fee)|(?<!Entry )(?<!Application )(?<!Submission )"
    r"(?:Deadline|Fee)|Eligibility|(?:Event|Exhibition|Show) Dates?|Location|Organi[sz]ation|Host)s?:)"
)
#: What is read of a page that has none of the parts one looked for.
_MAIN: Final = "main, article, [role=main], body"


def fields(texts: list[labels.Label]) -> dict[str, Any]:
    """What stands under known labels, by the names of `Found`."""
    return {name: value for name, one in _PATTERNS.items() if (value := next(labels.values(texts, one), None))}


def of_entry(entry: Selection, *names: str) -> dict[str, Any]:
    """What stands under labels in an entry of a listing; only these names."""
    lines = (plain.prose(entry.get()) or "").split("\n")
    parts = [part.strip() for line in lines for part in _BETWEEN.split(line[:2_000]) if part.strip()]
    said = fields(labels.labelled(None, parts))
    return {name: said[name] for name in names if name in said}


def read(page: Page, part: str = "", title: str = "h1, h2") -> Found:
    """What a page says of one call: in `part`, a CSS selector, or else in its main part."""
    node = (page.tree.css_first(part) if part else None) or page.tree.css_first(_MAIN)
    if node is None:
        return Found()
    lines = labels.lines(node)
    said = fields(labels.labelled(node, lines))
    head = node.css_first(title) or page.tree.css_first(title)
    name = " ".join(labels.lines(head)) if head is not None else None
    tags = tuple(filter(None, _TAGS.split(said.pop("tags", "")[:500])))
    kept = [line for line in lines if line.strip() and line != name]
    return Found(
        title=name or page.title,
        url=page.url,
        description="\n".join(kept) or None,
        image=plain.name(opengraph.read(page.tree).get("og:image")),
        tags=tags,
        **said,
    )
