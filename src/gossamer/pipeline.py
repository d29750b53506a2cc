"""From what a handler yields to an Item."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.values import Item

#: The kind of an item that is a plain dict, unless its scraper says otherwise.
KIND = "item"


def _foreign(value: Any) -> Any:
    """What msgspec does not know: pydantic models, and things that are no data."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    raise ReadError(f"an item holds a {type(value).__name__}, which JSON cannot: {str(value)[:80]!r}")


_encoder = msgspec.json.Encoder(enc_hook=_foreign)
_sorted_encoder = msgspec.json.Encoder(enc_hook=_foreign, order="deterministic")


def item_of(value: Any, key: str | tuple[str, ...] | None, kind: str = KIND) -> Item:
    """The Item for a yielded dict, dataclass, msgspec Struct, pydantic model or Item.

    Its key is what the fields named by `key` hold; without them, a digest of the whole record.
    Raises ReadError, saying what was yielded.
    """
    if isinstance(value, Item):
        return _checked(value)
    if isinstance(value, Mapping):
        name = kind
    elif isinstance(value, msgspec.Struct) or dataclasses.is_dataclass(value) or hasattr(value, "model_dump"):
        name = type(value).__name__.lower() if kind == KIND else kind
    else:
        raise ReadError(
            f"a handler yielded {value!r:.80} ({type(value).__name__}): yield a dict, a dataclass, a msgspec "
            "struct, a pydantic model, or a Request"
        )
    try:
        data = _encoder.encode(value).decode()
        if not data.startswith("{"):
            raise ReadError(f"a handler yielded {value!r:.80}, which has no named fields: yield a dict")
        return Item(name, _key(value, data, key), data)
    except (TypeError, ValueError, RecursionError) as why:
        raise ReadError(f"an item cannot be written as JSON: {why}") from None


def _checked(item: Item) -> Item:
    """An Item made by hand, if it is one that can be kept."""
    try:
        if isinstance(item.kind, str) and isinstance(item.key, str) and isinstance(item.record(), dict):
            return item
    except (msgspec.DecodeError, TypeError, ValueError, RecursionError):
        pass
    raise ReadError(f"{item!r:.200} is no item: its kind and key are texts, its data a JSON object; see Item.of")


def _key(value: Any, data: str, key: str | tuple[str, ...] | None) -> str:
    if key is None:
        return urls.digest(_sorted_encoder.encode(value))
    record = msgspec.json.decode(data)
    parts = []
    for name in (key,) if isinstance(key, str) else key:
        part = record.get(name)
        if part is None:
            raise ReadError(f"an item has no {name!r}, which its scraper names as key")
        parts.append(part if isinstance(part, str) else _sorted_encoder.encode(part).decode())
    if len(parts) == 1:
        return parts[0]
    # Escaped, or ("a|b", "c") and ("a", "b|c") would be one item.
    return "|".join(part.replace("\\", "\\\\").replace("|", "\\|") for part in parts)
