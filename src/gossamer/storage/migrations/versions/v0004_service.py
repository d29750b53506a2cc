"""The service: schedules and what became of them, alerts, logs, people, and counts by the minute."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _runs_and_sources()
    _schedules()
    _alerts()
    _logs()
    _people()
    _counts()
    _count_past_runs()


def _runs_and_sources() -> None:
    op.add_column("run", sa.Column("asked_by", sa.Text(), server_default="", nullable=False))
    op.add_column("run", sa.Column("via", sa.Text(), server_default="cli", nullable=False))
    op.add_column("run", sa.Column("trusted", sa.Integer(), server_default="1", nullable=False))
    op.add_column("run", sa.Column("wanted", sa.Text(), server_default="", nullable=False))
    op.add_column("run", sa.Column("started", sa.Float(), nullable=True))
    op.add_column("run", sa.Column("crashes", sa.Integer(), server_default="0", nullable=False))
    op.add_column("run", sa.Column("alone", sa.Integer(), server_default="0", nullable=False))
    op.add_column("run", sa.Column("new_items", sa.Integer(), server_default="0", nullable=False))
    op.create_index("run_scraper", "run", ["scraper", "id"])
    op.create_index("run_state", "run", ["state", "id"])
    wanted = sa.text("wanted <> ''")
    op.create_index("run_wanted", "run", ["id"], sqlite_where=wanted, postgresql_where=wanted)
    op.create_index("run_verdict", "run", ["verdict", "id"])
    op.create_index("request_run", "request", ["run_id", "id"])
    op.create_index("item_scraper", "item", ["scraper", "id"])
    failed = sa.text("state = 3")
    op.create_index("request_failed", "request", ["reason", "id"], sqlite_where=failed, postgresql_where=failed)
    op.add_column("source", sa.Column("paused", sa.Integer(), server_default="0", nullable=False))
    op.add_column("source", sa.Column("budget", sa.Integer(), nullable=True))
    op.add_column("source", sa.Column("ruled_by", sa.Text(), server_default="", nullable=False))
    ruled = sa.text("paused = 1 or budget is not null")
    op.create_index("source_ruled", "source", ["host"], sqlite_where=ruled, postgresql_where=ruled)


def _schedules() -> None:
    op.create_table(
        "schedule",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("declared", sa.Text(), server_default="{}", nullable=False),
        sa.Column("overrides", sa.Text(), server_default="{}", nullable=False),
        sa.Column("anchor", sa.Float(), nullable=False),
        sa.Column("next_due", sa.Float(), nullable=True),
        sa.Column("updated", sa.Float(), nullable=False),
        sa.Column("updated_by", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "firing",
        sa.Column("schedule", sa.Text(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("run_id", BIG, nullable=True),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("schedule", "due"),
        sqlite_with_rowid=False,
    )
    op.create_index("firing_at", "firing", ["at"])
    op.create_table(
        "scraper",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text(), server_default="", nullable=False),
        sa.Column("enabled", sa.Integer(), server_default="1", nullable=False),
        sa.Column("config", sa.Text(), server_default="{}", nullable=False),
        sa.Column("runs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("successes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("seconds", sa.Float(), server_default="0", nullable=False),
        sa.Column("items", BIG, server_default="0", nullable=False),
        sa.Column("new_items", BIG, server_default="0", nullable=False),
        sa.Column("last_run", BIG, nullable=True),
        sa.Column("last_state", sa.Text(), server_default="", nullable=False),
        sa.Column("last_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("last_ended", sa.Float(), nullable=True),
        sa.Column("last_new", sa.Float(), nullable=True),
        sa.Column("streak", sa.Integer(), server_default="0", nullable=False),
        sa.Column("breaker", sa.Text(), server_default="closed", nullable=False),
        sa.Column("openings", sa.Integer(), server_default="0", nullable=False),
        sa.Column("open_until", sa.Float(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )


def _alerts() -> None:
    op.create_table(
        "alert",
        sa.Column("id", BIG, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("scraper", sa.Text(), server_default="", nullable=False),
        sa.Column("run_id", BIG, nullable=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("seen", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("alert_key", "alert", ["key"], unique=True)
    unseen = sa.text("seen is null")
    op.create_index("alert_unseen", "alert", ["id"], sqlite_where=unseen, postgresql_where=unseen)
    op.create_table(
        "dispatch",
        sa.Column("alert_id", BIG, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alert.id"]),
        sa.PrimaryKeyConstraint("alert_id", "target"),
        sqlite_with_rowid=False,
    )
    unsent = sa.text("state = 'waiting'")
    op.create_index("dispatch_due", "dispatch", ["next_at"], sqlite_where=unsent, postgresql_where=unsent)


def _logs() -> None:
    op.create_table(
        "event",
        sa.Column("id", BIG, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("run_id", BIG, nullable=True),
        sa.Column("scraper", sa.Text(), server_default="", nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("data", sa.Text(), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("event_run", "event", ["run_id", "id"])
    op.create_index("event_level", "event", ["level", "id"])
    op.create_index("event_scraper", "event", ["scraper", "id"])
    op.create_table(
        "trail",
        sa.Column("id", BIG, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("via", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), server_default="{}", nullable=False),
        sa.Column("address", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def _people() -> None:
    op.create_table(
        "account",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.Column("disabled", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "token",
        sa.Column("id", BIG, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.Column("expires", sa.Float(), nullable=True),
        sa.Column("used", sa.Float(), nullable=True),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("token_digest", "token", ["digest"], unique=True)
    op.create_table(
        "session",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_with_rowid=False,
    )
    op.create_index("session_account", "session", ["account"])


def _counts() -> None:
    op.create_table(
        "tick",
        sa.Column("minute", BIG, nullable=False),
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("pages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retried", sa.Integer(), server_default="0", nullable=False),
        sa.Column("skipped", sa.Integer(), server_default="0", nullable=False),
        sa.Column("items", sa.Integer(), server_default="0", nullable=False),
        sa.Column("size", BIG, server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("minute", "scraper"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "cause",
        sa.Column("hour", BIG, nullable=False),
        sa.Column("scraper", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("hour", "scraper", "reason"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "mark",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), server_default="", nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "worker",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("data", sa.Text(), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )


def _count_past_runs() -> None:
    """What ended before is counted too, as far as runs tell it."""
    op.execute(
        "insert into scraper (name, runs, successes, failures, seconds, items, last_run) "
        "select scraper, count(*), sum(case when state in ('finished', 'stopped') then 1 else 0 end), "
        "sum(case when state = 'failed' then 1 else 0 end), sum(seconds), sum(items), max(id) "
        "from run where state in ('finished', 'stopped', 'failed') group by scraper"
    )
    op.execute(
        "update scraper set last_state = run.state, last_reason = run.reason, last_ended = run.ended "
        "from run where run.id = scraper.last_run"
    )
