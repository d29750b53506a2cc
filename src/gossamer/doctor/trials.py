"""`gossamer doctor --scrapers`: every scraper on one page, and what to do about those that brought nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from gossamer import registry, terminal
from gossamer.doctor import examine, parent
from gossamer.doctor.finding import plain
from gossamer.doctor.jobs import Job, Known, Loaded, Trial, Wanted
from gossamer.errors import ConfigError
from gossamer.settings import Settings

#: What need not be mended: it works, or nobody asked for it to.
FINE = ("ok", "paused", "needs")

#: What to do, by how a trial ended.
_FIXES = {
    "ok": "",
    "paused": "name it to try it all the same: gossamer doctor --scrapers {name}",
    "needs": "give it that: gossamer doctor --scrapers {name} --param K=V",
    "empty": "see what is on the page: gossamer try {url} --scraper {name}",
    "rejected": "see what its records lack: gossamer try {url} --scraper {name}",
    "not_loaded": "mend it, or take it out of scrapers in gossamer.toml",
    "crashed": "mend the scraper: no code of a scraper may end its process, or block it for good",
    "blocked": "slow down, ask for access, or use another identity or a proxy",
    "robots": "begin at a page that it allows, or ask the site's owner",
    "robots_unreachable": "try again later, or see what is wrong: gossamer doctor --host {host}",
    "timeout": "try again, or give it more time: --deadline 3m",
    "first_byte": "try again later, or raise first_byte",
    "connect": "see what is wrong: gossamer doctor --host {host}",
    "tls": "see what is wrong: gossamer doctor --host {host}",
    "proxy": "see which are alive: gossamer proxies check",
    "address": "if that address is right, set allow_private = true",
    "handler": "see what is on the page: gossamer try {url} --scraper {name}",
    "handler_timeout": "mend its handler, or raise handler_timeout",
    "render": "see what is wrong with the browser: gossamer doctor",
    "browser": "{how}",
    "held": "try again later",
    "config": "mend the scraper or its settings",
    "error": "mend the scraper",
}
_OF_STATUSES = {"4": "see whether the page has moved: gossamer try {url}", "5": "try again later"}
_OTHERWISE = "see what came: gossamer try {url}"
#: On the demo sites, what would lead to the real ones is another.
_ON_DEMO_SITES = {
    "paused": "name it to try it all the same: gossamer doctor --scrapers {name} --demo",
    "needs": "give it that: gossamer doctor --scrapers {name} --demo --param K=V",
}
_ON_DEMO = "see what came: gossamer run {name} --demo --dry-run --max-items 5"
#: These have nothing to do with the site.
_ANYWHERE = ("ok", "not_loaded", "crashed", "timeout", "handler_timeout", "render", "browser", "config", "error")


async def trials(
    read: Settings,
    names: Sequence[str],
    *,
    demo: bool = False,
    params: Mapping[str, str] | None = None,
    deadline: float = 60.0,
    say: Callable[[str], None] = lambda text: None,
) -> list[Trial]:
    """Try scrapers: those that are named, or all that are known by name. Raises ConfigError if there are none."""
    with ExitStack() as stack:
        flags: dict[str, Any] = {}
        if demo:
            from gossamer.demo import packs

            flags = stack.enter_context(packs.PackSites()).knobs()
        say("the scrapers that are listed")
        loaded, asked_by_name = await _loaded(read, names, demo=demo, flags=flags)
        known = [each for some in loaded for each in some.scrapers]
        foreign = [each.name for each in known if demo and not each.ref.startswith("gossamer.packs.")]
        if foreign:
            raise ConfigError(
                f"there are no demo sites for {foreign[0]}: --demo is for the packs that come with Gossamer"
            )
        usual = _usual(known) if demo else {}
        job = Job(
            "try", flags=flags, params=dict(params or {}), usual=usual, deadline=deadline, tries=10 if demo else 3
        )
        done = [_broken(some) for some in loaded if some.error]
        left = [each for each in known if each.paused and each.name not in asked_by_name]
        tried = [each for each in known if each not in left]
        say(f"{terminal.many(len(tried), 'scraper')}, on one page each")
        done += [Trial(each.name, "paused", why=each.paused) for each in left]
        done += await parent.attempt(tried, job) if tried else []
        return sorted(done, key=lambda each: each.name)


async def _loaded(
    read: Settings, names: Sequence[str], *, demo: bool, flags: Mapping[str, Any]
) -> tuple[list[Loaded], set[str]]:
    """What is to be tried, and the names that were typed."""
    listed = await examine.load_listed(read) if not demo or names else []
    chosen = list(names) or (registry.packs() if demo else [])
    if not chosen:
        if not listed:
            packs = " ".join(registry.packs())
            raise ConfigError(
                'no scraper is listed: list yours in gossamer.toml, like scrapers = ["quotes.py"], '
                f"or name some: gossamer doctor --scrapers {packs or 'quotes.py'}"
            )
        return _each_once(listed), set()
    good = [some.wanted.text for some in listed if not some.error and some.wanted.text in read.place.scrapers]
    wanted = [Wanted(name, name) for name in chosen]
    loaded = await parent.load(wanted, listed=good, flags=dict(flags))
    return _each_once(loaded), set(names)


def _each_once(loaded: Iterable[Loaded]) -> list[Loaded]:
    """A scraper that was named twice is tried once."""
    seen: set[tuple[str, str]] = set()
    made = []
    for some in loaded:
        new = [each for each in some.scrapers if (each.name, each.ref) not in seen]
        seen |= {(each.name, each.ref) for each in new}
        made.append(Loaded(some.wanted, new, some.error))
    return made


def _usual(known: Iterable[Known]) -> dict[str, dict[str, str]]:
    """What scrapers are asked for on the demo sites."""
    from gossamer.demo import art, jobs, nba

    told = {name: dict(given) for each in (art, jobs, nba) for name, given in each.PARAMS.items()}
    return {each.name: told[each.name] for each in known if each.name in told}


def _broken(some: Loaded) -> Trial:
    return Trial(some.wanted.label, "not_loaded", why=some.error)


def seen(trial: Trial) -> str:
    """What is worth a word about how a trial went."""
    if trial.status == "empty":
        return "the page was read, and gave neither items nor links"
    if trial.status == "browser":
        return plain(f"it needs a browser: {trial.why.partition(': ')[0]}")
    if trial.status != "ok":
        return plain(trial.why)
    some = ", ".join(trial.never[:6]) + (" ..." if len(trial.never) > 6 else "")
    notes = [f"never filled: {some}" if some else "", f"{trial.rejected:,} rejected" if trial.rejected else ""]
    return plain("; ".join(filter(None, notes)))


def fix(trial: Trial, *, demo: bool = False) -> str:
    """What to do about it, in a sentence; empty: nothing. On the demo sites, it stays there."""
    how = _FIXES.get(trial.status)
    if demo and trial.status not in _ANYWHERE:
        how = _ON_DEMO_SITES.get(trial.status, _ON_DEMO)
    if how is None:
        number = trial.status.removeprefix("http_")
        how = _OF_STATUSES.get(number[:1], _OTHERWISE) if number.isdecimal() else _OTHERWISE
    host = trial.url.partition("://")[2].partition("/")[0]
    place = {"name": trial.name, "url": trial.url or "URL", "host": host or "HOST"}
    quoted = {key: shlex.quote(value) for key, value in place.items()}
    return plain(how.format(**quoted, how=trial.why.partition(": ")[2]))
