"""A folder of saved pages: written while a run fetches them, read to be served again.

`pages.jsonl` has a line for each, `bodies/` what came. A folder without that file is read as a mirror, the way
`wget -r` writes one: `example.org/docs/index.html` is https://example.org/docs/.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gossamer import runs, urls
from gossamer.errors import ConfigError
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.way import Way
from gossamer.registry import Found
from gossamer.runs import Report
from gossamer.settings import ScraperConfig
from gossamer.values import Request, Response

INDEX = "pages.jsonl"
#: Bytes of one body, and of all, that are saved; larger ones are left out.
LARGEST, MOST_BYTES = 16 << 20, 512 << 20
#: Headers that say how a page is read. Others, cookies first of all, are nobody's business on a disk.
_KEPT = frozenset({"content-type", "location", "link", "content-language", "content-disposition"})


class Saved(msgspec.Struct, frozen=True):
    """One page as it came."""

    url: str
    method: str
    status: int
    headers: dict[str, str]
    #: The file that holds the body, below `bodies/`.
    file: str
    #: What was sent with the request, as a digest; empty: nothing.
    sent: str = ""
    #: Where the body is read from; not written.
    folder: str = ""

    @property
    def key(self) -> str:
        """What it is found by."""
        return _key(self.method, self.url, self.sent)

    def body(self) -> bytes:
        """What came."""
        return Path(self.folder, self.file).read_bytes()


def key_of(request: Request) -> str:
    """What the answer to a request is found by: method, URL, and what is sent."""
    return _key(request.verb, request.url, _sent(request))


def _key(method: str, url: str, sent: str) -> str:
    return urls.digest(method, urls.comparable(url), sent)


def _sent(request: Request) -> str:
    body = request.body
    return urls.digest(body) if body else ""


class Recorder:
    """A Fetcher that saves what another one fetches."""

    def __init__(self, inner: Fetcher, folder: Path) -> None:
        self._inner = inner
        self._folder = folder
        self._bytes = 0
        self._known: set[str] = set()
        #: Pages saved, and those left out because they are too large.
        self.saved = 0
        self.left_out = 0

    async def fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        """Fetch, and save what came unless the site was only busy. Raises FetchError."""
        response = await self._inner.fetch(request, config, way)
        if response.status < 500 and response.status not in (304, 408, 425, 429):
            self._keep(request, response)
        return response

    def _keep(self, request: Request, response: Response) -> None:
        key = key_of(request)
        if key in self._known:
            return
        body = Path(response.file).read_bytes() if response.file and response.file_size <= LARGEST else response.body
        if response.file_size > LARGEST or len(body) > LARGEST or self._bytes + len(body) > MOST_BYTES:
            self.left_out += 1
            return
        self._known.add(key)
        self._bytes += len(body)
        self.saved += 1
        headers = {name: value for name, value in response.headers.pairs() if name in _KEPT}
        page = Saved(request.url, request.verb, response.status, headers, f"bodies/{key}", _sent(request))
        Path(self._folder, page.file).write_bytes(body)
        with Path(self._folder, INDEX).open("ab") as index:
            index.write(msgspec.json.encode(page) + b"\n")


async def record(found: Found, params: Mapping[str, Any], flags: Mapping[str, Any], folder: Path, work: Path) -> Report:
    """Run a scraper on the real site, as politely as ever, and save what it fetches. Raises GossamerError."""
    try:
        (folder / "bodies").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}") from None
    asked = runs.plan(found, params, {**flags, "store": str(work / "record.db"), "files": str(work / "files")})
    async with runs.open_parts(asked.store) as parts:
        recorder = Recorder(parts.fetcher, folder)
        report = await runs.execute(msgspec.structs.replace(parts, fetcher=recorder), asked)
    if not recorder.saved:
        raise ConfigError(f"no page of {found.scraper.name} could be saved: run it first, and see what it says")
    return report


def load(folder: Path) -> dict[str, Saved]:
    """The pages of a folder, by their keys. Raises ConfigError if it holds none."""
    pages = _indexed(folder) if (folder / INDEX).is_file() else _mirrored(folder)
    if not pages:
        raise ConfigError(f"{folder} holds no saved pages: leave it out, and they are saved there first")
    return pages


def _indexed(folder: Path) -> dict[str, Saved]:
    pages = {}
    for number, line in enumerate((folder / INDEX).read_bytes().splitlines(), 1):
        try:
            page = msgspec.json.decode(line, type=Saved)
        except msgspec.DecodeError as why:
            raise ConfigError(f"{folder / INDEX}, line {number} is no saved page: {why}") from None
        path = (folder / page.file).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file():
            raise ConfigError(f"{folder / INDEX}, line {number} names {page.file}, which is not in the folder")
        pages[page.key] = msgspec.structs.replace(page, folder=str(folder))
    return pages


def _mirrored(folder: Path) -> dict[str, Saved]:
    """Files below host names, as pages of both schemes: the mirror does not say which it was."""
    pages = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        if not path.is_file() or "/" not in place:
            continue
        kind = mimetypes.guess_type(path.name)[0] or "text/html"
        names = [place, place.removesuffix("index.html")] if place.endswith("/index.html") else [place]
        for scheme in ("https", "http"):
            for name in names:
                page = Saved(urls.absolute(f"{scheme}://{name}"), "GET", 200, {"content-type": kind}, place)
                pages[page.key] = msgspec.structs.replace(page, folder=str(folder))
    return pages
