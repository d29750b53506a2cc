"""Flows: tasks side by side, each along a chain of executors, with a status file that makes every restart hot.

    from gossamer.flow import execute, scrape

    execute([scrape], "pages", {"bing": {"url": "https://www.bing.com"}})

A second call does what the first one did not finish, and nothing else.
"""

from gossamer.fetch.proxies import ProxyProvider, ProxyProviderFromDict, ProxyProviderFromFile, ProxyProviderFromList
from gossamer.fetch.proxy_services import (
    ProxyProviderFromIPRoyal,
    ProxyProviderFromProxyscrape,
    ProxyProviderFromWebshare,
)
from gossamer.flow.desk import Closed, Forbidden, Misled
from gossamer.flow.executor import Context, Executor, Output, taskify
from gossamer.flow.images import parse_image, thumbnail
from gossamer.flow.proxies import check_proxies
from gossamer.flow.run import execute, execute_async
from gossamer.flow.scrape import content_type, scrape, scrape_with_validation
from gossamer.flow.session import Answer, Session
from gossamer.flow.status import StatusData, histogram, read_status, status_summary, statuses
from gossamer.flow.tasks import Params, TaskError, url_to_key, urls_to_tasks

__all__ = [
    "Answer",
    "Closed",
    "Context",
    "Executor",
    "Forbidden",
    "Misled",
    "Output",
    "Params",
    "ProxyProvider",
    "ProxyProviderFromDict",
    "ProxyProviderFromFile",
    "ProxyProviderFromIPRoyal",
    "ProxyProviderFromList",
    "ProxyProviderFromProxyscrape",
    "ProxyProviderFromWebshare",
    "Session",
    "StatusData",
    "TaskError",
    "check_proxies",
    "content_type",
    "execute",
    "execute_async",
    "histogram",
    "parse_image",
    "read_status",
    "scrape",
    "scrape_with_validation",
    "status_summary",
    "statuses",
    "taskify",
    "thumbnail",
    "url_to_key",
    "urls_to_tasks",
]
