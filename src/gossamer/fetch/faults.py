"""What went wrong in wreq, in our words: without its internals, and without a proxy's credentials."""

from __future__ import annotations

import re

from wreq import exceptions as wrong

from gossamer.errors import (
    Broken,
    ConnectFailed,
    FetchError,
    HeadersTooLarge,
    ProxyFailed,
    SlowStart,
    TimedOut,
    TlsFailed,
    Unsendable,
)
from gossamer.fetch.proxies import Proxy
from gossamer.settings import ScraperConfig

#: wreq's errors, once a request could be sent.
WRONG = (
    wrong.TimeoutError,
    wrong.TlsError,
    wrong.ConnectionError,
    wrong.ConnectionResetError,
    wrong.ProxyConnectionError,
    wrong.BodyError,
    wrong.DecodingError,
    wrong.RequestError,
    wrong.BuilderError,
    wrong.RedirectError,
    wrong.StatusError,
    wrong.UpgradeError,
)
#: wreq's errors for a request that it cannot even begin to send.
UNSENDABLE = (TypeError, ValueError, RuntimeError, OverflowError)

_MESSAGES = (
    re.compile(r'"SSL routines".{1,40}reason: "(\w{1,100})"'),
    re.compile(r'message: "([^"]{1,200})"'),
    re.compile(r'Custom\([^"]*"([^"]{1,200})"'),
    re.compile(r'ConnectError\("([^"]{1,200})"'),
)
#: The innermost thing that wreq names.
_INNERMOST = re.compile(r"source: (?:Some\()?(?:[\w:]+\()*(\w+)")
_WORDS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate cannot be verified; if you trust the host, add it to insecure_hosts",
    "IncompleteMessage": "the connection was closed before the answer was complete",
    "IncompleteBody": "the body ended before it was complete",
    "UnexpectedEof": "the body ended before it was complete",
    "Parse(": "its status line or headers cannot be read",
    "ContentLengthInvalid": "its Content-Length cannot be read",
}
#: What a SOCKS proxy says about the host behind it, not about itself.
_BEHIND = re.compile(r"Socks\((ConnectionRefused|HostUnreachable|NetworkUnreachable|TtlExpired)")


def unsendable(error: Exception) -> FetchError:
    """A request that cannot be sent."""
    return Unsendable(f"the request cannot be sent: {' '.join(str(error).split())[:200]}")


def ours(error: Exception, config: ScraperConfig, proxy: Proxy | None, seconds: float | None) -> FetchError:
    """A wreq error as one of ours. `seconds` have passed; None where there is no limit to them."""
    raw = str(error)
    told = _gist(raw)
    before = isinstance(error, wrong.TimeoutError)  # the headers had come; after them it is another error
    if before or "source: TimedOut" in raw:
        return _late(config, seconds, before=before)
    if isinstance(error, wrong.ProxyConnectionError) and proxy is not None:
        return _proxy_failed(raw, told, proxy)
    if isinstance(error, wrong.TlsError) or "SSL routines" in raw or "certificate" in told:
        return TlsFailed(f"no secure connection: {told}")
    if isinstance(error, wrong.ConnectionResetError):
        return Broken("the connection was reset")
    if isinstance(error, wrong.ConnectionError | wrong.ProxyConnectionError):
        return ConnectFailed(f"no connection: {told}")
    if "Parse(TooLarge)" in raw:
        return HeadersTooLarge(f"the headers are more than max_headers allows ({config.max_headers:,} bytes)")
    return Broken(f"the answer broke off or was not HTTP: {told}")


def _late(config: ScraperConfig, seconds: float | None, *, before: bool) -> FetchError:
    if seconds is not None and (seconds >= config.timeout or config.first_byte >= config.timeout):
        return TimedOut(f"no complete answer within {config.timeout:g} s")
    if before:
        return SlowStart(f"no answer began within {config.first_byte:g} s (first_byte)")
    return TimedOut(f"nothing more came for {config.first_byte:g} s in the middle of the answer")


def _proxy_failed(raw: str, told: str, proxy: Proxy) -> FetchError:
    if found := _BEHIND.search(raw):
        return ConnectFailed(f"no connection, says the proxy {proxy.label}: {_spaced(found[1])}")
    if "ProxyAuthRequired" in raw or "PasswordAuthFailure" in raw or "AuthMethod" in raw:
        return ProxyFailed(f"the proxy {proxy.label} wants other credentials")
    if "TunnelUnsuccessful" in raw:
        return ProxyFailed(f"the proxy {proxy.label} refused to connect to the site")
    return ProxyFailed(f"the proxy {proxy.label} cannot be used: {told}")


def _gist(raw: str) -> str:
    """The few words of a wreq error that mean something to a person."""
    if "dns error" in raw:
        return "the host name is not known"
    for name, words in _WORDS.items():
        if name in raw:
            return words
    for pattern in _MESSAGES:
        if match := pattern.search(raw):
            return match[1].replace("_", " ").lower() if match[1].isupper() else match[1]
    found = _INNERMOST.findall(raw)
    return _spaced(found[-1]) if found else "for a reason that is not known"


def _spaced(name: str) -> str:
    """`HostUnreachable` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
