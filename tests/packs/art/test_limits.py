"""Answers and listings without an end: what is read of them, and what is said of the rest."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from gossamer import Page, Request
from gossamer.packs.art import cafe
from gossamer.packs.art.boards import ArtDeadline
from gossamer.packs.art.councils import California
from gossamer.packs.art.source import Board
from tests.packs import page_of

CAFE = "https://artist.callforentry.org/festivals-ajax.php"


def answer(count: int, **more: Any) -> Page:
    rows = [{"FairId": str(n), "fair_name": f"Call {n}", **more} for n in range(count)]
    return page_of(json.dumps({"results": rows}), CAFE, "application/json")


def test_of_too_many_calls_the_first_are_read_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert len(list(cafe.Cafe().parse(answer(cafe.MOST + 5)))) == cafe.MOST
    assert "holds 3005 calls: the first 3000 are read" in caplog.text


def test_of_too_much_text_the_first_is_read(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cafe, "MOST_LETTERS", 1_000)
    with caplog.at_level(logging.WARNING):
        assert len(list(cafe.Cafe().parse(answer(20, fair_description="x" * 100)))) == 10
    assert "holds 20 calls: the first 10 are read" in caplog.text


def test_a_usual_answer_is_read_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert len(list(cafe.Cafe().parse(answer(50, fair_description="x" * 5_000)))) == 50
    assert caplog.text == ""


def california(number: int) -> str:
    return f"<ul class=job_listings><li class=job_listing><a href='/{number}'><h3>Call {number}</h3></a></li></ul>"


def artdeadline(number: int) -> str:
    entry = f"<li class=job><dl><dd class=title><strong><a href='/{number}'>Call {number}</a></strong></dd></dl></li>"
    return f"<ol class=jobs>{entry}</ol><a class='next page-numbers' href='/page/{number + 1}'>Next</a>"


@pytest.mark.parametrize(("board", "body"), [(California, california), (ArtDeadline, artdeadline)])
def test_a_board_that_always_has_another_page_ends(board: type[Board], body: Any) -> None:
    scraper, asked = board(), 0
    request: Request | None = next(iter(scraper.start()))
    while request is not None:
        asked += 1
        assert asked <= board.most_pages
        page = Page(request, page_of(body(asked), request.url).response)
        request = next((each for each in scraper.parse(page) if each.handler == "parse"), None)
    assert asked == board.most_pages == 60
