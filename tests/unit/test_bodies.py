"""Bodies in files: where downloads may go, how they are resumed, and codings undone on the way."""

from __future__ import annotations

import asyncio
import fcntl
import gzip
import hashlib
import json
import os
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from gossamer.errors import Bomb, Broken, FetchError, SlowStart, TimedOut, TooLarge, Unsendable
from gossamer.fetch import bodies, client, codings
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.bodies import spool, target
from gossamer.fetch.client import Client
from gossamer.fetch.codings import Unpacker
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.testing import Answer, Hit, Site
from gossamer.values import Request, Response

BODY = os.urandom(300_000)
SHA = hashlib.sha256(BODY).hexdigest()
HALF = len(BODY) // 2
SMALL = BODY[:5000]


def download(url: str | Request, save: str = "x.bin", **knobs: Any) -> Response:
    request = (Request(url) if isinstance(url, str) else url).evolve(save=save)

    async def main() -> Response:
        async with Client() as fetcher:
            way = Way(Identity("t/1"), Addresses(private=True))
            return await fetcher.fetch(request, ScraperConfig(**knobs), way)

    return asyncio.run(main())


def left() -> set[str]:
    """All files of downloads."""
    return {str(path.relative_to("files")) for path in Path("files").rglob("*") if path.is_file()}


class Shelf:
    """Serves one file, with ranges as RFC 9110 says, and breaks off as often as it is told."""

    def __init__(self, body: bytes = BODY, version: str = '"v1"', breaks: int = 0) -> None:
        self.body, self.version, self.breaks = body, version, breaks
        self.asked: list[str | None] = []

    def __call__(self, hit: Hit) -> Answer:
        self.asked.append(hit.headers.get("range"))
        start = 0
        headers = {"ETag": self.version, "Content-Type": "application/octet-stream"}
        if "range" in hit.headers and hit.headers.get("if-range") == self.version:
            start = int(hit.headers["range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(self.body):
                return Answer(status=416, headers={**headers, "Content-Range": f"bytes */{len(self.body)}"})
            headers["Content-Range"] = f"bytes {start}-{len(self.body) - 1}/{len(self.body)}"
        self.breaks -= 1
        status = 206 if start else 200
        return Answer(
            status=status, body=self.body[start:], headers=headers, fault="truncate" if self.breaks >= 0 else None
        )


def leave_part(
    url: str, size: int, *, version: str = '"v1"', total: int | None = len(BODY), body: bytes = BODY
) -> None:
    """What a download that broke off leaves."""
    Path("files").mkdir(exist_ok=True)
    Path("files/x.bin.part").write_bytes(body[:size])
    Path("files/x.bin.part.json").write_text(json.dumps({"url": url, "version": version, "total": total}))


# -- where files go


@pytest.mark.parametrize(
    "save", ["a.pdf", "books/1.pdf", "./a", "a//b", "ä b&c.pdf", ".hidden", "a..b", "...", "x" * 200]
)
def test_files_go_below_their_folder(tmp_path: Path, save: str) -> None:
    found = target(str(tmp_path / "files"), save)
    assert found.is_relative_to(tmp_path / "files")
    assert ".." not in found.parts


@pytest.mark.parametrize(
    "save",
    [
        "",
        ".",
        "a/",
        "a/.",
        "/etc/passwd",
        "//host/share",
        "..",
        "../x",
        "a/../../x",
        "a/..",
        "C:\\x",
        "C:x",
        "..\\x",
        "a\\..\\x",
        "a\0b",
        "a\nb",
        "a\x1b[2Jb",
        "a\ud800b",
        "x" * 201,
        "ö" * 101,
        "a/" * 600 + "b",
        "x.part",
        "x.part.json",
    ],
)
def test_no_name_leads_out(tmp_path: Path, save: str) -> None:
    with pytest.raises(Unsendable, match="cannot be saved"):
        target(str(tmp_path), save)


def test_no_link_leads_out(tmp_path: Path) -> None:
    files, outside = tmp_path / "files", tmp_path / "outside"
    (files / "deep").mkdir(parents=True)
    outside.mkdir()
    (files / "out").symlink_to(outside)
    (files / "deep" / "up").symlink_to("../..")
    (files / "in").symlink_to("deep")
    for save in ("out/x", "out/new/x", "deep/up/x", "deep/up/outside/x", "deep"):
        with pytest.raises(Unsendable):
            target(str(files), save)
    assert target(str(files), "in/x") == files / "in" / "x"


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "files").symlink_to("real")
    assert target(str(tmp_path / "files"), "a/x") == tmp_path / "real" / "a" / "x"


def test_a_link_at_the_end_is_replaced_not_followed(site: Site) -> None:
    Path("files").mkdir()
    Path("victim").write_text("keep me")
    Path("files/x.bin").symlink_to("../victim")
    Path("files/y.bin.part").symlink_to("../victim")
    site.page("/", BODY)
    download(site.url("/"))
    assert Path("files/x.bin").read_bytes() == BODY
    with pytest.raises(FetchError, match="cannot be written"):
        download(site.url("/"), "y.bin")
    assert Path("victim").read_text() == "keep me"


def test_a_refused_name_sends_nothing(site: Site) -> None:
    with pytest.raises(Unsendable):
        download(site.url("/"), "../x")
    assert site.hits == []


# -- downloads


@pytest.mark.parametrize("streamed", [False, True])
def test_a_download_ends_in_its_file(site: Site, streamed: bool) -> None:
    body = os.urandom(3 << 20)
    pieces = [body[at : at + 100_000] for at in range(0, len(body), 100_000)]
    site.handler("/", lambda hit: Answer(stream=lambda: iter(pieces)) if streamed else Answer(body=body))
    response = download(site.url("/"), "deep/er/x.bin")
    assert (response.status, response.body, response.file_size) == (200, b"", len(body))
    assert response.file == str(Path("files/deep/er/x.bin").resolve())
    assert response.sha256 == hashlib.sha256(body).hexdigest()
    assert Path(response.file).read_bytes() == body
    assert left() == {"deep/er/x.bin"}
    assert site.hits[0].headers["accept-encoding"] == "identity"


def test_a_download_is_fetched_whatever_type_the_scraper_reads_and_whatever_its_max_body(site: Site) -> None:
    site.page("/", BODY, headers={"Content-Type": "video/mp4"})
    assert download(site.url("/"), content_types=("text/html",), max_body=1000).sha256 == SHA


def test_an_empty_file_is_a_file(site: Site) -> None:
    site.page("/", b"")
    assert download(site.url("/")).file_size == 0
    assert left() == {"x.bin"}


def test_a_download_replaces_what_was_there(site: Site) -> None:
    Path("files").mkdir()
    Path("files/x.bin").write_text("old")
    site.page("/", BODY)
    download(site.url("/"))
    assert Path("files/x.bin").read_bytes() == BODY


@pytest.mark.parametrize("status", [204, 302, 404, 500])
def test_what_is_no_file_is_an_answer_as_always(site: Site, status: int) -> None:
    site.page("/", "sorry", status=status, headers={"Location": "/there"})
    response = download(site.url("/"))
    assert (response.status, response.file) == (status, None)
    assert response.body == (b"" if status == 204 else b"sorry")
    assert left() == set()


def test_a_download_that_broke_off_goes_on_where_it_did(site: Site) -> None:
    shelf = Shelf(breaks=2)
    site.handler("/", shelf)
    for _ in range(2):
        with pytest.raises(Broken):
            download(site.url("/"))
        assert left() == {"x.bin.part", "x.bin.part.json"}
    response = download(site.url("/"))
    assert (response.status, response.file_size, response.sha256) == (206, len(BODY), SHA)
    assert Path("files/x.bin").read_bytes() == BODY
    assert shelf.asked == [None, f"bytes={HALF}-", f"bytes={HALF + HALF // 2}-"]
    assert left() == {"x.bin"}


def test_a_cancelled_download_keeps_what_it_has(site: Site) -> None:
    site.handler("/", lambda hit: Answer(stream=lambda: iter([BODY] * 100), every=0.05, headers={"ETag": '"v1"'}))

    async def main() -> None:
        async with Client() as fetcher:
            way = Way(Identity("t/1"), Addresses(private=True))
            request = Request(site.url("/"), save="x.bin")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(fetcher.fetch(request, ScraperConfig(), way), 0.5)

    asyncio.run(main())
    part = Path("files/x.bin.part").read_bytes()
    assert len(part) >= 2 * len(BODY)
    assert part == (BODY * 100)[: len(part)]
    assert "x.bin.part.json" in left()


def test_last_modified_serves_where_there_is_no_etag(site: Site) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    site.handler("/", lambda hit: Answer(body=BODY, headers={"Last-Modified": date}, fault="truncate"))
    with pytest.raises(Broken):
        download(site.url("/"))
    with pytest.raises(Broken):
        download(site.url("/"))
    assert site.hits[1].headers["if-range"] == date


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"ETag": 'W/"weak"'},
        {"ETag": "no quotes"},
        {"Last-Modified": "yesterday"},
        {"Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"},
    ],
)
def test_without_a_version_to_trust_nothing_is_resumed(site: Site, headers: dict[str, str]) -> None:
    site.handler("/", lambda hit: Answer(body=BODY, headers=headers, fault="truncate"))
    for _ in range(2):
        with pytest.raises(Broken):
            download(site.url("/"))
        assert left() == set()
    assert "range" not in site.hits[1].headers


def test_a_file_that_changed_meanwhile_is_fetched_whole(site: Site) -> None:
    site.handler("/", Shelf(version='"v2"'))
    leave_part(site.url("/"), HALF, body=b"x" * len(BODY))
    response = download(site.url("/"))
    assert (response.status, response.sha256) == (200, SHA)
    assert left() == {"x.bin"}


def test_a_server_that_knows_no_ranges_is_no_trouble(site: Site) -> None:
    site.page("/", BODY, headers={"ETag": '"v1"'})
    leave_part(site.url("/"), HALF, body=b"x" * len(BODY))
    assert download(site.url("/")).sha256 == SHA


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Range": "nonsense"},
        {"Content-Range": f"bytes 0-{len(BODY) - 1}/{len(BODY)}"},
        {"Content-Range": f"bytes {HALF - 1}-{len(BODY) - 1}/{len(BODY)}"},
        {"Content-Range": f"bytes {HALF + 1}-{len(BODY) - 1}/{len(BODY)}"},
        {"Content-Range": f"bytes {HALF}-{len(BODY) - 1}/{len(BODY) + 1}"},
        {"Content-Range": f"bytes {HALF}-{len(BODY)}/{len(BODY)}"},
        {"Content-Range": f"bytes {HALF}-{len(BODY) - 1}/{len(BODY)}", "ETag": '"v2"'},
    ],
)
def test_a_part_that_does_not_fit_is_thrown_away(site: Site, headers: dict[str, str]) -> None:
    """The next attempt, at the host's pace, begins anew."""
    site.handler(
        "/", lambda hit: Answer(status=206 if "range" in hit.headers else 200, body=BODY[HALF:], headers=headers)
    )
    leave_part(site.url("/"), HALF)
    with pytest.raises(Broken, match="fetched anew"):
        download(site.url("/"))
    assert left() == set()
    assert len(site.hits) == 1
    download(site.url("/"))
    assert "range" not in site.hits[1].headers


def test_a_part_nobody_asked_for_is_no_file(site: Site) -> None:
    told = {"Content-Range": f"bytes 0-9/{len(BODY)}"}
    site.page("/", BODY[:10], status=206, headers=told)
    with pytest.raises(Broken):
        download(site.url("/"))
    assert left() == set()


def test_less_than_was_missing_is_no_file_yet(site: Site) -> None:
    told = {"Content-Range": f"bytes {HALF}-{HALF + 9}/{len(BODY)}", "ETag": '"v1"'}
    site.page("/", BODY[HALF : HALF + 10], status=206, headers=told)
    leave_part(site.url("/"), HALF)
    with pytest.raises(Broken, match="should have"):
        download(site.url("/"))
    assert Path("files/x.bin.part").read_bytes() == BODY[: HALF + 10]
    site.handler("/", Shelf())
    assert download(site.url("/")).sha256 == SHA


def test_a_part_that_is_the_whole_file_only_needs_its_name(site: Site) -> None:
    site.handler("/", Shelf())
    leave_part(site.url("/"), len(BODY))
    response = download(site.url("/"))
    assert (response.status, response.file_size, response.sha256) == (200, len(BODY), SHA)
    assert left() == {"x.bin"}


@pytest.mark.parametrize(
    "headers", [{}, {"Content-Range": "bytes */7"}, {"Content-Range": f"bytes */{HALF}", "ETag": '"v2"'}]
)
def test_a_part_that_the_site_disowns_is_thrown_away(site: Site, headers: dict[str, str]) -> None:
    site.page("/", "", status=416, headers=headers)
    leave_part(site.url("/"), HALF)
    with pytest.raises(Broken, match="fetched anew"):
        download(site.url("/"))
    assert left() == set()


@pytest.mark.parametrize("told", [b"", b"{}", b"[1]", b'{"url": 1}', b"\xff"])
def test_a_part_without_its_story_is_fetched_anew(site: Site, told: bytes) -> None:
    site.handler("/", Shelf())
    leave_part(site.url("/"), HALF, body=b"x" * len(BODY))
    Path("files/x.bin.part.json").write_bytes(told)
    assert download(site.url("/")).sha256 == SHA
    assert "range" not in site.hits[0].headers


def test_a_part_of_another_url_is_not_mixed_in(site: Site) -> None:
    site.handler("/", Shelf())
    leave_part(site.url("/other"), HALF, body=b"x" * len(BODY))
    assert download(site.url("/")).sha256 == SHA
    assert "range" not in site.hits[0].headers


def test_only_get_is_resumed(site: Site) -> None:
    site.handler("/", Shelf())
    leave_part(site.url("/"), HALF)
    assert download(Request(site.url("/"), data="x")).sha256 == SHA
    assert "range" not in site.hits[0].headers


def test_two_downloads_do_not_write_one_file(site: Site) -> None:
    site.page("/", BODY, latency=0.2)

    async def main() -> list[Any]:
        async with Client() as fetcher:
            way = Way(Identity("t/1"), Addresses(private=True))
            request = Request(site.url("/"), save="x.bin")
            both = (fetcher.fetch(request, ScraperConfig(), way) for _ in range(2))
            return await asyncio.gather(*both, return_exceptions=True)

    found = asyncio.run(main())
    failed = [each for each in found if isinstance(each, FetchError)]
    assert len(failed) == 1
    assert failed[0].transient
    assert "another download" in str(failed[0])
    assert Path("files/x.bin").read_bytes() == BODY


@pytest.mark.parametrize("streamed", [False, True])
def test_a_download_has_a_cap_of_its_own(site: Site, streamed: bool) -> None:
    headers = {"ETag": '"v1"'}
    site.handler(
        "/",
        lambda hit: (
            Answer(stream=lambda: iter([BODY]), headers=headers) if streamed else Answer(body=BODY, headers=headers)
        ),
    )
    with pytest.raises(TooLarge, match="max_download"):
        download(site.url("/"), max_download=len(BODY) - 1)
    assert left() == set()
    assert download(site.url("/"), max_download=len(BODY)).sha256 == SHA


def test_a_resumed_download_has_the_same_cap(site: Site) -> None:
    site.handler("/", Shelf())
    leave_part(site.url("/"), HALF)
    with pytest.raises(TooLarge):
        download(site.url("/"), max_download=HALF + 1)


def test_a_download_may_take_longer_than_a_page(site: Site) -> None:
    blocks = [BODY] * 10
    site.handler("/", lambda hit: Answer(stream=lambda: iter(blocks), every=0.05))
    assert download(site.url("/"), timeout=0.2).file_size == 10 * len(BODY)


def test_a_download_that_drips_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SLOWEST_DOWNLOAD", 1 << 20)
    site.drip("/", every=0.02)
    with pytest.raises(TimedOut, match="too slowly"):
        download(site.url("/"), timeout=0.3)


def test_a_download_that_falls_silent_is_given_up(site: Site) -> None:
    site.drip("/silent", every=20)
    site.hang("/hang")
    with pytest.raises(TimedOut, match="nothing more came"):
        download(site.url("/silent"), first_byte=0.2)
    with pytest.raises(SlowStart):
        download(site.url("/hang"), first_byte=0.2)


def test_what_comes_packed_unasked_is_unpacked(site: Site) -> None:
    site.page("/", gzip.compress(BODY), headers={"Content-Encoding": "gzip", "ETag": '"v1"'})
    response = download(site.url("/"))
    assert (response.sha256, response.file_size) == (SHA, len(BODY))


@pytest.mark.parametrize(
    ("save", "kind"), [("x.tar.gz", "application/octet-stream"), ("x.tgz", "text/plain"), ("x", "application/gzip")]
)
def test_a_packed_file_stays_packed(site: Site, save: str, kind: str) -> None:
    """Many servers say of an archive that it is only packed for the way."""
    packed = gzip.compress(BODY)
    site.page("/", packed, headers={"Content-Encoding": "gzip", "Content-Type": kind})
    assert Path(str(download(site.url("/"), save).file)).read_bytes() == packed


def test_a_packed_download_that_breaks_off_is_not_resumed(site: Site) -> None:
    headers = {"Content-Encoding": "gzip", "ETag": '"v1"'}
    site.handler("/", lambda hit: Answer(body=gzip.compress(BODY), headers=headers, fault="truncate"))
    with pytest.raises(Broken):
        download(site.url("/"))
    assert left() == set()


def test_what_nobody_can_unpack_is_no_file(site: Site) -> None:
    site.page("/", BODY, headers={"Content-Encoding": "br"})
    with pytest.raises(Broken, match="'br'"):
        download(site.url("/"))
    assert left() == set()


def test_a_bomb_is_no_file(site: Site) -> None:
    site.bomb("/", megabytes=20)
    with pytest.raises(Bomb):
        download(site.url("/"))
    assert left() == set()


def test_where_no_file_can_be_written_the_request_fails(site: Site) -> None:
    Path("files").write_text("not a folder")
    with pytest.raises(FetchError, match="cannot be written"):
        download(site.url("/"))
    assert site.hits == []


def test_the_loop_is_not_held_up_by_the_disk(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything slow about a file is done in threads."""
    write = bodies._Writer._write

    def slowly(self: Any, held: bytearray) -> None:
        time.sleep(0.2)
        write(self, held)

    monkeypatch.setattr(bodies._Writer, "_write", slowly)
    site.page("/", b"x" * (3 << 20))
    longest = 0.0

    async def main() -> None:
        nonlocal longest
        async with Client() as fetcher:
            way = Way(Identity("t/1"), Addresses(private=True))
            task = asyncio.create_task(fetcher.fetch(Request(site.url("/"), save="x"), ScraperConfig(), way))
            while not task.done():
                before = time.monotonic()
                await asyncio.sleep(0.001)
                longest = max(longest, time.monotonic() - before)
            await task

    asyncio.run(main())
    assert longest < 0.15


# -- the folder for large bodies


def test_the_spool_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with spool() as folder:
        (Path(folder) / "body").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_spools_of_killed_processes_are_removed_and_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead, alive, young = (tmp_path / f"gossamer-bodies-{name}" for name in ("dead", "alive", "young"))
    for folder in (dead, alive, young):
        folder.mkdir()
        (folder / "body").write_text("x")
        (folder / "lock").touch()
    for folder in (dead, alive):
        os.utime(folder, (1, 1))
    with open(alive / "lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with spool():
            pass
    assert {path.name for path in tmp_path.iterdir()} == {alive.name, young.name}


# -- codings


def unpack(coding: str, *pieces: bytes, cap: int = 1 << 30, ratio: int = 100) -> bytes:
    unpacker = Unpacker(coding, cap=cap, ratio=ratio)
    out = b"".join(bytes(part) for piece in pieces for part in unpacker.feed(piece))
    unpacker.end()
    return out


@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 20])
@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(SMALL)),
        ("x-gzip", gzip.compress(SMALL)),
        ("deflate", zlib.compress(SMALL)),
        ("deflate", zlib.compress(SMALL, wbits=-15)),
        ("deflate, gzip", gzip.compress(zlib.compress(SMALL))),
        ("", SMALL),
        ("identity", SMALL),
        ("utf-8", SMALL),
    ],
)
def test_codings_are_undone_in_whatever_pieces_they_come(coding: str, packed: bytes, size: int) -> None:
    assert unpack(coding, *(packed[at : at + size] for at in range(0, len(packed), size))) == SMALL


@pytest.mark.parametrize(
    "packed", [b"\x1f", gzip.compress(SMALL)[:-1], zlib.compress(SMALL)[:100], b"\x1f\x8bnonsense"]
)
def test_what_does_not_unpack_is_broken(packed: bytes) -> None:
    with pytest.raises(Broken):
        unpack("gzip", packed)


def test_nothing_unpacks_to_nothing() -> None:
    assert unpack("gzip") == b""
    assert unpack("gzip", b"") == b""


def test_a_body_is_not_packed_five_times() -> None:
    with pytest.raises(Broken, match="5 times"):
        Unpacker("gzip," * 4 + "gzip", cap=1, ratio=1)
    assert codings.ours("gzip, deflate")
    assert not codings.ours("gzip, br")


def test_layers_that_give_nothing_may_not_grow_either() -> None:
    """A bomb of empty blocks inside a bomb: nothing comes out, and it would take for ever."""
    empty = zlib.compressobj(9, zlib.DEFLATED, 31)
    blocks = empty.compress(b"") + b"\x00\x00\x00\xff\xff" * 2_000_000
    outer = gzip.compress(blocks)
    with pytest.raises(Bomb):
        unpack("gzip, gzip", outer)
