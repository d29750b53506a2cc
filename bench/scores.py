"""`python -m bench.scores`: every outside suite through our code and the peers', written to bench/SCORES.md.

The peers live in an environment of their own, made by `python -m bench.scores --install-peers`; without it
only our own scores are taken.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import venv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.suites import runners, sites

from bench.prepare import KEPT, ROOT, PrepareError, run, say, unpack

SUITES = Path(os.environ.get("GOSSAMER_CORPORA", ROOT.parent / "shared")).resolve() / "suites"
SCORES = ROOT / "bench" / "SCORES.md"
SCRAPY_SITE = ROOT / "bench" / "jobs" / "scrapy_site.py"
PEERS = KEPT / "suite-peers"
PEER_PYTHON = PEERS / "bin" / "python"
PEER_PACKAGES = (
    "ada-url==4.0.0",
    "aiohttp==3.14.5",
    "aiolimiter==1.3.0",
    "beautifulsoup4==4.15.0",
    "chardet==7.7.0",
    "charset-normalizer==3.5.2",
    "courlan==1.4.0",
    "extruct==0.18.0",
    "html5lib==1.1",
    "httpx==0.28.1",
    "lxml==6.1.3",
    "lxml_html_clean==0.4.6",
    "parsel==1.12.1",
    "price-parser==0.5.1",
    "protego==0.7.0",
    "pybreaker==1.4.1",
    "scrapy==2.19.0",
    "selectolax==1.0.2",
    "tenacity==9.2.1",
    "trafilatura==2.3.1",
    "urllib3==2.8.0",
    "w3lib==2.5.0",
    "webencodings==0.6.1",
    "yarl==1.25.1",
)
#: Installed without what they ask for: this one wants a chardet older than the peer, and does as well with it.
LOOSE_PACKAGES = ("readability-lxml==0.9",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One table: whose scores, in which parts, and what to know when reading it."""

    title: str
    run: Callable[..., runners.Scores]
    ours: str
    peers: Sequence[str]
    #: Name in the runner's output -> what it is.
    parts: Mapping[str, str]
    notes: Sequence[str] = ()


TABLES = (
    Suite(
        title="Links of real pages",
        run=runners.links,
        ours="links",
        peers=("lxml", "selectolax", "bs4", "scrapy"),
        parts={"identical": "pages with the same set of links", "scrapy-lx default-ctor cases": "Scrapy's own cases"},
        notes=(
            "`page.links` also has frames, which the suite leaves out: they are taken out of the tree before.",
            "The page we differ on is UTF-8 and says so, but only after 5 kB; the expected links were read as "
            "windows-1252.",
            "The Scrapy case we differ on leaves out a link to a `.jpg`. Whether to fetch it is for the scope to say.",
        ),
    ),
    Suite(
        title="Encodings",
        run=runners.encoding,
        ours="decode_page",
        peers=("html5lib", "w3lib", "w3lib+chardet", "bs4", "charset-normalizer"),
        parts={
            "html5lib-meta": "`<meta>` found as browsers do",
            "whatwg-labels": "names of encodings",
            "w3lib-html_to_unicode": "w3lib's own cases",
            "chardet-corpus": "whole texts right",
        },
    ),
    Suite(
        title="URLs resolved",
        run=runners.url,
        ours="resolve",
        peers=("ada", "yarl", "httpx", "w3lib", "stdlib"),
        parts={
            "whatwg/http/href": "WHATWG, http: resolved",
            "whatwg/http/failure": "WHATWG, http: refused",
            "toascii.jsonl": "international names",
            "whatwg/other/href": "WHATWG, other schemes: resolved",
            "whatwg/other/failure": "WHATWG, other schemes: refused",
        },
        notes=(
            "Inside Gossamer no URL has a fragment; for the comparison ada-url puts it back.",
            "Other schemes are refused by design: only http and https are fetched.",
        ),
    ),
    Suite(
        title="URLs known again",
        run=runners.canonical,
        ours="comparable",
        peers=("w3lib", "scrapy", "courlan", "yarl", "ada"),
        parts={
            "w3lib-canonicalize/same-key": "two spellings, one key",
            "w3lib_canonicalize.jsonl/distinct-kept": "different URLs, different keys",
            "w3lib-canonicalize/exact": "the very form that w3lib writes",
        },
        notes=(
            "The cases are w3lib's own. Ours is a key for comparing, never fetched or shown, so its form is free.",
            "The one we miss is an `sftp:` URL, which has no key because it is never fetched.",
            "Relative URLs are read as if they stood on a page.",
        ),
    ),
    Suite(
        title="HTTP, byte by byte",
        run=runners.http,
        ours="fetcher",
        peers=("aiohttp", "httpx"),
        parts={
            "must": "must",
            "should": "should",
            "retry-after": "answers with Retry-After",
            "llhttp-strict": "llhttp's strict rules",
            "wpt-browser-consensus": "as browsers agree",
            "wpt-odd": "odd",
        },
        notes=(
            "Through `fetch/client.py`, with redirects followed as the engine does.",
            "One `must` case is a race with a closing server: it fails in 1 of 3 runs unless a broken connection is "
            "tried again. Scores here can differ by one between runs: httpx had 25 of `must` in another.",
            "wreq alone, by the suite's document: must 27, should 2, llhttp 19, browsers 12, odd 10. What we add: a "
            "request whose connection broke is tried once more (the engine does so at the host's pace), and codings "
            "that wreq does not know are undone.",
            "What is left is in wreq's parser: it takes what llhttp refuses (bare line feeds, `chunked` not last), "
            "and refuses statuses below 100 and lengths that are not numbers.",
        ),
    ),
    Suite(
        title="Content-Type",
        run=runners.mime,
        ours="charset",
        peers=("w3lib", "stdlib"),
        parts={"mime": "charset found"},
        notes=("We take a charset that browsers refuse for a form feed or a bad first value before it.",),
    ),
    Suite(
        title="robots.txt",
        run=runners.robots,
        ours="Robots",
        peers=("protego", "stdlib"),
        parts={
            "rfc9309": "RFC 9309 and Google",
            "google-only": "Google only",
            "protego": "protego's own cases",
            "protego-contested": "of these, against Google",
            "crawl-delay": "Crawl-delay",
            "sitemaps": "Sitemaps",
            "corpus-vs-google": "decisions on real files, as Google's parser",
        },
        notes=(
            "Parsing is protego's; we give it our product name, and cut long names in the file after their first word.",
            "`fetch_status.jsonl` has no runner: `tests/walk/test_robots_status.py` serves it.",
        ),
    ),
    Suite(
        title="Resilience",
        run=runners.resilience,
        ours="Breaker",
        peers=("peers",),
        parts={
            "breaker": "breaker",
            "limiter": "rate limiter",
            "retry-after": "Retry-After",
            "backoff": "growing waits",
        },
        notes=("The peers are one for each part: pybreaker, aiolimiter, urllib3 and tenacity.",),
    ),
    Suite(
        title="Cookies",
        run=runners.cookies,
        ours="cookie",
        peers=("aiohttp", "httpx", "scrapy"),
        parts={"cookies/shared: exact": "IETF cases, the very header"},
    ),
    Suite(
        title="Sitemaps",
        run=runners.sitemaps,
        ours="locations",
        peers=("scrapy",),
        parts={"scrapy-sitemap": "Scrapy's own cases"},
    ),
    Suite(
        title="Products",
        run=runners.product,
        ours="adapt_product:product",
        peers=("extruct", "price-parser"),
        parts={
            "price": "price, F1 in thousandths",
            "sku": "the shop's number, F1 in thousandths",
            "availability": "in stock or not, F1 in thousandths",
            "amount": "amounts of price strings",
            "amount+currency": "of these, with their currency's mark",
        },
        notes=(
            "47 pages, 46 of them in stock. extruct has the suite's simple rules on top; commercial services published "
            ".90, .87 and .96.",
            "The heuristics were made looking at 28 of the pages, chosen by hash, and checked on the other 19: there "
            "price 833, number 865, availability 947; extruct has 710, 500 and 895 on these.",
            "The price strings are price-parser's own tests. All of them were looked at.",
        ),
    ),
    Suite(
        title="Articles",
        run=runners.article,
        ours="adapt_article:body",
        peers=("trafilatura", "trafilatura-fast", "readability", "bs4text"),
        parts={
            "F1": "text of real articles: F1, in thousandths",
            "precision": "precision",
            "recall": "recall",
            "exact": "pages with the very words",
        },
        notes=(
            "F1 of runs of four words, as in Zyte's benchmark. These are 69 pages of it: the error is about 10.",
            "The text is found by trafilatura. What we add: tables that only lay a page out are undone, paragraphs "
            "that only lead elsewhere and the repeated title are left out, and a text that is hardly prose is looked "
            "for again, the slow way.",
        ),
    ),
    Suite(
        title="Structured data",
        run=runners.structured,
        ours="adapt_structured:everything",
        peers=("extruct",),
        parts={
            "schemaorg/JSON": "facts of schema.org's examples, in JSON-LD",
            "schemaorg/MICRODATA": "the same facts, in microdata",
            "schemaorg/RDFA": "the same facts, in RDFa",
            "extruct-cases/json-ld": "extruct's own cases: JSON-LD",
            "extruct-cases/microdata": "extruct's own cases: microdata",
            "extruct-cases/rdfa": "extruct's own cases: RDFa",
            "extruct-cases/opengraph": "extruct's own cases: OpenGraph",
            "extruct-cases/dublincore": "extruct's own cases: Dublin Core",
            "extruct-cases/microformat": "extruct's own cases: microformats",
        },
        notes=(
            "Many examples tell other facts in microdata and RDFa than in JSON-LD, or have no such markup at all: no "
            "reader can find all of them.",
            "The microdata cases that both miss want relative URLs left as they are; the RDFa case, the same random "
            "name of a blank node. The suite does not ask extruct for microformats; the type we leave out there is "
            "`h-hidden-phone`, which is none.",
        ),
    ),
)

SITE_COLUMNS = {
    "oracle": "pages",
    "covered": "fetched",
    "twice": "fetched twice",
    "extras": "not in the graph",
    "wrong_body": "wrong body",
    "wrong_depth": "wrong depth",
}


def table(suite: Suite) -> str:
    """One suite's scores as Markdown."""
    say(f"{suite.title}: gossamer")
    ours = suite.ours if ":" in suite.ours else f"adapters:{suite.ours}"
    columns = {"gossamer": suite.run(SUITES, ours)}
    for peer in suite.peers if PEER_PYTHON.exists() else ():
        say(f"{suite.title}: {peer}")
        columns[peer] = suite.run(SUITES, f"peer:{peer}", str(PEER_PYTHON))
    rows = []
    for part, meaning in suite.parts.items():
        of = next(scores[part][1] for scores in columns.values() if part in scores)
        rows.append(
            [meaning, str(of), *(str(scores[part][0]) if part in scores else "–" for scores in columns.values())]
        )
    return section(suite.title, ["", "of", *columns], rows, suite.notes)


def site_table() -> str:
    """Whole manuals, by us and by Scrapy."""
    rows = [site_row(manual, name, crawl) for manual in sites.MANUALS for name, crawl in crawlers().items()]
    notes = (
        f"{sites.FAIL:.0%} of the URLs fail the first time: 503 or 429 with `Retry-After: 1`, a reset, or a body that "
        "breaks off. Both ask 16 at a time, without a pace, and try again up to 5 times.",
        "Fetched twice: whole answers that were fetched again, by the server's log.",
        "Scrapy promises no depths.",
        "Where Scrapy lacks `/` of sqlite3-doc it has the same bytes as `//`, which is not in the graph.",
    )
    return section("Whole sites", ["package", "", *SITE_COLUMNS.values()], rows, notes)


def site_row(manual: sites.Manual, name: str, crawl: sites.Crawler) -> list[str]:
    say(f"{manual.package}: {name}")
    unpacked = KEPT / "docs" / manual.package
    unpack(manual.package, unpacked)
    if why := manual.differs(SUITES, unpacked):
        raise PrepareError(why)
    with tempfile.TemporaryDirectory() as folder:
        found = sites.score(manual, SUITES, unpacked, Path(folder), crawl)
    return [manual.package, name, *(str(found[column]) for column in SITE_COLUMNS)]


def crawlers() -> dict[str, sites.Crawler]:
    return {"gossamer": sites.gossamer, **({"scrapy": scrapy} if PEER_PYTHON.exists() else {})}


def scrapy(start: str, folder: Path) -> list[dict[str, Any]]:
    told = run([str(PEER_PYTHON), str(SCRAPY_SITE), start], "Scrapy failed", folder=folder)
    return [json.loads(line) for line in told.splitlines()]


def section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    lines = [f"## {title}", "", _row(head), _row(["---"] * len(head)), *map(_row, rows), ""]
    return "\n".join(lines + [f"- {note}" for note in notes]) + ("\n" if notes else "")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def install_peers() -> None:
    say(f"installing the peers into {PEERS}")
    venv.create(PEERS, with_pip=True)
    pip = [str(PEER_PYTHON), "-m", "pip", "install", "--quiet"]
    # The pip that comes with Python 3.11 stumbles over two peers that want the same extra of lxml.
    run([*pip, "--upgrade", "pip"], "could not bring pip up to date")
    run([*pip, *PEER_PACKAGES], "could not install the peers")
    run([*pip, "--no-deps", *LOOSE_PACKAGES], "could not install the peers")


def introduction() -> str:
    ours = (
        "# Scores on outside suites\n\nMade by `python -m bench.scores`; do not edit. Cases that nobody here wrote.\n"
    )
    if not PEER_PYTHON.exists():
        return ours + "\nThe peers are not installed here: `python -m bench.scores --install-peers` does it.\n"
    listed = json.loads(run([str(PEER_PYTHON), "-m", "pip", "list", "--format=json"], "no list of the peers"))
    wanted = {package.partition("==")[0] for package in (*PEER_PACKAGES, *LOOSE_PACKAGES)}
    peers = ", ".join(f"{p['name']} {p['version']}" for p in listed if p["name"].lower() in wanted)
    return f"{ours}A peer scores full marks on cases taken from its own tests. Peers: {peers}.\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scores", description=__doc__.partition("\n")[0])
    parser.add_argument("--install-peers", action="store_true", help="make the environment of the peers first")
    parser.add_argument("--no-sites", action="store_true", help="print without crawling whole sites; write nothing")
    options = parser.parse_args()
    try:
        if not SUITES.is_dir():
            raise PrepareError(f"{SUITES} is absent: set GOSSAMER_CORPORA to where the outside suites are")
        if options.install_peers:
            install_peers()
        tables = [introduction(), *map(table, TABLES)]
        if options.no_sites:
            print("\n".join(tables))
            return
        SCORES.write_text("\n".join([*tables, site_table()]))
    except (PrepareError, RuntimeError, subprocess.SubprocessError) as why:
        raise SystemExit(str(why)) from None
    print(SCORES.read_text())


if __name__ == "__main__":
    main()
