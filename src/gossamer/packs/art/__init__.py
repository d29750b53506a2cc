"""Calls, grants, residencies and exhibitions for artists, from arts councils, boards, feeds and hashtags."""

from gossamer import Scraper
from gossamer.packs.art.archive import ArtworkArchive
from gossamer.packs.art.boards import Artcall, ArtDeadline, ResArtis, ShowSubmit, SmarterEntry, Zapplication
from gossamer.packs.art.cafe import Cafe
from gossamer.packs.art.councils import Arizona, California
from gossamer.packs.art.general import General
from gossamer.packs.art.instagram import Instagram
from gossamer.packs.art.model import Opportunity
from gossamer.packs.art.social import Social
from gossamer.packs.art.source import ArtSource, Board
from gossamer.packs.art.statewide import Florida, NewYork, StateSource, Texas

__all__ = ["SCRAPERS", "ArtSource", "Board", "Opportunity", "StateSource"]

SCRAPERS: tuple[type[Scraper], ...] = (
    Instagram,
    Cafe,
    California,
    NewYork,
    Texas,
    Florida,
    Arizona,
    ArtworkArchive,
    Artcall,
    ArtDeadline,
    ResArtis,
    Zapplication,
    ShowSubmit,
    SmarterEntry,
    General,
    Social,
)
