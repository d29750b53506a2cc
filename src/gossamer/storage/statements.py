"""The SQL of the SQLite store.

Rows travel as one JSON array in, one JSON array out. A statement then runs in one step with the interpreter
lock released: beside a busy event loop that writes 26,000 rows a second, where `executemany`, which takes the
lock again for every row, writes 380 (`python -m bench.rows`).
"""

from __future__ import annotations


def columns(*names: str) -> str:
    """The fields of a JSON row under column names."""
    return ", ".join(f"json_extract(value, '$[{n}]') as {name}" for n, name in enumerate(names))


PRAGMAS = """
pragma journal_mode = wal;
pragma synchronous = normal;
pragma cache_size = -65536;
pragma wal_autocheckpoint = 24000;
pragma busy_timeout = 10000;
pragma temp_store = memory;
"""

NEW_RUN = """
insert into run (scraper, ref, signature, params, options, reading, state, created, asked_by, via, trusted)
values (:scraper, :ref, :signature, :params, :options, :reading, 'pending', :now, :asked_by, :via, :trusted)
"""

_RUN = """
select json_object(
    'id', id, 'scraper', scraper, 'ref', ref, 'signature', signature, 'params', json(params),
    'options', json(options), 'state', state, 'reason', reason, 'created', created, 'ended', ended,
    'seconds', seconds, 'seeded', json(iif(seeded, 'true', 'false')), 'settled', settled, 'pages', pages,
    'items', items, 'failed', failed, 'skipped', skipped, 'retried', retried, 'size', size,
    'rejected', rejected, 'verdict', verdict, 'reading', json(reading),
    'asked_by', asked_by, 'via', via, 'trusted', json(iif(trusted, 'true', 'false')), 'wanted', wanted,
    'started', started, 'new_items', new_items,
    'by_reason', (select json_group_object(reason, n) from run_reason where run_id = run.id)
) from run
"""
RUN = _RUN + "where id = ?"
RUNS = _RUN + "order by id desc limit ?"
NEWEST_RUN = _RUN + "where signature = ? order by id desc limit 1"

ANY_WAITING = """
select exists (select 1 from request indexed by request_ready where run_id = :run and state = 0 and not_before = 0)
    or exists (select 1 from request indexed by request_parked where run_id = :run and state = 0 and not_before > 0)
"""

RUN_STATE = "update run set state = :state, reason = :reason, ended = :ended where id = :run"
RUN_STARTED = """
update run set state = 'running', reason = '', ended = null, started = coalesce(started, :now) where id = :run
"""
# A wish that came too late is none any more; and what the run brought is known now.
RUN_ENDED = """
update run set state = :state, reason = :reason, ended = :ended, wanted = '', new_items = (
    select count(*) from sighting join item on item.id = item_id
    where sighting.run_id = run.id and item.first_run = run.id
) where id = :run
"""
TICK = """
insert into tick (minute, scraper, pages, failed, retried, skipped, items, size)
values (:minute, :scraper, :pages, :failed, :retried, :skipped, :items, :size)
on conflict do update set pages = pages + excluded.pages, failed = failed + excluded.failed,
    retried = retried + excluded.retried, skipped = skipped + excluded.skipped, items = items + excluded.items,
    size = size + excluded.size
"""
CAUSES = """
insert into cause (hour, scraper, reason, n) select :hour, :scraper, key, value from json_each(:rows)
where true on conflict do update set n = n + excluded.n
"""
FORGET_RUN = "delete from run where id = :run and not exists (select 1 from request where run_id = :run)"
FORGET_LEASE = "delete from lease where run_id = :run and not exists (select 1 from run where id = :run)"
FORGET_STARTS = "delete from start where run_id = :run and not exists (select 1 from run where id = :run)"
SEEDED = "update run set seeded = 1 where id = ?"

LEASE = "select owner, token, until from lease where run_id = ? and shard = -1"
TAKE_LEASE = """
insert into lease (run_id, shard, owner, token, until) values (:run, -1, :owner, 1, :until)
on conflict do update set owner = excluded.owner, token = token + 1, until = excluded.until
returning token
"""
FENCE = """
update lease set until = max(until, :until)
where run_id = :run and shard = -1 and token = :token and owner = :owner
"""
RELEASE = "update lease set owner = null, until = 0 where run_id = :run and shard = -1 and token = :token"
START = "insert into start (run_id, at, limits) values (:run, :now, :limits)"
UNCLAIM = (
    "update request indexed by request_claimed set token = null where run_id = ? and state = 0 and token is not null"
)
# A last fetch in the future: the clock was set back since, and what was to be waited is waited from now.
REDATE = """
update request indexed by request_parked set not_before = :now + max(0, not_before - started - elapsed)
where run_id = :run and state = 0 and not_before > 0 and started > :now
"""

LAST_REQUEST = "select coalesce(max(id), 0) from request"
ADD = f"""
insert into request
    (run_id, digest, url, host, shard, handler, extra, depth, priority, hops, found_on, state, reason)
select :run, row.* from (
    select {
    columns(
        "digest",
        "url",
        "host",
        "shard",
        "handler",
        "extra",
        "depth",
        "priority",
        "hops",
        "found_on",
        "state",
        "reason",
    )
}
    from json_each(:rows)
) as row
where true on conflict do nothing
"""  # noqa: S608 - only our own column names are put in
_DEEPER = f"""
    select request.id, request.host, request.state, row.depth
    from (select {columns("digest", "depth")} from json_each(:rows)) as row
    cross join request on request.run_id = :run and request.digest = row.digest
    where request.depth > row.depth
        and (request.state = 0 or (request.state = 2 and request.reason = 'depth'))
    limit -1
"""  # noqa: S608 - the limit keeps the planner from turning the joined tables round
REVIVED = f"""
select json_group_object(host, n) from (select host, count(*) as n from ({_DEEPER}) where state = 2 group by host)
"""  # noqa: S608
LIFT = f"""
update request set depth = row.depth, state = 0, reason = null from ({_DEEPER}) as row where request.id = row.id
"""  # noqa: S608
ADDED = """
select json_group_array(json_array(host, state, coalesce(reason, ''), n)) from (
    select host, state, reason, count(*) as n from request where id > ? group by host, state, reason
)
"""

ROOTS = """
select json_group_array(url) from (
    select url from request indexed by request_roots where run_id = :run and depth = 0 limit 100000
)
"""
# From one host to the next, without reading what lies between: a host may have a million.
ROOTS_BY_HOST = """
with recursive each(host) as (
    select min(host) from request indexed by request_roots where run_id = :run and depth = 0
    union all
    select (
        select min(host) from request indexed by request_roots
        where run_id = :run and depth = 0 and host > each.host
    ) from each where host is not null
)
select json_group_array((
    select url from request indexed by request_roots where run_id = :run and depth = 0 and host = each.host limit 1
)) from each where host is not null
"""

# Of a host with a million start URLs, one is enough to know that it was given.
GIVEN_HOSTS = """
with recursive each(host) as (
    select min(host) from request indexed by request_roots where run_id = :run and depth = 0
    union all
    select (
        select min(host) from request indexed by request_roots
        where run_id = :run and depth = 0 and host > each.host
    ) from each where host is not null
)
select json_group_array(url) from (
    select (
        select url from request indexed by request_roots
        where run_id = :run and depth = 0 and host = each.host and hops = 0 and found_on is null limit 1
    ) as url from each where host is not null
) where url is not null
"""

HOSTS = """
select json_group_object(host, n) from (
    select host, count(*) as n from request indexed by request_ready
    where run_id = ? and state = 0 and not_before = 0 group by host
)
"""
PEEK = """
select json_group_array(json_array(id, url, handler, depth, priority, attempts, hops, json(extra))) from (
    select id, url, handler, depth, priority, attempts, hops, extra from request indexed by request_ready
    where run_id = :run and host = :host and state = 0 and not_before = 0 and depth <= :level
        and id not in (select value from json_each(:but))
    order by priority desc, id limit :limit
)
"""
LEVEL = """
select min(depth) from (
    select min(depth) as depth from request indexed by request_ready
    where run_id = :run and host = :host and state = 0 and not_before = 0
    union all
    select min(depth) from request indexed by request_parked
    where run_id = :run and host = :host and state = 0 and not_before > 0
)
"""
DUE = """
select json_group_object(host, n) from (
    select host, count(*) as n from request indexed by request_parked
    where run_id = :run and state = 0 and not_before > 0 and not_before <= :now group by host
)
"""
WAKE = """
update request indexed by request_parked set not_before = 0
where run_id = :run and state = 0 and not_before > 0 and not_before <= :now
"""
NEXT_DUE = """
select min(not_before) from request indexed by request_parked where run_id = ? and state = 0 and not_before > 0
"""
PENDING = """
select
    (select settled from run where id = :run),
    (select count(*) from request indexed by request_ready where run_id = :run and state = 0 and not_before = 0),
    (select count(*) from request indexed by request_parked where run_id = :run and state = 0 and not_before > 0),
    (select min(not_before) from request indexed by request_parked
        where run_id = :run and state = 0 and not_before > 0),
    (select count(*) from request indexed by request_claimed
        where run_id = :run and state = 0 and token is not null)
"""

CLAIM = """
update request set token = :token, claims = claims + 1
where id in (select value from json_each(:rows)) and state = 0 and token is not :token
"""
CLOSE = f"""
update request set
    state = row.state, not_before = row.not_before, token = null, attempts = attempts + row.attempt,
    reason = row.reason, detail = row.detail, status = row.status, size = row.size,
    started = row.started, elapsed = row.elapsed
from (
    select {columns("id", "state", "not_before", "attempt", "reason", "detail", "status", "size", "started", "elapsed")}
    from json_each(:rows)
) as row
where request.id = row.id and +request.run_id = :run and +request.state = 0
"""  # noqa: S608 - the plus signs keep the planner from looking requests up by anything but their id
LOG = f"""
insert into fetch (run_id, request_id, url, host, started, elapsed, status, size, reason, detail)
select :run, row.* from (
    select {columns("request_id", "url", "host", "started", "elapsed", "status", "size", "reason", "detail")}
    from json_each(:rows)
) as row
"""  # noqa: S608
NOTICE = f"""
insert into notice (run_id, host, at, kind, seconds, detail)
select :run, row.* from (select {columns("host", "at", "kind", "seconds", "detail")} from json_each(:rows)) as row
"""  # noqa: S608

_SOURCE = (
    "host",
    "last_hit",
    "ready_at",
    "interval",
    "crawl_delay",
    "latency",
    "breaker",
    "openings",
    "open_until",
    "why",
)
REMEMBER = f"""
insert into source ({", ".join(_SOURCE)})
select {", ".join(_SOURCE)} from (select {columns(*_SOURCE)} from json_each(:rows))
where true on conflict (host) do update set {", ".join(f"{name} = excluded.{name}" for name in _SOURCE[1:])}
"""  # noqa: S608
# The blobs of all rows come as one, for JSON has none.
KEEP_VISITS = f"""
insert into visit (scraper, digest, fetched, checked, etag, modified, sha256, gave)
select :scraper, digest, fetched, checked, etag, modified, sha256, substr(:blobs, first, length) from (
    select {columns("digest", "fetched", "checked", "etag", "modified", "sha256", "first", "length")}
    from json_each(:rows)
)
where true on conflict (scraper, digest) do update set fetched = excluded.fetched, checked = excluded.checked,
    etag = excluded.etag, modified = excluded.modified, sha256 = excluded.sha256, gave = excluded.gave
"""  # noqa: S608
COUNT = """
update run set settled = settled + :settled, pages = pages + :pages, items = items + :items,
    failed = failed + :failed, skipped = skipped + :skipped, retried = retried + :retried,
    size = size + :size, rejected = rejected + :rejected, seconds = seconds + :seconds
where id = :run
"""
COUNT_REASONS = """
insert into run_reason (run_id, reason, n) select :run, key, value from json_each(:rows)
where true on conflict do update set n = n + excluded.n
"""

SOURCE = f"select {', '.join(_SOURCE)} from source where host = ?"  # noqa: S608
SOURCES = f"select {', '.join(_SOURCE)} from source order by host"  # noqa: S608
FORGET_SOURCE = "delete from source where host = ?"

_ROBOTS = "select origin, fetched, checked, status, body, closed, id from robots where origin = ? order by id desc"
ROBOTS = _ROBOTS
NEWEST_ROBOTS = f"{_ROBOTS} limit 1"
ADD_ROBOTS = "insert into robots (origin, fetched, checked, status, body, closed) values (?, ?, ?, ?, ?, ?)"
CHECK_ROBOTS = "update robots set checked = :checked where id = :id"
FORGET_ROBOTS = "delete from robots where origin in ('http://' || :host, 'https://' || :host)"

VISITS = """
select json_group_array(json_array(digest, fetched, checked, etag, modified, sha256, hex(gave)))
from visit where scraper = :scraper and digest in (select value from json_each(:rows))
"""

_STORY = """
select json_object(
    'run', request.run_id, 'scraper', run.scraper, 'run_state', run.state,
    'state', json_extract('["waiting","done","skipped","failed"]', '$[' || request.state || ']'),
    'url', request.url, 'host', request.host, 'handler', request.handler, 'depth', request.depth,
    'method', coalesce(upper(json_extract(request.extra, '$.method')),
        iif(coalesce(json_type(request.extra, '$.json'), json_type(request.extra, '$.data'),
            json_type(request.extra, '$.data64')) is null, 'GET', 'POST')),
    'priority', request.priority, 'attempts', request.attempts, 'claims', request.claims,
    'in_flight', json(iif(request.token is not null and request.state = 0, 'true', 'false')),
    'not_before', request.not_before, 'reason', request.reason, 'detail', request.detail,
    'status', request.status, 'size', request.size, 'started', request.started, 'elapsed', request.elapsed,
    'found_on', (select url from request as parent where parent.id = request.found_on),
    'fetches', (select json_group_array(json_array(started, elapsed, status, reason, detail)) from (
        select started, elapsed, status, reason, detail from fetch
        where request_id = request.id and fetch.url = request.url order by id limit 50)),
    'items', (select json_group_array(json_array(kind, key)) from (
        select kind, key from sighting join item on item.id = item_id where sighting.request_id = request.id
        union all select kind, key from staged where staged.request_id = request.id limit 50)),
    'held', json(iif(exists (select 1 from staged where staged.request_id = request.id), 'true', 'false')),
    'rejects', (select json_group_array(json_array(step, reason)) from (
        select step, reason from reject where reject.request_id = request.id order by id limit 50))
) from request join run on run.id = request.run_id
"""
# Plain requests are found by their digest, however the URL is spelled; others, whose digest says more than
# their URL, by reading all rows: a tenth of a second for a million, and only when a person asks.
MARK = "select by, at from mark where digest = ?"
STORIES = f"""{_STORY}
where request.id in (
    select id from request where run_id in (select id from run) and digest = :digest
    union select id from request where url = :url
) order by request.run_id desc, request.id limit 100
"""  # noqa: S608

# A settled request's row tells of its last fetch. One that waits again does so too, but its fetch is in the log.
_FETCH_LOG = """
select run_id, id, url, host, started, elapsed, coalesce(status, 0), coalesce(reason, '') from request
where started > 0 {of_run} and (state <> 0 or not exists (
    select 1 from fetch where fetch.request_id = request.id and fetch.started = request.started))
union all
select run_id, coalesce(request_id, 0), url, host, started, elapsed, status, reason from fetch
where started > 0 {of_run}
order by host, started, run_id
"""
FETCH_LOG = _FETCH_LOG.format(of_run="")
FETCH_LOG_OF_RUN = _FETCH_LOG.format(of_run="and run_id = :run")

_STARTS = "select run_id, at, limits from start"
STARTS = f"{_STARTS} order by id"
STARTS_OF_RUN = f"{_STARTS} where run_id = ? order by id"
_NOTICES = "select host, at, kind, seconds, detail from notice"
NOTICES = f"{_NOTICES} order by at, id"
NOTICES_OF_HOST = f"{_NOTICES} where host = ? order by at, id"
# A dropped link was never closed by a walk: it has no `started`, not even 0.
HOST_COUNTS = """
select json_group_object(host, n) from (
    select host, count(*) as n from request where run_id = ? and (state <> 2 or started is not null) group by host
)
"""
HOST_TABLE = """
select json_group_array(json_object(
    'host', host, 'pages', pages, 'unchanged', unchanged, 'failed', failed, 'skipped', skipped,
    'waiting', waiting, 'size', size, 'retries', retries, 'first', first, 'last', last
)) from (
    select host, sum(state = 1 and reason = 'ok') as pages,
        sum(state = 1 and reason in ('unchanged', 'fresh')) as unchanged, sum(state = 3) as failed,
        sum(state = 2 and found_on is not null or state = 2) as skipped, sum(state = 0) as waiting,
        sum(coalesce(size, 0)) as size, sum(attempts) as retries,
        min(nullif(started, 0)) as first, max(started) as last
    from request where run_id = ? group by host
    having pages or unchanged or failed or waiting or retries
    order by pages desc, host limit 100
)
"""

PAGES = """
select json_group_array(json_object(
    'id', id, 'run', run_id, 'url', url, 'state', state_name, 'reason', reason, 'status', nullif(status, 0),
    'depth', depth, 'fetches', attempts + (state <> 0 and coalesce(started, 0) > 0), 'bytes', size,
    'fetched_at', started, 'seconds', round(elapsed, 4), 'detail', detail
)) from (
    select request.*, json_extract('["waiting","done","skipped","failed"]', '$[' || request.state || ']') as state_name
    from request join run on run.id = run_id
    where request.id > :after and (:run is null or run_id = :run) and (:scraper is null or run.scraper = :scraper)
    order by request.id limit 1000
)
"""
