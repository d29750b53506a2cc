"""Structured events: `log.warning("page.unreadable", url=..., why=...)`. Human on a terminal, JSON where asked.

An event goes three ways: to stderr, into log files if there is a folder for them, and to whoever keeps the important
ones in the store. On each way it has lost its secrets.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

from gossamer import redaction
from gossamer.logfiles import LogFiles

log: structlog.stdlib.BoundLogger = structlog.get_logger("gossamer")

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_NUMBERS = {**LEVELS, "critical": 50}


def to_stderr(text: str) -> None:
    """Write one line to stderr. Where that cannot be written, as on a full disk, the line is lost and nothing else."""
    with suppress(OSError, ValueError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def configure_unless_done() -> None:
    """For library users: who has told structlog nothing hears warnings only, on stderr."""
    if not structlog.is_configured():
        configure("warning", "human")


def configure(
    level: str,
    style: str,
    write: Callable[[str], None] = to_stderr,
    *,
    folder: str | Path | None = None,
    hear: Callable[[EventDict], None] | None = None,
    secrets: Iterable[str] = (),
) -> None:
    """Say once, at the door of a process, how events are written.

    `level` and `style` are for `write`. With a `folder`, events are written to log files there too: from info on, or
    from debug on where `level` says so. `hear` is given every event from info on, as `Events.hear` wants it.
    `secrets` are hidden wherever they turn up (`redaction.secrets_of(settings)`); how secrets look is known anyway.

    Raises ConfigError if the folder cannot be used.
    """
    files = LogFiles(folder) if folder is not None else None
    redaction.shared.learn(secrets, lasting=True)
    _state.begin(_Ways(LEVELS[level], files, hear), LEVELS[level] if files is None else _info(level))
    last: Any = structlog.processors.JSONRenderer() if style == "json" else _human
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redaction.shared,
        _state.ways,
        last,
    ]
    wrapper = structlog.make_filtering_bound_logger(LEVELS[level] if files is None and hear is None else _info(level))
    structlog.configure(
        processors=processors,
        wrapper_class=wrapper,
        logger_factory=lambda *args: _Line(write),
        cache_logger_on_first_use=False,
    )
    _state.wrapper = wrapper
    _listen_to_libraries(structlog.wrap_logger(_Line(write), processors=processors, wrapper_class=wrapper))


def _info(level: str) -> int:
    return min(LEVELS[level], LEVELS["info"])


def close() -> None:
    """Write what waits for the log files, and let go of them. What is logged later goes to stderr only."""
    if _state.ways is not None and _state.ways.files is not None:
        _state.ways.files.close()


def flush() -> None:
    """Wait until what was logged so far is in the log files."""
    if _state.ways is not None and _state.ways.files is not None:
        _state.ways.files.flush()


def lost() -> int:
    """Events of this process that log files could not take."""
    return _state.ways.files.lost if _state.ways is not None and _state.ways.files is not None else 0


def heard(level: str) -> bool:
    """Whether events of a level are written anywhere. To be asked once, not for every page."""
    if structlog.get_config()["wrapper_class"] is _state.wrapper:
        return LEVELS[level] >= _state.least
    enabled = getattr(log.bind(), "is_enabled_for", None)
    return enabled is None or bool(enabled(LEVELS[level]))


def catch_crashes() -> None:
    """Have what ends this process or one of its threads logged, instead of printed as it is."""

    def crashed(kind: type[BaseException], error: BaseException | None, trace: Any) -> None:
        if error is None or issubclass(kind, KeyboardInterrupt):
            return
        log.critical("process.crashed", why=f"{kind.__name__}: {error}", exc_info=(kind, error, trace))
        flush()

    sys.excepthook = crashed
    threading.excepthook = lambda told: crashed(told.exc_type, told.exc_value, told.exc_traceback)


class _Ways:
    """Where events go. The last processor but one: what stderr is not to show ends here."""

    def __init__(self, least: int, files: LogFiles | None, hear: Callable[[EventDict], None] | None) -> None:
        self._least = least
        self.files = files
        self._hear = hear

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        if self._hear is not None:
            with suppress(Exception):  # whoever listens must not end a crawl
                self._hear(event)
        if self.files is not None:
            self.files.take(event)
        if _NUMBERS.get(event.get("level", method), 50) < self._least:
            raise structlog.DropEvent
        return event


class _State:
    """What this process was told: structlog has one configuration, and so have we."""

    def __init__(self) -> None:
        self.ways: _Ways | None = None
        self.wrapper: Any = None
        #: The least important event that stderr or a file takes.
        self.least = LEVELS["warning"]

    def begin(self, ways: _Ways, least: int) -> None:
        close()
        self.ways, self.least = ways, least


_state = _State()


# -- libraries that speak through logging --------------------------------------------------------------------------


class _Library(logging.Handler):
    """What libraries say through `logging`, as events: without secrets, and in the same files."""

    def __init__(self, said: Any) -> None:
        super().__init__(logging.WARNING)
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):  # logging would print what it could not format, secrets and all
            method = record.levelname.lower() if record.levelname.lower() in _NUMBERS else "warning"
            facts: dict[str, Any] = {"exc_info": record.exc_info} if record.exc_info else {}
            getattr(self.said, method)("library", logger=record.name, why=record.getMessage(), **facts)


def _listen_to_libraries(said: Any) -> None:
    """Libraries say nothing below a warning. A program that has handlers of its own keeps to them."""
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    for handler in [each for each in root.handlers if isinstance(each, _Library)]:
        root.removeHandler(handler)
    if not root.handlers:
        root.addHandler(_Library(said))


# -- lines ---------------------------------------------------------------------------------------------------------


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
    facts = " ".join(f"{_fact(key)}={_fact(value)}" for key, value in event.items())
    line = f"{time} {level} {_fact(name)} {facts}".rstrip()
    return f"{line}\n{_indented(trace)}" if trace else line


def _indented(trace: object) -> str:
    """A trace below its event: what an exception says cannot pass for an event of its own."""
    lines = (line if line.isprintable() else repr(line)[1:-1] for line in str(trace).split("\n"))
    return "\n".join(f"    {line}" for line in lines)
