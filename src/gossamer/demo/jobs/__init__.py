"""Pages in the structure of the sites that the pack `jobs` reads. Everything in them is invented."""

from __future__ import annotations

from collections.abc import Mapping

from gossamer.demo.jobs import ats, boards, companies
from gossamer.testing import Site

__all__ = ["HOSTS", "PARAMS", "install"]

#: The hosts they stand in for.
HOSTS: tuple[str, ...] = (*boards.HOSTS, *companies.HOSTS, *ats.HOSTS)
#: What scrapers are asked for here, by name: nothing in particular.
PARAMS: Mapping[str, Mapping[str, str]] = {}


def install(site: Site) -> None:
    """Add the pages to a site, each host below a path of its own name."""
    for each in (boards, companies, ats):
        each.install(site)
