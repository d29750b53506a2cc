"""URLs: resolved and written as browsers do (WHATWG), compared by a digest.

Every URL inside Gossamer is absolute, http or https, in WHATWG form, without a fragment and without a user's
name and password: those would end in logs and in the store.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, unquote_to_bytes

import ada_url

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

#: Requests are spread over this many shards by host; a cluster worker leases one shard at a time.
SHARDS = 1024
#: A longer URL is a trap or a mistake: servers and proxies refuse it, and a page of them would fill the store.
LONGEST = 8192

_C0_OR_SPACE = "".join(map(chr, range(0x21)))
_SCHEMES = ("http://", "https://")
_HAS_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_HOST_AND_PORT = re.compile(r"[^/?#]*:\d+(?:[/?#]|$)")


def resolve(href: str, base: str) -> str | None:
    """The absolute http(s) URL that `href` means on the page `base`, without its fragment; else None.

    >>> resolve("../b.html#top", "http://a.org/x/y/z.html")
    'http://a.org/x/b.html'
    >>> resolve("mailto:me@a.org", "http://a.org/") is None
    True
    """
    href = href.strip(_C0_OR_SPACE)
    cut = href.partition("#")[0]
    # `?a=1`, `http:?a=1` and `http:` mean this very page; tabs and line ends are left to the parser.
    if not cut or cut[0] == "?" or cut[-1] in " :" or ":?" in cut or not cut.isprintable():
        return _join(base, href)
    # What a reference means depends only on its base's folder, and pages of one folder repeat the same
    # references: the cache turns most joins into a dictionary look-up.
    folder = base.partition("?")[0]
    end = folder.rfind("/") + 1
    return _join(folder[:end] if end > 8 else base, cut)  # up to 8, it is the slash of https://


def _join(base: str, href: str) -> str | None:
    # A page may hold a hundred thousand references of a kilobyte each: those are not remembered.
    return _cached_join(base, href) if len(base) + len(href) < 1024 else _plain_join(base, href)


def _plain_join(base: str, href: str) -> str | None:
    url = join(base, href)
    return split_login(url)[0] if url is not None and "@" in url else url


def join(base: str, href: str) -> str | None:
    """As browsers join: like `resolve`, with the login that stands in the reference."""
    try:
        url = ada_url.join_url(base, href)
    except ValueError:
        return None
    return url.partition("#")[0] if url.startswith(_SCHEMES) else None


_cached_join = lru_cache(maxsize=65536)(_plain_join)


def absolute(url: str) -> str:
    """The WHATWG form of an absolute http(s) URL, without its fragment and its login.

    Raises ConfigError, in words for the person who typed it.
    """
    return with_login(url)[0]


def with_login(url: str) -> tuple[str, tuple[str, str] | None]:
    """As `absolute`, and the login (user, password) that stood in the URL, if one did."""
    try:
        form = ada_url.normalize_url(url.strip())
    except ValueError:
        raise ConfigError(f"{shown(url)} is not a URL: write it like https://example.org/path") from None
    if not form.startswith(_SCHEMES):
        scheme = form.partition(":")[0]
        raise ConfigError(f"{shown(url)} cannot be fetched: only http and https are, not {scheme!r}")
    return split_login(form.partition("#")[0])


def shown(url: str) -> str:
    """A URL in a message, without a password that may stand in it."""
    # Up to the last @: in a text that is no URL, nobody knows where a password ends.
    return repr(re.sub(r"(?s)^((?:[a-zA-Z][a-zA-Z0-9+.-]*://)?).*@", r"\1***@", url))


def split_login(url: str) -> tuple[str, tuple[str, str] | None]:
    """A URL without its login, and the login: (user, password).

    >>> split_login("https://me:pw@a.org/x")
    ('https://a.org/x', ('me', 'pw'))
    """
    scheme, _, rest = url.partition("://")
    end = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    login, at, name = rest[:end].rpartition("@")
    if not at:
        return url, None
    user, _, password = login.partition(":")
    return f"{scheme}://{name}{rest[end:]}", (unquote(user), unquote(password))


def typed(text: str) -> str:
    """What a person means who types `example.org/docs` or `localhost:8000`: as `absolute`, scheme filled in."""
    return typed_with_login(text)[0]


def typed_with_login(text: str) -> tuple[str, tuple[str, str] | None]:
    """As `typed`, and the login (user, password) that stood in the URL, if one did."""
    text = text.strip()
    if not text:
        raise ConfigError("an empty URL was given: write it like https://example.org/")
    if _HAS_SCHEME.match(text) and not _HOST_AND_PORT.match(text):
        return with_login(text)
    url, login = with_login("https://" + text)
    name = hostname(url)
    if "." not in name.strip(".") and not name.startswith("[") and name != "localhost":
        raise ConfigError(f"{shown(text)} is not a URL: write it like https://example.org/path")
    local = name == "localhost" or name.startswith("[") or name.replace(".", "").isdigit()
    return (absolute("http://" + text) if local else url), login


def origin(url: str) -> str:
    """Scheme and authority: what one robots.txt speaks for.

    >>> origin("http://a.org:8080/x")
    'http://a.org:8080'
    """
    end = url.find("/", 8)
    cut = url if end < 0 else url[:end]
    if "@" in cut:
        scheme, _, rest = cut.partition("://")
        cut = f"{scheme}://{rest.rpartition('@')[2]}"
    return cut


def host(url: str) -> str:
    """Host and explicit port: what one pace is kept for.

    >>> host("https://user@a.org:444/x?y")
    'a.org:444'
    """
    return origin(url).partition("://")[2].partition("?")[0]


def stand_in(url: str, stand_ins: Mapping[str, str]) -> str | None:
    """What stands in for the host of a URL, by the knob `stand_ins`; None: nothing does.

    >>> stand_in("https://a.org/x", {"a.org": "http://127.0.0.1:80/a"}), stand_in("https://b.org/", {"*": "http://c"})
    ('http://127.0.0.1:80/a', 'http://c/b.org')
    """
    name = host(url)
    if name in stand_ins:
        return stand_ins[name]
    return f"{stand_ins['*']}/{name}" if "*" in stand_ins else None


def hostname(url: str) -> str:
    """The host of a URL without its port."""
    name = host(url)
    return name if name.endswith("]") else name.rpartition(":")[0] or name


@lru_cache(maxsize=4096)
def registered_domain(name: str) -> str:
    """The part of a host name that somebody registered: example.co.uk for www.example.co.uk.

    Addresses and names under no known suffix stand for themselves.
    """
    if name.startswith("[") or name.replace(".", "").isdigit():
        return name
    return _suffixes().privatesuffix(name) or name


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 100 ms to load: only for those who ask

    return PublicSuffixList()


@lru_cache(maxsize=65536)
def shard(host_name: str) -> int:
    """The shard a host belongs to: the same on every machine, and for all hosts of a domain, which may share a pace."""
    return zlib.crc32(_one_pace(host_name).encode()) % SHARDS


def _one_pace(host_name: str) -> str:
    """What hosts have in common that may share a pace: their domain. An address stands for itself, with its port."""
    name = host_name if host_name.endswith("]") else host_name.rpartition(":")[0] or host_name
    labels = name.split(".")
    if name.startswith("[") or name.replace(".", "").isdigit() or len(labels) == 1:
        return host_name
    if len(labels) == 2:
        return name
    if len(labels) == 3 and labels[0] == "www" and len(labels[2]) > 2:
        return f"{labels[1]}.{labels[2]}"  # as most are: no need to load the list of suffixes
    return registered_domain(name)


def comparable(url: str) -> str:
    """The form under which two spellings of one URL are equal: escapes normalised, query arguments sorted.

    An argument without a value is the same with and without its `=`; empty arguments say nothing.
    Used for comparing only; what is fetched is the URL as the site wrote it.

    >>> comparable("http://a.org/%7euser?b=2&&a=")
    'http://a.org/~user?a&b=2'
    """
    if "%" not in url and "&" not in url and "+" not in url and not url.endswith(("=", "?")):
        return url
    path, _, query = url.partition("?")
    scheme, _, rest = path.partition("://")
    authority, slash, tail = rest.partition("/")
    path = f"{scheme}://{authority}{slash}{_same_escapes(tail, _PATH_SAFE)}"
    query = _same_escapes(query.replace("+", "%20"), _QUERY_SAFE)
    arguments = sorted(argument.partition("=")[::2] for argument in query.split("&") if argument not in ("", "="))
    joined = "&".join(f"{name}={value}" if value else name for name, value in arguments)
    return f"{path}?{joined}" if joined else path


_PATH_SAFE = "/:@!$&'()*+,;=~|[]"
_QUERY_SAFE = "/:@!$'()*,;?~|[]="
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})?")


def _same_escapes(text: str, safe: str) -> str:
    """Every escape that is not needed undone, every needed one in upper case, a lone % escaped itself."""
    if "%" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        if match[1] is None:  # or `%%34%31` would become `%41`, which is another URL
            return "%25"
        byte = unquote_to_bytes(match[0])
        keep = byte in b"/%?#&=+" or byte[0] >= 0x80
        return match[0].upper() if keep else quote(byte, safe=safe)

    return _ESCAPE.sub(one, text)


def digest(*parts: str | bytes) -> str:
    """A 16-byte digest of the parts, as 22 letters: what is stored and compared instead of the parts."""
    state = hashlib.blake2b(digest_size=16)
    for n, part in enumerate(parts):
        if n:
            state.update(b"\0")
        state.update(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
    return base64.urlsafe_b64encode(state.digest())[:22].decode()
