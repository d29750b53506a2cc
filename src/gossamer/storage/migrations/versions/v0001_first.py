"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WAITING = sa.text("state = 0 and not_before = 0")
PARKED = sa.text("state = 0 and not_before > 0")
CLAIMED = sa.text("state = 0 and token is not null")
ROOTS = sa.text("depth = 0")


def upgrade() -> None:
    op.create_table(
        "item",
        sa.Column("id", BIG, nullable=False),
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("first_seen", sa.Float(), nullable=False),
        sa.Column("last_seen", sa.Float(), nullable=False),
        sa.Column("last_changed", sa.Float(), nullable=False),
        sa.Column("times_seen", sa.Integer(), server_default="1", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("item_known", "item", ["scraper", "kind", "key"], unique=True)
    op.create_table(
        "run",
        sa.Column("id", BIG, nullable=False),
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), server_default="0", nullable=False),
        sa.Column("seeded", sa.Integer(), server_default="0", nullable=False),
        sa.Column("settled", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("items", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("skipped", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retried", sa.Integer(), server_default="0", nullable=False),
        sa.Column("size", BIG, server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("run_signature", "run", ["signature"])
    op.create_table(
        "source",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("last_hit", sa.Float(), nullable=False),
        sa.Column("ready_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("host"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fetch",
        sa.Column("id", BIG, nullable=False),
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("request_id", BIG, nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("started", sa.Float(), nullable=False),
        sa.Column("elapsed", sa.Float(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("size", BIG, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("fetch_request", "fetch", ["request_id"])
    op.create_index("fetch_run", "fetch", ["run_id"])
    op.create_table(
        "lease",
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("shard", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("token", BIG, nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("run_id", "shard"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "request",
        sa.Column("id", BIG, nullable=False),
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("shard", sa.Integer(), nullable=False),
        sa.Column("handler", sa.Text(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("hops", sa.Integer(), nullable=False),
        sa.Column("found_on", BIG, nullable=True),
        sa.Column("state", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.Float(), server_default="0", nullable=False),
        sa.Column("token", BIG, nullable=True),
        sa.Column("claims", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("size", BIG, nullable=True),
        sa.Column("started", sa.Float(), nullable=True),
        sa.Column("elapsed", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("request_roots", "request", ["run_id", "host"], sqlite_where=ROOTS, postgresql_where=ROOTS)
    op.create_index("request_claimed", "request", ["run_id"], sqlite_where=CLAIMED, postgresql_where=CLAIMED)
    op.create_index("request_known", "request", ["run_id", "digest"], unique=True)
    op.create_index(
        "request_ready",
        "request",
        ["run_id", "host", sa.text("priority desc"), "id", "depth"],
        sqlite_where=WAITING,
        postgresql_where=WAITING,
    )
    op.create_index("request_parked", "request", ["run_id", "not_before"], sqlite_where=PARKED, postgresql_where=PARKED)
    op.create_table(
        "run_reason",
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("run_id", "reason"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sighting",
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("item_id", BIG, nullable=False),
        sa.Column("request_id", BIG, nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["item.id"],
        ),
        sa.ForeignKeyConstraint(
            ["request_id"],
            ["request.id"],
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("run_id", "item_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("sighting_request", "sighting", ["request_id"])
