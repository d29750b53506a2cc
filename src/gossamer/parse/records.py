"""What rules give for one match: a dict that may know more than its fields."""

from __future__ import annotations

from typing import Any


class Record(dict[str, Any]):
    """A record that knows its kind and which fields are its key."""

    def __init__(self, fields: dict[str, Any], kind: str | None, key: tuple[str, ...] | None) -> None:
        super().__init__(fields)
        self.kind = kind
        self.key = key
