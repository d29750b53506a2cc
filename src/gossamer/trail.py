"""Who did what: every change somebody makes through a door of the service leaves a line."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from gossamer import redaction
from gossamer.storage.desk import Writing


class Asker(msgspec.Struct, frozen=True):
    """Who asks for something, and through which door."""

    #: The name of a person, a token or a schedule.
    name: str
    #: "cli", "api", "dashboard" or "schedule".
    via: str
    #: Where the request came from, if it came over the network.
    address: str = ""


_ADD = """
insert into trail (at, who, via, action, target, detail, address)
values (:at, :who, :via, :action, :target, :detail, :address)
"""


async def note(writing: Writing, by: Asker, action: str, target: object = "", **detail: Any) -> None:
    """Write down, in the transaction of the deed itself, that somebody did something.

    `action` is a noun and a verb: "run.start", "token.revoke". No secret belongs in `detail`, and what looks
    like one is hidden.
    """
    kept = {name: value for name, value in detail.items() if value not in (None, "")}
    told = msgspec.json.encode(redaction.parameters(kept))
    about = redaction.text(str(target))
    names = {"who": by.name, "via": by.via, "action": action, "target": about, "address": by.address}
    await writing.run(_ADD, at=time.time(), detail=told.decode(), **names)
