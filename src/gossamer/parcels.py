"""What goes to a sink: items packed into objects, and the manifests that tell of them."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gossamer.clock import iso
from gossamer.sink_keys import MANIFEST, bounded, fallback, safe
from gossamer.sinks import Sink
from gossamer.storage.objects import Parcel
from gossamer.storage.store import StoredItem
from gossamer.telemetry import log

#: Names of objects that are remembered, to tell of two items with the same one.
REMEMBERED = 100_000

JSON = "application/json"
LINES = "application/x-ndjson"
PACKED = "application/gzip"


class Named(msgspec.Struct, frozen=True):
    """An item, as manifests name it."""

    kind: str
    key: str
    #: The object it is in, where that is worth telling.
    object: str | None = None


class Parcels:
    """Packs the items of one scraper for one sink."""

    def __init__(self, sink: Sink, scraper: str) -> None:
        self._sink = sink
        self._scraper = scraper
        self._known: dict[int, int] = {}
        self._made = 0
        digest = hashlib.sha256(sink.name.encode()).hexdigest()[:8]
        self._manifest = f"{MANIFEST}/{bounded(safe(scraper))}/{digest}"

    async def make(self, piece: Sequence[StoredItem], start: int, part: int, to: int | None = None) -> list[Parcel]:
        """The objects of a piece of a delivery, and its manifest.

        `start` is the cursor that the delivery begins at: it names batches. `to` is where the cursor goes then,
        said with the last piece.
        """
        # Hashing and packing takes its time: pages are walked meanwhile.
        return await asyncio.to_thread(self._make, piece, start, part, to)

    def took(self) -> int:
        """How many objects were made since this was last asked; manifests are not counted."""
        made, self._made = self._made, 0
        return made

    def _make(self, piece: Sequence[StoredItem], start: int, part: int, to: int | None) -> list[Parcel]:
        told: dict[str, Any] = {
            "sink": self._sink.name,
            "scraper": self._scraper,
            "from": start,
            "to": to,
            "part": part,
            "last": to is not None,
            "made": iso(time.time()),
            "items": len(piece),
        }
        turn = f"{start:016d}-{part:04d}"
        parcels = self._each(piece, told) if self._sink.per_item else self._batches(piece, turn)
        self._made += len(parcels)
        told["objects"] = [_described(parcel) for parcel in parcels if parcel.body is not None]
        told["deleted"] = [parcel.key for parcel in parcels if parcel.body is None]
        told["gone"] = [Named(item.kind, item.key) for item in piece if item.gone]
        manifest = Parcel(f"{self._manifest}-{turn}.json", msgspec.json.encode(told), manifest=True)
        return [*parcels, manifest]

    # -- an object for each item -------------------------------------------------------------------------------

    def _each(self, piece: Sequence[StoredItem], told: dict[str, Any]) -> list[Parcel]:
        """One object for each item; of two with the same name the later wins, and the manifest tells of it."""
        made: dict[str, Parcel] = {}
        lacking: list[Named] = []
        twice: list[Named] = []
        for item in piece:
            record = item.record()
            key = self._sink.template.fill(item, record)
            if key is None:
                key = fallback(item)
                lacking.append(Named(item.kind, item.key, key))
            if self._taken(key, item.id):
                twice.append(Named(item.kind, item.key, key))
            gone = item.gone and self._sink.gone == "delete"
            made[key] = Parcel(key, None) if gone else self._object(key, item, record)
        told |= {"lacking": lacking, "twice": twice}
        if lacking:
            log.info("sink.lacking", sink=self._sink.name, items=len(lacking), example=lacking[0].object)
        if twice:
            log.warning("sink.same_name", sink=self._sink.name, items=len(twice), example=twice[0].object)
        return list(made.values())

    def _object(self, key: str, item: StoredItem, record: dict[str, Any]) -> Parcel:
        body = (msgspec.json.encode(_with_source(item, record)) if self._sink.told else item.data.encode()) + b"\n"
        if key.endswith(".gz") and self._sink.packed:
            return Parcel(key, gzip.compress(body, mtime=0), PACKED, 1)
        return Parcel(key, body, JSON, 1)

    def _taken(self, key: str, item: int) -> bool:
        """Whether another item has an object of this name, as far as is remembered."""
        name = hash(key)
        known = self._known.get(name)
        if known is not None or len(self._known) < REMEMBERED:
            self._known[name] = item
        return known is not None and known != item

    # -- batches -----------------------------------------------------------------------------------------------

    def _batches(self, piece: Sequence[StoredItem], turn: str) -> list[Parcel]:
        """JSON lines, one object for each folder that the template names."""
        sink = self._sink
        folders: dict[str, list[bytes]] = {}
        for item in piece:
            if sink.told:
                line = msgspec.json.encode(_with_source(item, item.record()))
            elif item.gone:  # without a word of it, it would look current
                continue
            else:
                line = item.data.encode()
            folders.setdefault(self._folder(item), []).append(line)
        ending = ".jsonl.gz" if sink.gzip else ".jsonl"
        return [_lines(f"{folder}{turn}{ending}", lines, packed=sink.gzip) for folder, lines in folders.items()]

    def _folder(self, item: StoredItem) -> str:
        """Where a line goes: no other scraper, and no sink for another kind, has its batches there."""
        template = self._sink.template
        parts = [template.fill(item, {}) if template.text else None]
        parts += [safe(self._scraper) if "scraper" not in template.fields else None]
        parts += [safe(self._sink.kind) if self._sink.kind and "kind" not in template.fields else None]
        return "".join(f"{part}/" for part in parts if part)


def _lines(key: str, lines: Sequence[bytes], *, packed: bool) -> Parcel:
    body = b"\n".join(lines) + b"\n"
    return Parcel(key, gzip.compress(body, mtime=0) if packed else body, PACKED if packed else LINES, len(lines))


def _with_source(item: StoredItem, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record, told where it comes from."""
    told = {f"_{name}": getattr(item, name) for name in ("scraper", "kind", "key", "url")}
    told |= {f"_{name}": iso(getattr(item, name)) for name in ("first_seen", "last_changed")}
    return {**record, **told} | ({"_gone": iso(item.gone)} if item.gone else {})


def _described(parcel: Parcel) -> dict[str, Any]:
    body = parcel.body or b""
    return {
        "key": parcel.key,
        "items": parcel.items,
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
