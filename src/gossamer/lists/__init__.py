"""What people and programs look through: every list in pages, each answered in constant time however long it is.

The REST API and the dashboard show the same lists. Everything here only reads, through a `Desk`.
"""

from gossamer.lists.causes import ErrorGroup, Example, errors
from gossamer.lists.of_changes import ChangeRow, RejectRow, changes, rejects
from gossamer.lists.of_cluster import (
    AtWork,
    Cluster,
    ClusterRun,
    ClusterWorker,
    Shards,
    cluster,
    cluster_workers,
)
from gossamer.lists.of_events import (
    AlertRow,
    Dispatch,
    EventRow,
    FiringRow,
    TrailRow,
    alerts,
    events,
    firings,
    trail,
)
from gossamer.lists.of_items import ItemChange, ItemDetail, ItemRow, Sighting, item, items
from gossamer.lists.of_leases import LeaseRow, leases
from gossamer.lists.of_runs import RunDetail, RunRow, RunStart, run, runs
from gossamer.lists.of_sources import RobotsVersion, SourceDetail, SourceRow, source, sources
from gossamer.lists.of_urls import UrlRow, marked, urls
from gossamer.lists.of_workers import WorkerRow, anybody_works, living, workers
from gossamer.lists.paging import MOST, USUAL, Listing
from gossamer.lists.stories import Told, Why, why

__all__ = [
    "MOST",
    "USUAL",
    "AlertRow",
    "AtWork",
    "ChangeRow",
    "Cluster",
    "ClusterRun",
    "ClusterWorker",
    "Dispatch",
    "ErrorGroup",
    "EventRow",
    "Example",
    "FiringRow",
    "ItemChange",
    "ItemDetail",
    "ItemRow",
    "LeaseRow",
    "Listing",
    "RejectRow",
    "RobotsVersion",
    "RunDetail",
    "RunRow",
    "RunStart",
    "Shards",
    "Sighting",
    "SourceDetail",
    "SourceRow",
    "Told",
    "TrailRow",
    "UrlRow",
    "Why",
    "WorkerRow",
    "alerts",
    "anybody_works",
    "changes",
    "cluster",
    "cluster_workers",
    "errors",
    "events",
    "firings",
    "item",
    "items",
    "leases",
    "living",
    "marked",
    "rejects",
    "run",
    "runs",
    "source",
    "sources",
    "trail",
    "urls",
    "why",
    "workers",
]
