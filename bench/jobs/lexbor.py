"""Reading a page with selectolax and ada-url: shared by every job that does not bring its own selectors.

Sharing it with the peers keeps the parser out of the comparison: what differs is the framework.
"""

from typing import Any

import ada_url
from selectolax.lexbor import LexborHTMLParser


def read(url: str, body: bytes) -> dict[str, Any]:
    """Title, headings and absolute links (without fragment, each once) of one page."""
    tree = LexborHTMLParser(body)
    title = tree.css_first("title")
    hrefs = dict.fromkeys((a.attributes["href"] or "").partition("#")[0] for a in tree.css("a[href]"))
    return {
        "url": url,
        "title": title.text() if title else None,
        "headings": [h.text() for h in tree.css("h1,h2,h3,h4,h5,h6")],
        "links": [link for href in hrefs if (link := _absolute(url, href))],
    }


def origin(url: str) -> str:
    """`http://host:port/`, the beginning of every URL the job may visit."""
    return "/".join(url.split("/", 3)[:3]) + "/"


def _absolute(base: str, href: str) -> str | None:
    try:
        return ada_url.join_url(base, href)
    except ValueError:
        return None
