"""The door for Python: `crawl`, `stream` and `run`, in scripts, loops, notebooks and threads."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer import ConfigError, Page, Report, Scraper, StoreError
from gossamer.testing import Site, graph_site
from tests.walk import fates, links, records


def walker(site: Site) -> type[Scraper]:
    """A scraper that follows every link of a site and yields each page's URL."""

    class Walker(Scraper):
        start_urls = (site.url("/p/0"),)
        rate = "none"
        key = "url"

        def parse(self, page: Page) -> Any:
            yield {"url": page.url}
            yield from page.follow("a")

    return Walker


def test_await_crawl(site: Site) -> None:
    graph_site(site, 20)

    async def main() -> Report:
        return await gossamer.crawl(site.url("/p/0"), rate="none")

    report = asyncio.run(main())
    assert (report.pages, report.items, report.exit_code) == (20, 20, 0)


def test_crawl_refuses_what_it_cannot_use(site: Site) -> None:
    for call, told in [
        (gossamer.crawl(), "needs URLs"),
        (gossamer.crawl("nonsense"), "not a URL"),
        (gossamer.crawl(site.url("/"), rat="1/s"), "unknown setting 'rat'.*'rate'"),
        (gossamer.crawl(site.url("/"), rate="fast"), "rate"),
        (gossamer.crawl(site.url("/"), store="no/such/folder/x.db"), "does not exist"),
    ]:
        with pytest.raises((ConfigError, StoreError), match=told):
            asyncio.run(call)
    assert site.hits == []


def test_run_gives_a_report_any_number_of_times(site: Site) -> None:
    graph_site(site, 5)
    scraper = walker(site)
    threads = threading.active_count()
    handler = signal.getsignal(signal.SIGALRM)
    reports = [gossamer.run(scraper) for _ in range(5)]
    assert [report.pages for report in reports] == [5] * 5
    assert [report.run for report in reports] == [1, 2, 3, 4, 5]
    assert threading.active_count() == threads
    assert signal.getsignal(signal.SIGALRM) == handler


def test_run_works_inside_a_running_loop(site: Site) -> None:
    """As in a notebook, whose cells run on a loop."""
    graph_site(site, 5)

    async def cell() -> list[int]:
        return [gossamer.run(walker(site)).pages for _ in range(3)]

    assert asyncio.run(cell()) == [5, 5, 5]


def test_run_works_in_a_thread(site: Site) -> None:
    graph_site(site, 5)
    reports: list[Report] = []
    thread = threading.Thread(target=lambda: reports.append(gossamer.run(walker(site))))
    thread.start()
    thread.join()
    assert reports[0].pages == 5


def test_run_wants_a_class(site: Site) -> None:
    for wrong in ("quotes", walker(site)(), int):
        with pytest.raises(ConfigError, match="give the class"):
            gossamer.run(wrong)  # type: ignore[arg-type]


def test_stream_gives_items_that_are_already_stored(site: Site, store: str) -> None:
    graph_site(site, 30)

    async def main() -> list[dict[str, Any]]:
        return [item async for item in gossamer.stream(walker(site), store=store)]

    streamed = asyncio.run(main())
    assert len(streamed) == 30
    assert {item["url"] for item in streamed} == {item["url"] for item in records(store)}


def test_breaking_out_of_a_stream_stops_a_run_that_can_be_resumed(site: Site, store: str) -> None:
    graph_site(site, 60, latency=0.005)
    scraper = walker(site)

    async def some(n: int) -> list[str]:
        found: list[str] = []
        async with contextlib.aclosing(gossamer.stream(scraper, store=store)) as stream:
            async for item in stream:
                found.append(item["url"])
                if len(found) == n:
                    break
        return found

    asyncio.run(some(7))
    before = len(site.hits)
    assert before < 61
    asyncio.run(some(10_000))
    assert len(records(store)) == 60
    assert max(site.paths()[path] for path in fates(site, store)) <= 2
    assert len(site.hits) <= 60 + 2 + 4  # the pages, robots.txt at each start, and what was in flight


def test_a_stream_left_without_closing_does_no_harm(site: Site, store: str) -> None:
    graph_site(site, 60, latency=0.005)

    async def main() -> None:
        async for _ in gossamer.stream(walker(site), store=store):
            break

    asyncio.run(main())
    assert gossamer.run(walker(site), store=store).pages == 60


def test_a_slow_reader_of_a_stream_holds_the_run_back(site: Site) -> None:
    """Items wait in the store, not in memory: the run pauses until its reader has caught up."""
    graph_site(site, 2000)

    async def main() -> int:
        async with contextlib.aclosing(gossamer.stream(walker(site), concurrency=4)) as stream:
            async for _ in stream:
                await asyncio.sleep(1.5)
                return len(site.hits)
        return -1

    assert asyncio.run(main()) < 1800


def test_an_error_in_the_readers_loop_ends_the_run_cleanly(site: Site, store: str) -> None:
    graph_site(site, 60, latency=0.005)

    async def main() -> None:
        async with contextlib.aclosing(gossamer.stream(walker(site), store=store)) as stream:
            async for _ in stream:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())
    assert gossamer.run(walker(site), store=store).pages == 60


def test_a_stream_raises_what_its_run_cannot_survive(site: Site) -> None:
    class Nothing(Scraper):
        pass

    async def main() -> None:
        async for _ in gossamer.stream(Nothing):
            pass

    with pytest.raises(ConfigError, match="nothing to start with"):
        asyncio.run(main())


def test_an_error_in_a_parser_does_not_reach_the_caller(site: Site) -> None:
    class Broken(Scraper):
        start_urls = (site.url("/"),)

        def parse(self, page: Page) -> Any:
            raise ZeroDivisionError

    site.page("/", "<p>x</p>")
    report = gossamer.run(Broken, rate="none")
    assert (report.status, report.failed, report.exit_code) == ("failed", 1, 3)


def test_a_cancelled_crawl_is_settled_and_can_be_resumed(site: Site, store: str) -> None:
    graph_site(site, 60, latency=0.02)

    async def main() -> None:
        task = asyncio.create_task(gossamer.crawl(site.url("/p/0"), rate="none", store=store))
        await asyncio.to_thread(wait_for_hits, site, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    settled = len(records(store))
    assert settled >= 10
    report = asyncio.run(gossamer.crawl(site.url("/p/0"), rate="none", store=store))
    assert (report.run, report.pages, report.reason) == (1, 60, "done")
    assert len(site.hits) <= 60 + 2 + 4  # the pages, robots.txt at each start, and what was in flight


def test_many_crawls_at_once_in_one_loop(site: Site) -> None:
    graph_site(site, 10)

    async def main() -> list[Report]:
        stores = [f"{n}.db" for n in range(5)]
        return await asyncio.gather(*(gossamer.crawl(site.url("/p/0"), rate="none", store=s) for s in stores))

    assert [report.pages for report in asyncio.run(main())] == [10] * 5


def test_two_at_once_on_one_store_are_refused_in_a_sentence(site: Site, store: str) -> None:
    graph_site(site, 30, latency=0.01)

    async def main() -> Report:
        first = asyncio.create_task(gossamer.crawl(site.url("/p/0"), rate="none", store=store))
        await asyncio.to_thread(wait_for_hits, site, 1)
        with pytest.raises(StoreError, match=r"in use by this process: wait until it ends, or give another store"):
            await gossamer.crawl(site.url("/p/0"), rate="none", store=store)
        return await first

    assert asyncio.run(main()).pages == 30


def test_dry_run_stores_nothing(site: Site, tmp_path: Path) -> None:
    graph_site(site, 5)
    assert gossamer.run(walker(site), dry_run=True).items == 5
    assert list(tmp_path.iterdir()) == []


def test_the_library_says_nothing_on_its_own(site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    site.page("/", links("/gone"))
    site.flaky("/robots.txt", times=1, status=500)
    asyncio.run(gossamer.crawl(site.url("/"), rate="none"))
    assert capfd.readouterr() == ("", "")


SCRIPT = """
import asyncio, gossamer, sys

class Slow(gossamer.Scraper):
    start_urls = [sys.argv[1]]
    rate = "none"
    def parse(self, page):
        yield {"url": page.url}
        yield from page.follow("a")

def work():
    return gossamer.run(Slow, grace=1)

async def cell():
    return work()

try:
    if sys.argv[2] == "script":
        print(work().pages)
    else:
        # A notebook's loop leaves Ctrl-C to Python's own handler.
        print(asyncio.new_event_loop().run_until_complete(cell()).pages)
except KeyboardInterrupt:
    print("stopped by Ctrl-C")
"""


@pytest.mark.parametrize("place", ["script", "notebook"])
@pytest.mark.filterwarnings("ignore:.*:ResourceWarning")
def test_ctrl_c_stops_run_and_the_same_call_goes_on(site: Site, tmp_path: Path, place: str) -> None:
    graph_site(site, 120, latency=0.03)
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script), site.url("/p/0"), place]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    wait_for_hits(site, 20)
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=10)
    assert (out, err) == ("stopped by Ctrl-C\n", "")
    assert len(site.hits) < 120
    second = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=20, env=os.environ)
    assert second.stdout == "120\n"
    assert len(site.hits) <= 120 + 2 + 4  # the pages, robots.txt at each start, and what was in flight


def wait_for_hits(site: Site, n: int, seconds: float = 15) -> None:
    """Wait until a site has been asked some times."""
    end = time.monotonic() + seconds
    while len(site.hits) < n:
        assert time.monotonic() < end, f"only {len(site.hits)} requests came in {seconds} s"
        time.sleep(0.005)
