"""`gossamer serve --demo`: the demo sites, and a file of scrapers for them, as long as the service runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gossamer.demo.sites import DemoSites

_FILE = '''"""The demo scrapers, on the demo sites of this service."""

from gossamer.demo import scrapers


class Books(scrapers.Books):
    name = "demo.books"
    every = "10m"

    def start(self):
        return [{bookshop!r}]


class Weather(scrapers.Weather):
    name = "demo.weather"
    every = "5m"

    def start(self):
        return [{weather!r} + "v1/stations?page=1"]


class Museum(scrapers.Museum):
    name = "demo.museum"
    cron = "0 * * * *"

    def start(self):
        return [{museum!r}]
'''


@contextmanager
def sites(flags: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Serve the demo sites; gives the flags of a service that knows their scrapers."""
    with DemoSites() as made, tempfile.TemporaryDirectory(prefix="gossamer-demo-") as folder:
        file = Path(folder, "demo_scrapers.py")
        home = {"bookshop": made.bookshop.url("/"), "weather": made.weather.url("/"), "museum": made.museum.url("/")}
        file.write_text(_FILE.format(**home), "utf-8")
        given = flags.get("scrapers") or []
        yield {"store": "demo.db", **flags, "scrapers": [str(file), *given]}
