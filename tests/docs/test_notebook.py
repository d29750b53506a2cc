"""The notebooks of examples/ run from the first cell to the last, and show what they give."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import notebook, reading

NOTEBOOKS = sorted((reading.ROOT / "examples").glob("*.ipynb"))


@pytest.mark.timeout(180)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_it_shows(path: Path) -> None:
    """In a process of its own, with a loop that runs and a warning taken for an error; pictures are not compared."""
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.docs.notebook", str(path), "--check"],
        capture_output=True,
        text=True,
        timeout=150,
        cwd=reading.ROOT,
    )
    assert done.returncode == 0, done.stderr
    cells = notebook.code_cells(notebook.read(path))
    for cell, outputs in zip(cells, json.loads(done.stdout), strict=True):
        shown, hint = notebook.texts(cell["outputs"]), f"write it anew: python -m tests.docs.notebook {path.name}"
        assert notebook.texts(outputs) == shown, hint
        assert len(outputs) == len(cell["outputs"]), hint


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_clean(path: Path) -> None:
    told = notebook.read(path)
    assert path.stat().st_size < 200_000, "pictures are to be small"
    assert (told["nbformat"], told["metadata"]["kernelspec"]["name"]) == (4, "python3")
    assert [cell["execution_count"] for cell in notebook.code_cells(told)] == [
        *range(1, len(notebook.code_cells(told)) + 1)
    ]
    text = "".join("".join(cell["source"]) for cell in told["cells"])
    assert "https://" not in text.replace("`https://...`", ""), "it runs offline"
    kinds = {output["output_type"] for cell in notebook.code_cells(told) for output in cell["outputs"]}
    assert kinds <= {"execute_result", "display_data", "stream"}, "there is an error in it"
    for line in "".join("".join(cell["source"]) + "\n" for cell in notebook.code_cells(told)).splitlines():
        assert len(line) <= 120, line


def test_a_notebook_that_fails_is_noticed(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": ["import asyncio\n", "await asyncio.sleep(0)\n", "1 / 0"], "outputs": []}
    path = tmp_path / "bad.ipynb"
    path.write_text(json.dumps({"cells": [cell]}), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs.notebook", str(path), "--check"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=reading.ROOT,
    )
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
