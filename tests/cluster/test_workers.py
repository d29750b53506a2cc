"""Workers as processes: Celery on a real Redis and a real RabbitMQ carries tickets to stations."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gossamer import workers
from gossamer.cli import app as cli
from gossamer.cli_worker import _knock
from gossamer.errors import ConfigError, StoreAway, StoreError
from gossamer.settings import Place
from tests.cluster.test_bridge import FAKE, until
from tests.conftest import Cli, json_lines
from tests.databases import Redis, free_port, postgres_url, rabbitmq

STORE = "postgresql://me:geheim77@127.0.0.1:1/crawls"
#: The same, with the station of the tests.
RIGGED = f"""
import sys
from gossamer import workers
workers.STATION = (sys.executable, {str(FAKE)!r})
"""
GOSSAMER = "import rigged; from gossamer.cli import main; main()"


@pytest.fixture(scope="module")
def server() -> Iterator[Redis]:
    with Redis() as started:
        yield started


@pytest.fixture
def redis(server: Redis) -> Redis:
    """A Redis with nothing in it."""
    server.flush()
    return server


class Folder:
    """A folder with a gossamer.toml that processes are started in."""

    def __init__(self, path: Path, broker: str) -> None:
        self.path = path
        self._heard = path / "heard"
        (path / "rigged.py").write_text(RIGGED, "utf-8")
        (path / "gossamer.toml").write_text(f'store = "{STORE}"\nbroker = "{broker}"\n', "utf-8")
        self.publish = workers.publisher(Place(store=STORE, broker=broker))

    def celery(self, *args: str, rig: bool = True) -> Any:
        """`celery -A gossamer.workers ...` while it is needed."""
        given = ["-m", "celery", "-A", "gossamer.workers", *args]
        return self.started(*given, *(["--include=rigged", "--without-mingle"] if rig else []))

    def gossamer(self, *args: str) -> Any:
        """`gossamer worker ...` while it is needed."""
        return self.started("-c", GOSSAMER, "worker", *args)

    @contextmanager
    def started(self, *args: str) -> Iterator[subprocess.Popen[bytes]]:
        environ = {**os.environ, "FAKE_HEARD": str(self._heard), "PYTHONUNBUFFERED": "1"}
        with (self.path / "told").open("ab") as told:
            process = subprocess.Popen([sys.executable, *args], cwd=self.path, env=environ, stdout=told, stderr=told)
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
            assert "geheim77" not in self.told

    @property
    def told(self) -> str:
        """What the processes said."""
        return (self.path / "told").read_text("utf-8", "replace")

    def heard(self, kind: str) -> list[Any]:
        """What stations wrote down."""
        with suppress(FileNotFoundError):
            return [each for each in json_lines(self._heard.read_text("utf-8")) if kind in each]
        return []

    def done(self, *tickets: tuple[int, int]) -> bool:
        """Whether these are done, each once."""
        all_of_them = [tuple(each["done"]) for each in self.heard("done")]
        return all(all_of_them.count(ticket) == 1 for ticket in tickets)


@pytest.fixture
def folder(tmp_path: Path, redis: Redis) -> Iterator[Folder]:
    made = Folder(tmp_path, redis.url)
    yield made
    made.publish.close()


def ends_well(worker: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> None:
    worker.send_signal(number)
    assert worker.wait(90) == 0


# -- tickets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pool", ["threads", "gevent", "solo"])
def test_tickets_are_walked_and_a_warm_stop_settles(folder: Folder, pool: str) -> None:
    with folder.celery("worker", f"--pool={pool}", "--concurrency=4") as worker:
        # What a station wants published comes back (1, 2, 3); what it has no room for is offered again.
        folder.publish([(1, 400, 0), (1, 4, 0), (1, 5, 0), (2, 100, 0)])
        until(lambda: folder.done(*((1, shard) for shard in range(1, 6))))
        until(lambda: [each["why"] for each in folder.heard("done") if each["done"] == [2, 100]] == ["no_room", "done"])
        folder.publish([(2, 300, 0)])
        until(lambda: folder.heard("heard")[-1]["heard"].get("shard") == 300)
        ends_well(worker)
    assert folder.heard("done")[-1] | {"why": "yielded"} == folder.heard("done")[-1]  # settled, not broken off
    born = json.loads(folder.heard("born")[0]["born"][0])
    assert (born["pool"], born["concurrency"]) == (pool, 1 if pool == "solo" else 4)
    assert len(folder.heard("ended")) == len(folder.heard("born")) == 1
    assert folder.publish.depth() == 0


def test_a_pool_of_processes_has_a_station_in_each(folder: Folder) -> None:
    with folder.celery("worker", "--pool=prefork", "--concurrency=2") as worker:
        folder.publish([(1, shard, 0) for shard in range(1, 5)])
        until(lambda: folder.done(*((1, shard) for shard in range(1, 5))))
        ends_well(worker)
    assert len(folder.heard("ended")) == len(folder.heard("born")) == 2


#: What anybody may put into a queue of Redis.
NO_MESSAGES = (
    "nothing",
    "[]",
    "{}",
    '{"body": 3, "properties": {}}',
    '{"body": "x", "properties": 7}',
    "[" * 5_000,
    '{"body": "e30=", "content-type": "application/json", "properties": {"body_encoding": "base64", '
    '"delivery_info": {"routing_key": "gossamer", "exchange": ""}, "delivery_tag": null}}',
)


@pytest.mark.parametrize("pool", ["threads", "gevent"])
def test_nothing_ends_a_worker(folder: Folder, redis: Redis, pool: str) -> None:
    """Its station dies, a message is none, Redis forgets everything, Redis dies with all its data: it goes on."""
    with folder.celery("worker", f"--pool={pool}", "--concurrency=4") as worker:
        folder.publish([(1, 1, 0), (1, 300, 0)])
        until(lambda: folder.done((1, 1)) and len(folder.heard("heard")) == 2)
        os.kill(folder.heard("born")[0]["pid"], signal.SIGKILL)
        until(lambda: len(folder.heard("born")) == 2)
        folder.publish([(2, 1, 0), (2, 300, 0)])
        until(lambda: folder.done((2, 1)) and len(folder.heard("heard")) == 4)
        for none in NO_MESSAGES:
            redis.ask("lpush", workers.QUEUE, none)
        until(lambda: redis.ask("llen", workers.QUEUE) == ":0")
        redis.flush()
        folder.publish([(3, 1, 0)])
        until(lambda: folder.done((3, 1)))
        folder.publish([(4, each, 0) for each in range(20)])
        redis.restart()
        until(lambda: _published(folder, (5, 1, 0)))
        until(lambda: folder.done((5, 1)), 60)
        assert worker.poll() is None
        ends_well(worker)
    assert len(folder.heard("born")) == 2


def _published(folder: Folder, ticket: tuple[int, int, int]) -> bool:
    try:
        folder.publish([ticket])
    except StoreError:
        return False
    return True


def test_a_busy_worker_keeps_no_tickets_from_others(folder: Folder) -> None:
    """One that walks as much as it can leaves the rest in the queue."""
    with folder.celery("worker", "--pool=threads", "--concurrency=2") as worker:
        folder.publish([(1, 300, 0)] * 2)
        until(lambda: len(folder.heard("heard")) == 2)
        folder.publish([(2, each, 0) for each in range(5)])
        until(lambda: folder.publish.depth() == 5)
        with folder.celery("worker", "--pool=solo", "--hostname=two@%h"):
            until(lambda: folder.done(*((2, each) for each in range(5))))
        ends_well(worker)


# -- priorities ------------------------------------------------------------------------------------------------

LEVELS = (-9, -4, 0, 3, 9)


def empty(folder: Folder) -> None:
    """Nothing of an earlier test waits."""
    with folder.publish._celery.connection_for_write() as connection:
        for queue in folder.publish._celery.amqp.queues.values():
            bound = queue(connection.default_channel)
            bound.declare()
            bound.purge()


def order_of(folder: Folder) -> list[int]:
    """The priorities in the order in which one worker got to them."""
    folder.publish([(priority + 100, 1, priority) for priority in LEVELS for _ in range(2)])
    with folder.celery("worker", "--pool=solo") as worker:
        until(lambda: len(folder.heard("done")) == 2 * len(LEVELS))
        ends_well(worker)
    return [each["done"][0] - 100 for each in folder.heard("done")]


def test_a_higher_priority_comes_first_on_redis(folder: Folder) -> None:
    assert order_of(folder) == [priority for priority in sorted(LEVELS, reverse=True) for _ in range(2)]


def test_a_higher_priority_comes_first_on_rabbitmq(tmp_path: Path) -> None:
    folder = Folder(tmp_path, rabbitmq().url)
    empty(folder)
    order = order_of(folder)
    assert order == [priority for priority in sorted(LEVELS, reverse=True) for _ in range(2)]
    assert folder.publish.depth() == 0
    folder.publish.close()


def test_rabbitmq_carries_tickets_and_a_busy_worker_keeps_none(tmp_path: Path) -> None:
    folder = Folder(tmp_path, rabbitmq().url)
    empty(folder)
    with folder.celery("worker", "--pool=gevent", "--concurrency=2") as worker:
        folder.publish([(1, 1, 0), (1, 300, 0)])
        until(lambda: folder.done((1, 1)) and len(folder.heard("heard")) == 2)
        folder.publish([(1, 300, 0)])
        until(lambda: len(folder.heard("heard")) == 3)
        folder.publish([(2, each, 0) for each in range(5)])
        until(lambda: folder.publish.depth() == 5)
        ends_well(worker)
    folder.publish.close()


@pytest.mark.parametrize(("broker", "highest"), [("redis://h", 0), ("amqp://h", 9)])
def test_priorities_as_brokers_count(broker: str, highest: int) -> None:
    ranks = [workers.level(priority, broker) for priority in range(-9, 10)]
    assert ranks == sorted(ranks, reverse=highest == 0)
    assert (ranks[-1], ranks[0], set(ranks)) == (highest, 9 - highest, set(range(10)))
    assert (workers.level(99, broker), workers.level(-99, broker)) == (ranks[-1], ranks[0])


# -- beat and Flower -------------------------------------------------------------------------------------------


def test_beat_and_flower_beside_a_worker(folder: Folder, redis: Redis) -> None:
    """Beat asks stations, in good time and without a file of its own; Flower sees what workers do."""
    port = free_port()
    with (
        folder.celery("beat", rig=False) as beat,
        folder.celery("flower", f"--port={port}", "--address=127.0.0.1", rig=False),
        folder.celery("worker", "--pool=threads", "--hostname=seen@%h"),
    ):
        until(lambda: {"reconcile", "tick"} <= {each["heard"]["do"] for each in folder.heard("heard")})

        def seen() -> bool:
            folder.publish([(1, 1, 0)])
            with suppress(OSError):
                metrics = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
                return 'task="gossamer.walk",type="task-succeeded",worker="seen@' in metrics
            return False

        until(seen, 60)
        assert beat.poll() is None
    assert not list(folder.path.glob("celerybeat*"))


def test_beat_is_silent_while_nobody_listens(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.path)
    publish = folder.publish
    ticker = workers.Ticker(app=publish._celery)
    entry = next(iter(ticker.schedule.values()))
    for _ in range(3 * workers.BEAT_MOST):
        ticker.apply_async(entry, advance=False)
    with publish._celery.connection_for_write() as connection:
        assert workers.waiting(connection, workers.BEAT) == workers.BEAT_MOST
    ticker.close()


# -- gossamer worker -------------------------------------------------------------------------------------------


def test_the_command(folder: Folder) -> None:
    with folder.gossamer("--memory", "1GB", "--name", "left") as worker:
        folder.publish([(1, 1, 0), (1, 402, 0), (1, 300, 0)])
        until(lambda: folder.done((1, 1), (1, 402)) and len(folder.heard("heard")) == 3)
        born = folder.heard("born")[0]
        assert json.loads(born["born"][0])["name"].startswith("left@")
        assert born["environ"]["GOSSAMER_WORKER_MEMORY"] == "1GB"
        assert born["environ"]["GOSSAMER_STORE"] == STORE
        ends_well(worker, signal.SIGINT)
    told = folder.told
    assert "postgresql://me:***@127.0.0.1:1/crawls" in told
    assert "takes 4 shards: the processor is idle\n" in told
    assert "settling what is being walked" in told
    assert folder.heard("done")[-1]["why"] == "yielded"


def test_the_command_stops_at_once_when_told_twice(folder: Folder) -> None:
    with folder.gossamer("--concurrency", "2") as worker:
        folder.publish([(1, 301, 0)])
        until(lambda: folder.heard("heard"))
        worker.send_signal(signal.SIGTERM)
        until(lambda: folder.heard("told_to_end"))
        time.sleep(3 * workers.ECHO)  # two at once count as one
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(90) != 0
    assert "stopped at once" in folder.told
    assert not Path(f"/proc/{folder.heard('born')[0]['pid']}").exists()


def test_the_command_with_greenlets_begins_with_them(folder: Folder) -> None:
    with folder.gossamer("--pool", "gevent", "--concurrency", "50") as worker:
        until(lambda: "50 shards at the same time" in folder.told)
        until(lambda: b"monkey.patch_all" in Path(f"/proc/{worker.pid}/cmdline").read_bytes())


def test_the_command_gives_up_on_a_station_that_cannot_live(folder: Folder) -> None:
    (folder.path / "rigged.py").write_text(
        RIGGED + "from gossamer.cluster import bridge\nbridge.FIRST_WAIT = bridge.LONGEST_WAIT = 0.01\n", "utf-8"
    )
    (folder.path / "broken").touch()
    with folder.gossamer() as worker:
        assert worker.wait(60) == 1
    assert "cannot be kept alive" in folder.told


def test_what_is_missing_is_one_sentence(gossamer: Cli) -> None:
    done = gossamer("worker", GOSSAMER_STORE=STORE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gossamer: there is no broker")
    assert len(done.stderr.splitlines()) == 1
    assert "geheim77" not in done.stderr


@pytest.mark.parametrize(
    ("given", "environ", "told"),
    [
        ([], {"GOSSAMER_STORE": "a.db"}, "workers share a PostgreSQL store"),
        ([], {"GOSSAMER_BROKER": "kafka://me:geheim77@h"}, "the broker is none of redis://"),
        ([], {"GOSSAMER_BROKER": "redis://:geheim77@127.0.0.1:1/abc"}, "a database of Redis is a number"),
        (["--pool", "prefork"], {}, "--pool 'prefork' cannot be used"),
        (["--concurrency", "0"], {}, "--concurrency '0' cannot be used"),
        (["--concurrency", "9999"], {}, "--concurrency 9,999 cannot be used"),
        (["--name", "a b"], {}, "--name 'a b' cannot be used"),
        (["--memory", "much"], {}, "--memory = 'much' cannot be used"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(given: list[str], environ: dict[str, str], told: str) -> None:
    known = {"GOSSAMER_STORE": STORE, "GOSSAMER_BROKER": "redis://127.0.0.1:1/0", **environ}
    done = CliRunner().invoke(cli, ["worker", *given], env=known)
    assert isinstance(done.exception, ConfigError)
    assert str(done.exception).startswith(told)
    assert "geheim77" not in str(done.exception)


def test_what_never_lets_us_in_is_one_sentence_and_what_is_away_is_waited_for(tmp_path: Path) -> None:
    """A wrong password is not tried again for ever; a server that just starts is."""
    store, away = postgres_url(), f"redis://127.0.0.1:{free_port()}/0"
    with Redis() as redis:
        assert redis.ask("CONFIG", "SET", "requirepass", "recht88") == "+OK"
        right = redis.url.replace("redis://", "redis://:recht88@")
        wrong = {
            store.replace("postgres@", "nobody:geheim77@"): (right, "PostgreSQL does not let us in"),
            f"{store}_not_there": (right, "there is no such database"),
            store: (right.replace("recht88", "geheim77"), "the broker redis://.* does not let us in"),
        }
        for url, (broker, told) in wrong.items():
            with pytest.raises(StoreError, match=f"^{told}") as caught:
                asyncio.run(_knock(Place(store=url, broker=broker), workers.publisher(Place(broker=broker)).depth))
            assert not isinstance(caught.value, StoreAway)
            assert "geheim77" not in str(caught.value)
        asyncio.run(_knock(Place(store=store, broker=right), workers.publisher(Place(broker=right)).depth))
    gone = f"postgresql://me@127.0.0.1:{free_port()}/none"
    asyncio.run(_knock(Place(store=gone, broker=away), workers.publisher(Place(broker=away)).depth))


def test_to_be_imported_and_looked_at_it_needs_no_broker(tmp_path: Path) -> None:
    """The dashboard looks for its server among all objects of the process."""
    looking = "import gc, gossamer.workers\nfor each in gc.get_objects(): isinstance(each, Exception)"
    told = {name: value for name, value in os.environ.items() if name != "GOSSAMER_BROKER"}
    subprocess.run([sys.executable, "-c", looking], cwd=tmp_path, env=told, check=True)


def test_celery_too_says_one_sentence_without_a_broker(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "gossamer.workers", "worker"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert 'write broker = "redis://127.0.0.1:6379/0" in gossamer.toml, or set GOSSAMER_BROKER' in done.stderr


# -- publishing ------------------------------------------------------------------------------------------------


def test_a_broker_that_is_away_is_one_sentence() -> None:
    publish = workers.publisher(Place(broker=f"redis://me:geheim77@127.0.0.1:{free_port()}/0"))
    for ask in (lambda: publish([(1, 2, 0)]), publish.depth):
        with pytest.raises(StoreError, match=r"the broker redis://me:\*\*\*@.* does not answer") as caught:
            ask()
        assert "geheim77" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert len(str(caught.value).splitlines()) == 1
    publish.close()


def test_no_broker_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no broker"):
        workers.publisher(Place())
