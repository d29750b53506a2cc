"""The doctor's child: `python -m gossamer.doctor.child`. It reads a Job, and is where code of authors runs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from gossamer import library, redaction, registry, runs, seeding, telemetry, urls
from gossamer.doctor import trying
from gossamer.doctor.jobs import Job, Known, Line, Loaded, Wanted
from gossamer.errors import ConfigError, GossamerError
from gossamer.fetch import browser
from gossamer.reader import Watchdog
from gossamer.registry import Found
from gossamer.settings import ScraperConfig

#: Start requests that are looked at, for their hosts.
MOST_STARTS = 200
#: Hosts of one scraper that are told of.
MOST_HOSTS = 5

#: Seconds that code of authors may take for one thing.
GUARD = 5.0

Tell = Callable[[Line], None]


def main() -> None:
    """Do one job, and end."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    tell = _private_output()
    telemetry.configure("error", "human", lambda text: None)
    if job.do == "load":
        library.wait(load(job, tell))
    else:
        library.wait(trying.try_all(job, tell))
    os._exit(0)  # whatever an author's threads still do


def _private_output() -> Tell:
    """Standard output is ours alone: what authors print goes nowhere."""
    ours = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 0)

    def tell(line: Line) -> None:
        ours.write(msgspec.json.encode(line) + b"\n")
        ours.flush()

    return tell


async def load(job: Job, tell: Tell) -> None:
    """Load all that is wanted, and ask each where it begins."""
    with Watchdog() as watchdog:
        for index, wanted in enumerate(job.wanted):
            tell(Line(begun=index))
            tell(Line(index=index, loaded=await _loaded(index, wanted, job, watchdog, tell)))


async def _loaded(index: int, wanted: Wanted, job: Job, watchdog: Watchdog, tell: Tell) -> Loaded:
    try:
        known = []
        for found in _found(wanted.text, tuple(job.listed)):
            known.append(await _known(found, job, watchdog))
            tell(Line(begun=index))  # it goes on
        return Loaded(wanted, known)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an author's file may raise anything when it is loaded
        told = str(error) if isinstance(error, GossamerError) else f"{type(error).__name__}: {error}"
        return Loaded(wanted, error=redaction.text(told, 600) or "it cannot be loaded")


def _found(text: str, listed: tuple[str, ...]) -> list[Found]:
    """The scrapers that a text means, those of a pack that are paused among them."""
    if text in registry.packs():
        return registry.pack(text)
    if text == registry.ALL:
        return list(registry.registered(listed).values())
    if ":" in text or text.endswith((".py", *registry.RULE_FILES)):
        return registry.load_all(text) if "://" not in text else [registry.find(text, listed)]
    known = registry.registered(listed)
    return [known[text]] if text in known else [registry.find(text, listed)]


async def _known(found: Found, job: Job, watchdog: Watchdog) -> Known:
    scraper = found.scraper
    made = Known(scraper.name, found.ref, scraper.paused)
    try:
        config, lacking = _config(found, job.flags)
    except ConfigError as error:
        return msgspec.structs.replace(made, unclear=str(error))
    starts, unclear = await _starts(found, job.usual.get(scraper.name, {}), watchdog)
    return msgspec.structs.replace(
        made,
        starts=starts,
        unclear=unclear,
        agent=config.user_agent,
        robots=config.robots,
        render=config.render or bool(lacking),
        lacking=lacking,
        proxied=bool(config.proxies),
        stand_ins=config.stand_ins,
        insecure=list(config.insecure_hosts),
    )


def _config(found: Found, flags: dict[str, Any]) -> tuple[ScraperConfig, str]:
    """The settings of a scraper; and what its browser lacks, without which all the rest of it can be looked at."""
    try:
        return runs.plan(found, None, flags).settings.config, ""
    except ConfigError as error:
        if str(error) != browser.missing():
            raise
        return runs.plan(found, None, {**flags, "render": False}).settings.config, str(error)


async def _starts(found: Found, params: dict[str, Any], watchdog: Watchdog) -> tuple[list[str], str]:
    """Where a scraper begins, one URL of each host; or why it cannot say."""
    hosts: dict[str, str] = {}
    try:
        with watchdog.guard("__init__()", GUARD):
            scraper = trying.beginning(found, watchdog, GUARD, MOST_STARTS).scraper(params)
        async with asyncio.timeout(GUARD):
            async for request, _ in seeding.start_requests(scraper, watchdog):
                hosts.setdefault(urls.host(request.url), request.url)
                if len(hosts) >= MOST_HOSTS:
                    break
                await asyncio.sleep(0)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an author's start() may raise anything
        return list(hosts.values()), redaction.text(str(error) or type(error).__name__, 600)
    return list(hosts.values()), ""


if __name__ == "__main__":
    main()
