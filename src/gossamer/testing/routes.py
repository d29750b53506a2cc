"""Which function answers which path."""

from __future__ import annotations

import traceback

from gossamer.testing.exchange import Answer, Cover, Handler, Hit, origin_form

NOT_FOUND = Answer(status=404, body=b"<h1>404 Not Found</h1>")


class Routes:
    """Which function answers which path, and what lies over it. Written by the test's thread, read by the site's.

    Nothing is locked: a write is one assignment, of a dict entry or a whole tuple, that a reader sees or not.
    """

    def __init__(self) -> None:
        self._exact: dict[str, Handler] = {}
        self._prefixes: tuple[tuple[str, Handler], ...] = ()
        self._covers: tuple[tuple[str, Cover], ...] = ()

    def add(self, path: str, func: Handler) -> None:
        if not path.endswith("*"):
            self._exact[path] = func
            return
        prefixes = dict(self._prefixes)
        prefixes[path[:-1]] = func
        self._prefixes = tuple(sorted(prefixes.items(), key=lambda pair: -len(pair[0])))

    def cover(self, path: str, func: Cover) -> None:
        """Ask this function first, the last one told before the others."""
        self._covers = ((path, func), *self._covers)

    def answer(self, hit: Hit) -> Answer:
        """Never raises: a function that does is answered for with a 500 that shows its traceback."""
        try:
            for pattern, cover in self._covers:
                if _matches(hit.path, pattern) and (answer := cover(hit)) is not None:
                    return answer
            func = self._find(hit.path)
            return NOT_FOUND if func is None else func(hit)
        except Exception:  # noqa: BLE001 - whatever the author's function raises, the client gets to read
            return Answer(status=500, body=traceback.format_exc(), headers={"Content-Type": "text/plain"})

    def _find(self, target: str) -> Handler | None:
        func = self._exact.get(target)
        if func is not None:
            return func
        path = origin_form(target)
        func = self._exact.get(path) or self._exact.get(path.partition("?")[0])
        if func is not None:
            return func
        for prefix, func in self._prefixes:
            if path.startswith(prefix):
                return func
        return None


def _matches(target: str, pattern: str) -> bool:
    path = origin_form(target)
    if pattern.endswith("*"):
        return path.startswith(pattern[:-1])
    return pattern in (path, path.partition("?")[0])
