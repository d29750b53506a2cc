"""One proxy: read as people write it, and shown without its credentials."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote

import ada_url
import msgspec

from gossamer.errors import ConfigError

#: The kinds of proxies, and the port each is at if its URL names none. socks5h: the proxy looks names up.
SCHEMES = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
#: A longer text is no proxy.
LONGEST = 2048

_HOW = "write http://user:password@host:port, socks5://host:port, host:port or host:port:user:password"
_FOUR_FIELDS = re.compile(r"(\[[^\]]*\]|[^:@/\s]+):(\d{1,5}):([^:]*):(.*)")
_PLACE = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:@/?#\\\[\]%\s]+)(?::(\d{1,5}))?/?")
_WORD = re.compile(r"[a-z][a-z0-9+-]{0,11}")


class Proxy(msgspec.Struct, frozen=True):
    """One proxy. Its label is safe to log; its URL, which may hold a password, is not.

    >>> Proxy.of("10.1.2.3:8080:ann:s3cret")
    Proxy(http://10.1.2.3:8080)
    """

    #: scheme://user:password@host:port in its normal form: lower case, credentials escaped, port written out.
    url: str
    #: Two small letters; None: not known.
    country: str | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "url", _normal(self.url))
        msgspec.structs.force_setattr(self, "country", country_code(self.country))

    @classmethod
    def of(cls, value: object, country: str | None = None) -> Proxy:
        """A proxy as people write it. Raises ConfigError, in a sentence without the proxy's credentials."""
        if isinstance(value, Proxy):
            return value
        if not isinstance(value, str):
            raise ConfigError(f"a proxy cannot be a {type(value).__name__}: {_HOW}")
        return cls(value, country)

    @property
    def scheme(self) -> str:
        """`http`, `https`, `socks5` or `socks5h`: how one speaks with the proxy itself."""
        return self.url.partition("://")[0]

    @property
    def authority(self) -> str:
        """Host and port."""
        return self.url.partition("://")[2].rpartition("@")[2]

    @property
    def host(self) -> str:
        """The proxy's name or address; an IPv6 address in brackets."""
        return self.authority.rpartition(":")[0]

    @property
    def port(self) -> int:
        """The proxy's port."""
        return int(self.authority.rpartition(":")[2])

    @property
    def label(self) -> str:
        """scheme://host:port: the proxy without its credentials."""
        return f"{self.scheme}://{self.authority}"

    @property
    def login(self) -> tuple[str, str] | None:
        """User and password, as they are."""
        login, at, _ = self.url.partition("://")[2].rpartition("@")
        user, _, password = login.partition(":")
        return (unquote(user), unquote(password)) if at else None

    def __repr__(self) -> str:
        return f"Proxy({self.label}{f', {self.country}' if self.country else ''})"

    def __str__(self) -> str:
        return self.label

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        # msgspec's own would show the URL.
        return [("label", self.label), ("country", self.country)]


def _normal(text: str) -> str:
    """The normal form of a proxy's URL. Raises ConfigError, which shows nothing of the text that may be secret."""
    text = text.strip()
    if not text or len(text) > LONGEST or not text.isprintable():
        raise ConfigError(f"a proxy cannot be used: {_HOW}")
    scheme, mark, rest = text.partition("://")
    scheme, rest = (scheme.lower(), rest) if mark else ("http", text)
    if scheme not in SCHEMES:
        shown = f" of kind {scheme!r}" if _WORD.fullmatch(scheme) else ""
        raise ConfigError(f"a proxy{shown} cannot be used: its URL begins with one of {', '.join(SCHEMES)}")
    if fields := _FOUR_FIELDS.fullmatch(rest):
        return _written(scheme, f"{fields[1]}:{fields[2]}", (fields[3], fields[4]), 0)
    login, at, place = rest.rpartition("@")
    user, _, password = login.partition(":")
    # Without a scheme it takes a port to tell a proxy from any other word.
    return _written(scheme, place, (unquote(user), unquote(password)) if at else None, SCHEMES[scheme] if mark else 0)


def _written(scheme: str, place: str, login: tuple[str, str] | None, default: int) -> str:
    found = _PLACE.fullmatch(place)
    port = int(found[2] or default) if found else 0
    try:
        if found is None or not 0 < port < 65536:
            raise ValueError
        host = ada_url.URL(f"http://{found[1]}:{port}/").hostname
    except ValueError:
        raise ConfigError(f"a proxy cannot be used, for its host and port cannot be read: {_HOW}") from None
    if login is None:
        return f"{scheme}://{host}:{port}"
    if not "".join(login).isprintable():
        raise ConfigError("a proxy cannot be used, for its credentials hold characters that cannot be sent")
    return f"{scheme}://{quote(login[0], safe='')}:{quote(login[1], safe='')}@{host}:{port}"


def country_code(value: str | None) -> str | None:
    """Two small letters; None for none, `*` and the empty text. Raises ConfigError."""
    if value is None or value in ("", "*"):
        return None
    code = str(value).strip().lower()
    if len(code) != 2 or not (code.isascii() and code.isalpha()):
        raise ConfigError(f"{value!r} is no country: write two letters, like DE or US")
    return code


def read_line(line: str, scheme: str = "http") -> Proxy | None:
    """The proxy in a line of a list; None for an empty line or a comment. Raises ConfigError."""
    words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].split()
    if not words:
        return None
    if len(words) > 2:
        raise ConfigError(f"a line with {len(words)} words is no proxy: {_HOW}, and perhaps a country behind it")
    proxy = Proxy(words[0], words[1] if len(words) == 2 else None)
    return proxy if scheme == "http" or "://" in words[0] else Proxy(scheme + proxy.url[4:], proxy.country)
