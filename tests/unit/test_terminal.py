"""What a person sees while runs work."""

from __future__ import annotations

import asyncio
import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from gossamer import library, runs, telemetry, terminal
from gossamer.crawler import Crawl
from gossamer.terminal import Screen
from gossamer.testing import Site, graph_site


def shown(site: Site, store: str, *, width: int, terminal_: bool, **knobs: object) -> str:
    """All that a screen prints during a crawl."""
    telemetry.configure("error", "human")
    console = Console(file=io.StringIO(), force_terminal=terminal_, width=width, color_system=None)

    async def main() -> None:
        asked = library._plan(Crawl, {"urls": [site.url("/p/0")]}, True, {"store": store, **knobs})
        screen = Screen(console, quiet=False)
        async with runs.open_parts(store) as parts, screen:
            await runs.execute(parts, asked, screen.watch)

    asyncio.run(main())
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_live_picture_has_one_line_for_a_run_however_narrow_the_terminal(site: Site, store: str, width: int) -> None:
    graph_site(site, 12)
    pictures = re.split(r"[\r\n]|\x1b\[[0-9;?]*[a-zA-Z]", shown(site, store, width=width, terminal_=True, rate="12/s"))
    lines = [line for line in pictures if "crawl #1" in line]
    assert lines
    assert all(len(line) <= width for line in lines)
    assert ("host waiting" in "".join(lines)) == (width > 40)


def test_a_long_run_says_which_host_bounds_it(site: Site, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "LONG", 1.0)
    graph_site(site, 2_000)
    told = shown(site, store, width=120, terminal_=True, rate="5/s", max_pages=4)
    assert f"more workers will not help: {site.authority} bounds this run at" in told


def test_where_there_is_no_terminal_a_line_comes_now_and_then(
    site: Site, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "LINE", 0.3)
    graph_site(site, 8)
    told = shown(site, store, width=200, terminal_=False, rate="8/s")
    assert re.search(r"crawl #1  \d pages?  \d items?  0 failed", told)
    assert "\x1b" not in told


def test_cells_that_do_not_fit_are_left_out_whole() -> None:
    cells = [Text("one"), Text("two"), Text("three")]
    assert str(terminal._fit(cells, [3, 3, 5], 12)).split() == ["one", "two"]


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.04, "0.0 s"), (59, "59.0 s"), (90, "2 min"), (7200, "2.0 h"), (200_000, "2.3 days")]
)
def test_times_for_people(seconds: float, told: str) -> None:
    assert terminal.span(seconds) == told


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 KB"), (5e9, "5.0 GB"), (5e13, "50000.0 GB")]
)
def test_sizes_for_people(number: float, told: str) -> None:
    assert terminal.size(number) == told


def test_commands_are_shown_as_a_shell_takes_them(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    assert terminal.store_option("gossamer.db") == ""
    assert terminal.store_option("a b.db") == " --store 'a b.db'"
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.argv", ["/no/such/gossamer"])
    assert terminal.program() == "gossamer"


@pytest.mark.parametrize("soft_wrap", [False, True])
def test_a_table_leaves_out_its_least_columns_where_there_is_no_room(soft_wrap: bool) -> None:
    columns = ("host", "pages", "bytes", "pace", "notes")
    rows = [("a.example.org", 1200, "1.0 KB", "2.0/s", "robots.txt asks for 2 s between requests")]

    def printed(width: int) -> list[str]:
        told = io.StringIO()
        made = terminal.table("", columns, rows, numbers=columns[1:4], least=("pace", "bytes"))
        Console(file=told, width=width).print(made, soft_wrap=soft_wrap)
        return [line.rstrip() for line in told.getvalue().splitlines()]

    assert printed(200) == [
        " host           pages   bytes   pace  notes",
        " a.example.org  1,200  1.0 KB  2.0/s  robots.txt asks for 2 s between requests",
    ]
    assert printed(60) == [
        " host           pages   bytes  notes",
        " a.example.org  1,200  1.0 KB  robots.txt asks for 2 s",
        "                               between requests",
        " in a wider window: pace",
    ]
    assert printed(50)[-1] == " in a wider window: bytes, pace"
