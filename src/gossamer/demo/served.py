"""`gossamer serve --demo`: the demo sites, and a file of scrapers for them, as long as the service runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gossamer import registry
from gossamer.demo import packs
from gossamer.demo.packs import PackSites
from gossamer.demo.sites import DemoSites
from gossamer.registry import Found

_FILE = '''"""The demo scrapers and the packs, on the demo sites of this service."""

from gossamer import registry
from gossamer.demo import scrapers

KNOBS = {knobs!r}


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


def here(name, ref, **attributes):
    """A scraper of a pack, at home on the demo sites."""
    base = registry.load_all(ref)[0].scraper
    own = {{"__module__": __name__, "__doc__": base.__doc__, "name": base.name, **KNOBS}}
    return type(name, (base,), own | attributes)


def asking(params):
    """What a scraper is asked for, unless it is asked for something."""
    return lambda self, given=None: super(type(self), self).__init__(given or params)


'''


@contextmanager
def sites(flags: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Serve the demo sites; gives the flags of a service that knows their scrapers."""
    with (
        DemoSites(remember=False) as made,
        PackSites() as of_packs,
        tempfile.TemporaryDirectory(prefix="gossamer-demo-") as folder,
    ):
        file = Path(folder, "demo_scrapers.py")
        home = {"bookshop": made.bookshop.url("/"), "weather": made.weather.url("/"), "museum": made.museum.url("/")}
        text = (
            _FILE.format(knobs=of_packs.knobs(), **home)
            + "\n".join(_line(each) for each in registry.in_packs() if packs.is_ours(each))
            + "\n"
        )
        file.write_text(text, "utf-8")
        given = flags.get("scrapers") or []
        yield {"store": "demo.db", **flags, "scrapers": [str(file), *given]}


def _line(found: Found) -> str:
    """The line of a file that has a scraper of a pack run on the demo sites."""
    name = found.scraper.name.title().replace(".", "").replace("-", "")
    params = packs.params(found)
    more = f", __init__=asking({params!r})" if params else ""
    return f"{name} = here({name!r}, {found.ref!r}{more})"
