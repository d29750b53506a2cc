"""Tasks: keys that name files, params, and what of them may be written down."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from gossamer import urls
from gossamer.errors import ConfigError
from gossamer.values import is_secret

#: What a task is about: JSON values, mostly `url`, perhaps `post_payload`, `cookies`, `country`.
Params: TypeAlias = dict[str, Any]
#: What a flow is given: params by key, a list of params, or keys whose params a status file holds.
Tasks: TypeAlias = Mapping[str, Params | None] | Sequence[str] | Sequence[Params]

#: Bytes of a key: with what is put behind it, it must be a file name.
LONGEST_KEY = 200

#: Names that would be secrets in a header, and are ordinary words in params.
_ORDINARY = frozenset({"key", "session"})


class TaskError(ConfigError, ValueError):
    """Tasks or executors that cannot be used: the message says which, and why."""


def url_to_key(url: str) -> str:
    """A key for a URL: its MD5 in hex.

    >>> url_to_key("http://www.bing.com")
    '9cbc5ee4b61e0acb335d56e96c6b2586'
    """
    return hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()


def urls_to_tasks(given: Iterable[str]) -> dict[str, Params]:
    """Tasks for URLs: each under the key that `url_to_key` gives it, and once.

    >>> urls_to_tasks(["http://www.bing.com"])
    {'9cbc5ee4b61e0acb335d56e96c6b2586': {'url': 'http://www.bing.com'}}
    """
    if isinstance(given, str):
        raise TaskError("urls_to_tasks() wants a list of URLs, not one: write urls_to_tasks([url])")
    return {url_to_key(url): {"url": url} for url in given}


def tasks_of(given: Tasks) -> dict[str, Params | None]:
    """Params by key, in the order given; None where a status file is to have them. Raises TaskError."""
    found: dict[str, Params | None] = {}
    if isinstance(given, Mapping):
        found = {key: None if params is None else _params(key, params) for key, params in given.items()}
    elif isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise TaskError('tasks cannot be used: write params by key, like {"bing": {"url": "https://www.bing.com"}}')
    else:
        for each in given:
            key, params = (each, None) if isinstance(each, str) else _keyed(each)
            if key in found:
                raise TaskError(f"the task {key!r} is there twice: a key names one file, so give each its own")
            found[key] = params
    for key in found:
        check_key(key)
    return found


def _keyed(params: Any) -> tuple[str, Params]:
    """Params without a key get that of their URL."""
    if not isinstance(params, Mapping) or not isinstance(params.get("url"), str):
        raise TaskError(f"{params!r:.80} is no task: write a key, or params that have a url")
    return url_to_key(params["url"]), _params(params["url"], params)


def _params(key: Any, params: Any) -> Params:
    try:
        if not isinstance(params, Mapping):
            raise TypeError(f"they are a {type(params).__name__}")
        made = msgspec.json.decode(msgspec.json.encode(params))
    except (TypeError, ValueError, RecursionError) as why:
        raise TaskError(f"the params of {key!r:.80} must be a dict of JSON values: {why}") from None
    return dict(made)


def check_key(key: Any) -> None:
    """Raises TaskError for a key that is no name of a file in the flow's own folder."""
    if not isinstance(key, str) or not key.strip():
        raise TaskError(f"{key!r:.80} cannot be a key: write a text, which will be the name of a file")
    if "://" in key:
        raise TaskError(f"{urls.shown(key):.80} is a URL, not a key: write tasks=urls_to_tasks([...])")
    if key in (".", "..") or "/" in key or "\\" in key or not key.isprintable():
        raise TaskError(
            f"{key!r:.80} cannot be a key: it names a file in the folder, so without slashes, and no dots alone"
        )
    if len(key.encode("utf-8", "replace")) > LONGEST_KEY:
        raise TaskError(f"the key {key[:40]!r}... is too long for a file name: at most {LONGEST_KEY} bytes")


# -- what may be written down ----------------------------------------------------------------------------------


def public(params: Params) -> tuple[Params, list[str]]:
    """Params as they may stand in a file, and the names of what was left out: cookies, logins, secrets."""
    withheld: list[str] = []
    kept = _without_secrets({name: value for name, value in params.items() if name != "cookies"}, "", withheld)
    if params.get("cookies"):
        withheld.append("cookies")
    url = params.get("url")
    if isinstance(url, str) and "@" in url:
        bare, login = _split(url)
        if login:
            kept["url"] = bare
            withheld.append("the login in url")
    return kept, withheld


def _split(url: str) -> tuple[str, bool]:
    """A URL without its login, as it is otherwise written, and whether there was one."""
    bare, login = urls.split_login(url) if "://" in url else (url, None)
    return bare, login is not None


def _without_secrets(value: Any, path: str, withheld: list[str]) -> Any:
    """JSON values without the fields whose names say that they are secret."""
    if isinstance(value, list):
        return [_without_secrets(each, path, withheld) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, each in value.items():
        where = f"{path}.{name}" if path else name
        if is_secret(name) and name.lower() not in _ORDINARY:
            withheld.append(where)
        else:
            kept[name] = _without_secrets(each, where, withheld)
    return kept
