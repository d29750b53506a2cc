"""`/api/settings`: what the service was started with. Read only: settings are changed in files."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from gossamer.api.common import Reads, service_of

router = APIRouter(prefix="/api/settings", tags=["settings"])


class SettingRow(BaseModel):
    """One knob."""

    name: str
    value: str = Field(description="As a person would write it; what may be secret is hidden.")
    origin: str = Field(description="Where it comes from: `gossamer.toml`, an environment variable, `default`.")
    about: str


class SettingRows(BaseModel):
    """Every knob."""

    rows: list[SettingRow]


@router.get("", summary="The settings, with secrets hidden")
async def shown(request: Request, by: Reads) -> SettingRows:
    """Settings of the process and defaults of scrapers. To change one, edit `gossamer.toml` and restart."""
    known = service_of(request).settings.shown()
    rows = [SettingRow(name=name, value=value, origin=origin, about=about) for name, value, origin, about in known]
    return SettingRows(rows=rows)
