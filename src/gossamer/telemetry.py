"""Structured events: `log.warning("page.unreadable", url=..., why=...)`. Human on a terminal, JSON where asked."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

log: structlog.stdlib.BoundLogger = structlog.get_logger("gossamer")

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def to_stderr(text: str) -> None:
    """Write one line to stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def configure_unless_done() -> None:
    """For library users: who has told structlog nothing hears warnings only, on stderr."""
    if not structlog.is_configured():
        configure("warning", "human")


def configure(level: str, style: str, write: Callable[[str], None] = to_stderr) -> None:
    """Say once, at the door, how events are written."""
    last: Any = structlog.processors.JSONRenderer() if style == "json" else _human
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=lambda *args: _Line(write),
        cache_logger_on_first_use=False,
    )
    # Libraries that speak through logging say nothing below a warning.
    logging.getLogger().setLevel(logging.WARNING)


def heard(level: str) -> bool:
    """Whether events of a level go anywhere. To be asked once, not for every page."""
    enabled = getattr(log.bind(), "is_enabled_for", None)
    return enabled is None or bool(enabled(LEVELS[level]))


class _Line:
    """A logger that writes finished lines."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def msg(self, text: str) -> None:
        self._write(text)

    debug = info = warning = error = critical = msg


def _fact(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else repr(text)


def _human(logger: WrappedLogger, method: str, event: EventDict) -> str:
    """`12:30:01 warning page.unreadable url=... why=...`"""
    time = str(event.pop("timestamp", ""))[11:19]
    level = event.pop("level", method)
    name = event.pop("event", "")
    trace = event.pop("exception", None)
    facts = " ".join(f"{key}={_fact(value)}" for key, value in event.items())
    line = f"{time} {level} {name} {facts}".rstrip()
    return f"{line}\n{trace}" if trace else line
