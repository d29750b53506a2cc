"""The SQL of shard leases and tickets in PostgreSQL. The clock is the database's own, everywhere."""

from __future__ import annotations

NOW = "extract(epoch from clock_timestamp())::float8"

LOCK = "select pg_advisory_xact_lock($1::int, $2::int)"
LOCK_SHARED = "select pg_advisory_xact_lock_shared($1::int, $2::int)"

# One process that walks a whole run keeps all others off: its hosts may be in any shard.
_NOBODY_HAS_ALL = f"""
    not exists (select 1 from lease where shard = -1 and until > {NOW} and owner is distinct from $3)
"""  # noqa: S608
MAY_CONDUCT = f"""
select state in ('pending', 'running') and (via <> 'cli' or cluster = 1) and $2::int = -2 and {_NOBODY_HAS_ALL}
from run where id = $1
"""  # noqa: S608
LIMITED = "select workers is not null from run where id = $1"
# Not before all that it begins with is there: where a run may go is known by that.
MAY_WALK = f"""
select state = 'running' and cluster = 1 and wanted = '' and seeded = 1 and {_NOBODY_HAS_ALL}
    and not exists (select 1 from lease where shard = $2 and until > {NOW} and owner is distinct from $3)
    and (workers is null or workers > (
        select count(distinct owner) from lease
        where run_id = run.id and shard >= 0 and until > {NOW} and owner is distinct from $3))
from run where id = $1
"""  # noqa: S608
# Who is taken over from without having given back has died, or is as good as dead.
TAKE = f"""
insert into lease (run_id, shard, owner, token, until, ticket_at, crashes, acquired)
values ($1, $2, $3, 1, {NOW} + $4::float8, null, 0, {NOW})
on conflict (run_id, shard) do update set owner = excluded.owner, token = lease.token + 1, until = excluded.until,
    ticket_at = null, crashes = case when lease.owner is null then lease.crashes else lease.crashes + 1 end,
    acquired = excluded.acquired, rest_until = 0
where lease.until < {NOW}
returning token, until, crashes
"""  # noqa: S608
CLAIMED = """
select id, token, claims from request where run_id = $1 and shard = $2 and state = 0 and token is not null
"""
# Rows are locked in the order of their numbers, as by everybody who locks several.
_IN_ORDER = "(select id from request where id = any({ids}::bigint[]) order by id for update)"
UNCLAIM = f"""
with ours as {_IN_ORDER.format(ids="$1")} update request set token = null from ours where request.id = ours.id
"""  # noqa: S608
GIVE_BACK = f"""
update lease set owner = null, until = 0, crashes = 0, ticket_at = null,
    rest_until = case when $5::float8 > 0 then {NOW} + $5::float8 else 0 end
where run_id = $1 and shard = $2 and token = $3 and owner = $4
"""  # noqa: S608
RENEW = f"""
with ours as (
    select lease.run_id, lease.shard from lease join unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[])
        as held (run_id, shard, token, owner)
        on lease.run_id = held.run_id and lease.shard = held.shard and lease.token = held.token
            and lease.owner = held.owner
    order by lease.run_id, lease.shard for update of lease
)
update lease set until = greatest(lease.until, {NOW} + $5::float8) from ours
where lease.run_id = ours.run_id and lease.shard = ours.shard returning lease.run_id, lease.shard
"""  # noqa: S608
CLAIM = f"""
with ours as {_IN_ORDER.format(ids="$2")}
update request set token = $3, claims = claims + 1 from ours
where request.id = ours.id and request.run_id = $1 and request.state = 0
"""  # noqa: S608
CALM = "update lease set crashes = 0 where run_id = $1 and shard = $2 and token = $3 and owner = $4"

ISSUE = f"""
insert into lease (run_id, shard, token, until, ticket_at)
select $1, wanted.shard, 0, 0, {NOW} from unnest($2::int[]) as wanted (shard) order by wanted.shard
on conflict (run_id, shard) do update set ticket_at = excluded.ticket_at
where lease.until < {NOW} and lease.rest_until <= {NOW}
    and (lease.ticket_at is null or lease.ticket_at < {NOW} - $3::float8)
returning run_id, shard, (select priority from run where id = $1)
"""  # noqa: S608
# What goes on is left as it is, whoever asks for it again; what was walked by one process that died waits for workers.
OFFER = f"""
update run set cluster = 1, options = case when state = 'running' and cluster = 1 then options else $2 end,
    workers = case when state = 'running' and cluster = 1 then workers else $3 end,
    wanted = case when state = 'running' then wanted else '' end,
    state = case when state = 'running' and cluster = 1 then state else 'pending' end, reason = '', ended = null
where id = $1 and not exists (select 1 from lease where run_id = $1 and shard = -1 and until > {NOW})
"""  # noqa: S608
ACTIVE = """
select id, false from run where state = 'pending' and (via <> 'cli' or cluster = 1)
union all select id, wanted = '' and seeded = 1 from run where state = 'running' and cluster = 1
order by 1
"""
# From shard to shard, without reading what lies between: one may have millions.
_READY = """
    (select shard from request where run_id = {run} and state = 0 and not_before = 0 order by shard limit 1)
    union all
    select (select request.shard from request
        where request.run_id = {run} and request.state = 0 and request.not_before = 0
            and request.shard > ready.shard order by request.shard limit 1)
    from ready where ready.shard is not null
"""
_PARKED = """
    (select shard, not_before from request where run_id = {run} and state = 0 and not_before > 0
        order by shard, not_before limit 1)
    union all
    select next.shard, next.not_before from parked cross join lateral (
        select request.shard, request.not_before from request
        where request.run_id = {run} and request.state = 0 and request.not_before > 0
            and request.shard > parked.shard
        order by request.shard, request.not_before limit 1) as next
"""
READY = f"""
with recursive ready (shard) as ({_READY.format(run="$1")}), parked (shard, not_before) as ({_PARKED.format(run="$1")}),
due as (select shard from ready where shard is not null union select shard from parked where not_before <= {NOW})
select due.shard from due
where not exists (select 1 from lease where lease.shard = due.shard and lease.until > {NOW})
order by due.shard
"""  # noqa: S608
# Of the runs that are walked by workers, what waits in shards that one of them holds for another run.
WANTING = f"""
select run.id, held.shard, run.priority from run cross join unnest($1::int[]) as held (shard)
where run.state = 'running' and run.cluster = 1 and run.wanted = '' and run.seeded = 1
    and (exists (select 1 from request where run_id = run.id and request.shard = held.shard and state = 0
            and not_before = 0)
        or exists (select 1 from request where run_id = run.id and request.shard = held.shard and state = 0
            and not_before > 0 and not_before <= {NOW}))
    and not exists (select 1 from lease where lease.run_id = run.id and lease.shard = held.shard and (
        lease.until > {NOW} or lease.rest_until > {NOW}))
order by run.priority desc, run.id, held.shard limit 256
"""  # noqa: S608

STATE = "select state from run where id = $1 for no key update"
BEGIN = f"""
update run set state = 'running', reason = '', ended = null, cluster = 1, started = coalesce(started, {NOW}),
    begun_pages = pages, begun_items = items, workers = coalesce(workers, $2::int),
    options = coalesce($3::text, options)
where id = $1
"""  # noqa: S608
START = f"insert into start (run_id, at, limits) values ($1, {NOW}, $2)"  # noqa: S608
# In orders that only an index has: the planner must not look for one row that waits among millions that do not.
STANDING = f"""
select state, wanted, pages, items, begun_pages, begun_items,
    (select shard from request where run_id = $1 and request.state = 0 and not_before = 0
        order by shard, host limit 1) is not null
        or (select shard from request where run_id = $1 and request.state = 0 and not_before > 0
            order by shard, not_before limit 1) is not null as waits,
    (select count(*) from lease where run_id = $1 and shard >= 0 and until > {NOW}) as walked,
    coalesce((select min(greatest(0, rest_until - {NOW})) from lease where run_id = $1 and shard >= 0
        and (select host from request where request.run_id = $1 and request.shard = lease.shard
            and request.state = 0 and request.not_before = 0 order by host limit 1) is not null), 0) as rest
from run where id = $1
"""  # noqa: S608
WISHES = "select id, state, wanted, priority, workers from run where id = any($1::bigint[])"
ORPHANED = f"""
select bool_or(not exists (select 1 from lease where run_id = run.id and shard = -2 and until > {NOW}))
from run where state = 'running' and cluster = 1
"""  # noqa: S608
# Nobody takes a shard of a run of which something is wanted. Who ends it takes the wish back.
HUSH = "update run set wanted = 'stop' where id = $1 and wanted = ''"

BEAT = f"""
insert into worker (name, pid, started, at, data) values ($1, $2, $3, {NOW}, $4)
on conflict (name) do update set at = excluded.at, data = excluded.data
"""  # noqa: S608
LONG_GONE = f"delete from worker where at < {NOW} - 600"  # noqa: S608
DEPART = "delete from worker where name = $1"
