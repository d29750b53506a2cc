"""`/api/users`: people who may log in to the dashboard."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from gossamer.api.common import LONGEST_NAME, Body, Cursor, Done, Limit, Name, Rows, Rules, answer, service_of
from gossamer.api.errors import answers
from gossamer.api.tokens import Scope
from gossamer.errors import Refused

router = APIRouter(prefix="/api/users", tags=["people"])

#: Letters of a password: `accounts` says how few are too few.
LONGEST_PASSWORD = 1000


class UserRow(BaseModel):
    """A person who may log in."""

    name: str
    scope: Scope
    created: float
    created_by: str
    disabled: float | None = Field(description="Since when they may not log in.")
    seen: float | None = Field(description="When a session of theirs was used last, to the minute.")


class NewUser(Body):
    """A person to be let in."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    password: str = Field(min_length=1, max_length=LONGEST_PASSWORD)
    scope: Scope = "read"


class ChangedUser(Body):
    """What is to be different; what is left out stays."""

    password: str | None = Field(default=None, min_length=1, max_length=LONGEST_PASSWORD)
    scope: Scope | None = None
    enabled: bool | None = Field(default=None, description="false: they may not log in, and their sessions end.")


@router.get("", summary="Everybody who may log in")
async def listed(request: Request, by: Rules, limit: Limit = 100, cursor: Cursor = None) -> Rows[UserRow]:
    """By name; those who are disabled too."""
    return answer(Rows[UserRow], await service_of(request).accounts.page_of_accounts(limit=limit, cursor=cursor))


@router.post("", summary="Let a person log in", status_code=201, responses=answers(s409="The name is taken."))
async def create(request: Request, body: NewUser, by: Rules) -> UserRow:
    """Of the password only a hash is kept."""
    made = await service_of(request).accounts.create_account(body.name, body.password, body.scope, by)
    return answer(UserRow, made)


@router.patch("/{name}", summary="Change a person", responses=answers(404, s409="They are the last with scope admin."))
async def change(request: Request, name: Name, body: ChangedUser, by: Rules) -> UserRow:
    """A new password, another scope, disabled or enabled: each ends their sessions where it must."""
    accounts = service_of(request).accounts
    if not body.model_fields_set:
        raise Refused("nothing is to be changed: give password, scope or enabled")
    if body.password is not None:
        await accounts.change_password(name, body.password, by)
    if body.scope is not None:
        await accounts.set_scope(name, body.scope, by)
    if body.enabled is not None:
        await (accounts.enable(name, by) if body.enabled else accounts.disable(name, by))
    return answer(UserRow, await accounts.account(name))


@router.delete("/{name}", summary="Remove a person", responses=answers(404, s409="They are the last with scope admin."))
async def delete(request: Request, name: Name, by: Rules) -> Done:
    """They are out at once. What they did stays in the trail."""
    await service_of(request).accounts.delete(name, by)
    return Done(message=f"{name[:64]} is removed")
