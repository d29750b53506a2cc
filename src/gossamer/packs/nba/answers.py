"""What came in the place of data: a web page, or a form that asks who we are."""

from __future__ import annotations

import re
from typing import Any, Final

from gossamer import Blocked, Page, ReadError

__all__ = ["asks_to_log_in", "data", "refuse_login", "refuse_web_page"]

#: Bytes of a page that are searched: walls are small.
_SEARCHED: Final = 256 << 10
_PASSWORD: Final = re.compile(rb"<input\b[^<>]{0,500}type\s{0,5}=\s{0,5}[\"']?password", re.IGNORECASE)
#: What a page calls itself that is nothing but a door.
_DOOR: Final = re.compile(
    rb"<(?:title|h1|h2)(?:\s[^<>]{0,200})?>\s{0,20}(?:please\s{1,5})?"
    rb"(?:log|sign)[\s-]{0,3}in\b(?:\s{1,5}(?:to|or|required|with)\b|\s{0,5}[<|:.!-])",
    re.IGNORECASE,
)
_WALL: Final = "a page that asks to log in came instead of data: this is not for everybody, or we were too fast"


def asks_to_log_in(body: bytes) -> bool:
    """Whether a page in the place of data is a wall: it has a field for a password, or calls itself a login."""
    some = body[:_SEARCHED]
    return _PASSWORD.search(some) is not None or _DOOR.search(some) is not None


def refuse_login(page: Page) -> None:
    """Raises Blocked for a page that asks to log in, where data was asked for."""
    if _is_web_page(page) and asks_to_log_in(page.body):
        raise Blocked(_WALL)


def data(page: Page, hint: str) -> Any:
    """The JSON of a page. Raises Blocked for a login, and ReadError for any other web page, with a hint at why."""
    refuse_web_page(page, hint)
    return page.json()


def refuse_web_page(page: Page, hint: str) -> None:
    """Raises Blocked for a login, and ReadError for any other web page, with a hint at why."""
    refuse_login(page)
    if _is_web_page(page):
        raise ReadError(f"a web page came instead of data: {hint}")


def _is_web_page(page: Page) -> bool:
    """Whether it is one, whatever its headers say."""
    return page.kind == "html" or page.body[:200].lstrip()[:1] == b"<"
