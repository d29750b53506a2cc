"""Sinks beside whole runs: what is settled goes on, whatever becomes of the place it goes to."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

import gossamer
from gossamer import ConfigError, Item, Page, Scraper, delivery, judging, runs
from gossamer.delivery import Deliveries
from gossamer.sinks import Sink, sink_of
from gossamer.storage.store import SinkNote
from gossamer.testing import Site
from tests.s3 import CREDENTIALS, S3, SECRET, S3Process
from tests.walk import run

BUCKET = "things"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    """A real S3 API with a bucket, and the credentials for it."""
    credentials(monkeypatch)
    with S3() as started:
        started.make(BUCKET)
        yield started


def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are short, as the tests are."""
    monkeypatch.setattr(delivery, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(delivery, "LAST_WAIT", 0.1)
    # Long enough for a first answer on a machine that was busy elsewhere for a second.
    monkeypatch.setattr(delivery, "PATIENCE", 3.0)
    monkeypatch.setattr(delivery, "LOOK", 0.02)


def shop(site: Site, things: dict[str, Any], pages: int = 4) -> None:
    """Play a shop: its things, spread over pages."""
    listed = list(things.items())
    for page in range(pages):
        rows = "".join(f"<li><a>{name}</a> <b>{price}</b></li>" for name, price in listed[page::pages])
        following = f'<a class=next href="/p{page + 1}">next</a>' if page + 1 < pages else ""
        site.page(f"/p{page}", f"<ul>{rows}</ul>{following}")


def scraper(site: Site, *sinks: Any, **attributes: Any) -> type[Scraper]:
    def parse(self: Scraper, page: Page) -> Any:
        for each in page.css("li"):
            yield {"id": each.css("a").text, "price": each.css("b").text}
        yield from page.follow("a.next")

    given = {"start_urls": [site.url("/p0")], "parse": parse, "key": "id", "kind": "thing", "sinks": list(sinks)}
    return type("Shop", (Scraper,), {"name": "shop", "drift": "off"} | given | attributes)


def things(n: int, price: str = "1") -> dict[str, str]:
    return {f"t{i}": price for i in range(n)}


def files(folder: str) -> dict[str, bytes]:
    """Every file below a folder that is no manifest."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}
    return {name: body for name, body in found.items() if not name.startswith("_manifest/")}


def manifests(folder: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(p.read_bytes()) for p in sorted(Path(folder, "_manifest").rglob("*.json"))]


def expected(wanted: dict[str, str], form: str = "{}.json") -> dict[str, bytes]:
    """What a place should hold if each thing is an object."""
    return {
        form.format(name): msgspec.json.encode({"id": name, "price": price}) + b"\n" for name, price in wanted.items()
    }


def notes(store: str = "gossamer.db") -> dict[str, SinkNote]:
    async def look() -> dict[str, SinkNote]:
        async with runs.open_store(store) as opened:
            return {note.name: note for note in await opened.sinks()}

    return asyncio.run(look())


def flush(*sinks: Sink) -> list[delivery.Behind]:
    """What `gossamer sinks flush` does."""

    async def work() -> list[delivery.Behind]:
        async with runs.open_parts("gossamer.db") as parts:
            deliveries = Deliveries(parts.store, [("shop", sink) for sink in sinks])
            await deliveries.start()
            return await deliveries.finish(0.0)

    return asyncio.run(work())


# -- folders -----------------------------------------------------------------------------------------------------


def test_each_item_is_an_object_and_the_folder_is_exactly_the_data(site: Site) -> None:
    made = scraper(site, "./out/{id}.json")
    shop(site, things(20))
    run(made)
    assert files("out") == expected(things(20))
    (manifest,) = manifests("out")
    assert (manifest["from"], manifest["items"], len(manifest["objects"])) == (0, 20, 20)
    shop(site, things(20) | {"t3": "5", "new": "9"})
    run(made)
    assert files("out") == expected(things(20) | {"t3": "5", "new": "9"})
    assert [each["items"] for each in manifests("out")] == [20, 2]
    assert manifests("out")[0]["to"] == manifests("out")[1]["from"]


def test_an_item_that_is_gone_is_kept_and_told_of_or_deleted(site: Site) -> None:
    made = scraper(site, "./kept/{id}.json", Sink("./exact", key="{id}.json", gone="delete"))
    shop(site, things(4))
    run(made)
    shop(site, things(3))
    run(made)
    assert files("kept") == expected(things(4))
    assert manifests("kept")[-1]["gone"] == [{"kind": "thing", "key": "t3", "object": None}]
    assert files("exact") == expected(things(3))
    assert manifests("exact")[-1]["deleted"] == ["t3.json"]
    shop(site, things(4))
    run(made)
    assert files("exact") == expected(things(4))


def test_batches_are_a_log_of_what_happened(site: Site) -> None:
    made = scraper(site, "./out?batch=6")
    shop(site, things(20))
    run(made)
    shop(site, things(19) | {"t3": "5"})
    run(made)
    run(made)  # nothing happened
    current: dict[str, Any] = {}
    for _, body in sorted(files("out").items()):
        for line in body.splitlines():
            told = msgspec.json.decode(line)
            current[told["_key"]] = None if "_gone" in told else told["price"]
    assert {key: price for key, price in current.items() if price} == things(19) | {"t3": "5"}
    assert sum(each["items"] for each in manifests("out")) == 22
    assert all(count <= 6 for each in manifests("out") for count in [each["items"]])
    objects = [each["key"] for manifest in manifests("out") for each in manifest["objects"]]
    assert sorted(objects) == sorted(files("out"))


def test_rows_of_one_transaction_may_be_more_than_a_batch(site: Site) -> None:
    shop(site, things(10), pages=1)
    run(scraper(site, "./out?batch=3"))
    assert [len(body.splitlines()) for body in files("out").values()] == [3, 3, 3, 1]
    assert [each["last"] for each in manifests("out")] == [False, False, False, True]
    assert {each["from"] for each in manifests("out")} == {0}
    assert notes()[sink_of("./out").name].delivered == 10


def test_only_a_kind_and_two_sinks_side_by_side(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield {"id": 1}
        yield Item.of({"id": 2}, kind="other", key="2")

    site.page("/p0", "one")
    run(scraper(site, "./all/{kind}/{key}", Sink("./some/{kind}/{key}", kind="thing"), parse=parse))
    assert sorted(files("all")) == ["other/2", "thing/1"]
    assert sorted(files("some")) == ["thing/1"]


def test_what_was_collected_before_there_was_a_sink_is_delivered_too(site: Site) -> None:
    shop(site, things(5))
    run(scraper(site))
    run(scraper(site, "./out/{id}.json"))
    assert files("out") == expected(things(5))


def test_items_go_out_while_the_run_works(site: Site) -> None:
    shop(site, things(20))
    site.page("/p3", "<li><a>last</a></li>", latency=1.5)
    seen: list[float] = []

    def parse(self: Scraper, page: Page) -> Any:
        if page.url.endswith("/p3"):
            seen.append(len(files("out")))
        yield from parent(self, page)

    parent: Any = scraper(site).parse
    run(scraper(site, Sink("./out/{id}.json", every="50ms"), parse=parse))
    assert seen == [15]
    assert len(files("out")) == 16


def test_a_dry_run_delivers_nothing(site: Site) -> None:
    shop(site, things(5))
    run(scraper(site, "./out/{id}.json"), dry_run=True)
    assert not Path("out").exists()


def test_what_cannot_be_a_sink_is_refused_before_anything_is_fetched(site: Site) -> None:
    with pytest.raises(ConfigError, match="no sink of kind"):
        run(scraper(site, "ftp://x.example/"))
    with pytest.raises(ConfigError, match="options of the sink"):
        run(scraper(site, Sink("s3://things", options={"colour": "red"})))
    assert site.hits == []


def test_what_the_drift_gate_holds_back_goes_out_when_it_is_accepted(site: Site) -> None:
    made = scraper(site, "./out/{id}.json", drift="quarantine")
    shop(site, things(20))
    for _ in range(3):
        run(made)
    shop(site, things(20, price=""))
    report = run(made)
    assert report.verdict == "suspect"
    assert files("out") == expected(things(20))

    async def accept() -> None:
        async with runs.open_parts("gossamer.db") as parts:
            await judging.decide(parts.store, report.run, accept=True)

    asyncio.run(accept())
    assert flush(sink_of("./out/{id}.json")) == []
    assert files("out") == expected(things(20, price=""))


def test_what_a_good_run_was_held_back_for_goes_out_at_its_end(site: Site) -> None:
    made = scraper(site, "./out/{id}.json", drift="quarantine")
    shop(site, things(20))
    for _ in range(3):
        run(made)
    shop(site, things(20, price="2"))
    assert run(made).verdict == "good"
    assert files("out") == expected(things(20, price="2"))


# -- a bucket ----------------------------------------------------------------------------------------------------


def test_a_bucket_is_exactly_the_data(site: Site, s3: S3) -> None:
    wanted = things(20) | {"a/../b": "1", "Zürich 50%": "2"}
    shop(site, wanted)
    run(scraper(site, Sink(f"s3://{BUCKET}/shop", key="{kind}/{id}.json", endpoint=s3.url)))
    found = s3.data(BUCKET)
    assert found == expected(things(20), "shop/thing/{}.json") | {
        "shop/thing/a%2F..%2Fb.json": b'{"id":"a/../b","price":"1"}\n',
        "shop/thing/Zürich 50%25.json": '{"id":"Zürich 50%","price":"2"}\n'.encode(),
    }


def test_the_environment_names_the_endpoint(site: Site, s3: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.url)
    shop(site, things(3))
    run(scraper(site, f"s3://{BUCKET}/{{id}}.json"))
    assert s3.data(BUCKET) == expected(things(3))
    assert list(notes()) == [f"s3://{BUCKET}/{{id}}.json?endpoint={s3.url}"]


def test_what_a_sink_says_wins_over_the_environment(site: Site, s3: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    shop(site, things(3))
    run(scraper(site, f"s3://{BUCKET}/{{id}}.json?endpoint={s3.url}"))
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3")
    assert s3.data(BUCKET) == expected(things(3))


def test_a_large_batch_goes_in_parts(site: Site, s3: S3) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        for n in range(10):
            yield {"id": n, "text": "x" * 1_000_000}

    site.page("/p0", "one")
    run(scraper(site, f"s3://{BUCKET}?endpoint={s3.url}", parse=parse))
    ((key, body),) = s3.data(BUCKET).items()
    assert len(body) > 10_000_000
    assert len([each for each in s3.asked if each == ("PUT", f"/{BUCKET}/{key}")]) == 2


@pytest.mark.usefixtures("impatient")
def test_answers_of_503_are_waited_out(site: Site, s3: S3) -> None:
    n = itertools.count()
    s3.mood = lambda method, path: 503 if next(n) % 3 else None
    shop(site, things(40))
    run(scraper(site, f"s3://{BUCKET}/{{id}}.json?endpoint={s3.url}"))
    s3.mood = lambda method, path: None
    assert s3.data(BUCKET) == expected(things(40))
    assert notes()[f"s3://{BUCKET}/{{id}}.json?endpoint={s3.url}"].failing == ""


@pytest.mark.usefixtures("impatient")
def test_a_sink_that_is_down_delays_only_itself_and_loses_nothing(site: Site, s3: S3) -> None:
    s3.stop()
    shop(site, things(20))
    made = scraper(site, f"s3://{BUCKET}/{{id}}.json?endpoint={s3.url}", "./out/{id}.json")
    with structlog.testing.capture_logs() as told:
        began = time.monotonic()
        report = run(made)
        took = time.monotonic() - began
    assert (report.status, report.reason, report.items) == ("finished", "done", 20)
    assert took < 10
    assert files("out") == expected(things(20))
    behind = [each for each in told if each["event"] == "sink.behind"]
    assert [(each["items"], "refuses connections" in each["why"]) for each in behind] == [(20, True)]
    note = notes()[f"s3://{BUCKET}/{{id}}.json?endpoint={s3.url}"]
    assert (note.cursor, note.delivered, "refuses connections" in note.failing) == (0, 0, True)
    s3.start()
    shop(site, things(21))
    run(made)
    assert s3.data(BUCKET) == expected(things(21))
    assert notes()[note.name].failing == ""


def test_cancelled_while_it_waits_for_a_sink_a_run_is_finished_all_the_same(site: Site, s3: S3) -> None:
    s3.stop()
    site.page("/", "<title>only</title>")

    async def work() -> None:
        crawl = gossamer.crawl(site.url("/"), store="gossamer.db", sinks=[f"s3://{BUCKET}/log?endpoint={s3.url}"])
        task = asyncio.create_task(crawl)
        with structlog.testing.capture_logs() as told:
            while not any(each["event"] == "sink.failing" for each in told):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with runs.open_store("gossamer.db") as store:
            assert [(each.state, each.reason) for each in await store.runs()] == [("finished", "done")]

    asyncio.run(work())
    (note,) = notes().values()
    assert (note.delivered, note.cursor) == (0, 0)


@pytest.mark.usefixtures("impatient")
def test_a_bucket_that_is_not_there_is_said_and_what_waits_comes_when_it_is(site: Site, s3: S3) -> None:
    shop(site, things(5))
    sink = sink_of(f"s3://later/{{id}}.json?endpoint={s3.url}")
    run(scraper(site, sink))
    assert notes()[sink.name].failing.endswith("there is no such bucket: make it first")
    s3.make("later")
    assert flush(sink) == []
    assert s3.data("later") == expected(things(5))


@pytest.mark.usefixtures("impatient")
def test_a_store_that_never_answers_holds_no_run_up(site: Site, s3: S3) -> None:
    released: list[bool] = []

    def slow(method: str, path: str) -> None:
        while not released:
            time.sleep(0.01)

    s3.mood = slow
    shop(site, things(5))
    sink = Sink(f"s3://{BUCKET}/{{id}}.json", endpoint=s3.url, timeout="200ms")
    run(scraper(site, sink))
    assert notes()[sink.name].failing.endswith("it does not answer in time")
    released.append(True)
    assert flush(sink) == []
    assert s3.data(BUCKET) == expected(things(5))


def test_slow_answers_take_their_time_and_the_end_waits_while_they_come(site: Site, s3: S3, impatient: None) -> None:
    s3.mood = lambda method, path: time.sleep(0.2) if method == "PUT" else None
    shop(site, things(12))
    run(scraper(site, Sink(f"s3://{BUCKET}/{{id}}.json", endpoint=s3.url, concurrency=2)))
    assert s3.data(BUCKET) == expected(things(12))


# -- killed and restarted half-way -------------------------------------------------------------------------------


class Halves:
    """A scraper whose run stops a store when its third page is read, and starts it again some pages later."""

    def __init__(self, site: Site, s3: S3 | S3Process, stop: Callable[[], None], start: Callable[[], None]) -> None:
        shop(site, things(40), pages=8)
        parent: Any = scraper(site).parse

        async def parse(self: Scraper, page: Page) -> Any:
            number = int(page.url.rpartition("p")[2])
            if number == 3:
                while len(await asyncio.to_thread(s3.data, BUCKET)) < 5:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                await asyncio.to_thread(stop)
            if number == 6:
                await asyncio.to_thread(start)
            for each in parent(self, page):
                yield each

        self.sink = Sink(f"s3://{BUCKET}/{{id}}.json", endpoint=s3.url, every="20ms")
        self.scraper = scraper(site, self.sink, parse=parse, handler_timeout=40)


@pytest.mark.usefixtures("impatient")
def test_stopped_and_started_again_with_its_data_nothing_is_missing(site: Site, s3: S3) -> None:
    halves = Halves(site, s3, s3.stop, s3.start)
    assert run(halves.scraper).reason == "done"
    assert s3.data(BUCKET) == expected(things(40))


def test_killed_and_started_again_without_its_data(
    site: Site, monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    """What comes after the kill is there; what was there before is lost with it, until all is delivered again."""
    credentials(monkeypatch)
    with S3Process() as s3:
        s3.make(BUCKET)

        def start() -> None:
            s3.start()
            s3.make(BUCKET)

        halves = Halves(site, s3, s3.kill, start)
        assert run(halves.scraper).reason == "done"
        left = s3.data(BUCKET)
        whole = expected(things(40))
        assert len(left) < 40
        assert left.items() <= whole.items()
        note = notes()[halves.sink.name]
        assert (note.delivered >= 40, note.failing) == (True, "")

        async def again() -> None:
            async with runs.open_parts("gossamer.db") as parts:
                await parts.store.keep_sink(msgspec.structs.replace(note, cursor=0))

        asyncio.run(again())
        assert flush(halves.sink) == []
        assert s3.data(BUCKET) == whole


# -- secrets -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("impatient")
def test_credentials_are_in_no_log_store_or_object(site: Site, s3: S3, tmp_path: Path) -> None:
    own = "0wnSecretOfTheSink"
    sinks = [
        Sink(f"s3://{BUCKET}/{{id}}.json", endpoint=s3.url, options={"secret_access_key": own}),
        f"s3://{BUCKET}/more?endpoint={s3.url}",
        f"s3://missing/more?endpoint={s3.url}",
    ]
    shop(site, things(5))
    with structlog.testing.capture_logs() as told:
        run(scraper(site), sinks=sinks)
        s3.mood = lambda method, path: 403
        shop(site, things(6))
        run(scraper(site, *sinks))
    assert [each["event"] for each in told].count("sink.behind") == 4
    s3.mood = lambda method, path: None
    written = repr(told).encode() + b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    written += repr(s3.objects(BUCKET)).encode()
    for secret in (SECRET, own, CREDENTIALS["AWS_ACCESS_KEY_ID"]):
        assert secret.encode() not in written
