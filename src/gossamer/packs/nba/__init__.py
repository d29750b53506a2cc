"""Games, box scores, plays, teams and standings of the NBA, from four sources under one set of names."""

from __future__ import annotations

from gossamer import Scraper
from gossamer.packs.nba.espn.scraper import Espn
from gossamer.packs.nba.hoopr.scraper import Hoopr
from gossamer.packs.nba.reference import Reference
from gossamer.packs.nba.stats.scraper import Stats

SCRAPERS: tuple[type[Scraper], ...] = (Espn, Reference, Stats, Hoopr)
