"""The archive: what it keeps of a page, how little room that takes, and how it gives room back."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from gossamer.errors import StoreBusy, StoreError, StoreTooNew
from gossamer.storage import archive_writing as archives
from gossamer.storage.archive import Archive, ArchivedPage, Kept, Reading, Same
from gossamer.values import Headers, Request, Response

T = TypeVar("T")
HTML = (("content-type", "text/html; charset=utf-8"),)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db.archive")


def on(path: str, work: Callable[[Archive], Awaitable[T]], *, owner: bool = True) -> T:
    """Open an archive, do something with it, close it."""

    async def main() -> T:
        async with Archive(path, owner=owner) as archive:
            return await work(archive)

    return asyncio.run(main())


def kept(
    number: int, body: bytes = b"<p>hello", *, run: int = 1, scraper: str = "shop", started: float = 0.0, **more: Any
) -> Kept:
    """A page; what begins with `answer_` is of its response, the rest of its request."""
    url = more.pop("url", f"https://a.example/{number}")
    answer = {key.removeprefix("answer_"): more.pop(key) for key in list(more) if key.startswith("answer_")}
    headers = Headers(answer.pop("headers", HTML))
    response = Response(answer.pop("url", url), 200, headers, body, started or 1000.0 + number, 0.25, **answer)
    return Kept(run, scraper, Request(url, id=number, **more), response)


async def listed(archive: Archive, *given: Any, **named: Any) -> list[ArchivedPage]:
    return [page async for page in archive.pages(*given, **named)]


def keep(path: str, *pages: Kept) -> list[ArchivedPage]:
    """Keep pages, and read all there are from the file, opened anew."""
    on(path, lambda archive: archive.keep(pages))
    return on(path, lambda archive: listed(archive, newest=False), owner=False)


def similar(count: int, size: int = 4000) -> list[bytes]:
    """Pages of one site: the same frame, other texts."""
    chance = random.Random(7)
    frame = " ".join(f"<div class='c{chance.randrange(10**6)}'>" for _ in range(size // 22))
    return [f"{frame} page {n}: {chance.random()} {chance.random()}".encode() for n in range(count)]


def unlike(count: int, size: int = 4000) -> list[bytes]:
    """Pages that have nothing in common."""
    return [random.Random(n).randbytes(size) for n in range(count)]


# -- what is kept ----------------------------------------------------------------------------------------------


def test_a_page_comes_back_as_it_was_kept(path: str) -> None:
    page = kept(
        7,
        b"caf\xe9 \x00 <html>",
        url="https://a.example/search?q=1",
        method="POST",
        json={"q": "caf\u00e9"},
        to="listing",
        carry={"page": 2, "tags": ["a", None]},
        depth=3,
        priority=-5,
        hops=1,
        via=("https://a.example/old",),
        headers={"accept-language": "de"},
        answer_url="https://a.example/search/",
        answer_headers=(("content-type", "text/html"), ("x-a", "1"), ("x-a", "2"), ("x-b", "\u00fc")),
        answer_remote="192.0.2.1",
    )

    (found,) = keep(path, page)

    assert found.request == page.request
    assert found.response.url == "https://a.example/search/"
    assert found.response.headers.pairs() == page.response.headers.pairs()
    assert (found.response.status, found.response.body) == (200, page.response.body)
    assert (found.response.started, found.response.elapsed) == (1007.0, 0.25)
    assert found.response.remote == "192.0.2.1"
    assert (found.run, found.scraper, found.size, found.missing) == (1, "shop", 13, "")
    assert found.digest == hashlib.sha256(page.response.body).hexdigest()


@pytest.mark.parametrize("body", [b"\x00\xff\xfe", "text", {"a": "1", "b": ["2", "3"]}], ids=["bytes", "text", "form"])
def test_the_body_of_a_request_comes_back(path: str, body: Any) -> None:
    (found,) = keep(path, kept(1, data=body))
    assert found.request.data == body


def test_headers_that_hold_secrets_are_not_written_anywhere(path: str) -> None:
    secrets = (
        ("set-cookie", "id=SECRET-1"),
        ("x-auth-token", "SECRET-2"),
        ("authorization", "SECRET-3"),
        ("x-session-key", "SECRET-4"),
    )
    page = kept(1, headers={"x-app-token": "SECRET-5", "accept": "text/html"}, answer_headers=(*HTML, *secrets))

    (found,) = keep(path, page)

    assert found.response.headers.pairs() == HTML
    assert found.request.headers == {"accept": "text/html"}
    assert b"SECRET" not in b"".join(file.read_bytes() for file in Path(path).parent.iterdir())


def test_an_empty_body_is_a_body(path: str) -> None:
    (found,) = keep(path, kept(1, b""))
    assert (found.response.body, found.size, found.missing) == (b"", 0, "")


def test_the_same_body_is_kept_once(path: str) -> None:
    body = b"x" * 10_000
    found = keep(path, *[kept(n, body) for n in range(1, 6)])
    found += keep(path, kept(9, body, run=2, scraper="other"))
    stats = on(path, lambda archive: archive.stats())

    assert all(page.response.body == body for page in found)
    assert (stats.pages, stats.bodies, stats.raw) == (6, 1, 10_000)
    assert stats.scrapers == {"shop": 5, "other": 1}


def test_a_page_that_is_walked_again_replaces_what_was_kept_of_it(path: str) -> None:
    keep(path, kept(1, b"first"), kept(2, b"other"))
    found = keep(path, kept(1, b"second", started=2000.0))
    assert [(page.request.id, page.response.body) for page in found] == [(1, b"second"), (2, b"other")]


def test_an_unchanged_page_points_to_the_body_that_is_there(path: str) -> None:
    sha256 = hashlib.sha256(b"hello").hexdigest()
    keep(path, kept(1, b"hello", to="listing", carry={"n": 1}))
    same = Same(2, "shop", Request("https://a.example/1", to="listing", id=40), 5000.0, sha256)

    on(path, lambda archive: archive.same([same]))

    (found,) = on(path, lambda archive: listed(archive, run=2))
    assert (found.request.id, found.request.handler, found.request.carry) == (40, "listing", {"n": 1})
    assert (found.response.body, found.response.status, found.response.started) == (b"hello", 200, 5000.0)
    assert found.response.content_type == "text/html"
    assert on(path, lambda archive: archive.stats()).bodies == 1


def test_an_unchanged_page_that_was_never_kept_is_not_kept(path: str) -> None:
    keep(path, kept(1, b"hello"))
    sha256 = hashlib.sha256(b"hello").hexdigest()
    strangers = [
        Same(2, "shop", Request("https://a.example/1", id=1), 1.0, hashlib.sha256(b"other").hexdigest()),
        Same(2, "shop", Request("https://a.example/elsewhere", id=2), 1.0, sha256),
        Same(2, "another", Request("https://a.example/1", id=3), 1.0, sha256),
    ]
    on(path, lambda archive: archive.same(strangers))
    assert on(path, lambda archive: listed(archive, run=2)) == []


# -- bodies in files -------------------------------------------------------------------------------------------


def in_file(tmp_path: Path, content: bytes, number: int = 1) -> Kept:
    file = tmp_path / f"body-{number}"
    file.write_bytes(content)
    return kept(number, b"", answer_file=str(file), answer_file_size=len(content))


def test_a_body_in_a_file_is_kept(path: str, tmp_path: Path) -> None:
    content = random.Random(1).randbytes(100_000)
    found = keep(path, in_file(tmp_path, content), kept(2))
    assert [page.response.body for page in found if page.request.id == 1] == [content]
    assert [page.digest for page in found if page.request.id == 1] == [hashlib.sha256(content).hexdigest()]


def test_a_larger_file_is_not_kept_and_its_page_says_so(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST", 1 << 20)
    (found,) = keep(path, in_file(tmp_path, bytes(3 << 20)))
    assert (found.response.body, found.digest, found.size) == (b"", "", 3 << 20)
    assert found.missing == "its body of 3 MB is larger than the archive keeps"


def test_a_file_that_is_gone_is_not_kept_and_its_page_says_so(path: str, tmp_path: Path) -> None:
    page = in_file(tmp_path, b"abc")
    (tmp_path / "body-1").unlink()
    (found,) = keep(path, page)
    assert "cannot be read: No such file" in found.missing


# -- finding pages ---------------------------------------------------------------------------------------------


def test_only_what_was_fetched_last_counts_as_newest(path: str) -> None:
    url = "https://a.example/"
    pages = [
        kept(1, b"today", url=url, started=3000.0),
        kept(1, b"imported later, but older", url=url, run=2, started=1000.0),
        kept(2, b"another handler", url=url, to="detail", started=500.0),
        kept(3, b"another scraper", url=url, scraper="other", started=9000.0),
    ]
    keep(path, *pages)

    def bodies(**named: Any) -> list[bytes]:
        found = on(path, lambda archive: listed(archive, **named))
        return [page.response.body for page in found]

    assert bodies(scraper="shop") == [b"today", b"another handler"]
    assert bodies(scraper="shop", run=2) == [b"imported later, but older"]
    assert len(bodies(scraper="shop", newest=False)) == 3
    assert len(bodies()) == 3


def test_a_page_that_is_asked_for_again_in_one_run_is_kept_each_time(path: str) -> None:
    url = "https://a.example/ticker"
    keep(path, *[kept(n, b"%d" % n, url=url, revisit=True) for n in (1, 2, 3)])
    assert len(on(path, lambda archive: listed(archive))) == 3


def test_pages_are_found_by_url_however_it_is_spelled(path: str) -> None:
    keep(
        path, kept(1, b"a", url="https://a.example/x?b=1&a=2"), kept(2, b"b", run=2, url="https://a.example/x?b=1&a=2")
    )

    found = on(path, lambda archive: archive.of_url("https://a.example/x?a=2&b=1"))

    assert [page.request.id for page in found] == [2, 1]
    assert on(path, lambda archive: archive.of_url("https://a.example/none")) == []


def test_a_body_is_found_by_its_digest(path: str) -> None:
    keep(path, kept(1, b"hello"))
    sha256 = hashlib.sha256(b"hello").hexdigest()
    assert on(path, lambda archive: archive.read(sha256)) == b"hello"
    assert on(path, lambda archive: archive.read("00" * 32)) is None
    with Reading(path) as reading:
        assert reading.read(sha256) == b"hello"


def test_facts_can_be_had_without_bodies(path: str) -> None:
    keep(path, kept(1, b"hello"))
    (found,) = on(path, lambda archive: listed(archive, bodies=False))
    assert (found.response.body, found.size) == (b"", 5)


def test_one_process_reads_while_another_works(path: str) -> None:
    async def main() -> None:
        async with Archive(path) as archive:
            await archive.keep([kept(1, b"first")])
            with Reading(path) as reading:
                assert reading.ids() == [1]
                await archive.keep([kept(2, b"second")])
                assert [page.response.body for page in reading.pages(reading.ids())] == [b"first", b"second"]
                assert reading.ids(after=1) == [2]
                assert [page.id for page in reading.pages([2, 99, 1])] == [2, 1]

    asyncio.run(main())


# -- dictionaries ----------------------------------------------------------------------------------------------


def test_pages_of_one_site_are_packed_with_a_dictionary(path: str) -> None:
    bodies = similar(200)

    async def work(archive: Archive) -> tuple[int, int]:
        await archive.keep([kept(n, body) for n, body in enumerate(bodies[:100], 1)])
        first = (await archive.stats()).stored
        await archive.keep([kept(n, body) for n, body in enumerate(bodies[100:], 101)])
        return first, (await archive.stats()).stored - first

    without, with_it = on(path, work)

    assert with_it < without / 3
    found = on(path, lambda archive: listed(archive), owner=False)
    assert [page.response.body for page in found] == bodies
    assert on(path, lambda archive: archive.stats()).dictionaries == 2  # one for bodies, one for headers


def test_no_dictionary_is_used_where_it_saves_nothing(path: str) -> None:
    on(path, lambda archive: archive.keep([kept(n, body) for n, body in enumerate(unlike(100), 1)]))
    assert on(path, lambda archive: archive.stats()).dictionaries == 1  # of headers, which are alike everywhere


def test_a_dictionary_is_made_of_pages_that_came_on_several_days(path: str) -> None:
    bodies = similar(80)
    for day in range(8):
        day_pages = [kept(n, body) for n, body in enumerate(bodies[day * 10 : day * 10 + 10], day * 10 + 1)]
        on(path, lambda archive, pages=day_pages: archive.keep(pages))  # type: ignore[misc]
    with closing(sqlite3.connect(path)) as db:
        used = dict(db.execute("select dictionary, count(*) from body group by dictionary"))
        assert db.execute("select dictionary from shelf where name = 'a.example'").fetchone() == (1,)
    assert used == {0: 70, 1: 10}


def test_every_host_has_a_dictionary_of_its_own(path: str) -> None:
    bodies = similar(150)
    hosts = ("a.example", "b.example")
    pages = [kept(n, body, url=f"https://{hosts[n % 2]}/{n}") for n, body in enumerate(bodies, 1)]
    on(path, lambda archive: archive.keep(pages))
    with closing(sqlite3.connect(path)) as db:
        shelves = dict(db.execute("select name, dictionary from shelf where dictionary > 0"))
    assert set(shelves) == {"", *hosts}
    assert len(set(shelves.values())) == 3


# -- giving room back ------------------------------------------------------------------------------------------


def test_pruning_by_age_takes_the_old_pages_and_their_bodies(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, old = b"shared" * 1000, b"old" * 1000
    now = archives.time.time()
    monkeypatch.setattr(archives.time, "time", lambda: now - 90 * 86400)
    keep(path, kept(1, old), kept(2, shared))
    monkeypatch.setattr(archives.time, "time", lambda: now)
    keep(path, kept(3, shared), kept(4, b"new"))

    pruned = on(path, lambda archive: archive.prune(age=30 * 86400))

    assert (pruned.pages, pruned.bodies) == (2, 1)
    found = on(path, lambda archive: listed(archive, newest=False))
    assert [(page.request.id, page.response.body) for page in found] == [(3, shared), (4, b"new")]
    assert on(path, lambda archive: archive.prune(age=30 * 86400)).pages == 0


def test_pruning_by_size_takes_the_oldest_first_and_makes_the_file_smaller(path: str) -> None:
    bodies = unlike(300, 40_000)
    on(path, lambda archive: archive.keep([kept(n, body) for n, body in enumerate(bodies, 1)]))
    before = Path(path).stat().st_size

    pruned = on(path, lambda archive: archive.prune(size=5 << 20))

    after = Path(path).stat().st_size
    assert before > 12_000_000
    assert 3 << 20 < after <= 5 << 20
    assert pruned.freed > 6_000_000
    found = on(path, lambda archive: listed(archive))
    assert [page.request.id for page in found] == list(range(pruned.pages + 1, 301))
    assert on(path, lambda archive: archive.prune(size=5 << 20)).pages == 0


def test_pages_of_a_run_or_a_scraper_can_be_forgotten(path: str) -> None:
    keep(path, kept(1, b"a"), kept(1, b"b", run=2), kept(1, b"c", run=3, scraper="other"))
    assert on(path, lambda archive: archive.forget(run=1)).pages == 1
    assert on(path, lambda archive: archive.forget(scraper="other")).bodies == 1
    found = on(path, lambda archive: listed(archive))
    assert [page.response.body for page in found] == [b"b"]


def test_a_dictionary_goes_with_the_last_page_that_needs_it(path: str) -> None:
    bodies = similar(200)
    on(path, lambda archive: archive.keep([kept(n, body) for n, body in enumerate(bodies, 1)]))
    on(path, lambda archive: archive.forget(run=1))
    assert on(path, lambda archive: archive.stats()).dictionaries == 0
    again = keep(path, *[kept(n, body, run=2) for n, body in enumerate(bodies, 1)])
    assert [page.response.body for page in again] == bodies


# -- trouble ---------------------------------------------------------------------------------------------------


def test_only_one_process_works_on_an_archive(path: str) -> None:
    async def twice() -> None:
        async with Archive(path), Archive(path):
            pass

    with pytest.raises(StoreBusy, match="in use by this process"):
        asyncio.run(twice())


def refused(path: str, *, owner: bool, kind: type[Exception] = StoreError) -> str:
    with pytest.raises(kind) as caught:
        on(path, lambda archive: archive.stats(), owner=owner)
    return str(caught.value)


def test_an_archive_that_is_not_there_is_said_to_be_so(path: str) -> None:
    assert refused(path, owner=False).startswith(f"there is no archive at {path}: a run makes one")


@pytest.mark.parametrize("owner", [True, False])
def test_a_file_that_is_no_archive_is_refused_and_left_alone(path: str, owner: bool) -> None:
    Path(path).write_bytes(b"my diary " * 1000)
    assert "is not a Gossamer archive" in refused(path, owner=owner)
    assert Path(path).read_bytes() == b"my diary " * 1000


@pytest.mark.parametrize("owner", [True, False])
def test_another_programs_database_is_refused(path: str, owner: bool) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table mine (a)")
    assert "is not a Gossamer archive: move it away" in refused(path, owner=owner)


def test_an_archive_of_a_newer_form_is_refused(path: str) -> None:
    keep(path, kept(1))
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma user_version = 99")
    assert "upgrade Gossamer" in refused(path, owner=True, kind=StoreTooNew)


def test_a_damaged_body_is_said_to_be_one(path: str) -> None:
    keep(path, kept(1, b"hello" * 100))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("update content set data = x'28b52ffd00'")
    with pytest.raises(StoreError, match="is damaged"):
        on(path, listed)


def test_a_damaged_file_is_said_to_be_one(path: str) -> None:
    keep(path, *[kept(n, body) for n, body in enumerate(unlike(50), 1)])
    raw = bytearray(Path(path).read_bytes())
    raw[16384:] = b"\x55" * (len(raw) - 16384)
    Path(path).write_bytes(raw)
    with pytest.raises(StoreError, match=r"is damaged|failed"):
        on(path, listed)


def test_an_archive_deleted_while_it_is_worked_on_is_noticed(path: str) -> None:
    async def main() -> None:
        async with Archive(path) as archive:
            await archive.keep([kept(1)])
            os.unlink(path)
            archive._writing._lock._next_look = 0.0
            await archive.keep([kept(2)])

    with pytest.raises(StoreError, match="deleted, moved or replaced"):
        asyncio.run(main())


#: Keeps pages in a process whose files may not grow beyond a megabyte, as on a disk that is full.
ON_A_FULL_DISK = """
import asyncio, random, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from gossamer.errors import StoreError
from tests.unit.test_archive import Archive, kept, listed
async def main():
    async with Archive(sys.argv[1]) as archive:
        await archive.keep([kept(1, b"before")])
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
        try:
            await archive.keep([kept(n, random.randbytes(100_000)) for n in range(2, 60)])
        except StoreError as why:
            print(why)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await archive.keep([kept(2, b"after")])
        print([page.response.body async for page in archive.pages()])
asyncio.run(main())
"""


def test_a_full_disk_is_said_to_be_one_and_costs_nothing_that_was_kept(path: str) -> None:
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-c", ON_A_FULL_DISK, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=root, check=False)
    assert done.returncode == 0, done.stderr
    said, pages = done.stdout.splitlines()
    assert "the disk" in said
    assert "then the same command goes on" in said
    assert pages == "[b'before', b'after']"


def test_what_is_closed_says_so(path: str) -> None:
    archive = Archive(path)
    with pytest.raises(StoreError, match="is closed"):
        asyncio.run(archive.stats())


def test_memory_does_not_grow_with_the_number_of_pages(path: str) -> None:
    async def work(archive: Archive) -> int:
        for first in range(1, 3001, 100):
            await archive.keep([kept(n, b"%d" % n * 5000) for n in range(first, first + 100)])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert sum([1 async for _ in archive.pages()]) == 3000
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert on(path, work) < 40_000  # kilobytes, of 60,000 that the bodies are
