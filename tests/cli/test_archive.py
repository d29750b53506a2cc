"""`gossamer archive`: what is kept, room given back, and files for and from other tools."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from gossamer.testing import Site
from tests.cli import ended, sentence, start, typed
from tests.walk import links

SCRAPER = """
from gossamer import Scraper

class Titles(Scraper):
    key = "url"
    rate = "none"
    start_urls = ["{url}"]

    def parse(self, page):
        yield {{"url": page.url, "title": page.title}}
        yield from page.follow("a")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a scraper, and a store with what it read."""
    folder = tmp_path_factory.mktemp("archive")
    with Site() as site:
        site.page("/", "<title>Home</title>" + links("/a", "/b"))
        for name in ("a", "b"):
            site.page(f"/{name}", f"<title>{name.upper()}</title>" + f"{name} text " * 500)
        (folder / "titles.py").write_text(SCRAPER.format(url=site.url("/")))
        assert ended(start("run", "titles.py", "-q", cwd=folder)).returncode == 0
        yield folder


@pytest.fixture(autouse=True)
def _there(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in filter(Path.is_file, place.iterdir()):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)


def test_stats_say_what_there_is_and_what_it_takes() -> None:
    for command in (["archive"], ["archive", "stats"]):
        told = " ".join(typed(*command).stdout.split())
        assert "pages 3 bodies 3: 7." in told
        assert "of titles 3 pages" in told
    stats = json.loads(typed("archive", "--json").stdout)
    assert (stats["pages"], stats["bodies"], stats["scrapers"]) == (3, 3, {"titles": 3})
    assert 0 < stats["stored"] < stats["raw"]


def test_pages_are_taken_away_by_age_scraper_and_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "took away 0 pages and 0 bodies" in typed("archive", "prune", "--age", "1d").stderr
    assert "took away 0 pages" in typed("archive", "prune").stderr
    monkeypatch.setenv("GOSSAMER_ARCHIVE_AGE", "0.001s")
    assert "took away 3 pages and 3 bodies" in typed("archive", "prune").stderr


def test_pages_of_one_scraper_are_taken_away() -> None:
    assert "took away 0 pages" in typed("archive", "prune", "--scraper", "other").stderr
    assert json.loads(typed("archive", "prune", "--scraper", "titles", "--json").stdout)["pages"] == 3


def test_the_archive_becomes_a_file_that_others_read() -> None:
    done = typed("archive", "export", "site.warc.gz", "-q")
    assert done.stderr.strip() == "3 pages written to site.warc.gz"
    with gzip.open("site.warc.gz") as file:
        assert file.read(8) == b"WARC/1.1"
    with open("site.warc.gz", "rb") as raw:
        kinds = [record.rec_type for record in ArchiveIterator(raw)]
    assert kinds == ["warcinfo", *["response", "request", "metadata"] * 3]


def test_a_file_of_pages_is_imported_and_replayed() -> None:
    typed("archive", "export", "site.warc.gz", "-q")
    done = typed("archive", "import", "site.warc.gz", "--scraper", "titles.py", "--store", "new.db", "-q")
    assert done.returncode == 0, done
    assert "3 pages of site.warc.gz kept, as run 1" in done.stderr
    assert "replay titles.py --store new.db" in done.stderr
    replayed = typed("replay", "titles.py", "--store", "new.db", "-q", "--json", "--workers", 1, "--apply")
    assert json.loads(replayed.stdout)["new"] == 3
    titles = [json.loads(line)["title"] for line in typed("export", "items", "--store", "new.db").stdout.splitlines()]
    assert sorted(titles) == ["A", "B", "Home"]


def test_a_file_that_breaks_off_gives_what_is_whole(tmp_path: Path) -> None:
    typed("archive", "export", "site.warc.gz", "-q")
    raw = (tmp_path / "site.warc.gz").read_bytes()
    (tmp_path / "site.warc.gz").write_bytes(raw[:-600])
    done = typed("archive", "import", "site.warc.gz", "--scraper", "titles.py", "--store", "new.db", "-q")
    assert done.returncode == 0
    assert "its last record is cut off; what was whole is kept" in done.stderr
    told = json.loads(typed("archive", "--store", "new.db", "--json").stdout)
    assert told["pages"] in (2, 3)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["archive", "--store", "none.db"], "there is no archive at none.db.archive"),
        (["archive", "prune", "--store", "none.db"], "there is no archive at none.db.archive"),
        (["archive", "prune", "--age", "soon"], "--archive-age = 'soon' cannot be used"),
        (["archive", "prune", "--age", "1d", "--run", "1"], "--run and --scraper go without --age"),
        (["archive", "export", "none/x.warc.gz"], "none/x.warc.gz cannot be written"),
        (["archive", "export", "x.warc.gz", "--scraper", "none"], "the archive has no such pages"),
        (["archive", "import", "none.warc.gz", "--scraper", "titles.py"], "none.warc.gz cannot be read"),
        (["archive", "import", "titles.py", "--scraper", "titles.py"], "titles.py is no WARC file"),
        (["archive", "import", "titles.py", "--scraper", "none"], "no scraper is called 'none'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(command: list[str], said: str) -> None:
    assert said in sentence(typed(*command), 2)
