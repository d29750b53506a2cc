"""Pictures of the dashboard for the documents: `python -m tests.service.pictures [FOLDER]`.

A real service with the demo sites, looked at with a real Chromium. What is in the pictures is made by the demo's own
scrapers, so that they can be made again after every change.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from gossamer.fetch import browser
from tests.service.browsing import DESK, PHONE, Visitor, write
from tests.service.serving import Served

HOME = Path(__file__).parent.parent.parent / "docs" / "images"
#: Name of the picture -> the page.
PAGES = {
    "overview": "/",
    "scrapers": "/scrapers",
    "scraper": "/scrapers?name=demo.books",
    "runs": "/runs",
    "run": "/runs/LIVE",
    "items": "/items",
    "urls": "/urls",
    "sources": "/sources",
    "errors": "/errors",
    "drift": "/drift",
    "submit": "/submit",
    "logs": "/logs",
    "users": "/users",
    "settings": "/settings",
}
#: Pages that show what goes on.
LIVE = ("overview", "run")
#: Rounds of runs before the pictures are taken.
ROUNDS = 5
#: Seconds until charts and tables are drawn.
SETTLE = 1.5


def main(folder: Path) -> None:
    """Make all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gossamer-pictures-") as place:
        served = Served(Path(place), "--demo", "--store", "gossamer.db")
        try:
            _fill(served)
            with sync_playwright() as playwright:
                chromium = playwright.chromium.launch(
                    executable_path=browser.find(), chromium_sandbox=os.geteuid() != 0
                )
                light = Visitor(chromium, served.url, viewport=DESK, color_scheme="light").log_in(served.token)
                dark = Visitor(chromium, served.url, viewport=DESK, color_scheme="dark").log_in(served.token)
                phone = Visitor(chromium, served.url, viewport=PHONE, device_scale_factor=2).log_in(served.token)
                for name in PAGES:
                    _take(served, light, name, folder / f"{name}.png")
                for name in ("overview", "run"):
                    _take(served, dark, name, folder / f"{name}-dark.png")
                    _take(served, phone, name, folder / f"{name}-phone.png")
                chromium.close()
        finally:
            served.stop()


def _fill(served: Served) -> None:
    """Some history: each round is told as if it had been some minutes earlier, so that charts have a past."""
    for round_ in range(ROUNDS):
        for scraper in ("demo.museum", "demo.books", "demo.weather")[bool(round_) :]:  # the museum takes its time
            served.wait_for(_start(served, scraper), seconds=120)
        time.sleep(2)  # until the last of it is counted
        if round_ < ROUNDS - 1:
            # By way of numbers below zero: no two rows may meet on the way.
            write(served, "update tick set minute = :back - minute", back=9)
            write(served, "update tick set minute = -minute")


def _start(served: Served, scraper: str) -> int:
    while True:
        status, answer = served.call("POST", "/api/runs", {"scraper": scraper})
        if status == 202:
            run: int = answer["run"]
            return run
        assert status in (409, 429), answer
        time.sleep(1)


def _take(served: Served, visitor: Visitor, name: str, file: Path) -> None:
    """One picture. Where what goes on is shown, something goes on."""
    path = PAGES[name]
    if name in LIVE:
        path = path.replace("LIVE", str(_start(served, "demo.museum")))
    visitor.go(path)
    time.sleep(SETTLE)
    visitor.page.screenshot(path=file)
    with Image.open(file) as taken:  # a third of the size, and nobody sees it
        taken.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
    print(file.name, visitor.strange or "")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HOME)
