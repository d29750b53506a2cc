"""What `make test` runs: everything side by side, then the kills by themselves, then a second look.

Half of the tests wait for other processes, so several work at once. On a small machine that starves one of them now
and then of the seconds it counts on; a test that failed beside others is run again by itself, and only that counts.
It is said which these were. Tests that kill processes have one chance: what they would show must not be missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Tests at work at the same time. More than there are cores: most of them wait.
BESIDE = max(3, os.cpu_count() or 1)
#: More failures than this are no bad luck.
UNLUCKY = 10
#: What kills processes: one by one; and whole clusters, which mostly wait, two at a time.
KILLS, CLUSTERS = "tests/crash", "tests/cluster/kills"
FAILED = 1


def pytest(*args: str) -> int:
    """Run tests in a process of their own; returns how it ended, as pytest says it."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--cov", "--cov-append", *args], cwd=ROOT, check=False
    ).returncode


def failed() -> list[str]:
    """The tests that failed when they were last run."""
    try:
        found = json.loads((ROOT / ".pytest_cache/v/cache/lastfailed").read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [name for name in found if not name.startswith((KILLS, CLUSTERS))]


def main() -> int:
    """Run all; returns 0 if all passed."""
    for name in (".coverage", ".pytest_cache/v/cache/lastfailed"):
        (ROOT / name).unlink(missing_ok=True)
    apart = (f"--ignore={KILLS}", f"--ignore={CLUSTERS}")
    beside = pytest("-n", str(BESIDE), "--dist", "loadfile", *apart, "--cov-report=")
    unlucky = failed() if beside == FAILED else []
    killed = pytest("-n", "2", "--dist", "loadfile", CLUSTERS, "--cov-report=")
    killed = pytest(KILLS, "--cov-report=term" if not unlucky else "--cov-report=") or killed
    if 0 < len(unlucky) <= UNLUCKY:
        print("failed beside others, and looked at again:", *unlucky, sep="\n  ", flush=True)
        beside = pytest(*unlucky, "--cov-report=term")
    return beside or killed


if __name__ == "__main__":
    sys.exit(main())
