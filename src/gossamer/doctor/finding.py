"""What a look at one thing gave: how it is, and what to do about it."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import msgspec

from gossamer import redaction


class State(enum.StrEnum):
    """How a thing is."""

    OK = "ok"
    #: An optional part that is not there, and that nothing which is set needs.
    ABSENT = "absent"
    #: It works, and may soon not.
    WARNING = "warning"
    #: Something will not work.
    PROBLEM = "problem"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    #: What it belongs to: "program", "store", "network" ...
    area: str
    name: str
    state: State
    #: What was seen.
    text: str
    #: One sentence on what to do; empty where nothing is to be done.
    fix: str = ""


class Area:
    """Makes the findings of one area; what they say is shown to people, so it holds no secrets."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _made(self, name: str, state: State, text: str, fix: str) -> Finding:
        return Finding(self.name, plain(name), state, plain(text), plain(fix))

    def ok(self, name: str, text: str) -> Finding:
        """All is well."""
        return self._made(name, State.OK, text, "")

    def absent(self, name: str, text: str, fix: str) -> Finding:
        """It is not there, and need not be."""
        return self._made(name, State.ABSENT, text, fix)

    def warning(self, name: str, text: str, fix: str) -> Finding:
        """It works, and may soon not."""
        return self._made(name, State.WARNING, text, fix)

    def problem(self, name: str, text: str, fix: str) -> Finding:
        """Something will not work."""
        return self._made(name, State.PROBLEM, text, fix)


def plain(told: str) -> str:
    """One line that a terminal may see: what hosts and files say may hold anything."""
    line = "".join(letter if letter.isprintable() else " " for letter in redaction.text(told, 600))
    return " ".join(line.split())


def counts(findings: Iterable[Finding]) -> dict[State, int]:
    """How many there are of each state."""
    found = dict.fromkeys(State, 0)
    for each in findings:
        found[each.state] += 1
    return found


def healthy(findings: Iterable[Finding]) -> bool:
    """Whether no problem is among them."""
    return all(each.state is not State.PROBLEM for each in findings)


def told(error: BaseException) -> str:
    """What an error says, in a few words."""
    said: Any = getattr(error, "strerror", None) or str(error)
    return f"{said}"[:300] or type(error).__name__
