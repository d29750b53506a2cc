"""Where items go on to: what an author or a command line says of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from gossamer import settings
from gossamer.errors import ConfigError
from gossamer.sink_keys import Template
from gossamer.storage import objects
from gossamer.storage.objects import Bucket, Folder, Objects

#: What may stand behind the `?` of a sink's text; the others are for Python.
IN_TEXT = ("key", "kind", "gone", "gzip", "source", "batch", "every", "endpoint", "region")
#: Names of single files, where a folder is wanted.
_FILES = re.compile(r"\.(json|jsonl|ndjson|csv|tsv|parquet|txt|gz|zst|zip)$", re.IGNORECASE)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_SHOWN = "s3://bucket/games/{id}.json, file:///data/{kind}/{key}.json or ./out"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Sink:
    """A folder or a bucket that gets the items of a scraper, while its runs work.

    `place` is `s3://bucket/prefix`, `file:///folder` or a path. `key` names the objects in it; it may also stand in
    `place` itself: `s3://bucket/games/{id}.json`. With a field of the record in it each item is one object; without,
    items come in batches of JSON lines. Raises ConfigError.
    """

    place: str
    _: KW_ONLY
    key: str = ""
    #: Only items of this kind.
    kind: str | None = None
    #: Most items of one batch, and of one step where each is an object.
    batch: int = 1000
    #: Seconds after which a batch goes out though it is not full: 5.0, "1min".
    every: Any = 5.0
    #: Batches packed by gzip. An object of its own is if its name ends in `.gz`.
    gzip: bool = False
    #: What becomes of the object of an item that is gone: "keep" or "delete".
    gone: str = "keep"
    #: Whether records are told where they come from, as `_kind`, `_key`, `_url` ...; left out: in batches.
    source: bool | None = None
    #: Where the S3 API is; left out: AWS_ENDPOINT_URL, else AWS. Plain http only if it is written so.
    endpoint: str | None = None
    region: str | None = None
    #: Objects on their way at the same time.
    concurrency: int = 16
    #: Seconds that putting one object, or one part of a large one, may take.
    timeout: Any = 30.0
    #: Credentials and the like, as obstore's S3Store names them; left out: AWS_* in the environment. Never shown.
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: The bucket (empty: a folder), the path in it, and the template of names below that.
    bucket: str = field(init=False, default="")
    root: str = field(init=False, default="")
    template: Template = field(init=False, default=Template(""))

    def __post_init__(self) -> None:
        place, _, query = str(self.place).partition("?")
        for name, value in _read_query(query).items():
            object.__setattr__(self, name, value)
        self._read_options()
        bucket, path = _split(place)
        object.__setattr__(self, "bucket", bucket)
        root, key = _root(path, self.key)
        if not bucket:
            root = os.path.abspath(root)
        elif ".." in root.split("/") or "//" in root or not root.isprintable() or len(root.encode()) > 400:
            raise ConfigError(f"the sink {place!r} cannot be used: its path has empty parts, `..` or odd characters")
        object.__setattr__(self, "root", root)
        object.__setattr__(self, "template", Template(key))
        if self.gone == "delete" and not self.per_item:
            raise ConfigError(
                f"the sink {place!r} cannot delete: gone=delete needs an object for each item, like {{key}}.json"
            )
        if not self.per_item and _FILES.search(key or root):
            raise ConfigError(
                f"the sink {place!r} names one file: name a folder, like ./out, or one file for each item, like "
                "./out/{key}.json; `gossamer export` writes single files"
            )

    def _read_options(self) -> None:
        """Read what was given by its parser; refuse what cannot be used, by name, without showing secrets."""
        for name, parse in _OPTIONS.items():
            given = getattr(self, name)
            try:
                object.__setattr__(self, name, parse(given))
            except (ValueError, TypeError) as why:
                shown = "" if name in ("endpoint", "options") else f" = {given!r}"
                raise ConfigError(f"{name}{shown} of a sink cannot be used: {why}") from None

    @property
    def per_item(self) -> bool:
        """Whether each item is an object of its own."""
        return self.template.per_item

    @property
    def packed(self) -> bool:
        """Whether objects are packed by gzip."""
        return self.template.text.endswith(".gz") if self.per_item else self.gzip

    @property
    def told(self) -> bool:
        """Whether records are told where they come from."""
        return not self.per_item if self.source is None else self.source

    @property
    def where(self) -> str | None:
        """The endpoint of the S3 API; None: that of AWS, or none for a folder."""
        return (self.endpoint or _endpoint(objects.endpoint_of(self.options))) if self.bucket else None

    @property
    def name(self) -> str:
        """What it is remembered by: all that decides what objects there are, and nothing that is secret.

        It is also a text that a sink can be made from.
        """
        start = f"s3://{self.bucket}" if self.bucket else "file://"
        root, key = self.root.strip("/"), self.template.text
        # A field right below the root shows where the root ends; else that has to be said.
        joined = not key or "{" in key.partition("/")[0]
        path = "/".join(filter(None, (root, key if joined else "")))
        said = {"endpoint": self.where, "gone": None if self.gone == "keep" else self.gone, "kind": self.kind}
        said |= {"gzip": "true" if self.gzip else None, "source": _word(self.source), "key": None if joined else key}
        query = "&".join(f"{name}={quote(value, safe='/:{}')}" for name, value in sorted(said.items()) if value)
        return f"{start}/{path}" + (f"?{query}" if query else "")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Sink({self.name!r})"

    def open(self) -> Objects:
        """Where its objects go. Raises ConfigError."""
        if not self.bucket:
            return Folder(self.root)
        region = {"region": self.region} if self.region else {}
        options = {name: value for name, value in self.options.items() if "endpoint" not in name}
        return Bucket(self.bucket, self.root, self.where, {**region, **options}, self.timeout)


def sink_of(value: object) -> Sink:
    """A sink, from one or from its text. Raises ConfigError."""
    if isinstance(value, Sink):
        return value
    if not isinstance(value, str | os.PathLike) or not str(value).strip():
        raise ConfigError(f"a sink is a Sink, or a text like {_SHOWN}")
    return Sink(str(value).strip())


def sinks_of(values: Sequence[object]) -> tuple[Sink, ...]:
    """Sinks that can be used together. Raises ConfigError."""
    found = tuple(map(sink_of, values))
    names = [sink.name for sink in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"the sink {name} is named twice: once is enough")
    if any(sink.bucket for sink in found) and (lacking := objects.missing()):
        raise ConfigError(lacking)
    return found


# -- reading -----------------------------------------------------------------------------------------------------


def _split(place: str) -> tuple[str, str]:
    """Bucket and path of a place; no bucket for a folder."""
    scheme, colon, rest = place.partition("://")
    if not colon:
        if not place or not place.isprintable():
            raise ConfigError(f"a sink needs a place: write {_SHOWN}")
        return "", place
    if scheme == "file":
        if not rest.startswith("/"):
            raise ConfigError("a sink that is a folder is written file:///folder, with three slashes, or as a path")
        return "", rest
    if scheme != "s3":
        raise ConfigError(f"no sink of kind {scheme!r} is known: write {_SHOWN}")
    bucket, _, path = rest.partition("/")
    if "@" in bucket:
        raise ConfigError(
            "a sink's URL holds no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give "
            "Sink(options=...)"
        )
    if not _BUCKET.fullmatch(bucket):
        raise ConfigError(f"{bucket!r} is no name of a bucket: write s3://bucket/prefix")
    return bucket, path.strip("/")


def _root(path: str, key: str) -> tuple[str, str]:
    """The folder that a sink is, and the template of the names in it."""
    folder, brace, _ = path.partition("{")
    if not brace:
        return path, key.strip("/") if key.strip("/") else ""
    folder = folder.rpartition("/")[0] if "/" in folder else ""
    below = path[len(folder) :].lstrip("/") + (f"/{key}" if key else "")
    # What has no folder before its first field lies in the working folder, or at the root.
    return folder or ("/" if path.startswith("/") else ""), below


def _read_query(query: str) -> dict[str, str]:
    found = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in IN_TEXT:
            shown = f"{name!r} " if name.isidentifier() and len(name) < 30 else ""
            raise ConfigError(f"the text of a sink cannot say {shown}after the `?`: it knows {', '.join(IN_TEXT)}")
        found[name] = value
    return found


def _endpoint(value: object) -> str | None:
    if value is None or value == "":
        return None
    try:
        parts = urlsplit(str(value))
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        usable = usable and "@" not in parts.netloc and not parts.query and str(value).isprintable()
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("the endpoint of a sink cannot be used: write a URL without a login, like https://s3.example")
    return str(value).rstrip("/")


def _gone(value: object) -> str:
    if value not in ("keep", "delete"):
        raise ValueError("write keep or delete")
    return str(value)


def _maybe(parse: Any) -> Any:
    return lambda value: None if value is None or value == "" else parse(value)


def _seconds(value: object) -> float:
    return float(settings.duration(value))


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("write a dict")
    return {str(name).lower(): each for name, each in value.items()}


def _word(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


_OPTIONS: Mapping[str, Any] = {
    "kind": _maybe(settings.line),
    "key": str,
    "batch": settings.count,
    "every": _seconds,
    "gzip": settings.switch,
    "gone": _gone,
    "source": _maybe(settings.switch),
    "endpoint": _endpoint,
    "region": _maybe(settings.line),
    "concurrency": settings.width,
    "timeout": _seconds,
    "options": _table,
}
