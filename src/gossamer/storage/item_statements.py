"""The SQL of items in the SQLite store: what became of them, what is held back, how far sinks have come."""

from __future__ import annotations

from functools import lru_cache

from gossamer.storage.statements import columns

_ROW = columns("request_id", "kind", "key", "data", "url", "seen")
# Where rows come from: with the statement, or from what is held back of a run.
_GIVEN = f"(select {_ROW}, 1 as times from json_each(:rows)) as row"  # noqa: S608
_HELD = """(
    select request_id, kind, key, data, url, seen, times from staged not indexed
    where id between :first and :last and run_id = :run order by id
) as row"""
_KNOWN = "item.scraper = :scraper and item.kind = row.kind and item.key = row.key"

ABOUT = "select scraper, verdict, json_extract(reading, '$.volatile') from run where id = ?"
NEXT_SEQ = "select coalesce(max(seq), 0) + 1 from item"

# -- written by settle -----------------------------------------------------------------------------------------

# What comes late, after it was held back, gives way to what a later run saw since, or did not see any more. By the
# numbers of runs and not by the clock alone: that may have been set back.
_STALE = """(:late and (
    (item.last_run > :run and {seen} <= item.last_seen) or (:newer and coalesce(item.gone >= {seen}, false))))"""
# Before the new record takes its place: what the old one was. `now` is when it changed, where that is not when the
# page was fetched.
_CHANGES = """
insert into change (item_id, run_id, at, what, before)
select item.id, :run, coalesce(:now, row.seen), iif(item.gone is null, 'changed', 'back'), item.data
from {rows} cross join item on {known}
where ({differ} or item.gone is not null) and not {stale}
"""
# What is read again (`times` 0) was last seen by the run that fetched its page.
_ITEMS = """
insert into item
    (scraper, kind, key, data, url, first_seen, last_seen, last_changed, times_seen, seq, first_run, last_run)
select :scraper, kind, key, data, url, seen, seen, coalesce(:now, seen), times, :seq, :run,
    iif(:times, :run, coalesce((select run_id from request where id = row.request_id), :run)) from {rows}
where true on conflict (scraper, kind, key) do update set
    last_changed = iif({differ}, coalesce(:now, excluded.last_seen), last_changed),
    seq = iif({differ} or gone is not null, excluded.seq, seq),
    data = excluded.data, url = excluded.url, last_seen = max(last_seen, excluded.last_seen),
    times_seen = times_seen + :times * excluded.times_seen, gone = null,
    last_run = iif(:times, max(last_run, excluded.last_run), last_run)
where not {stale}
"""


@lru_cache(64)
def changes(volatile: tuple[str, ...], *, held: bool = False) -> str:
    """The statement that keeps old records, where some fields are not worth keeping them for."""
    rows = _HELD if held else _GIVEN
    differ, stale = _differ("item.data", "row.data", volatile), _STALE.format(seen="row.seen")
    return _CHANGES.format(rows=rows, known=_KNOWN, differ=differ, stale=stale)


@lru_cache(64)
def items(volatile: tuple[str, ...], *, held: bool = False) -> str:
    """The statement that writes new records, where some fields do not make an item another one."""
    rows = _HELD if held else _GIVEN
    differ, stale = _differ("data", "excluded.data", volatile), _STALE.format(seen="excluded.last_seen")
    return _ITEMS.format(rows=rows, differ=differ, stale=stale)


def _differ(old: str, new: str, volatile: tuple[str, ...]) -> str:
    if not volatile:
        return f"{old} <> {new}"
    # The names of fields are checked when the scraper's class is made: letters, digits, _ and -.
    paths = ", ".join(f"'$.\"{name}\"'" for name in volatile)
    # What is nested deeper than SQLite reads is compared as it is.
    readable = f"json_valid({old}) and json_valid({new})"
    return f"({old} <> {new} and iif({readable}, json_remove({old}, {paths}) <> json_remove({new}, {paths}), true))"


_SEEN_ROWS = f"""(
    select kind, key, max(seen) as seen, count(*) as n
    from (select {columns("request_id", "kind", "key", "seen")} from json_each(:rows)) group by kind, key
) as row"""  # noqa: S608
# What a page that did not change still stands for: seen again, as it was.
BACK = f"""
insert into change (item_id, run_id, at, what, before)
select item.id, :run, row.seen, 'back', item.data from {_SEEN_ROWS} cross join item on {_KNOWN}
where item.gone is not null
"""  # noqa: S608
SEEN = f"""
update item set last_seen = max(last_seen, row.seen), times_seen = times_seen + row.n,
    seq = iif(gone is null, seq, :seq), gone = null, last_run = max(last_run, :run)
from {_SEEN_ROWS} where {_KNOWN}
"""  # noqa: S608
_SIGHTINGS = """
insert into sighting (run_id, item_id, request_id)
select :run, item.id, row.request_id from {rows} cross join item on {known} where true on conflict do nothing
"""
SIGHTINGS = _SIGHTINGS.format(
    rows=f"(select {columns('request_id', 'kind', 'key')} from json_each(:rows)) as row",  # noqa: S608
    known=_KNOWN,
)
SIGHTINGS_HELD = _SIGHTINGS.format(rows=_HELD, known=_KNOWN)
UNKNOWN = f"""
select count(distinct row.kind || char(0) || row.key) from (select {_ROW} from json_each(:rows)) as row
where not exists (select 1 from item where {_KNOWN})
"""  # noqa: S608
REJECT = f"""
insert into reject (run_id, request_id, kind, data, step, reason, at)
select :run, row.* from (
    select {columns("request_id", "kind", "data", "step", "reason", "at")} from json_each(:rows)
) as row
"""  # noqa: S608

# -- held back -------------------------------------------------------------------------------------------------

# A page that gives an item again changes what it says, not which page gave it first.
STAGE = f"""
insert into staged (run_id, request_id, kind, key, data, url, seen)
select :run, row.* from (select {_ROW} from json_each(:rows)) as row
where true on conflict (run_id, kind, key) do update
    set data = excluded.data, url = excluded.url, seen = max(seen, excluded.seen), times = times + 1
"""  # noqa: S608
# Of these, how many items the run has neither seen nor holds back. Those of unchanged pages must be there already.
FRESH = f"""
select count(*) from (
    select kind, key, min(current) as current
    from (select {columns("kind", "key", "current")} from json_each(:rows)) group by kind, key
) as row
where not exists (select 1 from staged where run_id = :run and staged.kind = row.kind and staged.key = row.key)
    and coalesce((
        select not exists (select 1 from sighting where run_id = :run and item_id = item.id) from item where {_KNOWN}
    ), not current)
"""  # noqa: S608

# Who was suspect and goes on is judged again at its end. What a person said holds.
HOLD = "update run set verdict = 'pending' where id = :run and verdict not in ('accepted', 'rejected')"
# The visits of a run that is held back stand under a name that no scraper has (`held`), until it comes through.
READY = """
select id, scraper, verdict, exists (select 1 from run as other where other.scraper = run.scraper and other.id > run.id)
from run where verdict in ('good', 'accepted') and (
    exists (select 1 from staged where staged.run_id = run.id)
    or exists (select 1 from visit where visit.scraper = '@' || run.id)
) order by id limit 1
"""
# A group of held items, in the order they were found: the first and the last of it.
GROUP = """
select min(id), max(id) from (
    select id, sum(length(data)) over (order by id) - length(data) as before from (
        select id, data from staged not indexed
        where run_id = :run and id >= (select min(id) from staged where run_id = :run) order by id limit :n
    )
) where before < :heavy
"""
UNSTAGE = "delete from staged where id between :first and :last and run_id = :run"
LAST_VISIT = "select max(digest) from (select digest from visit where scraper = :held order by digest limit :n)"
MOVE_VISITS = """
insert into visit (scraper, digest, fetched, checked, etag, modified, sha256, gave)
select :scraper, digest, fetched, checked, etag, modified, sha256, gave
from visit where scraper = :held and digest <= :last
on conflict (scraper, digest) do update set fetched = excluded.fetched, checked = excluded.checked,
    etag = excluded.etag, modified = excluded.modified, sha256 = excluded.sha256, gave = excluded.gave
where not :newer or excluded.checked >= visit.checked
"""
FORGET_VISITS = "delete from visit where scraper = :held and (:last is null or digest <= :last)"
DISCARD = "delete from staged where run_id = :run"

# -- the gate --------------------------------------------------------------------------------------------------

VERDICT = "update run set verdict = :verdict where id = :run"
DECIDE = "update run set verdict = :verdict where id = :run and verdict = 'suspect'"
KEEP_PROFILE = """
insert into profile (run_id, scraper, params, at, data, alarm)
select :run, scraper, params, :at, :data, :alarm from run where id = :run
on conflict (run_id) do update set at = excluded.at, data = excluded.data, alarm = excluded.alarm
"""
JUDGEMENT = """
select profile.run_id, run.verdict, profile.at, profile.data, profile.alarm
from profile join run on run.id = profile.run_id where profile.run_id = ?
"""
# Runs of one scraper with the same parameters, that nobody narrowed in another way when starting them.
_NARROWED = "json_extract({run}.options, '$.scope', '$.include', '$.exclude', '$.depth')"
_ALIKE = f"""
    run.scraper = this.scraper and run.params = this.params
    and {_NARROWED.format(run="run")} = {_NARROWED.format(run="this")}
"""
PAST = f"""
select profile.run_id, run.verdict, profile.at, profile.data, profile.alarm
from run as this join profile on profile.scraper = this.scraper and profile.run_id < this.id
    join run on run.id = profile.run_id
where this.id = :run and {_ALIKE} and run.verdict in ('learning', 'good', 'accepted')
order by profile.run_id desc limit :n
"""  # noqa: S608
FACTS = """
with gave as materialized (
    select request_id, count(*) as n from (
        select request_id from sighting where run_id = :run union all select request_id from staged where run_id = :run
    ) group by request_id
)
select json_object('handlers', (
    select json_group_object(handler, json_object('pages', pages, 'giving', giving, 'items', items)) from (
        select request.handler, count(*) as pages, count(gave.n) as giving, coalesce(sum(gave.n), 0) as items
        from request left join gave on gave.request_id = request.id
        where request.run_id = :run and request.state = 1 and request.reason in ('ok', 'unchanged', 'fresh')
        group by request.handler
    )
), 'size', (select coalesce(avg(size), 0) from request where run_id = :run and state = 1 and reason = 'ok'),
'barren', (
    select json_group_array(url) from (
        select url from request
        where run_id = :run and state = 1 and reason = 'ok' and id not in (select request_id from gave)
        order by id limit 50
    )
))
"""
# Spread by a hash of their numbers: kinds that take turns would be met by every second number, or not at all.
_SPREAD = "({id} * 2654435761 & 4294967295) < :share"
_SAMPLE = f"""
select item.kind as kind, item.url as url, item.data as data from sighting join item on item.id = item_id
where run_id = :run and {_SPREAD.format(id="item_id")} and not exists (
    select 1 from staged where staged.run_id = :run and staged.kind = item.kind and staged.key = item.key)
union all
select kind, url, data from staged where run_id = :run and {_SPREAD.format(id="id")}
"""  # noqa: S608
SAMPLE = f"{_SAMPLE} limit :n"
MEAN_SIZE = f"select coalesce(avg(length(data)), 0) from ({_SAMPLE} limit :n)"  # noqa: S608

# -- gone ------------------------------------------------------------------------------------------------------

ALIKE = f"""
select json_group_array(run.id) from run as this join run on {_ALIKE} where this.id = :run and run.id <= :run
"""  # noqa: S608
#: The n-th newest finished run like this one: who was last seen before it is missing from all of them.
NTH_RUN = """
select id from run where id in (select value from json_each(:alike))
    and (id = :run or (state = 'finished' and reason = 'done' and verdict not in ('suspect', 'rejected', 'pending')))
order by id desc limit 1 offset :n
"""
# Of items that runs with other parameters saw last, those know more.
MISSING = """
select json_group_array(id) from item
where scraper = :scraper and gone is null and last_run < :before and last_seen < :until
    and last_run in (select value from json_each(:alike))
"""
# Pages that could not be read say nothing about what was on them; and if one was not, others may not have been
# reached. What is missing is held in memory, not what the run met: that may be millions of links.
CLEAN = """
select failed = 0 or not exists (
    select 1 from request where run_id = :run and state in (0, 3) and coalesce(status, 0) not in (404, 410)
) from run where id = :run
"""
NOT_EXCUSED = """
with missing as materialized (select id, url from item where id in (select value from json_each(:ids))),
met as materialized (
    select missing.id, max(coalesce(status, 0) in (404, 410) or state = 1) as read,
        max(coalesce(status, 0) not in (404, 410) and state in (2, 3)) as unread
    from request indexed by request_known cross join missing on missing.url = request.url
    where run_id = :run group by missing.id
)
select json_group_array(id) from missing
where iif(:clean, id not in (select id from met where unread), id in (select id from met where read))
"""
GONE = """
insert into change (item_id, run_id, at, what, before)
select id, :run, :now, 'gone', data from item where id in (select value from json_each(:ids)) and gone is null
"""
MARK = "update item set gone = :now, seq = :seq where id in (select value from json_each(:ids)) and gone is null"
IDS = f"""
select json_group_array(item.id)
from (select {columns("kind", "key")} from json_each(:rows)) as row cross join item on {_KNOWN}
where item.gone is null
"""  # noqa: S608

# -- reading ---------------------------------------------------------------------------------------------------

CURSOR = "select coalesce(max(seq), 0) from item"
_ITEM = """json_array(id, seq, scraper, kind, key, url, data, first_seen, last_seen, last_changed, times_seen, gone)"""
_WANTED = """
    (:scraper is null or scraper = :scraper) and (:kind is null or kind = :kind)
    and (:since is null or last_changed >= :since)
    and (:run is null or exists (select 1 from sighting where run_id = :run and item_id = item.id))
"""
ITEMS_OUT = f"""
select json_group_array({_ITEM}) from (
    select item.* from item where item.id > :last and (:gone or :run is not null or gone is null) and {_WANTED}
    order by item.id limit :n
)
"""  # noqa: S608
ITEMS_AFTER = f"""
select json_group_array({_ITEM}) from (
    select item.* from item where (seq, id) > (:seq, :last) and seq > :after and {_WANTED} order by seq, id limit :n
)
"""  # noqa: S608
ITEMS_HELD = """
select json_group_array(json_array(id, 0, scraper, kind, key, url, data, seen, seen, seen, times, null)) from (
    select staged.*, run.scraper from staged join run on run.id = run_id
    where run_id = :run and staged.id > :last and (:kind is null or kind = :kind) order by staged.id limit :n
)
"""

# The same by their names. SQLite compares texts by their bytes. Nothing comes before three empty texts: the first piece
# begins there, with what has just that name.
_BY_KEY = f"""
select json_group_array({_ITEM}) from (
    select item.* from item
    where (scraper, kind, key) {{after}} (:last_scraper, :last_kind, :last_key)
        and (:gone or :run is not null or gone is null) and {_WANTED}
    order by scraper, kind, key limit :n
)
"""  # noqa: S608
_HELD_BY_KEY = """
select json_group_array(json_array(id, 0, scraper, kind, key, url, data, seen, seen, seen, times, null)) from (
    select staged.*, run.scraper from staged join run on run.id = run_id
    where run_id = :run and (kind, key) {after} (:last_kind, :last_key) and (:kind is null or kind = :kind)
    order by kind, key limit :n
)
"""
FIRST_BY_KEY, NEXT_BY_KEY = _BY_KEY.format(after=">="), _BY_KEY.format(after=">")
FIRST_HELD_BY_KEY, NEXT_HELD_BY_KEY = _HELD_BY_KEY.format(after=">="), _HELD_BY_KEY.format(after=">")

# What an item became is what its next change, or the item itself, says.
_AFTER = """coalesce((
    select later.before from change as later where later.item_id = change.item_id and later.id > change.id
    order by later.id limit 1), item.data)"""
_FIRST = """coalesce((
    select before from change where change.item_id = item.id order by change.id limit 1), item.data)"""
# What was found while it was held back, or when a page was read again, is new once it is current.
_NEW = "iif(exists (select 1 from change where change.item_id = item.id), first_seen, last_changed)"
_OF = """
    (:scraper is null or item.scraper = :scraper) and (:kind is null or item.kind = :kind)
    and (:key is null or item.key = :key)
"""
CHANGES_OUT = f"""
select at, what, run, scraper, kind, key, url, before, after from (
    select {_NEW} as at, 'new' as what, nullif(first_run, 0) as run, scraper, kind, key, url,
        null as before, {_FIRST} as after, 0 as n
    from item where max(first_seen, last_changed) >= :since and {_NEW} >= :since and {_OF}
    union all
    select at, what, run_id, scraper, kind, key, url, before, iif(what = 'gone', null, {_AFTER}), change.id
    from change join item on item.id = item_id where at >= :since and {_OF}
) order by at, n
"""  # noqa: S608

REJECTS_OUT = """
select json_group_array(json_array(id, run_id, scraper, at, url, kind, step, reason, data)) from (
    select reject.*, run.scraper, request.url
    from reject join run on run.id = reject.run_id left join request on request.id = reject.request_id
    where reject.id > :last and (:run is null or reject.run_id = :run) and (:scraper is null or scraper = :scraper)
    order by reject.id limit :n
)
"""

# -- sinks -----------------------------------------------------------------------------------------------------

_SINK = "select name, scraper, cursor, delivered, objects, failing, updated from sink"
SINK = f"{_SINK} where name = ? and scraper = ?"
SINKS = f"{_SINK} order by name, scraper"
KEEP_SINK = """
insert into sink (name, scraper, cursor, delivered, objects, failing, updated) values (?, ?, ?, ?, ?, ?, ?)
on conflict (name, scraper) do update set cursor = excluded.cursor, delivered = excluded.delivered,
    objects = excluded.objects, failing = excluded.failing, updated = excluded.updated
"""
