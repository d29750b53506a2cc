"""Markdown as tests read it: fenced blocks, the remark above them, links and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Everything a reader is shown.
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/**/*.md"))]

_BLOCK = re.compile(
    r"(?:^<!--\s*(?P<remark>[^\n]*?)\s*-->\n+)?^```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    #: "quickstart.md:42", to find it again.
    place: str
    language: str
    text: str
    #: What the HTML comment right above it says: "file: quotes.py", "test: skip because ...".
    remark: str

    def told(self, name: str) -> str | None:
        """What the remark says after `name:`, else None."""
        found, colon, value = self.remark.partition(":")
        return value.strip() if colon and found == name else None


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    return [
        Block(
            place=f"{page.name}:{text.count(chr(10), 0, match.start('text')) + 1}",
            language=match["language"],
            text=match["text"],
            remark=match["remark"] or "",
        )
        for match in _BLOCK.finditer(text)
    ]


def links(page: Path) -> list[str]:
    """Where the links of a page lead, code left out."""
    return _LINK.findall(_FENCED.sub("", page.read_text("utf-8")))


def anchors(page: Path) -> set[str]:
    """What `page.md#anchor` may name: its headings, as GitHub writes them."""
    headings = _HEADING.findall(_FENCED.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
