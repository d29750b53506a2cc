"""The tables, in SQLAlchemy Core: one schema for every store.

Only migrations, `gossamer db` and tests import this module; the hot statements are written by hand in each store.
What only one kind of database has says so.
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy import event as events

metadata = MetaData()

#: Row numbers and sizes: 64 bits everywhere (SQLite's Integer has them, and only it makes a rowid).
Big = BigInteger().with_variant(Integer(), "sqlite")

WANTED = text("wanted <> ''")


def only_sqlite(column: str, parent: str) -> ForeignKeyConstraint:
    """A foreign key of a table that the walk writes by the thousand: PostgreSQL would lock a row of its parent."""
    key = ForeignKeyConstraint([column], [parent])
    key.ddl_if(dialect="sqlite")
    return key


#: One execution of one scraper.
run = Table(
    "run",
    metadata,
    Column("id", Big, primary_key=True),
    Column("scraper", Text, nullable=False),
    Column("ref", Text, nullable=False),
    Column("signature", Text, nullable=False),
    Column("params", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("created", Float, nullable=False),
    Column("ended", Float),
    Column("seconds", Float, nullable=False, server_default="0"),
    # Whether every start request is in the frontier.
    Column("seeded", Integer, nullable=False, server_default="0"),
    Column("settled", Integer, nullable=False, server_default="0"),
    Column("pages", Integer, nullable=False, server_default="0"),
    Column("items", Integer, nullable=False, server_default="0"),
    Column("failed", Integer, nullable=False, server_default="0"),
    Column("skipped", Integer, nullable=False, server_default="0"),
    Column("retried", Integer, nullable=False, server_default="0"),
    Column("size", Big, nullable=False, server_default="0"),
    # Records that became no items.
    Column("rejected", Integer, nullable=False, server_default="0"),
    # What the drift gate says of it: see Verdict.
    Column("verdict", Text, nullable=False, server_default=""),
    # What its pages were read with: model, parser, steps and their versions (JSON).
    Column("reading", Text, nullable=False, server_default="{}"),
    # Who asked for it, through which door, and whether that door is the author's own.
    Column("asked_by", Text, nullable=False, server_default=""),
    Column("via", Text, nullable=False, server_default="cli"),
    Column("trusted", Integer, nullable=False, server_default="1"),
    # What somebody wants of whoever walks it: "" or "cancel".
    Column("wanted", Text, nullable=False, server_default=""),
    # When it was first walked.
    Column("started", Float),
    # How often the process that walked it died of something inside, and whether it was walked alone then.
    Column("crashes", Integer, nullable=False, server_default="0"),
    Column("alone", Integer, nullable=False, server_default="0"),
    # Of its items, those that no run had seen before.
    Column("new_items", Integer, nullable=False, server_default="0"),
    # Whether workers walk it together, which of several such runs goes first, and the most workers at the same time.
    Column("cluster", Integer, nullable=False, server_default="0"),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("workers", Integer),
    # Its counters when a person last started it: budgets count from there.
    Column("begun_pages", Integer, nullable=False, server_default="0"),
    Column("begun_items", Integer, nullable=False, server_default="0"),
    Index("run_signature", "signature"),
    Index("run_scraper", "scraper", "id"),
    Index("run_state", "state", "id"),
    Index("run_wanted", "id", sqlite_where=WANTED, postgresql_where=WANTED),
    Index("run_verdict", "verdict", "id"),
)

#: How often each reason ended a walk, per run.
run_reason = Table(
    "run_reason",
    metadata,
    Column("run_id", Big, ForeignKey("run.id"), nullable=False),
    Column("reason", Text, nullable=False),
    Column("n", Integer, nullable=False),
    PrimaryKeyConstraint("run_id", "reason"),
    sqlite_with_rowid=False,
)

#: Who may walk a run's requests: shard -1 is the whole run, -2 is who seeds, watches and ends it for many workers.
lease = Table(
    "lease",
    metadata,
    Column("run_id", Big, ForeignKey("run.id"), nullable=False),
    Column("shard", Integer, nullable=False),
    Column("owner", Text),
    Column("token", Big, nullable=False),
    Column("until", Float, nullable=False),
    # When workers were last told of it.
    Column("ticket_at", Float),
    # How many owners in a row died holding it.
    Column("crashes", Integer, nullable=False, server_default="0"),
    Column("acquired", Float, nullable=False, server_default="0"),
    # Until when whoever walked it last had nothing to do.
    Column("rest_until", Float, nullable=False, server_default="0"),
    PrimaryKeyConstraint("run_id", "shard"),
    Index("lease_owner", "owner"),
    Index("lease_shard", "shard", "until"),
    sqlite_with_rowid=False,
)

WAITING = text("state = 0 and not_before = 0")
PARKED = text("state = 0 and not_before > 0")
CLAIMED = text("state = 0 and token is not null")
ROOTS = text("depth = 0")
FAILED = text("state = 3")
UNSENT = text("state = 'waiting'")
UNSEEN = text("seen is null")
RULED = text("paused = 1 or budget is not null")

#: The frontier, and the memory of every URL: waiting (0), done (1), skipped (2), failed (3).
request = Table(
    "request",
    metadata,
    Column("id", Big, primary_key=True),
    Column("run_id", Big, nullable=False),
    Column("digest", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("shard", Integer, nullable=False),
    Column("handler", Text, nullable=False),
    Column("extra", Text),
    Column("depth", Integer, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("hops", Integer, nullable=False),
    Column("found_on", Big),
    Column("state", Integer, nullable=False, server_default="0"),
    Column("not_before", Float, nullable=False, server_default="0"),
    Column("token", Big),
    Column("claims", Integer, nullable=False, server_default="0"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    # The last fetch: earlier ones are in `fetch`.
    Column("reason", Text),
    Column("detail", Text),
    Column("status", Integer),
    Column("size", Big),
    Column("started", Float),
    Column("elapsed", Float),
    only_sqlite("run_id", "run.id"),
    Index("request_known", "run_id", "digest", unique=True),
    # For people who look through one run of many. It only ever grows at the end of a run's part: that costs little.
    Index("request_run", "run_id", "id"),
    Index(
        "request_ready",
        "run_id",
        "host",
        text("priority desc"),
        "id",
        "depth",  # so that levels are told apart without reading the rows
        sqlite_where=WAITING,
    ).ddl_if(dialect="sqlite"),
    Index("request_parked", "run_id", "not_before", sqlite_where=PARKED).ddl_if(dialect="sqlite"),
    # Workers take the hosts of one shard each.
    Index(
        "request_ready", "run_id", "shard", "host", text("priority desc"), "id", "depth", postgresql_where=WAITING
    ).ddl_if(dialect="postgresql"),
    Index("request_parked", "run_id", "shard", "not_before", postgresql_where=PARKED).ddl_if(dialect="postgresql"),
    Index("request_roots", "run_id", "host", sqlite_where=ROOTS, postgresql_where=ROOTS),
    Index("request_claimed", "run_id", sqlite_where=CLAIMED, postgresql_where=CLAIMED),
    Index("request_failed", "reason", "id", sqlite_where=FAILED, postgresql_where=FAILED),
)

#: Exchanges that no request row tells of: failed attempts and robots.txt.
fetch = Table(
    "fetch",
    metadata,
    Column("id", Big, primary_key=True),
    Column("run_id", Big, nullable=False),
    Column("request_id", Big),
    Column("url", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("started", Float, nullable=False),
    Column("elapsed", Float, nullable=False),
    Column("status", Integer, nullable=False),
    Column("size", Big, nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", Text),
    only_sqlite("run_id", "run.id"),
    Index("fetch_request", "request_id"),
    Index("fetch_run", "run_id"),
)

#: What tells items of a scraper apart. Kinds and keys may be longer than an index of PostgreSQL takes.
KNOWN = text("gossamer_known(kind, key)")
_KNOWN_FUNCTION = r"""
create or replace function gossamer_known(kind text, key text) returns bytea
language sql immutable strict parallel safe
as $$ select sha256(replace(length(kind)::text || ' ' || kind || key, '\', '\\')::bytea) $$
"""
events.listen(metadata, "before_create", DDL(_KNOWN_FUNCTION).execute_if(dialect="postgresql"))  # type: ignore[no-untyped-call]

#: What was collected: one row a record, whichever runs saw it.
item = Table(
    "item",
    metadata,
    Column("id", Big, primary_key=True),
    Column("scraper", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("first_seen", Float, nullable=False),
    Column("last_seen", Float, nullable=False),
    Column("last_changed", Float, nullable=False),
    Column("times_seen", Integer, nullable=False, server_default="1"),
    # Where it stands in the log of changes: grows whenever it is new, changed, gone or back.
    Column("seq", Big, nullable=False, server_default="0"),
    # Since when it is gone, if it is.
    Column("gone", Float),
    # The runs that saw it first and last; 0: nobody knows.
    Column("first_run", Big, nullable=False, server_default="0"),
    Column("last_run", Big, nullable=False, server_default="0"),
    Index("item_known", "scraper", "kind", "key", unique=True).ddl_if(dialect="sqlite"),
    Index("item_known", KNOWN, "scraper", unique=True).ddl_if(dialect="postgresql"),
    Index("item_seq", "seq").ddl_if(dialect="sqlite"),
    Index("item_seq", "seq", "id").ddl_if(dialect="postgresql"),
    Index("item_scraper", "scraper", "id"),
)

#: In PostgreSQL, an item's data as it can look into them: null where they are no JSON that jsonb holds.
RECORD = "record"
_FUNCTION = """
create or replace function gossamer_jsonb(data text) returns jsonb language plpgsql immutable strict as $$
begin
    return data::jsonb;
exception when others then
    return null;
end
$$
"""
_ADDED = f"alter table item add column {RECORD} jsonb generated always as (gossamer_jsonb(data)) stored"
for _statement in (_FUNCTION, _ADDED):
    events.listen(item, "after_create", DDL(_statement).execute_if(dialect="postgresql"))  # type: ignore[no-untyped-call]

#: What an item was before each change: "changed", "gone" or "back". What it became is what the next change,
#: or the item itself, says.
change = Table(
    "change",
    metadata,
    Column("id", Big, primary_key=True),
    Column("item_id", Big, nullable=False),
    Column("run_id", Big),
    Column("at", Float, nullable=False),
    Column("what", Text, nullable=False),
    Column("before", Text, nullable=False),
    only_sqlite("item_id", "item.id"),
    Index("change_item", "item_id", "id"),
    Index("change_at", "at"),
)

#: Items of a run that the drift gate has not let through: they wait, or are held back.
staged = Table(
    "staged",
    metadata,
    Column("id", Big, primary_key=True),
    Column("run_id", Big, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("request_id", Big, nullable=False),
    Column("seen", Float, nullable=False),
    # On how many pages the run saw it.
    Column("times", Integer, nullable=False, server_default="1"),
    only_sqlite("run_id", "run.id"),
    Index("staged_known", "run_id", "kind", "key", unique=True).ddl_if(dialect="sqlite"),
    Index("staged_known", KNOWN, "run_id", unique=True).ddl_if(dialect="postgresql"),
    Index("staged_run", "run_id", "id").ddl_if(dialect="postgresql"),
    Index("staged_request", "request_id"),
)

#: Records that became no items, and why.
reject = Table(
    "reject",
    metadata,
    Column("id", Big, primary_key=True),
    Column("run_id", Big, nullable=False),
    Column("request_id", Big, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("step", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Float, nullable=False),
    only_sqlite("run_id", "run.id"),
    Index("reject_run", "run_id"),
    Index("reject_request", "request_id"),
)

#: What the items of a run were like, and what the drift gate found.
profile = Table(
    "profile",
    metadata,
    Column("run_id", Big, ForeignKey("run.id"), primary_key=True),
    Column("scraper", Text, nullable=False),
    Column("params", Text, nullable=False),
    Column("at", Float, nullable=False),
    # JSON: the profile, and the alarm if there was one.
    Column("data", Text, nullable=False),
    Column("alarm", Text),
    Index("profile_of", "scraper", "run_id"),
)

#: How far each sink has come.
sink = Table(
    "sink",
    metadata,
    Column("name", Text, nullable=False),
    Column("scraper", Text, nullable=False),
    Column("cursor", Big, nullable=False),
    Column("delivered", Big, nullable=False, server_default="0"),
    Column("objects", Big, nullable=False, server_default="0"),
    Column("failing", Text, nullable=False, server_default=""),
    Column("updated", Float, nullable=False),
    PrimaryKeyConstraint("name", "scraper"),
    sqlite_with_rowid=False,
)

#: Which run saw which item, and on which page.
sighting = Table(
    "sighting",
    metadata,
    Column("run_id", Big, nullable=False),
    Column("item_id", Big, nullable=False),
    Column("request_id", Big, nullable=False),
    only_sqlite("run_id", "run.id"),
    only_sqlite("item_id", "item.id"),
    only_sqlite("request_id", "request.id"),
    PrimaryKeyConstraint("run_id", "item_id"),
    Index("sighting_request", "request_id"),
    sqlite_with_rowid=False,
)

#: What is known of a host, over all runs.
source = Table(
    "source",
    metadata,
    Column("host", Text, primary_key=True),
    Column("last_hit", Float, nullable=False),
    Column("ready_at", Float, nullable=False),
    Column("interval", Float, nullable=False, server_default="0"),
    Column("crawl_delay", Float, nullable=False, server_default="0"),
    Column("latency", Float, nullable=False, server_default="0"),
    Column("breaker", Text, nullable=False, server_default="closed"),
    Column("openings", Integer, nullable=False, server_default="0"),
    Column("open_until", Float, nullable=False, server_default="0"),
    Column("why", Text, nullable=False, server_default=""),
    # What people said of it: left alone, and the most pages of it that one run may walk.
    Column("paused", Integer, nullable=False, server_default="0"),
    Column("budget", Integer),
    Column("ruled_by", Text, nullable=False, server_default=""),
    Index("source_ruled", "host", sqlite_where=RULED, postgresql_where=RULED),
    sqlite_with_rowid=False,
)

#: Every version of every robots.txt: what was forbidden when a page was fetched can be told later.
robots = Table(
    "robots",
    metadata,
    Column("id", Big, primary_key=True),
    Column("origin", Text, nullable=False),
    Column("fetched", Float, nullable=False),
    Column("checked", Float, nullable=False),
    Column("status", Integer, nullable=False),
    # Compressed (zlib).
    Column("body", LargeBinary, nullable=False),
    Column("closed", Text),
    Index("robots_origin", "origin"),
)

#: What hosts asked for and what we decided about them. It outlives the run that noticed it.
notice = Table(
    "notice",
    metadata,
    Column("id", Big, primary_key=True),
    Column("host", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("kind", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("detail", Text, nullable=False),
    Column("run_id", Big),
    Index("notice_host", "host"),
)

#: Each start of a run, with the limits it promised to keep.
start = Table(
    "start",
    metadata,
    Column("id", Big, primary_key=True),
    Column("run_id", Big, nullable=False),
    Column("at", Float, nullable=False),
    Column("limits", Text, nullable=False),
    only_sqlite("run_id", "run.id"),
    Index("start_run", "run_id"),
)

#: What a page was like when a scraper last read it.
visit = Table(
    "visit",
    metadata,
    Column("scraper", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("fetched", Float, nullable=False),
    Column("checked", Float, nullable=False),
    Column("etag", Text),
    Column("modified", Text),
    Column("sha256", Text, nullable=False),
    # What came out of it, requests and items: JSON, compressed (zlib).
    Column("gave", LargeBinary, nullable=False),
    PrimaryKeyConstraint("scraper", "digest"),
)

#: When a scraper runs by itself: what its file declares, and what people changed.
schedule = Table(
    "schedule",
    metadata,
    Column("name", Text, nullable=False),
    Column("scraper", Text, nullable=False),
    Column("declared", Text, nullable=False, server_default="{}"),
    Column("overrides", Text, nullable=False, server_default="{}"),
    Column("anchor", Float, nullable=False),
    Column("next_due", Float),
    Column("updated", Float, nullable=False),
    Column("updated_by", Text, nullable=False, server_default=""),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

#: Each time a schedule came due, once: whoever writes the row first is the one who fires.
firing = Table(
    "firing",
    metadata,
    Column("schedule", Text, nullable=False),
    Column("due", Float, nullable=False),
    Column("at", Float, nullable=False),
    Column("what", Text, nullable=False),
    Column("run_id", Big),
    Column("detail", Text, nullable=False, server_default=""),
    PrimaryKeyConstraint("schedule", "due"),
    Index("firing_at", "at"),
    sqlite_with_rowid=False,
)

#: What is known of a scraper over all its runs, counted when a run ends.
scraper = Table(
    "scraper",
    metadata,
    Column("name", Text, nullable=False),
    # How a service that knows it loads it.
    Column("ref", Text, nullable=False, server_default=""),
    Column("enabled", Integer, nullable=False, server_default="1"),
    Column("config", Text, nullable=False, server_default="{}"),
    Column("runs", Integer, nullable=False, server_default="0"),
    Column("successes", Integer, nullable=False, server_default="0"),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("seconds", Float, nullable=False, server_default="0"),
    Column("items", Big, nullable=False, server_default="0"),
    Column("new_items", Big, nullable=False, server_default="0"),
    Column("last_run", Big),
    Column("last_state", Text, nullable=False, server_default=""),
    Column("last_reason", Text, nullable=False, server_default=""),
    Column("last_ended", Float),
    Column("last_new", Float),
    Column("streak", Integer, nullable=False, server_default="0"),
    Column("breaker", Text, nullable=False, server_default="closed"),
    Column("openings", Integer, nullable=False, server_default="0"),
    Column("open_until", Float, nullable=False, server_default="0"),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

#: What people should hear of; `key` keeps one thing from being told twice.
alert = Table(
    "alert",
    metadata,
    Column("id", Big, primary_key=True),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("scraper", Text, nullable=False, server_default=""),
    Column("run_id", Big),
    Column("at", Float, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False, server_default=""),
    Column("seen", Float),
    Index("alert_key", "key", unique=True),
    Index("alert_unseen", "id", sqlite_where=UNSEEN, postgresql_where=UNSEEN),
)

#: Each alert on its way to each receiver.
dispatch = Table(
    "dispatch",
    metadata,
    Column("alert_id", Big, ForeignKey("alert.id"), nullable=False),
    Column("target", Text, nullable=False),
    Column("state", Text, nullable=False, server_default="waiting"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("next_at", Float, nullable=False),
    Column("error", Text, nullable=False, server_default=""),
    PrimaryKeyConstraint("alert_id", "target"),
    Index("dispatch_due", "next_at", sqlite_where=UNSENT, postgresql_where=UNSENT),
    sqlite_with_rowid=False,
)

#: The events worth keeping, for people to look through.
event = Table(
    "event",
    metadata,
    Column("id", Big, primary_key=True),
    Column("at", Float, nullable=False),
    Column("level", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("run_id", Big),
    Column("scraper", Text, nullable=False, server_default=""),
    Column("message", Text, nullable=False, server_default=""),
    Column("data", Text, nullable=False, server_default="{}"),
    Index("event_run", "run_id", "id"),
    Index("event_level", "level", "id"),
    Index("event_scraper", "scraper", "id"),
)

#: Who did what.
trail = Table(
    "trail",
    metadata,
    Column("id", Big, primary_key=True),
    Column("at", Float, nullable=False),
    Column("who", Text, nullable=False),
    Column("via", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False, server_default=""),
    Column("detail", Text, nullable=False, server_default="{}"),
    Column("address", Text, nullable=False, server_default=""),
)

#: People who may log in.
account = Table(
    "account",
    metadata,
    Column("name", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("created_by", Text, nullable=False, server_default=""),
    Column("disabled", Float),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

#: Keys of programs: only their digests.
token = Table(
    "token",
    metadata,
    Column("id", Big, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("created_by", Text, nullable=False, server_default=""),
    Column("expires", Float),
    Column("used", Float),
    Column("revoked", Float),
    Index("token_digest", "digest", unique=True),
)

#: People who are logged in: only the digests of their cookies.
session = Table(
    "session",
    metadata,
    Column("digest", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("seen", Float, nullable=False),
    Column("expires", Float, nullable=False),
    PrimaryKeyConstraint("digest"),
    Index("session_account", "account"),
    sqlite_with_rowid=False,
)

#: What was settled in each minute, by scraper.
tick = Table(
    "tick",
    metadata,
    Column("minute", Big, nullable=False),
    Column("scraper", Text, nullable=False),
    Column("pages", Integer, nullable=False, server_default="0"),
    Column("failed", Integer, nullable=False, server_default="0"),
    Column("retried", Integer, nullable=False, server_default="0"),
    Column("skipped", Integer, nullable=False, server_default="0"),
    Column("items", Integer, nullable=False, server_default="0"),
    Column("size", Big, nullable=False, server_default="0"),
    PrimaryKeyConstraint("minute", "scraper"),
    sqlite_with_rowid=False,
)

#: How often each reason failed a walk, by hour and scraper.
cause = Table(
    "cause",
    metadata,
    Column("hour", Big, nullable=False),
    Column("scraper", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("n", Integer, nullable=False, server_default="0"),
    PrimaryKeyConstraint("hour", "scraper", "reason"),
    sqlite_with_rowid=False,
)

#: URLs that people said shall not be fetched.
mark = Table(
    "mark",
    metadata,
    Column("digest", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("by", Text, nullable=False, server_default=""),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("digest"),
    sqlite_with_rowid=False,
)

#: Processes that walk runs, and what they are at.
worker = Table(
    "worker",
    metadata,
    Column("name", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", Float, nullable=False),
    Column("at", Float, nullable=False),
    Column("data", Text, nullable=False, server_default="{}"),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)
