"""The bridge to a station: tickets, answers, deaths and the end."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer.cluster import bridge as bridges
from gossamer.cluster.bridge import Bridge
from gossamer.errors import StoreError
from tests.conftest import json_lines

FAKE = Path(__file__).with_name("fake_station.py")
SECRET = "postgresql://me:geheim77@db/crawls"


def until(is_so: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


class Side:
    """A bridge, and what came over it."""

    def __init__(self, heard: Path) -> None:
        self._heard = heard
        self.published: list[Any] = []
        self.notes: list[str] = []
        self.bridge: Bridge = self.make()

    def make(self, **more: Any) -> Bridge:
        environ = {"FAKE_HEARD": str(self._heard), "GOSSAMER_STORE": SECRET, "GOSSAMER_BROKER_FILE": None}
        given = {"environ": environ, "grace": 5.0, "note": self.notes.append, **more}
        self.bridge = Bridge([sys.executable, str(FAKE), "{}"], self.published.extend, **given)
        return self.bridge

    def heard(self, kind: str) -> list[Any]:
        """What the station wrote down."""
        return [each for each in json_lines(self._heard.read_text("utf-8")) if kind in each]


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    made = Side(tmp_path / "heard")
    yield made
    made.bridge.kill()
    made.bridge.close()


def test_a_ticket_is_answered(side: Side) -> None:
    assert side.bridge.pid is None  # nothing is started before it is needed
    assert side.bridge.walk(7, 3) == "done"
    assert side.heard("heard")[0]["heard"] == {"do": "ticket", "id": 1, "run": 7, "shard": 3}
    assert side.bridge.ready


def test_many_threads_wait_for_their_own_answers(side: Side) -> None:
    answers: dict[int, str] = {}
    threads = [
        threading.Thread(target=lambda n=n: answers.__setitem__(n, side.bridge.walk(n, 30 - n))) for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == dict.fromkeys(range(20), "done")


def test_a_station_that_gives_no_more_signs_of_life_gets_no_tickets(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridges, "SILENT", 0.5)
    assert side.bridge.walk(1, 404) == "done"
    until(lambda: side.bridge.walk(2, 0) == "no_room")
    assert len(side.bridge._open) == 0


def test_questions_without_an_answer(side: Side) -> None:
    assert side.bridge.ask("reconcile")
    assert side.bridge.ask("tick")
    until(lambda: [each["heard"]["do"] for each in side.heard("heard")] == ["reconcile", "tick"])


def test_urls_reach_the_station_by_its_environment_only(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_BROKER_FILE", "/run/secrets/broker")
    side.bridge.walk(1, 0)
    born = side.heard("born")[0]
    assert born["environ"]["GOSSAMER_STORE"] == SECRET
    assert "GOSSAMER_BROKER_FILE" not in born["environ"]  # taken out
    assert b"geheim77" not in Path(f"/proc/{born['pid']}/cmdline").read_bytes()


def test_tickets_and_notes_come_over(side: Side) -> None:
    assert side.bridge.walk(5, 400) == "done"
    until(lambda: side.published == [(5, 1, -9), (5, 2, 0), (5, 3, 9)])
    assert side.bridge.walk(5, 402) == "done"
    assert side.notes == ["takes 4 shards: the processor is idle"]


def test_lines_that_nobody_understands_harm_nobody(side: Side, capsys: pytest.CaptureFixture[str]) -> None:
    assert side.bridge.walk(1, 401) == "done"
    assert side.bridge.walk(1, 1) == "done"
    assert side.bridge.deaths == 0
    assert side.published == []
    told = capsys.readouterr()
    assert "station.bad_line" in told.err + told.out
    assert "station.long_line" in told.err + told.out


def test_a_publisher_that_fails_harms_nobody(side: Side) -> None:
    def broken(tickets: object) -> None:
        side.notes.append("tried")
        raise StoreError("the broker is away") if len(side.notes) == 1 else RuntimeError("worse")

    side.make()._publish = broken
    for _ in range(2):
        assert side.bridge.walk(5, 400) == "done"
    until(lambda: side.notes == ["tried", "tried"])
    assert side.bridge.walk(5, 1) == "done"


def test_who_dies_is_started_again_and_those_who_wait_are_told(side: Side) -> None:
    side.bridge.walk(1, 0)
    waiting: list[str] = []
    thread = threading.Thread(target=lambda: waiting.append(side.bridge.walk(1, 300)))
    thread.start()
    until(lambda: len(side.heard("heard")) == 2)
    assert side.bridge.walk(1, 200) == "died"
    thread.join(30)
    assert waiting == ["died"]
    assert side.bridge.walk(1, 0) == "done"  # it waits for the new one
    assert side.bridge.deaths == 1
    assert len({each["pid"] for each in side.heard("born")}) == 2


def test_who_is_killed_is_started_again(side: Side) -> None:
    side.bridge.walk(1, 0)
    first = side.bridge.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: side.bridge.pid not in (None, first))
    assert side.bridge.walk(1, 0) == "done"


def test_who_asks_for_it_is_started_again_at_once(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridges, "FIRST_WAIT", 600.0)
    assert side.bridge.walk(1, 201) == "died"
    assert side.bridge.walk(1, 0) == "done"
    assert side.bridge.deaths == 0


def test_the_waits_grow(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridges, "PATIENCE", 0.0)
    waits: list[float] = []
    monkeypatch.setattr(Bridge, "_pause", lambda self, seconds: (waits.append(seconds), time.sleep(0.01)))
    lost = threading.Event()
    bridge = side.make(lost=lost.set, hopeless=8)
    bridge.start()
    until(lambda: bridge.ready)
    assert bridge.walk(1, 202) == "died"
    assert lost.wait(30)
    assert bridge.walk(1, 0) == "away"  # others may walk it
    assert waits[:8] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_one_that_cannot_be_started_at_all(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridges, "PATIENCE", 0.1)
    bridge = side.bridge = Bridge(["/nowhere/at/all"], side.published.extend)
    assert bridge.walk(1, 1) == "away"
    assert not bridge.ask("tick")


def test_one_that_closes_its_mouth_is_ended(side: Side) -> None:
    side.make(grace=0.3)
    assert side.bridge.walk(1, 403) == "died"
    assert side.bridge.walk(1, 0) == "done"


def test_it_ends_in_good_order(side: Side) -> None:
    side.bridge.walk(1, 0)
    pid = side.bridge.pid
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(side.bridge.walk(1, 300)))
    thread.start()
    until(lambda: len(side.heard("heard")) == 2)
    side.bridge.hang_up()
    side.bridge.close()
    thread.join(30)
    assert answers == ["yielded"]  # settled, not broken off
    assert side.heard("ended")
    assert side.bridge.pid is None
    assert not Path(f"/proc/{pid}").exists()
    assert side.bridge.walk(1, 0) == "ended"
    assert not side.bridge.ask("tick")
    assert len(side.heard("born")) == 1


def test_who_does_not_end_is_killed_after_the_grace(side: Side) -> None:
    side.make(grace=0.3)
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(side.bridge.walk(1, 301)))
    thread.start()
    until(lambda: side.bridge.ready and side.heard("heard"))
    side.bridge.close()
    thread.join(30)
    assert answers == ["ended"]
    assert side.bridge.pid is None


def test_what_it_wants_published_at_the_end_is_published(side: Side) -> None:
    side.make()._publish = lambda tickets: (time.sleep(0.2), side.published.extend(tickets))
    side.bridge.walk(5, 400)
    side.bridge.close()
    assert len(side.published) == 3


def test_it_sees_that_its_worker_died(side: Side, tmp_path: Path) -> None:
    """Whoever kills a worker with `kill -9` leaves no station behind, and what that walked is settled."""
    code = (
        "import sys, threading; from gossamer.cluster.bridge import Bridge\n"
        f"made = Bridge([sys.executable, {str(FAKE)!r}], print)\n"
        "made.walk(1, 0)\n"
        "print(made.pid, flush=True)\n"
        "made.walk(1, 300)\n"
    )
    import subprocess

    environ = {**os.environ, "FAKE_HEARD": str(tmp_path / "heard")}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environ) as worker:
        assert worker.stdout is not None
        station = int(worker.stdout.readline())
        until(lambda: len(side.heard("heard")) == 2)
        worker.kill()
    until(lambda: not Path(f"/proc/{station}").exists() or "Z" in Path(f"/proc/{station}/stat").read_text("utf-8"))
    assert side.heard("ended")
    assert json.loads((tmp_path / "heard").read_text("utf-8").splitlines()[-1])["ended"]
