"""Extraction as data: fields, and where on a page they stand.

    Rules.of({"each": ".quote", "fields": {"text": ".text", "price": ".price | money"}}).read(page)

Everything is read once, when the rules are made: what cannot be used is refused then, with its exact place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gossamer.errors import ConfigError
from gossamer.parse import pipes, sources
from gossamer.parse.fields import Field, Follow, Items, PageRules, Shape, Try
from gossamer.parse.page import Page
from gossamer.parse.pipes import TYPES, Pipe
from gossamer.parse.sources import Reading, Source
from gossamer.parse.written import Table, shown
from gossamer.values import PARSE, Lacking, Request

#: How a kind may be called.
KIND = re.compile(r"[\w.-]{1,64}")
#: Records inside of records.
DEEPEST = 8
#: Fields of one set of rules, all records counted.
MOST_FIELDS = 2_000

#: The keys of each table, and what they mean.
ITEM_KEYS: Mapping[str, str] = {
    "each": "the elements that are one record each; left out, the page is one record",
    "fields": "the fields of a record: name and rule",
    "kind": "the kind of these records",
    "key": "the field, or list of fields, that tells one record from another",
    "script": "for `json`: a CSS selector of the scripts whose JSON is searched, instead of the body",
}
PAGE_KEYS: Mapping[str, str] = {
    **ITEM_KEYS,
    "items": "several kinds of records on one page: a list of tables with the keys above",
    "follow": "the links to follow: a selector, a table, or a list of these",
}
RULES_KEYS: Mapping[str, str] = {**PAGE_KEYS, "pages": "other kinds of pages, by name, which `to` sends links to"}
SOURCES: Mapping[str, str] = {
    "css": "a CSS selector; `::text` and `::attr(name)` at its end give texts",
    "xpath": "an XPath expression",
    "json": "a JSONPath, in a body that is JSON",
    "regex": "a regular expression on the HTML: its first group, or all of it",
    "page": "something about the page: " + ", ".join(f"`{name}`" for name in sources.OF_PAGE),
    "value": "always this value",
    "from": "a text as it stands for a whole field, prefix and cleaners included, or a list of these",
}
FIELD_KEYS: Mapping[str, str] = {
    **SOURCES,
    "script": ITEM_KEYS["script"],
    "clean": "cleaners, with ` | ` between them",
    "type": "what the value is to be: " + ", ".join(f"`{name}`" for name in TYPES),
    "list": "true: all values, as a list; else the first one",
    "required": "true: a record without it is kept apart, with the reason",
    "default": "the value where nothing was found",
    "fields": "a record inside this one: its fields; the source says where it stands",
    "each": "with `fields`: a list of records, one for each match",
}
FOLLOW_KEYS: Mapping[str, str] = {
    **{name: about for name, about in SOURCES.items() if name not in ("page", "value")},
    "script": ITEM_KEYS["script"],
    "clean": FIELD_KEYS["clean"],
    "to": "the kind of page it leads to: a name below `pages`, or `parse`; left out, the same kind of page",
    "url": "a pattern that makes the URL: `{}` in it stands for what was found",
}


class Rules:
    """Rules for the pages of one scraper."""

    def __init__(self, pages: Mapping[str, PageRules]) -> None:
        #: By the name of their handler; "parse" is what a run begins with.
        self.pages = pages

    @classmethod
    def of(cls, given: Mapping[str, Any], where: str = "rules") -> Rules:
        """Rules from data. Raises ConfigError, saying what cannot be used, and where in it."""
        table = Table(given, where, what="a table of rules")
        table.only(RULES_KEYS, "rules")
        maker = _Maker(where)
        others = Table(table.given.get("pages", {}), where, "pages", "tables of rules, by name")
        maker.names = frozenset(others.given)
        for name in others.given:
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name) or name == PARSE:
                others.refuse("cannot be used as the name of a kind of page: write small letters", name)
        pages = {PARSE: maker.page(table, PARSE)}
        for name, rules in others.given.items():
            page = Table(rules, where, f"pages.{name}", "a table of rules")
            page.only(PAGE_KEYS, "the rules of a page")
            pages[name] = maker.page(page, name)
        return cls(pages)

    def read(self, page: Page) -> list[dict[str, Any] | Lacking]:
        """The records of a page, in order; those that lack a required field as Lacking."""
        reading = Reading(page)
        return [record for each in self._of(page).items for record in each.read(reading)]

    def follow(self, page: Page) -> list[Request]:
        """Requests for the links that are to be followed."""
        reading = Reading(page)
        return [request for each in self._of(page).follow for request in each.requests(reading)]

    def _of(self, page: Page) -> PageRules:
        return self.pages.get(page.request.handler) or self.pages[PARSE]


# --- from data to rules ---


class _Maker:
    """Makes rules of what somebody wrote."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.names: frozenset[str] = frozenset()
        self._fields = 0

    def page(self, table: Table, name: str) -> PageRules:
        """The rules of one kind of page."""
        items: list[Items] = []
        if "fields" in table:
            items.append(self.items(table))
        elif stray := next((key for key in ITEM_KEYS if key in table), None):
            table.refuse(f"{stray} has no fields beside it: write a table of fields", stray)
        for number, given in enumerate(_listed(table, "items")):
            each = Table(given, self.where, f"{table.place('items')}[{number}]", "a table with fields")
            each.only(ITEM_KEYS, "items")
            items.append(self.items(each))
        several = isinstance(table.given.get("follow"), list | tuple)
        follow = tuple(
            self.follow(given, table, f"[{number}]" if several else "", name)
            for number, given in enumerate(_listed(table, "follow"))
        )
        return PageRules(tuple(items), follow)

    def items(self, table: Table) -> Items:
        """The rules of one kind of record."""
        script = _script(table)
        each = table.text("each")
        if script is not None and not (each or "").startswith("json:"):
            table.refuse("is for JSON: write each = 'json:...' beside it", "script")
        source = None if each is None else _made(table, "each", lambda: sources.source(each, script=script))
        shape = self.shape(table, 1)
        kind, key = table.text("kind"), table.texts("key") or None
        if kind is not None and not KIND.fullmatch(kind):
            table.refuse(f"{shown(kind)} cannot be used: write one word", "kind")
        for name in key or ():
            if name not in shape.fields:
                table.refuse(f"{shown(name)} is none of the fields: {', '.join(shape.fields)}", "key")
        return Items(source, shape, kind, key)

    def shape(self, table: Table, depth: int) -> Shape:
        """The fields of a record."""
        fields = Table(table.given.get("fields"), self.where, table.place("fields"), "a table of fields")
        if not fields.given:
            fields.refuse("there are no fields in it: write a name and a selector, such as title = 'h1'")
        if depth > DEEPEST:
            fields.refuse(f"records stand {depth} deep in each other: {DEEPEST} is the deepest")
        self._fields += len(fields.given)
        if self._fields > MOST_FIELDS:
            fields.refuse(f"there are more than {MOST_FIELDS:,} fields: write fewer")
        return Shape({name: self.field(name, given, fields, depth) for name, given in fields.given.items()})

    def field(self, name: str, given: Any, within: Table, depth: int) -> Field:
        """One field, from a text, a list of texts, or a table."""
        if not name.strip() or len(name) > 100 or not name.isprintable():
            within.refuse(f"the name {shown(name)} cannot be used: write one short line")
        if isinstance(given, str | list | tuple):
            return Field(_tries(Table({"from": given}, self.where, within.place(name)), "from", None, [], alone=True))
        table = Table(given, self.where, within.place(name), "a selector, a list of selectors, or a table")
        hint = "write a record inside a record as { fields = { ... } }"
        table.only(FIELD_KEYS, "a field", "" if "fields" in table else hint)
        options: dict[str, Any] = {"required": table.flag("required"), "default": table.data("default")}
        if "fields" in table:
            return self._nested(table, options, depth)
        if "each" in table:
            table.refuse("has no fields beside it: write css and list = true", "each")
        tries = _tries(table, _one_source(table), _script(table), _cleaners(table))
        return Field(tries, many=table.flag("list"), **options)

    def _nested(self, table: Table, options: dict[str, Any], depth: int) -> Field:
        for key in ("clean", "type", "regex", "page", "value", "from"):
            if key in table:
                table.refuse("stands beside fields: a record is found by each, css, xpath or json", key)
        shape = self.shape(table, depth + 1)
        script = _script(table)
        sort = _one_source(table, optional=True)
        if "each" in table:
            if sort:
                table.refuse(f"stands beside each: each = {sort!r} says the same", sort)
            text = table.text("each") or ""
            found = _made(table, "each", lambda: sources.source(text, script=script))
            return Field(((found, None),), many=True, shape=shape, **options)
        tries = _tries(table, sort, script, []) if sort else ()
        return Field(tries, many=table.flag("list"), shape=shape, **options)

    def follow(self, given: Any, within: Table, number: str, here: str) -> Follow:
        """Links to follow; unless told, they lead to the kind of page they stand `here` on."""
        path = within.place("follow") + number
        if isinstance(given, str):
            written = Table({"from": given}, self.where, path)
            return Follow(_tries(written, "from", None, [], alone=True, as_is=True), here, None)
        table = Table(given, self.where, path, "a selector, or a table")
        table.only(FOLLOW_KEYS, "follow")
        tries = _tries(table, _one_source(table), _script(table), _cleaners(table), as_is=True)
        to, url = table.text("to"), table.text("url")
        if to is not None and to not in (*self.names, PARSE):
            there = ", ".join(sorted(self.names)) or "none"
            table.refuse(f"{shown(to)} is no kind of page: below pages is {there}", "to")
        if url is not None and url.count("{}") != 1:
            table.refuse(f"{shown(url)} cannot be used: write a URL with one {{}} for what was found", "url")
        return Follow(tries, to or here, url)


def _listed(table: Table, key: str) -> list[Any]:
    """The entries of a key that holds one, or a list of them."""
    given = table.given.get(key)
    if given is None:
        if key in table:
            table.refuse("is empty: leave it out", key)
        return []
    if isinstance(given, list | tuple):
        return list(given)
    return [given]


def _script(table: Table) -> str | None:
    selector = table.text("script")
    if selector is not None:
        _made(table, "script", lambda: sources.Css(selector))
    return selector


def _one_source(table: Table, *, optional: bool = False) -> str:
    """The key that says where a field stands; there must be one of them."""
    there = [key for key in SOURCES if key in table]
    if len(there) > 1:
        table.refuse(f"has both {there[0]} and {there[1]}: write one, or from = [...] to try one after the other")
    if not there and not optional:
        table.refuse(f"says nowhere where it stands: write one of {', '.join(SOURCES)}")
    return there[0] if there else ""


def _cleaners(table: Table) -> list[str]:
    """The cleaners that a table names, its type last."""
    text, sort = table.text("clean"), table.text("type")
    calls = [] if text is None else _made(table, "clean", lambda: pipes.calls_of(text))
    if sort is not None and sort not in TYPES:
        table.refuse(f"{shown(sort)} is no type: write one of {', '.join(TYPES)}", "type")
    if sort == "html":
        return [sort, *calls]
    return [*calls, sort] if sort else calls


def _tries(
    table: Table, key: str, script: str | None, calls: list[str], *, alone: bool = False, as_is: bool = False
) -> tuple[Try, ...]:
    """The sources of one key, in the order they are tried, with their pipes.

    `alone`: the key was not written by anyone, and the complaint names the field. `as_is`: texts are not tidied.
    """
    name = "" if alone else key
    if key == "value":
        return ((sources.Constant(table.data("value")), _pipe(table, "value", calls, tidy=False)),)
    tries: list[Try] = []
    try:
        texts = table.texts(key)
    except ConfigError:
        if not alone:
            raise
        table.refuse(f"{shown(table.given[key])} cannot be used: write a selector, a list of selectors, or a table")
    for text in texts:
        selector, own = pipes.cut(text) if key == "from" else (text, [])
        found = _made(table, name, partial(_source, selector, key, script))
        tries.append((found, _pipe(table, name, [*own, *calls], tidy=not (found.typed or as_is))))
    return tuple(tries)


def _source(text: str, key: str, script: str | None) -> Source:
    return sources.source(text, None if key == "from" else key, script)


def _pipe(table: Table, key: str, calls: list[str], *, tidy: bool) -> Pipe | None:
    """The pipe of some calls; without any, one that tidies texts, or None for values that are kept as they are."""
    if not calls and not tidy:
        return None
    made: Pipe = _made(table, key, lambda: pipes.pipe(calls or ["strip"]))
    return made


def _made(table: Table, key: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except ValueError as why:
        table.refuse(str(why), key)
