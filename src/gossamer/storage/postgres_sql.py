"""The SQL of the PostgreSQL store.

Rows travel as arrays, one for each column: one statement and one round trip, however many there are. Who locks rows
of requests does so in the order of their ids, and nothing is inserted among them after that: two who write at the
same time may wait for one another, but never in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping


def unnested(first: int, types: Mapping[str, str], *, ordered: bool = False) -> str:
    """Arrays from the parameter `first` on, as rows.

    >>> unnested(2, {"id": "bigint", "host": "text"})
    'unnest($2::bigint[], $3::text[]) as row(id, host)'
    """
    arrays = ", ".join(f"${n}::{kind}[]" for n, kind in enumerate(types.values(), first))
    names = ", ".join(types)
    return f"unnest({arrays}) with ordinality as row({names}, nth)" if ordered else f"unnest({arrays}) as row({names})"


NOW = "extract(epoch from clock_timestamp())::float8"

# -- runs ------------------------------------------------------------------------------------------------------

NEW_RUN = """
insert into run (scraper, ref, signature, params, options, reading, state, created, asked_by, via, trusted)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, 'pending', $7::float8, $8::text, $9::text, $10::int)
returning id
"""

_RUN = """
select json_build_object(
    'id', id, 'scraper', scraper, 'ref', ref, 'signature', signature, 'params', params::json,
    'options', options::json, 'state', state, 'reason', reason, 'created', created, 'ended', ended,
    'seconds', seconds, 'seeded', seeded = 1, 'settled', settled, 'pages', pages,
    'items', items, 'failed', failed, 'skipped', skipped, 'retried', retried, 'size', size,
    'rejected', rejected, 'verdict', verdict, 'reading', reading::json,
    'asked_by', asked_by, 'via', via, 'trusted', trusted = 1, 'wanted', wanted,
    'started', started, 'new_items', new_items,
    'by_reason', (select coalesce(json_object_agg(reason, n), '{}') from run_reason where run_id = run.id)
)::text from run
"""
RUN = _RUN + "where id = $1::bigint"
RUNS = _RUN + "order by id desc limit $1::bigint"
# Added to, the id is no order that an index has: the few runs of a signature are looked up by it, and sorted.
NEWEST_RUN = _RUN + "where signature = $1::text order by id + 0 desc limit 1"
OPTIONS = "select options from run where id = $1::bigint"

# In an order that only an index has: else the planner, who thinks that some of many rows wait, looks for one among
# all rows, and reads them all when none does.
ANY_WAITING = """
select (select shard from request where run_id = $1::bigint and state = 0 and not_before = 0
        order by shard, host limit 1) is not null
    or (select shard from request where run_id = $1::bigint and state = 0 and not_before > 0
        order by shard, not_before limit 1) is not null
"""

RUN_STATE = "update run set state = $2::text, reason = $3::text, ended = null where id = $1::bigint"
RUN_STARTED = """
update run set state = 'running', reason = '', ended = null, started = coalesce(started, $2::float8)
where id = $1::bigint
"""
# A wish that came too late is none any more; and what the run brought is known now.
RUN_ENDED = """
update run set state = $2::text, reason = $3::text, ended = $4::float8, wanted = '', new_items = (
    select count(*) from sighting join item on item.id = item_id
    where sighting.run_id = $1::bigint and item.first_run = $1::bigint
) where id = $1::bigint
"""
SEEDED = "update run set seeded = 1 where id = $1::bigint"

FORGOTTEN = "select (select id from request where run_id = $1::bigint order by id limit 1) is null"
FORGET_RUN = (
    "delete from lease where run_id = $1::bigint",
    "delete from start where run_id = $1::bigint",
    "delete from run_reason where run_id = $1::bigint",
    "delete from run where id = $1::bigint",
)

SERVED = "select exists (select 1 from worker where at > $1::float8)"

# -- leases of whole runs --------------------------------------------------------------------------------------

TURN = "select pg_advisory_xact_lock($1::int, $2::int)"
#: Live leases: the one on a run as a whole first.
HELD = f"""
select run_id, shard, owner, until - {NOW} as seconds from lease
where owner is not null and until > {NOW} order by (run_id = $1::bigint and shard = -1) desc, until desc
"""  # noqa: S608 - only our own words are put in
WALKED = f"""
select owner from lease where run_id = $1::bigint and owner is not null and until > {NOW} order by shard
"""  # noqa: S608
OF_WORKERS = "select 'workers' from run where id = $1::bigint and cluster = 1 and state = 'running'"
TAKE_LEASE = f"""
insert into lease (run_id, shard, owner, token, until, acquired)
values ($1::bigint, -1, $2::text, 1, {NOW} + $3::float8, {NOW})
on conflict (run_id, shard) do update set owner = excluded.owner, token = lease.token + 1, until = excluded.until,
    acquired = excluded.acquired
returning token, until
"""  # noqa: S608
RELEASE = """
update lease set owner = null, until = 0 where run_id = $1::bigint and shard = $2::int and token = $3::bigint
"""
LEAVE = "update lease set until = 0 where shard = -1 and owner = any($1::text[])"
START = "insert into start (run_id, at, limits) values ($1::bigint, $2::float8, $3::text)"
UNCLAIM = """
with held as materialized (
    select id from request where run_id = $1::bigint and state = 0 and token is not null order by id for update
)
update request set token = null from held where request.id = held.id
"""
# A last fetch in the future: the clock was set back since, and what was to be waited is waited from now.
REDATE = """
with held as materialized (
    select id from request where run_id = $1::bigint and state = 0 and not_before > 0 and started > $2::float8
    order by id for update
)
update request set not_before = $2::float8 + greatest(0, not_before - started - elapsed)
from held where request.id = held.id
"""

# -- the frontier ----------------------------------------------------------------------------------------------

REQUEST = {
    "digest": "text",
    "url": "text",
    "host": "text",
    "shard": "int",
    "handler": "text",
    "extra": "text",
    "depth": "int",
    "priority": "int",
    "hops": "int",
    "found_on": "bigint",
    "state": "int",
    "reason": "text",
}
# Numbers are drawn in the order found, which is the order walked in. Rows go in in the order of their digests: two
# who find the same URLs wait for one another, one after the other.
ADD = f"""
with given as materialized (
    select nextval('request_id_seq') as id, row.* from {unnested(2, REQUEST, ordered=True)}
), fresh as (
    insert into request (id, run_id, {", ".join(REQUEST)})
    select id, $1::bigint, {", ".join(REQUEST)} from given order by digest collate "C", nth
    on conflict (run_id, digest) do nothing returning host, state, reason
)
select host, state, coalesce(reason, '') as reason, count(*) as n from fresh group by host, state, reason
"""  # noqa: S608
# A redirect's target that is known to wait deeper, or was dropped as too deep.
_DEEPER = """
    select known.id, row.depth from unnest({digests}::text[], {depths}::int[]) as row(digest, depth)
    cross join lateral (
        select id, depth from request where run_id = {run}::bigint and digest = row.digest
            and depth > row.depth and (state = 0 or (state = 2 and reason = 'depth')) limit 1
    ) as known
"""
# All rows that a settle changes, before it changes the first.
LOCK = "select id from request where id = any($1::bigint[]) order by id for update"
LOCK_DEEPER = f"""
select id from request where id = any(array(
    select unnest($1::bigint[]) union select id from ({_DEEPER.format(digests="$3", depths="$4", run="$2")}) as lifted
)) order by id for update
"""  # noqa: S608
LIFT = f"""
with deeper as materialized (
    select id, min(depth) as depth from ({_DEEPER.format(digests="$2", depths="$3", run="$1")}) as lifted group by id
), revived as materialized (
    select request.id, host, state from deeper join request on request.id = deeper.id
), lifted as (
    update request set depth = deeper.depth, state = 0, reason = null from deeper where request.id = deeper.id
)
select host, count(*) as n from revived where state = 2 group by host
"""  # noqa: S608

ROOTS = "select url from request where run_id = $1::bigint and depth = 0 order by host, id limit 100000"
# From one host to the next, without reading what lies between: a host may have a million.
_EACH_ROOT = """
with recursive each(host) as (
    (select host from request where run_id = $1::bigint and depth = 0 order by host limit 1)
    union all
    select next.host from each cross join lateral (
        select host from request where run_id = $1::bigint and depth = 0 and host > each.host order by host limit 1
    ) as next
)
"""
ROOTS_BY_HOST = f"""{_EACH_ROOT}
select one.url from each cross join lateral (
    select url from request where run_id = $1::bigint and depth = 0 and host = each.host limit 1
) as one
"""  # noqa: S608
_ROOTS_OF_HOSTS = """
select one.url from unnest($2::text[]) as each(host) cross join lateral (
    select url from request where run_id = $1::bigint and depth = 0 and host = each.host limit {most}
) as one
"""
ROOTS_OF_HOSTS, ROOTS_BY_HOST_OF_HOSTS = _ROOTS_OF_HOSTS.format(most=10_000), _ROOTS_OF_HOSTS.format(most=1)
# Of a host with a million start URLs, one is enough to know that it was given.
GIVEN_HOSTS = f"""{_EACH_ROOT}
select one.url from each cross join lateral (
    select url from request
    where run_id = $1::bigint and depth = 0 and host = each.host and hops = 0 and found_on is null limit 1
) as one
"""  # noqa: S608

HOSTS = """
select host, count(*) as n from request where run_id = $1::bigint and state = 0 and not_before = 0 group by host
"""
#: How many requests of a host are counted where a shard is asked for.
COUNTED = 1_000
HOSTS_OF_SHARD = f"""
with recursive each(host) as (
    (select host from request where run_id = $1::bigint and shard = $2::int and state = 0 and not_before = 0
        order by host limit 1)
    union all
    select next.host from each cross join lateral (
        select host from request where run_id = $1::bigint and shard = $2::int and state = 0 and not_before = 0
            and host > each.host order by host limit 1
    ) as next
)
select host, (
    select count(*) from (
        select 1 from request where run_id = $1::bigint and shard = $2::int and host = each.host
            and state = 0 and not_before = 0 limit {COUNTED + 1}
    ) as counted
) as n from each
"""  # noqa: S608
PEEK = """
select coalesce(json_agg(json_build_array(
    id, url, handler, depth, priority, attempts, hops, extra::json) order by priority desc, id), '[]')::text
from (
    select best.* from unnest($2::int[]) as one(shard) cross join lateral (
        select id, url, handler, depth, priority, attempts, hops, extra from request
        where run_id = $1::bigint and shard = one.shard and host = $3::text and state = 0 and not_before = 0
            and depth <= $4::int and id <> all($5::bigint[])
        order by priority desc, id limit $6::bigint
    ) as best order by priority desc, id limit $6::bigint
) as found
"""
LEVEL = """
select least(min(ready.depth), min(parked.depth)) from unnest($2::int[]) as one(shard)
left join lateral (
    select min(depth) as depth from request
    where run_id = $1::bigint and shard = one.shard and host = $3::text and state = 0 and not_before = 0
) as ready on true
left join lateral (
    select min(depth) as depth from request
    where run_id = $1::bigint and shard = one.shard and host = $3::text and state = 0 and not_before > 0
) as parked on true
"""

_OF_SHARD = "and shard = $2::int"
_NEXT_DUE = "select min(not_before) from request where run_id = $1::bigint {shard} and state = 0 and not_before > 0"
NEXT_DUE = _NEXT_DUE.format(shard="")
NEXT_DUE_OF_SHARD = _NEXT_DUE.format(shard=_OF_SHARD)
_WAKE = """
with due as materialized (
    select id from request where run_id = $1::bigint {shard} and state = 0
        and not_before > 0 and not_before <= {now}::float8 order by id for update
), woken as (
    update request set not_before = 0 from due where request.id = due.id returning host
)
select host, count(*) as n from woken group by host
"""
WAKE = _WAKE.format(shard="", now="$2")
WAKE_OF_SHARD = _WAKE.format(shard=_OF_SHARD, now="$3")
_PENDING = """
select (select settled from run where id = $1::bigint),
    (select count(*) from request where run_id = $1::bigint {shard} and state = 0 and not_before = 0),
    (select count(*) from request where run_id = $1::bigint {shard} and state = 0 and not_before > 0),
    (select min(not_before) from request where run_id = $1::bigint {shard} and state = 0 and not_before > 0),
    (select count(*) from request where run_id = $1::bigint {shard} and state = 0 and token is not null)
"""
PENDING = _PENDING.format(shard="")
PENDING_OF_SHARD = _PENDING.format(shard=_OF_SHARD)

# -- settling --------------------------------------------------------------------------------------------------

CLAIM = """
update request set token = $1::bigint, claims = claims + 1
where id = any($2::bigint[]) and state + 0 = 0 and token is distinct from $1::bigint
"""
CLOSED = {
    "id": "bigint",
    "state": "int",
    "not_before": "float8",
    "attempt": "int",
    "reason": "text",
    "detail": "text",
    "status": "int",
    "size": "bigint",
    "started": "float8",
    "elapsed": "float8",
}
CLOSE = f"""
update request set
    state = row.state, not_before = row.not_before, token = null, attempts = attempts + row.attempt,
    reason = row.reason, detail = row.detail, status = row.status, size = row.size,
    started = row.started, elapsed = row.elapsed
from {unnested(2, CLOSED)}
where request.id = row.id and request.run_id + 0 = $1::bigint and request.state + 0 = 0
"""  # noqa: S608 - what is added keeps the planner from looking requests up by anything but their id
FETCH = {
    "request_id": "bigint",
    "url": "text",
    "host": "text",
    "started": "float8",
    "elapsed": "float8",
    "status": "int",
    "size": "bigint",
    "reason": "text",
    "detail": "text",
}
LOG = f"""
insert into "fetch" (run_id, {", ".join(FETCH)}) select $1::bigint, row.* from {unnested(2, FETCH)}
"""  # noqa: S608
NOTICES_OF = {"host": "text", "at": "float8", "kind": "text", "seconds": "float8", "detail": "text"}
NOTICE = f"""
insert into notice (run_id, {", ".join(NOTICES_OF)}) select $1::bigint, row.* from {unnested(2, NOTICES_OF)}
"""  # noqa: S608

SOURCE_OF = {
    "host": "text",
    "last_hit": "float8",
    "ready_at": "float8",
    '"interval"': "float8",
    "crawl_delay": "float8",
    "latency": "float8",
    "breaker": "text",
    "openings": "int",
    "open_until": "float8",
    "why": "text",
}
_SOURCE = ", ".join(SOURCE_OF)
REMEMBER = f"""
insert into source ({_SOURCE}) select {_SOURCE} from {unnested(1, SOURCE_OF)}
on conflict (host) do update set {", ".join(f"{name} = excluded.{name}" for name in list(SOURCE_OF)[1:])}
"""  # noqa: S608

# All counters in one statement, which locks the run first and what its scraper shares with other runs last.
COUNT = """
with ran as (
    update run set settled = settled + $2::int, pages = pages + $3::int, items = items + $4::int,
        failed = failed + $5::int, skipped = skipped + $6::int, retried = retried + $7::int, size = size + $8::bigint,
        rejected = rejected + $9::int, seconds = seconds + $10::float8
    where id = $1::bigint returning pages, items
), reasons as (
    insert into run_reason (run_id, reason, n)
    select $1::bigint, row.reason, row.n from ran cross join unnest($11::text[], $12::int[]) as row(reason, n)
    on conflict (run_id, reason) do update set n = run_reason.n + excluded.n
), ticked as (
    insert into tick (minute, scraper, pages, failed, retried, skipped, items, size)
    select row.minute, row.scraper, $3::int, $5::int, $7::int, $6::int, $4::int, $8::bigint
    from ran cross join unnest($13::bigint[], $14::text[]) as row(minute, scraper)
    on conflict (minute, scraper) do update set pages = tick.pages + excluded.pages,
        failed = tick.failed + excluded.failed, retried = tick.retried + excluded.retried,
        skipped = tick.skipped + excluded.skipped, items = tick.items + excluded.items, size = tick.size + excluded.size
    returning tick.scraper
), caused as (
    insert into cause (hour, scraper, reason, n)
    select $15::bigint, ticked.scraper, row.reason, row.n
    from ticked cross join unnest($16::text[], $17::int[]) as row(reason, n)
    on conflict (hour, scraper, reason) do update set n = cause.n + excluded.n
)
select pages, items from ran
"""

# -- sources ---------------------------------------------------------------------------------------------------

SOURCE = f"select {_SOURCE} from source where host = $1::text"  # noqa: S608
SOURCES = f'select {_SOURCE} from source order by host collate "C"'  # noqa: S608
FORGET_SOURCE = "delete from source where host = $1::text"

ROBOTS = """
select origin, fetched, checked, status, body, closed, id from robots where origin = $1::text order by id desc
"""
NEWEST_ROBOTS = f"{ROBOTS} limit 1"
ADD_ROBOTS = """
insert into robots (origin, fetched, checked, status, body, closed)
values ($1::text, $2::float8, $3::float8, $4::int, $5::bytea, $6::text)
"""
CHECK_ROBOTS = "update robots set checked = $2::float8 where id = $1::bigint"
FORGET_ROBOTS = "delete from robots where origin in ('http://' || $1::text, 'https://' || $1::text)"
ROBOTS_TURN = "select pg_advisory_xact_lock($1::int, hashtext($2::text))"

VISITS = """
select coalesce(json_agg(json_build_array(
    digest, fetched, checked, etag, modified, sha256, encode(gave, 'hex'))), '[]')::text
from visit where scraper = $1::text and digest = any($2::text[])
"""

# -- reading ---------------------------------------------------------------------------------------------------

MARK = 'select "by", at from mark where digest = $1::text'
_STORY = """
select request.run_id, run.scraper, run.state as run_state, request.state, request.url, request.host, request.handler,
    request.extra, request.depth, request.priority, request.attempts, request.claims,
    request.token is not null and request.state = 0 as in_flight, request.not_before, request.reason, request.detail,
    request.status, request.size, request.started, request.elapsed,
    (select url from request as parent where parent.id = request.found_on) as found_on,
    (select coalesce(json_agg(json_build_array(started, elapsed, status, reason, detail) order by id), '[]')::text
    from (
        select id, started, elapsed, status, reason, detail from "fetch"
        where request_id = request.id and "fetch".url = request.url order by id limit 50) as fetched) as fetches,
    (select coalesce(json_agg(json_build_array(kind, key)), '[]')::text from (
        select kind, key from sighting join item on item.id = item_id where sighting.request_id = request.id
        union all select kind, key from staged where staged.request_id = request.id limit 50) as given) as items,
    (select coalesce(json_agg(json_build_array(step, reason) order by id), '[]')::text from (
        select id, step, reason from reject where reject.request_id = request.id order by id limit 50) as refused
    ) as rejects,
    exists (select 1 from staged where staged.request_id = request.id) as held
from request join run on run.id = request.run_id
"""
# Plain requests are found by their digest, however the URL is spelled; others, whose digest says more than their URL,
# by reading all rows: only when a person asks.
STORIES = f"""{_STORY}
where request.id = any(array(
    select known.id from run cross join lateral (
        select id from request where run_id = run.id and digest = $1::text limit 1
    ) as known
    union select id from request where url = $2::text
)) order by request.run_id desc, request.id limit 100
"""  # noqa: S608

# A settled request's row tells of its last fetch. One that waits again does so too, but its fetch is in the log.
_FETCH_LOG = """
select * from (
    select run_id, id, url, host, started, elapsed, coalesce(status, 0), coalesce(reason, '') from request
    where started > 0 {of_run} and (state <> 0 or not exists (
        select 1 from "fetch" where "fetch".request_id = request.id and "fetch".started = request.started))
    union all
    select run_id, coalesce(request_id, 0), url, host, started, elapsed, status, reason from "fetch"
    where started > 0 {of_run}
) as line order by host collate "C", started, run_id
"""
FETCH_LOG = _FETCH_LOG.format(of_run="")
FETCH_LOG_OF_RUN = _FETCH_LOG.format(of_run="and run_id = $1::bigint")

_STARTS = "select run_id, at, limits from start"
STARTS = f"{_STARTS} order by id"
STARTS_OF_RUN = f"{_STARTS} where run_id = $1::bigint order by id"
_NOTICES = "select host, at, kind, seconds, detail from notice"
NOTICES = f"{_NOTICES} order by at, id"
NOTICES_OF_HOST = f"{_NOTICES} where host = $1::text order by at, id"
# A dropped link was never closed by a walk: it has no `started`, not even 0.
HOST_COUNTS = """
select host, count(*) as n from request where run_id = $1::bigint and (state <> 2 or started is not null) group by host
"""
HOST_TABLE = """
select * from (
    select host, count(*) filter (where state = 1 and reason = 'ok') as pages,
        count(*) filter (where state = 1 and reason in ('unchanged', 'fresh')) as unchanged,
        count(*) filter (where state = 3) as failed, count(*) filter (where state = 2) as skipped,
        count(*) filter (where state = 0) as waiting, coalesce(sum(size), 0)::bigint as size,
        sum(attempts)::bigint as retries, min(nullif(started, 0)) as first, max(started) as last
    from request where run_id = $1::bigint group by host
) as each where pages > 0 or unchanged > 0 or failed > 0 or waiting > 0 or retries > 0
order by pages desc, host collate "C" limit 100
"""

_PAGES = """
select request.id, run_id, url, request.state, request.reason, status, depth, attempts, request.size, request.started,
    elapsed, detail
from {tables} where request.id > $1::bigint {only} order by request.id limit 1000
"""
PAGES = _PAGES.format(tables="request", only="")
PAGES_OF_RUN = _PAGES.format(tables="request", only="and run_id = $2::bigint")
PAGES_OF_SCRAPER = _PAGES.format(
    tables="request join run on run.id = run_id",
    only="and run.scraper = $3::text and ($2::bigint is null or run_id = $2::bigint)",
)
