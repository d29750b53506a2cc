"""Gossamer: point it at web sites and web APIs, get clean, current data."""

__version__ = "0.1.0"

from gossamer.errors import (
    ConfigError,
    FetchError,
    GossamerError,
    ReadError,
    StoreError,
)
from gossamer.library import crawl, items, run, stream
from gossamer.parse.page import Page
from gossamer.parse.selection import Selection
from gossamer.runs import Report
from gossamer.scraper import Scraper
from gossamer.settings import Pace, ScraperConfig
from gossamer.values import Item, Request, Response

__all__ = [
    "ConfigError",
    "FetchError",
    "GossamerError",
    "Item",
    "Pace",
    "Page",
    "ReadError",
    "Report",
    "Request",
    "Response",
    "Scraper",
    "ScraperConfig",
    "Selection",
    "StoreError",
    "__version__",
    "crawl",
    "items",
    "run",
    "stream",
]
