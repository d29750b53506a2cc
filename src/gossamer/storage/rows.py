"""Values as the rows they become, and rows as the values they were. Nothing here touches a database."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from gossamer import urls
from gossamer.values import Ending, Fetch, Outcome, Request, Visit

#: How a row says how its request ended; 0 is waiting.
STATES = {Ending.DONE: 1, Ending.SKIPPED: 2, Ending.FAILED: 3, Ending.LATER: 0}

#: Where a row of `request_row` has these.
DIGEST, DEPTH, HOPS = 0, 6, 8

#: What a request may have beyond its URL, handler and place in the frontier.
_EXTRAS = (
    "method",
    "headers",
    "json",
    "carry",
    "session",
    "country",
    "render",
    "wait_for",
    "save",
    "data",
    "revisit",
    "via",
)
_get_extras = attrgetter(*_EXTRAS)
_NO_EXTRAS = _get_extras(Request(""))

encode = msgspec.json.Encoder(enc_hook=str).encode
_Row = tuple[int, str, str, int, int, int, int, dict[str, Any] | None]
_decode_rows = msgspec.json.Decoder(list[_Row]).decode
#: What a page gave: requests without their place in the store, and items.
_Link = tuple[str, str, int, int, int, dict[str, Any] | None]
_decode_gave = msgspec.json.Decoder(tuple[list[_Link], tuple[tuple[str, str], ...]]).decode
_VisitRow = tuple[str, float, float, str | None, str | None, str, str]
_decode_visits = msgspec.json.Decoder(list[_VisitRow]).decode


# -- text ------------------------------------------------------------------------------------------------------


def as_json(rows: Collection[Any]) -> str:
    """Rows as SQLite takes them, without the characters that it would cut a text off at."""
    made = as_text(rows)
    return made if "\\u0000" not in made else as_text(storable(rows))


def as_text(value: Any) -> str:
    """A value as JSON."""
    try:
        return encode(value).decode()
    except UnicodeEncodeError:  # half a character, which is in no encoding
        return encode(storable(value)).decode()


def storable(value: Any) -> Any:
    """A value with U+FFFD for the characters that no store keeps."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {storable(key): storable(each) for key, each in value.items()}
    return [storable(each) for each in value] if isinstance(value, list | tuple) else value


def fields(values: Sequence[msgspec.Struct]) -> list[tuple[Any, ...]]:
    """Values whose fields are just the columns, in their order."""
    return [msgspec.structs.astuple(value) for value in values]


# -- requests --------------------------------------------------------------------------------------------------


def request_row(
    request: Request, parent: int, ordinal: int, state: int = 0, reason: str | None = None
) -> tuple[Any, ...]:
    """A request as the row it becomes."""
    host = urls.host(request.url)
    key = request.fingerprint
    if request.revisit or (request.hops and request.verb != "GET"):
        # Not the same thing as any other request; but the same when its page is walked again.
        key = urls.digest(key, str(parent), str(ordinal))
    extras = _extras(request)
    return (
        key,
        request.url,
        host,
        urls.shard(host),
        request.handler,
        as_text(extras) if extras else None,
        request.depth,
        request.priority,
        request.hops,
        parent or None,
        state,
        reason,
    )


def found_rows(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    """What a walk led to, dropped links included."""
    parent = outcome.request.id
    for n, request in enumerate(outcome.found):
        yield request_row(request, parent, n)
    for n, drop in enumerate(outcome.dropped):
        yield request_row(drop.request, parent, n, STATES[Ending.SKIPPED], drop.reason)


def read_requests(rows: str) -> list[Request]:
    """Requests as PEEK tells them."""
    return [
        _request(url, handler, depth, priority, hops, extras, id=row, attempts=attempts)
        for row, url, handler, depth, priority, attempts, hops, extras in _decode_rows(rows)
    ]


def _extras(request: Request) -> dict[str, Any] | None:
    """What a request has beyond its URL; None for the plain ones, which most are."""
    values = _get_extras(request)
    if values == _NO_EXTRAS:
        return None
    # By identity: a body of 0 or "" is none that was left out.
    extras = {n: value for n, value, none in zip(_EXTRAS, values, _NO_EXTRAS, strict=True) if value is not none}
    if isinstance(request.data, bytes):
        extras["data64"] = base64.b64encode(extras.pop("data")).decode()
    return extras or None


def _request(
    url: str, handler: str, depth: int, priority: int, hops: int, extras: dict[str, Any] | None, **more: Any
) -> Request:
    given = extras or {}
    if "via" in given:
        given["via"] = tuple(given["via"])
    if "data64" in given:
        given["data"] = base64.b64decode(given.pop("data64"))
    return Request(url, to=handler, depth=depth, priority=priority, hops=hops, **more, **given)


# -- outcomes --------------------------------------------------------------------------------------------------


def closing_row(outcome: Outcome) -> tuple[Any, ...]:
    """How a walk ended."""
    return (
        outcome.request.id,
        STATES[outcome.ending],
        outcome.not_before if outcome.ending is Ending.LATER else 0.0,
        int(outcome.attempt),
        outcome.reason,
        outcome.detail,
        outcome.status,
        outcome.size,
        outcome.started,
        outcome.elapsed,
    )


def item_rows(outcomes: Sequence[Outcome]) -> list[tuple[Any, ...]]:
    """The items that walks brought."""
    return [(o.request.id, i.kind, i.key, i.data, o.request.url, o.started) for o in outcomes for i in o.items]


def waves(items: Sequence[Any], heavy: int) -> Iterator[Sequence[Any]]:
    """Rows of items in groups in which none stands twice, so that each sees what the one before made of it.

    None has many more bytes of records than `heavy`.
    """
    known: set[tuple[str, str]] = set()
    wave: list[Any] = []
    weight = 0
    for row in items:
        name = (row[1], row[2])
        if name in known or weight > heavy:
            yield wave
            wave, known, weight = [], set(), 0
        wave.append(row)
        known.add(name)
        weight += len(row[3])
    if wave:
        yield wave


def seen_rows(outcomes: Sequence[Outcome], now: float) -> list[tuple[Any, ...]]:
    """The items that unchanged pages still stand for."""
    return [(o.request.id, kind, key, o.started or now) for o in outcomes for kind, key in o.seen]


def reject_rows(outcomes: Sequence[Outcome], now: float) -> list[tuple[Any, ...]]:
    """The records that became no items."""
    return [(o.request.id, r.kind, r.data, r.step, r.reason, o.started or now) for o in outcomes for r in o.rejects]


def counts(outcomes: Sequence[Outcome], items: int, dropped: Mapping[str, int]) -> dict[str, int]:
    """What a group of outcomes adds to its run's counters."""
    endings = Counter(o.ending for o in outcomes)
    return {
        "settled": len(outcomes) - endings[Ending.LATER],
        "pages": sum(o.is_page for o in outcomes),
        "items": items,
        "failed": endings[Ending.FAILED],
        "skipped": endings[Ending.SKIPPED] + sum(dropped.values()),
        "retried": sum(o.attempt for o in outcomes),
        "size": sum(o.size for o in outcomes),
        "rejected": sum(len(o.rejects) for o in outcomes),
    }


def fetch_row(fetch: Fetch) -> tuple[Any, ...]:
    """One exchange."""
    return (
        fetch.request_id or None,
        fetch.url,
        fetch.host,
        fetch.started,
        fetch.elapsed,
        fetch.status,
        fetch.size,
        fetch.reason,
        fetch.detail,
    )


# -- visits ----------------------------------------------------------------------------------------------------


def visit_rows(visits: Sequence[Visit]) -> tuple[list[tuple[Any, ...]], bytes]:
    """Visits as rows, and what they gave: one blob, in which each row says where its part is."""
    made: list[tuple[Any, ...]] = []
    blobs = bytearray()
    for v in visits:
        links = [(r.url, r.handler, r.depth, r.priority, r.hops, _extras(r)) for r in v.found]
        gave = zlib.compress(as_text((links, v.items)).encode())
        made.append((v.digest, v.fetched, v.checked, v.etag, v.modified, v.sha256, len(blobs) + 1, len(gave)))
        blobs += gave
    return made, bytes(blobs)


def read_visits(rows: str) -> dict[str, Visit]:
    """Visits as VISITS tells them, by their digests."""
    return {row[0]: Visit(*row[:6], *_gave(row[6])) for row in _decode_visits(rows)}


def _gave(packed: str) -> tuple[tuple[Request, ...], tuple[tuple[str, str], ...]]:
    links, items = _decode_gave(zlib.decompress(bytes.fromhex(packed)))
    return tuple(_request(*link) for link in links), items
