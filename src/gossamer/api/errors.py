"""What an answer looks like when something cannot be done: one sentence with what to do next, and a status."""

from __future__ import annotations

import uuid
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from gossamer.errors import AlreadyActive, ConfigError, NotFound, NotPossible, StoreError
from gossamer.telemetry import log

#: Wrong fields that are told of one by one.
MOST_DETAILS = 20
#: Letters of a name, and of where it stands, that are repeated to whoever sent it.
LONGEST_NAME = 80
LONGEST_FIELD = 200


class Detail(BaseModel):
    """One thing that is wrong with a request."""

    field: str = Field(description="Where it stands: `body.params`, `query.limit`.")
    problem: str = Field(description="What is wrong with it.")


class Problem(BaseModel):
    """Why something was not done."""

    error: str = Field(description="One sentence, with what to do next.")
    details: list[Detail] | None = Field(default=None, description="Everything that is wrong with what was sent.")
    active_run: int | None = Field(default=None, description="The run that is in the way.")
    active_jobs: int | None = Field(default=None, description="How many runs are in the way.")
    id: str | None = Field(default=None, description="What to look for in the log of the service.")


#: What a status means, where a route does not say it better.
MEANINGS = {
    400: "What was sent cannot be used: `error` says why, `details` names the fields.",
    401: "There is no token, or one that is unknown, expired or revoked.",
    403: "The token does not have the scope that this needs.",
    404: "There is no such thing.",
    409: "There is such a thing, but not in a state for this.",
    413: "The body is larger than this path takes.",
    429: "Too many of these in too short a time: `Retry-After` says when to come back.",
    500: "A mistake of ours: `id` is in the log of the service.",
    503: "The store cannot be used now: try again in a moment.",
}


def answers(*statuses: int, **better: str) -> dict[int | str, dict[str, Any]]:
    """The statuses of a route besides its good one, for its documentation: `answers(404, s409="It runs.")`."""
    told = {status: MEANINGS[status] for status in statuses}
    told |= {int(name.removeprefix("s")): about for name, about in better.items()}
    return {status: {"model": Problem, "description": about} for status, about in told.items()}


def problem(status: int, error: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    """An answer that says what is wrong."""
    return JSONResponse({"error": error, **more}, status, headers)


def handle_errors(app: FastAPI) -> None:
    """Have every error leave as a Problem."""
    app.add_exception_handler(ConfigError, _of_ours)
    app.add_exception_handler(StoreError, _of_ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _of_ours(request: Request, error: Exception) -> Response:
    match error:
        case AlreadyActive():
            return problem(409, f"{error}", active_run=error.run, active_jobs=1)
        case NotFound():
            return problem(404, f"{error}")
        case NotPossible():
            return problem(409, f"{error}")
        case StoreError():
            return unusable(error)
    return problem(400, f"{error}")


def unusable(error: StoreError) -> Response:
    """The store does not answer. What it says may name files, which is for the log only."""
    number = uuid.uuid4().hex[:12]
    log.error("api.store", id=number, why=str(error))
    told = f"the store cannot be used now: try again in a moment; the log of the service says why under {number}"
    return problem(503, told, {"Retry-After": "2"}, id=number)


def unexpected(error: BaseException, path: str) -> Response:
    """A mistake of ours: what it was is in the log, under a number that whoever asked can tell."""
    number = uuid.uuid4().hex[:12]
    log.error("api.unexpected", id=number, path=path[:200], exc_info=error)
    told = f"something went wrong in the service itself: tell whoever runs it to look for {number} in its log"
    return problem(500, told, id=number)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    detail: Any = error.detail
    if isinstance(detail, dict):
        return JSONResponse(detail, error.status_code, headers)
    told = {
        404: "there is nothing at this path: /docs lists what there is",
        405: f"this path does not take {request.method}: /docs says what it takes",
    }
    generic = error.status_code in told and detail in ("Not Found", "Method Not Allowed")
    return problem(error.status_code, told[error.status_code] if generic else str(detail), headers)


async def _invalid(request: Request, error: Exception) -> Response:
    """What was sent does not have the form that the route wants. Values are not repeated: they may be secret."""
    assert isinstance(error, RequestValidationError)
    found = [_detail(each) for each in error.errors()[:MOST_DETAILS]]
    where = found[0]["field"] if found else "body"
    name = where.partition(".")[2] or f"the {where}"
    rest = f" (and {len(found) - 1} more: see details)" if len(found) > 1 else ""
    return problem(400, f"{name}: {found[0]['problem'] if found else 'cannot be used'}{rest}", details=found)


def _detail(error: Any) -> dict[str, str]:
    loc = error["loc"][:1] if error["type"] == "json_invalid" else error["loc"]
    field = ".".join(_plain(part) for part in loc)[:LONGEST_FIELD]
    match error["type"]:
        case "extra_forbidden":
            problem = "there is no such field: leave it out"
        case "missing":
            problem = "it is missing: give it"
        case "json_invalid":
            problem = "it is not JSON: check quotes and commas"
        case "model_attributes_type":
            problem = "it is no JSON object: send one, with Content-Type: application/json"
        case _:
            message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")
            problem = f"it {message}" if message.startswith("should") else message[:1].lower() + message[1:]
    return {"field": field, "problem": problem[:500]}


def _plain(part: object) -> str:
    """A name that somebody sent, so that it can be shown."""
    text = str(part)[:LONGEST_NAME]
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
