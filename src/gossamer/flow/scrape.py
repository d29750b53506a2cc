"""Executors that fetch: the body of a task's URL into `<key>.scrape`."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gossamer.fetch.bodies import in_thread
from gossamer.flow.executor import Context, Output, taskify
from gossamer.flow.session import Answer, AnswerHeaders
from gossamer.flow.status import StatusData, place, unfinished_name
from gossamer.values import is_secret

#: Headers that hold secrets in answers, besides those that do in requests.
_SECRET_ANSWERS = frozenset({"set-cookie", "set-cookie2", "authentication-info"})
_JSON = {"content-type": "application/json", "accept": "application/json"}

#: Looks at a body, and raises RuntimeError if it is not what was hoped for.
Callback = Callable[[bytes], Any]


def scrape_path(directory: Path, key: str) -> Path:
    """Where the body of a task's URL is kept."""
    return directory / f"{key}.scrape"


@taskify
async def scrape(context: Context, key: str, status: StatusData) -> Output:
    """Fetch `params["url"]` into `<key>.scrape`: by GET, or by POST where there is a `post_payload`.

    Gives `size`, `content` (the MD5 of the body, in hex), `status` and `response_headers`, in which secrets are left
    out. Raises RuntimeError for a status other than 2xx.
    """
    return await scrape_with_validation(context, key, status)


async def scrape_with_validation(
    context: Context, key: str, status: StatusData, response_callback: Callback | None = None
) -> Output:
    """As `scrape`; but a body becomes the file only if `response_callback` does not raise for it.

    If it does, there is no file afterwards. For use in an executor of your own, whose name it then has.
    """
    params = status["params"]
    if not isinstance(params.get("url"), str):
        raise RuntimeError("the task has no url: give it one in its params")
    path = scrape_path(context.dir, key)
    async with context.session.request(*_request(params), **_how(params, context)) as answer:
        if not answer.accepted:
            raise RuntimeError(f"HTTP response {answer.status}")
        if response_callback is not None:
            await _validate(answer, path, response_callback)
        size, digest = await in_thread(_keep, answer, path)
    return {
        "size": size,
        "content": digest,
        "status": answer.status,
        "response_headers": shown_headers(answer.headers),
    }


def _request(params: Mapping[str, Any]) -> tuple[str, str]:
    return "GET" if params.get("post_payload") is None else "POST", params["url"]


def _how(params: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """What goes along: the task's payload, headers and cookies; without cookies of its own, those of the flow."""
    payload = params.get("post_payload")
    headers = {} if payload is None else _JSON
    return {
        "json": payload,
        "headers": headers | (params.get("headers") or {}),
        "cookies": params.get("cookies") or context.params.get("cookies"),
        "country": params.get("country"),
    }


async def _validate(answer: Answer, path: Path, callback: Callback) -> None:
    try:
        found = callback(await answer.read())
        if inspect.isawaitable(found):
            await found
    except Exception:
        with suppress(OSError):
            await asyncio.to_thread(path.unlink)
        raise


def _keep(answer: Answer, path: Path) -> tuple[int, str]:
    """The body into its file, in one step: its size, and its MD5 in hex."""
    response = answer.response
    if response.file is None:
        place(path, response.body)
        return len(response.body), hashlib.md5(response.body, usedforsecurity=False).hexdigest()
    unfinished = unfinished_name(path)
    try:
        with open(response.file, "rb") as body:
            digest = hashlib.file_digest(body, lambda: hashlib.md5(usedforsecurity=False))
        shutil.copyfile(response.file, unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return response.file_size, digest.hexdigest()


def shown_headers(headers: AnswerHeaders) -> dict[str, str]:
    """Response headers as they may stand in a file: secrets are `***`, a name that came several times is there once.

    >>> shown_headers(AnswerHeaders([("Content-Type", "text/html"), ("Set-Cookie", "sid=1")]))
    {'content-type': 'text/html', 'set-cookie': '***'}
    """
    names = dict.fromkeys(name for name, _ in headers.pairs())
    hidden = {name for name in names if name in _SECRET_ANSWERS or is_secret(name)}
    return {name: "***" if name in hidden else ", ".join(headers.getall(name)) for name in names}


def content_type(headers: Mapping[str, str]) -> str:
    """What kind of thing an answer is, from its recorded headers: the part behind the slash of its media type.

    >>> content_type({"content-type": "text/html; charset=utf-8"})
    'html'
    """
    told = next((text for name, text in headers.items() if name.lower() == "content-type"), "")
    return told.partition(";")[0].strip().lower().rpartition("/")[2]
