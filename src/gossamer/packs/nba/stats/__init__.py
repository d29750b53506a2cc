"""The NBA's own statistics API: its catalogue of endpoints, its answers, and what they tell."""

from __future__ import annotations

from gossamer.packs.nba.stats.scraper import Stats

__all__ = ["Stats"]
