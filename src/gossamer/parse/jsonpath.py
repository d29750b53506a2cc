"""JSONPath, and JSON that stands inside scripts."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

import msgspec

from gossamer.parse import lenient

#: Matches of one path that are taken.
MOST = 100_000
#: Places of a script at which JSON is looked for, where it does not begin with it.
_TRIES = 20
_OPENING = re.compile(r"[{\[]")
#: What may stand before the value of a script that is nothing else: marks of comments and CDATA, a name to keep it by.
_BEFORE = re.compile(
    r"(?:\s|<!--|//[^\n{\[<]*+|/\*(?:[^*]++|\*(?!/))*+\*/|<!\[CDATA\[|\ufeff)*+(?:(?:var|let|const)\s+)?(?:[\w$.]{1,200}(?:\[[^\[\]]{1,200}\])?\s*=\s*)?"
)


#: How data begins, and a block of a program does not.
_DATA = re.compile(r"\[|\{\s*+(?:[\"'}]|//|/\*|[\w$@-]{1,200}+\s*+:)")


def compiled(path: str) -> Any:
    """A path ready to be used; `$` may be left out. Raises ValueError if it is none."""
    import jsonpath
    from jsonpath import JSONPathError

    # Without its $, a path could begin with one of the language's own words: `in`, `none`.
    full = path if path.startswith("$") else f"${path}" if path.startswith(("[", ".")) else f"$.{path}"
    try:
        return jsonpath.compile(full)
    except (JSONPathError, RecursionError) as why:
        said = str(why).partition("\n")[0]
        raise ValueError(f"{path!r} is not a JSONPath: {said}") from None


def matches(path: Any, data: Any) -> list[Any]:
    """What a compiled path finds in data, in order; nothing in what is no object and no list."""
    from jsonpath import JSONPathError

    if not isinstance(data, dict | list):
        return []
    try:
        return [match.obj for match in islice(path.finditer(data), MOST)]
    except (JSONPathError, RecursionError):  # nested deeper than anything honest
        return []


def inside(text: str) -> Any:
    """The object or list that a script holds: alone, or as in `window.state = {...};`. None if there is none.

    JSON that is broken as people break it, by a comma too many or a comment, is read as it was meant.
    """
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _embedded(text)
    return found if isinstance(found, dict | list) else None


def _embedded(text: str) -> Any:
    """The longest of the values that stand in a script: the others are settings and empty lists."""
    decoder = json.JSONDecoder()
    best, longest, end = None, 0, 0
    whole = _BEFORE.match(text)
    begin = whole.end() if whole else -1
    for match in islice(_OPENING.finditer(text), _TRIES):
        if match.start() < end:
            continue
        try:
            found, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            # What stands inside a value is not what the script holds, though it may be whole where that is broken.
            if match.start() == begin and _DATA.match(text, begin) and (mended := lenient.values(text[begin:])):
                return mended[0]
            continue
        if end - match.start() > longest:
            best, longest = found, end - match.start()
    return best
