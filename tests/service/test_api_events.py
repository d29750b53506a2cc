"""Live events by SSE."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gossamer.api import events
from tests.service.conftest import Served


def told(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    """(kind, data) of each event."""
    kind = ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


def until(seconds: float, holds: Any) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_happens_to_a_run_is_told(served: Served, api: httpx.Client) -> None:
    with served.client() as listener, listener.stream("GET", "/api/events/stream") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        heard = told(answer.iter_lines())
        run = api.post("/api/runs", json={"scraper": "quotes"}).json()["run"]
        kind, data = next(heard)
        assert (kind, data["id"], data["state"]) == ("run", run, "pending")
        api.post(f"/api/runs/{run}/cancel")
        kind, data = next(heard)
        assert (kind, data["id"], data["state"]) == ("ended", run, "cancelled")


def test_who_was_away_is_let_in_again(served: Served, api: httpx.Client) -> None:
    run = api.post("/api/runs", json={"scraper": "quotes"}).json()["run"]
    served.call(lambda opened: opened.live.look())
    for last in ("7", "nonsense", "9" * 100):
        with (
            served.client() as listener,
            listener.stream("GET", "/api/events/stream", headers={"Last-Event-ID": last}) as answer,
        ):
            assert next(told(answer.iter_lines()))[1]["id"] == run


def test_who_hangs_up_is_forgotten(served: Served) -> None:
    for _ in range(5):
        with served.client() as listener, listener.stream("GET", "/api/events/stream") as answer:
            next(answer.iter_lines())
    until(20, lambda: served.app.state.listeners == 0)
    until(5, lambda: not served.service.live._listeners)


def test_there_is_room_for_so_many(served: Served, api: httpx.Client) -> None:
    served.app.state.listeners = events.MOST_CLIENTS
    answer = api.get("/api/events/stream")
    assert (answer.status_code, "listen already" in answer.json()["error"]) == (409, True)


def test_a_stream_ends_so_that_a_token_is_asked_for_again(
    served: Served, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LONGEST", 0.0)
    api.post("/api/runs", json={"scraper": "quotes"})
    answer = api.get("/api/events/stream")  # it has an end
    assert answer.text == "retry: 2000\n\n"


def test_strangers_hear_nothing(served: Served) -> None:
    with served.client(None) as stranger:
        assert stranger.get("/api/events/stream").status_code == 401
