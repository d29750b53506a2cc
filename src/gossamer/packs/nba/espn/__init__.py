"""ESPN: its API and its web pages' data, as games, lines and plays."""

from __future__ import annotations

from gossamer.packs.nba.espn.scraper import Espn

__all__ = ["Espn"]
