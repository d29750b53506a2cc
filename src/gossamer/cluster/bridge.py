"""The bridge from a Celery worker to its station: a child process that walks, and lines of JSON between the two.

Celery may run tasks in threads, greenlets or processes; the station runs one asyncio loop, which none of that touches.
A task gives its ticket to the bridge and waits for the answer. If the station dies, those who wait are told so, and it
is started again.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import msgspec

from gossamer.errors import GossamerError
from gossamer.telemetry import log

#: A run, a shard of it, and the run's priority.
Ticket = tuple[int, int, int]

#: What a station exits with to be started again at once: it has grown too large.
AGAIN = 75
#: Seconds before a station that died is started again: at first, and at most.
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
#: A station that lived so long was well.
WELL = 15.0
#: Seconds a ticket waits for a station that is just being started.
PATIENCE = 5.0
#: Seconds that what it said last has to get here when it is dead.
LAST_WORDS = 2.0
#: Bytes of a line; a list of tickets for every shard of many runs is shorter.
LONGEST_LINE = 1 << 20
#: Questions that wait for a station that does not listen; more are not asked.
MOST_WAITING = 200
#: Lists of tickets that wait for a broker that does not answer; more are dropped, as they will be issued again.
MOST_LISTS = 1_000

#: Seconds between two signs of life of a station, and without one after which it gets no more tickets.
ALIVE = 1.0
SILENT = 3.0

#: What `walk` says besides the station's own answers: it died meanwhile, it is not there, it is told to end.
DIED, AWAY, ENDED = "died", "away", "ended"
#: What a station that has no room answers, and what is said for one that gives no sign of life.
NO_ROOM = "no_room"


class _Answer:
    """What a task waits for."""

    def __init__(self) -> None:
        self.why = DIED
        self.given = threading.Event()

    def give(self, why: str) -> None:
        self.why = why
        self.given.set()


class _Child:
    """One life of the station."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str | None], grace: float) -> None:
        known = {**os.environ, **environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(  # noqa: S603 - the command is ours
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: value for name, value in known.items() if value is not None},
            # Ctrl-C on a terminal is for the worker, which ends its station in good order.
            start_new_session=True,
        )
        self.ready = False
        #: When it gave its last sign of life, if it gives any.
        self.alive: float | None = None
        self._grace = grace
        # What is to be said goes through a queue that a signal handler may put something into at any moment.
        self.outbox: SimpleQueue[bytes | None] = SimpleQueue()
        threading.Thread(target=self._write, name="station-writer", daemon=True).start()

    @property
    def is_silent(self) -> bool:
        """Whether it gives no sign of life: somebody stopped it, or its loop is blocked."""
        return self.alive is not None and time.monotonic() - self.alive > SILENT

    def say(self, words: Mapping[str, Any]) -> None:
        """One line to the station."""
        self.outbox.put(msgspec.json.encode(words) + b"\n")

    def hang_up(self) -> None:
        """Have it settle and end, soon. Safe in a signal handler."""
        self.outbox.put(None)

    def _write(self) -> None:
        """Say what is to be said; after the last word, see to it that it ends."""
        stdin = self.process.stdin
        assert stdin is not None
        with suppress(OSError, ValueError):  # whoever is dead does not listen
            while (line := self.outbox.get()) is not None:
                stdin.write(line)
                stdin.flush()
        with suppress(OSError, ValueError):
            stdin.close()
        try:
            self.process.wait(self._grace)
        except subprocess.TimeoutExpired:
            log.warning("station.killed", pid=self.process.pid, why=f"it did not end within {self._grace:g} s")
            self.process.kill()

    def lines(self) -> Iterator[bytes]:
        """What it says, line by line, until it ends. Of a line that is too long, nothing."""
        stdout = self.process.stdout
        assert stdout is not None
        cut = False
        with suppress(OSError, ValueError):
            while line := stdout.readline(LONGEST_LINE):
                whole = line.endswith(b"\n")
                if whole and not cut:
                    yield line
                elif whole:
                    log.warning("station.long_line", why=f"the station said more than {LONGEST_LINE:,} bytes at once")
                cut = not whole
        with suppress(OSError, ValueError):
            stdout.close()


class Bridge:
    """Keeps a station at work, and carries tickets to it. All of it may be called from any thread or greenlet.

    `command` starts the station. `environ` is added to what it knows of the world, and what is None there is taken
    out of it (URLs with passwords go there, for everybody may read a command line). `publish` is given the tickets that
    the station wants delivered to somebody, `note` what it has to say to a person. `lost` is called when it has died
    `hopeless` times in a row before it was ready.
    """

    def __init__(
        self,
        command: Sequence[str],
        publish: Callable[[list[Ticket]], None],
        *,
        environ: Mapping[str, str | None] | None = None,
        grace: float = 10.0,
        note: Callable[[str], None] | None = None,
        lost: Callable[[], None] | None = None,
        hopeless: int = 10,
    ) -> None:
        self._command = list(command)
        self._environ = dict(environ or {})
        self._publish = publish
        self._note = note or (lambda text: log.info("station.note", text=text))
        self._lost, self._hopeless = lost, hopeless
        self._grace = grace
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._open: dict[int, _Answer] = {}
        self._to_publish: SimpleQueue[list[Ticket] | None] = SimpleQueue()
        self._child: _Child | None = None
        self._keeper: threading.Thread | None = None
        self._deliverer: threading.Thread | None = None
        # A plain flag: a signal handler may set it while this very thread holds any lock.
        self._ending = False
        #: How often it died.
        self.deaths = 0

    # -- for tasks ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the station, unless that was done."""
        with self._lock:
            if self._keeper is None and not self._ending:
                self._keeper = threading.Thread(target=self._keep, name="station-keeper", daemon=True)
                self._deliverer = threading.Thread(target=self._deliver, name="station-tickets", daemon=True)
                self._keeper.start()
                self._deliverer.start()

    def walk(self, run: int, shard: int) -> str:
        """Have the station walk, and wait until it says why it stopped: its own word, or `died`, `away`, `ended`."""
        self.start()
        child = self._ready_child()
        answer = _Answer()
        with self._lock:
            if self._ending:
                return ENDED
            if child is None or child is not self._child:
                return AWAY
            if child.is_silent:
                return NO_ROOM
            number = next(self._numbers)
            self._open[number] = answer
        child.say({"do": "ticket", "id": number, "run": run, "shard": shard})
        answer.given.wait()
        return answer.why

    def ask(self, what: str) -> bool:
        """Have the station do something that has no answer: `reconcile`, `tick`. Returns whether it was told."""
        self.start()
        child = self._ready_child()
        if child is None or self._ending or child.is_silent or child.outbox.qsize() > MOST_WAITING:
            return False
        child.say({"do": what})
        return True

    @property
    def pid(self) -> int | None:
        """The station's process, while it lives."""
        child = self._child
        return child.process.pid if child is not None and child.process.returncode is None else None

    @property
    def ending(self) -> bool:
        """Whether no more tickets are taken here."""
        return self._ending

    @property
    def ready(self) -> bool:
        """Whether the station takes tickets."""
        child = self._child
        return child is not None and child.ready and not self._ending

    def _ready_child(self) -> _Child | None:
        until = time.monotonic() + PATIENCE
        while not self._ending:
            child = self._child
            if child is not None and child.ready:
                return child
            if time.monotonic() > until:
                return None
            time.sleep(0.02)
        return None

    # -- the end -----------------------------------------------------------------------------------------------

    def hang_up(self) -> None:
        """No more tickets; the station settles what it walks, releases it and ends. Returns at once.

        Safe in a signal handler. After the grace, the station is killed.
        """
        self._ending = True
        child = self._child
        if child is not None:
            child.hang_up()

    def kill(self) -> None:
        """End at once, whatever is under way: others take over when its leases have run out. Safe in a handler."""
        self.hang_up()
        child = self._child
        if child is not None:
            child.process.kill()

    def close(self) -> None:
        """End in good order, and wait until that is done."""
        self.hang_up()
        keeper, deliverer = self._keeper, self._deliverer
        if keeper is None or deliverer is None:
            return
        keeper.join(self._grace + 2)
        if keeper.is_alive():
            self.kill()
            keeper.join(LAST_WORDS)
        deliverer.join(LAST_WORDS)

    # -- its life ----------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        """Keep a station alive until the end."""
        wait, in_vain = FIRST_WAIT, 0
        while not self._is_ending():
            began = time.monotonic()
            code, was_ready = self._live()
            if self._is_ending():
                break
            if code == AGAIN and was_ready:
                wait, in_vain = FIRST_WAIT, 0
                log.info("station.anew", why="it asked to be started again")
                continue
            self.deaths += 1
            in_vain = 0 if was_ready else in_vain + 1
            wait = FIRST_WAIT if time.monotonic() - began > WELL else wait
            log.error("station.died", code=code, again_in=wait)
            if in_vain >= self._hopeless and self._lost is not None:
                self._lost()
            self._pause(wait)
            wait = min(wait * 2, LONGEST_WAIT)
        self._to_publish.put(None)

    def _live(self) -> tuple[int | None, bool]:
        """One life of the station: its exit code, and whether it was ready for tickets."""
        try:
            child = _Child(self._command, self._environ, self._grace)
        except (OSError, RuntimeError) as why:
            log.error("station.not_started", why=f"the station cannot be started: {why}")
            return None, False
        reader = threading.Thread(target=self._read, args=(child,), name="station-reader", daemon=True)
        self._child = child
        reader.start()
        if self._is_ending():  # told so while it was being started
            child.hang_up()
        code = child.process.wait()
        # What it said last counts. But whoever it started may hold its output open for ever.
        reader.join(LAST_WORDS)
        with self._lock:
            self._child = None
            left, self._open = self._open, {}
        for answer in left.values():
            answer.give(ENDED if self._is_ending() else DIED)
        child.hang_up()
        return code, child.ready

    def _read(self, child: _Child) -> None:
        """Hear what it says. If it closes its mouth without ending, it is ended."""
        for line in child.lines():
            self._hear(child, line)
        child.hang_up()

    def _is_ending(self) -> bool:
        return self._ending

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._ending and time.monotonic() < until:
            time.sleep(min(0.1, seconds))

    # -- what it says ------------------------------------------------------------------------------------------

    def _hear(self, child: _Child, line: bytes) -> None:
        """Do what a line says. A bad one is told of, and harms nobody."""
        try:
            match msgspec.json.decode(line):
                case {"say": "ready"}:
                    child.ready = True
                case {"say": "alive"}:
                    child.alive = time.monotonic()
                case {"say": "done", "id": int(number), "why": str(why)}:
                    self._answer(number, why)
                case {"say": "tickets", "tickets": list(tickets)}:
                    self._take(tickets)
                case {"say": "note", "text": str(text)}:
                    self._note(text)
                case _:
                    raise ValueError("it says nothing that is known")
        except (ValueError, TypeError, msgspec.DecodeError) as why:
            log.warning("station.bad_line", why=str(why), line=line[:200].decode("utf-8", "replace"))
        except Exception as error:  # noqa: BLE001 - whoever shows a note must not end the station
            log.warning("station.unheard", exc_info=error)

    def _answer(self, number: int, why: str) -> None:
        with self._lock:
            answer = self._open.pop(number, None)
        if answer is not None:
            answer.give(why)

    def _take(self, tickets: list[Any]) -> None:
        read = msgspec.convert(tickets, list[Ticket])
        if self._to_publish.qsize() < MOST_LISTS:
            self._to_publish.put(read)

    def _deliver(self) -> None:
        """Publish what the station wants published: beside the reader, for a broker may be slow to answer."""
        while (tickets := self._to_publish.get()) is not None:
            try:
                self._publish(tickets)
            except GossamerError as why:
                log.warning("tickets.unpublished", tickets=len(tickets), why=str(why))
            except Exception as error:  # noqa: BLE001 - they are issued again
                log.warning("tickets.unpublished", tickets=len(tickets), exc_info=error)
