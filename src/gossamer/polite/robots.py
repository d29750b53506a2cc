"""robots.txt: what an answer to it means, and what it says about a URL."""

from __future__ import annotations

import re

from protego import Protego

from gossamer.values import Response

#: RFC 9309 asks parsers to read at least 500 KiB; nobody needs more.
MAX_ROBOTS = 500 << 10

# Wide enough for the misspellings that Protego takes for Disallow.
_HAS_RULES = re.compile(rb"(?i)dis+al|diasl|crawl.delay|request.rate")
#: Nobody means a longer pause than this, and no clock could add some that are written.
_LONGEST_DELAY = 366 * 86400


class Robots:
    """The rules of one origin, for one user agent."""

    __slots__ = ("_rules", "agent", "closed", "delay")

    def __init__(self, agent: str, body: bytes = b"", *, closed: str | None = None) -> None:
        self.agent = product(agent)
        #: A sentence if no rules could be read, and nothing may be fetched.
        self.closed = closed
        # Most files forbid nothing: then no URL need be matched against them.
        self._rules = Protego.parse(body.decode("utf-8-sig", "replace")) if _HAS_RULES.search(body) else None
        #: Seconds the site asks us to leave between requests.
        self.delay = self._delay()

    def _delay(self) -> float:
        if self._rules is None:
            return 0.0
        delay = self._rules.crawl_delay(self.agent) or 0.0
        asked = self._rules.request_rate(self.agent)
        rate = min(asked.seconds, _LONGEST_DELAY) / asked.requests if asked else 0.0
        return float(min(max(delay, rate), _LONGEST_DELAY))

    def forbids(self, url: str) -> str | None:
        """A sentence if the URL may not be fetched, else None."""
        if self.closed is not None:
            return self.closed
        if self._rules is None or self._rules.can_fetch(url, self.agent):
            return None
        return f"robots.txt does not allow it for {self.agent}"


def product(user_agent: str) -> str:
    """The name robots.txt knows us by: `gossamer` of `gossamer/1.0 (+url)`."""
    return re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0] or "gossamer"


def read(response: Response, agent: str) -> Robots:
    """What an answer to /robots.txt means (RFC 9309, 2.3.1): 2xx are rules, anything below 500 is silence.

    A 5xx is no answer: the caller asks again, and treats the site as closed until it gets one.
    """
    if 200 <= response.status < 300:
        return Robots(agent, response.body[:MAX_ROBOTS])
    return Robots(agent)
