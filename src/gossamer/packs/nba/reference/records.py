"""What Basketball Reference tells beyond games and box lines: seasons of players, players, moves, and whole pages."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from gossamer import Item
from gossamer.packs.nba import model

__all__ = ["KINDS", "Document", "Found", "Player", "PlayerSeason", "Transaction", "document", "item"]


class PlayerSeason(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a season's table: what a player did for a team in a season, or for all of them together."""

    source: str
    league: str
    season: int
    #: regular or playoffs.
    season_type: str
    #: The table it is from: totals, per_game, per_minute, per_poss, advanced, shooting ...
    table: str
    player_id: str
    name: str
    #: Our code; None for a row that sums up several teams.
    team: str | None = None
    #: What the site calls the team: PHO, or 2TM where it sums up.
    team_id: str | None = None
    combined: bool = False
    age: int | None = None
    #: PG, SG, SF, PF, C; the first is the main one.
    positions: tuple[str, ...] = ()
    games: int | None = None
    games_started: int | None = None
    minutes: float | None = None
    #: Name -> number, under the names of box lines: field_goals_made, three_pointers_attempted ...
    stats: dict[str, float | int | None] = {}
    awards: tuple[str, ...] = ()


class Player(msgspec.Struct, frozen=True, kw_only=True):
    """A player: who it is, and all seasons of the career."""

    source: str
    league: str
    player_id: str
    name: str
    full_name: str | None = None
    positions: tuple[str, ...] = ()
    shoots: str | None = None
    #: Feet and inches: "6-5".
    height: str | None = None
    #: In pounds.
    weight: int | None = None
    birth_date: str | None = None
    birth_place: str | None = None
    #: Two letters.
    birth_country: str | None = None
    college: str | None = None
    #: Season -> dollars.
    salaries: dict[str, int] = {}
    #: What the seasons to come will pay.
    contract: dict[str, int] = {}
    #: Table -> its rows, a season each ("2017-18", or "Career"); one with two teams has a row for each.
    seasons: dict[str, list[dict[str, Any]]] = {}
    url: str | None = None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A player that a search found."""

    source: str
    search: str
    player_id: str
    name: str
    #: Where among the results: players, intl_players, nbdl_players ...
    group: str | None = None
    #: First and last season, by the years in which they end.
    first_season: int | None = None
    last_season: int | None = None
    last_team: str | None = None
    url: str


class Transaction(msgspec.Struct, frozen=True, kw_only=True):
    """A trade, a signing, a waiver: one sentence of the site."""

    source: str
    league: str
    season: int | None = None
    date: str
    n: int
    text: str
    teams: tuple[str, ...] = ()
    player_ids: tuple[str, ...] = ()


class Document(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The tables of one page: what goes into a bucket under the name that the catalogue gives to its type."""

    source: str
    #: The type of the page, as the catalogue calls it.
    type: str
    league: str
    url: str
    #: What its name is made of.
    season: str | None = None
    team: str | None = None
    slug: str | None = None
    game_id: str | None = None
    date: str | None = None
    month: str | None = None
    letter: str | None = None
    award_type: str | None = None
    #: Id -> {"columns": [...], "rows": [...], "footer": [...]}.
    tables: dict[str, dict[str, Any]] = {}
    #: What the page has beside tables: shots, officials.
    more: dict[str, Any] = {}


#: What the items of each model are filed as, and the fields that make their key.
_KEYS: Final[dict[type[msgspec.Struct], tuple[str, tuple[str, ...]]]] = {
    PlayerSeason: ("player_season", ("league", "season", "season_type", "table", "player_id", "team_id")),
    Player: ("player", ("league", "player_id")),
    Found: ("found_player", ("search", "group", "player_id")),
    Transaction: ("transaction", ("league", "season", "date", "n")),
}
#: What records are held against. Documents are filed by type, and made here.
KINDS: Final[dict[str, type[msgspec.Struct]]] = {
    **model.KINDS,
    **{kind: each for each, (kind, _) in _KEYS.items()},
}


def item(record: msgspec.Struct) -> Item:
    """A record as an item, under its kind and key."""
    if type(record) not in _KEYS:
        return model.item(record)
    kind, fields = _KEYS[type(record)]
    key = ":".join(str(getattr(record, name)) for name in fields)
    return Item(kind, key, msgspec.json.encode(record).decode())


def document(record: Document, key: str) -> Item:
    """A document as an item: filed as its type, under its name in a bucket."""
    return Item(record.type, key, msgspec.json.encode(record).decode())
