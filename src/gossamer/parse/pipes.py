"""Cleaning as text: `strip | replace(",", "") | number`, read once and run on every match."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gossamer.parse import clean, expressions

#: Letters of a text that a regular expression is run on.
LONGEST = 1_000_000


class Origin(msgspec.Struct, frozen=True):
    """What a cleaner may want to know of the page a text is from."""

    #: What relative links are relative to.
    base: str
    #: When it was fetched, in seconds since 1970; what "yesterday" is relative to.
    when: float | None = None
    #: The language it says it is in: "en-GB".
    language: str | None = None


class Cleaner(msgspec.Struct, frozen=True):
    """Something that may stand in a pipe."""

    #: Takes the value and what stands in the brackets; with `page`, the Origin between them.
    call: Callable[..., Any]
    about: str
    #: What may stand in the brackets, as the reference shows it.
    takes: str = ""
    #: How many arguments it needs, and how many it takes.
    least: int = 0
    most: int = 0
    #: It works on all matches at once, instead of on each.
    whole: bool = False
    #: It wants to know of the page.
    page: bool = False


def _money(value: Any, hint: str | None = None) -> dict[str, str | None] | None:
    found = clean.money(value, hint)
    return None if found is None else {"amount": found.amount, "currency": found.currency}


def _date(value: Any, page: Origin, order: str | None = None) -> str | None:
    return clean.date(value, now=page.when, order=order, language=page.language)


def _moment(value: Any, page: Origin, order: str | None = None) -> str | None:
    return clean.moment(value, now=page.when, order=order, language=page.language)


def _url(value: Any, page: Origin) -> str | None:
    return clean.url(value, page.base)


def _regex(value: Any, pattern: Any, group: int | None = None) -> str | None:
    return clean.regex(value[:LONGEST] if isinstance(value, str) else value, pattern, group)


def _contains(value: Any, part: str) -> bool | None:
    return part.lower() in value.lower() if isinstance(value, str) else None


def _split(values: list[Any], by: str | None = None) -> list[str]:
    return [part for value in values for part in clean.split(value, by)]


def _default(values: list[Any], otherwise: Any) -> list[Any]:
    return [value for value in values if value not in (None, "")] or [otherwise]


def _json(value: Any, path: Any = None) -> Any:
    found = clean.json(value)
    if path is None or not isinstance(found, dict | list):
        return None if path is not None else found
    from gossamer.parse.jsonpath import matches

    return clean.first(matches(path, found))


#: What may stand in a pipe, by name.
CLEANERS: Mapping[str, Cleaner] = {
    "text": Cleaner(clean.text, "what a reader sees: tags out, entities resolved, white space tidied"),
    "html": Cleaner(lambda value: value, "an element's HTML instead of its text; stands first"),
    "strip": Cleaner(clean.strip, "white space tidied, and these letters off both ends", "letters", 0, 1),
    "lower": Cleaner(clean.lower, "small letters"),
    "upper": Cleaner(clean.upper, "capitals"),
    "title": Cleaner(clean.title, "Every Word With A Capital"),
    "replace": Cleaner(clean.replace, "every `old` replaced; by nothing, where `new` is left out", "old, new", 1, 2),
    "before": Cleaner(clean.before, "what stands before the first `mark`", "mark", 1, 1),
    "after": Cleaner(clean.after, "what stands after the first `mark`", "mark", 1, 1),
    "regex": Cleaner(_regex, "what the expression finds: its group, or all of it", "pattern, group", 1, 2),
    "split": Cleaner(_split, "the parts of a text, each a value; at white space unless told", "by", 0, 1, whole=True),
    "join": Cleaner(lambda v, by=" ": [clean.join(v, by)], "all values as one text", "by", 0, 1, whole=True),
    "first": Cleaner(lambda values: [clean.first(values)], "the first value", whole=True),
    "last": Cleaner(lambda values: [clean.last(values)], "the last value", whole=True),
    "unique": Cleaner(clean.unique, "each value once", whole=True),
    "exists": Cleaner(lambda values: [bool(values)], "true if anything matched, else false", whole=True),
    "contains": Cleaner(_contains, "true if `part` is in the text, whatever its case, else false", "part", 1, 1),
    "default": Cleaner(_default, "`value` where there is none", "value", 1, 1, whole=True),
    "number": Cleaner(clean.number, "1234.5, from `1,234.5`, `1.234,5` or `1 234,5 km`", "decimal mark", 0, 1),
    "integer": Cleaner(clean.integer, "a whole number"),
    "count": Cleaner(clean.count, "1200, from `1.2K followers`"),
    "money": Cleaner(_money, '`{"amount": "51.77", "currency": "GBP"}`, from `£51.77`', "currency", 0, 1),
    "date": Cleaner(_date, "`2026-03-05`, from most ways to write it", "order", 0, 1, page=True),
    "moment": Cleaner(_moment, "`2026-03-05T10:30:00+01:00`, as exact as the text", "order", 0, 1, page=True),
    "boolean": Cleaner(clean.boolean, "true or false, from yes, no, on, off, 1, 0, ✓, ✗"),
    "url": Cleaner(_url, "the absolute URL that a link means", page=True),
    "email": Cleaner(clean.email, "the first mail address"),
    "json": Cleaner(_json, "the value that a text is the JSON of, or what the path finds in it", "path", 0, 1),
}
#: Those that may stand as the type of a field.
TYPES = (
    "text", "html", "integer", "number", "count", "money", "date", "moment", "boolean", "url", "email", "json",
)  # fmt: skip
_ORDERS = ("DMY", "MDY", "YMD")

_ARGUMENT = r"\s*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\"'()|,]*)\s*"
_CALL = re.compile(rf"\s*([A-Za-z_]\w*)\s*(?:\(((?:{_ARGUMENT},)*{_ARGUMENT})\))?\s*")
_LAST = re.compile(rf"\s\|(?P<call>{_CALL.pattern})$")
_PART = re.compile(r"\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s,\"'][^,\"']*?))\s*(?:,|$)")
_ESCAPE = re.compile(r"\\(.)")
_LETTERS = {"n": "\n", "t": "\t", '"': '"', "'": "'"}


class Pipe:
    """Cleaners in a row."""

    __slots__ = ("_steps", "html", "one_by_one")

    def __init__(self, steps: list[tuple[Cleaner, tuple[Any, ...]]], *, html: bool) -> None:
        self._steps = steps
        #: Whether an element is to be given as its HTML.
        self.html = html
        #: Whether no cleaner looks at several values at once.
        self.one_by_one = not any(cleaner.whole for cleaner, _ in steps)

    def run(self, values: list[Any], page: Origin, *, many: bool) -> list[Any]:
        """The values that come out, what is empty left out; only the first, unless many are wanted."""
        if not many and self.one_by_one:
            for value in values:
                found = _trimmed(self._each(value, page))
                if found is not None and found != "":
                    return [found]
            return []
        for cleaner, arguments in self._steps:
            if cleaner.whole:
                values = cleaner.call(values, *arguments)
            else:
                given = (page, *arguments) if cleaner.page else arguments
                values = [None if value is None else cleaner.call(value, *given) for value in values]
        return [value for value in map(_trimmed, values) if value is not None and value != ""]

    def _each(self, value: Any, page: Origin) -> Any:
        for cleaner, arguments in self._steps:
            if value is None:
                return None
            value = cleaner.call(value, page, *arguments) if cleaner.page else cleaner.call(value, *arguments)
        return value


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def cut(text: str) -> tuple[str, list[str]]:
    """A selector, and the cleaners that stand behind it: `.price | strip | money`.

    They are cut off from the end, for XPath knows ` | ` too.
    """
    calls: list[str] = []
    while match := _LAST.search(text):
        calls.insert(0, match["call"])
        text = text[: match.start()]
    return text.strip(), calls


def pipe(calls: list[str]) -> Pipe:
    """The pipe of some calls as they are written. Raises ValueError, saying which cannot be used."""
    steps: list[tuple[Cleaner, tuple[Any, ...]]] = []
    html = False
    for number, call in enumerate(calls):
        name, arguments = _call(call)
        if name == "html" and number:
            raise ValueError("html stands first: what comes after a cleaner is a text already")
        html = html or name == "html"
        steps.append((CLEANERS[name], _checked(name, arguments)))
    return Pipe(steps, html=html)


def calls_of(text: str) -> list[str]:
    """The calls of a pipe that has no selector: `strip | date`. Raises ValueError."""
    rest, calls = cut(f" | {text}")
    if rest:
        raise ValueError(f"{rest.lstrip('| ')!r} is no cleaner: write names, such as strip | number")
    return calls


def _call(text: str) -> tuple[str, list[Any]]:
    match = _CALL.fullmatch(text)
    if match is None:
        raise ValueError(f"{text.strip()!r} is no cleaner: write names, such as strip | number")
    name = match[1]
    if name not in CLEANERS:
        near = difflib.get_close_matches(name, CLEANERS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(CLEANERS)}"
        raise ValueError(f"{name!r} is no cleaner: {hint}")
    return name, _arguments(match[2] or "", text)


def _arguments(text: str, call: str) -> list[Any]:
    found: list[Any] = []
    at = 0
    while at < len(text.rstrip()):
        match = _PART.match(text, at)
        if match is None:
            raise ValueError(f"{call.strip()!r} cannot be read: write texts in quotes, with commas between")
        found.append(_plain(match[3]) if match[3] is not None else _text(match[1] if match[2] is None else match[2]))
        at = match.end()
    return found


def _plain(word: str) -> Any:
    try:
        return msgspec.json.decode(word)
    except msgspec.DecodeError:
        raise ValueError(f"{word} stands without quotes: write {word!r}") from None


def _text(quoted: str) -> str:
    """A quoted text; of a backslash, only what is no letter of a regular expression is resolved."""
    return _ESCAPE.sub(lambda escape: _LETTERS.get(escape[1], escape[0]), quoted)


def _checked(name: str, arguments: list[Any]) -> tuple[Any, ...]:
    """The arguments of a cleaner, ready to be used."""
    cleaner = CLEANERS[name]
    shape = f"write {name}({cleaner.takes})" if cleaner.takes else f"write {name} alone"
    if not cleaner.least <= len(arguments) <= cleaner.most:
        raise ValueError(f"{name} has {len(arguments)} arguments: {shape}")
    texts = arguments if name != "default" else []
    if any(not isinstance(each, str) for each in texts[: 1 if name == "regex" else None]):
        raise ValueError(f"{name} takes texts: {shape}, with quotes")
    if name in ("date", "moment") and arguments and arguments[0] not in _ORDERS:
        raise ValueError(f"{name}({arguments[0]!r}) cannot be used: write one of {', '.join(_ORDERS)}")
    if name == "number" and arguments and arguments[0] not in (".", ","):
        raise ValueError('number takes the decimal mark: write number(",") or number(".")')
    if name in ("split", "before", "after", "replace", "contains") and arguments and arguments[0] == "":
        raise ValueError(f"{name} has an empty text: {shape}")
    if name == "regex":
        return (_pattern(*arguments),) if len(arguments) == 1 else (_pattern(*arguments), arguments[1])
    if name == "json" and arguments:
        from gossamer.parse.jsonpath import compiled

        return (compiled(arguments[0]),)
    return tuple(arguments)


def _pattern(text: str, group: Any = None) -> Any:
    pattern = expressions.compiled(text)
    if group is not None and not (type(group) is int and 0 <= group <= pattern.groups):
        raise ValueError(f"{text!r} has no group {group!r}: it has {pattern.groups}")
    return pattern
