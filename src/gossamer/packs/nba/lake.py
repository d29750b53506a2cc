"""Where the items of the pack go in a data lake: names of objects in a bucket, or of files in a folder.

    from gossamer.packs.nba import lake

    class Nightly(Espn):
        sinks = lake.sinks("nba-lake", source="espn")

One object for each game or day needs the documents: `--param items=documents`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from gossamer import ConfigError, Item, Sink
from gossamer.packs.nba.reference.catalogue import keys as reference_keys

__all__ = ["BUCKET", "LAYOUTS", "SOURCES", "keys", "sinks", "would_put"]

#: Of Basketball Reference's 234 types, those that a daily run brings.
_USUAL: Final = ("nba.box_score", "nba.play_by_play", "nba.schedules", "nba.standings")
#: What the bucket is called unless another is named.
BUCKET: Final = "nba-sim-raw-data-lake"

#: Layout -> source -> kind of item -> the name of its object. Basketball Reference has its own, in its catalogue.
#: hoopR's have two places, by the format of the files that they were read from.
LAYOUTS: Final[dict[str, dict[str, dict[str, str]]]] = {
    # One folder for each source and sort: the layout in use.
    "flat": {
        "espn": {
            "schedule": "espn_schedules/{day}.json",
            "box_score": "espn_box_scores/{game_id}.json",
            "play_by_play": "espn_play_by_play/{game_id}.json",
            "team_stats": "espn_team_stats/{game_id}.json",
        },
        "stats": {
            "stat_answer": "nba_api_comprehensive/{endpoint}/{season}/{subject}.json",
            "play_by_play": "nba_api_playbyplay/{game_id}.json",
        },
        "hoopr": {
            "hoopr_game": "hoopr_parquet/{dataset}/{season}/{game_id}.json",
            "hoopr_season": "hoopr_parquet/{dataset}/season_{season}.json",
        },
        "hoopr-csv": {
            "hoopr_game": "hoopr_phase1/{dataset}/{season}/{game_id}.json",
            "hoopr_season": "hoopr_phase1/{dataset}/season_{season}.json",
        },
    },
    # Folders of sorts within the folder of the source: as it was before. Of the NBA's answers about one player the
    # last one stays there: their names do not say what was asked.
    "nested": {
        "espn": {
            "schedule": "espn/schedules/{day}.json",
            "box_score": "espn/box_scores/{game_id}.json",
            "play_by_play": "espn/play_by_play/{game_id}.json",
            "team_stats": "espn/team_stats/{game_id}.json",
        },
        "stats": {
            "stat_answer": "nba_api/{folder}/{season}/{subject}.json",
            "play_by_play": "nba_api/play_by_play/{season}/game_{game_id}.json",
        },
        "hoopr": {
            "hoopr_game": "hoopr/parquet/{dataset}/{season}/{game_id}.json",
            "hoopr_season": "hoopr/parquet/{dataset}/season_{season}.json",
        },
        "hoopr-csv": {
            "hoopr_game": "hoopr/csv/{dataset}/{season}/{game_id}.json",
            "hoopr_season": "hoopr/csv/{dataset}/season_{season}.json",
        },
    },
    # Files in a folder, whose names say what they are wherever they are copied to.
    "local": {
        "espn": {
            "schedule": "schedules/schedule_{day}.json",
            "box_score": "box_scores/box_score_{game_id}.json",
            "play_by_play": "play_by_play/pbp_{game_id}.json",
            "team_stats": "team_stats/team_stats_{game_id}.json",
        },
        "stats": {
            "stat_answer": "{folder}/{season}/{endpoint}_{subject}.json",
            "play_by_play": "play_by_play/pbp_{game_id}.json",
        },
        "hoopr": {
            "hoopr_game": "hoopr/{dataset}/{season}/{dataset}_{game_id}.json",
            "hoopr_season": "hoopr/{dataset}/{dataset}_season_{season}.json",
        },
        "hoopr-csv": {
            "hoopr_game": "hoopr_csv/{dataset}/{season}/{dataset}_{game_id}.json",
            "hoopr_season": "hoopr_csv/{dataset}/{dataset}_season_{season}.json",
        },
    },
}
SOURCES: Final = (*LAYOUTS["flat"], "reference")


def keys(layout: str = "flat", source: str = "espn") -> dict[str, str]:
    """What the objects of each kind of item are called. Raises ConfigError."""
    if layout not in LAYOUTS:
        raise ConfigError(f"layout={layout!r} is none that is known: write {', '.join(LAYOUTS)}")
    if source not in SOURCES:
        raise ConfigError(f"source={source!r} is none that is known: write {', '.join(SOURCES)}")
    if source == "reference":
        return reference_keys()
    return dict(LAYOUTS[layout][source])


def sinks(
    place: str = BUCKET, *, layout: str = "flat", source: str = "espn", kinds: Iterable[str] = (), **options: Any
) -> list[Sink]:
    """The sinks of a scraper of the pack: one for each kind of item, or for the kinds that are named.

    `place` is a bucket, `s3://bucket/prefix`, or a folder (`./lake`, `file:///data/lake`). Options are those of Sink:
    `endpoint`, `region`, `gone` ... Raises ConfigError.
    """
    root = place.rstrip("/")
    if "/" not in root and not root.startswith("."):
        root = f"s3://{root}"
    if "{" in root or "?" in root:
        raise ConfigError(f"the place {place!r} cannot be used: name a bucket or a folder, and options by their names")
    known = keys(layout, source)
    wanted = tuple(kinds) or (_USUAL if source == "reference" else tuple(known))
    for kind in wanted:
        if kind not in known:
            raise ConfigError(f"{kind!r} is no kind of {source}: it has {', '.join(list(known)[:10])} ...")
    return [Sink(f"{root}/{known[kind]}", kind=kind, **options) for kind in wanted]


class _Shown(msgspec.Struct, frozen=True):
    """An item as the names of objects see it."""

    kind: str
    key: str
    scraper: str
    first_seen: float = 0.0


#: What tells the documents of the pack apart where only their records are there: the first of these that they have.
_TELLING: Final = (
    ("rows", "hoopr_game"),
    ("players", "box_score"),
    ("plays", "play_by_play"),
    ("games", "schedule"),
    ("teams", "team_stats"),
)


def would_put(given: Iterable[Item | Mapping[str, Any]], into: Iterable[Sink], scraper: str = "") -> Iterator[str]:
    """What would be put where, line by line: for a dry run, which delivers nothing.

    `given` are items, or records as `gossamer.stream(..., dry_run=True)` gives them.
    """
    chosen = [sink for sink in into if sink.per_item]
    for each in given:
        record = each.record() if isinstance(each, Item) else each
        kind = each.kind if isinstance(each, Item) else _kind_of(record)
        shown: Any = _Shown(kind, each.key if isinstance(each, Item) else "", scraper)
        for sink in chosen:
            if sink.kind in (None, kind) and (name := sink.template.fill(shown, record)) is not None:
                yield f"would put {_place(sink)}/{name}"


def _kind_of(record: Mapping[str, Any]) -> str:
    return next((kind for name, kind in _TELLING if name in record), "")


def _place(sink: Sink) -> str:
    if not sink.bucket:
        return sink.root
    return "/".join(filter(None, (f"s3://{sink.bucket}", sink.root.strip("/"))))
