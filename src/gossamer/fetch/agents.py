"""Who we say we are: an honest name, or a browser whose headers and TLS handshake agree.

A browser is played by wreq, which sends that browser's headers itself: what is known here is only what its
profiles are called, and the user agent each of them sends. robots.txt is read for `user_agent` all the same.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Sequence
from functools import cache

import msgspec
import wreq

from gossamer.errors import ConfigError
from gossamer.settings import ScraperConfig

HONEST = "honest"
RANDOM = "random"
#: Versions of each browser that count as current.
CURRENT = 2

#: Where each browser is found; the first is what it is found on most.
_PLATFORMS = {
    "chrome": ("Windows", "MacOS", "Linux"),
    "edge": ("Windows", "MacOS"),
    "firefox": ("Windows", "MacOS", "Linux"),
    "safari": ("MacOS",),
}
_PROFILE = re.compile(r"(Chrome|Edge|Firefox|Safari)([0-9]+(?:_[0-9]+)*)")
_SYSTEMS = {
    "Windows": "Windows NT 10.0; Win64; x64",
    "MacOS": "Macintosh; Intel Mac OS X 10_15_7",
    "Linux": "X11; Linux x86_64",
}
#: Firefox writes two of them its own way.
_FIREFOX_SYSTEMS = _SYSTEMS | {"MacOS": "Macintosh; Intel Mac OS X 10.15", "Linux": "X11; Ubuntu; Linux x86_64"}


class Identity(msgspec.Struct, frozen=True):
    """One way to introduce ourselves."""

    #: For a browser, wreq sends it, with the browser's other headers and in the browser's order.
    user_agent: str
    #: The browser that TLS, HTTP/2 and headers are taken from, as "Chrome149/Windows"; None: nobody but us.
    browser: str | None = None


class Rotation:
    """Identities to take turns with."""

    def __init__(self, choices: Sequence[Identity], seed: int | None = None) -> None:
        self.choices = tuple(choices)
        # None: everyone begins with the first.
        self._seed = seed

    def pick(self, session: str | None, attempts: int, host: str) -> Identity:
        """The identity of a session, or of a host; the next one after each of `attempts` that was blocked."""
        if len(self.choices) == 1:
            return self.choices[0]
        return self.choices[(self._first(session, host) + attempts) % len(self.choices)]

    def _first(self, session: str | None, host: str) -> int:
        if self._seed is None:
            return 0
        whose = f"{self._seed} host {host}" if session is None else f"{self._seed} session {session}"
        digest = hashlib.blake2b(whose.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big")


def identities(config: ScraperConfig, seed: int | None = None) -> Rotation:
    """The identities that a scraper asks for. The same seed gives the same ones to the same hosts and sessions.

    Raises ConfigError where what it asks for does not agree.
    """
    if config.identity != HONEST and config.user_agents:
        raise ConfigError(
            f"user_agents and identity = {config.identity!r} do not agree: a browser's TLS handshake with another "
            "user agent is easily told; leave one of them out, or write user_agents = [] next to the other"
        )
    if seed is None:
        seed = random.getrandbits(63)
    if config.user_agents:
        return Rotation([Identity(agent) for agent in config.user_agents], seed)
    if config.identity == HONEST:
        return Rotation([Identity(config.user_agent)])
    if config.identity == RANDOM:
        return Rotation([each for browser in _PLATFORMS for each in _played(browser, CURRENT)], seed)
    return Rotation(_played(config.identity, 1))


def emulation_name(browser: str) -> str:
    """What wreq.Profile calls a browser: `Chrome149` for "Chrome149/Windows", the newest for "chrome"."""
    name = browser.partition("/")[0]
    return name if _PROFILE.fullmatch(name) else _newest(name)[0]


def platform_name(browser: str) -> str:
    """What wreq.Platform calls the system a browser runs on."""
    name, _, platform = browser.partition("/")
    return platform or _PLATFORMS[name.rstrip("0123456789_").lower()][0]


def _played(browser: str, versions: int) -> list[Identity]:
    """The newest versions of a browser, on each system it is found on."""
    return [
        Identity(_user_agent(profile, platform), f"{profile}/{platform}")
        for profile in _newest(browser)[:versions]
        for platform in _PLATFORMS[browser]
    ]


@cache
def _newest(browser: str) -> tuple[str, ...]:
    """wreq's profiles of a desktop browser, the newest first."""
    found = [name for name in dir(wreq.Profile) if _PROFILE.fullmatch(name) and _parts(name)[0].lower() == browser]
    return tuple(sorted(found, key=lambda name: _parts(name)[1], reverse=True))


def _parts(profile: str) -> tuple[str, tuple[int, ...]]:
    """The browser and the version of a profile: ("Safari", (26, 4)) for Safari26_4."""
    browser = profile.rstrip("0123456789_")
    return browser, tuple(map(int, profile.removeprefix(browser).split("_")))


def _user_agent(profile: str, platform: str) -> str:
    """The user agent that wreq sends for a profile."""
    browser, version = _parts(profile)
    major, system = version[0], _SYSTEMS[platform]
    if browser == "Firefox":
        return f"Mozilla/5.0 ({_FIREFOX_SYSTEMS[platform]}; rv:{major}.0) Gecko/20100101 Firefox/{major}.0"
    if browser == "Safari":
        shown = ".".join(map(str, version if len(version) > 1 else (major, 0)))
        return f"Mozilla/5.0 ({system}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{shown} Safari/605.1.15"
    agent = f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
    return f"{agent} Edg/{major}.0.0.0" if browser == "Edge" else agent
