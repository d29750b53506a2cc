"""Tables that read the same in a terminal and in Markdown."""

import datetime
import os
import platform
import statistics
import subprocess
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.prepare import PINS, ROOT, Site

RESULTS = Path(__file__).with_name("RESULTS.md")
SHOWN_PEERS = ("scrapy", "crawlee", "twisted", "parsel", "impit", "selectolax", "uvloop")
SHOWN_OURS = ("gossamer", "wreq", "selectolax", "ada-url", "uvloop")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, padded: the first column to the left, the others to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join("| " + " | ".join(padded(line, widths)) + " |" for line in [lines[0], rule, *lines[1:]])


def padded(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = zip(cells, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The median, and the range if there is one."""
    middle = f"{statistics.median(values):,.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def preamble(command: str, sites: Sequence[Site], nginx: str) -> str:
    """When, where, and with what the numbers were taken."""
    lines = [
        f"- {datetime.datetime.now().astimezone():%Y-%m-%d %H:%M %Z}, {machine()}",
        f"- Python {platform.python_version()}; {', '.join(ours())}; commit {commit()}",
        f"- peers: {', '.join(peers())}",
        f"- served by {nginx_version(nginx)} on loopback, on the same machine; "
        + ", ".join(f"{site.package} {site.version}" for site in sites),
        f"- `{command}`",
    ]
    return "\n".join(lines)


def machine() -> str:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
    return f"{os.cpu_count()} x {processor()}, {memory:.0f} GB, Linux {platform.release()}"


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def ours() -> list[str]:
    found = []
    for name in SHOWN_OURS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} (not installed)")
    return found


def peers() -> list[str]:
    pins = dict(line.lower().split("==") for line in PINS.read_text().splitlines() if "==" in line)
    return [f"{name} {pins[name]}" for name in SHOWN_PEERS if name in pins]


def nginx_version(nginx: str) -> str:
    said = subprocess.run([nginx, "-v"], capture_output=True, text=True, check=False).stderr
    return said.partition("version:")[2].strip().replace("/", " ") or "nginx"


def commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
