"""Regular expressions that people write into rules: run with a limit of time, for a page can make one run for ever."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from gossamer.errors import ReadError

#: Seconds that one expression may take on one text.
LIMIT = 2.0


def compiled(pattern: Any) -> Any:
    """An expression ready to be used; one that is already is given back. Raises ValueError if it is none."""
    import regex

    if not isinstance(pattern, str):
        return pattern if isinstance(pattern, regex.Pattern) else compiled(pattern.pattern)
    try:
        # As Python's own would read it: the two differ in what nested sets and inline flags mean.
        return regex.compile(pattern, regex.VERSION0)
    except (regex.error, OverflowError, RecursionError, ValueError) as why:
        raise ValueError(f"{pattern!r} is not a regular expression: {why}") from None


def found(pattern: Any, text: str, most: int) -> Iterator[Any]:
    """Matches of an expression in a text, at most so many. Raises ReadError if that takes too long."""
    try:
        yield from islice(pattern.finditer(text, timeout=LIMIT), most)
    except TimeoutError:
        raise ReadError(
            f"the expression {pattern.pattern[:80]!r} takes longer than {LIMIT:g} s on this page: write it so that it "
            "has fewer ways to match, without one repetition in another"
        ) from None
