"""Pages without end: what a crawler that only follows links never leaves."""

from __future__ import annotations

import itertools
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, urlencode

from gossamer.testing.exchange import Answer, Handler, Hit, origin_form
from gossamer.testing.pages import links

#: Kinds of traps.
Trap: TypeAlias = Literal["calendar", "path", "query", "session"]

_FILTERS = ("brand", "color", "size", "sort", "page", "view")
_FOLDERS = ("shop", "list", "shop")


def maker(base: str, kind: Trap) -> Handler:
    """The function that answers below `base`."""
    if kind == "session":
        numbers = itertools.count(1)
        return lambda hit: _session(base, next(numbers))
    made = {"calendar": _calendar, "path": _path, "query": _query}[kind]
    return lambda hit: made(base, hit)


def _calendar(base: str, hit: Hit) -> Answer:
    """`base?month=2026-11` links to the month after and the month before, for ever."""
    asked = dict(parse_qsl(origin_form(hit.path).partition("?")[2])).get("month", "2026-01")
    year, _, month = asked.partition("-")
    number = int(year) * 12 + int(month) - 1 if year.isdecimal() and month.isdecimal() else 0
    around = [f"{base}?month={at // 12:04d}-{at % 12 + 1:02d}" for at in (number + 1, number - 1) if at >= 0]
    return Answer(body=links(f"Calendar of {asked}", around))


def _path(base: str, hit: Hit) -> Answer:
    """A relative link without its slash: /shop/list/ leads to /shop/list/shop/list/, and so on."""
    here = origin_form(hit.path).partition("?")[0].rstrip("/")
    return Answer(body=links("Our shop", [f"{here}/{folder}/" for folder in dict.fromkeys(_FOLDERS)]))


def _query(base: str, hit: Hit) -> Answer:
    """Filters that can be put one upon the other, in any order and number."""
    given = parse_qsl(origin_form(hit.path).partition("?")[2])
    more = [f"{base}?{urlencode([*given, (name, str(len(given)))])}" for name in _FILTERS]
    return Answer(body=links(f"{len(given)} filters", [link.replace("&", "&amp;") for link in more]))


def _session(base: str, number: int) -> Answer:
    """The same page under an address that is new each time."""
    session = f"{number:032x}"  # as long as PHP makes them
    return Answer(body=links("Welcome", [f"{base}?sid={session}", f"{base}?sid={session}&amp;to=about"]))
