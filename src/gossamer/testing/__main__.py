"""`python -m gossamer.testing`: a site as a process of its own."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from gossamer.testing.graph import graph_site
from gossamer.testing.site import Site


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m gossamer.testing", description="Serve a generated site on loopback."
    )
    parser.add_argument("--pages", type=int, default=1000, help="how many pages the site has")
    parser.add_argument("--links", type=int, default=12, help="links on each page")
    parser.add_argument("--latency-ms", type=float, default=0, help="milliseconds before each answer")
    parser.add_argument("--faults", type=float, default=0, help="share of pages that fail at first, 0 to 1")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another site")
    parser.add_argument("--app", help="a function that is given the Site to fill, instead of all this: module:function")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; several, separated by commas")
    parser.add_argument("--port", type=int, default=0, help="port to listen on; 0 is any free one")
    parser.add_argument("--log", type=Path, help="append a JSON line per request to this file")
    parser.add_argument("--log-ends", action="store_true", help="and one more when its answer is out")
    parser.add_argument("--child", action="store_true", help="end when standard input does: with whoever started us")
    return parser.parse_args(argv)


def _app(name: str) -> Callable[[Site], object]:
    module, _, function = name.partition(":")
    found: Callable[[Site], object] = getattr(importlib.import_module(module), function)
    return found


def _until_told(child: bool) -> None:
    """Wait for SIGTERM or SIGINT; a child also for the end of its standard input, which a killed parent leaves."""
    stop = threading.Event()

    def ask(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    def listen() -> None:
        sys.stdin.read()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    if child:
        threading.Thread(target=listen, daemon=True).start()
    sys.stdout.flush()
    stop.wait()


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM or SIGINT. OSError when the port or the log cannot be had."""
    args = _arguments(argv)
    first, *also = args.host.split(",")
    site = Site(first, args.port, also=also, remember=False, log=args.log, log_ends=args.log_ends)
    if args.app:
        _app(args.app)(site)
    else:
        latency = args.latency_ms / 1000
        graph_site(site, args.pages, links=args.links, latency=latency, faults=args.faults, seed=args.seed)
    with site:
        sys.stdout.write(f"serving {site.url('/' if args.app else '/p/0')}\n")
        _until_told(args.child)


if __name__ == "__main__":
    main()
