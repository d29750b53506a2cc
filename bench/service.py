"""What a busy service costs the crawl beside it. `python -m bench.service [PAGES] [ROUNDS] [--rate 400/s]`

A generated site is crawled by a run of `gossamer serve`, with nobody looking and with 50 dashboard clients (real
websockets, on pages that update themselves) and 200 API requests a second, in turns. Goals: the crawl loses less than
10 %, the 99th percentile of the API is below 200 ms. Site, service, runner and load are processes of their own; on two
cores they share what there is, so the crawl is also measured at a pace that leaves room (`--rate`).
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.measure import machine_busy
from bench.serve import generated

CLIENTS = 50
REQUESTS = 200.0
GOAL_LOSS = 0.10
GOAL_P99 = 0.200
SCRAPER = """
from gossamer import Scraper


class Generated(Scraper):
    name = "generated"
    start_urls = ["{url}"]
    key = "url"
    rate = "{rate}"
    per_host = 16
    robots = False
    drift = "off"
    gone = "never"

    def parse(self, page):
        yield {{"url": page.url, "title": page.css("title::text").get(), "heading": page.css("h1").text}}
        yield from page.follow("a")
"""
PATHS = (
    "/api/runs?limit=20",
    "/api/items?limit=50",
    "/api/urls?limit=50",
    "/api/scrapers/active/",
    "/api/scrapers/stats/",
    "/api/sources?limit=20",
    "/api/scrapers/list/",
    "/healthz",
)
PAGES_SHOWN = ("/", "/runs", "/scrapers", "/items")


# -- the load: a process of its own ----------------------------------------------------------------------------


async def load(url: str, token: str, seconds: float, clients: int, requests: float) -> dict[str, Any]:
    """Look on and ask for some time; says how long answers took."""
    import aiohttp

    headers = {"Authorization": f"Bearer {token}"}
    jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address, not a name
    async with aiohttp.ClientSession(cookie_jar=jar) as browser, aiohttp.ClientSession(headers=headers) as program:
        looking = [asyncio.create_task(look_on(browser, url, token, n)) for n in range(clients)]
        if clients:
            await asyncio.sleep(min(10.0, seconds / 4))  # they log in and open their pages first
        took, bad = await ask(program, url, seconds, requests)
        for task in looking:
            task.cancel()
        heard = await asyncio.gather(*looking, return_exceptions=True)
        failed = [
            str(each) for each in heard if isinstance(each, Exception) and not isinstance(each, asyncio.CancelledError)
        ]
        return {"took": took, "bad": bad, "clients_failed": failed[:3], "clients": clients - len(failed)}


async def ask(program: Any, url: str, seconds: float, requests: float) -> tuple[list[float], int]:
    """Ask at an even pace, whether or not answers come: each is late from the moment it was due."""
    took: list[float] = []
    bad = 0

    async def one(due: float, path: str) -> None:
        nonlocal bad
        async with program.get(url + path) as answer:
            await answer.read()
            bad += answer.status != 200
        took.append(time.monotonic() - due)

    began, pending, n = time.monotonic(), set(), 0
    while (due := began + n / requests) < began + seconds:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        task = asyncio.create_task(one(due, PATHS[n % len(PATHS)]))
        pending.add(task)
        task.add_done_callback(pending.discard)
        n += 1
    await asyncio.gather(*pending)
    return took, bad


async def look_on(browser: Any, url: str, token: str, n: int) -> None:
    """One dashboard client: logs in, opens a page, and keeps its websocket open."""
    import socketio

    await asyncio.sleep(n * 0.05)
    if n == 0:
        async with browser.get(url + "/login") as answer:
            form = re.search(r'name="form" value="([^"]+)"', await answer.text())
        assert form is not None
        filled = {"form": form[1], "next": "/", "token": token}
        async with browser.post(url + "/login", data=filled, headers={"Origin": url}, allow_redirects=False) as answer:
            assert answer.status in (302, 303), answer.status
    else:
        await asyncio.sleep(1.5)
    async with browser.get(url + PAGES_SHOWN[n % len(PAGES_SHOWN)]) as answer:
        page = await answer.text()
    given = re.search(r"""client_id['"]: ['"]([^'"]+)""", page)
    assert given is not None, page[:500]
    query = {
        "client_id": given[1],
        "next_message_id": 0,
        "implicit_handshake": "true",
        "tab_id": f"tab{n}",
        "document_id": f"document{n}",
    }
    cookies = "; ".join(f"{c.key}={c.value}" for c in browser.cookie_jar)
    client = socketio.AsyncClient(reconnection=False)
    told = urllib.parse.urlencode(query)
    try:
        await client.connect(
            f"{url}?{told}",
            headers={"Cookie": cookies, "Origin": url},
            transports=["websocket"],
            socketio_path="/_nicegui_ws/socket.io",
        )
        await client.wait()
    finally:
        with suppress(Exception):
            await client.disconnect()


# -- the crawl -------------------------------------------------------------------------------------------------


class Service:
    """`gossamer serve` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._told = folder / "stderr.txt"
        with self._told.open("w") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gossamer", "serve", "--listen", "0"], cwd=folder, stderr=out
            )
        until = time.monotonic() + 60
        while "shown once:" not in (told := self._told.read_text()) or "more tokens" not in told:
            assert time.monotonic() < until, told
            assert self._process.poll() is None, told
            time.sleep(0.1)
        self.url = "http" + told.split(" at http", 1)[1].split()[0]
        self.token = told.split("shown once:", 1)[1].split()[0]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        import urllib.request

        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        asked = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read())

    def crawl(self) -> dict[str, Any]:
        """One run, to its end."""
        run = self.call("POST", "/api/scrapers/start/", {"scraper_name": "generated"})["job_id"]
        while (found := self.call("GET", f"/api/runs/{run}"))["state"] in ("pending", "running"):
            time.sleep(0.5)
        assert found["state"] == "finished", found
        return dict(found)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("pages", nargs="?", type=int, default=10_000)
    options.add_argument("rounds", nargs="?", type=int, default=3)
    options.add_argument("--rate", default="none")
    options.add_argument("--load", nargs=5, metavar=("URL", "TOKEN", "SECONDS", "CLIENTS", "REQUESTS"))
    given = options.parse_args()
    if given.load:
        url, token, seconds, clients, requests = given.load
        print(json.dumps(asyncio.run(load(url, token, float(seconds), int(clients), float(requests)))))
        return
    with tempfile.TemporaryDirectory(prefix="bench-service-") as folder, generated(given.pages) as url:
        Path(folder, "generated.py").write_text(SCRAPER.format(url=url, rate=given.rate))
        service = Service(Path(folder))
        try:
            report(*measure(service, given.rounds))
        finally:
            service.close()


def measure(service: Service, rounds: int) -> tuple[list[float], list[float], list[float], list[str]]:
    """Rounds with nobody looking and with the load, in turns: pages a second of each, and what answers took."""
    service.crawl()  # the first one also starts things
    quiet, loaded, took, notes = [], [], [], []
    for _ in range(rounds):
        busy, began = machine_busy(), time.monotonic()
        run = service.crawl()
        quiet.append(run["pages"] / run["seconds"])
        others = (machine_busy() - busy) / (time.monotonic() - began)
        expected = run["seconds"] * 1.6 + 15
        command = [sys.executable, "-m", "bench.service", "--load", service.url, service.token]
        command += [str(expected), str(CLIENTS), str(REQUESTS)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            time.sleep(12)  # all have logged in
            run = service.crawl()
            loaded.append(run["pages"] / run["seconds"])
            answer = json.loads(process.communicate()[0])
        took += answer["took"]
        notes.append(
            f"clients {answer['clients']}, bad answers {answer['bad']}, {answer['clients_failed']}, {others:.2f}"
        )
    return quiet, loaded, took, notes


def report(quiet: list[float], loaded: list[float], took: list[float], notes: list[str]) -> None:
    took.sort()
    before, after = statistics.median(quiet), statistics.median(loaded)
    p99 = took[int(len(took) * 0.99)]
    print(f"crawl alone   {before:8.1f} pages/s   {[round(each) for each in quiet]}")
    print(f"crawl beside  {after:8.1f} pages/s   {[round(each) for each in loaded]}")
    print(f"lost          {1 - after / before:8.1%}           goal below {GOAL_LOSS:.0%}")
    middle, goal = took[len(took) // 2], f"goal {GOAL_P99 * 1000:.0f}"
    print(f"API           p50 {middle * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms of {len(took):,}   {goal}")
    for note in notes:
        print(f"  {note}")


if __name__ == "__main__":
    main()
