"""Bring a store's tables to the present form. Costs nothing when they already have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: Where the migrations are.
SCRIPTS = Path(__file__).parent

#: The state before the first migration.
BASE = ""

#: The newest migration. A test holds it against the scripts in `versions`.
HEAD = "0004"

#: Every migration there is, so that a newer store is told from an older one without loading Alembic.
REVISIONS = ("0001", "0002", "0003", HEAD)


def head_form() -> list[str]:
    """The statements that make an empty SQLite file a store in its present form.

    The same as applying every migration; a test holds them equal, and `make schema` writes them anew.
    """
    text = (SCRIPTS / "head.sql").read_text("utf-8")
    return [statement.strip() for statement in text.split(";\n") if statement.strip()]


def upgrade(connection: Any) -> None:
    """Apply what is missing, on a SQLAlchemy connection, in the caller's transaction."""
    # Half a second to import: only a new or outdated store pays it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
