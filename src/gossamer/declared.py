"""What a scraper declares instead of writing `parse`: a parser, rules, and which links to follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gossamer import plugins, urls
from gossamer.errors import ConfigError
from gossamer.parse import parsers
from gossamer.parse.page import Page
from gossamer.parse.parsers import AUTO, BUILTIN, Parser
from gossamer.parse.records import Record
from gossamer.pipeline import KIND, item_of
from gossamer.values import Lacking


class Declared:
    """Reads pages by a parser, by rules, or by both, and follows links."""

    def __init__(
        self,
        *,
        where: str,
        parser: Any = None,
        rules: Any = None,
        follow: Any = (),
        key: str | tuple[str, ...] | None = None,
        kind: str = KIND,
    ) -> None:
        """`parser` is a name, "auto", a Parser or a function. Raises ConfigError, saying `where`, for bad ones."""
        self._parser = _parser(parser, where)
        #: Those to choose from, for "auto".
        self._all = list(plugins.parsers().values()) if parser == AUTO else []
        self._rules = _rules(rules, where)
        self._follow = _selectors(follow, where)
        self._key = key
        self._kind = kind

    def reads(self, handler: str) -> bool:
        """Whether the rules know of a kind of page that a Request's `to` names."""
        return self._rules is not None and handler in self._rules.pages

    def read(self, page: Page) -> Iterator[Any]:
        """The records of a page, and Requests for the links that are to be followed."""
        if self._rules is not None:
            yield from map(self._known, self._rules.read(page))
            yield from self._rules.follow(page)
        yield from self._parsed(page)
        if page.is_html:
            for selector in self._follow:
                yield from page.follow(page.css(selector))

    def _known(self, record: Any) -> Any:
        """What rules gave; an item, where they say of what kind it is, or which fields are its key."""
        if not isinstance(record, Record):
            return record
        key = record.key or ((self._key,) if isinstance(self._key, str) else self._key)
        kind = record.kind or self._kind
        missing = tuple(name for name in key or () if record.get(name) is None)
        return Lacking(dict(record), missing, kind, "key") if missing else item_of(dict(record), key, kind)

    def _parsed(self, page: Page) -> Iterator[Any]:
        if self._parser is not None:
            yield from self._records(self._parser, page)
        elif self._all:
            # A page may say that it is an article, and be none.
            found = list(self._records(parsers.choose(page, self._all), page))
            yield from found or self._records(parsers.GENERIC, page)

    def _records(self, parser: Parser, page: Page) -> Iterator[Any]:
        """What a parser gives for a page; as items with a key of their own, where no other is named."""
        found = parsers.read(parser, page)
        if self._key is not None:
            yield from found
            return
        # What a page is about is known by its address, however it changes; so is each of several with one of its own.
        addresses = [_address(record, page) for record in found] if not parser.key else []
        apart = len(set(addresses)) == len(found)
        for n, record in enumerate(found):
            kind = self._kind if self._kind != KIND else parser.kind or (parser.name if type(record) is dict else KIND)
            named = bool(parser.key) and all(_field(record, name) is not None for name in parser.key)
            item = item_of(record, parser.key if named else None, kind)
            yield msgspec.structs.replace(item, key=addresses[n]) if addresses and apart else item


def of(scraper: Any) -> Declared | None:
    """How a scraper class wants pages read; None if it does not say. Raises ConfigError for what cannot be used."""
    if scraper.parser is None and scraper.rules is None:
        return None
    return Declared(
        where=f"{scraper.__name__}.",
        parser=scraper.parser,
        rules=scraper.rules,
        follow=scraper.follow,
        key=scraper.key,
        kind=scraper.kind,
    )


def check(scraper: Any) -> None:
    """Raises ConfigError for a parser, rules or links of a class that cannot be used. Loads no package for it."""
    where, parser = f"{scraper.__name__}.", scraper.parser
    if isinstance(parser, str):
        if parser not in BUILTIN and parser != AUTO and parser not in plugins.names():
            raise ConfigError(f"{where}parser: {plugins.unknown(parser)}")
    else:
        _parser(parser, where)
    _rules(scraper.rules, where)
    _selectors(scraper.follow, where)


def _address(record: Any, page: Page) -> str:
    """The URL a record goes by: its own, if that is on the site of the page, for a page may claim any."""
    own = _field(record, "url")
    ours = urls.resolve(own, page.base_url) if isinstance(own, str) else None
    return ours if ours and urls.host(ours) == urls.host(page.url) else page.url


def _field(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)


def _parser(given: Any, where: str) -> Parser | None:
    if given is None or given == AUTO:
        return None
    try:
        return plugins.parser(given) if isinstance(given, str) else parsers.as_parser(given, "parser")
    except ConfigError as why:
        raise ConfigError(f"{where}parser: {why}") from None


def _rules(given: Any, where: str) -> Any:
    """Rules ready to read with."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where}rules = {given!r:.80} cannot be used: write a dict of fields")
    from gossamer.parse.rules import Rules

    return Rules.of(given, where=f"{where}rules")


def _selectors(given: Any, where: str) -> tuple[str, ...]:
    selectors = (given,) if isinstance(given, str) else given
    if not isinstance(selectors, tuple | list) or not all(isinstance(each, str) and each for each in selectors):
        raise ConfigError(f"{where}follow = {given!r:.80} cannot be used: write CSS selectors of links")
    return tuple(selectors)
