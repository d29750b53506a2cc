"""The cookies that sites gave us, by RFC 6265bis: what they may set, and what they get back.

Two choices of ours, where RFC 6265 and the later draft differ: a cookie without a name is not kept, and a header
ends at a NUL or a line end. HttpOnly and SameSite are rules for pages in a browser; they mean nothing here.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from gossamer import clock, urls

#: Bytes of a name and its value together.
LARGEST = 4096
#: Cookies kept for one domain, and in one jar; the one set longest ago makes room.
MOST_OF_DOMAIN = 50
MOST = 3000
#: Bytes that one jar takes, about; the cookies set longest ago make room.
HEAVIEST = 4 << 20
#: Headers of one answer that are looked at, and the characters of one of them.
MOST_AT_ONCE = 256
LONGEST_HEADER = 4 * LARGEST
#: A longer attribute is as good as not written.
LONGEST_ATTRIBUTE = 1024
#: What a cookie takes in memory besides its text, about.
OVERHEAD = 512

_BLANK = " \t"
_END = re.compile(r"[\0\r\n]")
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MAX_AGE = re.compile(r"-?[0-9]+")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_DATE_PART = re.compile(r"[^\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])")
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Cookie(msgspec.Struct):
    """One cookie as it is kept. Its value may be a login: it is never shown."""

    name: str
    value: str
    domain: str
    path: str
    #: Goes back to the very host that set it, not to those below.
    host_only: bool
    #: Goes out over https alone.
    secure: bool
    #: When it ends, in seconds since 1970; infinity: with the jar.
    expires: float
    #: Grows with every new cookie of a jar.
    made: int = 0

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """What makes another cookie this one, set again."""
        return self.domain, self.name, self.path, self.host_only

    @property
    def weight(self) -> int:
        """The memory it takes, about."""
        return len(self.name) + len(self.value) + len(self.path) + len(self.domain) + OVERHEAD

    def __repr__(self) -> str:
        return f"Cookie({self.name!r} of {self.domain}{self.path})"


class _Place(msgspec.Struct, frozen=True):
    """What cookies see of a URL."""

    host: str
    path: str
    secure: bool

    @classmethod
    def of(cls, url: str) -> _Place:
        start = url.find("/", 8)
        path = url[start:].partition("?")[0].partition("#")[0] if start > 0 else "/"
        return cls(urls.hostname(url).lower(), _same_escapes(path), url.startswith("https:"))


class Jar:
    """Cookies of one session, in memory only. URLs are in the form that `urls` gives them.

    >>> jar = Jar()
    >>> jar.take(["id=7; Path=/shop"], "https://a.org/shop/cart")
    >>> jar.header("https://a.org/shop/"), jar.header("https://a.org/")
    ('id=7', '')
    """

    __slots__ = ("_all", "_domains", "_made", "weight")

    def __init__(self) -> None:
        # Both in the order in which cookies were last set: the first makes room.
        self._all: dict[tuple[str, str, str, bool], Cookie] = {}
        self._domains: dict[str, dict[tuple[str, str, str, bool], Cookie]] = {}
        self._made = 0
        #: The memory its cookies take, about.
        self.weight = 0

    def __len__(self) -> int:
        return len(self._all)

    def __bool__(self) -> bool:
        return bool(self._all)

    def __repr__(self) -> str:
        return f"Jar({len(self)} cookies)"

    def take(self, set_cookies: Iterable[str], url: str) -> None:
        """Keep what the `Set-Cookie` headers of an answer from `url` say. What they may not say is left out."""
        place, now = _Place.of(url), clock.now()
        for header in islice(set_cookies, MOST_AT_ONCE):
            cookie = _read(header, place, now)
            if cookie is not None and not (self and self._shadows(cookie, place)):
                self._keep(cookie, now)

    def header(self, url: str) -> str:
        """The `Cookie` header for a request to `url`; empty if there is none to send."""
        if not self._all:
            return ""
        place, now = _Place.of(url), clock.now()
        sent = []
        for cookie in list(self._seen_by(place.host)):
            if cookie.expires <= now:
                self._drop(cookie)
            elif (place.secure or not cookie.secure) and _path_matches(place.path, cookie.path):
                sent.append(cookie)
        sent.sort(key=lambda cookie: (-len(cookie.path), cookie.made))
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in sent)

    def forget(self, host: str) -> None:
        """Drop every cookie that would go to a host (its port does not matter)."""
        for cookie in list(self._seen_by(urls.hostname(f"http://{host}").lower())):
            self._drop(cookie)

    def _keep(self, cookie: Cookie, now: float) -> None:
        before = self._all.get(cookie.key)
        if before is not None:
            cookie.made = before.made
            self._drop(before)
        else:
            self._made += 1
            cookie.made = self._made
        if cookie.expires <= now:
            return
        same = self._domains.get(cookie.domain)
        if same is not None and len(same) >= MOST_OF_DOMAIN:
            self._drop(next((old for old in same.values() if old.expires <= now), next(iter(same.values()))))
        if len(self._all) >= MOST:
            self._drop(next(iter(self._all.values())))
        self._all[cookie.key] = self._domains.setdefault(cookie.domain, {})[cookie.key] = cookie
        self.weight += cookie.weight
        while self.weight > HEAVIEST:
            self._drop(next(iter(self._all.values())))

    def _drop(self, cookie: Cookie) -> None:
        del self._all[cookie.key]
        self.weight -= cookie.weight
        same = self._domains[cookie.domain]
        del same[cookie.key]
        if not same:
            del self._domains[cookie.domain]

    def _seen_by(self, host: str) -> Iterator[Cookie]:
        """The cookies of a host and of the domains above it."""
        domain = host
        while domain:
            for cookie in self._domains.get(domain, {}).values():
                if domain == host or not cookie.host_only:
                    yield cookie
            domain = domain.partition(".")[2]

    def _shadows(self, cookie: Cookie, place: _Place) -> bool:
        """Whether it came over http, and would hide a cookie that came over https."""
        return not place.secure and any(
            old.secure and old.name == cookie.name and _path_matches(cookie.path, old.path)
            for old in self._seen_by(place.host)
        )


# -- reading a header --------------------------------------------------------------------------------------------


def _read(header: str, place: _Place, now: float) -> Cookie | None:
    """The cookie that a header sets; None if it is not one, or may not be set from there."""
    if len(header) > LONGEST_HEADER:
        return None
    header = _END.split(header, 1)[0]
    pair, *rest = header.split(";")
    name, _, value = (part.strip(_BLANK) for part in pair.partition("="))
    if not name or "=" not in pair or _CONTROL.search(header) or _size(name + value) > LARGEST:
        return None
    told, expires = _attributes(rest, now)
    domain = _domain(told.get("domain", ""), place.host)
    if domain is None:
        return None
    path = told.get("path", "")
    cookie = Cookie(
        name,
        value,
        domain or place.host,
        _same_escapes(path) if path.startswith("/") else _default_path(place.path),
        host_only=not domain,
        secure="secure" in told,
        expires=expires,
    )
    return cookie if _keeps_promises(cookie, place, has_path="path" in told) else None


def _attributes(parts: list[str], now: float) -> tuple[dict[str, str], float]:
    """The attributes, the last of each name, and when the cookie ends."""
    told: dict[str, str] = {}
    max_age = expires = None
    for part in parts:
        name, _, value = (side.strip(_BLANK) for side in part.partition("="))
        name = name.lower()
        if len(value) > LONGEST_ATTRIBUTE:
            continue
        if name == "max-age":
            max_age = now + _seconds(value) if _MAX_AGE.fullmatch(value) else max_age
        elif name == "expires":
            date = read_date(value)
            expires = expires if date is None else date
        else:
            told[name] = value
    if max_age is not None:
        return told, max_age
    return told, math.inf if expires is None else expires


def _seconds(digits: str) -> float:
    if digits.startswith("-"):
        return -math.inf
    # Nobody lives to see the end of a longer number, and the longest would be none that a float can hold.
    return float(digits) or -math.inf if len(digits) < 16 else math.inf


def _domain(told: str, host: str) -> str | None:
    """The domain a cookie is for; empty: its host alone; None: one that this host may not speak for."""
    domain = told.removeprefix(".").lower()
    if not domain:
        return ""
    if not _domain_matches(host, domain):
        return None
    if not _is_address(host) and _is_public_suffix(domain):
        return "" if domain == host else None
    return domain


def _domain_matches(host: str, domain: str) -> bool:
    return host == domain or (host.endswith("." + domain) and not _is_address(host))


def _is_address(host: str) -> bool:
    return host.startswith("[") or host.replace(".", "").isdigit()


def _is_public_suffix(domain: str) -> bool:
    """Whether anybody can register a name below it, as under com and co.uk."""
    below = "x." + domain.rstrip(".")
    return urls.registered_domain(below) == below


def _keeps_promises(cookie: Cookie, place: _Place, *, has_path: bool) -> bool:
    """Secure cookies come over https; names that promise how a cookie was set are held to it."""
    if cookie.secure and not place.secure:
        return False
    name = cookie.name.lower()
    if name.startswith("__secure-"):
        return cookie.secure
    if name.startswith("__host-"):
        return cookie.secure and cookie.host_only and has_path and cookie.path == "/"
    return True


def _size(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:  # half a character, which cannot be sent
        return LARGEST + 1


# -- paths and dates ---------------------------------------------------------------------------------------------


def _default_path(path: str) -> str:
    """The folder of a page.

    >>> _default_path("/a/b.html"), _default_path("/b.html")
    ('/a', '/')
    """
    return path[: path.rfind("/")] or "/"


def _path_matches(path: str, folder: str) -> bool:
    return path.startswith(folder) and (len(path) == len(folder) or folder[-1] == "/" or path[len(folder)] == "/")


def _same_escapes(path: str) -> str:
    """A path with the escapes undone that nothing needs: `/f%6Fo` is `/foo`."""
    return _ESCAPE.sub(_unescaped, path) if "%" in path else path


def _unescaped(match: re.Match[str]) -> str:
    letter = chr(int(match[1], 16))
    return letter if letter.isascii() and (letter.isalnum() or letter in "-._~") else match[0]


def read_date(text: str) -> float | None:
    """A cookie's date, in whatever order and style it is written, in seconds since 1970; None if it is none.

    >>> read_date("Thu, 01-Jan-70 00:01:00 GMT"), read_date("1970 1 January 0:1:0"), read_date("soon")
    (60.0, 60.0, None)
    """
    when: tuple[int, int, int] | None = None
    day = month = year = -1
    for part in _DATE_PART.findall(text[:LONGEST_ATTRIBUTE]):
        if when is None and (found := _CLOCK.match(part)):
            when = int(found[1]), int(found[2]), int(found[3])
        elif day < 0 and (found := _DAY.match(part)):
            day = int(found[1])
        elif month < 0 and part[:3].lower() in _MONTHS:
            month = _MONTHS.index(part[:3].lower()) + 1
        elif year < 0 and (found := _YEAR.match(part)):
            year = int(found[1])
    if when is None:
        return None
    if 0 <= year < 100:
        year += 1900 if year >= 70 else 2000
    if year < 1601:
        return None
    hour, minute, second = when
    try:
        return datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.UTC).timestamp()
    except ValueError:  # no day or month, 30 February, 25 o'clock
        return None
