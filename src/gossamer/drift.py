"""The drift gate: does a run break the pattern of the good runs before it, in which fields, and why?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from gossamer.profiles import FieldProfile, KindProfile, Profile

#: Good runs that must have been seen before a run is judged.
ENOUGH = 3
#: Good runs that a run is compared with: the newest.
COMPARED = 10
#: Items fewer than this say little about shares.
FEW = 5
#: Values fewer than this say little about their shapes.
SOME = 8
#: URLs that an alarm names.
SAMPLES = 3

# How sure the gate must be. `python -m bench.drift` shows what these numbers do: alarms on good runs, and breaks
# that are found.

#: The chance of a good run to look broken in one of its shares.
CHANCE = 0.02
#: Shares and numbers vary from run to run at least like this: as if so many runs before had shown it.
PRIOR = 3
SHARES_VARY = 0.03
NUMBERS_VARY = 0.12
#: A share is held against the least it can be: its mean less so many times what it varies.
LOWEST = 1.25
#: A number has fallen if it is below this part of the least before, and so many times further than numbers vary.
PART = 0.55
FAR = 2.5
#: The part of values that must have another shape.
OTHER_SHAPES = 0.7

#: Endings of walks that say: they do not want us.
_BLOCKED = ("blocked", "http_401", "http_403", "http_407", "http_429", "http_451", "robots")
#: Endings that say: it is somewhere else.
_MOVED = ("redirect", "redirects", "redirect_loop", "http_404", "http_410", "scope")


def _mean(values: Iterable[float]) -> float:
    """The mean. The `statistics` module has it too, and takes as long to load as the rest of the gate together."""
    found = list(values)
    return math.fsum(found) / len(found)


def _varies(values: Sequence[float], usual: float, chance: float = 0.0) -> float:
    """The variance of values from run to run, less what chance explains; with few runs, mostly what is usual."""
    mean = _mean(values)
    beyond = max(0.0, math.fsum((value - mean) ** 2 for value in values) - chance)
    return (beyond + PRIOR * usual) / (len(values) - 1 + PRIOR)


class Finding(msgspec.Struct, frozen=True):
    """One way in which a run breaks the pattern."""

    #: "filled", "type", "shape", "kind", "items", "giving", "each" or "rejected".
    what: str
    #: The kind of items it is about; empty: all.
    kind: str
    #: The field; empty: it is about no field.
    field: str
    #: Before and now, as numbers: shares, or items.
    was: float
    now: float
    #: A sentence for a person.
    told: str


class Alarm(msgspec.Struct, frozen=True):
    """Why a run is suspect."""

    #: "blocked", "moved", "layout changed" or "empty".
    cause: str
    #: A sentence that says what speaks for it.
    because: str
    findings: list[Finding]
    #: Pages to look at.
    samples: list[str] = []

    @property
    def fields(self) -> list[str]:
        """The fields it is about."""
        return list(dict.fromkeys(finding.field for finding in self.findings if finding.field))


def judge(now: Profile, past: Sequence[Profile]) -> Alarm | None:
    """The alarm for a run that breaks the pattern of `past` runs; None if it keeps to it."""
    whole = [each for each in past if not each.partial]
    if not whole:
        return None
    findings = [*_totals(now, whole), *_pages(now, whole), *_rejected(now, whole)]
    for kind, was in _kinds(whole).items():
        findings += _kind(kind, now.kinds.get(kind), was, now)
    if not findings:
        return None
    cause, because = _cause(now, whole)
    return Alarm(cause, because, findings)


# -- totals and pages ------------------------------------------------------------------------------------------


def _comparable(now: Profile, past: Sequence[Profile]) -> bool:
    """Whether numbers of items can be compared: at the first weekend, when there may be less, nobody knows."""
    return not now.weekend or any(each.weekend for each in past)


def _totals(now: Profile, past: Sequence[Profile]) -> Iterator[Finding]:
    least = min(each.items for each in past)
    sure = now.items == 0 or _comparable(now, past)
    if not now.partial and sure and _fewer(now.items, [each.items for each in past]):
        told = f"{now.items:,} items, where {least:,} were the least in {len(past)} good runs"
        yield Finding("items", "", "", float(least), float(now.items), told)


def _pages(now: Profile, past: Sequence[Profile]) -> Iterator[Finding]:
    sure = _comparable(now, past)
    for name, is_now in now.handlers.items():
        were = [each.handlers[name] for each in past if name in each.handlers]
        if not were or is_now.pages < 3:
            continue
        giving = [Share(each.giving, each.pages) for each in were]
        if _fallen(Share(is_now.giving, is_now.pages), giving, least=0.3, tests=len(now.handlers)):
            told = f"{is_now.giving:.0%} of the pages for {name} gave items, where it was {_usual(giving):.0%}"
            yield Finding("giving", "", "", _usual(giving), is_now.giving, told)
        each = [one.each for one in were if one.giving]
        if is_now.giving and each and sure and _fewer(is_now.each, each, pages=is_now.giving * is_now.pages):
            told = f"{is_now.each:.1f} items a page for {name}, where {min(each):.1f} was the least"
            yield Finding("each", "", "", min(each), is_now.each, told)


def _rejected(now: Profile, past: Sequence[Profile]) -> Iterator[Finding]:
    def kept(each: Profile) -> Share:
        records = each.items + each.rejected
        return Share(each.items / max(1, records), records)

    were = [kept(each) for each in past]
    if now.rejected >= FEW and _fallen(kept(now), were, least=0.2):
        told = f"{1 - kept(now).part:.0%} of the records were rejected, where it was {1 - _usual(were):.0%}"
        yield Finding("rejected", "", "", 1 - _usual(were), 1 - kept(now).part, told)


# -- kinds and fields ------------------------------------------------------------------------------------------


def _kinds(past: Sequence[Profile]) -> dict[str, list[KindProfile]]:
    """The kinds that every good run had."""
    names = set(past[0].kinds).intersection(*(each.kinds for each in past[1:]))
    return {name: [each.kinds[name] for each in past] for name in sorted(names)}


def _kind(name: str, now: KindProfile | None, past: Sequence[KindProfile], run: Profile) -> Iterator[Finding]:
    numbers = [each.n for each in past]
    if now is None:
        sure = min(numbers) >= (FEW if len(past) < FEW else 3)  # of one or two there may be none
        if not run.partial and run.items and sure:  # that there is no item at all has been said
            told = f"no {name} at all, where every good run had some"
            yield Finding("kind", name, "", float(min(numbers)), 0.0, told)
        return
    names = dict.fromkeys(path for each in past for path in each.fields)
    for field in names:
        were = [each for each in past if field in each.fields]
        if len(were) == len(past):
            yield from _field(name, field, now, were, len(names))


def _field(kind: str, name: str, now: KindProfile, past: Sequence[KindProfile], tests: int) -> Iterator[Finding]:
    field, fields = now.fields.get(name), [each.fields[name] for each in past]
    filled = [Share(each.filled, kind.n) for each, kind in zip(fields, past, strict=True)]
    share = Share(field.filled if field else 0.0, now.n)
    if _fallen(share, filled, least=0.15, tests=tests):
        told = f"{kind}.{name}: filled in {share.part:.0%} of {now.n:,} items, where it was {_usual(filled):.0%}"
        yield Finding("filled", kind, name, _usual(filled), share.part, told)
        return
    values = round(now.n * share.part)
    if field is None or values < FEW:
        return
    usual = max(fields[0].types, key=lambda word: fields[0].types[word], default="")
    types = [Share(each.types.get(usual, 0.0), round(s.part * s.of)) for each, s in zip(fields, filled, strict=True)]
    if usual and _fallen(Share(field.types.get(usual, 0.0), values), types, least=0.3, tests=tests):
        other = max(field.types, key=lambda word: field.types[word])
        told = f"{kind}.{name}: {other} now, where it was {usual}"
        yield Finding("type", kind, name, fields[0].types[usual], field.types.get(usual, 0.0), told)
        return
    moved = _moved(field, fields) if values >= SOME else None
    if moved is not None:
        usual = max(fields[0].shapes, key=lambda word: fields[0].shapes[word])
        other = max(field.shapes, key=lambda word: field.shapes[word])
        told = f"{kind}.{name}: looks like {other!r} now, where it looked like {usual!r}"
        yield Finding("shape", kind, name, 0.0, moved, told)


# -- what is far enough ----------------------------------------------------------------------------------------


class Share(msgspec.Struct, frozen=True):
    """A part of so many."""

    part: float
    of: int


def _usual(past: Sequence[Share]) -> float:
    """The share over all of them together."""
    total = sum(each.of for each in past)
    return math.fsum(each.part * each.of for each in past) / total if total else 0.0


def _fallen(now: Share, past: Sequence[Share], *, least: float, tests: int = 1) -> bool:
    """Whether a share fell by `least` or more, below all before it, and further than it varies and than chance allows.

    `tests` is how many shares are looked at: of many, one will look odd sooner.
    """
    usual, total = _usual(past), sum(each.of for each in past)
    if usual - now.part < least or now.part >= min(each.part for each in past if each.of):
        return False
    by_chance = usual * (1 - usual)
    known = [each for each in past if each.of]
    chance = math.fsum(by_chance / each.of for each in known)
    varies = _varies([each.part for each in known], SHARES_VARY**2, chance)
    lowest = usual - LOWEST * math.sqrt(varies + by_chance / total)
    return now.part < lowest and now.of * _surprise(now.part, lowest) > math.log(tests / CHANCE)


def _surprise(seen: float, expected: float) -> float:
    """How surprising one draw is on average: chance gives a share this low with at most e to the minus n times it."""
    surprise = (1 - seen) * math.log((1 - seen) / (1 - expected))
    return surprise + (seen * math.log(seen / expected) if seen else 0.0)


def _fewer(now: float, past: Sequence[float], pages: float = 1.0) -> bool:
    """Whether a number fell: to nothing, or to less than a part of the least before, and further than it varies.

    A number of items a page is a mean over `pages`.
    """
    least = min(past)
    if least <= 0 or now >= PART * least:
        return False
    if now <= 0:
        return True
    # Of twenty there may be some more or less by chance, of twenty a page over many pages hardly.
    usual = NUMBERS_VARY**2 + 0.5 / (least * max(1.0, pages))
    varies = _varies([math.log(each) for each in past], usual)
    return math.log(least / now) > FAR * math.sqrt(varies)


def _moved(now: FieldProfile, past: Sequence[FieldProfile]) -> float | None:
    """How far the shapes of a field are from what they were, if that is further than they ever were apart."""
    if not all(each.shapes for each in past):
        return None
    between = [_apart(a.shapes, b.shapes) for n, a in enumerate(past) for b in past[n + 1 :]]
    nearest = min(_apart(now.shapes, each.shapes) for each in past)
    return nearest if nearest > max(OTHER_SHAPES, 1.5 * max(between, default=0.0)) else None


def _apart(a: dict[str, float], b: dict[str, float]) -> float:
    """The share of values that have another shape: 0 for the same, 1 for nothing in common."""
    return sum(abs(a.get(name, 0.0) - b.get(name, 0.0)) for name in {*a, *b}) / 2


# -- why -------------------------------------------------------------------------------------------------------


def _cause(now: Profile, past: Sequence[Profile]) -> tuple[str, str]:
    """The likeliest cause, and what speaks for it."""
    was, refused = _shares(now, past, _BLOCKED)
    if refused - was > 0.1:
        told = f"{refused:.0%} of the requests were refused or met a wall, where it was {was:.0%}"
        return "blocked", f"{told}: {_most(now, _BLOCKED)}"
    was, elsewhere = _shares(now, past, _MOVED)
    if elsewhere - was > 0.2:
        told = f"{elsewhere:.0%} of the requests were sent elsewhere or found nothing, where it was {was:.0%}"
        return "moved", f"{told}: {_most(now, _MOVED)}"
    usual = _mean(each.size for each in past)
    if now.pages == 0:
        return "empty", "not one page was read"
    if usual and now.size < 0.3 * usual:
        return "empty", f"pages have {now.size:,.0f} bytes, where {usual:,.0f} were usual"
    return "layout changed", "the pages came as usual, but not with what was found on them before"


def _shares(now: Profile, past: Sequence[Profile], reasons: Sequence[str]) -> tuple[float, float]:
    """The share of walks that ended so, before and now."""

    def share(each: Profile) -> float:
        return sum(each.endings.get(reason, 0.0) for reason in reasons)

    return _mean(share(each) for each in past), share(now)


def _most(now: Profile, reasons: Sequence[str]) -> str:
    """The commonest of these endings."""
    common: Callable[[str], float] = lambda reason: now.endings.get(reason, 0.0)  # noqa: E731
    return max(reasons, key=common)
