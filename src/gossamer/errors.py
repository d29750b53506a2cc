"""Everything that can go wrong, as one tree.

GossamerError
├── ConfigError        the user must fix something: a URL, an option, a scraper, a file   (exit code 2)
├── StoreError         the durable memory cannot be used                                  (exit code 2)
│   ├── StoreBusy          another process is working on this store
│   ├── StoreTooNew        written by a newer Gossamer
│   └── LeaseLost          somebody else took the run over; what we hold may not be settled
├── FetchError         the world failed: no usable answer came back
│   ├── ConnectFailed      no connection: refused, unreachable, unknown name
│   ├── TimedOut           no complete answer in time
│   ├── Broken             the answer broke off or was not HTTP
│   ├── TooLarge           the body passed its cap, and was cut off
│   ├── Unsendable         the request itself is not one that HTTP knows
│   └── TlsFailed          the certificate or the handshake was refused
├── ReadError          the page was not what the handler thought
│   └── HandlerTimeout     the handler blocked for too long
└── Stalled            requests wait, and nothing will ever make them ready

`reason` is a short word that counts and groups (`by_reason`, `gossamer why`); `str(error)` is a sentence
for a person, which says what to do next where something can be done.
"""

from __future__ import annotations

from typing import ClassVar


class GossamerError(Exception):
    """The root of all our errors."""

    reason: ClassVar[str] = "error"


class ConfigError(GossamerError):
    """The user must fix something."""

    reason = "config"


class StoreError(GossamerError):
    """The store cannot be used."""

    reason = "store"


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


class TimedOut(FetchError):
    """No complete answer came in time."""

    reason = "timeout"


class Broken(FetchError):
    """The answer broke off, or was not HTTP."""

    reason = "broken"


class TooLarge(FetchError):
    """The body passed its cap."""

    reason = "too_large"
    transient = False


class Unsendable(FetchError):
    """The request itself is not one that HTTP knows."""

    reason = "unsendable"
    transient = False


class TlsFailed(FetchError):
    """The certificate or the handshake was refused."""

    reason = "tls"
    transient = False


class ReadError(GossamerError):
    """The page was not what the handler thought."""

    reason = "handler"


class HandlerTimeout(ReadError):
    """The handler blocked for too long."""

    reason = "handler_timeout"


class Stalled(GossamerError):
    """Requests wait, and nothing will ever make them ready."""

    reason = "stalled"


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in a group of them: the one that ended the others."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
