"""Downloads in whole runs: files that are complete or not there, whatever breaks on the way."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gossamer import Page, Request, Scraper
from gossamer.testing import Answer, Hit, Site
from tests.walk import asked, fates, items, run, why

MB = 1 << 20
DATA = random.Random(3).randbytes(3 * MB + 7)
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried soon: how long to wait is told elsewhere."""
    monkeypatch.setattr("gossamer.fetch.retry.FIRST_WAIT", 0.05)


def saver(site: Site, *paths: str, to: str | None = None, **attributes: Any) -> type[Scraper]:
    """A scraper that downloads some paths of the site from its front page."""

    def parse(self: Scraper, page: Page) -> Any:
        for path in paths or ("/file.bin",):
            yield page.download(path, to=to)

    site.page("/", "<p>home</p>")
    return type("Saver", (Scraper,), {"start_urls": [site.url("/")], "parse": parse, **attributes})


def files(folder: str = "files") -> list[str]:
    """All files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def told() -> list[dict[str, Any]]:
    """What the items of the kind "file" say."""
    return [item["data"] for item in items() if item["kind"] == "file"]


def ranges(site: Site, path: str = "/file.bin") -> list[str]:
    """What was asked for of a file, each time."""
    return [hit.headers.get("range", "") for hit in asked(site, path)]


# -- a file and its item ---------------------------------------------------------------------------------------


def test_a_download_is_a_file_and_an_item_that_tells_of_it(site: Site) -> None:
    site.download("/file.bin", DATA, kind="application/pdf")
    report = run(saver(site, to="books/one.pdf"))
    assert Path("files/books/one.pdf").read_bytes() == DATA
    assert files() == ["books/one.pdf"]
    assert told() == [
        {
            "url": site.url("/file.bin"),
            "file": "books/one.pdf",
            "bytes": len(DATA),
            "sha256": SHA,
            "content_type": "application/pdf",
        }
    ]
    assert report.by_reason == {"ok": 1, "file": 1}
    assert report.bytes >= len(DATA)
    assert f"{len(DATA):,} bytes" in why(site.url("/file.bin"))


def test_a_name_is_made_from_the_url_and_stays_in_the_folder(site: Site) -> None:
    paths = ("/docs/report.pdf", "/docs/report.pdf?v=2", "/a/..%2f..%2f..%2fetc/passwd", "/x/%00%0a.pdf", "/.part")
    for path in paths:
        site.download(path, path.encode())
    run(saver(site, *paths, files="kept"))
    assert {Path("kept", record["file"]).read_text() for record in told()} == set(paths)
    assert len(files("kept")) == len(paths)
    assert not Path("etc").exists()


def test_carried_facts_and_a_folder_to_put_files_in(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield page.download("/file.bin", to="all/", carry={"title": "One"})

    site.download("/file.bin", b"x")
    run(saver(site, parse=parse))
    (record,) = told()
    assert record["title"] == "One"
    assert re.fullmatch(r"all/file(-\w+)?\.bin", record["file"])
    assert files() == [record["file"]]


@pytest.mark.parametrize("revisit", ["always", "changed"])
def test_a_handler_of_ones_own_gets_the_file(site: Site, revisit: str) -> None:
    seen = []

    def parse(self: Scraper, page: Page) -> Any:
        yield page.download("/file.bin", to="one.bin", handler="read", carry={"n": 1})

    def read(self: Scraper, page: Page) -> Any:
        assert page.file is not None
        seen.append((page.file.read_bytes() == DATA, page.sha256 == SHA, page.carry, page.kind))
        yield {"size": page.file.stat().st_size}
        yield Request("/next", to="next")

    site.download("/file.bin", DATA)
    site.page("/next", "<p>x</p>")
    made = saver(site, parse=parse, read=read, next=lambda self, page: {"next": page.url}, revisit=revisit)
    report = run(made)
    assert seen[0][:3] == (True, True, {"n": 1})
    assert [item["data"] for item in items()] == [{"size": len(DATA)}, {"next": site.url("/next")}]
    assert (report.pages, report.by_reason) == (3, {"ok": 3})
    assert files() == ["one.bin"]


def test_a_redirect_leads_to_the_file(site: Site) -> None:
    site.redirect("/file.bin", "/real.bin", status=302)
    site.download("/real.bin", DATA)
    run(saver(site, to="one.bin"))
    assert Path("files/one.bin").read_bytes() == DATA
    assert told()[0]["url"] == site.url("/real.bin")


def test_an_empty_file_is_a_file(site: Site) -> None:
    site.download("/file.bin", b"")
    run(saver(site, to="empty.bin"))
    assert files() == ["empty.bin"]
    assert told()[0]["bytes"] == 0
    assert told()[0]["sha256"] == hashlib.sha256(b"").hexdigest()


def test_what_is_not_there_leaves_nothing(site: Site) -> None:
    run(saver(site, "/file.bin", "/other.bin"), retries=0)
    assert (files(), told(), fates(site)["/file.bin"]) == ([], [], "failed http_404")


@pytest.mark.parametrize("status", [204, 404])
def test_an_answer_without_a_file_tells_of_none(site: Site, status: int) -> None:
    """204 says that all is well and that there is nothing; and a 404 may be welcome, but is no file."""

    def parse(self: Scraper, page: Page) -> Any:
        yield page.download("/file.bin", to="one.bin", carry={"maybe": True, "level": 1})

    site.page("/file.bin", "", status=status)
    run(saver(site, parse=parse, accept_status=[404]), retries=0)
    assert (told(), files(), fates(site)["/file.bin"]) == ([], [], "failed handler")
    assert f"there is nothing to save: the answer, with status {status}" in why(site.url("/file.bin"))


def test_a_file_that_comes_packed_is_kept_as_it_is_meant(site: Site) -> None:
    """Asked for as it is; whoever packs it nevertheless has it unpacked, unless that is what the file is."""
    site.page("/data.csv", gzip.compress(DATA), headers={"Content-Encoding": "gzip", "Content-Type": "text/csv"})
    site.page("/data.csv.gz", gzip.compress(b"x"), headers={"Content-Type": "application/gzip"})
    run(saver(site, "/data.csv", "/data.csv.gz"))
    kept = {record["url"]: Path("files", record["file"]).read_bytes() for record in told()}
    assert kept[site.url("/data.csv")] == DATA
    assert gzip.decompress(kept[site.url("/data.csv.gz")]) == b"x"
    assert {hit.headers["accept-encoding"] for hit in asked(site, "/data.csv")} == {"identity"}


# -- names that lead elsewhere ---------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["../out.bin", "/tmp/gossamer-out.bin", "a/../../out.bin", "a//b", ".", "..", "a\x00b"])
def test_a_path_that_leaves_the_folder_is_refused_with_its_line(site: Site, to: str) -> None:
    site.download("/file.bin", b"x")
    run(saver(site, to=to))
    assert fates(site) == {"/": "failed handler"}
    assert "give a path below the folder for files" in why(site.url("/"))
    assert "test_downloads.py" in why(site.url("/"))
    assert (asked(site, "/file.bin"), Path("out.bin").exists()) == ([], False)


@pytest.mark.parametrize("save", ["../out.bin", "/out.bin", "a\\..\\..\\out.bin", "C:out.bin"])
def test_a_request_made_by_hand_cannot_leave_the_folder_either(site: Site, save: str) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield Request("/file.bin", to="@file", save=save)

    site.download("/file.bin", b"x")
    run(saver(site, parse=parse))
    assert fates(site)["/file.bin"] == "failed unsendable"
    assert "cannot be saved as" in why(site.url("/file.bin"))
    assert (asked(site, "/file.bin"), Path("out.bin").exists()) == ([], False)


def test_a_link_out_of_the_folder_is_not_followed(site: Site) -> None:
    Path("elsewhere").mkdir()
    Path("files").mkdir()
    Path("files/link").symlink_to(Path("elsewhere").resolve())
    site.download("/file.bin", b"x")
    run(saver(site, to="link/one.bin"))
    assert (fates(site)["/file.bin"], list(Path("elsewhere").iterdir())) == ("failed unsendable", [])


def test_a_folder_that_cannot_be_written_fails_the_download(site: Site) -> None:
    Path("files").write_text("I am a file")
    site.download("/file.bin", b"x")
    report = run(saver(site, to="one.bin"), retries=0)
    assert report.by_reason == {"ok": 1, "fetch": 1}
    assert "one.bin cannot be written" in why(site.url("/file.bin"))


# -- broken transfers ------------------------------------------------------------------------------------------


def test_a_transfer_that_breaks_is_resumed_where_it_broke(site: Site) -> None:
    site.download("/file.bin", DATA, cut=[MB, MB])
    report = run(saver(site, to="one.bin"))
    assert Path("files/one.bin").read_bytes() == DATA
    assert (told()[0]["sha256"], report.retried, files()) == (SHA, 2, ["one.bin"])
    first, *rest = ranges(site)
    assert first == ""
    offsets = [int(each.removeprefix("bytes=").rstrip("-")) for each in rest]
    assert len(offsets) == 2
    assert 0 < offsets[0] < offsets[1] <= 2 * MB


@pytest.mark.parametrize("how", ["none", "shifted", "refused"])
def test_a_server_that_cannot_resume_is_asked_for_all_of_it(site: Site, how: Any) -> None:
    site.download("/file.bin", DATA, cut=[MB], ranges=how)
    run(saver(site, to="one.bin"))
    assert (Path("files/one.bin").read_bytes() == DATA, told()[0]["sha256"]) == (True, SHA)


def test_a_file_that_changed_meanwhile_is_fetched_anew(site: Site) -> None:
    file = site.download("/file.bin", DATA, cut=[MB])
    made = saver(site, to="one.bin")
    run(made, retries=0)
    assert fates(site)["/file.bin"] == "failed broken"
    file.data = DATA[::-1]
    run(made, retries=0)
    assert Path("files/one.bin").read_bytes() == DATA[::-1]
    assert told()[-1]["sha256"] == hashlib.sha256(DATA[::-1]).hexdigest()


def test_the_next_run_takes_up_what_the_last_one_left(site: Site) -> None:
    site.download("/file.bin", DATA, cut=[2 * MB])
    made = saver(site, to="one.bin")
    run(made, retries=0)
    assert not Path("files/one.bin").exists()
    run(made, retries=0)
    assert Path("files/one.bin").read_bytes() == DATA
    assert ranges(site)[1].startswith("bytes=")
    assert files() == ["one.bin"]


def test_a_failed_download_keeps_the_file_of_an_earlier_run(site: Site) -> None:
    file = site.download("/file.bin", DATA)
    made = saver(site, to="one.bin")
    run(made)
    file.data = b"other" * MB
    site.truncate("/file.bin", times=9, then=Answer(body=b"other" * MB))
    run(made, retries=0)
    assert Path("files/one.bin").read_bytes() == DATA


def test_two_downloads_to_one_name_do_not_mix(site: Site) -> None:
    for n, path in enumerate(("/1", "/2")):
        slow = Answer(stream=partial(iter, [b"%d" % n * 1000] * 50), every=0.005)
        site.handler(path, partial(_always, slow))
    run(saver(site, "/1", "/2", to="one.bin"))
    assert Path("files/one.bin").read_bytes() in (b"0" * 50_000, b"1" * 50_000)
    assert files() == ["one.bin"]


def _always(answer: Answer, _: Hit) -> Answer:
    return answer


# -- again -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True])
def test_a_file_that_is_unchanged_is_not_fetched_again(site: Site, own: bool) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield page.download("/file.bin", to="one.bin", handler="read" if own else None)

    file = site.versioned("/file.bin", [b"one", b"two"])
    made = saver(site, parse=parse, read=lambda self, page: {"size": page.response.file_size}, revisit="changed")
    run(made)
    assert run(made).by_reason == {"unchanged": 2}
    assert (Path("files/one.bin").read_bytes(), file.unchanged, len(items(run=2))) == (b"one", 1, 1)
    file.turn()
    assert run(made).by_reason.keys() == {"unchanged", "ok" if own else "file"}
    assert Path("files/one.bin").read_bytes() == b"two"
    assert files() == ["one.bin"]


@pytest.mark.parametrize("revisit", ["changed", "never"])
def test_a_file_that_was_moved_away_is_fetched_again(site: Site, revisit: str) -> None:
    site.versioned("/file.bin", [b"one"])
    made = saver(site, to="one.bin", revisit=revisit)
    run(made)
    run(made)
    Path("files/one.bin").unlink()
    assert run(made).by_reason["file"] == 1
    assert Path("files/one.bin").read_bytes() == b"one"
    assert len(asked(site, "/file.bin")) == (3 if revisit == "changed" else 2)


# -- caps ------------------------------------------------------------------------------------------------------


def test_a_large_file_takes_little_memory(site: Site) -> None:
    block = random.Random(1).randbytes(MB)
    site.handler("/file.bin", lambda hit: Answer(stream=lambda: iter([block] * 200)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(saver(site, to="big.bin"), max_body="1MB")
    assert told()[0]["bytes"] == 200 * MB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60 << 10


@pytest.mark.parametrize("known", [True, False])
def test_a_file_that_is_too_large_is_refused_and_removed(site: Site, known: bool) -> None:
    if known:
        site.download("/file.bin", DATA)
    else:
        site.huge("/file.bin", megabytes=5)
    report = run(saver(site, to="one.bin"), max_download="1MB")
    assert (fates(site)["/file.bin"], report.retried, files()) == ("failed too_large", 0, [])
    assert "max_download allows (1,048,576)" in why(site.url("/file.bin"))


def test_a_file_that_unpacks_to_far_more_than_it_seems_is_refused(site: Site) -> None:
    site.bomb("/file.bin", megabytes=40)
    run(saver(site, to="one.bin"), retries=0)
    assert (fates(site)["/file.bin"], files()) == ("failed bomb", [])


def test_a_file_may_take_longer_than_a_page(site: Site) -> None:
    block = b"x" * 10_000
    site.handler("/file.bin", lambda hit: Answer(stream=lambda: iter([block] * 30), every=0.03))
    run(saver(site, to="one.bin"), timeout="500ms", retries=0)
    assert told()[0]["bytes"] == 300_000


def test_a_file_that_hardly_comes_is_given_up(site: Site) -> None:
    site.drip("/file.bin", every=0.05)
    started = time.monotonic()
    run(saver(site, to="one.bin"), timeout="500ms", retries=0)
    assert fates(site)["/file.bin"] == "failed timeout"
    assert time.monotonic() - started < 20


def test_a_download_is_bound_by_scope_and_robots_txt_as_pages_are(site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /private/")
    site.download("/private/x.bin", b"x")
    run(saver(site, "/private/x.bin", "http://127.0.0.2:9/x.bin"))
    assert fates(site)["/private/x.bin"] == "skipped robots"
    assert fates(site)["http://127.0.0.2:9/x.bin"] == "skipped scope"
    assert asked(site, "/private/x.bin") == []


# -- kills -----------------------------------------------------------------------------------------------------

KILLED = """
import gossamer, sys

class Saver(gossamer.Scraper):
    start_urls = [sys.argv[1]]
    rate = "none"

    def parse(self, page):
        yield page.download("/file.bin", to="one.bin")

print(gossamer.run(Saver, store="gossamer.db").reason, flush=True)
"""


def test_killed_in_the_middle_it_is_resumed_in_the_middle(site: Site, tmp_path: Path) -> None:
    tag = {"ETag": f'"{SHA[:8]}"', "Content-Type": "application/octet-stream"}
    pieces = [DATA[at : at + 65_536] for at in range(0, len(DATA), 65_536)]
    size = {"Content-Length": str(len(DATA))}
    site.page("/", "<p>home</p>")
    site.handler("/file.bin", lambda hit: Answer(stream=lambda: iter(pieces), every=0.02, headers=tag))
    (tmp_path / "killed.py").write_text(KILLED)
    command = [sys.executable, "killed.py", site.url("/")]
    part = Path("files/one.bin.part")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 20
        while not (part.exists() and part.stat().st_size >= MB) and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    assert MB <= part.stat().st_size < len(DATA)
    assert not Path("files/one.bin").exists()
    site.handler("/file.bin", lambda hit: _rest(hit.headers.get("range", ""), {**tag, **size}))
    assert subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip() == "done"
    assert (Path("files/one.bin").read_bytes() == DATA, files()) == (True, ["one.bin"])
    assert told()[0]["sha256"] == SHA
    assert int(ranges(site)[-1].removeprefix("bytes=").rstrip("-")) >= MB
    assert len(items()) == 1


def _rest(asked_for: str, headers: dict[str, str]) -> Answer:
    if not asked_for:
        return Answer(body=DATA, headers=headers)
    first = int(asked_for.removeprefix("bytes=").rstrip("-"))
    told = {"Content-Range": f"bytes {first}-{len(DATA) - 1}/{len(DATA)}", "ETag": headers["ETag"]}
    return Answer(status=206, body=DATA[first:], headers=told)
