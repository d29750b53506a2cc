"""The archive: pages as they were answered, each body once, read again without asking the site.

One SQLite file beside the store (`gossamer.db.archive`): the store stays small and quick, and giving room back is
a delete in another file. A page is written here before it is settled there, so a settled page is always here; one
that is here and was never settled is overwritten when it is walked again.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, TypeVar

from gossamer import urls
from gossamer.errors import StoreError
from gossamer.storage.archive_reading import ArchivedPage, Reading, Stats, spoken
from gossamer.storage.archive_writing import Kept, Pruned, Same, Writing
from gossamer.values import Response

__all__ = ["Archive", "ArchivedPage", "Kept", "Pruned", "Reading", "Same", "Stats", "archive_of"]

P = ParamSpec("P")
T = TypeVar("T")

#: Pages read at once.
PAGES = 50


def archive_of(store: str) -> str:
    """The archive beside a store's file."""
    return f"{store}.archive"


class Archive:
    """Pages and their bodies in one file. Open it with `async with Archive(path)`.

    Opened to work (`owner=True`), it locks the file against other working processes; opened to read, it does
    not, and may look on while another process works.
    """

    def __init__(self, path: str, *, owner: bool = True) -> None:
        self.path = path
        self.owner = owner
        self._file: Reading | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def __aenter__(self) -> Archive:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gossamer-archive")
        try:
            self._file = await self._do(Writing if self.owner else Reading, self.path)
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        if self._thread is None:
            return
        thread, self._thread = self._thread, None
        file, self._file = self._file, None
        try:
            if file is not None:
                await asyncio.shield(asyncio.get_running_loop().run_in_executor(thread, file.close))
        finally:
            thread.shutdown()  # waits, so that even a cancelled close has let go of the file

    @property
    def _reading(self) -> Reading:
        if self._file is None:
            raise StoreError(f"the archive {self.path} is closed")
        return self._file

    @property
    def _writing(self) -> Writing:
        if not isinstance(self._reading, Writing):
            raise StoreError(f"the archive {self.path} was opened to be read")
        return self._reading

    async def _do(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a verb on the archive's thread. Once begun it completes, even if the caller is cancelled."""
        if self._thread is None:
            raise StoreError(f"the archive {self.path} is closed")

        def call() -> T:
            with spoken(self.path):
                return verb(*args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    # -- keeping -----------------------------------------------------------------------------------------------

    async def keep(self, pages: Sequence[Kept]) -> None:
        """Keep pages, in one transaction; a page of the same run and request is overwritten.

        A body in a file is kept too, unless it is larger than LARGEST or the file is gone: then the page says so.
        """
        small = [page for page in pages if page.response.file is None]
        # Here, for each waits for the interpreter lock once more: beside a busy loop that is what the thread lacks.
        digests = [_digest(page.response) for page in small]
        if small:
            await self._do(self._writing.keep, small, digests)
        for page in pages:  # one at a time: each may take 64 MB of memory
            if page.response.file is not None:
                await self._do(self._writing.keep_file, page)

    async def same(self, pages: Sequence[Same]) -> None:
        """Keep pages that are as they were, without their bodies; one that was never kept, or no longer is, is not."""
        await self._do(self._writing.same, pages)

    # -- reading -----------------------------------------------------------------------------------------------

    async def pages(
        self, scraper: str | None = None, run: int | None = None, *, newest: bool = True, bodies: bool = True
    ) -> AsyncIterator[ArchivedPage]:
        """Pages in the order they were kept; `newest`: of each request, only what was fetched last."""
        async for ids in self.ids(scraper, run, newest=newest, at_once=PAGES):
            for page in await self._do(self._reading.pages, ids, bodies=bodies):
                yield page

    async def ids(
        self,
        scraper: str | None = None,
        run: int | None = None,
        *,
        newest: bool = True,
        matching: re.Pattern[str] | None = None,
        but: Sequence[int] = (),
        at_once: int = 1000,
    ) -> AsyncIterator[list[int]]:
        """The ids of `pages`, some at a time: of URLs in which an expression is found, and `but` of some runs."""
        ids = [0]
        while ids := await self._do(
            self._reading.ids, scraper, run, newest=newest, matching=matching, but=but, after=ids[-1], limit=at_once
        ):
            yield ids

    async def count(
        self,
        scraper: str | None = None,
        run: int | None = None,
        *,
        newest: bool = True,
        matching: re.Pattern[str] | None = None,
    ) -> int:
        """How many `ids` there are."""
        return await self._do(self._reading.count, scraper, run, newest=newest, matching=matching)

    async def runs(self, scraper: str | None = None) -> list[int]:
        """The runs that pages of a scraper are of."""
        return await self._do(self._reading.runs, scraper)

    async def pages_of(self, scraper: str, run: int, digests: Sequence[str]) -> dict[str, int]:
        """Fingerprints of requests -> the pages of a run that answer them, where there are such."""
        return await self._do(self._reading.pages_of, scraper, run, digests)

    async def page(self, number: int) -> ArchivedPage | None:
        """One page; None if it is not there."""
        found = await self._do(self._reading.pages, [number])
        return found[0] if found else None

    async def of_url(self, url: str) -> list[ArchivedPage]:
        """What is kept of a URL, newest first, without bodies."""
        ids = await self._do(self._reading.ids_of, url, urls.digest(urls.comparable(url)))
        return await self._do(self._reading.pages, ids, bodies=False)

    async def read(self, sha256: str) -> bytes | None:
        """The body with this SHA-256 (in hex); None if it is not there."""
        return await self._do(self._reading.read, sha256)

    async def stats(self) -> Stats:
        """What there is."""
        return await self._do(self._reading.stats)

    # -- giving room back --------------------------------------------------------------------------------------

    async def prune(self, age: float | None = None, size: int | None = None) -> Pruned:
        """Take away pages that were kept longer than `age` seconds ago, then the oldest until `size` bytes are left.

        Costs next to nothing where there is nothing to take away.
        """
        return await self._do(self._writing.prune, age, size)

    async def forget(self, run: int | None = None, scraper: str | None = None) -> Pruned:
        """Take away the pages of a run, or of a scraper."""
        return await self._do(self._writing.forget, run, scraper)


def _digest(response: Response) -> bytes:
    return bytes.fromhex(response.sha256) if response.sha256 else hashlib.sha256(response.body).digest()
