"""Runs that several workers share; and in PostgreSQL what only it can do for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from gossamer import urls

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

#: The walk writes these by the thousand, in transactions that must not wait for one another's rows.
UNBOUND = {
    "request": ["run_id"],
    "fetch": ["run_id"],
    "sighting": ["run_id", "item_id", "request_id"],
    "staged": ["run_id"],
    "reject": ["run_id"],
    "change": ["item_id"],
    "start": ["run_id"],
}

#: An item's data as PostgreSQL can look into it; null where it is no JSON, or none that jsonb can hold.
FUNCTION = """
create or replace function gossamer_jsonb(data text) returns jsonb language plpgsql immutable strict as $$
begin
    return data::jsonb;
exception when others then
    return null;
end
$$
"""

#: What tells items of a scraper apart. Kinds and keys may be longer than an index of PostgreSQL takes.
KNOWN = r"""
create or replace function gossamer_known(kind text, key text) returns bytea
language sql immutable strict parallel safe
as $$ select sha256(replace(length(kind)::text || ' ' || kind || key, '\', '\\')::bytea) $$
"""


def upgrade() -> None:
    _runs()
    _leases()
    if op.get_bind().dialect.name == "postgresql":
        _records()
        _known()
        _without_foreign_keys()
        _by_shard()
        _shards_anew()


def _runs() -> None:
    op.add_column("run", sa.Column("cluster", sa.Integer(), server_default="0", nullable=False))
    op.add_column("run", sa.Column("priority", sa.Integer(), server_default="0", nullable=False))
    op.add_column("run", sa.Column("workers", sa.Integer(), nullable=True))
    op.add_column("run", sa.Column("begun_pages", sa.Integer(), server_default="0", nullable=False))
    op.add_column("run", sa.Column("begun_items", sa.Integer(), server_default="0", nullable=False))


def _leases() -> None:
    op.add_column("lease", sa.Column("ticket_at", sa.Float(), nullable=True))
    op.add_column("lease", sa.Column("crashes", sa.Integer(), server_default="0", nullable=False))
    op.add_column("lease", sa.Column("acquired", sa.Float(), server_default="0", nullable=False))
    op.add_column("lease", sa.Column("rest_until", sa.Float(), server_default="0", nullable=False))
    op.create_index("lease_owner", "lease", ["owner"])
    op.create_index("lease_shard", "lease", ["shard", "until"])


def _records() -> None:
    op.execute(FUNCTION)
    op.execute("alter table item add column record jsonb generated always as (gossamer_jsonb(data)) stored")


def _known() -> None:
    op.execute(KNOWN)
    op.drop_index("item_known", "item")
    op.drop_index("staged_known", "staged")
    op.drop_index("item_seq", "item")
    known = sa.text("gossamer_known(kind, key)")
    op.create_index("item_known", "item", [known, "scraper"], unique=True)
    op.create_index("staged_known", "staged", [known, "run_id"], unique=True)
    # SQLite's indexes end with the row's number by themselves.
    op.create_index("item_seq", "item", ["seq", "id"])
    op.create_index("staged_run", "staged", ["run_id", "id"])


def _without_foreign_keys() -> None:
    for table, columns in UNBOUND.items():
        for column in columns:
            op.drop_constraint(f"{table}_{column}_fkey", table, type_="foreignkey")


def _by_shard() -> None:
    op.drop_index("request_ready", "request")
    op.drop_index("request_parked", "request")
    ready: list[str | sa.TextClause] = ["run_id", "shard", "host", sa.text("priority desc"), "id", "depth"]
    waiting, parked = sa.text("state = 0 and not_before = 0"), sa.text("state = 0 and not_before > 0")
    op.create_index("request_ready", "request", ready, postgresql_where=waiting)
    op.create_index("request_parked", "request", ["run_id", "shard", "not_before"], postgresql_where=parked)


def _shards_anew() -> None:
    """Hosts that may share a pace are in one shard now."""
    connection = op.get_bind()
    hosts = connection.execute(sa.text("select distinct host, shard from request")).all()
    moved = [{"host": host, "shard": urls.shard(host)} for host, shard in hosts if urls.shard(host) != shard]
    if moved:
        connection.execute(sa.text("update request set shard = :shard where host = :host"), moved)
