"""The way to the next page of a listing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gossamer import urls
from gossamer.parse.outline import best_class, words
from gossamer.parse.page import Page

__all__ = ["next_links"]

#: Links looked at.
MOST = 3000
#: Links that a selector of the next page may match, above and below a listing; and one of the numbers of pages.
FEW, MANY = 4, 60
_NEXT = re.compile(
    r"(?:next|older|weiter|n[aä]chste|suivant|siguiente|pr[oó]xim[ao]|successiv[ao]|volgende|n[aä]sta|dalej|další|"
    r"далее|следующая|次へ|次|下一页|下一頁|다음)(?:\s+(?:page|posts?|results?|seite|entries|»|›|→|>))*\W*|[›»→>]|>>",
    re.IGNORECASE,
)
_PAGER = frozenset({"pager", "pagination", "paginator", "paging", "pages", "page"})


def next_links(page: Page) -> str | None:
    """A selector of the links that lead on through a listing; None if there are none.

    >>> next_links(Page.of('<li class="next"><a href="/2">Next</a></li>'))
    'li.next a'
    """
    for selector in ("a[rel~=next]", "link[rel~=next]"):
        if any(_leads_on(page, node) for node in page.tree.css(selector)[:MOST]):
            return selector
    for selector, most in _candidates(page):
        found = page.tree.css(selector)
        if len(found) <= most and any(_leads_on(page, node) for node in found):
            return selector
    return None


def _candidates(page: Page) -> Iterator[tuple[str, int]]:
    """Selectors, and how many links they may match: what matches more is another thing that looks alike."""
    anchors = page.tree.css("a[href]")[:MOST]
    for node in anchors:
        if _NEXT.fullmatch(" ".join(node.text()[:80].split())) or _says_next(node):
            yield from ((selector, FEW) for selector in _selectors(node))
            if (around := _pager(node)) is not None:
                yield f"{around} a", MANY
    numbers = [node for node in anchors if re.fullmatch(r"\s*\d{1,4}\s*", node.text()[:20])]
    for node in numbers if len(numbers) > 1 else ():
        if (around := _pager(node)) is not None:
            yield f"{around} a", MANY


def _says_next(node: Any) -> bool:
    for name in ("class", "aria-label", "title"):
        if "next" in words(node.attributes.get(name) or ""):
            return True
    return node.parent is not None and "next" in words(node.parent.attributes.get("class") or "")


def _selectors(node: Any) -> Iterator[str]:
    """Ways to find a link, the surest first."""
    parent = node.parent
    for each, end in ((node, ""), (parent, " a")) if parent is not None else ((node, ""),):
        named = next((name for name in _classes(each) if "next" in words(name)), None)
        if named:
            yield f"{each.tag}.{named}{end}"
    for name in ("aria-label", "title"):
        label = node.attributes.get(name) or ""
        if "next" in words(label) and re.fullmatch(r"[\w .-]{1,60}", label):
            yield f'a[{name}="{label}"]'
    own = best_class(tuple(_classes(node)))
    if own:
        yield f"a.{own}"


def _pager(node: Any) -> str | None:
    """The part of a page that holds links to its other parts, as a selector."""
    for _ in range(5):
        node = node.parent
        if node is None or node.tag in ("body", "html"):
            return None
        for name in _classes(node):
            if not _PAGER.isdisjoint(words(name)):
                return f"{node.tag}.{name}"
    return None


def _classes(node: Any) -> list[str]:
    given = (node.attributes.get("class") or "")[:500].split()
    return [name for name in given if re.fullmatch(r"-?[A-Za-z_][\w-]*", name)]


def _leads_on(page: Page, node: Any) -> bool:
    """Whether a link goes to another page of the same site."""
    href = (node.attributes.get("href") or "").strip()
    target = urls.resolve(href, page.base_url) if href and not href.startswith("#") else None
    return target is not None and urls.host(target) == urls.host(page.url) and target != page.url
