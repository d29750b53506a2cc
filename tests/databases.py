"""Real servers for tests: PostgreSQL, Redis and RabbitMQ, on free ports of loopback, gone when the tests are.

    url = postgres_url()                      # a fresh database that has all tables
    with Redis() as redis: ...                # redis.url, redis.flush(), redis.kill(), redis.restart()
    broker = rabbitmq()                       # one for all tests of this process: it starts slowly

Where a server is not installed, the test that wants it is skipped, saying so.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest

KEEPER = Path(__file__).with_name("keeper.py")
#: Seconds a server has to start on a busy machine.
PATIENCE = 60.0
#: Whom a database lets in only with a password; it has characters that a URL must quote.
ROLE, PASSWORD = "keeper", "s3cret/&:@ word"
QUOTED = "s3cret%2F%26%3A%40%20word"


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Server:
    """Processes of a server in a folder of their own, which die with this process."""

    #: How it is told to stop, and whose rights it has when we are root (no server of these wants to be root).
    stopping = signal.SIGTERM
    user: str | None = None

    def __init__(self) -> None:
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix=f"gossamer-{type(self).__name__.lower()}-"))
        self.folder.chmod(0o755)
        self._owner = self.user if os.getuid() == 0 else None
        if self._owner is not None:
            shutil.chown(self.folder, self._owner, self._owner)
        self._keeper: subprocess.Popen[str] | None = None
        #: The processes, in the order of their commands.
        self.pids: list[int] = []

    def commands(self) -> Sequence[Sequence[str]]:
        """What is started."""
        raise NotImplementedError

    def env(self) -> Mapping[str, str]:
        """What its processes know of the world."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}

    def ready(self) -> bool:
        """Whether it answers."""
        raise NotImplementedError

    @property
    def pid(self) -> int:
        """The server's process."""
        return self.pids[-1]

    def start(self) -> Self:
        """Start it, on the same port each time, and wait until it answers."""
        told = {
            "commands": self.commands(),
            "user": self._owner,
            "env": dict(self.env()),
            "folder": str(self.folder),
            "signal": int(self.stopping),
        }
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", str(KEEPER), json.dumps(told)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._keeper.stdout is not None
        self.pids = [int(self._keeper.stdout.readline() or 0) for _ in told["commands"]]  # type: ignore[union-attr]
        until = time.monotonic() + PATIENCE
        while not self.ready():
            if self._keeper.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{type(self).__name__} did not start:\n{self.log()[-4000:]}")
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        """Stop it; what it keeps in files stays."""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            keeper.stdin.write("stop\n")
            keeper.stdin.flush()
        keeper.wait()
        with contextlib.suppress(BrokenPipeError):
            keeper.stdin.close()
        keeper.stdout.close()

    def kill(self) -> None:
        """Let it die at once, as of `kill -9`."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.stop()

    def close(self) -> None:
        """Stop it and take its files away."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self) -> str:
        """What it said."""
        with contextlib.suppress(OSError):
            return (self.folder / "log").read_text("utf-8", "replace")
        return ""

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *exc: object) -> None:
        self.close()


# -- PostgreSQL ------------------------------------------------------------------------------------------------


class Postgres(Server):
    """A PostgreSQL that trusts whoever comes from this machine, and forgets what a power failure would take."""

    stopping = signal.SIGQUIT  # at once, as everything of it is thrown away
    user = "postgres"

    def __init__(self) -> None:
        self.bin = _postgres_bin()
        super().__init__()
        self.data = self.folder / "data"
        self._numbers = itertools.count(1)
        self._run(
            "initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"
        )
        first = f"host all {ROLE} 127.0.0.1/32 scram-sha-256\n"
        trusting = self.data / "pg_hba.conf"
        trusting.write_text(first + trusting.read_text("utf-8"), "utf-8")

    def commands(self) -> Sequence[Sequence[str]]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "shared_buffers": "32MB",
            "max_connections": "200",
            "dynamic_shared_memory_type": "mmap",  # a container's /dev/shm is small
        }
        given = [f"--{name}={value}" for name, value in settings.items()]
        return [[f"{self.bin}/postgres", "-D", str(self.data), "-p", str(self.port), *given]]

    def ready(self) -> bool:
        asked = [f"{self.bin}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def url(self, database: str = "postgres", *, password: bool = False) -> str:
        """The URL of a database; with a password: as the role that needs one."""
        who = f"{ROLE}:{QUOTED}" if password else "postgres"
        return f"postgresql://{who}@127.0.0.1:{self.port}/{database}"

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run SQL by psql, whatever loop may be running here; returns the rows, `|` between their columns."""
        asked = [f"{self.bin}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url(database)]
        done = subprocess.run(asked, input=statement, capture_output=True, text=True, check=False, env={**self.env()})
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.removesuffix("\n")

    def fresh(self, template: str | None = None) -> str:
        """A new database's URL; without a template it is empty."""
        name = f"t{os.getpid()}_{next(self._numbers)}"
        self.sql(f"create database {name} template {template or 'template0'}")
        return self.url(name)

    @functools.cached_property
    def template(self) -> str:
        """A database with all tables, to make others from."""
        from gossamer.storage.migrations.upgrade import upgrade_postgres

        name = "gossamer_template"
        self.sql(f"create database {name} template template0")
        _in_thread(lambda: asyncio.run(upgrade_postgres(self.url(name))))
        return name

    def restart(self) -> None:
        """What `pg_ctl restart -m immediate` does: every connection breaks, and it is back a moment later."""
        self.stop()
        self.start()

    def _run(self, program: str, *args: str) -> None:
        done = subprocess.run(
            [f"{self.bin}/{program}", *args],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            user=self._owner,
            group=self._owner,
            extra_groups=None if self._owner is None else [],
            env=dict(self.env()),
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")


def _postgres_bin() -> str:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = str(places[-1]) if places else shutil.which("initdb")
    if found is None:
        pytest.skip("PostgreSQL is not installed: `make databases` gets it where it can")
    return str(Path(found).resolve().parent)


@functools.cache
def postgres() -> Postgres:
    """The PostgreSQL of this process, started when it is first asked for."""
    server = Postgres()
    atexit.register(server.close)
    server.start()
    server.sql(f"create role {ROLE} login createdb password '{PASSWORD}'")
    return server


def postgres_url(*, empty: bool = False) -> str:
    """The URL of a fresh database: with all tables, or empty."""
    server = postgres()
    return server.fresh(None if empty else server.template)


def _in_thread(work: Callable[[], None]) -> None:
    """Do work beside a loop that may be running here."""
    failed: list[BaseException] = []

    def call() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


# -- Redis -----------------------------------------------------------------------------------------------------


class Redis(Server):
    """A Redis that keeps nothing: when it is killed, all its data are lost."""

    def __init__(self) -> None:
        if shutil.which("redis-server") is None:
            pytest.skip("Redis is not installed: `make databases` gets it where it can")
        super().__init__()

    def commands(self) -> Sequence[Sequence[str]]:
        given = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        return [["redis-server", *given, "--dir", str(self.folder)]]

    def ready(self) -> bool:
        with contextlib.suppress(OSError):
            return self.ask("PING") == "+PONG"
        return False

    @property
    def url(self) -> str:
        """Its first database."""
        return self.url_of(0)

    def url_of(self, number: int) -> str:
        """One of its sixteen databases."""
        return f"redis://127.0.0.1:{self.port}/{number}"

    def ask(self, *words: str) -> str:
        """Give it a command; returns the first line of its answer."""
        said = "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)
        with socket.create_connection(("127.0.0.1", self.port), 5) as talk:
            talk.sendall(f"*{len(words)}\r\n{said}".encode())
            return talk.makefile("rb").readline().decode().rstrip("\r\n")

    def flush(self) -> None:
        """FLUSHALL."""
        assert self.ask("FLUSHALL") == "+OK"

    def restart(self) -> None:
        """Die, with all data, and be back on the same port."""
        self.kill()
        self.start()


# -- RabbitMQ --------------------------------------------------------------------------------------------------


class RabbitMQ(Server):
    """A RabbitMQ with a name, ports and an epmd of its own."""

    user = "rabbitmq"

    def __init__(self) -> None:
        self.bin = Path("/usr/lib/rabbitmq/bin")
        if not (self.bin / "rabbitmq-server").exists() or shutil.which("epmd") is None:
            pytest.skip("RabbitMQ is not installed: `make databases` gets it where it can")
        super().__init__()
        self.epmd, self.distribution = free_port(), free_port()
        for name, text in {"plugins": "[].", "env.conf": "", ".erlang.cookie": "gossamer"}.items():
            (self.folder / name).write_text(text, "utf-8")
            if self._owner is not None:
                shutil.chown(self.folder / name, self._owner, self._owner)
        (self.folder / ".erlang.cookie").chmod(0o600)

    def commands(self) -> Sequence[Sequence[str]]:
        return [["epmd", "-port", str(self.epmd), "-address", "127.0.0.1"], [f"{self.bin}/rabbitmq-server"]]

    def env(self) -> Mapping[str, str]:
        return {
            **super().env(),
            "ERL_EPMD_PORT": str(self.epmd),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"gossamer-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self.distribution),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "logs"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(self.folder / "env.conf"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "none"),
            # One scheduler is enough, and one that spins costs a core of a small machine.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none",
        }

    def ready(self) -> bool:
        """It greets who speaks AMQP only once it is up."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5) as talk:
            talk.sendall(b"AMQP\x00\x00\x09\x01")
            return talk.recv(1) == b"\x01"
        time.sleep(0.1)
        return False

    @property
    def url(self) -> str:
        """Its first virtual host."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def forget(self, *queues: str) -> None:
        """Take queues away, with what is in them."""
        import amqp

        with amqp.Connection(f"127.0.0.1:{self.port}") as talk, talk.channel() as channel:
            for queue in queues:
                channel.queue_delete(queue)

    def purge(self, *queues: str) -> None:
        """Lose all that waits in queues."""
        import amqp

        with amqp.Connection(f"127.0.0.1:{self.port}") as talk, talk.channel() as channel:
            for queue in queues:
                channel.queue_purge(queue)


@functools.cache
def rabbitmq() -> RabbitMQ:
    """The RabbitMQ of this process, started when it is first asked for: that takes ten seconds."""
    server = RabbitMQ()
    atexit.register(server.close)
    return server.start()
