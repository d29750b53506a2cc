"""What a site was asked, in memory and in a log that outlives it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Any

from gossamer.testing.exchange import Answer, Hit


@dataclass(slots=True)
class Exchange:
    """A hit and how far we are with it: the part of it that changes."""

    hit: Hit
    #: The how-manieth request it is.
    number: int
    status: int | None = None
    ended: float | None = None

    def as_hit(self) -> Hit:
        return replace(self.hit, status=self.status, ended=self.ended)


class Ledger:
    """What was asked, and how much of it at once. Written by the site's thread only, but for `clear`."""

    def __init__(self, *, remember: bool, ends: bool = False) -> None:
        self.peak = 0
        self._remember = remember
        self._ends = ends
        self._count = 0
        self._exchanges: list[Exchange] = []
        self._open = 0
        self._log: FileIO | None = None

    def begin(self, hit: Hit) -> Exchange:
        self._count += 1
        exchange = Exchange(hit, self._count)
        if self._remember:
            self._exchanges.append(exchange)
        self._open += 1
        if self._open > self.peak:
            self.peak = self._open
        return exchange

    def decided(self, exchange: Exchange, answer: Answer) -> None:
        if answer.fault in (None, "truncate", "abort"):
            exchange.status = answer.status
        if self._log is not None:
            hit = exchange.hit
            entry = {"t": hit.at, "path": hit.path, "status": exchange.status, "fault": answer.fault}
            entry |= {"n": exchange.number, "address": hit.address, "method": hit.method}
            self._write(entry)

    def _write(self, entry: dict[str, Any]) -> None:
        if self._log is not None:
            self._log.write(json.dumps(entry).encode() + b"\n")

    def end(self, exchange: Exchange) -> None:
        exchange.ended = time.monotonic()
        self._open -= 1
        if self._ends:
            self._write({"n": exchange.number, "ended": exchange.ended})

    def hits(self) -> list[Hit]:
        return [exchange.as_hit() for exchange in self._exchanges.copy()]

    def clear(self) -> None:
        self._exchanges = []
        self.peak = self._open

    def open_log(self, path: Path | str | None) -> None:
        # Unbuffered: a line is with the kernel when write returns, and outlives a kill of this process.
        self._log = None if path is None else FileIO(path, "ab")

    def close_log(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None


def read_log(path: Path | str) -> list[Hit]:
    """The hits a log tells of, in the order they arrived; with the time each ended, if the log says."""
    hits: list[Hit] = []
    at: dict[int, int] = {}
    for line in Path(path).read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):  # still being written
            break
        entry = json.loads(line)
        if "ended" in entry:
            place = at.pop(entry["n"])
            hits[place] = replace(hits[place], ended=entry["ended"])
            continue
        at[entry["n"]] = len(hits)
        told = {name: entry[name] for name in ("path", "status", "address", "method")}
        hits.append(Hit(headers={}, at=entry["t"], **told))
    return hits
