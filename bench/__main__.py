"""`make bench`: fetch what is needed, crawl, print the tables, write bench/RESULTS.md."""

import argparse
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from bench import compare, growth, prepare, report, serve
from bench.contestants import CONCURRENCY, CONTESTANTS
from bench.prepare import ROOT, SITES, PrepareError, say

TABLES = ("compare", "growth", "frontier")
SIZES = (1_000, 10_000, 100_000)
MILLION = 1_000_000
FRONTIER = ROOT / "bench" / "frontier.py"
TITLE = "# Benchmark results\n\nMade by `make bench`; do not edit.\n\n"
EXAMPLES = """\
examples:
  python -m bench                                        all tables, writes bench/RESULTS.md (about 6 minutes)
  python -m bench --full                                 the same with a site of a million pages
  python -m bench --only gossamer,floor --sites python   two contestants on one site; prints only
  python -m bench --tables growth --growth 1000,50000    only the growth of gossamer
  python -m bench --tables growth --growth-of floor      the same of the bare loop
  python -m bench --prepare                              fetch everything into .bench/ and stop
"""


def names(known: Sequence[str]) -> Any:
    """A parser for comma-separated names that says which there are."""

    def parse(text: str) -> list[str]:
        given = text.split(",")
        for name in given:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return given

    return parse


def positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def sizes(text: str) -> list[int]:
    return [positive(part) for part in text.split(",")]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m bench",
        description="Gossamer next to its peers, and next to itself on bigger sites.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("--rounds", type=positive, default=3, help="runs of everyone on every site (3)")
    add("--only", type=names(list(CONTESTANTS)), help=f"contestants: {', '.join(CONTESTANTS)}")
    add("--sites", type=names(list(SITES)), help=f"sites of the comparison: {', '.join(SITES)}")
    add("--tables", type=names(TABLES), help=f"tables: {', '.join(TABLES)}")
    add("--growth", type=sizes, metavar="SIZES", help=f"site sizes ({','.join(map(str, SIZES))})")
    add("--growth-of", type=names(list(CONTESTANTS)), metavar="NAME", help="whose growth (gossamer)")
    add("--full", action="store_true", help="also a site of a million pages")
    add("--write", action="store_true", help="write bench/RESULTS.md even after a partial run")
    add("--prepare", action="store_true", help="fetch what is needed and stop")
    return made


def partial(args: argparse.Namespace) -> bool:
    """Whether the results would replace fuller ones."""
    return bool(args.only or args.sites or args.tables or args.growth or args.growth_of or args.rounds < 3)


def sections(args: argparse.Namespace) -> Iterator[str]:
    """The report, piece by piece, in Markdown."""
    tables = args.tables or TABLES
    chosen = [CONTESTANTS[name] for name in args.only or CONTESTANTS]
    sites = [SITES[name] for name in args.sites or SITES]
    growing = [CONTESTANTS[name] for name in args.growth_of or ["gossamer"]]
    taking_part = [*chosen * ("compare" in tables), *growing * ("growth" in tables)]
    nginx = make_ready(peers=any(each.peer for each in taking_part), sites=sites)
    command = shlex.join(["python", "-m", "bench", *sys.argv[1:]])
    yield TITLE + report.preamble(command, sites, nginx)
    if "compare" in tables:
        yield "## The same job\n\n" + compare.ABOUT.format(concurrency=CONCURRENCY, rounds=args.rounds)
        with serve.manuals(nginx, sites) as urls:
            for title, made in compare.compare(chosen, sites, urls, args.rounds):
                yield f"### {title}\n\n{made}"
    if "growth" in tables:
        yield from growth_sections(args)
    if "frontier" in tables and FRONTIER.exists():
        yield frontier()


def growth_sections(args: argparse.Namespace) -> Iterator[str]:
    steps = args.growth or [*SIZES, *([MILLION] if args.full else [])]
    yield "## Growth\n\n" + growth.ABOUT
    for name in args.growth_of or ["gossamer"]:
        yield f"### {name}\n\n" + growth.growth(CONTESTANTS[name], steps, args.rounds)


def frontier() -> str:
    """What bench/frontier.py prints on stdout, Markdown with a heading of its own."""
    say("frontier")
    command = [sys.executable, "-m", "bench.frontier"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    nothing = f"## Frontier\n\nbench/frontier.py printed nothing (exit code {done.returncode})"
    return done.stdout.strip() or nothing


def make_ready(*, peers: bool, sites: Sequence[prepare.Site]) -> str:
    """Fetch what is missing; the path to nginx."""
    prepare.KEPT.mkdir(exist_ok=True)
    prepare.docs(sites)
    if peers:
        prepare.peers()
    return prepare.nginx()


def run(args: argparse.Namespace) -> None:
    if args.prepare:
        make_ready(peers=True, sites=list(SITES.values()))
        return
    written = []
    for section in sections(args):
        print(section, end="\n\n", flush=True)
        written.append(section)
    if args.write or not partial(args):
        report.RESULTS.write_text("\n\n".join(written) + "\n")
        say(f"written to {report.RESULTS}")


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    args = parser().parse_args()
    # `kill` ends us as Ctrl-C does: through every `finally` that ends a child. Ctrl-C is set too because
    # a shell starts what it runs in the background deaf to it.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, stop)
    try:
        run(args)
    except PrepareError as why:
        say(f"bench: {why}")
        return 1
    except KeyboardInterrupt:
        say("\nstopped; nothing was written")
        return 130
    return 0


sys.exit(main())
