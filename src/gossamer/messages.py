"""What receivers are told: one value, whatever it is sent by, and made of nothing but readable text.

Names, reasons and findings come from pages, and pages may be hostile: no line of theirs becomes a header, a
command of a terminal, or a link that says one thing and leads to another.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

import msgspec

#: Letters that a title and a body may have.
LONGEST_TITLE = 200
LONGEST_BODY = 4_000
#: Letters of one thing that somebody else wrote.
LONGEST_QUOTE = 300


class Message(msgspec.Struct, frozen=True):
    """Something that people should hear of."""

    #: The same for the same thing, whoever notices it: it is told once.
    key: str
    #: "failure", "recovery", "drift", "silence", "breaker" or "test".
    kind: str
    title: str
    body: str
    at: float
    #: The scraper and the run it is about, if it is about one.
    scraper: str = ""
    run: int | None = None

    @property
    def id(self) -> str:
        """By which a receiver knows a message again that was sent to it twice."""
        return hashlib.sha256(f"{self.key} {self.at!r}".encode()).hexdigest()[:32]


class Receiver(Protocol):
    """Somebody who is told."""

    @property
    def target(self) -> str:
        """Who it is, without any secret: for rows, logs and people."""

    async def tell(self, message: Message) -> None:
        """Send a message, within a deadline. Raises Undelivered, in a sentence without any secret."""


def one_line(text: str, longest: int = LONGEST_QUOTE) -> str:
    """A text as one line of letters that can be seen: without line ends, control letters and turned writing.

    >>> one_line("red\\r\\nBcc: everybody\\x1b[2J")
    'red Bcc: everybody [2J'
    """
    seen = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * longest])
    line = " ".join(seen.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def lines(text: str, longest: int = LONGEST_BODY) -> str:
    """The same for several lines."""
    whole = "\n".join(one_line(line, LONGEST_QUOTE + 100) for line in text.splitlines())
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"
