"""Notebooks, run as Jupyter runs them: cell after cell, in one loop that is running, with await at the top of a cell.

`python -m tests.docs.notebook examples/first_look.ipynb` runs one and writes what its cells give into it;
with `--check` it writes nothing, and prints the outputs as JSON.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import contextlib
import inspect
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    """A notebook."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def code_cells(notebook: dict[str, Any]) -> list[Cell]:
    """Its cells of code, in order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    """What outputs say in words: printed, or the value of a cell. Pictures are left out."""
    said = [output.get("text") or output.get("data", {}).get("text/plain") for output in outputs]
    return ["".join(text) for output, text in zip(outputs, said, strict=True) if text and not _is_picture(output)]


def _is_picture(output: dict[str, Any]) -> bool:
    return "image/png" in output.get("data", {})


async def run(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each cell of code."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [await _run_cell("".join(cell["source"]), names, number) for number, cell in enumerate(code_cells(notebook))]


async def _run_cell(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        await _do(compile(tree, f"<cell {number}>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
        if isinstance(last, ast.Expr):
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            value = await _do(compile(ast.Expression(last.value), f"<cell {number}>", "eval", flags=flags), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        outputs.append(
            {"output_type": "execute_result", "execution_count": number + 1, "metadata": {}, "data": _shown(value)}
        )
    return outputs + [
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture, "text/plain": ["<Figure>"]}}
        for picture in _pictures()
    ]


async def _do(code: Any, names: dict[str, Any]) -> Any:
    done = eval(code, names)
    return await done if inspect.iscoroutine(done) and code.co_flags & inspect.CO_COROUTINE else done


def _shown(value: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"text/plain": _lines(repr(value))}
    html = getattr(value, "_repr_html_", None)
    return data | ({"text/html": _lines(html())} if html is not None else {})


def _pictures() -> list[str]:
    """What was plotted by a cell, as PNG. Jupyter shows it in the same way, and closes it."""
    plots: Any = sys.modules.get("matplotlib.pyplot")
    found: list[str] = []
    for number in plots.get_fignums() if plots else ():
        file = io.BytesIO()
        # Without the version of the program, so that the same picture is the same file.
        plots.figure(number).savefig(file, format="png", dpi=72, bbox_inches="tight", metadata={"Software": None})
        found.append(base64.b64encode(file.getvalue()).decode())
    if plots:
        plots.close("all")
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    path, check = Path(sys.argv[1]).resolve(), "--check" in sys.argv
    notebook = read(path)
    os.environ.setdefault("MPLBACKEND", "agg")
    # In Jupyter there is no file behind the cells.
    del sys.modules["__main__"].__file__
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        outputs = asyncio.run(run(notebook))
    if check:
        print(json.dumps(outputs))
        return
    for number, (cell, made) in enumerate(zip(code_cells(notebook), outputs, strict=True), 1):
        cell["outputs"], cell["execution_count"] = made, number
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
