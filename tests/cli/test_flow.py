"""`gossamer flow status`: what people see of a flow's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.flow import status as statusdata
from tests.conftest import Cli, json_lines

MISSING = "ERROR RuntimeError::HTTP response 404"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tasks that passed, failed, wait, are stale, and cannot be read."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for key, said in (("a", "SUCCESS"), ("b", "SUCCESS"), ("c", MISSING), ("d", ""), ("e", "STALE")):
        status = {"name": key, "params": {"url": f"https://a.org/{key}"}}
        status |= {"scrape": {}, "scrape_status": said} if said else {}
        statusdata.write(folder, status)
    (folder / "f.status.json").write_text("{")
    return folder


def test_every_ending_is_counted(gossamer: Cli, folder: Path) -> None:
    done = gossamer("flow", "status", folder)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["executor", "status", "tasks"]
    assert lines[1] == ["scrape", "SUCCESS", "2"]
    assert done.stdout.splitlines()[-1] == "6 tasks: 2 passed, 2 failed, 2 left"
    counts = {row["status"]: row["tasks"] for row in json_lines(gossamer("flow", "status", folder, "--json").stdout)}
    assert counts == {"SUCCESS": 2, MISSING: 1, "STALE": 1, "UNREADABLE": 1}


def test_failed_tasks_are_listed(gossamer: Cli, folder: Path) -> None:
    rows = json_lines(gossamer("flow", "status", folder, "--failed", "--json").stdout)
    assert rows[0] == {"task": "c", "executor": "scrape", "status": MISSING, "url": "https://a.org/c"}
    assert rows[1]["task"] == "f"
    assert "no status file" in rows[1]["status"]


def test_what_is_no_folder_is_refused(gossamer: Cli) -> None:
    done = gossamer("flow", "status", "nowhere")
    assert done.returncode == 2
    assert done.stderr == "gossamer: nowhere is no folder: give the one that the flow works in\n"
