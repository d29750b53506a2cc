"""Trades, signings and waivers: sentences under days."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gossamer import Page
from gossamer.packs.nba.reference import values
from gossamer.packs.nba.reference.asked import Asked
from gossamer.packs.nba.reference.records import Transaction

__all__ = ["transactions"]

#: Sentences of one page.
MOST: Final = 10_000


def transactions(page: Page, asked: Asked) -> Iterator[Transaction]:
    """The moves of a season, of the league or of one team."""
    left = MOST
    for each in page.css("ul.page_index > li, div#content ul.page_index li"):
        on = values.day(each.css("span").text)
        sentences = [text for text in each.css("p") if text.text]
        for number, sentence in enumerate(sentences[:left], 1):
            if on is None:
                continue
            hrefs = [link.attr("href") or "" for link in sentence.css("a")[:50]]
            teams = [asked.team(code) for href in hrefs if (code := values.team_in(href))]
            yield Transaction(
                source=values.SOURCE,
                league=asked.league,
                season=asked.season,
                date=on,
                n=number,
                text=(sentence.text or "")[:2_000],
                teams=tuple(dict.fromkeys(team for team in teams if team)),
                player_ids=values.players_in(hrefs),
            )
        left -= len(sentences)
        if left <= 0:
            return
