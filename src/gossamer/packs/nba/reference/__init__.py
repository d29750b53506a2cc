"""Basketball Reference: its catalogue, its tables, and what they tell."""

from __future__ import annotations

from gossamer.packs.nba.reference.catalogue import catalogue, keys
from gossamer.packs.nba.reference.plan import scrape_tier
from gossamer.packs.nba.reference.scraper import Reference

__all__ = ["Reference", "catalogue", "keys", "scrape_tier"]
