"""The processes of deploy/compose.yaml without containers: same commands, environment, secrets, order and checks.

Host names become 127.0.0.1 and ports free ones; PostgreSQL and Redis are those of this machine. Where we may, each
process sees a root that cannot be written, and has a host name of its own, as in a container.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from tests.databases import Postgres, Redis, free_port
from tests.deploy import compose
from tests.deploy.compose import DEPLOY, Service

#: Seconds until something that must happen is taken for something that does not.
PATIENCE = 60.0
#: What the ports of the file are called in it.
PORTS = {"5432": "postgres", "6379": "redis", "8600": "service", "5555": "flower"}
BIN = Path(sys.executable).parent
#: `docker compose exec -T service command ...`
_EXEC = re.compile(r"docker compose exec (?:-T|--no-TTY) (\w+) ")
#: Mounts what may be written over itself, so that it can be when the rest cannot any more.
_CONTAINED = """
set -e
hostname "$1"; shift
while [ "$1" != -- ]; do mount --bind "$1" "$1"; shift; done; shift
while [ "$1" != -- ]; do mount -o remount,bind,ro "$1"; shift; done; shift
exec "$@"
"""


@functools.cache
def can_contain() -> bool:
    """Whether we may give a process its own view of files, and its own host name."""
    if shutil.which("unshare") is None or os.getuid() != 0:
        return False
    tried = ["unshare", "--mount", "--uts", "sh", "-c", "hostname x && mount -o remount,bind,ro /"]
    return subprocess.run(tried, capture_output=True).returncode == 0


class Database(Postgres):
    """PostgreSQL with the options of the file, and the user and the database that its image makes."""

    def __init__(self, service: Service, password: str) -> None:
        self._service = service
        super().__init__()
        who = service.environment
        asked = f"host all {who['POSTGRES_USER']} 127.0.0.1/32 scram-sha-256\n"
        rules = self.data / "pg_hba.conf"
        rules.write_text(asked + rules.read_text("utf-8"), "utf-8")
        self.start()
        self.sql(f"create role {who['POSTGRES_USER']} superuser login password '{password}'")
        self.sql(f"create database {who['POSTGRES_DB']} owner {who['POSTGRES_USER']} template template0")

    def commands(self) -> Sequence[Sequence[str]]:
        [words] = super().commands()
        return [[*words, *self._service.command[1:]]]


class Broker(Redis):
    """Redis, started as the file starts it."""

    def __init__(self) -> None:
        super().__init__()
        self.command: list[str] = []

    def commands(self) -> Sequence[Sequence[str]]:
        return [self.command]

    def ready(self) -> bool:
        with suppress(OSError):
            return self.ask("PING").startswith("-NOAUTH")
        return False


class Container:
    """One process of a service. What a container engine does for it, the topology does."""

    def __init__(self, topology: Topology, service: Service, number: int) -> None:
        self.topology = topology
        self.service = service
        self.name = f"{service.name}-{number}"
        self.tmp = topology.folder / "tmp" / self.name
        self.tmp.mkdir(parents=True)
        self.log = topology.folder / f"{self.name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """Its first process."""
        assert self._process is not None
        return self._process

    def start(self) -> None:
        """Start it, again if need be."""
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                self._contained(self.topology.local(self.service.command)),
                cwd=self.topology.scrapers,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def environment(self) -> dict[str, str]:
        """What it knows of the world: nothing of ours."""
        told = {name: self.topology.local_text(value) for name, value in self.service.environment.items()}
        image = {"PATH": f"{BIN}:{os.environ['PATH']}", "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
        return {**image, "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(self.tmp), "TMPDIR": str(self.tmp), **told}

    def run(self, command: Sequence[str], **given: Any) -> subprocess.CompletedProcess[str]:
        """What `docker compose exec` does."""
        return subprocess.run(
            self._contained(self.topology.local(command)),
            cwd=self.topology.scrapers,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            **given,
        )

    def check(self) -> subprocess.CompletedProcess[str]:
        """Its health check, once."""
        assert self.service.check is not None
        return self.run(self.service.check)

    def wait_until_well(self) -> None:
        """Check until it is healthy, as the engine does; asserts that it lives meanwhile."""
        until = time.monotonic() + PATIENCE
        while True:
            assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}:\n{self.said()}"
            told = self.check()
            if told.returncode == 0:
                return
            assert time.monotonic() < until, f"{self.name} is not well: {told.stderr}\n{self.said()}"
            time.sleep(0.5)

    def stop(self) -> int:
        """What `docker compose stop` does; asserts that nobody had to be killed. Returns how it ended."""
        tree = self._tree()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(self.service.grace)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not stop in {self.service.grace:.0f} s:\n{self.said()}") from None
        _, left = psutil.wait_procs(tree, timeout=5)
        for each in left:
            each.kill()
        assert not left, f"{self.name} left {[each.cmdline() for each in left]} behind"
        return code

    def kill(self) -> None:
        """What the death of a container does: everything in it is gone at once."""
        for each in self._tree():
            with suppress(psutil.NoSuchProcess):
                each.kill()
        self.process.wait()

    def said(self) -> str:
        """The end of what it wrote."""
        return self.log.read_text("utf-8", "replace")[-6000:]

    def command_lines(self) -> str:
        """What everybody on the machine can see of it."""
        lines = []
        for each in self._tree():
            with suppress(psutil.Error):
                lines.append(" ".join(each.cmdline()))
        return "\n".join(lines)

    def _tree(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(self.process.pid)
            return [first, *first.children(recursive=True)]
        return []

    def _contained(self, command: Sequence[str]) -> list[str]:
        if not can_contain():
            return list(command)
        writable = [str(self.tmp), str(self.topology.data)]
        read_only = sorted({"/", _mount_of(self.topology.scrapers)} - set(writable))
        told = [self.name, *writable, "--", *read_only, "--", *command]
        return ["unshare", "--mount", "--uts", "sh", "-c", _CONTAINED, "sh", *told]


class Topology:
    """Everything of the file, on this machine."""

    def __init__(self, folder: Path, *, workers: int = 2) -> None:
        self.folder = folder
        self.scrapers, self.data, self.secrets = folder / "scrapers", folder / "data", folder / "secrets"
        for each in (self.scrapers, self.data):
            each.mkdir()
        self.services = compose.services(WORKERS=str(workers))
        self.ports = {name: free_port() for name in PORTS.values()}
        self.containers: dict[str, list[Container]] = {}
        self.database: Database
        self.broker: Broker
        subprocess.run([str(DEPLOY / "make-secrets.sh"), str(self.secrets)], check=True, capture_output=True)
        config = self.local_text((DEPLOY / "flowerconfig.py").read_text("utf-8"))
        (folder / "flowerconfig.py").write_text(config, "utf-8")
        self._urls = {name: self.secret(name) for name in ("store_url", "broker_url")}

    # -- names and places ----------------------------------------------------------------------------------------

    def secret(self, name: str) -> str:
        """What a secret's file holds."""
        return (self.secrets / name).read_text("utf-8").strip()

    @property
    def passwords(self) -> list[str]:
        """What nobody may ever read anywhere."""
        return [self.secret("postgres_password"), self.secret("redis.conf").removeprefix("requirepass ")]

    def local_text(self, text: str) -> str:
        """A text of the file, with the addresses and folders of this machine."""
        text = re.sub(r"\b(postgres|redis)(?=:\d)|\b0\.0\.0\.0\b", "127.0.0.1", text)
        for port, name in PORTS.items():
            text = re.sub(rf"\b{port}\b", str(self.ports[name]), text)
        text = text.replace("/run/secrets", str(self.secrets)).replace("/var/lib/gossamer", str(self.data))
        return text.replace("/etc/flowerconfig.py", str(self.folder / "flowerconfig.py"))

    def local(self, words: Sequence[str]) -> list[str]:
        """A command of the file, likewise."""
        found = [self.local_text(word) for word in words]
        # The path says where programs of the image lie; ours are found by it too, but not by who starts them.
        program = shutil.which(found[0], path=f"{BIN}:{os.environ['PATH']}")
        return [program or found[0], *found[1:]]

    # -- up and down ---------------------------------------------------------------------------------------------

    def up(self) -> None:
        """Start all in order, each when those it needs are as far as it wants them."""
        for service in compose.in_order(self.services):
            for name, condition in service.needs.items():
                self._wait_for(name, condition)
            self.start(service.name, int(service.told["deploy"].get("replicas", 1)))
        for name in ("service", "worker"):
            self._wait_for(name, "service_healthy")

    def start(self, name: str, count: int = 1) -> list[Container]:
        """Start a service, or more of it (`--scale`); those that were stopped first. Returns who was started."""
        service = self.services[name]
        known = self.containers.setdefault(name, [])
        if name == "postgres":
            self._start_database(service)
        elif name == "redis":
            self._start_broker(service)
        while len(known) < count:
            known.append(Container(self, service, len(known) + 1))
        started = [] if name in ("postgres", "redis") else [c for c in known if not _lives(c)]
        for each in started:
            each.start()
        return started

    def stop(self, *names: str) -> None:
        """Stop services: in good order, and with exit code 0."""
        for name in names:
            for each in self.containers.get(name, []):
                if _lives(each):
                    code = each.stop()
                    assert code == 0, f"{each.name} ended with {code}:\n{each.said()}"

    def close(self) -> None:
        """Let nothing be left."""
        for each in self.everybody():
            if _lives(each):
                each.kill()
        for server in (getattr(self, "broker", None), getattr(self, "database", None)):
            if server is not None:
                server.close()

    def everybody(self) -> Iterator[Container]:
        """All that were started, the databases left out."""
        for name, known in self.containers.items():
            if name not in ("postgres", "redis"):
                yield from known

    def _start_database(self, service: Service) -> None:
        if hasattr(self, "database"):
            return
        self.database = Database(service, self.secret("postgres_password"))
        self.ports["postgres"] = self.database.port
        self._place_secrets()

    def _start_broker(self, service: Service) -> None:
        if hasattr(self, "broker"):
            return
        self.broker = Broker()
        self.ports["redis"] = self.broker.port
        self.broker.command = self.local(service.command)
        self._place_secrets()
        self.broker.start()

    def _place_secrets(self) -> None:
        """Put the addresses of this machine into the URLs."""
        for name, url in self._urls.items():
            path = self.secrets / name
            path.chmod(0o600)
            path.write_text(self.local_text(url) + "\n", "utf-8")
            path.chmod(0o444)

    def _wait_for(self, name: str, condition: str) -> None:
        known = self.containers[name]
        if condition == "service_completed_successfully":
            for each in known:
                code = each.process.wait(PATIENCE)
                assert code == 0, f"{each.name} ended with {code}:\n{each.said()}"
            return
        assert condition == "service_healthy"
        if name in ("postgres", "redis"):
            told = known[0].check()
            assert told.returncode == 0, (name, told.stdout, told.stderr)
            return
        for each in known:
            each.wait_until_well()

    # -- what people do ------------------------------------------------------------------------------------------

    def documented(self, lines: str) -> None:
        """Do what a page says, line by line: `docker compose` is us."""
        for line in lines.strip().splitlines():
            assert understood(line), f"nobody here knows how to do this: {line}"
            if match := _EXEC.match(line):
                self._exec(match[1], line[match.end() :])
            elif line.startswith("docker compose stop "):
                self.stop(*shlex.split(line)[3:])
            else:
                self.up()

    def _exec(self, name: str, command: str) -> None:
        """Run a command in a service's container; its shell is the reader's, so that `>` and `<` are files here."""
        given = self.containers[name][0].environment()
        if name == "postgres":
            given |= {"PGHOST": "127.0.0.1", "PGPORT": str(self.ports["postgres"])}
            given |= {"PGPASSWORD": self.secret("postgres_password")}
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=given, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"

    def call(self, method: str, path: str, body: Any = None, *, token: str) -> Any:
        """Ask the API through the published port."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports['service']}{path}", method=method)
        request.add_header("Authorization", f"Bearer {token}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read()!r}") from None


@contextmanager
def topology(folder: Path, scrapers: Mapping[str, str]) -> Iterator[Topology]:
    """All of it, with files of scrapers; nothing is up yet."""
    made = Topology(folder)
    for name, text in scrapers.items():
        (made.scrapers / name).write_text(text, "utf-8")
    try:
        yield made
    finally:
        made.close()


def understood(line: str) -> bool:
    """Whether `Topology.documented` can do what a line says."""
    return bool(_EXEC.match(line)) or line.startswith(("docker compose stop ", "docker compose up "))


def _lives(container: Container) -> bool:
    return container._process is not None and container._process.poll() is None


def _mount_of(path: Path) -> str:
    """Where the file system of a path is mounted."""
    while not os.path.ismount(path):
        path = path.parent
    return str(path)
