"""Somebody at a browser: a real Chromium that looks at a real service, and hears of everything a page should not do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    Response,
    sync_playwright,
)

from gossamer.fetch import browser
from tests.service.serving import Served

#: A wide screen and a phone.
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 375, "height": 740}
#: Milliseconds until what should be there is missed.
PATIENCE = 20_000

#: What a hostile site would write wherever it can: whatever of it runs sets `pwned`, or asks for a URL.
HOSTILE = (
    "<img src=x onerror=\"window.pwned='img'\">"
    "<script>window.pwned='script'</script>"
    "{{ constructor.constructor('window.pwned=1')() }}"
    '"><svg onload="window.pwned=\'svg\'">'
)
#: Where a link must not lead to.
LURE = "javascript:window.pwned='link'//"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a module; skips, saying why, where there is none."""
    why = browser.missing()
    if why is not None:
        pytest.skip(why)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=browser.find(), chromium_sandbox=os.geteuid() != 0)
        yield made
        made.close()


class Visitor:
    """Somebody who looks at the dashboard. `strange` is what happened that should not have."""

    def __init__(self, chromium: Browser, url: str, **options: Any) -> None:
        self.url = url
        self.context: BrowserContext = chromium.new_context(**{"viewport": DESK, **options})
        self.context.set_default_timeout(PATIENCE)
        self.strange: list[str] = []
        self.page = self.new_page()

    def new_page(self) -> Page:
        """One more tab."""
        page = self.context.new_page()
        page.on("dialog", self._dialog)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.strange.append(f"error: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)
        return page

    def _dialog(self, dialog: Dialog) -> None:
        self.strange.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "status of 404" not in message.text:
            self.strange.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.strange.append(f"asked: {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 500:
            self.strange.append(f"{response.status}: {response.url}")

    def log_in(self, token: str) -> Visitor:
        """With a token, as after the first start."""
        self.page.goto(f"{self.url}/login")
        if not self.page.locator("#token").is_visible():
            self.page.get_by_text("Log in with a token").click()
        self.page.fill("#token", token)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(lambda url: not url.startswith(f"{self.url}/login"), wait_until="commit")
        return self

    def log_in_as(self, name: str, password: str) -> Visitor:
        """With a password."""
        self.page.goto(f"{self.url}/login")
        self.page.fill("#name", name)
        self.page.fill("#password", password)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(f"{self.url}/", wait_until="commit")
        return self

    def go(self, path: str) -> Page:
        """Open a page, and wait until it is alive."""
        self.page.goto(self.url + path)
        self.page.wait_for_function("window.did_handshake === true")
        return self.page

    def path(self) -> str:
        """Where it is."""
        parts = urlsplit(self.page.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        found: int = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        return found

    def pwned(self) -> Any:
        """Whether something ran that a site wrote."""
        return self.page.evaluate("window.pwned ?? null")

    def close(self) -> None:
        self.context.close()


def write(served: Served, statement: str, **names: Any) -> None:
    """Change a service's store behind its back: what no site could be made to write in a test."""
    db = sqlite3.connect(served.folder / "gossamer.db", timeout=20)
    with db:
        db.execute(statement, names)
    db.close()


def rows(served: Served, statement: str, **names: Any) -> list[tuple[Any, ...]]:
    """Look into a service's store."""
    db = sqlite3.connect(served.folder / "gossamer.db", timeout=20)
    try:
        return db.execute(statement, names).fetchall()
    finally:
        db.close()
