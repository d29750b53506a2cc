"""deploy/compose.yaml: what a person expects of it holds for every service, also of one that is added later."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from gossamer import settings
from tests.deploy import compose
from tests.deploy.compose import DEPLOY, ROOT, Service

SERVICES = compose.services()
OURS = [each for each in SERVICES.values() if "build" in each.told]
#: Keys that compose knows; one that is misspelt would be refused, or worse, not heard.
KNOWN = {
    "image", "build", "command", "user", "init", "read_only", "tmpfs", "cap_drop", "security_opt", "working_dir",
    "logging", "environment", "secrets", "configs", "volumes", "networks", "ports", "depends_on", "healthcheck",
    "restart", "stop_grace_period", "deploy", "profiles", "shm_size",
}  # fmt: skip
CHECK_KEYS = {"test", "interval", "timeout", "retries", "start_period", "disable"}
TOP = {"name", "services", "networks", "volumes", "configs", "secrets"}

every_service = pytest.mark.parametrize("service", SERVICES.values(), ids=lambda each: each.name)


def test_the_services_are_those_of_a_cluster() -> None:
    assert set(SERVICES) == {"postgres", "redis", "migrate", "service", "worker", "flower"}
    assert SERVICES["migrate"].command == ["gossamer", "db", "upgrade"]
    assert SERVICES["service"].command[:3] == ["gossamer", "serve", "--cluster"]
    assert SERVICES["worker"].command[:2] == ["gossamer", "worker"]
    assert SERVICES["flower"].told["profiles"] == ["flower"], "nobody gets Flower who did not ask for it"


def test_every_key_is_one_that_compose_knows() -> None:
    told = compose.read()
    assert {key for key in told if not key.startswith("x-")} <= TOP
    for each in SERVICES.values():
        assert set(each.told) <= KNOWN, each.name
        assert set(each.told["healthcheck"]) <= CHECK_KEYS, each.name
        assert set(each.told["deploy"]) <= {"replicas", "resources"}, each.name


@every_service
def test_every_service_is_kept_up_limited_and_watched(service: Service) -> None:
    once = service.name == "migrate"
    assert service.told["restart"] == ("on-failure:5" if once else "always")
    assert (service.check is None) == once
    if not once:
        check = service.told["healthcheck"]
        assert compose.seconds(check["timeout"]) <= compose.seconds(check["interval"])
        assert check["retries"] >= 2
        assert compose.seconds(check["start_period"]) > 0
    limits = service.told["deploy"]["resources"]["limits"]
    assert float(limits["cpus"]) > 0
    assert compose.size(limits["memory"]) >= 64 << 20
    assert limits["pids"] > 0
    assert service.told["logging"]["options"] == {"max-size": "10m", "max-file": "5"}, "logs that fill the disk"
    assert service.told["init"] is True
    assert service.grace >= 10


@every_service
def test_nobody_is_root_or_can_write_beside_volumes(service: Service) -> None:
    user, _, group = str(service.told["user"]).partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert service.told["read_only"] is True
    assert service.told["cap_drop"] == ["ALL"]
    assert service.told["security_opt"] == ["no-new-privileges:true"]
    assert any(each.startswith("/tmp:") for each in service.told["tmpfs"])
    assert all("size=" in each for each in service.told["tmpfs"]), "a tmpfs without a size can take all memory"
    assert not any("docker.sock" in text for text in compose.texts(service.told))


@every_service
def test_images_are_pinned(service: Service) -> None:
    name, _, tag = service.told["image"].partition(":")
    if service in OURS:
        assert (name, tag) == ("gossamer", "local")
        assert service.told["build"] == {"context": "..", "dockerfile": "Dockerfile"}
        assert (DEPLOY / service.told["build"]["context"] / service.told["build"]["dockerfile"]).exists()
    else:
        assert re.match(r"\d+\.\d+", tag), f"{name} is not pinned to a version"


def test_the_database_is_one_that_gossamer_knows() -> None:
    tag = SERVICES["postgres"].told["image"].partition(":")[2]
    assert int(tag.partition(".")[0]) >= 15


@every_service
def test_secrets_are_files_and_no_environment_holds_one(service: Service) -> None:
    for name, value in service.environment.items():
        assert name.endswith("_FILE") or not re.search("password|secret|token|key|_url$", name, re.IGNORECASE), name
        assert not re.search(r"://[^/\s]*@", value), f"{name} holds a password"
        if name.endswith("_FILE"):
            assert value.removeprefix("/run/secrets/") in service.told["secrets"], f"{name} is not given to it"
    for word in service.command:
        assert not re.search(r"://[^/\s]*@|requirepass|--password", word), "others see it in the list of processes"


def test_every_secret_is_given_to_whoever_needs_it_and_nobody_else() -> None:
    given = {name for each in SERVICES.values() for name in each.told.get("secrets") or []}
    assert given == set(compose.read()["secrets"])
    for name, told in compose.read(SECRETS_DIR="/kept")["secrets"].items():
        assert told == {"file": f"/kept/{name}"}
    holders = {name: {s.name for s in SERVICES.values() if name in (s.told.get("secrets") or [])} for name in given}
    assert holders["postgres_password"] == {"postgres"}
    assert holders["redis.conf"] == {"redis"}
    assert holders["store_url"] == {each.name for each in OURS}


@every_service
def test_only_what_people_use_is_published_and_only_on_loopback(service: Service) -> None:
    published = service.told.get("ports") or []
    assert bool(published) == (service.name in ("service", "flower"))
    assert all(str(port).startswith("127.0.0.1:") for port in published)


def test_database_and_broker_reach_nobody_outside() -> None:
    networks = compose.read()["networks"]
    assert networks["inside"] == {"internal": True}
    for name in ("postgres", "redis", "migrate"):
        assert SERVICES[name].told["networks"] == ["inside"]
    for each in SERVICES.values():
        assert set(each.told["networks"]) <= set(networks)


def test_workers_can_be_scaled() -> None:
    worker = SERVICES["worker"].told
    assert "container_name" not in worker
    assert "ports" not in worker, "two containers cannot have one port"
    assert compose.services(WORKERS="5")["worker"].told["deploy"]["replicas"] == "5"


def test_nobody_starts_before_the_tables_are_there() -> None:
    for name in ("service", "worker"):
        assert SERVICES[name].needs == {"migrate": "service_completed_successfully", "redis": "service_healthy"}
    assert SERVICES["migrate"].needs == {"postgres": "service_healthy"}
    order = [each.name for each in compose.in_order(SERVICES)]
    assert order == ["postgres", "redis", "migrate", "service", "worker"]


def test_volumes_are_named_and_the_scrapers_cannot_be_written() -> None:
    named = set(compose.read()["volumes"])
    for each in SERVICES.values():
        for mount in each.told.get("volumes") or []:
            assert mount["type"] == "bind" or mount["source"] in named, each.name
            assert mount["type"] == "volume" or mount["read_only"] is True, each.name
    places = {each.name: [(m["source"], m["target"]) for m in each.told["volumes"]] for each in OURS}
    assert places["service"] == places["worker"], "a run names its scraper by its path"
    assert all(each.told["working_dir"] == "/scrapers" for each in OURS)


@pytest.mark.parametrize("service", OURS, ids=lambda each: each.name)
def test_every_setting_is_one_that_gossamer_knows(service: Service, tmp_path) -> None:
    environ = service.environment
    for name in list(environ):
        if name.endswith("_FILE"):
            file = tmp_path / name
            file.write_text(f"the content of {name}\n", "utf-8")
            environ[name] = str(file)
    read = settings.read({}, environ=environ, folder=tmp_path)
    assert read.place.store == "the content of GOSSAMER_STORE_FILE"
    assert read.place.broker == "the content of GOSSAMER_BROKER_FILE"
    if service.name == "service":
        port = read.place.listen.rpartition(":")[2]
        assert any(str(each).endswith(f":{port}") for each in service.told["ports"])
        # What it writes without being told where would lie in the folder of scrapers, which cannot be written.
        assert str(read.place.log_dir).startswith("/var/lib/gossamer/")


def test_a_worker_starts_anew_before_its_container_is_killed() -> None:
    worker = SERVICES["worker"]
    soft = settings.size(worker.environment["GOSSAMER_WORKER_MEMORY"])
    hard = compose.size(worker.told["deploy"]["resources"]["limits"]["memory"])
    assert soft <= 0.8 * hard


def test_a_worker_has_the_time_to_end_in_good_order() -> None:
    place = settings.Place()
    assert SERVICES["worker"].grace >= place.slice + place.grace + 30
    assert SERVICES["service"].grace >= place.grace + 30


def test_the_database_has_connections_for_the_workers_it_is_deployed_with() -> None:
    words = SERVICES["postgres"].command
    most = next(int(word.partition("=")[2]) for word in words if word.startswith("max_connections="))
    workers = int(SERVICES["worker"].told["deploy"]["replicas"])
    assert 13 * workers + 40 <= most
    assert most >= 13 * 10 + 40, "ten workers are nothing special"


def test_the_example_of_an_env_file_names_every_variable_with_its_default() -> None:
    lines = (DEPLOY / ".env.example").read_text("utf-8").splitlines()
    named = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert named == compose.variables()
    assert not any(name.startswith(settings.PREFIX) for name in named), "gossamer itself would not know such a name"


def test_what_must_not_be_committed_is_ignored() -> None:
    ignored = (DEPLOY / ".gitignore").read_text("utf-8").split()
    assert {".env", "secrets/", "*.dump"} <= set(ignored)


def test_compose_itself_reads_it_where_it_is_installed() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("there is no `docker compose` here")
    done = subprocess.run(
        [docker, "compose", "--profile", "flower", "--file", str(compose.FILE), "config", "--quiet"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
