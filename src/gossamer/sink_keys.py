"""Names of objects, made from items: `espn/box_scores/{game_id}.json`. Pure, and safe whatever a record holds."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gossamer.errors import ConfigError
from gossamer.storage.store import StoredItem

#: Where manifests stand, and where items go whose record lacks a field that the template names.
MANIFEST = "_manifest"
LACKING = "_lacking"
#: Most bytes of a part of a name between two slashes: file systems allow 255, and we put a few before it.
PART = 200
#: Most bytes of a whole name: what S3 allows.
WHOLE = 1024
#: Bytes of a part that stay when it is cut; a digest of the whole follows, so that different ones stay different.
HEAD = 150
#: Most letters that are taken for an ending, like `.json.gz`.
ENDING = 12

#: What is told apart from the fields of a record: these are the item's own.
OWN = ("kind", "key", "scraper", "first_seen")
#: Of these, those that many items share: a template with no other field names a folder, not an object.
SHARED = ("kind", "scraper", "first_seen")
#: What has a meaning to file systems, URLs, shells or to us.
_UNSAFE = frozenset('/\\%?#"<>|*:^~{}[]`')


class Template:
    """A text with fields in braces. Raises ConfigError, saying what to write instead."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            parsed = list(string.Formatter().parse(text))
        except ValueError:
            raise ConfigError(
                f"the key {text!r} cannot be read: each {{ needs a }}, around the name of a field"
            ) from None
        self._parts = [(literal, *_field(text, *rest)) for literal, *rest in parsed]
        self.fields = tuple(name for _, name, _ in self._parts if name)
        #: Whether each item has an object of its own.
        self.per_item = any(name not in SHARED for name in self.fields)
        self._check_literals()

    def _check_literals(self) -> None:
        shown = "".join(literal + ("x" if name else "") for literal, name, _ in self._parts)
        pieces = shown.split("/") if shown else []
        if any(piece in ("", ".", "..") for piece in pieces) or set(shown) & set("\\?") or not shown.isprintable():
            raise ConfigError(f"the key {self.text!r} cannot be used: write folders and a name, like games/{{id}}.json")
        if pieces and pieces[0] in (MANIFEST, LACKING):
            raise ConfigError(f"the key {self.text!r} cannot be used: {pieces[0]} is where we write ourselves")
        if any(len(piece.encode()) > PART for piece in pieces):
            raise ConfigError(f"the key {self.text[:40]!r}... is too long: a folder has at most {PART} bytes")

    def fill(self, item: StoredItem, record: Mapping[str, Any]) -> str | None:
        """The name of an item; None if its record lacks a field, or the name would be too long."""
        made = []
        for literal, name, style in self._parts:
            made.append(literal)
            if name:
                value = _value(item, record, name, style)
                if value is None:
                    return None
                made.append(value)
        parts = [bounded(part) for part in "".join(made).split("/")]
        if parts[0].lower() in (MANIFEST, LACKING):
            parts[0] = f"%5F{parts[0][1:]}"
        whole = "/".join(parts)
        return whole if len(whole.encode()) <= WHOLE // 2 else None


def _field(text: str, name: str | None, style: str | None, conversion: str | None) -> tuple[str, str]:
    if name is None:
        return "", ""
    if conversion or not all(piece and piece.isprintable() for piece in name.split(".")) or set(name) & set("[]/\\?"):
        raise ConfigError(f"the key {text!r} cannot be used: between braces stands a field, like {{id}} or {{team.id}}")
    if style and (name != "first_seen" or "{" in style):
        raise ConfigError(f"the key {text!r} cannot be used: only first_seen takes a form, like {{first_seen:%Y/%m}}")
    try:
        datetime.now(UTC).strftime(style or "")
    except ValueError:
        raise ConfigError(f"the key {text!r} cannot be used: {style!r} is no form of a date, like %Y/%m") from None
    return name, style or ""


def _value(item: StoredItem, record: Mapping[str, Any], name: str, style: str) -> str | None:
    """The value of a field as part of a name: empty and nested ones are none."""
    if name == "first_seen":
        written = datetime.fromtimestamp(item.first_seen, UTC).strftime(style or "%Y-%m-%d")
        return "/".join(map(safe, filter(None, written.split("/")))) or None
    found: Any = getattr(item, name) if name in OWN else _look(record, name)
    if isinstance(found, bool):
        found = "true" if found else "false"
    if isinstance(found, int | float):
        found = str(found)
    return safe(found) if isinstance(found, str) and found.strip() else None


def _look(record: Any, name: str) -> Any:
    """What stands at a dotted path: fields of objects, places in lists."""
    for step in name.split("."):
        if isinstance(record, Mapping):
            record = record.get(step)
        elif isinstance(record, list) and step.isdecimal() and len(step) < 10 and int(step) < len(record):
            record = record[int(step)]
        else:
            return None
    return record


def safe(text: str) -> str:
    """A text as part of one name: what could be a folder, leave one, or mean something else is percent-encoded.

    Different texts stay different.
    """
    edges = (0, len(text) - 1)
    return "".join(
        _encoded(char) if char in _UNSAFE or not char.isprintable() or (char in ". " and at in edges) else char
        for at, char in enumerate(text)
    )


def _encoded(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def bounded(part: str) -> str:
    """A part of a name, cut if it is too long for file systems; a digest keeps it apart from others."""
    raw = part.encode()
    if len(raw) <= PART:
        return part
    head, dot, ending = part.rpartition(".")
    ending = f".{ending}" if dot and head and len(ending) <= ENDING and ending.isascii() else ""
    kept = raw[:HEAD].decode("utf-8", "ignore")
    return f"{kept}~{hashlib.sha256(raw).hexdigest()[:16]}{ending}"


def fallback(item: StoredItem) -> str:
    """Where an item goes whose record lacks a field of the template: named by its kind and key."""
    return "/".join((LACKING, *(bounded(safe(part) or "-") for part in (item.scraper, item.kind)), _named(item)))


def _named(item: StoredItem) -> str:
    return bounded(f"{safe(item.key) or '-'}.json")
