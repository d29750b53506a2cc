"""How often the drift gate is wrong: `python -m bench.drift` prints alarms on good runs, and breaks that were found.

Simulated scrapers of seven kinds are run day after day, with what varies in nature: how much there is, how often a
field is filled, how prices and dates are written, which pages fail. Every run is judged by the good ones before it, as
`gossamer.judging` does; who finds a false alarm accepts the run. And of every run a broken copy is judged too.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from gossamer import drift, profiles
from gossamer.drift import Alarm
from gossamer.profiles import Profile
from gossamer.storage.store import HandlerFacts, RunFacts
from gossamer.values import Run, RunState

Record = dict[str, Any]
WORDS = ("old", "silver", "bridge", "quiet", "river", "winter", "garden", "stone", "paper", "light", "north", "glass")


class Page(msgspec.Struct):
    """A page that a simulated run walked."""

    handler: str
    records: list[tuple[str, Record]]
    size: int = 20_000
    ending: str = "ok"


class Field(msgspec.Struct):
    """A field of a simulated scraper: how often it is filled, how much that varies from run to run, and with what."""

    name: str
    filled: float
    value: Callable[[random.Random], Any]
    wobble: float = 0.03


# -- what fields hold ------------------------------------------------------------------------------------------


def words(least: int, most: int) -> Callable[[random.Random], str]:
    return lambda r: " ".join(r.choice(WORDS) for _ in range(r.randint(least, most))).capitalize()


def price(r: random.Random) -> str:
    form = r.choices(("£{:.2f}", "£{:,.2f}", "from £{:.0f}", "£{:.0f}", "{:.2f} GBP"), (60, 20, 8, 8, 4))[0]
    return form.format(r.lognormvariate(4, 1.6))


def salary(r: random.Random) -> str:
    low = r.randint(20, 80)
    return r.choice((f"£{low}k - £{low + 10}k", f"{low},000 EUR", "negotiable", f"£{low},000 a year plus bonus"))


def ago(r: random.Random) -> str:
    n = r.randint(2, 40)
    return r.choice((f"{n} minutes ago", f"{n} hours ago", "an hour ago", "Yesterday", f"Yesterday, 1{n % 10}:05"))


def iso(r: random.Random) -> str:
    return f"2026-{r.randint(1, 12):02}-{r.randint(1, 28):02}"


def url(r: random.Random) -> str:
    return f"https://example.org/{r.randrange(10**6)}"


def sku(r: random.Random) -> str:
    return f"{r.choice(('AB', 'CX', 'ZZ'))}-{r.randrange(10**4)}"


def count(r: random.Random) -> int:
    return 0 if r.random() < 0.3 else r.randint(1, 500)


# -- scrapers --------------------------------------------------------------------------------------------------


class Scraper:
    """One simulated scraper. `pages(day)` is what a run finds on that day, when nothing is broken."""

    #: What can be told from what is natural here.
    breaks: tuple[str, ...] = ("dead", "half", "wall", "blocked")

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.fields = self.declared()
        self.failing = r.choice((0.0, 0.0, 0.01, 0.04))

    def declared(self) -> list[Field]:
        raise NotImplementedError

    def pages(self, day: int) -> list[Page]:
        raise NotImplementedError

    def records(self, n: int, fields: Sequence[Field] | None = None, kind: str = "item") -> list[tuple[str, Record]]:
        """Records as one run has them: in each run, a field is filled a little more or less often."""
        r = self.r
        chosen = [
            (f, min(1.0, f.filled + r.gauss(0, f.wobble)) if f.filled < 1 else 1.0) for f in fields or self.fields
        ]
        return [(kind, {f.name: f.value(r) if r.random() < share else None for f, share in chosen}) for _ in range(n)]

    def listed(self, records: list[tuple[str, Record]], each: int, handler: str = "parse") -> list[Page]:
        """Records on pages of so many; some pages fail."""
        r = self.r
        made = [Page(handler, records[n : n + each], r.randint(15_000, 25_000)) for n in range(0, len(records), each)]
        for page in made[1:]:
            if r.random() < self.failing:
                page.records, page.ending = [], r.choice(("timeout", "http_404", "http_500"))
        return made or [Page(handler, [])]


class News(Scraper):
    """A front page: now ten stories, now fifty."""

    def declared(self) -> list[Field]:
        r = self.r
        self.least = r.randint(10, 25)
        self.most = min(50, int(self.least * r.uniform(1.2, 2.5)))
        return [
            Field("title", 1.0, words(3, 12)),
            Field("url", 1.0, url),
            Field("when", 1.0, ago),
            Field("author", r.uniform(0.6, 0.95), words(1, 3), 0.06),
            Field("summary", r.uniform(0.6, 1.0), words(8, 40)),
            Field("image", r.uniform(0.4, 0.95), url, 0.06),
            Field("label", r.uniform(0.005, 0.1), words(1, 1)),
            Field("comments", 1.0, count),
        ]

    def pages(self, day: int) -> list[Page]:
        return self.listed(self.records(self.r.randint(self.least, self.most)), 60)


class Catalogue(Scraper):
    """A shop that grows, on pages of twenty."""

    breaks = (*Scraper.breaks, "halved", "shape")

    def declared(self) -> list[Field]:
        r = self.r
        self.size = float(r.randint(120, 500))
        return [
            Field("name", 1.0, words(2, 6)),
            Field("price", r.uniform(0.9, 1.0), price),
            Field("was", r.uniform(0.05, 0.3), price, 0.05),
            Field("rating", r.uniform(0.5, 0.95), lambda r: round(r.uniform(1, 5), 1)),
            Field("in_stock", 1.0, lambda r: r.random() < 0.8),
            Field("sku", 1.0, sku),
            Field("tags", 0.4, lambda r: ["a"] * r.randint(1, 3)),
            Field("brand", 0.9, lambda r: {"name": words(1, 2)(r), "url": url(r)}),
        ]

    def pages(self, day: int) -> list[Page]:
        self.size *= self.r.uniform(0.97, 1.05)
        return self.listed(self.records(int(self.size)), 20)


class Jobs(Scraper):
    """New jobs of the day: many on working days, few at the weekend."""

    def declared(self) -> list[Field]:
        r = self.r
        return [
            Field("title", 1.0, words(2, 5)),
            Field("company", 1.0, words(1, 3)),
            Field("place", r.uniform(0.85, 1.0), words(1, 1)),
            Field("salary", r.uniform(0.2, 0.7), salary, 0.06),
            Field("posted", 1.0, iso),
            Field("remote", r.uniform(0.02, 0.2), lambda r: True),
        ]

    def pages(self, day: int) -> list[Page]:
        n = self.r.randint(60, 120) if day % 7 < 5 else self.r.randint(4, 25)
        return self.listed(self.records(n), 25)


class Table(Scraper):
    """A table of always as many rows."""

    breaks = (*Scraper.breaks, "halved")

    def declared(self) -> list[Field]:
        self.rows = self.r.choice((12, 18, 20, 30))
        return [
            Field("team", 1.0, words(1, 2)),
            Field("played", 1.0, lambda r: r.randint(0, 38)),
            Field("points", 1.0, lambda r: r.randint(0, 100)),
            Field("note", 0.1, words(1, 2), 0.08),
        ]

    def pages(self, day: int) -> list[Page]:
        return [Page("parse", self.records(self.rows))]


class Details(Scraper):
    """Lists without items, and a page for each thing, which has some of thirty fields."""

    def declared(self) -> list[Field]:
        r = self.r
        kinds = (words(1, 3), words(8, 60), price, iso, sku, count, url)
        return [Field("name", 1.0, words(2, 5))] + [
            Field(f"spec{n}", min(1.0, r.uniform(0.02, 1.1)), r.choice(kinds), r.uniform(0.0, 0.06)) for n in range(30)
        ]

    def pages(self, day: int) -> list[Page]:
        n = self.r.randint(40, 80)
        return [*([Page("parse", [])] * 4), *self.listed(self.records(n), 1, "detail")]


class Quotes(Scraper):
    """Two kinds of items: ten quotes a page, and some authors; now and then a word from the sponsor."""

    breaks = (*Scraper.breaks, "halved")

    def declared(self) -> list[Field]:
        return [Field("text", 1.0, words(5, 40)), Field("by", 1.0, words(2, 2)), Field("tags", 0.9, lambda r: ["x"])]

    def pages(self, day: int) -> list[Page]:
        r = self.r
        authors = [Field("name", 1.0, words(2, 2)), Field("born", 0.8, iso), Field("bio", 0.7, words(30, 90))]
        made = self.listed(self.records(100, kind="quote"), 10)
        made += self.listed(self.records(r.randint(30, 45), authors, "author"), 1, "author")
        if r.random() < 0.7:
            made[0].records.append(("sponsor", {"name": words(1, 2)(r)}))
        return made


class Events(Scraper):
    """A calendar: it empties as the month goes, and fills again."""

    def declared(self) -> list[Field]:
        r = self.r
        self.first = r.randint(30, 60)
        return [
            Field("title", 1.0, words(2, 8)),
            Field("start", 1.0, iso),
            Field("end", r.uniform(0.3, 0.9), iso, 0.05),
            Field("price", r.uniform(0.3, 0.9), lambda r: "free" if r.random() < 0.4 else price(r), 0.05),
            Field("venue", r.uniform(0.8, 1.0), words(1, 3)),
        ]

    def pages(self, day: int) -> list[Page]:
        return self.listed(self.records(max(8, int(self.first * (1 - day % 14 / 18)))), 25)


KINDS: tuple[type[Scraper], ...] = (News, Catalogue, Jobs, Table, Details, Quotes, Events)


# -- breaks ----------------------------------------------------------------------------------------------------


def broken(how: str, pages: list[Page], past: Sequence[Profile], r: random.Random) -> list[Page] | None:
    """A copy of a run, broken; None if it has nothing that can be broken like that."""
    made = [Page(page.handler, [(k, dict(rec)) for k, rec in page.records], page.size, page.ending) for page in pages]
    if how in ("wall", "blocked"):
        ending = "ok" if how == "wall" else "http_403"
        return [Page(page.handler, [], 3_000, ending) for page in made[: 1 if made[0].records else 4]]
    if how == "halved":
        for page in made:
            page.records = page.records[: (len(page.records) + (r.random() < 0.5)) // 2]
        return made
    names = (
        [
            (kind, name)
            for kind, known in past[0].kinds.items()
            for name, field in known.fields.items()
            if min(each.kinds[kind].fields[name].filled if name in each.kinds[kind].fields else 0 for each in past)
            > 0.6
            and "." not in name
            and (how != "shape" or name in ("price", "sku"))
        ]
        if all(past[0].kinds.keys() <= each.kinds.keys() for each in past)
        else []
    )
    if not names:
        return None
    kind, name = r.choice(names)
    for page in made:
        for of, record in page.records:
            if of == kind and record.get(name) is not None and (how != "half" or r.random() < 0.5):
                record[name] = "Please log in" if how == "shape" else None
    return made


# -- judging ---------------------------------------------------------------------------------------------------


def profile_of(pages: Sequence[Page], day: int) -> Profile:
    """The profile of a run that walked these pages on that day; day 0 is a Monday."""
    handlers: dict[str, HandlerFacts] = {}
    for page in pages:
        if page.ending == "ok":
            known = handlers.get(page.handler, HandlerFacts(0, 0, 0))
            n = len(page.records)
            handlers[page.handler] = HandlerFacts(known.pages + 1, known.giving + (n > 0), known.items + n)
    read = [page.size for page in pages if page.ending == "ok"]
    facts = RunFacts(handlers, sum(read) / max(1, len(read)), [])
    sample = [(kind, "", msgspec.json.encode(record).decode()) for page in pages for kind, record in page.records]
    endings = Counter(page.ending for page in pages)
    return profiles.profile(_run(len(read), len(sample), endings, day), facts, sample, partial=False)


def _run(pages: int, items: int, endings: Counter[str], day: int) -> Run:
    began = (4.5 + day) * 86_400  # 1970 began with a Thursday
    texts = dict.fromkeys(("scraper", "ref", "signature"), "")
    zeros = dict.fromkeys(("ended", "seconds", "settled", "failed", "skipped", "retried", "size"), 0)
    more: Any = {**texts, **zeros, "params": {}, "options": {}, "seeded": True, "reason": "done", "created": began}
    return Run(id=1, state=RunState.FINISHED, pages=pages, items=items, by_reason=dict(endings), **more)


class Tally(msgspec.Struct):
    """What came of it."""

    judged: int = 0
    false: int = 0
    #: Why good runs were suspect, and how often each kind of scraper was.
    why: Counter[str] = msgspec.field(default_factory=Counter)
    #: Break -> how often it was tried, and found.
    tried: Counter[str] = msgspec.field(default_factory=Counter)
    found: Counter[str] = msgspec.field(default_factory=Counter)

    @property
    def false_rate(self) -> float:
        return self.false / max(1, self.judged)

    @property
    def found_rate(self) -> float:
        return self.found.total() / max(1, self.tried.total())


def simulate(scrapers: int, runs: int, seed: int, kinds: Sequence[type[Scraper]] = KINDS) -> Tally:
    """Run so many scrapers, each so often, and count."""
    tally = Tally()
    for n in range(scrapers):
        scraper = kinds[n % len(kinds)](random.Random(f"{seed} {n}"))
        for day, alarm, how in _life(scraper, runs, random.Random(f"{seed} {n} broken")):
            name = type(scraper).__name__.lower()
            if how:
                tally.tried[how] += 1
                tally.found[how] += alarm is not None
                if alarm is None:
                    tally.why[f"missed in {name}: {how}"] += 1
                continue
            tally.judged += 1
            tally.false += alarm is not None
            if alarm is not None:
                told = ", ".join(sorted({f"{f.what} {f.field}".strip() for f in alarm.findings}))
                tally.why[f"false in {name} by day {day}: {told}" if day < 10 else f"false in {name}: {told}"] += 1
    return tally


def _life(scraper: Scraper, runs: int, r: random.Random) -> Iterator[tuple[int, Alarm | None, str]]:
    """Every judged run of a scraper: its day, the alarm, and how it was broken, if it was."""
    past: list[Profile] = []
    learned = False
    for day in range(runs):
        pages = scraper.pages(day)
        profile = profile_of(pages, day)
        learned = learned or len(past) >= drift.ENOUGH
        if learned:
            alarm = drift.judge(profile, past[: drift.COMPARED])
            yield day, alarm, ""
            for how in scraper.breaks:
                bad = broken(how, pages, past[: drift.COMPARED], r)
                if bad is not None:
                    yield day, drift.judge(profile_of(bad, day), past[: drift.COMPARED]), how
            past = [] if alarm is not None else past
        past.insert(0, profile)


def main() -> int:
    """Print both rates; 1 if one of them is worse than promised."""
    parser = argparse.ArgumentParser(description="How often the drift gate is wrong.")
    parser.add_argument("--scrapers", type=int, default=105)
    parser.add_argument("--runs", type=int, default=30, help="runs of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--why", action="store_true", help="say what went wrong, and where")
    args = parser.parse_args()
    tally = simulate(args.scrapers, args.runs, args.seed)
    print(f"good runs: {tally.judged:,} judged, {tally.false} alarms ({tally.false_rate:.2%}; aim: under 1 %)")
    print(f"broken runs: {tally.tried.total():,} judged, {tally.found_rate:.2%} found (aim: over 95 %)")
    for how, n in tally.tried.items():
        print(f"  {how}: {tally.found[how] / n:.2%} of {n:,}")
    for why, n in tally.why.most_common(60) if args.why else ():
        print(f"  {n:5d} x {why}")
    return 0 if tally.false_rate < 0.01 and tally.found_rate > 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
