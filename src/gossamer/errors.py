"""Everything that can go wrong, as one tree.

GossamerError
├── ConfigError        the user must fix something: a URL, an option, a scraper, a file   (exit code 2)
│   ├── ScraperAbsent      its file or module is not on this machine
│   ├── NotFound           there is no such run, scraper, schedule ...
│   ├── NotPossible        there is, but not in a state for what was asked
│   │   └── AlreadyActive      the scraper has a run that waits or goes on
│   ├── NotAdmitted        the name, the password or the token is not a good one
│   │   └── TooManyTries       too many were not, lately: come back later
│   └── Refused            who asks may not have that: it came over the network
├── StoreError         the durable memory cannot be used                                  (exit code 2)
│   ├── StoreAway          it does not answer now, and may later; so is a broker's silence
│   ├── StoreBusy          another process is working on this store
│   ├── StoreTooNew        written by a newer Gossamer
│   └── LeaseLost          somebody else took the run over; what we hold may not be settled
├── FetchError         the world failed: no usable answer came back
│   ├── ConnectFailed      no connection: refused, unreachable, unknown name
│   ├── AddressRefused     the address is a private one, which nobody allowed
│   ├── ProxyFailed        the proxy did not do its part
│   │   └── NoProxy            there is none such as is asked for
│   ├── TimedOut           no complete answer in time
│   │   └── SlowStart          not even the first byte in time
│   ├── Broken             the answer broke off or was not HTTP
│   ├── TooLarge           the body passed its cap, and was cut off
│   │   └── Bomb               a small body that unpacks to a huge one
│   ├── HeadersTooLarge    the headers passed their cap
│   ├── Unsendable         the request itself is not one that HTTP knows
│   ├── TlsFailed          the certificate or the handshake was refused
│   └── RenderFailed       the browser could not show the page
│       └── NoBrowser          there is none
├── ReadError          the page was not what the handler thought
│   ├── HandlerTimeout     the handler blocked for too long
│   ├── Rejected           a step says: this record is not to become an item
│   ├── Retry              `validate` says: not a usable page now, try again
│   └── Blocked            `validate` says: a captcha or a login wall, not the page
├── Undelivered        a sink could not take an object now; nothing is lost
├── Held               its host may not be asked now after all; the request waits again
└── Stalled            requests wait, and nothing will ever make them ready

`reason` is a short word that counts and groups (`by_reason`, `gossamer why`); `str(error)` is a sentence
for a person, which says what to do next where something can be done.
"""

from __future__ import annotations

import math
from typing import ClassVar


class GossamerError(Exception):
    """The root of all our errors."""

    reason: ClassVar[str] = "error"


class ConfigError(GossamerError):
    """The user must fix something."""

    reason = "config"


class ScraperAbsent(ConfigError):
    """The file or the module of a scraper is not on this machine; on another it may be."""


class NotFound(ConfigError):
    """There is no such thing."""

    reason = "not_found"


class NotPossible(ConfigError):
    """There is such a thing, but not in a state for what was asked."""

    reason = "not_possible"


class AlreadyActive(NotPossible):
    """The scraper has a run that waits or goes on."""

    reason = "active"

    def __init__(self, scraper: str, run: int) -> None:
        super().__init__(f"{scraper} is already at it: wait for run {run}, or cancel it")
        self.run = run


class Refused(ConfigError):
    """What came over the network asks for something that only files and the command line may say."""

    reason = "refused"


class NotAdmitted(ConfigError):
    """Who wants to log in gave a name and a password, or a token, that do not let them in."""

    reason = "login"


class TooManyTries(NotAdmitted):
    """There were too many tries to log in, lately."""

    def __init__(self, why: str, seconds: float) -> None:
        super().__init__(f"{why}: try again in {max(1, math.ceil(seconds))} s")
        #: How long to wait.
        self.seconds = seconds


class StoreError(GossamerError):
    """The store cannot be used."""

    reason = "store"


class StoreAway(StoreError):
    """The store, or the broker of a cluster, does not answer now: the same may work a little later."""


class StoreBusy(StoreError):
    """Another process is working on this store."""


class StoreTooNew(StoreError):
    """The store was written by a newer Gossamer."""


class LeaseLost(StoreError):
    """The lease on a run has passed to another owner."""


class FetchError(GossamerError):
    """No usable answer came back."""

    reason = "fetch"
    #: Whether the same request may succeed a little later.
    transient: ClassVar[bool] = True


class ConnectFailed(FetchError):
    """No connection could be made."""

    reason = "connect"


class AddressRefused(FetchError):
    """The address is a private one, which nobody allowed."""

    reason = "address"
    transient = False


class ProxyFailed(FetchError):
    """The proxy did not do its part: it refused, cannot be reached, or wants other credentials."""

    reason = "proxy"


class NoProxy(ProxyFailed):
    """There is no proxy such as is asked for."""

    transient = False


class TimedOut(FetchError):
    """No complete answer came in time."""

    reason = "timeout"


class SlowStart(TimedOut):
    """Not even the first byte came in time."""

    reason = "first_byte"


class Broken(FetchError):
    """The answer broke off, or was not HTTP."""

    reason = "broken"


class TooLarge(FetchError):
    """The body passed its cap."""

    reason = "too_large"
    transient = False


class Bomb(TooLarge):
    """A small body that unpacks to a huge one."""

    reason = "bomb"


class HeadersTooLarge(FetchError):
    """The headers passed their cap."""

    reason = "headers"
    transient = False


class Unsendable(FetchError):
    """The request itself is not one that HTTP knows."""

    reason = "unsendable"
    transient = False


class TlsFailed(FetchError):
    """The certificate or the handshake was refused."""

    reason = "tls"
    transient = False


class RenderFailed(FetchError):
    """The browser could not show the page."""

    reason = "render"


class NoBrowser(RenderFailed):
    """There is no browser to render with, and there will be none in a minute."""

    transient = False


class ReadError(GossamerError):
    """The page was not what the handler thought."""

    reason = "handler"


class Rejected(ReadError):
    """Raised by a step: the record is not to become an item. It is kept apart, with the reason."""

    reason = "rejected"


class HandlerTimeout(ReadError):
    """The handler blocked for too long."""

    reason = "handler_timeout"


class Retry(ReadError):
    """Raised by `validate`: not a usable page now, but worth another try."""

    reason = "retry"


class Blocked(ReadError):
    """Raised by `validate`: a captcha or a login wall, not the page. Tried again with another identity."""

    reason = "blocked"


class Held(GossamerError):
    """A host was held after a request had its turn, and before it left: the request waits again."""

    reason = "held"

    def __init__(self, seconds: float, why: str) -> None:
        super().__init__(why)
        #: How long the host is to be left alone.
        self.seconds = seconds


class Undelivered(GossamerError):
    """An object could not be put or deleted now. The sentence names no secret and holds nothing that a store said."""

    reason = "sink"


class Stalled(GossamerError):
    """Requests wait, and nothing will ever make them ready."""

    reason = "stalled"


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in a group of them: the one that ended the others."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
