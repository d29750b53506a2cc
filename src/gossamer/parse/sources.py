"""Where a rule finds its values: CSS, XPath, JSONPath, a regular expression, the page itself, a constant.

Each is read once and then searched with. Inside `each`, every one of them sees only that element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from gossamer.errors import ReadError
from gossamer.parse import clean, expressions, jsonpath, selection
from gossamer.parse.page import Page
from gossamer.parse.pipes import LONGEST, Origin

#: Matches of one selector that are taken.
MOST = jsonpath.MOST
#: Scripts of a page that are read as JSON.
_SCRIPTS = 100
#: Letters of a selector.
_LONGEST = 2_000
#: Elements that a parser drops unless they stand in a table.
_CELLS = frozenset({"tr", "td", "th", "tbody", "thead", "tfoot", "caption", "colgroup", "col"})
_UNSEEN = frozenset({"script", "style", "template", "noscript"})
_BREAKS = frozenset(
    {
        *("p", "div", "br", "li", "ul", "ol", "dl", "dt", "dd", "tr", "td", "th", "table", "hr", "pre", "option"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "header", "footer", "blockquote"),
    }
)
_PREFIX = re.compile(r"(css|xpath|json|regex|page):\s*")
_OWN = re.compile(r"::(?:text|attr\(\s*([^)\s]+)\s*\))\s*")


class Reading:
    """One page while rules read it: what several of them need is made once."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._scripts: dict[str, list[Any]] = {}

    @cached_property
    def origin(self) -> Origin:
        """What cleaners may want to know."""
        page = self.page
        return Origin(page.base_url if self.is_markup else page.url, page.response.started or None, self.language)

    @cached_property
    def language(self) -> str | None:
        """The language the page says it is in."""
        root = self.page.tree.css_first("html[lang]") if self.is_markup else None
        told = root.attributes.get("lang") if root else self.page.headers.get("content-language")
        match = re.match(r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?(?![\w])", (told or "").strip())
        return match[0] if match else None

    @cached_property
    def is_markup(self) -> bool:
        """Whether there is anything for CSS and XPath in it."""
        return self.page.is_html or self.page.kind in ("html", "xml", "feed")

    @cached_property
    def json(self) -> Any:
        """The body as JSON. Raises ReadError if it is none: a page that is broken off has not lost its items."""
        return self.page.json()

    @cached_property
    def lxml(self) -> Any:
        """The root for XPath; None if there is no markup."""
        try:
            if not self.page.is_html and self.page.kind in ("xml", "feed"):
                return self.page.xml
            return self.page.xpath("/*")._found[0] if self.is_markup else None
        except (ReadError, IndexError):
            return None

    def scripts(self, selector: str) -> list[Any]:
        """The JSON in the scripts that a selector matches."""
        if selector not in self._scripts:
            nodes = selection.select(self.page.tree, selector)[:_SCRIPTS] if self.is_markup else []
            texts = [node if isinstance(node, str) else node.text() for node in nodes]
            self._scripts[selector] = [found for text in texts if (found := jsonpath.inside(text)) is not None]
        return self._scripts[selector]


class Scope:
    """What a rule may look at: a page, or one match of `each`."""

    def __init__(self, reading: Reading, hit: Any = None) -> None:
        self.reading = reading
        #: None for the page; else an element of either tree, or a JSON value.
        self._hit = hit

    @property
    def is_page(self) -> bool:
        """Whether it is the whole page."""
        return self._hit is None

    @cached_property
    def element(self) -> Any:
        """The element for CSS; None if there is none."""
        hit = self._hit
        if hit is None:
            return self.reading.page.tree if self.reading.is_markup else None
        if isinstance(hit, str):
            return None if clean.is_deep(hit) else LexborHTMLParser(hit)
        if hasattr(hit, "itertext"):
            return _reparsed(clean_markup(hit), hit.tag)
        return hit if hasattr(hit, "text_content") else None

    @cached_property
    def lxml(self) -> Any:
        """The element for XPath; None if there is none."""
        hit = self._hit
        if hit is None:
            return self.reading.lxml
        if hasattr(hit, "itertext"):
            return hit
        markup = hit if isinstance(hit, str) else getattr(hit, "html", None)
        if not markup or not markup.strip():
            return None
        from lxml import etree, html

        try:
            return html.fragment_fromstring(markup, create_parent=isinstance(hit, str))
        except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError):
            return None

    @cached_property
    def data(self) -> Any:
        """The value for JSONPath; None if there is none."""
        return self.reading.json if self._hit is None else self._hit if isinstance(self._hit, dict | list) else None

    @cached_property
    def markup(self) -> str:
        """The text for regular expressions."""
        hit = self._hit
        if hit is None:
            return self.reading.page.text[:LONGEST]
        if isinstance(hit, str):
            return hit[:LONGEST]
        return clean_markup(hit)[:LONGEST] if _is_element(hit) else ""


def _reparsed(markup: str, tag: Any) -> Any:
    """An element of the other tree, which must find itself in the place it had."""
    tree = LexborHTMLParser(f"<table>{markup}</table>" if tag in _CELLS else markup)
    return tree.css_first(tag) if isinstance(tag, str) and tag.isalnum() else tree.body


class Source(Protocol):
    """Where values come from."""

    #: Whether it looks at what stands on the page.
    looks: bool
    #: Whether its values have types of their own, and are kept as they are.
    typed: bool

    def find(self, scope: Scope) -> list[Any]:
        """The matches in a scope: elements, texts or JSON values."""
        ...


class Css:
    """A CSS selector; with `::text` or `::attr(name)` at its end, texts: the element's own, where these stand alone."""

    looks = True
    typed = False

    def __init__(self, selector: str) -> None:
        try:
            if not _OWN.fullmatch(selector):
                selection.select(LexborHTMLParser(""), selector)
        except (ReadError, SelectolaxError, ValueError):
            raise ValueError(f"{selector!r} is not a CSS selector") from None
        self._selector = selector
        self._own = _OWN.fullmatch(selector)

    def find(self, scope: Scope) -> list[Any]:
        element = scope.element
        if element is None:
            return []
        if self._own is None:
            return selection.select(element, self._selector)[:MOST]
        node = element.root if isinstance(element, LexborHTMLParser) else element
        if node is None:
            return []
        if self._own[1]:
            value = node.attributes.get(self._own[1].strip("\"'"))
            return [] if value is None else [value]
        return [child.text_content for child in node.iter(include_text=True) if child.tag == "-text"]


class XPath:
    """An XPath expression. Inside `each`, one that begins with `//` begins at the element."""

    looks = True
    typed = False

    def __init__(self, expression: str) -> None:
        from lxml import etree

        try:
            self._anywhere = etree.XPath(expression, smart_strings=False)
            self._below = etree.XPath(f".{expression}", smart_strings=False) if expression.startswith("//") else None
        except (etree.XPathError, ValueError) as why:
            raise ValueError(f"{expression!r} is not an XPath expression: {why}") from None
        self._expression = expression

    def find(self, scope: Scope) -> list[Any]:
        from lxml import etree

        root = scope.lxml
        if root is None:
            return []
        try:
            found = (self._anywhere if scope.is_page or self._below is None else self._below)(root)
        except (etree.XPathError, ValueError) as why:
            raise ReadError(f"{self._expression!r} cannot be used on this page: {why}") from None
        if isinstance(found, list):
            return found[:MOST]
        return [f"{found:.15g}" if isinstance(found, float) else found]


class JsonPath:
    """A JSONPath, in a body that is JSON, in a match of `each`, or in the scripts a selector names."""

    looks = True
    typed = True

    def __init__(self, path: str, script: str | None = None) -> None:
        self._path = jsonpath.compiled(path)
        self._script = script

    def find(self, scope: Scope) -> list[Any]:
        if self._script is None:
            return jsonpath.matches(self._path, scope.data)
        found = [hit for data in scope.reading.scripts(self._script) for hit in jsonpath.matches(self._path, data)]
        return found[:MOST]


class Regex:
    """A regular expression on the page's source, or on the element's HTML: its group, or all it matches."""

    looks = True
    typed = False

    def __init__(self, pattern: str) -> None:
        self._pattern = expressions.compiled(pattern)

    def find(self, scope: Scope) -> list[Any]:
        group = 1 if self._pattern.groups else 0
        return [match[group] for match in expressions.found(self._pattern, scope.markup, MOST)]


class OfPage:
    """Something about the page, whichever element is looked at."""

    looks = False
    typed = True

    def __init__(self, name: str) -> None:
        if name not in OF_PAGE:
            raise ValueError(f"{name!r} is nothing a page has: write one of {', '.join(OF_PAGE)}")
        self._name = name

    def find(self, scope: Scope) -> list[Any]:
        value = OF_PAGE[self._name][0](scope.reading)
        return [] if value is None else [value]


#: What `page:` may name: how it is found, and what it is.
OF_PAGE: Mapping[str, tuple[Callable[[Reading], Any], str]] = {
    "url": (lambda reading: reading.page.url, "the URL that answered"),
    "title": (lambda reading: reading.page.title if reading.is_markup else None, "the text of `<title>`"),
    "language": (lambda reading: reading.language, "the language it says it is in"),
    "status": (lambda reading: reading.page.status, "the HTTP status"),
    "depth": (lambda reading: reading.page.depth, "links away from a start URL"),
    "fetched": (lambda reading: clean.moment(reading.page.response.started), "when it was fetched"),
}


class Constant:
    """The same value on every page."""

    looks = False
    typed = True

    def __init__(self, value: Any) -> None:
        self._value = value

    def find(self, scope: Scope) -> list[Any]:
        return [self._value]


def source(text: str, sort: str | None = None, script: str | None = None) -> Source:
    """The source that a text names: `css:`, `xpath:`, `json:`, `regex:` or `page:`, CSS unless told.

    Raises ValueError, saying what cannot be used.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"a selector of {len(text):,} letters cannot be used: write at most {_LONGEST:,}")
    if sort is None:
        match = _PREFIX.match(text)
        sort, text = (match[1], text[match.end() :]) if match else ("css", text)
    if sort == "json":
        return JsonPath(text, script)
    if script is not None:
        raise ValueError("script is for JSON: write a json path beside it")
    makers: dict[str, Callable[[str], Source]] = {"css": Css, "xpath": XPath, "regex": Regex, "page": OfPage}
    return makers[sort](text)


# --- from matches to texts ---


def clean_markup(hit: Any) -> str:
    """The HTML of an element of either tree."""
    markup: str = selection._xml(hit) if hasattr(hit, "itertext") else hit.html or ""
    return markup


def as_html(hit: Any) -> Any:
    """A match as HTML; what is no element as it is."""
    return clean_markup(hit) if _is_element(hit) else hit


def as_text(hit: Any) -> Any:
    """A match as a reader sees it; what is no element as it is."""
    if isinstance(hit, str) or not _is_element(hit):
        return hit
    if hasattr(hit, "itertext"):
        return " ".join((hit.text or "").split()) if len(hit) == 0 else clean.text(clean_markup(hit))
    return seen(hit)


def _is_element(hit: Any) -> bool:
    return hasattr(hit, "text_content") or hasattr(hit, "itertext")


def seen(node: Any) -> str:
    """What a reader sees of an element: words of two paragraphs stay two words, scripts are not seen."""
    if next(node.iter(), None) is None:
        return " ".join(node.text().split())
    parts: list[str] = []
    for each in node.traverse(include_text=True):
        before = each.prev
        if each.tag in _BREAKS or (before is not None and before.tag in _BREAKS):
            parts.append(" ")
        if each.tag == "-text" and each.parent.tag not in _UNSEEN:
            parts.append(each.text_content or "")
    return " ".join("".join(parts).split())
