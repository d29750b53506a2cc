"""The page Cluster in a real Chromium, before a real service, on a store of each kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from gossamer.storage import opening
from tests import stores
from tests.cluster.staging import beat, on, stage
from tests.service.browsing import HOSTILE, PATIENCE, PHONE, Visitor, chromium
from tests.service.serving import Served

__all__ = ["chromium"]

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module", params=stores.KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An empty store of each kind."""
    stores.choose(request.param)
    yield stores.at(tmp_path_factory.mktemp("store") / "store.db")
    stores.choose(stores.USUAL)


@pytest.fixture(scope="module")
def served(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("served"), "--store", store)
    yield made
    made.stop()


@pytest.fixture
def anna(chromium: Browser, served: Served) -> Iterator[Visitor]:
    """Somebody who may do everything; her pages must have done nothing strange."""
    made = Visitor(chromium, served.url).log_in(served.token)
    yield made
    assert made.strange == []
    made.close()


def test_the_page_tells_of_workers_and_runs_and_has_them_paused(store: str, anna: Visitor) -> None:
    page = anna.go("/cluster")
    expect(page.get_by_role("heading", name="Cluster")).to_be_visible()
    expect(page.get_by_text("One process walks this store")).to_be_visible(visible=not opening.is_postgres(store))
    expect(page.get_by_text("No run waits or goes on.")).to_be_visible()
    on(store, stage)
    workers = page.get_by_role("group", name="Workers")
    expect(workers.get_by_text("alpha:7")).to_be_visible()
    expect(workers.get_by_text("4 of 16").first).to_be_visible()
    runs = page.get_by_role("group", name="Runs")
    expect(runs.get_by_text("4 leased, 1 ticketed, 2 free, 1 parked")).to_be_visible()
    expect(runs.get_by_text("paused", exact=True)).to_be_visible()
    expect(page.get_by_role("group", name="Leases").get_by_text("conductor")).to_be_visible()
    page.get_by_role("button", name="Pause 1", exact=True).click()
    expect(runs.get_by_text("pausing", exact=True)).to_be_visible()
    assert on(store, lambda desk: desk.row("select wanted from run where id = 1")) == ("pause",)
    page.get_by_role("button", name="Priority 1", exact=True).click()
    page.get_by_label("Priority", exact=True).fill("7")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.get_by_text("run 1 has the priority 7")).to_be_visible()
    assert on(store, lambda desk: desk.row("select priority from run where id = 1")) == (7,)
    page = anna.go("/runs/1")
    expect(page.get_by_text("pausing", exact=True)).to_be_visible()
    expect(page.get_by_text("7, at most 4 workers")).to_be_visible()


def test_what_a_worker_says_is_shown_as_text_and_fits_a_phone(store: str, chromium: Browser, served: Served) -> None:
    on(store, lambda desk: beat(desk, "evil:1", why=HOSTILE, pool=HOSTILE, version=HOSTILE, host=HOSTILE))
    for options in ({}, {"viewport": PHONE}):
        made = Visitor(chromium, served.url, **options).log_in(served.token)
        page = made.go("/cluster")
        expect(page.get_by_text("evil:1").first).to_be_visible()
        assert made.pwned() is None
        assert made.overflow() <= 0
        assert made.strange == []
        made.close()
