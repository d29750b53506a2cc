"""The address of a job board, taken apart."""

from __future__ import annotations

import re
from typing import NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlsplit

#: What stands before the name of a board in paths of many systems: a language.
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][A-Za-z]{2,4})?")


class Address(NamedTuple):
    """A URL's host in small letters, the parts of its path, and its query."""

    host: str
    parts: tuple[str, ...]
    query: dict[str, str]

    @classmethod
    def of(cls, url: str) -> Self | None:
        """None for what is no URL of the web."""
        text = url.strip()[:2_000]
        try:
            split = urlsplit(text if "://" in text else f"https://{text}")
            host = (split.hostname or "").lower()
            query = dict(parse_qsl(split.query, max_num_fields=100))
        except ValueError:
            return None
        if split.scheme not in ("http", "https") or "." not in host:
            return None
        parts = tuple(unquote(part) for part in split.path.split("/") if part)[:20]
        return cls(host, parts, query)

    def below(self, domain: str) -> str | None:
        """What stands before a domain in the host: "acme" for acme.recruitee.com; None if nothing does."""
        name = self.host.removesuffix(f".{domain}")
        return name if name != self.host and name and name != "www" else None

    def part(self, number: int) -> str | None:
        """A part of the path, by its number."""
        return self.parts[number] if number < len(self.parts) else None

    def without_language(self) -> tuple[str, ...]:
        """The path's parts, without a language at its beginning."""
        return self.parts[1:] if self.parts and _LANGUAGE.fullmatch(self.parts[0]) else self.parts
