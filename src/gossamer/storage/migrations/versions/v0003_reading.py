"""What became of items: changes, rejects, what the drift gate holds back, and how far sinks have come."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("run", sa.Column("rejected", sa.Integer(), server_default="0", nullable=False))
    op.add_column("run", sa.Column("verdict", sa.Text(), server_default="", nullable=False))
    op.add_column("run", sa.Column("reading", sa.Text(), server_default="{}", nullable=False))
    op.add_column("item", sa.Column("seq", BIG, server_default="0", nullable=False))
    op.add_column("item", sa.Column("gone", sa.Float(), nullable=True))
    op.add_column("item", sa.Column("first_run", BIG, server_default="0", nullable=False))
    op.add_column("item", sa.Column("last_run", BIG, server_default="0", nullable=False))
    # What is there already stands in the log of changes in the order it was first seen.
    op.execute("update item set seq = id")
    op.create_index("item_seq", "item", ["seq"])
    op.execute(
        "update item set first_run = saw.first, last_run = saw.last "
        "from (select item_id, min(run_id) as first, max(run_id) as last from sighting group by item_id) as saw "
        "where saw.item_id = item.id"
    )
    _changes()
    _held_back()
    _judged_and_delivered()


def _changes() -> None:
    op.create_table(
        "change",
        sa.Column("id", BIG, nullable=False),
        sa.Column("item_id", BIG, nullable=False),
        sa.Column("run_id", BIG, nullable=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("change_item", "change", ["item_id", "id"])
    op.create_index("change_at", "change", ["at"])


def _held_back() -> None:
    op.create_table(
        "staged",
        sa.Column("id", BIG, nullable=False),
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("request_id", BIG, nullable=False),
        sa.Column("seen", sa.Float(), nullable=False),
        sa.Column("times", sa.Integer(), server_default="1", nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("staged_known", "staged", ["run_id", "kind", "key"], unique=True)
    op.create_index("staged_request", "staged", ["request_id"])
    op.create_table(
        "reject",
        sa.Column("id", BIG, nullable=False),
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("request_id", BIG, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("reject_run", "reject", ["run_id"])
    op.create_index("reject_request", "reject", ["request_id"])


def _judged_and_delivered() -> None:
    op.create_table(
        "profile",
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("alarm", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_index("profile_of", "profile", ["scraper", "run_id"])
    op.create_table(
        "sink",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("cursor", BIG, nullable=False),
        sa.Column("delivered", BIG, server_default="0", nullable=False),
        sa.Column("objects", BIG, server_default="0", nullable=False),
        sa.Column("failing", sa.Text(), server_default="", nullable=False),
        sa.Column("updated", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", "scraper"),
        sqlite_with_rowid=False,
    )
