"""The SQL of items in the PostgreSQL store: what became of them, what is held back, how far sinks have come.

Whoever writes items holds one lock (LOCK) from before the first statement on them until the end of the transaction. So
what a statement does not find, nobody else is about to insert: it may number and insert it without asking again.
"""

from __future__ import annotations

from gossamer.storage.postgres_pool import ITEMS, OURS

#: Before what joins all pages of a run with something: both sides may be millions of rows, and are sorted or hashed,
#: whatever the planner believes of their number.
AT_LARGE = "set local enable_nestloop = off; set local statement_timeout = 0"
#: Before what looks rows up one by one.
ONE_BY_ONE = "set local enable_seqscan = off; set local enable_bitmapscan = off"

#: Large groups may be before us: it is waited for longer than other locks. What follows is found by an index, row by
#: row, whatever the planner believes of tables that grew since it last looked.
LOCK = f"""
set local lock_timeout = '60s'; select pg_advisory_xact_lock({OURS}, {ITEMS});
set local lock_timeout to default; set local enable_bitmapscan = off
"""

# By the hash that the index has; the rest only makes sure. It is written so that no other index serves: while the
# tables are small, the planner would be content with all items of a scraper, and go on so when there are a million.
_SAME = """gossamer_known({0}.kind, {0}.key) = gossamer_known({1}.kind, {1}.key)
    and {0}.kind = {1}.kind and {0}.key = {1}.key"""
_KNOWN = f"{_SAME.format('item', 'row')} and item.scraper || '' = $2::text"
_STAGED = f"{_SAME.format('staged', 'row')} and staged.run_id + 0 = $1::bigint"
# For each row by itself.
_ITEM_OF_ROW = f"lateral (select * from item where {_KNOWN} limit 1) as item on true"  # noqa: S608
_STAGED_OF_ROW = f"lateral (select * from staged where {_STAGED} limit 1) as staged on true"  # noqa: S608

ABOUT = "select scraper, verdict, (reading::json -> 'volatile')::text as volatile from run where id = $1::bigint"
NEXT_SEQ = "select coalesce(max(seq), 0) + 1 from item"
SCRAPER = "select scraper from run where id = $1::bigint"

# -- written by settle -----------------------------------------------------------------------------------------

_GIVEN = """
    select request_id, kind, key, data, url, seen, 1 as times, ord
    from unnest($9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::float8[])
        with ordinality as given (request_id, kind, key, data, url, seen, ord)
"""
_HELD = """
    select request_id, kind, key, data, url, seen, times, id as ord from staged
    where run_id = $1::bigint and id between $9::bigint and $10::bigint
"""
# Whether a new record makes an item another one: not by what is volatile ($8). jsonb has no place for NUL: another
# character stands for it here. What it cannot hold for other reasons, and what is no object, is compared as it is.
_AS_JSON = "gossamer_jsonb(replace({0}, '\\u0000', '\\uf8ff'))"
_CUT = """(select case when jsonb_typeof(record) = 'object' then (record - $8::text[])::text end
            from (select {0} as record offset 0) as made)"""
_DIFFERS = f"""case
    when item.data = row.data then false
    when cardinality($8::text[]) = 0 then true
    else coalesce({_CUT.format("coalesce(item.record, " + _AS_JSON.format("item.data") + ")")}
        <> {_CUT.format(_AS_JSON.format("row.data"))}, true)
end"""
# What comes late ($5), after it was held back, gives way to what a later run saw since, or ($6: there is a later run)
# did not see any more. By the numbers of runs and not by the clock alone: that may have been set back.
_STALE = """coalesce($5::boolean and (
    (item.last_run > $1::bigint and row.seen <= item.last_seen)
    or ($6::boolean and coalesce(item.gone >= row.seen, false))
), false)"""
# Before the new record takes its place, what the old one was is kept. `now` ($4) is when it changed, where that is not
# when the page was fetched. What is read again ($7 is 0) was last seen by the run that fetched its page. Records that
# stay as they are are not written again: that would cost more than all the rest.
_PUT = """
with row as materialized ({rows}),
met as materialized (
    select found.*, coalesce(found.known, nextval('item_id_seq')) as id from (
        select row.*, item.id as known, item.gone, item.data as before, item.data = row.data as same,
            {differs} as differs, {stale} as stale
        from row left join {item} order by row.ord
    ) as found
),
kept as (
    insert into change (item_id, run_id, at, what, before)
    select id, $1::bigint, coalesce($4::float8, seen), case when gone is null then 'changed' else 'back' end, before
    from met where known is not null and (differs or gone is not null) and not stale order by ord returning 1
),
seen_again as (
    update item set url = met.url, last_seen = greatest(item.last_seen, met.seen),
        times_seen = item.times_seen + $7::int * met.times, gone = null,
        seq = case when met.gone is null then item.seq else $3::bigint end,
        last_run = case when $7::int = 0 then item.last_run else greatest(item.last_run, $1::bigint) end
    from met where item.id = met.known and met.same and not met.stale
),
changed as (
    update item set data = met.data, url = met.url, last_seen = greatest(item.last_seen, met.seen),
        last_changed = case when met.differs then coalesce($4::float8, met.seen) else item.last_changed end,
        times_seen = item.times_seen + $7::int * met.times, gone = null,
        seq = case when met.differs or met.gone is not null then $3::bigint else item.seq end,
        last_run = case when $7::int = 0 then item.last_run else greatest(item.last_run, $1::bigint) end
    from met where item.id = met.known and not met.same and not met.stale
),
made as (
    insert into item
        (id, scraper, kind, key, data, url, first_seen, last_seen, last_changed, times_seen, seq, first_run, last_run)
    select id, $2::text, kind, key, data, url, seen, seen, coalesce($4::float8, seen), times, $3::bigint, $1::bigint,
        case when $7::int = 0 then coalesce((select run_id from request where id = met.request_id), $1::bigint)
            else $1::bigint end
    from met where known is null order by ord returning 1
),
sighted as (
    insert into sighting (run_id, item_id, request_id) select $1::bigint, id, request_id from met order by ord
    on conflict do nothing returning 1
)
select (select count(*) from sighted) as fresh, (select count(*) from kept) as changed,
    (select count(*) from made) as made
"""
#: Writes items in which none stands twice: how many this run had not seen, how many changed, how many are new.
PUT = _PUT.format(rows=_GIVEN, item=_ITEM_OF_ROW, differs=_DIFFERS, stale=_STALE)
#: The same of what is held back.
PUT_HELD = _PUT.format(rows=_HELD, item=_ITEM_OF_ROW, differs=_DIFFERS, stale=_STALE)

#: What a page that did not change still stands for: seen again, as it was. How many this run had not seen.
SEE = f"""
with row as materialized (
    select kind, key, max(seen) as seen, count(*) as n, min(ord) as ord,
        (array_agg(request_id order by ord))[1] as request_id
    from unnest($4::bigint[], $5::text[], $6::text[], $7::float8[])
        with ordinality as given (request_id, kind, key, seen, ord) group by kind, key
),
met as materialized (
    select row.*, item.id, item.gone, case when item.gone is not null then item.data end as before
    from row join {_ITEM_OF_ROW}
),
back as (
    insert into change (item_id, run_id, at, what, before)
    select id, $1::bigint, seen, 'back', before from met where gone is not null order by ord
),
seen_again as (
    update item set last_seen = greatest(item.last_seen, met.seen), times_seen = item.times_seen + met.n,
        seq = case when met.gone is null then item.seq else $3::bigint end, gone = null,
        last_run = greatest(item.last_run, $1::bigint)
    from met where item.id = met.id
),
sighted as (
    insert into sighting (run_id, item_id, request_id) select $1::bigint, id, request_id from met order by ord
    on conflict do nothing returning 1
)
select count(*) from sighted
"""  # noqa: S608
REJECT = """
insert into reject (run_id, request_id, kind, data, step, reason, at)
select $1::bigint, request_id, kind, data, step, reason, at
from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[])
    with ordinality as row (request_id, kind, data, step, reason, at, ord) order by ord
"""
KEEP_VISITS = """
insert into visit (scraper, digest, fetched, checked, etag, modified, sha256, gave)
select $1::text, digest, fetched, checked, etag, modified, sha256, gave
from unnest($2::text[], $3::float8[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::bytea[])
    as row (digest, fetched, checked, etag, modified, sha256, gave)
on conflict (scraper, digest) do update set fetched = excluded.fetched, checked = excluded.checked,
    etag = excluded.etag, modified = excluded.modified, sha256 = excluded.sha256, gave = excluded.gave
"""

# -- held back -------------------------------------------------------------------------------------------------

# A page that gives an item again changes what it says, not which page gave it first.
STAGE = f"""
with row as materialized (
    select * from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[])
        with ordinality as given (request_id, kind, key, data, url, seen, ord)
),
met as materialized (select row.*, staged.id as known from row left join {_STAGED_OF_ROW}),
again as (
    update staged set data = met.data, url = met.url, seen = greatest(staged.seen, met.seen), times = staged.times + 1
    from met where staged.id = met.known
)
insert into staged (run_id, request_id, kind, key, data, url, seen)
select $1::bigint, request_id, kind, key, data, url, seen from met where known is null order by ord
"""  # noqa: S608
# Of these, how many items the run has neither seen nor holds back. Those of unchanged pages must be there already.
FRESH = f"""
select count(*) from (
    select kind, key, bool_and(current) as current
    from unnest($3::text[], $4::text[], $5::boolean[]) as given (kind, key, current) group by kind, key
) as row
where (select true from staged where {_STAGED} limit 1) is null
    and coalesce((
        select not exists (select 1 from sighting where run_id = $1::bigint and item_id = item.id)
        from item where {_KNOWN}
    ), not current)
"""  # noqa: S608

# Who was suspect and goes on is judged again at its end. What a person said holds.
HOLD = "update run set verdict = 'pending' where id = $1::bigint and verdict not in ('accepted', 'rejected')"
# The visits of a run that is held back stand under a name that no scraper has (`held`), until it comes through. One
# row of each is looked for, run by run: all that is held is never read for this.
READY = """
select id, scraper, exists (select 1 from run as other where other.scraper = run.scraper and other.id > run.id) as newer
from run where verdict in ('good', 'accepted') and coalesce(
    (select true from staged where staged.run_id = run.id limit 1),
    (select true from visit where visit.scraper = '@' || run.id::text limit 1), false
) order by id limit 1
"""
# A group of held items, in the order they were found: the first and the last of it.
GROUP = """
select min(id), max(id) from (
    select id, sum(octet_length(data)) over (order by id) - octet_length(data) as before
    from (select id, data from staged where run_id = $1::bigint order by id limit $2::bigint) as held
) as held where before < $3::bigint
"""
UNSTAGE = "delete from staged where run_id = $1::bigint and id between $2::bigint and $3::bigint"
LAST_VISIT = """
select max(digest) from (select digest from visit where scraper = $1::text order by digest limit $2::bigint) as held
"""
MOVE_VISITS = """
insert into visit (scraper, digest, fetched, checked, etag, modified, sha256, gave)
select $1::text, digest, fetched, checked, etag, modified, sha256, gave
from visit where scraper = $2::text and digest <= $3::text
on conflict (scraper, digest) do update set fetched = excluded.fetched, checked = excluded.checked,
    etag = excluded.etag, modified = excluded.modified, sha256 = excluded.sha256, gave = excluded.gave
where not $4::boolean or excluded.checked >= visit.checked
"""
FORGET_VISITS = "delete from visit where scraper = $1::text and ($2::text is null or digest <= $2::text)"
DISCARD = "delete from staged where run_id = $1::bigint"

# -- the gate --------------------------------------------------------------------------------------------------

VERDICT = "update run set verdict = $2::text where id = $1::bigint"
DECIDE = "update run set verdict = $2::text where id = $1::bigint and verdict = 'suspect'"
KEEP_PROFILE = """
insert into profile (run_id, scraper, params, at, data, alarm)
select id, scraper, params, $2::float8, $3::text, $4::text from run where id = $1::bigint
on conflict (run_id) do update set at = excluded.at, data = excluded.data, alarm = excluded.alarm
"""
_JUDGED = "select profile.run_id, run.verdict, profile.at, profile.data, profile.alarm"
JUDGEMENT = f"{_JUDGED} from profile join run on run.id = profile.run_id where profile.run_id = $1::bigint"
# Runs of one scraper with the same parameters, that nobody narrowed in another way when starting them.
_NARROWED = ", ".join(
    f"coalesce(({{0}}.options::json -> '{name}')::text, 'null')" for name in ("scope", "include", "exclude", "depth")
)
_ALIKE = f"""
    run.scraper = this.scraper and run.params = this.params
    and array[{_NARROWED.format("run")}] = array[{_NARROWED.format("this")}]
"""
PAST = f"""
{_JUDGED}
from run as this join profile on profile.scraper = this.scraper and profile.run_id < this.id
    join run on run.id = profile.run_id
where this.id = $1::bigint and {_ALIKE} and run.verdict in ('learning', 'good', 'accepted')
order by profile.run_id desc limit $2::bigint
"""
FACTS = """
with gave as materialized (
    select request_id, count(*) as n from (
        select request_id from sighting where run_id = $1::bigint
        union all select request_id from staged where run_id = $1::bigint
    ) as given group by request_id
)
select json_build_object('handlers', (
    select coalesce(json_object_agg(handler, json_build_object('pages', pages, 'giving', giving, 'items', items)), '{}')
    from (
        select request.handler, count(*) as pages, count(gave.n) as giving, coalesce(sum(gave.n), 0) as items
        from request left join gave on gave.request_id = request.id
        where request.run_id = $1::bigint and request.state = 1 and request.reason in ('ok', 'unchanged', 'fresh')
        group by request.handler
    ) as handlers
), 'size', (
    select coalesce(avg(size), 0)::float8 from request where run_id = $1::bigint and state = 1 and reason = 'ok'
), 'barren', (
    select coalesce(json_agg(url order by id), '[]') from (
        select id, url from request
        where run_id = $1::bigint and state = 1 and reason = 'ok'
            and not exists (select 1 from gave where gave.request_id = request.id)
        order by id limit 50
    ) as barren
))::text
"""
# Spread by a hash of their numbers: kinds that take turns would be met by every second number, or not at all.
_SPREAD = "(({0} & 2147483647) * 2654435761 & 4294967295) < $2::bigint"
_SAMPLE = f"""
select item.kind as kind, item.url as url, item.data as data from sighting join item on item.id = item_id
where run_id = $1::bigint and {_SPREAD.format("item_id")} and (
    select true from staged where {_SAME.format("staged", "item")} and staged.run_id + 0 = $1::bigint limit 1
) is null
union all
select kind, url, data from staged where run_id = $1::bigint and {_SPREAD.format("id")}
"""  # noqa: S608
SAMPLE = f"{_SAMPLE} limit $3::bigint"
MEAN_SIZE = f"select coalesce(avg(octet_length(data)), 0)::float8 from ({_SAMPLE} limit $3::bigint) as sampled"  # noqa: S608
ITEMS_OF_RUN = "select items from run where id = $1::bigint"

# -- gone ------------------------------------------------------------------------------------------------------

ALIKE = f"""
select coalesce(array_agg(run.id), '{{}}') from run as this join run on {_ALIKE}
where this.id = $1::bigint and run.id <= $1::bigint
"""  # noqa: S608
#: The n-th newest finished run like this one: who was last seen before it is missing from all of them.
NTH_RUN = """
select id from run where id = any($2::bigint[]) and (
    id = $1::bigint
    or (state = 'finished' and reason = 'done' and verdict not in ('suspect', 'rejected', 'pending'))
) order by id desc limit 1 offset $3::bigint
"""
# Pages that could not be read say nothing about what was on them; and if one was not, others may not have been reached.
CLEAN = """
select failed = 0 or not exists (
    select 1 from request where run_id = $1::bigint and state in (0, 3) and coalesce(status, 0) not in (404, 410)
) from run where id = $1::bigint
"""
#: Both sides may be millions of rows: sorted or hashed, whatever the planner believes of their number.
AT_LARGE = "set local enable_nestloop = off; set local statement_timeout = 0"
# Of items that runs with other parameters saw last, those know more.
MISSING = """
with missing as materialized (
    select id, url from item
    where scraper = $2::text and gone is null and last_run < $3::bigint and last_seen < $4::float8
        and last_run = any($5::bigint[])
),
met as materialized (
    select missing.id, bool_or(coalesce(status, 0) in (404, 410) or state = 1) as read,
        bool_or(coalesce(status, 0) not in (404, 410) and state in (2, 3)) as unread
    from request join missing on missing.url = request.url where run_id = $1::bigint group by missing.id
)
select coalesce(array_agg(missing.id), '{}') from missing left join met on met.id = missing.id
where case when $6::boolean then not coalesce(met.unread, false) else coalesce(met.read, false) end
"""
#: Marks items as gone: those that nobody saw since it was found out ($5, $6).
MARK = """
with met as materialized (
    select item.id, item.data from unnest($4::bigint[]) as row (id) join item on item.id = row.id
    where item.gone is null and item.last_run < $5::bigint and item.last_seen < $6::float8
),
kept as (
    insert into change (item_id, run_id, at, what, before)
    select id, $1::bigint, $2::float8, 'gone', data from met order by id
),
marked as (update item set gone = $2::float8, seq = $3::bigint from met where item.id = met.id returning 1)
select count(*) from marked
"""
IDS = f"""
select coalesce(array_agg(distinct item.id), '{{}}')
from unnest($2::text[], $3::text[]) as row (kind, key) join lateral (
    select id, gone from item where {_SAME.format("item", "row")} and item.scraper || '' = $1::text limit 1
) as item on true
where item.gone is null
"""  # noqa: S608

# -- reading ---------------------------------------------------------------------------------------------------

CURSOR = "select coalesce(max(seq), 0) from item"
_ITEM = "id, seq, scraper, kind, key, url, data, first_seen, last_seen, last_changed, times_seen, gone"
_OF_ITEM = ", ".join(f"item.{name}" for name in _ITEM.split(", "))
_OF_STAGED = """
    staged.id, 0::bigint as seq, run.scraper, staged.kind, staged.key, staged.url, staged.data,
    staged.seen as first_seen, staged.seen as last_seen, staged.seen as last_changed, staged.times as times_seen,
    null::float8 as gone
"""
_REJECT = "id, run_id, scraper, at, url, kind, step, reason, data"
# Rows up to so many bytes of records: their sizes are known without reading them.
_LIGHT = """
select {columns} from (
    select page.*, sum({weight}) over (order by {order}) - {weight} as before_it from ({page}) as page
) as page where before_it < $1::bigint order by {order}
"""
_WEIGHT = "octet_length(data)::bigint"


def _where(conditions: list[str]) -> str:
    return " and ".join(conditions) or "true"


def items_page(conditions: list[str], *, by_run: bool) -> str:
    """The next items in the order first seen: $1 bytes and $2 items at most, after $3; by run, of $4."""
    if by_run:
        page = f"""
            select {_OF_ITEM} from sighting join item on item.id = sighting.item_id
            where sighting.run_id = $4::bigint and sighting.item_id > $3::bigint and {_where(conditions)}
            order by sighting.item_id limit $2::bigint
        """  # noqa: S608
    else:
        page = f"""
            select {_OF_ITEM} from item where item.id > $3::bigint and {_where(conditions)} order by id limit $2::bigint
        """  # noqa: S608
    return _LIGHT.format(columns=_ITEM, weight=_WEIGHT, order="id", page=page)


def log_page(conditions: list[str]) -> str:
    """The next items in the order of the log of changes: $1 bytes and $2 items at most, after the place $3, $4."""
    page = f"""
        select {_OF_ITEM} from item where (seq, id) > ($3::bigint, $4::bigint) and {_where(conditions)}
        order by seq, id limit $2::bigint
    """  # noqa: S608
    return _LIGHT.format(columns=_ITEM, weight=_WEIGHT, order="seq, id", page=page)


def held_page(conditions: list[str]) -> str:
    """The next items that are held back of run $4: $1 bytes and $2 items at most, after $3."""
    page = f"""
        select {_OF_STAGED} from staged join run on run.id = staged.run_id
        where staged.run_id = $4::bigint and staged.id > $3::bigint and {_where(conditions)}
        order by staged.id limit $2::bigint
    """  # noqa: S608
    return _LIGHT.format(columns=_ITEM, weight=_WEIGHT, order="id", page=page)


#: A condition of items: seen by a run.
SEEN_BY = "exists (select 1 from sighting where sighting.run_id = {run} and sighting.item_id = item.id)"


def ids_by_key(conditions: list[str]) -> str:
    """All items by their names, in the order of bytes: only their numbers."""
    order = ", ".join(f'item.{name} collate "C"' for name in ("scraper", "kind", "key"))
    return f"select item.id from item where {_where(conditions)} order by {order}"  # noqa: S608


def held_ids_by_key(conditions: list[str]) -> str:
    """The same of what is held back."""
    order = ", ".join(f'staged.{name} collate "C"' for name in ("kind", "key"))
    return f"select staged.id from staged where {_where(conditions)} order by {order}"  # noqa: S608


def _listed(columns: str, of: str) -> str:
    page = f"select given.ord, {columns} from unnest($2::bigint[]) with ordinality as given (number, ord) {of}"  # noqa: S608
    return _LIGHT.format(columns=f"ord, {_ITEM}", weight=_WEIGHT, order="ord", page=page)


#: The first of some items, by their numbers: $1 bytes at most, and where each stands in the list.
LISTED = _listed(_OF_ITEM, "join item on item.id = given.number")
HELD_LISTED = _listed(_OF_STAGED, "join staged on staged.id = given.number join run on run.id = staged.run_id")

# What was found while it was held back, or when a page was read again, is new once it is current.
_NEW = """case when exists (select 1 from change where change.item_id = item.id) then item.first_seen
    else item.last_changed end"""


def changes_by_time(conditions: list[str]) -> str:
    """What happened since $1, oldest first: only when, to which item, and the number of the change; 0: it was new."""
    of = _where(conditions)
    return f"""
    select at, item_id, change_id from (
        select {_NEW} as at, item.id as item_id, 0::bigint as change_id from item
        where greatest(item.first_seen, item.last_changed) >= $1::float8 and {of}
        union all
        select change.at, change.item_id, change.id from change join item on item.id = change.item_id
        where change.at >= $1::float8 and {of}
    ) as log where at >= $1::float8 order by at, change_id, item_id
    """  # noqa: S608


# What an item became is what its next change, or the item itself, says.
_CHANGE = """
select given.ord, given.at, coalesce(change.what, 'new') as what,
    case when change.id is null then nullif(item.first_run, 0) else change.run_id end as run,
    item.scraper, item.kind, item.key, item.url, change.before, case when change.what = 'gone' then null else coalesce((
        select later.before from change as later where later.item_id = item.id and later.id > given.change_id
        order by later.id limit 1
    ), item.data) end as after
from unnest($2::float8[], $3::bigint[], $4::bigint[]) with ordinality as given (at, item_id, change_id, ord)
    join item on item.id = given.item_id left join change on change.id = given.change_id
"""
#: The first of some changes: $1 bytes at most, and where each stands in the list.
CHANGES = _LIGHT.format(
    columns="ord, at, what, run, scraper, kind, key, url, before, after",
    weight="(coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0))::bigint",
    order="ord",
    page=_CHANGE,
)


def rejects_page(conditions: list[str]) -> str:
    """The next records that became no items: $1 bytes and $2 records at most, after $3."""
    page = f"""
        select reject.id, reject.run_id, run.scraper, reject.at, request.url, reject.kind, reject.step, reject.reason,
            reject.data
        from reject join run on run.id = reject.run_id left join request on request.id = reject.request_id
        where reject.id > $3::bigint and {_where(conditions)} order by reject.id limit $2::bigint
    """  # noqa: S608
    return _LIGHT.format(columns=_REJECT, weight=_WEIGHT, order="id", page=page)


# -- sinks -----------------------------------------------------------------------------------------------------

_SINK = "select name, scraper, cursor, delivered, objects, failing, updated from sink"
SINK = f"{_SINK} where name = $1::text and scraper = $2::text"
SINKS = f'{_SINK} order by name collate "C", scraper collate "C"'
KEEP_SINK = """
insert into sink (name, scraper, cursor, delivered, objects, failing, updated)
values ($1::text, $2::text, $3::bigint, $4::bigint, $5::bigint, $6::text, $7::float8)
on conflict (name, scraper) do update set cursor = excluded.cursor, delivered = excluded.delivered,
    objects = excluded.objects, failing = excluded.failing, updated = excluded.updated
"""
