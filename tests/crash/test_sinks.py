"""kill -9 between an object and the cursor: the next run delivers the same again, to the same names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.testing import Site
from tests.conftest import ROOT
from tests.s3 import CREDENTIALS, S3

pytestmark = pytest.mark.crash

BUCKET = "things"
THINGS = 30
#: The run in a process of its own; `deadly` is where it kills itself.
SCRIPT = """
    import os, signal, sys
    from gossamer import Scraper, delivery, run
    from gossamer.storage import objects
    from gossamer.storage.sqlite_items import SqliteItems

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    deadly, url, sink = sys.argv[1:]
    put, keep = objects.Bucket.put, SqliteItems.keep_sink
    puts = 0

    async def deadly_put(self, parcels):
        global puts
        manifest = parcels[0].manifest
        if deadly == "before manifest" and manifest:
            die()
        await put(self, parcels)
        puts += 1
        if deadly == "after manifest" and manifest or deadly == f"after {puts}":
            die()

    async def deadly_keep(self, note):
        await keep(self, note)
        if deadly == "after cursor" and note.cursor:
            die()

    objects.Bucket.put, SqliteItems.keep_sink = deadly_put, deadly_keep

    class Shop(Scraper):
        name, key, kind, rate, drift = "shop", "id", "thing", "none", "off"
        start_urls, sinks = [url], [sink]

        def parse(self, page):
            for each in page.css("li"):
                yield {"id": each.text}
            yield from page.follow("a")

    run(Shop)
    """


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    """A real S3 API with a bucket."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with S3() as started:
        started.make(BUCKET)
        yield started


@pytest.fixture
def shop(site: Site) -> Site:
    """Three pages of things."""
    for page in range(3):
        rows = "".join(f"<li>t{n}</li>" for n in range(page, THINGS, 3))
        site.page(f"/{page}", f"<ul>{rows}</ul>" + (f'<a href="/{page + 1}">next</a>' if page < 2 else ""))
    return site


def start(folder: Path, deadly: str, url: str, sink: str) -> int:
    """Run it; its exit code."""
    folder.mkdir(exist_ok=True)
    (folder / "script.py").write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run(
        [sys.executable, "script.py", deadly, url, sink],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=50,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode


@pytest.mark.parametrize("deadly", ["after 1", "before manifest", "after manifest", "after cursor"])
def test_killed_half_way_the_bucket_ends_as_exactly_the_data(shop: Site, s3: S3, tmp_path: Path, deadly: str) -> None:
    sink = f"s3://{BUCKET}/{{id}}.json?endpoint={s3.url}&every=60s"
    assert start(tmp_path, deadly, shop.url("/0"), sink) == -signal.SIGKILL
    killed = s3.objects(BUCKET).keys()
    assert killed
    assert start(tmp_path, "never", shop.url("/0"), sink) == 0
    assert s3.data(BUCKET) == {f"t{n}.json": b'{"id":"t%d"}\n' % n for n in range(THINGS)}
    assert killed <= s3.objects(BUCKET).keys()


@pytest.mark.parametrize("deadly", ["before manifest", "after manifest"])
def test_killed_half_way_a_batch_is_written_over(shop: Site, s3: S3, tmp_path: Path, deadly: str) -> None:
    sink = f"s3://{BUCKET}/log?endpoint={s3.url}&every=60s&source=false"
    assert start(tmp_path, deadly, shop.url("/0"), sink) == -signal.SIGKILL
    before = s3.data(BUCKET)
    assert list(before) == ["log/shop/0000000000000000-0000.jsonl"]
    shop.page("/2", "<li>one more</li>")
    assert start(tmp_path, "never", shop.url("/0"), sink) == 0
    found = s3.data(BUCKET)
    assert found.items() >= before.items()
    assert len(found) == 2
    lines = [line for body in found.values() for line in body.splitlines()]
    assert sorted(lines) == sorted([*(b'{"id":"t%d"}' % n for n in range(THINGS)), b'{"id":"one more"}'])
    assert len([name for name in s3.objects(BUCKET) if "_manifest/" in name]) == 2
