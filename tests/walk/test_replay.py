"""Replay: archived pages are read again with today's code, held against the store, and written only when asked."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import textwrap
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer import hands, importing, registry, runs
from gossamer import replay as replaying
from gossamer.comparison import Difference, State
from gossamer.errors import ConfigError, StoreError
from gossamer.hands import Hands, Take
from gossamer.reader import Watchdog
from gossamer.replay import Asked, Replayed
from gossamer.rereading import Job, Order, Rereader
from gossamer.settings import Place
from gossamer.storage.archive import Archive
from gossamer.storage.warc import WarcWriter
from gossamer.testing import Site
from tests.cli import typed
from tests.walk import items, links, run

STORE = "gossamer.db"
SHOP = """
from gossamer import Request, Scraper

class Shop(Scraper):
    name = "shop"
    key = "id"
    rate = "none"
    start_urls = ["{url}"]

    def parse(self, page):
        yield from page.follow("a", to=self.product, carry={{"from": "home"}})

    def product(self, page):
        {product}
"""
PRODUCT = 'yield {"id": page.url[-1], "name": page.css("h1").text, "price": page.css("b").text}'


class InProcess(Hands):
    """Reads pages here: what processes add is tested apart."""

    def __init__(self, job: Job, count: int) -> None:
        super().__init__(job, 0)
        self._job = job

    async def work(self, orders: AsyncIterator[Order], take: Take) -> None:
        with Watchdog() as watchdog:
            rereader = Rereader(self._job, watchdog)
            async for order in orders:
                await take(await rereader.read(order))
            rereader.close()


@pytest.fixture(autouse=True)
def _quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "processes" not in request.fixturenames:
        monkeypatch.setattr(replaying, "Hands", InProcess)


@pytest.fixture
def processes() -> None:
    """Pages are read in processes, as they are outside of tests."""


def shelf(site: Site, count: int = 3) -> None:
    """A shop: a list, and products with a name and a price."""
    site.page("/", links(*[f"/{n}" for n in range(1, count + 1)]))
    for n in range(1, count + 1):
        site.page(f"/{n}", f"<h1>Thing {n}</h1><b>{n}.50</b><i>{n * 2}.00</i>")


def write(site: Site, product: str = PRODUCT, text: str = SHOP) -> type[Any]:
    """The scraper's file, with this code for products."""
    code = textwrap.indent(textwrap.dedent(product), "        ").strip()
    Path("shop.py").write_text(text.format(url=site.url("/"), product=code))
    return registry.load_all("shop.py")[0].scraper


def live(site: Site, product: str = PRODUCT, **knobs: Any) -> Any:
    """A run of the scraper, with this code."""
    return run(write(site, product), **{"drift": "off", **knobs})


def replay(scraper: str = "shop.py", told: list[Difference] | None = None, **asked: Any) -> Replayed:
    tell = told.append if told is not None else None
    return asyncio.run(replaying.replay(STORE, Asked(scraper, workers=1, **asked), tell=tell))


def data() -> dict[str, Any]:
    return {item["key"]: item["data"] for item in items()}


def counts(made: Replayed) -> dict[str, int]:
    names = ("same", "changed", "new", "gone", "back", "older")
    return {name: n for name in names if (n := getattr(made, name))}


# -- what is read, and with what -------------------------------------------------------------------------------


def test_the_same_code_gives_the_same_items_without_asking_the_site(site: Site) -> None:
    shelf(site)
    live(site)
    site.clear()

    made = replay()

    assert (made.pages, made.failed, made.items, counts(made)) == (4, 0, 3, {"same": 3})
    assert made.links == 0
    assert site.hits == []


def test_a_changed_field_is_told_with_what_it_was(site: Site) -> None:
    shelf(site)
    live(site)
    write(site, PRODUCT.replace('css("b").text', 'css("i").text'))
    told: list[Difference] = []

    made = replay(told=told)

    assert counts(made) == {"changed": 3}
    (story,) = made.fields
    assert (story.kind, story.field, story.changed, story.filled, story.emptied) == ("item", "price", 3, 0, 0)
    assert sorted(story.examples)[0] == ("1", "1.50", "2.00")
    assert {each.key: (each.deltas[0].before, each.deltas[0].after) for each in told}["2"] == ("2.50", "4.00")
    assert data()["1"]["price"] == "1.50"


def test_new_and_gone_items_are_told_apart_from_changed_ones(site: Site) -> None:
    shelf(site)
    live(site)
    write(site, 'n = page.url[-1]\nif n != "2":\n    yield {"id": n + "x" if n == "3" else n, "name": "Thing 1"}')
    told: list[Difference] = []

    made = replay(told=told)

    assert counts(made) == {"changed": 1, "new": 1, "gone": 2}
    assert sorted((each.state.name, each.key) for each in told) == [
        ("CHANGED", "1"),
        ("GONE", "2"),
        ("GONE", "3"),
        ("NEW", "3x"),
    ]
    assert [(s.field, s.emptied) for s in made.fields] == [("price", 1)]


def test_fields_in_another_order_are_no_difference(site: Site) -> None:
    shelf(site)
    live(site)
    write(site, 'yield {"price": page.css("b").text, "name": page.css("h1").text, "id": page.url[-1]}')
    assert counts(replay()) == {"same": 3}


def test_the_request_comes_back_with_its_handler_and_what_it_carries(site: Site) -> None:
    shelf(site)
    live(site)
    write(site, 'yield {"id": page.url[-1], "from": page.carry["from"], "depth": page.depth}')
    told: list[Difference] = []
    replay(told=told)
    assert {(delta.path, delta.after) for each in told for delta in each.deltas if delta.after} == {
        ("from", "home"),
        ("depth", 1),
    }


def test_parameters_of_a_run_are_those_its_pages_are_read_with(site: Site) -> None:
    shelf(site, 1)
    product = 'yield {"id": page.url[-1], "year": self.params.get("year")}'
    for year in ("2025", "2026"):
        run(write(site, product), drift="off", params={"year": year})
        site.page("/1", f"<h1>Thing {year}</h1>")
    assert counts(replay()) == {"same": 1}
    assert counts(replay(params={"year": "2027"})) == {"changed": 1}


def test_a_page_that_fails_today_says_why_and_costs_no_item(site: Site) -> None:
    shelf(site)
    live(site)
    write(site, 'if page.url.endswith("2"):\n    raise LookupError("no price")\n' + PRODUCT)

    made = replay()

    assert (made.pages, made.failed, counts(made)) == (3, 1, {"same": 2})
    (reason,) = made.failures
    assert (reason.why, reason.count) == ("LookupError: no price (shop.py, line 15, in product)", 1)
    assert reason.url == site.url("/2")


def test_a_page_that_failed_when_it_was_fetched_is_read_again(site: Site) -> None:
    shelf(site)
    report = live(site, 'raise LookupError("no price")')
    assert (report.failed, items()) == (3, [])
    write(site)
    made = replay(apply=True)
    assert counts(made) == {"new": 3}
    assert data()["2"] == {"id": "2", "name": "Thing 2", "price": "2.50"}


def test_a_handler_that_is_no_more_is_told(site: Site) -> None:
    shelf(site, 1)
    live(site)
    write(site, text=SHOP.replace("def product", "def goods").replace("to=self.product", "to=self.goods"))
    (reason,) = replay().failures
    assert "has no handler 'product'" in reason.why


def test_records_that_became_no_item_are_counted_with_the_reason(site: Site) -> None:
    shelf(site)
    live(site)
    write(site, 'yield {"id": None if page.url.endswith("3") else page.url[-1], "name": "x"}')
    made = replay()
    assert (made.rejected, [(r.count, r.url) for r in made.rejects]) == (1, [(1, site.url("/3"))])
    assert "key" in made.rejects[0].why


def test_links_that_no_run_has_asked_for_are_told(site: Site) -> None:
    shelf(site)
    site.page("/2", "<h1>Thing 2</h1><b>2.50</b>" + links("/4", "/gone", "https://elsewhere.example/"))
    live(site)
    write(site, PRODUCT + '\nyield from page.follow("a", to=self.product)')
    made = replay()
    assert sorted(made.new_links) == [site.url("/4"), site.url("/gone"), "https://elsewhere.example/"]
    live(site, PRODUCT + '\nyield from page.follow("a", to=self.product)')
    assert replay().links == 0  # asked for, dropped by scope, or not there: none is news


# -- which pages -----------------------------------------------------------------------------------------------


def test_of_each_page_the_newest_is_read(site: Site) -> None:
    shelf(site)
    live(site)
    site.page("/1", "<h1>Thing 1</h1><b>9.99</b>")
    live(site)
    made = replay()
    assert (made.pages, counts(made)) == (4, {"same": 3})


def test_pages_of_an_older_run_are_not_held_against_newer_items(site: Site) -> None:
    shelf(site)
    live(site)
    site.page("/1", "<h1>Thing 1</h1><b>9.99</b>")
    time.sleep(0.01)
    live(site)
    assert counts(replay(run=2)) == {"same": 3}
    with_later = replay(run=1, apply=True)
    assert (with_later.changed, with_later.gone) == (0, 0)
    assert data()["1"]["price"] == "9.99"


def test_an_item_that_is_gone_stays_gone_if_only_old_pages_have_it(site: Site) -> None:
    shelf(site)
    live(site)
    site.page("/", links("/1", "/2"))
    live(site)
    assert set(data()) == {"1", "2"}
    made = replay(apply=True)
    assert counts(made) == {"same": 2, "older": 1}
    assert set(data()) == {"1", "2"}


def test_an_item_taken_for_gone_comes_back_if_a_later_page_has_it(site: Site) -> None:
    shelf(site)
    live(site)
    live(site, 'if not page.url.endswith("2"):\n    ' + PRODUCT)
    assert set(data()) == {"1", "3"}
    write(site)
    made = replay(apply=True)
    assert counts(made) == {"same": 2, "back": 1}
    assert set(data()) == {"1", "2", "3"}


def test_unchanged_pages_count_as_fetched_again(site: Site) -> None:
    shelf(site)
    live(site, revisit="changed")
    live(site, revisit="changed")
    made = replay(run=2)
    assert (made.pages, counts(made)) == (4, {"same": 3})


def test_pages_are_chosen_by_url_and_number(site: Site) -> None:
    shelf(site)
    live(site)
    assert replay(url=re.compile(r"/[12]$")).pages == 2
    assert replay(limit=3).pages == 3
    write(site, "return")
    part = replay(url=re.compile(r"/[12]$"), apply=True)
    assert (counts(part), part.whole) == ({"gone": 2}, False)
    assert len(items()) == 3  # other pages may still have them


def test_a_scraper_is_known_by_the_name_its_runs_have(site: Site) -> None:
    shelf(site)
    live(site)
    assert replay("shop").pages == 4


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"run": 99}, "there is no run 99"),
        ({"url": re.compile("nowhere")}, "has no pages that --url matches of 'shop'"),
        ({"scraper": "shoop"}, "the archive has pages of shop"),
        ({"scraper": "none.py"}, "there is no file none.py"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_one_sentence(site: Site, asked: dict[str, Any], said: str) -> None:
    shelf(site, 1)
    live(site)
    with pytest.raises(ConfigError, match=re.escape(said)):
        replay(**{"scraper": "shop.py", **asked})


def test_a_store_without_an_archive_has_nothing_to_replay(site: Site) -> None:
    shelf(site, 1)
    live(site, archive=False)
    with pytest.raises(StoreError, match="there is no archive"):
        replay()


# -- writing ---------------------------------------------------------------------------------------------------


def test_nothing_is_written_unless_asked(site: Site) -> None:
    shelf(site)
    live(site)
    before = Path(STORE).read_bytes()
    write(site, 'yield {"id": "other"}')
    replay()
    assert Path(STORE).read_bytes() == before


def test_apply_writes_a_run_of_its_own(site: Site) -> None:
    shelf(site)
    live(site)
    write(site, 'n = page.url[-1]\nif n != "2":\n    yield {"id": n, "name": page.css("h1").text.upper()}')

    made = replay(apply=True)

    assert data() == {"1": {"id": "1", "name": "THING 1"}, "3": {"id": "3", "name": "THING 3"}}
    assert made.run == 2

    async def look() -> Any:
        async with runs.open_store(STORE) as store:
            written = await store.run(2)
            return written, [(change.what, change.key) async for change in store.changes(0.0) if change.run == 2]

    written, changes = asyncio.run(look())
    assert (written.state, written.reason, written.options) == ("finished", "replay", {"replay": {}})
    assert sorted(changes) == [("changed", "1"), ("changed", "3"), ("gone", "2")]
    assert counts(replay()) == {"same": 2}


def test_a_run_goes_on_as_if_nothing_had_happened_after_a_replay(site: Site) -> None:
    shelf(site)
    live(site)
    write(site)
    replay(apply=True)
    report = live(site)
    assert (report.status, report.items) == ("finished", 3)


# -- hostile pages ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("processes")
def test_processes_read_pages_and_one_that_kills_them_costs_only_itself(site: Site) -> None:
    shelf(site, 4)
    live(site)
    write(site, 'if page.url.endswith("2"):\n    import os; os._exit(1)\nprint("noise")\n' + PRODUCT)
    made = asyncio.run(replaying.replay(STORE, Asked("shop.py", workers=2)))
    assert (made.pages, made.failed, counts(made)) == (4, 1, {"same": 3})
    assert "the process that read it died" in made.failures[0].why


@pytest.mark.usefixtures("processes")
def test_a_scraper_that_cannot_be_loaded_is_said_to_be_so(site: Site) -> None:
    shelf(site, 1)
    live(site)
    Path("shop.py").write_text("from gossamer import Scraper\nclass Shop(Scraper): x = 1 / 0\n")
    with pytest.raises(ConfigError, match="ZeroDivisionError"):
        replay()
    Path("shop.py").unlink()
    with pytest.raises(ConfigError, match="there is no module"):  # said by the process that would read
        replay("shop")


@pytest.mark.usefixtures("processes")
def test_processes_end_with_the_replay(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf(site, 1)
    live(site)
    write(site, "import time; time.sleep(60)")
    started: list[Any] = []
    start = hands._Hand._start

    async def noted(self: Any) -> Any:
        started.append(await start(self))
        return started[-1]

    monkeypatch.setattr(hands._Hand, "_start", noted)

    async def interrupted() -> None:
        async with asyncio.timeout(1.5):
            await replaying.replay(STORE, Asked("shop.py", workers=1))

    with pytest.raises(TimeoutError):
        asyncio.run(interrupted())
    assert [process.returncode for process in started] == [-signal.SIGKILL]


def test_a_handler_that_takes_too_long_is_ended(site: Site) -> None:
    shelf(site, 1)
    live(site)
    text = SHOP.replace('rate = "none"', 'rate = "none"\n    handler_timeout = 0.3')
    write(site, "while True: pass", text)
    (reason,) = replay().failures
    assert "the handler blocked for longer than 0.3 s" in reason.why


# -- files of other tools --------------------------------------------------------------------------------------


def exported(path: str = "shop.warc.gz", *, plain: bool = False) -> str:
    """The archive as a file; `plain`: as a tool would write it that knows nothing of handlers."""

    async def main() -> None:
        async with Archive(f"{STORE}.archive", owner=False) as archive:
            with WarcWriter(path, "test") as writer:
                async for page in archive.pages():
                    writer.write(page)

    asyncio.run(main())
    if plain:
        lines = Path(path).read_bytes()
        Path(path).write_bytes(lines.replace(b"gossamer-request", b"another-request"))
    return path


def imported(path: str) -> importing.Imported:
    found = registry.find("shop.py")
    return asyncio.run(importing.import_warc(STORE, path, found))


@pytest.fixture
def file(site: Site) -> Iterator[str]:
    """A file with the pages of a shop, made by another tool; the store it came from is gone."""
    shelf(site)
    site.page("/5", "<h1>Thing 5</h1><b>5.50</b>")
    live(site)
    path = exported("shop.warc", plain=True)
    for left in Path().glob(f"{STORE}*"):
        left.unlink()
    site.clear()
    yield path
    assert site.hits == []


def test_pages_of_a_file_find_their_handlers_from_link_to_link(file: str) -> None:
    made = imported(file)
    assert (made.pages, made.run, made.bodiless, made.broken) == (4, 1, 0, "")
    again = replay(apply=True)
    assert (again.pages, again.failed, counts(again)) == (4, 0, {"new": 3})
    assert data()["2"] == {"id": "2", "name": "Thing 2", "price": "2.50"}
    assert counts(replay()) == {"same": 3}


def test_a_file_can_be_replayed_without_being_kept(file: str) -> None:
    made = replay(warc=file)
    assert (made.pages, counts(made)) == (4, {"new": 3})
    assert not Path(STORE).exists()
    with pytest.raises(ConfigError, match="gossamer archive import"):
        replay(warc=file, apply=True)


def test_pages_that_nothing_leads_to_are_read_by_parse(site: Site, file: str) -> None:
    text = SHOP.replace("def parse(self, page):", 'def parse(self, page):\n        yield {{"id": page.url}}')
    write(site, text=text.replace('start_urls = ["{url}"]', 'start_urls = ["{url}nowhere"]'))
    imported(file)
    told: list[Difference] = []
    replay(told=told)
    # The home page is read by parse for want of better; it leads to none that was not read by then.
    assert {each.key for each in told if each.state is State.NEW} >= {site.url(f"/{n}") for n in (1, 2, 3)}


def test_our_own_files_keep_handlers_even_where_nothing_leads_to_them(site: Site) -> None:
    shelf(site)
    live(site)
    path = exported()
    write(site, text=SHOP.replace('start_urls = ["{url}"]', 'start_urls = ["{url}nowhere"]'))
    imported(path)
    assert counts(replay(run=2)) == {"same": 3}


def test_redirects_in_a_file_are_followed(site: Site) -> None:
    shelf(site)
    live(site)
    path = exported("shop.warc", plain=True)
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with open(path, "ab") as raw:
        writer = WARCWriter(raw, gzip=False)
        head = StatusAndHeaders("301 Moved", [("Location", site.url("/"))], protocol="HTTP/1.1")
        writer.write_record(writer.create_warc_record(site.url("/old"), "response", http_headers=head))
    write(site, text=SHOP.replace('start_urls = ["{url}"]', 'start_urls = ["{url}old"]'))
    imported(path)
    made = replay(run=2)
    assert (made.pages, made.skipped, made.items) == (4, 1, 3)


def test_an_import_is_a_run_whose_pages_are_known(file: str) -> None:
    imported(file)

    async def look() -> tuple[Any, list[Any], list[Any]]:
        async with runs.open_store(STORE) as store:
            pages = [(row["state"], row["reason"]) async for row in store.pages(1, None)]
            return await store.run(1), pages, [line async for line in store.fetch_log(None)]

    made, pages, fetches = asyncio.run(look())
    assert (made.state, made.reason, list(made.options)) == ("finished", "import", ["import"])
    assert pages == [("done", "imported")] * 4
    assert fetches == []  # nobody was asked for them


def test_a_file_that_comes_again_replaces_what_it_brought(file: str) -> None:
    imported(file)
    assert imported(file).run == 2
    assert counts(replay()) == {"new": 3}


def test_a_file_that_is_no_warc_leaves_nothing_behind(site: Site) -> None:
    write(site)
    Path("x.warc").write_text("hello")
    with pytest.raises(ConfigError, match="is no WARC file"):
        imported("x.warc")

    async def look() -> list[Any]:
        async with runs.open_store(STORE) as store:
            return await store.runs()

    assert asyncio.run(look()) == []


# -- a lot of it -----------------------------------------------------------------------------------------------


def test_the_archive_is_pruned_as_the_settings_say(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf(site)
    assert Place().archive_size == 10 << 30
    monkeypatch.setenv("GOSSAMER_ARCHIVE_AGE", "1s")
    live(site)
    time.sleep(1.1)
    live(site)
    with pytest.raises(ConfigError, match="no pages of run 1"):
        replay(run=1)
    assert replay().pages == 4


def test_a_file_of_ours_with_pages_fetched_twice_is_read_whole(site: Site) -> None:
    """The second time a page is as it was, and its record only says so: a few records after the body it means."""
    shelf(site)
    live(site)
    live(site)
    assert typed("archive", "export", "twice.warc.gz").returncode == 0
    said = typed("archive", "import", "twice.warc.gz", "--scraper", "shop.py", "--store", "other.db").stderr
    assert "8 pages" in said
    assert "without a body" not in said
    made = json.loads(typed("replay", "shop.py", "--store", "other.db", "--json").stdout.splitlines()[-1])
    assert (made["pages"], made["failed"]) == (4, 0)
