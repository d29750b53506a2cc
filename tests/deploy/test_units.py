"""The systemd units: read by systemd itself where it is installed, and hardened."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from gossamer import settings
from tests.deploy.compose import DEPLOY

UNITS = sorted(DEPLOY.glob("*.service"))
#: The exposure that `systemd-analyze security` may find, of 100.
EXPOSED = 20

every_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)


def keys(unit: Path) -> dict[str, list[str]]:
    """All keys of a unit with their values, in order."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in unit.read_text("utf-8").splitlines():
        if line and line[0] not in "#[":
            name, _, value = line.partition("=")
            found[name].append(value)
    return found


def test_there_is_a_unit_for_every_way_to_run() -> None:
    assert [unit.name for unit in UNITS] == ["gossamer-cluster.service", "gossamer-worker@.service", "gossamer.service"]
    started = {unit.name: keys(unit)["ExecStart"][0].partition("/gossamer ")[2] for unit in UNITS}
    assert set(started.values()) == {"serve", "serve --cluster", "worker"}


@every_unit
def test_it_is_kept_up_and_stopped_in_good_order(unit: Path) -> None:
    told = keys(unit)
    assert told["Restart"] == ["always"]
    assert told["StartLimitIntervalSec"] == ["0"]
    assert told["KillMode"] == ["mixed"]
    wanted = settings.Place().slice if "worker" in unit.name else settings.Place().grace
    assert int(told["TimeoutStopSec"][0]) >= wanted + 30


@every_unit
def test_it_is_nobody_special(unit: Path) -> None:
    told = keys(unit)
    assert told["User"] == ["gossamer"]
    assert told["NoNewPrivileges"] == ["true"]
    assert told["ProtectSystem"] == ["strict"]
    assert told["CapabilityBoundingSet"] == [""]
    assert told["ReadWritePaths"] == told["WorkingDirectory"]


@every_unit
def test_its_settings_are_known_and_hold_no_secret(unit: Path, tmp_path: Path) -> None:
    environ = dict(pair.split("=", 1) for line in keys(unit)["Environment"] for pair in line.split())
    for name, value in environ.items():
        if name.endswith("_FILE"):
            credential = value.removeprefix("%d/")
            assert any(each.startswith(f"{credential}:/etc/gossamer/") for each in keys(unit)["LoadCredential"])
            environ[name] = str(tmp_path / credential)
            (tmp_path / credential).write_text("somewhere", "utf-8")
    read = settings.read({}, environ=environ, folder=tmp_path)
    assert (read.place.store == "somewhere") == (unit.name != "gossamer.service")
    if "worker" in unit.name:
        hard = settings.size(keys(unit)["MemoryMax"][0].lower())
        assert read.place.worker_memory is not None
        assert read.place.worker_memory <= 0.8 * hard


def test_the_units_are_hardened_alike() -> None:
    def hardening(unit: Path) -> str:
        text = unit.read_text("utf-8")
        return text[text.index("NoNewPrivileges") : text.index("[Install]")]

    assert len({hardening(unit) for unit in UNITS}) == 1


@every_unit
def test_it_has_sections_that_can_be_read(unit: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit)
    assert parser.sections() == ["Unit", "Service", "Install"]


@every_unit
def test_systemd_understands_it(unit: Path, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not installed")
    here = tmp_path / unit.name.replace("@", "@1")
    program = Path(sys.executable).with_name("gossamer")
    here.write_text(re.sub(r"/srv/\S+/gossamer(?= )", str(program), unit.read_text("utf-8")), "utf-8")
    told = subprocess.run([analyze, "verify", "--man=no", str(here)], capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (0, "")
    told = subprocess.run(
        [analyze, "security", "--offline=true", f"--threshold={EXPOSED}", "--no-pager", str(here)],
        capture_output=True,
        text=True,
    )
    if "unrecognized option" in told.stderr:
        pytest.skip("this systemd is too old to judge a unit that is not loaded")
    assert told.returncode == 0, told.stdout
