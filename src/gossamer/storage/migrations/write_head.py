"""`make schema`: write head.sql, the present form of the store, from the migrations."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from gossamer.storage.migrations import upgrade


def head_sql() -> str:
    """The statements that all migrations together amount to."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        engine = create_engine("sqlite://", creator=lambda: db, poolclass=StaticPool)
        with engine.connect() as connection:
            upgrade.upgrade(connection)
            connection.commit()
        found = db.execute("select sql from sqlite_master where sql is not null order by rowid").fetchall()
    finally:
        db.close()
    statements = ["\n".join(line.rstrip() for line in sql.strip().expandtabs(4).splitlines()) for (sql,) in found]
    statements.append(f"insert into alembic_version (version_num) values ('{upgrade.HEAD}')")  # noqa: S608
    return "".join(f"{statement};\n\n" for statement in statements)


if __name__ == "__main__":
    Path(upgrade.__file__).with_name("head.sql").write_text(head_sql(), "utf-8")
