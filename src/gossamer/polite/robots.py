"""robots.txt: what an answer to it means, and what it says about a URL."""

from __future__ import annotations

import re
import zlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec
from protego import Protego
from protego._utils import _quote_path

from gossamer import clock, urls
from gossamer.errors import ConfigError
from gossamer.storage.store import RobotsNote
from gossamer.values import Response

#: RFC 9309 asks parsers to read at least 500 KiB; nobody needs more.
MAX_ROBOTS = 500 << 10
#: Sitemaps of one robots.txt that are offered.
MAX_SITEMAPS = 1000
#: Seconds that rules hold (RFC 9309, 2.4), and after which they are asked for again while they still do.
HOLDS = 24 * 3600.0
AGES = 20 * 3600.0
#: Seconds after which a site is asked again whose robots.txt could not be read.
CLOSED_FOR = 600.0
#: Rules kept ready for matching, of all sites together: some 50 MB. The rest waits as compressed text.
KEPT_RULES = 100_000

# Wide enough for the misspellings that Protego takes for Disallow.
_HAS_RULES = re.compile(rb"(?i)dis+al|diasl|crawl.delay|request.rate")
# A name and more behind it: only the name counts (RFC 9309, 2.2.1), which Protego leaves to us.
_LONG_NAME = re.compile(r"(?im)^([^\S\r\n]*user[- ]?agent[^\S\r\n]*:[^\S\r\n]*[a-z_-]+)(?:/|[^\S\r\n]+[^\s#])[^\r\n]*")
_HAS_SITEMAPS = re.compile(rb"(?i)site-?map")
#: Nobody means a longer pause than this, and no clock could add some that are written.
_LONGEST_DELAY = 366 * 86400
#: Letters of a line that are shown.
_SHOWN = 200


class Verdict(msgspec.Struct, frozen=True):
    """What robots.txt says about one URL, and which of its lines decided."""

    allowed: bool
    #: The line as it is written; empty if none decided.
    line: str = ""
    #: Its number, from 1; 0 if no line decided.
    number: int = 0
    #: The name of the group it stands in: ours, or `*`.
    agent: str = ""

    @property
    def because(self) -> str:
        """Such as `line 4: Disallow: /private/`; empty if no line decided."""
        return f"line {self.number}: {self.line}" if self.number else ""


class Robots:
    """The rules of one origin, for one user agent."""

    __slots__ = ("_packed", "_restricts", "agent", "asked", "closed", "delay", "fetched", "reason")

    def __init__(
        self, agent: str, body: bytes = b"", *, closed: str | None = None, fetched: float | None = None
    ) -> None:
        self.agent = product(agent)
        #: A sentence if no rules could be read, and nothing may be fetched.
        self.closed = closed
        #: The one word for that.
        self.reason = "robots_unreachable"
        #: When they were fetched, in seconds since 1970.
        self.fetched = clock.now() if fetched is None else fetched
        #: When they were last asked for in vain.
        self.asked = 0.0
        #: Seconds the site asks us to leave between requests.
        self.delay = 0.0
        #: Whether any URL is forbidden: most files forbid us nothing.
        self._restricts = False
        self._packed: bytes | None = None
        if _HAS_RULES.search(body):
            self._read(body)
        if self._restricts or _HAS_SITEMAPS.search(body):
            self._packed = zlib.compress(body)

    def _read(self, body: bytes) -> None:
        rules = _Rules(_text(body), self.agent)
        self.delay = rules.delay
        self._restricts = rules.count > 0
        if self._restricts:
            _shelf.put(self, rules)

    def _text(self) -> str:
        return _text(zlib.decompress(self._packed)) if self._packed else ""

    def _rules(self) -> _Rules:
        rules = _shelf.get(self)
        if rules is None:
            rules = _Rules(self._text(), self.agent)
            _shelf.put(self, rules)
        return rules

    # -- what they say -----------------------------------------------------------------------------------------

    def allows(self, url: str) -> bool:
        """Whether a URL may be fetched."""
        if self.closed is not None:
            return False
        return not self._restricts or self._rules().allows(url)

    def forbids(self, url: str) -> str | None:
        """A sentence if the URL may not be fetched, else None."""
        if self.allows(url):
            return None
        if self.closed is not None:
            return self.closed
        because = self.verdict(url).because
        return f"robots.txt does not allow it for {self.agent}" + (f" ({because})" if because else "")

    def verdict(self, url: str) -> Verdict:
        """Whether a URL may be fetched, and the line that decided."""
        if self.closed is not None or not self._restricts:
            return Verdict(self.closed is None)
        return self._rules().verdict(url, self._text)

    @property
    def sitemaps(self) -> list[str]:
        """The sitemaps it names: absolute http(s) URLs, each once, 1000 at most."""
        found: dict[str, None] = {}
        for value in Protego.parse(self._text()).sitemaps if self._packed else ():
            url = _absolute(value)
            if url is not None:
                found[url] = None
            if len(found) >= MAX_SITEMAPS:
                break
        return list(found)

    # -- their age ---------------------------------------------------------------------------------------------

    def expired(self, now: float) -> bool:
        """Whether they hold no more. Rules from the future come of a clock set back: nobody knows their age."""
        holds = HOLDS if self.closed is None else CLOSED_FOR
        return not -60 <= now - self.fetched < holds

    def aging(self, now: float) -> bool:
        """Whether it is time to ask for them again, while they still hold."""
        return self.closed is None and now - self.fetched >= AGES and now - self.asked >= CLOSED_FOR


class _Rules:
    """One robots.txt made ready for matching, for one user agent."""

    __slots__ = ("_agent", "_lines", "_numbers", "_protego", "_set", "count", "delay", "group")

    def __init__(self, text: str, agent: str) -> None:
        self._agent = agent
        self._protego = parsed = Protego.parse(_named(text))
        # The name as a whole (RFC 9309, 2.2.1): Protego would take a group for `go` as one for us.
        ours = parsed._user_agents.get(agent.lower()) or parsed._user_agents.get("*")
        parsed._matched_rule_set[agent] = ours
        #: The name of our group, and how many rules it has.
        self.group = (ours.user_agent or "") if ours is not None else ""
        self.count = len(ours._rules) if ours is not None else 0
        self._set = ours
        # Other people's rules often take nine tenths of the memory, and are of no use to us.
        parsed._user_agents = {self.group: ours} if ours is not None else {}
        parsed._url_patterns = {}
        self.delay = self._delay()
        #: Where our rules stand, and the lines that decided so far: found when they are first asked for.
        self._numbers: dict[tuple[str, str], int] | None = None
        self._lines: dict[int, str] = {}

    def _delay(self) -> float:
        delay = self._protego.crawl_delay(self._agent) or 0.0
        asked = self._protego.request_rate(self._agent)
        rate = min(asked.seconds, _LONGEST_DELAY) / asked.requests if asked else 0.0
        return float(min(max(delay, rate), _LONGEST_DELAY))

    def allows(self, url: str) -> bool:
        return bool(self._protego.can_fetch(url, self._agent))

    def verdict(self, url: str, text: Callable[[], str]) -> Verdict:
        """Whether a URL may be fetched, and why. `text` gives the file, if it is needed."""
        allowed, path = self.allows(url), _quote_path(url)
        for rule in self._set._rules if self._set is not None else ():
            if rule.value.match(path):
                # /robots.txt is allowed whatever is written: then no line decides.
                if (rule.field == "allow") != allowed:
                    break
                number, line = self._line((rule.field, rule.value._pattern), text)
                return Verdict(allowed, line, number, self.group)
        return Verdict(allowed)

    def _line(self, rule: tuple[str, str], text: Callable[[], str]) -> tuple[int, str]:
        """Where a rule stands, and what is written there."""
        if self._numbers is None:
            self._numbers = _Numbered.read(text(), self.group)
        number = self._numbers[rule]
        if number not in self._lines:
            line = "".join(c if c.isprintable() else " " for c in text().splitlines()[number - 1])
            self._lines[number] = line.strip()[:_SHOWN]
        return number, self._lines[number]


class _Numbered(Protego):
    """Protego that notes the line of every rule: it does not keep them itself."""

    @classmethod
    def read(cls, text: str, group: str) -> dict[tuple[str, str], int]:
        """Where the rules of a group stand: (field, pattern) -> the first line that says so."""
        rules: Any = cls.parse(_named(text))._user_agents[group]._rules
        lines: dict[tuple[str, str], int] = rules.lines
        return lines

    def __init__(self) -> None:
        super().__init__()
        self._user_agents = _Groups(self)


class _Groups(dict[str, Any]):
    """The groups of a file being parsed; each notes its lines."""

    def __init__(self, parser: Protego) -> None:
        super().__init__()
        self._parser = parser

    def __setitem__(self, name: str, group: Any) -> None:
        group._rules = _Noted(self._parser)
        super().__setitem__(name, group)


class _Noted(list[Any]):
    """The rules of one group, and the line that each came from."""

    def __init__(self, parser: Protego) -> None:
        super().__init__()
        self._parser = parser
        self.lines: dict[tuple[str, str], int] = {}

    def append(self, rule: Any) -> None:
        super().append(rule)
        self.lines.setdefault((rule.field, rule.value._pattern), self._parser._total_line_seen)


class _Shelf:
    """The rules used last, up to a number of them: what 500 KB of text become takes 9 MB."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rules: OrderedDict[Robots, _Rules] = OrderedDict()
        self.count = 0

    def get(self, robots: Robots) -> _Rules | None:
        rules = self._rules.get(robots)
        if rules is not None:
            self._rules.move_to_end(robots)
        return rules

    def put(self, robots: Robots, rules: _Rules) -> None:
        self._rules[robots] = rules
        self.count += rules.count + 1
        while self.count > self._most and len(self._rules) > 1:
            self.count -= self._rules.popitem(last=False)[1].count + 1


_shelf = _Shelf(KEPT_RULES)


def product(user_agent: str) -> str:
    """The name robots.txt knows us by: `gossamer` of `gossamer/1.0 (+url)`."""
    return re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0] or "gossamer"


def is_answer(response: Response) -> bool:
    """Whether an answer to /robots.txt says anything: trouble does not, and asks to come again."""
    return response.status < 500 and response.status != 429


def read(response: Response, agent: str) -> Robots:
    """What an answer to /robots.txt means (RFC 9309, 2.3.1): 2xx are rules, 4xx silence, trouble closes the site."""
    if not is_answer(response):
        closed = f"status {response.status}: {response.url} could not be read, so the site counts as closed"
        return Robots(agent, closed=closed, fetched=response.started)
    if 200 <= response.status < 300:
        return Robots(agent, response.body[:MAX_ROBOTS], fetched=response.started)
    return Robots(agent, fetched=response.started)


def of(note: RobotsNote, agent: str) -> Robots:
    """The rules in a robots.txt that the store kept."""
    body = note.body[:MAX_ROBOTS] if 200 <= note.status < 300 else b""
    return Robots(agent, body, closed=note.closed, fetched=note.checked)


def _text(body: bytes) -> str:
    return body.decode("utf-8-sig", "replace")


def _named(text: str) -> str:
    return _LONG_NAME.sub(r"\1", text)


def _absolute(value: str) -> str | None:
    if not value.lower().startswith(("http://", "https://")):
        return None
    try:
        url = urls.absolute(value)
    except ConfigError:
        return None
    return url if len(url) <= urls.LONGEST else None
