"""hoopR's files: schedules, box scores and play-by-play of whole seasons, since 2002."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from gossamer import ConfigError, Item, Page, ReadError, Request, Scraper
from gossamer.packs.nba import answers, model, seasons
from gossamer.packs.nba.hoopr import files, records
from gossamer.packs.nba.hoopr.files import DATASETS, FORMATS, LAYOUTS, Mark, Part
from gossamer.packs.nba.quality import quality

__all__ = ["Hoopr"]

#: Rows that are read for one page, so that a page is read in a second, and stored in a moment.
PART: Final = 5_000


class Hoopr(Scraper):
    """Whole seasons from hoopR: a file for each, fetched once and read part by part."""

    name = "nba.hoopr"
    takes: ClassVar[Mapping[str, str]] = {
        "season": "the year a season ends in, like 2024, or several: 2022..2024, 2019,2024; the last one unless given",
        "date": "only the games of a day like 2024-01-29, or of days: 2024-01-29..2024-02-04; it says the season",
        "dataset": "schedules, team_box, player_box (unless given), pbp, several with commas, all, or manifests",
        "format": "parquet (unless given, where gossamer[parquet] is installed), or csv",
        "layout": "repo for the repository of today (Parquet only), release for the downloads, old for the one before",
        "game": "only these games: ids of ESPN's, with commas",
        "columns": "all: yield each row with all its columns, too",
        "items": "rows (unless given): games, lines and plays; documents: one for each game of a dataset; or both",
    }
    item = records.KINDS
    steps = (quality,)
    cron = "0 3 * * *"
    timezone = "America/New_York"
    # Downloads are sent on to another host of the same company.
    scope = "any"
    rate = "200/min"
    per_host = 20
    concurrency = 20
    retries = 2
    gone = "never"
    # What is kept of a file is the file.
    archive = False

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Raises ConfigError for parameters that cannot be used."""
        super().__init__(params)
        self._days = self._read_days()
        self._seasons = self._read_seasons()
        self._datasets = self._read_datasets()
        given = self.params.get("game")
        self._games = frozenset(seasons.game_ids(given)) if given else frozenset[str]()
        self._all_columns = seasons.one_of(self.params, "columns", ("some", "all")) == "all"
        self._wanted = seasons.one_of(self.params, "items", ("rows", "documents", "both"))
        self._layout, self._form = self._where()

    def start(self) -> list[Request]:
        """One download for each season of each dataset."""
        found = []
        for dataset in self._datasets:
            if dataset == "manifests":
                found += [
                    Request(files.manifest_url(each), to="manifest", carry={"dataset": each}) for each in DATASETS
                ]
                continue
            for season in self._seasons:
                url = files.url(dataset, season, self._layout, self._form)
                save = f"hoopr/{self._layout}/{dataset}/{url.rpartition('/')[2]}"
                found.append(
                    Request(url, to="file", save=save, carry={"dataset": dataset, "season": season, "url": url})
                )
        return found

    # -- parameters ------------------------------------------------------------------------------------------------

    def _read_days(self) -> frozenset[str]:
        if not self.params.get("date"):
            return frozenset()
        if self.params.get("season"):
            raise ConfigError("season and date cannot be used together: a date says its season")
        return frozenset(day.isoformat() for day in seasons.dates(self.params["date"]))

    def _read_seasons(self) -> list[int]:
        given = self.params.get("season")
        if self._days:
            found = sorted({seasons.season_of(day) for day in self._days})
        else:
            found = seasons.seasons(given) if given else [seasons.season_of(seasons.today())]
        if found[0] < files.FIRST:
            said = f"season={given}" if given else f"date={self.params['date']}"
            raise ConfigError(f"{said} cannot be used: hoopR begins with the season {files.FIRST}")
        return found

    def _read_datasets(self) -> list[str]:
        given = str(self.params.get("dataset") or "schedules,team_box,player_box")
        known = (*DATASETS, "manifests")
        words = list(dict.fromkeys(each.strip().lower() for each in given.split(",") if each.strip()))
        if words == ["all"]:
            return list(DATASETS)
        for word in words:
            seasons.one_of({"dataset": word}, "dataset", known)
        if not words:
            raise ConfigError(f"dataset names none: write {', '.join(known)}")
        return words

    def _where(self) -> tuple[str, str]:
        """Layout and format: Parquet where it can be read, else CSV, which the repository of today does not have."""
        given = self.params.get("layout")
        layout = seasons.one_of(self.params, "layout", tuple(LAYOUTS)) if given else None
        possible = LAYOUTS[layout] if layout else FORMATS
        form = "parquet" if files.has_parquet() or "csv" not in possible else "csv"
        if self.params.get("format"):
            form = seasons.one_of(self.params, "format", FORMATS)
        layout = layout or next(each for each, forms in LAYOUTS.items() if form in forms)
        files.url("schedules", self._seasons[0], layout, form)
        if form == "parquet":
            files.need_parquet()
        return layout, form

    # -- reading ---------------------------------------------------------------------------------------------------

    def file(self, page: Page) -> Iterator[Item | Request]:
        """A file has been saved: read the first part of it."""
        if page.file is None:
            raise ReadError(f"no file came, but an answer with status {page.status}")
        yield from self._part(page, page.file, Mark())

    def part(self, page: Page) -> Iterator[Item | Request]:
        """The next part of a file that is there. The page itself says only that the file is still offered."""
        mark = msgspec.convert(page.carry["mark"], Mark)
        yield from self._part(page, Path(page.carry["file"]), mark)

    def _part(self, page: Page, file: Path, mark: Mark) -> Iterator[Item | Request]:
        """The rows from a mark on; and a request for those that follow.

        All that a page yields is kept in memory until it is stored, so a season is no page: it is as many as it has
        parts. Each is a HEAD request for the same file, which costs the host nothing and us no second download.
        """
        dataset, season = page.carry["dataset"], page.carry["season"]
        columns = None if self._all_columns else records.COLUMNS[dataset]
        read = files.part(file, mark, PART, columns)
        number = page.carry.get("row", 0)
        told = [(place, row, records.record(dataset, row, season)) for place, row in enumerate(read.rows, number)]
        if self._wanted != "rows" and read.next is not None:
            # What is the last game here may go on in the next part: that then begins with it.
            end = _last_game(told)
            read = Part(read.rows[:end], read.marks[end], read.marks[:end]) if end else read
            told = told[: len(read.rows)]
        if not number:
            self._refuse_other(file.name, dataset, [made for _, _, made in told])
        kept = [(place, row, made) for place, row, made in told if made is not None and self._is_asked_for(made)]
        for place, row, made in kept if self._wanted != "documents" else ():
            yield model.item(made)
            if self._all_columns:
                yield records.raw(dataset, row, season, place)
        if self._wanted != "rows":
            yield from self._documents(dataset, season, [(row, made) for _, row, made in kept])
        if read.next is not None:
            # Not where a redirect led to: such places are given for minutes.
            carry = {
                "dataset": dataset,
                "season": season,
                "url": page.carry["url"],
                "file": str(file),
                "row": number + len(read.rows),
                "mark": msgspec.to_builtins(read.next),
            }
            yield Request(page.carry["url"], method="HEAD", to="part", carry=carry, revisit=True)

    def _refuse_other(self, name: str, dataset: str, made: list[Any]) -> None:
        """Raises ReadError if a file is another one, or does not say what is asked for."""
        some = [each for each in made if each is not None]
        if made and not some:
            raise ReadError(f"{name} has none of the columns that a file of {dataset} has")
        if self._days and some and not any(map(records.day_of, some)):
            raise ReadError(f"{name} does not say on which days its games were: ask for a season, or for games")

    def _is_asked_for(self, made: Any) -> bool:
        if self._games and made.game_id not in self._games:
            return False
        return not self._days or records.day_of(made) in self._days

    def _documents(self, dataset: str, season: int, kept: list[tuple[Any, Any]]) -> Iterator[Item]:
        games: dict[str, list[tuple[Any, Any]]] = {}
        for row, made in kept:
            games.setdefault(made.game_id, []).append((row, made))
        for some in games.values():
            rows = [row for row, _ in some] if self._all_columns else []
            yield records.document(dataset, season, [made for _, made in some], rows)

    def manifest(self, page: Page) -> Iterator[Item]:
        """The list of what there is of a dataset."""
        dataset = page.carry["dataset"]
        answers.refuse_web_page(page, "the list is not where it was")
        rows = files.rows_of(page.text)
        for each in records.season_list(dataset, rows):
            yield Item("hoopr_season", f"{dataset}:{each.season}", msgspec.json.encode(each).decode())


def _last_game(told: Sequence[tuple[int, Any, Any]]) -> int:
    """Where the last game of some rows begins among them; 0 if they are all of one."""
    games = [made.game_id if made is not None else None for _, _, made in told]
    end = len(games)
    while end and games[end - 1] == games[-1]:
        end -= 1
    return end
