"""What rules are made of: fields, records, links; each reads its part of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from gossamer import urls
from gossamer.parse import sources
from gossamer.parse.pipes import Pipe
from gossamer.parse.records import Record
from gossamer.parse.sources import Reading, Scope, Source
from gossamer.values import Lacking, Request

#: Where values come from, with what cleans the matches; None: they are kept as they are.
Try = tuple[Source, Pipe | None]


class PageRules:
    """Rules for one kind of page."""

    def __init__(self, items: tuple[Items, ...], follow: tuple[Follow, ...]) -> None:
        self.items = items
        self.follow = follow


class Items:
    """Rules for one kind of record."""

    def __init__(self, each: Source | None, shape: Shape, kind: str | None, key: tuple[str, ...] | None) -> None:
        self._each = each
        self.shape = shape
        self.kind = kind
        self.key = key

    def read(self, reading: Reading) -> Iterator[dict[str, Any] | Lacking]:
        """The records of one page."""
        whole = Scope(reading)
        hits = self._each.find(whole) if self._each is not None else ()
        for scope in [whole] if self._each is None else [Scope(reading, hit) for hit in hits if hit is not None]:
            record, missing = self.shape.read(scope)
            if missing:
                yield Lacking(record, tuple(missing), kind=self.kind or "")
            elif self.shape.has_found(record):
                yield Record(record, self.kind, self.key) if self.kind or self.key else record


class Shape:
    """The fields of a record."""

    def __init__(self, fields: dict[str, Field]) -> None:
        self.fields = fields
        #: Fields that tell nothing of whether there is a record: they are there on every page.
        self._always = {name for name, field in fields.items() if not field.looks}

    def read(self, scope: Scope) -> tuple[dict[str, Any], list[str]]:
        """A record with all its fields, and the paths of required ones that are not there."""
        record: dict[str, Any] = {}
        missing: list[str] = []
        for name, field in self.fields.items():
            value, lacks = field.read(scope)
            record[name] = value
            missing += [f"{name}{path}" for path in lacks]
            if field.required and (value is None or value == []):
                missing.append(name)
        return record, missing

    def has_found(self, record: dict[str, Any]) -> bool:
        """Whether the page gave any of it, as far as any of it depends on what stands there."""
        return len(self._always) == len(self.fields) or any(
            value is not None and value != [] and value != self.fields[name].default
            for name, value in record.items()
            if name not in self._always
        )


class Field:
    """One field: where it stands, what is made of it."""

    def __init__(
        self,
        tries: tuple[Try, ...],
        *,
        many: bool = False,
        required: bool = False,
        default: Any = None,
        shape: Shape | None = None,
    ) -> None:
        #: Sources in the order they are tried, with what cleans their matches; None: they are kept as they are.
        self._tries = tries
        self._many = many
        self._shape = shape
        self.required = required
        self.default = default
        self.looks = any(source.looks for source, _ in tries) or shape is not None

    def read(self, scope: Scope) -> tuple[Any, list[str]]:
        """The value, and the paths of what it lacks inside."""
        if self._shape is not None:
            value, lacks = self._records(scope, self._shape)
        else:
            value, lacks = self._value(scope), []
        empty = value is None or value == []
        return (self.default if empty and self.default is not None else value), lacks

    def _value(self, scope: Scope) -> Any:
        for source, pipe in self._tries:
            hits = source.find(scope)
            if pipe is None:  # JSON, which has types of its own
                if self._many and len(hits) == 1 and isinstance(hits[0], list):
                    hits = hits[0]
                found = [hit for hit in hits if hit is not None and hit != ""]
            else:
                found = self._cleaned(hits, pipe, scope)
            if found:
                return found if self._many else found[0]
        return [] if self._many else None

    def _cleaned(self, hits: list[Any], pipe: Pipe, scope: Scope) -> list[Any]:
        seen = sources.as_html if pipe.html else sources.as_text
        if pipe.one_by_one and not self._many:
            for hit in hits:
                found = pipe.run([seen(hit)], scope.reading.origin, many=False)
                if found:
                    return found
            return []
        if self._many and len(hits) == 1 and isinstance(hits[0], list):
            hits = hits[0]
        return pipe.run([seen(hit) for hit in hits], scope.reading.origin, many=self._many)

    def _records(self, scope: Scope, shape: Shape) -> tuple[Any, list[str]]:
        scopes = [scope]
        for source, _ in self._tries:
            scopes = [Scope(scope.reading, hit) for hit in source.find(scope) if hit is not None]
            if scopes:
                break
        found: list[dict[str, Any]] = []
        lacks: list[str] = []
        for number, each in enumerate(scopes if self._many else scopes[:1]):
            record, missing = shape.read(each)
            if missing or shape.has_found(record):
                found.append(record)
            lacks += [f"[{number}].{path}" if self._many else f".{path}" for path in missing]
        return (found if self._many else found[0] if found else None), lacks


class Follow:
    """Links to follow, and to what kind of page they lead."""

    def __init__(self, tries: tuple[Try, ...], to: str, url: str | None) -> None:
        self._tries = tries
        self._to = to
        self._url = url

    def requests(self, reading: Reading) -> list[Request]:
        """Requests for what the links of one page point to, each once; of elements, href or src counts."""
        scope, page = Scope(reading), reading.page
        hrefs: list[str] = []
        for source, pipe in self._tries:
            hits = [_href(hit) for hit in source.find(scope)]
            found = pipe.run(hits, reading.origin, many=True) if pipe else hits
            hrefs = [self._address(value) for value in found if type(value) in (str, int) and value != ""]
            if hrefs:
                break
        targets = dict.fromkeys(urls.resolve(href, reading.origin.base) for href in hrefs)
        return [Request(url, to=self._to, session=page.request.session) for url in targets if url]

    def _address(self, found: str | int) -> str:
        return str(found) if self._url is None else self._url.replace("{}", quote(str(found), safe=""))


def _href(hit: Any) -> Any:
    attributes: Any = getattr(hit, "attributes", None) or getattr(hit, "attrib", None)
    if attributes is None:
        return hit
    return attributes.get("href") if attributes.get("href") is not None else attributes.get("src")
