"""Secrets: made once, by a script, and read from files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gossamer import settings
from gossamer.errors import ConfigError
from tests.deploy import compose
from tests.deploy.compose import DEPLOY


def make(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    return subprocess.run([str(DEPLOY / "make-secrets.sh"), str(folder)], capture_output=True, text=True)


def test_every_secret_of_the_compose_file_is_made_and_fits_the_others(tmp_path: Path) -> None:
    done = make(tmp_path / "kept")
    assert done.returncode == 0, done.stderr
    made = {path.name: path.read_text("utf-8").strip() for path in (tmp_path / "kept").iterdir()}
    assert set(made) == set(compose.read()["secrets"])
    database, broker = made["postgres_password"], made["redis.conf"].removeprefix("requirepass ")
    assert re.fullmatch("[0-9a-f]{48}", database)
    assert re.fullmatch("[0-9a-f]{48}", broker)
    assert database != broker
    who = compose.services()["postgres"].environment
    assert made["store_url"] == f"postgresql://{who['POSTGRES_USER']}:{database}@postgres:5432/{who['POSTGRES_DB']}"
    assert made["broker_url"] == f"redis://:{broker}@redis:6379/0"
    assert not any(secret in done.stdout + done.stderr for secret in (database, broker))


def test_only_the_owner_gets_at_them_and_containers_can_read_theirs(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    make(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o444}


def test_secrets_that_are_there_are_never_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    make(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    again = make(folder)
    assert again.returncode == 1
    assert "already" in again.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


# -- settings --------------------------------------------------------------------------------------------------


def refusal(tmp_path: Path, **environ: str) -> str:
    """The sentence by which an environment is refused."""
    with pytest.raises(ConfigError) as caught:
        settings.read({}, environ=environ, folder=tmp_path)
    return str(caught.value)


def test_a_setting_can_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://me:secret@db/x\n", "utf-8")
    (tmp_path / "pace").write_bytes(b"30/min\r\n")
    environ = {"GOSSAMER_STORE_FILE": str(tmp_path / "url"), "GOSSAMER_RATE_FILE": str(tmp_path / "pace")}
    read = settings.read({}, environ=environ, folder=tmp_path)
    assert read.place.store == "postgresql://me:secret@db/x"
    assert read.config.rate == settings.Pace(0.5)
    assert read.origins == {"store": "GOSSAMER_STORE_FILE", "rate": "GOSSAMER_RATE_FILE"}


def test_every_knob_can_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("1", "utf-8")
    for name in settings.KNOBS:
        assert f"{name}_file" not in settings.KNOBS, "a name of a knob that means a file of another"
    read = settings.read({}, environ={"GOSSAMER_PER_HOST_FILE": str(tmp_path / "one")}, folder=tmp_path)
    assert read.config.per_host == 1


def test_a_flag_is_stronger_than_a_file_and_a_file_than_gossamer_toml(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('store = "toml.db"\n', "utf-8")
    (tmp_path / "url").write_text("file.db", "utf-8")
    environ = {"GOSSAMER_STORE_FILE": str(tmp_path / "url")}
    assert settings.read({}, environ=environ, folder=tmp_path).place.store == "file.db"
    assert settings.read({"store": "flag.db"}, environ=environ, folder=tmp_path).place.store == "flag.db"


def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert refusal(tmp_path, GOSSAMER_STORE_FILE=missing) == (
        f"the file {missing!r} of GOSSAMER_STORE_FILE cannot be read: No such file or directory"
    )
    assert "Is a directory" in refusal(tmp_path, GOSSAMER_BROKER_FILE=str(tmp_path))
    (tmp_path / "bytes").write_bytes(b"redis://:\xff\xfe@x")
    told = refusal(tmp_path, GOSSAMER_BROKER_FILE=str(tmp_path / "bytes"))
    assert told.endswith("it is not UTF-8 text")
    assert "redis" not in told
    assert "cannot be read" in refusal(tmp_path, GOSSAMER_BROKER_FILE="a\0b")


def test_a_value_and_a_file_for_it_are_one_too_many(tmp_path: Path) -> None:
    told = refusal(tmp_path, GOSSAMER_STORE="a.db", GOSSAMER_STORE_FILE="/x")
    assert told == "GOSSAMER_STORE and GOSSAMER_STORE_FILE are both set: keep one of them"


def test_what_cannot_be_used_is_refused_under_the_name_of_the_file_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n", "utf-8")
    told = refusal(tmp_path, GOSSAMER_BROKER_FILE=str(tmp_path / "empty"))
    assert told.startswith("GOSSAMER_BROKER_FILE cannot be used: ")
    (tmp_path / "two").write_text("redis://:secret@x\nmore", "utf-8")
    assert "secret" not in refusal(tmp_path, GOSSAMER_BROKER_FILE=str(tmp_path / "two"))


def test_a_file_for_something_that_is_no_setting_is_refused(tmp_path: Path) -> None:
    told = refusal(tmp_path, GOSSAMER_STOER_FILE="/x")
    assert told.startswith("unknown setting 'stoer_file' in the environment")
