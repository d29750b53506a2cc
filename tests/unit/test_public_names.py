"""What the package offers, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import gossamer


def test_the_package_exports_exactly_what_it_names() -> None:
    public = {
        name for name, value in vars(gossamer).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert set(gossamer.__all__) == public | {"__version__"}
    assert gossamer.__all__ == sorted(gossamer.__all__)


def test_every_public_name_says_what_it_is() -> None:
    for name in gossamer.__all__:
        assert name == "__version__" or getattr(gossamer, name).__doc__, name


def test_importing_the_package_does_not_load_what_most_programs_never_use() -> None:
    """structlog imports rich by itself, so that one is seen only by the modules of ours that use it."""
    heavy = ["sqlalchemy", "alembic", "lxml", "typer", "chardet", "publicsuffixlist"]
    heavy += ["pyarrow", "pandas", "polars", "numpy", "obstore", "warcio", "trafilatura", "dateparser"]
    heavy += ["gossamer.cli", "gossamer.terminal", "gossamer.explain", "gossamer.testing", "gossamer.demo"]
    code = f"import sys, gossamer; print([name for name in {heavy} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip() == "[]"
