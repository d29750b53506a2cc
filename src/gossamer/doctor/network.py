"""The hosts that scrapers begin at: found by name, reached, their certificate good, their robots.txt read."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections.abc import Iterable, Sequence

import msgspec

from gossamer import urls
from gossamer.doctor import machine
from gossamer.doctor.finding import Area, Finding, told
from gossamer.doctor.jobs import Known
from gossamer.errors import AddressRefused, ConnectFailed, FetchError, TimedOut, TlsFailed
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.client import Client
from gossamer.fetch.way import Way
from gossamer.inquiry import MAX_HOPS
from gossamer.polite import robots
from gossamer.settings import USER_AGENT, ScraperConfig
from gossamer.values import REDIRECTS, Request, Response

_area = Area("network")
_robots = Area("robots")

#: Seconds for each step: the name, the connection with its handshake, the robots.txt.
DEADLINE = 5.0
#: Hosts that are asked, and those asked at the same time.
MOST = 100
AT_ONCE = 20


class Target(msgspec.Struct, frozen=True):
    """A host to be looked at, for somebody who begins there."""

    url: str
    #: Whose it is: a scraper, or the command line.
    whose: str
    agent: str = USER_AGENT
    robots: bool = True
    stand_ins: dict[str, str] = {}
    insecure: list[str] = []

    @property
    def host(self) -> str:
        """Its host, with a port if its URL has one."""
        return urls.host(self.url)


def targets(known: Iterable[Known], given: Sequence[str]) -> list[Target]:
    """Every host once: those that were given, then those that scrapers begin at. What goes by a proxy is left out."""
    found = [Target(url, "--host") for url in given]
    for scraper in known:
        if not scraper.proxied:
            found += [
                Target(url, scraper.name, scraper.agent, scraper.robots, scraper.stand_ins, scraper.insecure)
                for url in scraper.starts
            ]
    return list({urls.origin(each.url): each for each in reversed(found)}.values())[::-1]


async def look(hosts: Sequence[Target]) -> list[Finding]:
    """Look at hosts, side by side: one finding for the way to each, one for its robots.txt, one for the clock."""
    if not hosts:
        return [_area.ok("hosts", "no scraper is listed, so there is none to look at; --host HOST looks at one")]
    some = hosts[:MOST]
    room = asyncio.Semaphore(AT_ONCE)
    async with Client() as client:

        async def one(target: Target) -> _Looked:
            async with room:
                return await _look(client, target)

        looked = await asyncio.gather(*(one(each) for each in some))
    if len(some) > 1 and all(each.nowhere for each in looked):
        return [_no_network(some, looked)]
    found = [finding for each in looked for finding in each.findings]
    clocks = [each.clock for each in looked if each.clock is not None]
    if clocks:
        # Where hosts disagree, it is not our clock that is wrong.
        found.append(min(clocks, key=lambda each: ("ok", "warning", "problem").index(each.state)))
    if len(hosts) > MOST:
        found.append(_area.ok("more hosts", f"{len(hosts) - MOST:,} more were not looked at"))
    return found


class _Looked(msgspec.Struct, frozen=True):
    """What a look at one host gave."""

    findings: list[Finding]
    clock: Finding | None = None
    #: It is not on this machine, and there was no way to it.
    nowhere: bool = False


def _no_network(hosts: Sequence[Target], looked: Sequence[_Looked]) -> Finding:
    """One finding for all: it is not the hosts that are to blame."""
    first = hosts[0].host, looked[0].findings[0].text
    return _area.problem(
        "connection",
        f"there is no network: none of {len(hosts):,} hosts can be reached; {': '.join(first)}",
        "check your connection, DNS servers (/etc/resolv.conf), firewall and proxy; --offline looks at all the rest",
    )


async def _look(client: Client, target: Target) -> _Looked:
    asked = urls.stand_in(target.url, target.stand_ins) or target.url
    stands_in = f", which stands in for it: {urls.host(asked)}" if asked != target.url else ""
    host, whose = target.host, f"({target.whose})" if target.whose != "--host" else ""
    began = time.monotonic()
    addresses = await _addresses(urls.hostname(asked))
    if isinstance(addresses, str):
        fix = "check the spelling of its name, your DNS servers (/etc/resolv.conf) and your connection"
        return _Looked([_area.problem(host, f"its name is not found{stands_in}: {addresses} {whose}", fix)], None, True)
    response = await _robots_of(client, target)
    if isinstance(response, ConnectFailed | TlsFailed | TimedOut | AddressRefused):
        away = isinstance(response, ConnectFailed | TimedOut) and not ipaddress.ip_address(addresses[0]).is_loopback
        return _Looked([_area.problem(host, f"{response}{stands_in} {whose}", _fix(response))], None, away)
    took = time.monotonic() - began
    way = "HTTPS" if asked.startswith("https:") else "HTTP"
    fine = _area.ok(host, f"{addresses[0]} answers by {way} after {took:.2f} s{stands_in} {whose}")
    if isinstance(response, FetchError):
        fix = "look at it with a browser; while it cannot be read, the whole host counts as closed"
        return _Looked([fine, _robots.problem(host, f"robots.txt cannot be read: {response}", fix)])
    clock = machine.against(host, response.headers.get("date", ""), time.time())
    return _Looked([fine, _verdict(target, response)], clock)


async def _addresses(name: str) -> list[str] | str:
    """The addresses of a name, or why there are none. Looked up in a thread of its own, which nobody waits for."""
    loop = asyncio.get_running_loop()
    bare = name.strip("[]")
    try:
        async with asyncio.timeout(DEADLINE):
            found = await loop.getaddrinfo(bare, None, type=socket.SOCK_STREAM)
    except TimeoutError:
        return f"no answer within {DEADLINE:g} s"
    except (OSError, UnicodeError) as error:
        return told(error)
    return list(dict.fromkeys(str(each[4][0]) for each in found)) or "it has no address"


async def _robots_of(client: Client, target: Target) -> Response | FetchError:
    """The robots.txt of a host, as every run would ask for it."""
    config = ScraperConfig(
        user_agent=target.agent,
        timeout=DEADLINE,
        first_byte=DEADLINE,
        max_body=robots.MAX_ROBOTS,
        stand_ins=target.stand_ins,
        insecure_hosts=tuple(target.insecure),
    )
    addresses = Addresses(deadline=DEADLINE)
    addresses.allow(target.host)
    url = urls.origin(target.url) + "/robots.txt"
    try:
        for _ in range(MAX_HOPS + 1):
            way = Way(Identity(target.agent), addresses, part=True)
            response = await client.fetch(Request(url), config, way)
            onward = urls.resolve(response.headers.get("location", ""), url) if response.status in REDIRECTS else None
            if onward is None:
                return response
            url = onward
    except FetchError as error:
        return error
    return FetchError(f"{target.host} redirects more than {MAX_HOPS} times")


def _verdict(target: Target, response: Response) -> Finding:
    """What robots.txt says of us."""
    host, agent = target.host, robots.product(target.agent)
    rules = robots.read(response, target.agent)
    said = f"status {response.status}" if response.status >= 300 else "it can be read"
    pause = f", and asks for {rules.delay:g} s between requests" if rules.delay else ""
    why = rules.forbids(target.url)
    if why is None:
        return _robots.ok(host, f"{said}, and lets {agent} begin at {target.url}{pause}")
    if not target.robots:
        return _robots.warning(
            host, f"{why}; robots = false is set for {target.whose}, so it is asked all the same", "ask its owner first"
        )
    if rules.closed is not None:
        return _robots.problem(host, str(why), "wait until the host can answer; until then it counts as closed")
    return _robots.problem(
        host,
        f"{target.url}: {why}",
        "begin at pages that it allows, or ask its owner; `gossamer why URL` tells",
    )


def _fix(error: FetchError) -> str:
    if isinstance(error, TlsFailed):
        return "check the date of this machine; for a host of your own, list it in insecure_hosts"
    if isinstance(error, AddressRefused):
        return "if it is a host of your own network, set allow_private = true"
    return "check your connection, firewall and proxy: `curl -v` to the same host says more"
