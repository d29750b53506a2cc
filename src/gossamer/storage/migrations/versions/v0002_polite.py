"""What politeness remembers, and what the next visit of a page should know."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("fetch", sa.Column("detail", sa.Text(), nullable=True))
    for name in ("interval", "crawl_delay", "latency"):
        op.add_column("source", sa.Column(name, sa.Float(), server_default="0", nullable=False))
    op.add_column("source", sa.Column("breaker", sa.Text(), server_default="closed", nullable=False))
    op.add_column("source", sa.Column("openings", sa.Integer(), server_default="0", nullable=False))
    op.add_column("source", sa.Column("open_until", sa.Float(), server_default="0", nullable=False))
    op.add_column("source", sa.Column("why", sa.Text(), server_default="", nullable=False))
    _about_hosts()
    _about_runs()


def _about_hosts() -> None:
    op.create_table(
        "robots",
        sa.Column("id", BIG, nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("fetched", sa.Float(), nullable=False),
        sa.Column("checked", sa.Float(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("closed", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("robots_origin", "robots", ["origin"])
    op.create_table(
        "notice",
        sa.Column("id", BIG, nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("run_id", BIG, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("notice_host", "notice", ["host"])


def _about_runs() -> None:
    op.create_table(
        "start",
        sa.Column("id", BIG, nullable=False),
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("limits", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("start_run", "start", ["run_id"])
    op.create_table(
        "visit",
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("fetched", sa.Float(), nullable=False),
        sa.Column("checked", sa.Float(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("modified", sa.Text(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("gave", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("scraper", "digest"),
    )
