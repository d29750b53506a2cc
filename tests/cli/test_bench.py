"""`gossamer bench`: that it measures, and that its figures fit together. How fast it is, no test says."""

from __future__ import annotations

import json
import os
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer import registry, settings
from gossamer.benching import charts, far, measure, picture, plain, results
from gossamer.benching.results import Compared, Results, Sized, Took
from gossamer.demo.scrapers import Books, Weather
from gossamer.demo.sites import DemoSites
from gossamer.errors import ConfigError
from gossamer.registry import Found
from gossamer.scraper import Scraper
from gossamer.testing import Site
from tests.cli import interrupt, sentence, start, typed


def _made(*, load: float | None = 0.1) -> Results:
    def took(engine: str, seconds: float) -> Took:
        return Took(engine, "sync" if engine == "script" else "async", seconds, 90, 10, 80)

    rows = [Compared(name, took("script", 10.0), took("gossamer", 1.0)) for name in ("one & <two>", "all")]
    sizes = [Sized("10 KB", 10_000, 1000, 1000, 6.0, 500), Sized("1 MB", 1_000_000, 100, 100, 60.0, 50)]
    return Results("a machine", 0.2, 10, False, load, rows, sizes)


# --- the command ---


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """What `--quick` gives, measured once for all tests that look at it."""
    folder = tmp_path_factory.mktemp("bench")
    before = os.getcwd()
    os.chdir(folder)
    try:
        # Settings of a user who means something else by them.
        Path("gossamer.toml").write_text('rate = "1/h"\nmax_pages = 1\nproxies = ["http://127.0.0.1:1"]\n')
        done = typed("bench", "--quick", "--json", "--latency", "5ms", GOSSAMER_SINKS="/nowhere/at/all")
    finally:
        os.chdir(before)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return {"json": json.loads(done.stdout), "stderr": done.stderr}, folder


@pytest.mark.timeout(180)
def test_quick_measures_sources_and_sizes(measured: tuple[Any, Path]) -> None:
    told = measured[0]["json"]
    assert [each["source"] for each in told["sources"]] == ["bookshop", "weather", "all"]
    assert [each["label"] for each in told["sizes"]] == ["10 KB", "100 KB", "1 MB"]
    assert told["quick"] is True
    assert told["latency"] == 0.005
    assert told["aims"] == []


def test_both_engines_bring_the_same_pages_and_items(measured: tuple[Any, Path]) -> None:
    for row in measured[0]["json"]["sources"]:
        sync, fast = row["sync"], row["gossamer"]
        assert (sync["pages"], sync["failed"], sync["items"]) == (fast["pages"], fast["failed"], fast["items"]), row
        assert sync["success"] == fast["success"] == 1
        assert sync["type"] == "sync"
        assert fast["type"] == "async"


def test_the_figures_fit_together(measured: tuple[Any, Path]) -> None:
    told = measured[0]["json"]
    *single, total = told["sources"]
    for field in ("pages", "items", "seconds"):
        assert total["sync"][field] == pytest.approx(sum(each["sync"][field] for each in single))
    for row in told["sources"]:
        assert row["speedup"] == pytest.approx(row["sync"]["seconds"] / row["gossamer"]["seconds"], abs=0.01)
    for row in told["sizes"]:
        assert row["pages"] == row["items"] > 0
        assert row["per_minute"] == pytest.approx(60 * row["pages"] / row["seconds"], rel=0.01)
        assert row["times"] == pytest.approx(row["per_minute"] / row["claimed"], abs=0.02)


def test_it_leaves_a_picture_and_nothing_else(measured: tuple[Any, Path]) -> None:
    assert "the picture is in gossamer-bench.svg" in measured[0]["stderr"]
    assert "measuring bookshop, gossamer" in measured[0]["stderr"]
    assert sorted(each.name for each in measured[1].iterdir()) == ["gossamer-bench.svg", "gossamer.toml"]
    root = ElementTree.parse(measured[1] / "gossamer-bench.svg").getroot()
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "bookshop" in texts
    assert "1 MB" in texts


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--plot", "x.gif"), ".svg or .png"),
        (("--plot", "no/such/folder/x.svg"), "folder does not exist"),
        (("--latency", "soon"), "--latency"),
        (("--latency", "1h"), "up to 10s"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_measured(args: tuple[str, ...], why: str) -> None:
    assert why in sentence(typed("bench", "--quick", *args), 2)


def test_a_png_needs_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"gossamer\[images\]"):
        picture.check(Path("x.png"))
    picture.check(Path("x.svg"))


def test_the_tables_say_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "measure", lambda **_: _made(load=500.0))
    done = typed("bench", "--no-plot")
    assert done.returncode == 0
    assert "10.0x" in done.stdout
    assert "90.0%" in done.stdout
    assert "met: all sources at 10 requests at once, times sync: 10.0, aimed at 8" in done.stdout
    assert "not met: pages of 1 MB, times 50 a minute: 2.0, aimed at 20" in done.stdout
    assert "the machine was busy" in done.stderr
    assert not list(Path().iterdir())


def test_in_a_hurry_nothing_is_held_against_our_aims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "measure", lambda **_: msgspec.structs.replace(_made(), quick=True))
    done = typed("bench", "--quick", "--no-plot")
    assert "aimed at" not in done.stdout
    assert "are for the full measurement" in done.stderr


def test_ctrl_c_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    command = start("bench", "-q", "--latency", "5s", cwd=tmp_path)
    while not list(tmp_path.iterdir()):
        assert command.poll() is None
        time.sleep(0.02)
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
    time.sleep(0.5)
    done = interrupt(command)
    assert sentence(done, 130) == "gossamer: interrupted: the measurement was not finished"
    assert not list(tmp_path.iterdir())
    assert children
    assert not any(Path("/proc", child).exists() for child in children)


# --- the plain script ---


@pytest.mark.parametrize("make", ["requests", "http.client"])
def test_a_plain_script_brings_what_gossamer_brings(make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if make == "requests":
        pytest.importorskip("requests")
    else:
        monkeypatch.setattr(plain, "library", lambda: "http.client")
    with DemoSites() as demo:
        shop = plain.walk([(_found(Books), {"site": demo.bookshop.url("/")})], measure.ALIKE)
        weather = plain.walk([(_found(Weather), {"site": demo.weather.url("/")})], measure.ALIKE)
        agents = {hit.headers["user-agent"] for hit in demo.bookshop.hits}
    assert (shop.pages, shop.failed, shop.items) == (106, 0, 96)
    assert (weather.pages, weather.failed, weather.items) == (24, 0, 480)
    assert agents == {settings.USER_AGENT}
    assert shop.engine.startswith(make)


def _found(scraper: type[Scraper]) -> Found:
    return Found(scraper, f"{scraper.__module__}:{scraper.__name__}")


class Moody(Scraper):
    """Meets all that can happen to a script."""

    rate = "none"
    key = "url"

    def start(self) -> list[str]:
        return [self.params["site"]]

    def parse(self, page: Any) -> Any:
        yield {"url": page.url, "title": page.title}
        yield [*page.follow("a")]
        yield {"no": "key"}


@pytest.mark.parametrize("make", ["requests", "http.client"])
def test_what_fails_is_counted_and_the_script_goes_on(make: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    if make == "http.client":
        monkeypatch.setattr(plain, "library", lambda: make)
    links = ("/good", "/gone", "/reset", "/moved", "/round", "https://elsewhere.example/")
    site.page("/", "".join(f'<a href="{path}">x</a>' for path in links))
    site.page("/good", "<title>Good</title>")
    site.reset("/reset", times=9)
    site.redirect("/moved", "/good?moved")
    site.redirect_loop("/round")
    took = plain.walk([(_found(Moody), {"site": site.url("/")})], {**measure.ALIKE, "stand_ins": {}})
    assert (took.pages, took.failed, took.items) == (3, 3, 3)
    assert took.success == 0.5


# --- the sites ---


def test_a_page_is_as_large_as_it_says() -> None:
    for size in far.SIZES:
        assert size <= len(far.page(size)) <= size * 1.05


def test_the_sites_are_in_a_process_that_ends_with_ours() -> None:
    with far.FarSites(0.0) as sites:
        assert set(sites.urls) == {"bookshop", "weather", "packs", "sizes"}
        assert sites._process is not None
        process = sites._process
        assert all(url.startswith("http://127.0.0.1:") for url in sites.stand_ins.values())
        assert "*" in sites.stand_ins
    assert process.returncode == 0


def test_the_packs_are_sources_too_and_all_their_hosts_are_here() -> None:
    with far.FarSites(0.0) as sites:
        names = [each.name for each in measure.sources(sites)]
        assert names[:2] == ["bookshop", "weather"]
        assert set(names[2:]) <= set(registry.packs())


# --- the picture ---


def test_a_picture_is_drawn_as_svg_and_as_png(tmp_path: Path) -> None:
    drawn = charts.picture(_made())
    drawn.save(tmp_path / "x.svg")
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    tags = Counter(each.tag.rpartition("}")[2] for each in root.iter())
    assert tags["rect"] >= 8
    assert "one & <two>" in {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    image = pytest.importorskip("PIL.Image")
    drawn.save(tmp_path / "x.png")
    with image.open(tmp_path / "x.png") as opened:
        assert opened.size == (drawn.width * picture.SCALE, drawn.height * picture.SCALE)
        assert len(opened.getcolors(1 << 20) or ()) > 3


def test_a_picture_of_nothing_but_sizes_can_be_drawn() -> None:
    made = _made()
    only = Results(made.machine, 0.0, 1, True, None, [], made.sizes)
    assert "10 KB" in charts.picture(only).svg()
    assert results.told(only)["sources"] == []


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.svg").mkdir()
    with pytest.raises(ConfigError, match="cannot be written"):
        charts.picture(_made()).save(tmp_path / "x.svg")
