"""Lists and figures on a million rows: an answer costs the same wherever it is asked for, and whatever is filtered.

Not by the clock, which tells of the machine, but by the steps of SQLite's own machine: a list that reads all rows
takes many millions of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from gossamer import figures, lists, urls
from gossamer.lists import paging
from tests.service import million
from tests.service.counting import CountingDesk
from tests.service.looking import Looking

pytestmark = pytest.mark.timeout(300)

#: The most steps of one answer: what looking at a window of rows takes, some 25 for each.
MOST_STEPS = 800_000
#: The most steps of an answer that an index gives.
FEW_STEPS = 40_000
NOW = time.time()
LONG_AGO = NOW - 1_500_000.0


class Big(Looking):
    """A look at a store that counts what it costs."""

    desk: CountingDesk

    def cost(self, work: Any) -> tuple[Any, int]:
        self.desk.take()
        found = self.wait(work)
        return found, self.desk.take()[0]


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Big]:
    path = tmp_path_factory.mktemp("million") / "store.db"
    million.make(path)
    with Big(path, CountingDesk) as made:
        yield made
    path.unlink()


#: Lists with filters that have an index: (list, filters).
INDEXED: list[tuple[Any, dict[str, Any]]] = [
    (lists.runs, {}),
    (lists.runs, {"scraper": "s5"}),
    (lists.runs, {"scraper": million.RARE}),
    (lists.runs, {"scraper": million.RARE, "state": "failed"}),
    (lists.runs, {"state": "failed"}),
    (lists.runs, {"state": "killed"}),
    (lists.runs, {"state": "pending"}),
    (lists.runs, {"verdict": "suspect"}),
    (lists.runs, {"since": LONG_AGO}),
    (lists.items, {}),
    (lists.items, {"gone": None}),
    (lists.items, {"scraper": "s5"}),
    (lists.items, {"scraper": million.RARE}),
    (lists.items, {"run": million.BIG_RUN}),
    (lists.items, {"run": 77}),
    (lists.items, {"since": LONG_AGO}),
    (lists.changes, {}),
    (lists.changes, {"what": "new"}),
    (lists.changes, {"since": LONG_AGO}),
    (lists.rejects, {}),
    (lists.rejects, {"run": million.BIG_RUN}),
    (lists.rejects, {"run": 5}),
    (lists.urls, {}),
    (lists.urls, {"run": million.BIG_RUN}),
    (lists.urls, {"run": 5}),
    (lists.urls, {"scraper": "s5"}),
    (lists.urls, {"scraper": "s0"}),
    (lists.urls, {"scraper": million.RARE}),
    (lists.urls, {"state": "failed"}),
    (lists.urls, {"state": "failed", "reason": "timeout"}),
    (lists.sources, {}),
    (lists.sources, {"paused": True}),
    (lists.events, {}),
    (lists.events, {"run": 5}),
    (lists.events, {"level": "error"}),
    (lists.events, {"level": "warning"}),
    (lists.events, {"scraper": million.RARE}),
    (lists.events, {"since": LONG_AGO}),
    (lists.trail, {}),
    (lists.firings, {}),
    (lists.firings, {"schedule": "s5"}),
    (lists.alerts, {}),
    (lists.alerts, {"seen": False}),
]
#: Lists with filters that have none, or that hardly any row meets.
SEARCHED: list[tuple[Any, dict[str, Any]]] = [
    (lists.runs, {"via": "cli"}),
    (lists.runs, {"asked_by": "nobody"}),
    (lists.runs, {"q": "nothing"}),
    (lists.runs, {"q": "77"}),
    (lists.runs, {"until": LONG_AGO}),
    (lists.runs, {"since": LONG_AGO, "until": LONG_AGO + 10_000}),
    (lists.runs, {"scraper": "s5", "verdict": "accepted"}),
    (lists.items, {"q": "nothing"}),
    (lists.items, {"kind": "none"}),
    (lists.items, {"where": "price = 99999"}),
    (lists.items, {"scraper": "s5", "q": "nothing"}),
    (lists.items, {"run": million.BIG_RUN, "kind": "none"}),
    (lists.items, {"since": NOW}),
    (lists.items, {"since": LONG_AGO, "run": 3}),
    (lists.changes, {"scraper": "s5"}),
    (lists.changes, {"scraper": million.RARE}),
    (lists.changes, {"kind": "none"}),
    (lists.changes, {"what": "back"}),
    (lists.changes, {"since": NOW - 1_000_050}),
    (lists.rejects, {"scraper": "s5"}),
    (lists.rejects, {"scraper": million.RARE}),
    (lists.urls, {"host": "none.example"}),
    (lists.urls, {"q": "nothing"}),
    (lists.urls, {"state": "skipped", "reason": "robots"}),
    (lists.urls, {"run": million.BIG_RUN, "state": "failed", "q": "nothing"}),
    (lists.urls, {"state": "failed", "host": "none.example"}),
    (lists.urls, {"scraper": "s0", "q": "nothing"}),
    (lists.sources, {"q": "nothing"}),
    (lists.sources, {"breaker": "half_open"}),
    (lists.events, {"q": "nothing"}),
    (lists.events, {"run": 5, "q": "nothing"}),
    (lists.trail, {"who": "nobody"}),
    (lists.trail, {"action": "token"}),
    (lists.firings, {"what": "none"}),
    (lists.firings, {"schedule": "s5", "what": "none"}),
    (lists.alerts, {"kind": "silence"}),
]


def told(listed: tuple[Any, dict[str, Any]]) -> str:
    """A name that is the same in every process: the values are times of today."""
    listing, filters = listed
    return f"{listing.__name__} by {', '.join(filters) or 'nothing'}"


@pytest.mark.parametrize("listed", INDEXED, ids=told)
def test_a_page_by_an_index_costs_the_same_everywhere(big: Big, listed: tuple[Any, dict[str, Any]]) -> None:
    listing, filters = listed
    first, cost = big.cost(listing(big.desk, **filters))
    assert cost < FEW_STEPS
    for place in _places(first.next):
        page, cost = big.cost(listing(big.desk, **filters, cursor=place))
        assert cost < (FEW_STEPS if len(page.rows) == paging.USUAL else MOST_STEPS)


@pytest.mark.parametrize("listed", SEARCHED, ids=told)
def test_a_search_looks_at_no_more_than_a_window(big: Big, listed: tuple[Any, dict[str, Any]]) -> None:
    listing, filters = listed
    page, cost = big.cost(listing(big.desk, **filters))
    assert cost < MOST_STEPS
    assert page.looked <= 2 * paging.WINDOW + 1
    assert page.rows or page.next or page.looked < paging.WINDOW
    for place in _places(page.next):
        _, cost = big.cost(listing(big.desk, **filters, cursor=place))
        assert cost < MOST_STEPS


def _places(cursor: str | None) -> list[str]:
    """The second page, one in the middle and the last one, of the list that a cursor is of."""
    if cursor is None:
        return []
    name, *place = _read(cursor)
    made = {
        "items.since": lambda n: (n // 10, n),
        "items.since.run": lambda n: (n // 10, n),
        "changes": lambda n: (_at(n), n, n),
        "firings": lambda n: (_at(n), "s5", _at(n)),
        "firings.schedule": lambda n: (_at(n),),
        "sources": lambda n: (f"h{n}.example",),
        "urls.scraper": lambda n: (n // 100 + 1, n),
        "rejects.scraper": lambda n: (n // 1000 + 1, n),
    }.get(name, lambda n: (n,))
    middle, end = made(million.ROWS // 2), made(60)
    if name == "changes":  # a stream that has ended stays so
        middle, end = (
            tuple(None if old is None else new for old, new in zip(place, each, strict=True)) for each in (middle, end)
        )
    return [cursor, paging.cursor_text(name, middle), paging.cursor_text(name, end)]


def _read(cursor: str) -> list[Any]:
    import base64
    import json

    return json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))


def _at(n: int) -> float:
    return NOW - 2 * million.ROWS + n


@pytest.mark.parametrize(
    "work",
    [
        lambda desk: lists.run(desk, million.BIG_RUN),
        lambda desk: lists.item(desk, 5),
        lambda desk: lists.item(desk, 999_999),
        lambda desk: lists.source(desk, "h1.example"),
        lambda desk: lists.why(desk, "http://h5.example/page/5"),
        lambda desk: lists.why(desk, "http://none.example/"),
        lambda desk: lists.errors(desk, hours=168),
        lambda desk: lists.errors(desk, scraper="s5", hours=168),
        lambda desk: lists.workers(desk),
        lambda desk: figures.throughput(desk, "hour"),
        lambda desk: figures.throughput(desk, "day"),
        lambda desk: figures.scraper_health(desk, [f"s{n}" for n in range(100)]),
        lambda desk: figures.scraper_stats(desk),
        lambda desk: figures.totals(desk),
        lambda desk: figures.queue(desk),
    ],
)
def test_what_is_no_list_is_cheap_too(big: Big, work: Any) -> None:
    _, cost = big.cost(work(big.desk))
    assert cost < 1_000_000


def test_a_week_is_summed_up_once(big: Big) -> None:
    """Ten scrapers at work in each of its ten thousand minutes: who looks again pays for what is new."""
    first = big.wait(figures.throughput(big.desk, "week"))
    again, cost = big.cost(figures.throughput(big.desk, "week"))
    assert cost < 100_000
    assert [bucket.pages for bucket in again.buckets][:-2] == [bucket.pages for bucket in first.buckets][:-2]
    assert {bucket.pages for bucket in first.buckets[1:-2]} == {6_000}


def test_a_search_that_goes_on_finds_what_lies_far_back(big: Big) -> None:
    found: list[int] = []
    cursor = None
    pages = 0
    while True:
        page = big.wait(lists.urls(big.desk, host="h7.example", q="/page/1007", cursor=cursor))
        found += [row.id for row in page.rows]
        cursor = page.next
        pages += 1
        if cursor is None:
            break
    assert found == [1007]
    assert pages <= 2 + million.ROWS // paging.WINDOW * 2


def test_why_finds_a_url_of_an_old_run_by_going_on(big: Big) -> None:
    """Beside the newest runs, that is, which are asked at once."""
    url = "http://h5.example/page/999005"
    digest = urls.digest(url)
    big.write("update request set digest = :digest where id = 999005", [{"digest": digest}])
    found, cost = big.cost(lists.why(big.desk, url))
    assert cost < MOST_STEPS
    assert [each.request for each in found.stories] == [999_005]
    big.write("update request set digest = 'x' where id = 999005")
    # Now it is one of those that only their URL tells of.
    found, cost = big.cost(lists.why(big.desk, url))
    assert cost < MOST_STEPS
    assert [each.request for each in found.stories] == [999_005]
