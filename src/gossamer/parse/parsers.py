"""Which parsers there are, and which one is for a page."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

import msgspec

from gossamer.errors import ConfigError, ReadError
from gossamer.parse.page import Page

#: What a parser gives: structs or dicts, none where the page has nothing of its kind.
Records = Sequence[Any]
#: The name that means: whichever is for the page.
AUTO = "auto"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
#: A page that says it has more types than this is not asked about the others.
_MOST_TYPES = 200
#: Things of one depth, and how many depths, that are looked at: what lies deeper is not what a page is about.
_MOST_THINGS, _DEEPEST = 1000, 5
#: URLs are matched up to this length: patterns come from anywhere.
_LONGEST_URL = 2048
#: `og:type` (before its first dot) -> the schema.org type that is meant.
_OPENGRAPH = {"article": "Article", "product": "Product", "profile": "ProfilePage", "event": "Event"}


class Parser(msgspec.Struct, frozen=True):
    """A named function from a Page to records, and which pages it is for."""

    name: str
    #: Gives the records of a page; [] where it has none.
    read: Callable[[Page], Records]
    #: One line for a person.
    about: str = ""
    #: The schema.org types it is for.
    types: tuple[str, ...] = ()
    #: Regular expressions, searched in a page's URL.
    urls: tuple[str, ...] = ()
    #: What `page.kind` is of the pages it is for.
    kinds: tuple[str, ...] = ()
    #: Where one page gives several records: the fields that tell one from another. Left out: all of them.
    key: tuple[str, ...] = ()
    #: How its records are filed; left out: by the name of their class, and dicts by the name of the parser.
    kind: str = ""

    def matches(self, url: str) -> bool:
        """Whether one of its URL patterns matches."""
        return any(_pattern(text).search(url[:_LONGEST_URL]) for text in self.urls)

    def check(self) -> None:
        """Raises ConfigError, saying what is wrong with a parser that could not be used."""
        if not (isinstance(self.name, str) and _NAME.fullmatch(self.name)) or self.name == AUTO:
            raise ConfigError(f"a parser cannot be called {self.name!r}: write small letters, digits, dots and dashes")
        if not callable(self.read):
            raise ConfigError(f"the parser {self.name!r} has no function that reads a page")
        for field in ("types", "urls", "kinds", "key"):
            given = getattr(self, field)
            if not isinstance(given, tuple) or not all(isinstance(text, str) for text in given):
                raise ConfigError(f"the {field} of the parser {self.name!r} are {given!r:.80}: write a tuple of texts")
        for text in self.urls:
            try:
                _pattern(text)
            except re.error as why:
                raise ConfigError(f"the parser {self.name!r} has {text!r} as URL pattern: {why}") from None


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _lazily(module: str, function: str = "read") -> Callable[[Page], Records]:
    """A function of a module of ours that is imported when it is first called."""

    def read(page: Page) -> Records:
        found: Records = getattr(importlib.import_module(f"gossamer.parse.{module}"), function)(page)
        return found

    return read


#: In the order in which they are asked, where a page says several things about itself.
_ALL = (
    Parser("job", _lazily("job"), "jobs: title, organisation, location, salary, deadline", types=("JobPosting",)),
    Parser("product", _lazily("product"), "products: name, price, availability, brand, rating", types=("Product",)),
    Parser("event", _lazily("event"), "events: title, location, starts, ends, price", types=("Event",)),
    Parser(
        "opportunity",
        _lazily("event", "read_opportunities"),
        "open calls, grants, prizes: title, organisation, deadline, fee",
        types=("Grant", "MonetaryGrant"),
    ),
    Parser(
        "social",
        _lazily("social"),
        "profiles and posts, and the card that a page gives to be shared",
        types=("ProfilePage", "SocialMediaPosting", "DiscussionForumPosting"),
    ),
    Parser(
        "article",
        _lazily("article"),
        "articles: title, author, published, body, image, tags",
        types=("Article", "BlogPosting"),
    ),
    Parser("feeds", _lazily("feeds"), "RSS, Atom and JSON feeds, entry by entry", kinds=("feed",), key=("id",)),
    Parser("generic", _lazily("generic"), "any page: title, headings, links, main text", kind="page"),
    Parser("structured", _lazily("structured"), "all that JSON-LD, microdata, RDFa and OpenGraph say"),
    Parser("tables", _lazily("tables"), "every table, as rows", key=("url", "n")),
)
#: The parsers that come with Gossamer, by name.
BUILTIN: Mapping[str, Parser] = MappingProxyType({parser.name: parser for parser in _ALL})
#: The one for a page that no other is for.
GENERIC = BUILTIN["generic"]


def as_parser(given: object, name: str) -> Parser:
    """A Parser, or a plain function made one. Raises ConfigError for what is neither."""
    if isinstance(given, Parser):
        made = given
    elif callable(given) and not isinstance(given, type):
        about = (inspect.getdoc(given) or "").partition("\n")[0]
        made = Parser(name, given, about)
    else:
        raise ConfigError(f"{given!r:.80} is no parser: write a function of a page, or a gossamer.Parser")
    made.check()
    return made


# -- reading ---------------------------------------------------------------------------------------------------


def read(parser: Parser, page: Page) -> list[Any]:
    """The records that a parser gives for a page. Raises ReadError for what is none."""
    given: Any = parser.read(page)
    if given is None:
        return []
    if isinstance(given, msgspec.Struct | Mapping):
        return [given]
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ReadError(f"the parser {parser.name!r} gave {given!r:.80}: it should give a list of records")
    return list(given)


# -- choosing --------------------------------------------------------------------------------------------------


def choose(page: Page, parsers: Iterable[Parser]) -> Parser:
    """The parser for a page: by its URL, by what it says it is about, by what it is; else the generic one.

    Of two that are for it equally, the one that does not come with Gossamer counts.
    """
    known = sorted(parsers, key=lambda parser: parser is BUILTIN.get(parser.name))
    for parser in known:
        if parser.matches(page.url):
            return parser
    if page.is_html and (said := _by_type(page, known)):
        return said
    for parser in known:
        if page.kind in parser.kinds or ("feed" in parser.kinds and _is_json_feed(page)):
            return parser
    return GENERIC


def _by_type(page: Page, parsers: Sequence[Parser]) -> Parser | None:
    """The parser for what a page says it is about: its outermost things count, and of those what `og:type` says."""
    from gossamer.parse import structured

    said = _by_opengraph(page, parsers)
    for types in islice(_types_by_depth(structured.things(page)), _DEEPEST):
        fitting = [parser for name in types if (parser := _narrowest(name, parsers)) is not None]
        if fitting:
            return said if said in fitting else min(fitting, key=parsers.index)
    return said


def _types_by_depth(things: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """The types that things have, each once: first those of the outermost, then of what is in them, and so on."""
    level: list[Any] = list(things[:_MOST_THINGS])
    while level:
        types: dict[str, None] = {}
        deeper: list[Any] = []
        for thing in level:
            given = thing.get("@type")
            types.update(
                dict.fromkeys(n for n in (given if isinstance(given, list) else [given]) if isinstance(n, str))
            )
            for value in thing.values():
                deeper += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
        yield list(types)[:_MOST_TYPES]
        level = deeper[:_MOST_THINGS]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _narrowest(name: str, parsers: Sequence[Parser]) -> Parser | None:
    """The parser for a type: a BlogPosting is an Article and a SocialMediaPosting, and who names it itself has it."""
    from gossamer.parse import schemaorg

    fitting = [
        (len(kinds), n)
        for n, parser in enumerate(parsers)
        for wanted in parser.types
        if name in (kinds := schemaorg.subtypes(wanted))
    ]
    return parsers[min(fitting)[1]] if fitting else None


def _by_opengraph(page: Page, parsers: Sequence[Parser]) -> Parser | None:
    """The parser for what a page says as its `og:type`: only the types that sites mean when they say them."""
    node = page.tree.css_first('meta[property="og:type" i]')
    said = ((node.attributes.get("content") or "") if node else "").strip().lower().removeprefix("og:")
    wanted = _OPENGRAPH.get(said.partition(".")[0])
    return _narrowest(wanted, parsers) if wanted else None


def _is_json_feed(page: Page) -> bool:
    return page.kind == "json" and b"jsonfeed.org/version" in page.body[:4096].replace(b"\\/", b"/")
