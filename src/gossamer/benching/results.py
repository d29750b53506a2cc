"""What was measured, as values: what `--json` prints, and what tables and pictures are made of."""

from __future__ import annotations

import os
import platform

import msgspec

from gossamer import __version__

#: What we aim at: so many times the speed of a plain script at so many requests at once, and of page counts a minute.
TIMES_PLAIN = 8.0
AT_ONCE = 10
TIMES_CLAIMED = 20.0


class Took(msgspec.Struct, frozen=True):
    """One engine on one source."""

    #: "requests 2.32.3", "http.client", "gossamer 0.5.0".
    engine: str
    #: "sync" or "async".
    type: str
    seconds: float
    #: Pages that were read, and those that were not.
    pages: int
    failed: int
    items: int

    @property
    def success(self) -> float:
        """The share of pages that were read."""
        return self.pages / (self.pages + self.failed) if self.pages else 0.0


class Compared(msgspec.Struct, frozen=True):
    """One source, read by a plain script and by Gossamer."""

    source: str
    sync: Took
    gossamer: Took

    @property
    def speedup(self) -> float:
        """How many times faster Gossamer was."""
        return self.sync.seconds / self.gossamer.seconds if self.gossamer.seconds else 0.0


class Sized(msgspec.Struct, frozen=True):
    """Pages of one size, through the whole walk: fetched, read, settled."""

    label: str
    bytes: int
    pages: int
    items: int
    seconds: float
    #: Pages a minute that crawlers of this kind promise.
    claimed: int

    @property
    def per_minute(self) -> float:
        """Pages a minute."""
        return 60 * self.pages / self.seconds if self.seconds else 0.0

    @property
    def times(self) -> float:
        """How many times that is what is promised."""
        return self.per_minute / self.claimed


class Aim(msgspec.Struct, frozen=True):
    """Something we want to be, and whether we are."""

    name: str
    wanted: float
    got: float

    @property
    def met(self) -> bool:
        """Whether it is so."""
        return self.got >= self.wanted


class Results(msgspec.Struct, frozen=True):
    """Everything that was measured at one time."""

    machine: str
    latency: float
    concurrency: int
    quick: bool
    #: Processes that wanted a core while it was measured, by the system's count; None: it does not count.
    load: float | None
    #: Per source, the last being all of them side by side.
    sources: list[Compared]
    sizes: list[Sized]

    @property
    def busy(self) -> bool:
        """Whether others wanted the machine at the same time: then nothing here is worth much."""
        return self.load is not None and self.load > (os.cpu_count() or 1)

    @property
    def aims(self) -> list[Aim]:
        """What we aim at, held against what was measured; nothing in a hurry, where waits are short and pages few."""
        if self.quick:
            return []
        found = []
        if self.sources:
            name = f"all sources at {self.concurrency} requests at once, times sync"
            found.append(Aim(name, TIMES_PLAIN, self.sources[-1].speedup))
        times = "pages of {}, times {} a minute"
        return found + [Aim(times.format(s.label, s.claimed), TIMES_CLAIMED, s.times) for s in self.sizes]


def machine() -> str:
    """This machine, in a few words."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    cores = os.cpu_count() or 1
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{cores} cores, {model}, {platform.system()}, {python}, gossamer {__version__}"


def load() -> float | None:
    """How busy the machine is, beyond us: its load of the last minute."""
    try:
        return round(os.getloadavg()[0], 1)
    except OSError:
        return None


def told(results: Results) -> dict[str, object]:
    """The results as JSON has them, with all that follows from them."""
    sources = [
        {
            "source": each.source,
            "speedup": round(each.speedup, 2),
            "sync": {**msgspec.to_builtins(each.sync), "success": round(each.sync.success, 4)},
            "gossamer": {**msgspec.to_builtins(each.gossamer), "success": round(each.gossamer.success, 4)},
        }
        for each in results.sources
    ]
    sizes = [
        {**msgspec.to_builtins(each), "per_minute": round(each.per_minute, 1), "times": round(each.times, 2)}
        for each in results.sizes
    ]
    aims = [{**msgspec.to_builtins(each), "got": round(each.got, 2), "met": each.met} for each in results.aims]
    plain = {name: getattr(results, name) for name in ("machine", "latency", "concurrency", "quick", "load")}
    return {**plain, "sources": sources, "sizes": sizes, "aims": aims}
