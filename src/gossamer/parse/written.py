"""What a person wrote as data: read key by key, with complaints that name the exact place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from gossamer.errors import ConfigError


class Table:
    """A table of keys, and where it stands: "quotes.toml", "fields.price"."""

    def __init__(self, given: object, where: str, path: str = "", what: str = "a table") -> None:
        self.where = where
        self.path = path
        if not isinstance(given, Mapping):
            self.refuse(f"{shown(given)} cannot be used: write {what}")
        for key in given:
            if not isinstance(key, str):
                self.refuse(f"the name {key!r} is no text: put it into quotes")
        self.given: Mapping[str, Any] = given

    def refuse(self, why: str, key: str = "") -> NoReturn:
        """Raises ConfigError with the place of this table, or of one of its keys."""
        place = self.place(key)
        raise ConfigError(f"{self.where}: {place}: {why}" if place else f"{self.where}: {why}")

    def place(self, key: str = "") -> str:
        """The path of a key in the whole."""
        return f"{self.path}.{key}" if self.path and key else self.path or key

    def only(self, known: Iterable[str], what: str, hint: str = "") -> None:
        """Refuse a key that is none of the known ones."""
        names = list(known)
        for key in self.given:
            if key not in names:
                near = difflib.get_close_matches(key, names, n=1, cutoff=0.6)
                otherwise = hint or f"it has {', '.join(names)}"
                self.refuse(f"{key!r} is no key of {what}: {f'did you mean {near[0]!r}?' if near else otherwise}")

    def __contains__(self, key: str) -> bool:
        return key in self.given

    def text(self, key: str) -> str | None:
        """A text that is not empty; None if it is left out."""
        value = self.given.get(key)
        if value is None and key not in self.given:
            return None
        if not isinstance(value, str) or not value.strip():
            self.refuse(f"{shown(value)} cannot be used: write a text", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A text, or a list of them."""
        value = self.given.get(key)
        if isinstance(value, list | tuple):
            if not value or not all(isinstance(each, str) and each.strip() for each in value):
                self.refuse(f"{shown(value)} cannot be used: write a text, or a list of texts", key)
            return tuple(value)
        text = self.text(key)
        return () if text is None else (text,)

    def flag(self, key: str) -> bool:
        """True or false; false if it is left out."""
        value = self.given.get(key, False)
        if not isinstance(value, bool):
            self.refuse(f"{shown(value)} cannot be used: write true or false", key)
        return value

    def data(self, key: str) -> Any:
        """Any value that JSON can hold."""
        value = self.given.get(key)
        if not is_json(value):
            self.refuse(f"{shown(value)} cannot be used: put it into quotes", key)
        return value


def shown(value: object) -> str:
    """A value in a message."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def is_json(value: object, depth: int = 16) -> bool:
    """Whether a value is made of what JSON can hold, and not deeper than anybody needs."""
    if value is None or isinstance(value, str | int | float):
        return True
    if depth and isinstance(value, list):
        return all(is_json(each, depth - 1) for each in value)
    if depth and isinstance(value, dict):
        return all(isinstance(key, str) and is_json(each, depth - 1) for key, each in value.items())
    return False
