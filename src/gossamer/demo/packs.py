"""Small pages in the structure of the sites that the packs read, served on loopback under the names of those sites.

    with PackSites() as sites:
        gossamer.run(Cafe, stand_ins=sites.stand_ins, rate="50/s")

Every host lies below a path of its own, so that one server stands in for all of them.
"""

from __future__ import annotations

import tempfile
from types import TracebackType
from typing import Any, Self

from gossamer.demo import art, jobs, nba
from gossamer.registry import Found
from gossamer.testing import Site

#: What is told to a scraper on the demo sites: nobody is bothered by them, and none of them needs a browser.
KNOBS = {"rate": "50/s", "per_host": 8, "breaker_failures": "none", "render": False}


class PackSites:
    """The hosts of all packs, on one free port from enter to exit."""

    def __init__(self, *, remember: bool = False) -> None:
        """`remember=True` to look at `site.hits` afterwards."""
        self.site = Site(remember=remember)

    def __enter__(self) -> Self:
        self.site.__enter__()
        self._files = tempfile.TemporaryDirectory(prefix="gossamer-demo-files-")
        for each in (art, jobs, nba):
            each.install(self.site)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.site.__exit__(kind, error, trace)
        self._files.cleanup()

    @property
    def stand_ins(self) -> dict[str, str]:
        """What the knob `stand_ins` takes: each host, and where it lies here. No other is asked for anything."""
        return {host: self.site.url(f"/{host}") for host in self.hosts} | {"*": self.site.url("/").rstrip("/")}

    @property
    def hosts(self) -> list[str]:
        """The hosts that have pages here."""
        return [host for each in (art, jobs, nba) for host in each.HOSTS]

    def knobs(self) -> dict[str, Any]:
        """What a run needs to be a run on these sites."""
        return {**KNOBS, "stand_ins": self.stand_ins, "files": self._files.name}


def is_ours(found: Found) -> bool:
    """Whether a scraper is of a pack that comes with Gossamer: others have no pages here."""
    return found.ref.startswith("gossamer.packs.")


def params(found: Found) -> dict[str, str]:
    """What a scraper is asked for on the demo sites, where it wants to be asked: their pages are of certain days."""
    return dict(
        next((each.PARAMS[found.scraper.name] for each in (art, jobs, nba) if found.scraper.name in each.PARAMS), {})
    )
