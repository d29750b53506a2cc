"""`--sink`, `gossamer sinks` and `gossamer sinks flush`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer import delivery
from gossamer.testing import Site
from tests.cli import ended, sentence, start, typed
from tests.s3 import CREDENTIALS, S3, SECRET

SCRAPER = """
from gossamer import Scraper
from gossamer.sinks import Sink

class Shop(Scraper):
    name, key, kind, rate = "shop", "id", "thing", "none"
    start_urls = ["{url}"]
    sinks = [{sinks}]

    def parse(self, page):
        for each in page.css("li"):
            yield {{"id": each.text}}
"""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FIRST_WAIT", 0.02), ("LAST_WAIT", 0.1), ("PATIENCE", 3.0), ("LOOK", 0.02)):
        monkeypatch.setattr(delivery, name, value)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with S3() as started:
        started.make("things")
        yield started


def shop(site: Site, n: int = 3, sinks: str = "") -> None:
    site.page("/", "".join(f"<li>t{i}</li>" for i in range(n)))
    Path("shop.py").write_text(SCRAPER.format(url=site.url("/"), sinks=sinks))


def told() -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in typed("sinks", "--json").stdout.splitlines()]


def test_items_go_where_the_command_says(site: Site) -> None:
    shop(site)
    assert typed("run", "shop.py", "--sink", "./out/{id}.json", "--sink", "./log").returncode == 0
    assert sorted(p.name for p in Path("out").glob("*.json")) == ["t0.json", "t1.json", "t2.json"]
    assert len(list(Path("log/shop").iterdir())) == 1
    assert typed("crawl", site.url("/"), "--sink", "./pages", "--quiet").returncode == 0
    assert len(list(Path("pages/crawl").iterdir())) == 1
    shown = typed("sinks").stdout
    assert "all is delivered" in shown
    assert [(each["delivered"], each["objects"], each["waiting"]) for each in told()] == [
        (3, 1, 0),
        (3, 3, 0),
        (1, 1, 0),
    ]


def test_a_sink_that_is_down_is_said_and_flushed_when_it_is_back(site: Site, s3: S3) -> None:
    shop(site)
    s3.stop()
    where = f"s3://things/{{id}}.json?endpoint={s3.url}"
    done = typed("run", "shop.py", "--sink", where)
    assert done.returncode == 0
    assert "sink.behind" in done.stderr
    assert "items=3" in done.stderr
    assert "gossamer sinks flush" in done.stderr
    assert "refuses connections" in typed("sinks").stdout
    assert told()[0]["waiting"] == 3
    done = typed("sinks", "flush")
    assert done.returncode == 3
    assert "3 still wait: s3://things" in done.stderr
    s3.start()
    done = typed("sinks", "flush", "s3://things")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.strip() == f"{where} (shop): 3 items delivered"
    assert sorted(s3.data("things")) == ["t0.json", "t1.json", "t2.json"]
    assert SECRET not in done.stderr


def test_credentials_of_a_sink_in_a_scraper_are_used_by_flush(
    site: Site, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"access_key_id": CREDENTIALS["AWS_ACCESS_KEY_ID"], "secret_access_key": SECRET}
    for name in CREDENTIALS:
        monkeypatch.delenv(name)
    shop(site, sinks=f"Sink('s3://things/{{id}}.json', endpoint={s3.url!r}, options={options!r})")
    s3.stop()
    assert typed("run", "shop.py", "--quiet").returncode == 0
    s3.start()
    assert typed("sinks", "flush").returncode == 0
    assert len(s3.data("things")) == 3
    assert SECRET.encode() not in Path("gossamer.db").read_bytes()


def test_everything_again(site: Site) -> None:
    shop(site)
    typed("run", "shop.py", "--sink", "./out/{id}.json", "--quiet")
    Path("out/t1.json").unlink()
    assert "0 items delivered" in typed("sinks", "flush").stderr
    assert "3 items delivered" in typed("sinks", "flush", "--again").stderr
    assert Path("out/t1.json").exists()


def test_a_resumed_run_goes_on_to_the_same_sink(site: Site) -> None:
    shop(site)
    site.page("/", '<li>t0</li><a href="/next">next</a>')
    Path("shop.py").write_text(Path("shop.py").read_text() + '        yield from page.follow("a")\n')
    site.page("/next", "<li>t1</li>")
    assert typed("run", "shop.py", "--max-pages", "1", "--sink", "./out/{id}.json", "--quiet").returncode == 3
    assert typed("resume", "--quiet").returncode == 0
    assert sorted(p.name for p in Path("out").glob("*.json")) == ["t0.json", "t1.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "shop.py", "--sink", "ftp://x.example"], "no sink of kind 'ftp' is known"),
        (["run", "shop.py", "--sink", "./items.jsonl"], "names one file"),
        (["run", "shop.py", "--sink", "s3://A:TOPSECRET@b1/x"], "holds no credentials"),
        (["sinks", "--store", "nowhere.db"], "there is no store"),
        (["sinks", "flush", "other"], "there is no store at"),
    ],
)
def test_what_cannot_be_used_is_said(site: Site, words: list[str], said: str) -> None:
    shop(site)
    told = sentence(typed(*words), 2)
    assert said in told
    assert "TOPSECRET" not in told
    assert site.hits == []


def test_no_sink_yet(site: Site) -> None:
    shop(site)
    typed("run", "shop.py", "--quiet")
    assert "no sink yet" in typed("sinks").stderr


def wait_until_over() -> None:
    """Wait until a run has ended."""
    end = time.monotonic() + 20
    while '"finished"' not in (typed("runs", "--json").stdout if Path("gossamer.db").exists() else ""):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_ctrl_c_ends_the_wait_for_a_sink_and_the_run_is_finished(site: Site, s3: S3, tmp_path: Path) -> None:
    shop(site)
    s3.stop()
    where = f"s3://things/{{id}}.json?endpoint={s3.url}"
    began = time.monotonic()
    command = start("run", "shop.py", "--sink", where, "--json", cwd=tmp_path)
    wait_until_over()  # its end waits for the sink, for half a minute
    assert command.poll() is None
    command.send_signal(2)
    done = ended(command)
    assert time.monotonic() - began < 20
    assert done.returncode == 0, done
    assert msgspec.json.decode(done.stdout)["status"] == "finished"
    assert "items=3" in done.stderr
    assert told()[0]["waiting"] == 3
