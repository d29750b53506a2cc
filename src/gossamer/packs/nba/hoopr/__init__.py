"""hoopR: whole seasons in files, and what their columns tell."""

from __future__ import annotations

from gossamer.packs.nba.hoopr.scraper import Hoopr

__all__ = ["Hoopr"]
