"""What `--store` says: a SQLite file or a PostgreSQL database, how it is shown, and where files beside it lie."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit

from gossamer.errors import ConfigError

#: A store that is nowhere, and gone when it is closed.
MEMORY = ":memory:"

_POSTGRES = ("postgresql://", "postgres://")
#: Up to the last `@`: a password that was not quoted as it should be is hidden all the same.
_LOGIN = re.compile(r"(?<=://)([^:@/?#]*):.*@", re.DOTALL)
_IN_QUERY = re.compile(r"(?<=[?&])((?:ssl)?password=)[^&#]*", re.IGNORECASE)
#: The beginning of a URL whose slashes somebody forgot.
_HALF_URL = re.compile(r"(postgres(ql)?:(?!//)|sqlite:(?!///))", re.IGNORECASE)
_STRANGE = re.compile(r"[^\w.-]+")


def is_postgres(store: str) -> bool:
    """Whether a store is a PostgreSQL database.

    >>> is_postgres("postgresql://localhost/crawls"), is_postgres("crawls.db")
    (True, False)
    """
    return store.startswith(_POSTGRES)


def path_of(store: str) -> str:
    """The file of a SQLite store: a path, or sqlite:///path. Raises ConfigError."""
    if _HALF_URL.match(store):  # and it is told to nobody, for it may hold a password
        raise ConfigError(
            "the store looks like a URL, and is none: write postgresql://user:password@host/name, or sqlite:///path"
        )
    if store.startswith("sqlite:///"):
        store = store.removeprefix("sqlite:///")
    elif "://" in store:
        scheme = store.partition("://")[0]
        raise ConfigError(
            f"no store of kind {scheme!r} is known: give a path like gossamer.db, or postgresql://user@host/name"
        )
    if not store:
        raise ConfigError("the store's path is empty: give a path like gossamer.db")
    return store


def shown(url: str) -> str:
    """A store, or a broker, as anybody may see it: without its password.

    >>> shown("postgresql://me:s3cret@db/crawls?password=too")
    'postgresql://me:***@db/crawls?password=***'
    """
    return _IN_QUERY.sub(r"\1***", _LOGIN.sub(r"\1:***@", url))


def passwords(url: str) -> list[str]:
    """The passwords in the URL of a store or a broker, as they are written there and as they are meant."""
    found = [match[0].partition(":")[2].removesuffix("@") for match in _LOGIN.finditer(url)]
    found += [match[0].partition("=")[2] for match in _IN_QUERY.finditer(url)]
    return [secret for written in found for secret in dict.fromkeys((written, unquote(written))) if secret]


def beside(store: str, suffix: str) -> str:
    """Where a file beside a store lies: of a PostgreSQL database in the current folder.

    >>> beside("crawls.db", ".logs"), beside("postgresql://me@db/crawls", ".logs")
    ('crawls.db.logs', 'gossamer-crawls.logs')
    """
    if not is_postgres(store):
        return path_of(store) + suffix
    return f"gossamer-{_STRANGE.sub('_', database(store)) or 'store'}{suffix}"


def database(store: str) -> str:
    """The name of a PostgreSQL database, as its URL says it: left out, it is that of the user. Raises ConfigError."""
    try:
        parts = urlsplit(store)
        given = dict(parse_qsl(parts.query))
        named = unquote(parts.path.strip("/")) or given.get("dbname") or given.get("database")
        return named or unquote(parts.username or "") or given.get("user", "")
    except ValueError as why:
        raise ConfigError(f"the store {shown(store)} is no URL ({why}): write postgresql://user@host/name") from None
