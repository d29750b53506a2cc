"""`/api/tokens`: the keys of programs. Only who rules the service sees them, and nobody sees a secret twice."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from gossamer import settings
from gossamer.accounts import Token
from gossamer.api.common import LONGEST_NAME, MOST, Body, Cursor, Done, Limit, Rows, Rules, service_of
from gossamer.api.errors import answers
from gossamer.errors import Refused

router = APIRouter(prefix="/api/tokens", tags=["people"])

Scope = Literal["read", "run", "admin"]


class TokenRow(BaseModel):
    """A token, without its secret."""

    id: int
    name: str
    scope: Scope
    state: Literal["good", "expired", "revoked"]
    created: float
    created_by: str
    expires: float | None
    used: float | None = Field(description="When it was used last, to the minute.")


class NewToken(Body):
    """A token to be."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME, description="What it is for: its name in the trail.")
    scope: Scope = Field(default="read", description="What it may do; each holds the ones before it.")
    expires: str | None = Field(default="90d", max_length=50, description="How long it is good: `90d`; null: for ever.")


class MadeToken(TokenRow):
    """A token, the one time its secret is shown."""

    token: str = Field(description="The secret. It is shown this one time.")


def _row(token: Token) -> dict[str, object]:
    kept = ("id", "name", "scope", "created", "created_by", "expires", "used")
    return {"state": token.state(time.time()), **{name: getattr(token, name) for name in kept}}


@router.get("", summary="All tokens, without their secrets")
async def listed(request: Request, by: Rules, limit: Limit = 100, cursor: Cursor = None) -> Rows[TokenRow]:
    """The newest first; those that are over too."""
    found = await service_of(request).accounts.page_of_tokens(limit=limit, cursor=cursor)
    return Rows[TokenRow].model_validate({"rows": [_row(token) for token in found.rows], "next": found.next})


@router.post(
    "", summary="Make a token", status_code=201, responses=answers(s409="A token or account has that name already.")
)
async def create(request: Request, body: NewToken, by: Rules) -> MadeToken:
    """Its secret is in the answer, and nowhere else: only a digest of it is kept."""
    expires = None
    if body.expires is not None:
        try:
            expires = time.time() + settings.duration(body.expires)
        except ValueError as why:
            raise Refused(f"expires = {body.expires!r} cannot be used: {why}") from None
    token, secret = await service_of(request).accounts.create_token(body.name, body.scope, expires, by)
    return MadeToken.model_validate({**_row(token), "token": secret})


@router.delete("/{token_id}", summary="Revoke a token", responses=answers(404, s409="It is the last with scope admin."))
async def revoke(request: Request, token_id: Annotated[int, Path(ge=1, le=MOST)], by: Rules) -> Done:
    """It opens nothing from now on; neither do the sessions that were begun with it."""
    token = await service_of(request).accounts.revoke_token(token_id, by)
    return Done(message=f"the token {token.name} is revoked")
