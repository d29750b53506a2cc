"""Which records somebody wants, said in one line: `price > 10 and (brand = 'Acme' or tags in ('new', 'sale'))`.

* A condition is `field op value` with `=`, `!=`, `<`, `<=`, `>`, `>=` or `~` (contains, whatever the case),
  `field in (value, ...)` or `field is null`; conditions are joined by `and`, `or`, `not` and parentheses.
* A value is a number, a 'text' or "text", `true`, `false` or `null`.
* A field is a name, or a path into a record: `offers.price`, `tags.0`. An odd name stands in backquotes.
* A list fulfils a condition if one of its elements does. A text that is a plain number is compared as one with a
  number. What cannot be compared does not fulfil a condition; `!=` and `not in` say that `=` and `in` are not so.

Nothing is executed: a line is read into small functions of one record each.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from gossamer.errors import ConfigError

#: Letters of a filter, and parentheses within each other.
LONGEST = 10_000
DEEPEST = 50
HELP = (
    "write conditions like price > 10, name = 'text', name ~ 'part', kind in ('a', 'b') or price is null, "
    "joined by and, or, not and parentheses"
)

#: What a path leads to where there is nothing.
MISSING: Any = object()

Test = Callable[[Mapping[str, Any]], bool]

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[-+]?\d{1,300}(?:\.\d{1,300})?(?:[eE][-+]?\d{1,3})?(?![\w.]))
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<quoted>`[^`]+`)
    |(?P<op>!=|<>|<=|>=|==|[=<>~])
    |(?P<mark>[(),])
    |(?P<word>[^\W\d][\w-]*(?:\.[\w-]+)*)
    |(?P<end>\Z)
    )""",
    re.VERBOSE,
)
_PLAIN_NUMBER = re.compile(r"\s*[-+]?\d{1,30}(\.\d{0,30})?([eE][-+]?\d{1,3})?\s*", re.ASCII)
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SAME = {"==": "=", "<>": "!="}
_CONSTANTS = {"true": True, "false": False, "null": None}
_KEYWORDS = {"and", "or", "not", "in", "is", *_CONSTANTS}


class Path:
    """The way to a value in a record: `price`, `offers.price`, `tags.0`."""

    def __init__(self, name: str, *, whole: bool = False) -> None:
        self.name = name
        self.parts = (name,) if whole else tuple(name.split("."))

    def find(self, record: Mapping[str, Any]) -> Any:
        """What is there, or MISSING. Over a list without a number it is what all its elements have there."""
        if len(self.parts) == 1 or self.name in record:
            return record.get(self.name, MISSING)
        return _reach(record, self.parts)


def _reach(value: Any, parts: tuple[str, ...]) -> Any:
    for n, part in enumerate(parts):
        if isinstance(value, Mapping):
            value = value.get(part, MISSING)
        elif isinstance(value, list) and part.isdecimal() and len(part) < 10:
            value = value[int(part)] if int(part) < len(value) else MISSING
        elif isinstance(value, list):
            return _spread([_reach(each, parts[n:]) for each in value if isinstance(each, Mapping)])
        else:
            return MISSING
    return value


def _spread(found: list[Any]) -> Any:
    """What the elements of a list gave, lists among it taken apart."""
    flat: list[Any] = []
    for each in found:
        if isinstance(each, list):
            flat += each
        elif each is not MISSING:
            flat.append(each)
    return flat or MISSING


class Filter:
    """A filter that was read: `holds` says whether a record fulfils it."""

    def __init__(self, text: str) -> None:
        """Raises ConfigError for what is no filter."""
        reading = _Reading(text)
        self.holds: Test = reading.whole()
        #: Where it looks.
        self.paths: tuple[Path, ...] = tuple(reading.paths)


class _Reading:
    """A filter while it is read, token by token."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise ConfigError(f"the filter is longer than {LONGEST:,} letters: {HELP}")
        self.text = text
        self.paths: list[Path] = []
        self._at = self._next = 0
        self._deep = 0
        self._kind = self._token = ""
        self._advance()

    def whole(self) -> Test:
        if self._kind == "end":
            raise ConfigError(f"the filter is empty: {HELP}")
        test = self._either()
        if self._kind != "end":
            odd = self._kind in ("number", "word")
            self._refuse("here should be `and`, `or` or the end" + "; texts and dates stand in quotes" * odd)
        return test

    # -- tokens ------------------------------------------------------------------------------------------------

    def _advance(self) -> str:
        """Go to the next token; returns the one that was left."""
        left = self._token
        self._at = self._next
        match = _TOKEN.match(self.text, self._next)
        if match is None:
            rest = self.text[self._next :].lstrip()
            self._refuse("a quote is not closed" if rest[0] in "'\"`" else f"{rest[0]!r} means nothing here")
        self._next = match.end()
        self._kind = str(match.lastgroup)
        self._token = match[self._kind]
        if self._kind == "word" and self._token.lower() in _KEYWORDS:
            self._kind, self._token = "keyword", self._token.lower()
        return left

    def _is(self, *tokens: str) -> bool:
        return self._kind in ("keyword", "mark", "op") and self._token in tokens

    def _take(self, token: str) -> None:
        if not self._is(token):
            self._refuse(f"here should be {token!r}")
        self._advance()

    def _refuse(self, why: str) -> NoReturn:
        rest = self.text[self._at :].strip()
        where = f"before {rest[:40]!r}" if rest else "at its end"
        raise ConfigError(f"the filter {self.text[:200]!r} cannot be read {where}: {why}; {HELP}")

    # -- grammar -----------------------------------------------------------------------------------------------

    def _either(self) -> Test:
        tests = [self._both()]
        while self._is("or"):
            self._advance()
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else lambda record: any(test(record) for test in tests)

    def _both(self) -> Test:
        tests = [self._one()]
        while self._is("and"):
            self._advance()
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda record: all(test(record) for test in tests)

    def _one(self) -> Test:
        if not self._is("not", "("):
            return self._condition()
        self._deep += 1
        if self._deep > DEEPEST:
            self._refuse("it is nested too deep")
        if self._advance() == "not":
            inner = self._one()
            test: Test = lambda record: not inner(record)  # noqa: E731 - one of the small functions
        else:
            test = self._either()
            self._take(")")
        self._deep -= 1
        return test

    def _condition(self) -> Test:
        if self._kind not in ("word", "quoted"):
            self._refuse("here should be a field; a name such as `in` stands in backquotes")
        whole = self._kind == "quoted"
        path = Path(self._advance().strip("`"), whole=whole)
        self.paths.append(path)
        if self._is("is"):
            return self._null(path)
        if self._is("not", "in"):
            return self._among(path)
        if self._kind != "op":
            self._refuse(f"after the field {path.name!r} should stand =, !=, <, <=, >, >=, ~, in or is null")
        op = self._advance()
        return _comparison(path, _SAME.get(op, op), self._value(op))

    def _null(self, path: Path) -> Test:
        self._advance()
        wanted = not self._is("not")
        if not wanted:
            self._advance()
        self._take("null")
        return lambda record: _absent(path.find(record)) is wanted

    def _among(self, path: Path) -> Test:
        wanted = not self._is("not")
        if not wanted:
            self._advance()
        self._take("in")
        self._take("(")
        tests = [_comparison(path, "=", self._value("in"))]
        while self._is(","):
            self._advance()
            tests.append(_comparison(path, "=", self._value("in")))
        self._take(")")
        return lambda record: any(test(record) for test in tests) is wanted

    def _value(self, op: str) -> Any:
        kind = self._kind
        if kind not in ("number", "text") and not self._is(*_CONSTANTS):
            self._refuse(
                "texts and dates stand in quotes"
                if kind in ("word", "quoted")
                else f"after {op} should stand a number, a 'text', true, false or null"
            )
        token = self._advance()
        value: Any
        if kind == "text":
            value = token[1:-1].replace(token[0] * 2, token[0])
        else:
            value = _number(token) if kind == "number" else _CONSTANTS[token]
        if op == "~" and not isinstance(value, str):
            self._refuse("after ~ should stand a 'text'")
        if op in _ORDERS and (value is None or isinstance(value, bool)):
            self._refuse(f"after {op} should stand a number or a 'text'")
        return value


# -- conditions ------------------------------------------------------------------------------------------------


def _comparison(path: Path, op: str, value: Any) -> Test:
    if op == "!=":
        same = _comparison(path, "=", value)
        return lambda record: not same(record)
    if value is None:
        return lambda record: _absent(path.find(record))
    fits = _fits(op, value)

    def test(record: Mapping[str, Any]) -> bool:
        found = path.find(record)
        return any(map(fits, found)) if isinstance(found, list) else fits(found)

    return test


def _fits(op: str, value: Any) -> Callable[[Any], bool]:
    """Whether one value fulfils a condition."""
    if op == "~":
        part = value.casefold()
        return lambda found: isinstance(found, str) and part in found.casefold()
    order: Callable[[Any, Any], bool] = _ORDERS.get(op, operator.eq)
    if isinstance(value, bool):
        return lambda found: found is value
    if isinstance(value, str):
        return lambda found: isinstance(found, str) and order(found, value)

    def numeric(found: Any) -> bool:
        if isinstance(found, str):
            found = _number(found) if _PLAIN_NUMBER.fullmatch(found) else None
        return isinstance(found, int | float) and not isinstance(found, bool) and order(found, value)

    return numeric


def _absent(found: Any) -> bool:
    return found is None or found is MISSING


def _number(text: str) -> int | float:
    text = text.strip()
    return int(text) if text.lstrip("+-").isdecimal() else float(text)
