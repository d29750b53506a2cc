"""Gossamer: point it at web sites and web APIs, get clean, current data."""

__version__ = "0.6.0"

from gossamer.errors import (
    Blocked,
    ConfigError,
    FetchError,
    GossamerError,
    ReadError,
    Rejected,
    Retry,
    StoreError,
)
from gossamer.fetch.proxies import (
    ProxyProvider,
    ProxyProviderFromDict,
    ProxyProviderFromFile,
    ProxyProviderFromList,
)
from gossamer.fetch.proxy_services import (
    ProxyProviderFromIPRoyal,
    ProxyProviderFromProxyscrape,
    ProxyProviderFromWebshare,
)
from gossamer.frames import to_frame
from gossamer.library import crawl, items, run, stream
from gossamer.parse.page import Page
from gossamer.parse.parsers import Parser
from gossamer.parse.selection import Selection
from gossamer.runs import Report
from gossamer.scraper import Scraper
from gossamer.settings import Pace, ScraperConfig
from gossamer.sinks import Sink
from gossamer.steps import Step, step
from gossamer.values import Item, Request, Response

__all__ = [
    "Blocked",
    "ConfigError",
    "FetchError",
    "GossamerError",
    "Item",
    "Pace",
    "Page",
    "Parser",
    "ProxyProvider",
    "ProxyProviderFromDict",
    "ProxyProviderFromFile",
    "ProxyProviderFromIPRoyal",
    "ProxyProviderFromList",
    "ProxyProviderFromProxyscrape",
    "ProxyProviderFromWebshare",
    "ReadError",
    "Rejected",
    "Report",
    "Request",
    "Response",
    "Retry",
    "Scraper",
    "ScraperConfig",
    "Selection",
    "Sink",
    "Step",
    "StoreError",
    "__version__",
    "crawl",
    "items",
    "run",
    "step",
    "stream",
    "to_frame",
]
