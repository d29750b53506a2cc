"""The outside suites' own runners as processes, and what they count."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

HERE = Path(__file__).parent

#: Name of a part -> (right, of how many).
Scores: TypeAlias = Mapping[str, tuple[int, int]]

_RESILIENCE = {
    "breaker": "adapters:Breaker",
    "limiter": "adapters:Limiter",
    "retry-after": "adapters:retry_after",
    "backoff": "adapters:backoff",
}
_RESILIENCE_PEERS = {
    "breaker": "peer:pybreaker",
    "limiter": "peer:aiolimiter",
    "retry-after": "peer:urllib3",
    "backoff": "peer:tenacity",
}
_SCORE = re.compile(r"^(\S.*?):?\s+(?:charset )?(\d+)/(\d+)\b", re.MULTILINE)
_F1 = re.compile(r"^product/\S+\s+(\w+)\s+F1=(\d\.\d{3})", re.MULTILINE)
_BODIES = re.compile(r"^zyte/\S+\s+n=(\d+) F1=(\S+) P=(\S+) R=(\S+) acc=(\S+)", re.MULTILINE)
_STRINGS = re.compile(r"(amount(?:\+currency)?) (\d+)/(\d+)")
_FACTS = re.compile(r"^(\S+)\s+shared fact-recall\S*\s+(\d+)/(\d+)=", re.MULTILINE)
_IDENTICAL = re.compile(r"^links/\S+\s+pages=(\d+) identical=(\d+)", re.MULTILINE)


def links(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Pages whose links are the ones a browser finds, and Scrapy's own cases."""
    return _run(python, suites / "links" / "run.py", "--adapter", adapter)


def encoding(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Pages and labels decoded as browsers do."""
    return _run(python, suites / "encoding" / "run.py", "--adapter", adapter)


def url(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """References resolved, or refused, as WHATWG says."""
    return _run(python, suites / "url" / "run.py", "--resolve", adapter)


def canonical(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Spellings of one URL that get one key, and different URLs that do not."""
    return _run(python, HERE / "canonical.py", str(suites / "url" / "run.py"), "--canon", adapter)


def http(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Answers played byte by byte: understood, refused, or bounded."""
    return _run(python, suites / "http" / "run.py", "--adapter", adapter)


def mime(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Content-Type headers."""
    return _run(python, suites / "http" / "mime.py", "--adapter", adapter)


def robots(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """What robots.txt files allow, by the RFC and by Google's parser."""
    return _run(python, suites / "robots" / "run.py", "--adapter", adapter)


def resilience(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Breakers, buckets, Retry-After and growing waits: ours, or for each part the peer that is known for it."""
    names = _RESILIENCE_PEERS if adapter.startswith("peer:") else _RESILIENCE
    args = [arg for option, name in names.items() for arg in (f"--{option}", name)]
    return _run(python, suites / "resilience" / "run.py", *args)


def cookies(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Cookie headers sent after answers that set cookies."""
    return _run(python, suites / "cookies" / "run.py", "--adapter", adapter)


def sitemaps(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Sitemaps read. The runner fails once it has told this score: it opens a file that is kept from us."""
    runner = suites / "sitemaps" / "run.py"
    told = _told(python, runner, "--adapter", adapter)
    scores = _counted(told.stdout)
    if "scrapy-sitemap" not in scores:
        raise RuntimeError(f"{runner} failed:\n{told.stderr[-2000:]}")
    return scores


def article(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Texts of articles: F1, precision and recall in thousandths, and pages with the very words."""
    runner = suites / "article" / "run.py"
    told = _told(python, runner, "--adapter", adapter, "--sets", "zyte", "--split", "shared")
    found = _BODIES.search(told.stdout)
    if told.returncode or found is None:
        raise RuntimeError(f"{runner} failed:\n{told.stderr[-2000:]}")
    pages, *scores = found.groups()
    thousandths = [round(float(score) * 1000) for score in scores]
    names = ("F1", "precision", "recall")
    exact = round(thousandths[-1] * int(pages) / 1000)
    return {**{name: (n, 1000) for name, n in zip(names, thousandths, strict=False)}, "exact": (exact, int(pages))}


def product(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Price, number and availability of products (F1 in thousandths), and prices as people write them.

    A peer does the one or the other.
    """
    options = ["--price" if adapter == "peer:price-parser" else "--adapter", adapter]
    if not adapter.startswith("peer:"):
        options += ["--price", f"{adapter.partition(':')[0]}:price"]
    runner = suites / "product" / "run.py"
    told = _told(python, runner, *options, "--split", "shared")
    if told.returncode:
        raise RuntimeError(f"{runner} failed:\n{told.stderr[-2000:]}")
    f1 = {name: (round(float(score) * 1000), 1000) for name, score in _F1.findall(told.stdout)}
    return {**f1, **{name: (int(right), int(of)) for name, right, of in _STRINGS.findall(told.stdout)}}


def structured(suites: Path, adapter: str, python: str = sys.executable) -> Scores:
    """Facts found: in extruct's own cases, and of schema.org's examples those that the example in JSON-LD tells."""
    runner = suites / "structured" / "run.py"
    told = _told(python, runner, "--adapter", adapter, "--split", "shared")
    if told.returncode:
        raise RuntimeError(f"{runner} failed:\n{told.stderr[-2000:]}")
    return {name: (int(right), int(of)) for name, right, of in _FACTS.findall(told.stdout)}


def _run(python: str, runner: Path, *args: str) -> Scores:
    done = _told(python, runner, *args, "--split", "shared")
    if done.returncode:
        raise RuntimeError(f"{runner} {' '.join(args)} failed:\n{done.stderr[-2000:]}")
    return _counted(done.stdout)


def _told(python: str, runner: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, str(runner), *args],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE), "PYTHONUNBUFFERED": "1"},
    )


def _counted(told: str) -> Scores:
    scores = {_name(name): (int(right), int(of)) for name, right, of in _SCORE.findall(told)}
    if pages := _IDENTICAL.search(told):
        scores["identical"] = (int(pages[2]), int(pages[1]))
    return scores


def _name(told: str) -> str:
    """A part's name without the name of the split."""
    return "/".join(part for part in told.split("/") if part != "shared")
