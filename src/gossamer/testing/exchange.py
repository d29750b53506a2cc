"""One request and one answer, as values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Fault: TypeAlias = Literal["reset", "truncate", "abort", "hang"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One request the site received."""

    method: str
    #: The target as sent, with its query; a client that takes us for a proxy sends a whole URL here.
    path: str
    #: Names in lower case; a name sent twice has its values joined by ", ".
    headers: Mapping[str, str]
    body: bytes = b""
    #: time.monotonic() when the request was complete.
    at: float = 0.0
    #: time.monotonic() when the last byte of the answer went out, or the client was gone; None until then.
    ended: float | None = None
    #: The status we answered; None for a reset and a hang, which send none.
    status: int | None = None
    #: The address it came in on: where a Site listens on several, which of its hosts was asked.
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the site sends back for one `Hit`.

    `Answer(body="<p>hi</p>")` is an ordinary page. Content-Type (HTML), Content-Length and Connection are
    added unless `headers` has them.
    """

    status: int = 200
    #: Text is sent as UTF-8.
    body: str | bytes = b""
    #: A tuple sends the header once per value; the empty tuple keeps one of ours from being added.
    headers: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    #: Seconds before the first byte.
    latency: float = 0.0
    #: "reset": RST instead of an answer. "truncate": half the body, then FIN. "abort": half the body, then RST.
    #: "hang": nothing, ever.
    fault: Fault | None = None
    #: Sent chunk by chunk, without a length, instead of `body`; called once per request, may be endless.
    stream: Callable[[], Iterable[bytes]] | None = None
    #: Seconds between two chunks of `stream` or `raw`.
    every: float = 0.0
    #: Exactly these bytes, head and all, instead of all of the above but `latency` and `fault`, then FIN. A function
    #: gives them piece by piece, `every` so many seconds; it may be endless.
    raw: bytes | Callable[[], Iterable[bytes]] | None = None


Handler: TypeAlias = Callable[[Hit], Answer]
#: As a Handler; None lets the page below it answer.
Cover: TypeAlias = Callable[[Hit], Answer | None]
#: What a misbehaving path answers once it behaves.
Then: TypeAlias = str | bytes | Answer


def path_of(hit: Hit) -> str:
    """The path that was asked for, without its query."""
    return origin_form(hit.path).partition("?")[0]


def origin_form(target: str) -> str:
    """The path of a target that a client sent to its proxy; any other target as it is."""
    if target.startswith("/"):
        return target
    _, separator, rest = target.partition("://")
    return "/" + rest.partition("/")[2] if separator else target


def encoded(body: str | bytes) -> bytes:
    """Text as UTF-8."""
    return body.encode() if isinstance(body, str) else body


def as_answer(then: Then) -> Answer:
    """A body as the page it stands for."""
    return then if isinstance(then, Answer) else Answer(body=encoded(then))
