"""A store with a million rows in each table that grows with what is crawled, and a hundred thousand in the others.

Made in seconds: by SQL, with the indexes built afterwards.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from gossamer.storage import migrations

ROWS = 1_000_000
FEW = 100_000
#: The run that has half of all requests, and how many runs share the others.
BIG_RUN = ROWS
SCRAPERS = 100
#: A scraper whose few rows lie far back.
RARE = "rare"
#: Minutes of ticks by so many scrapers each; hours of causes.
TICKING = 10

_HASTY = """
pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive;
pragma cache_size = -200000; pragma temp_store = memory;
"""
_NUMBERS = """
with recursive each(id) as (select 0 union all select id + 1 from each where id < 999)
insert into temp.n (id) select 1000 * thousands.id + ones.id + 1 from each as thousands cross join each as ones
"""
_FILL = [
    """insert into run (id, scraper, ref, signature, params, options, state, reason, created, started, ended, seconds,
        seeded, settled, pages, items, failed, skipped, rejected, verdict, asked_by, via, new_items)
    select id, iif(id % 100000 = 7, 'rare', 's' || (id % 100)), 'ref', 'sig' || id, '{}', '{}',
        iif(id >= :rows - 3, 'running', iif(id % 50 = 0, 'failed', 'finished')), iif(id % 50 = 0, 'error', 'done'),
        :then + id, :then + id, :then + id + 9, 9.0, 1, 100, 90, 80, 5, 5, id < 2000 or id = :rows,
        iif(id % 100000 = 0, 'suspect', iif(id % 10 = 0, '', 'good')), 'who' || (id % 20),
        iif(id % 2, 'schedule', 'api'), 3 from temp.n""",
    # Half of them belong to the newest run, the others to runs of a hundred.
    """insert into request (id, run_id, digest, url, host, shard, handler, depth, priority, hops, state, not_before,
        attempts, reason, status, size, started, elapsed)
    select id, iif(id > :rows / 2, :rows, id / 100 + 1), printf('%022d', id),
        'http://h' || (id % 1000) || '.example/page/' || id, 'h' || (id % 1000) || '.example', 1, 'parse',
        iif(id % 5000 = 0, 0, 1), 0, 0,
        case when id % 10 < 7 then 1 when id % 10 = 7 then 2 when id % 10 = 8 then 3 else 0 end,
        iif(id % 100 = 9, 1e12, 0), 0,
        case when id % 10 < 7 then 'ok' when id % 10 = 7 then 'scope'
            when id % 10 = 8 then iif(id % 1000 = 8, 'timeout', 'http_404') end,
        200, 1000, :then + id, 0.2 from temp.n""",
    """insert into item (id, scraper, kind, key, data, url, first_seen, last_seen, last_changed, seq, gone,
        first_run, last_run)
    select id, iif(id % 100000 = 7, 'rare', 's' || (id % 100)), iif(id % 3, 'product', 'shop'), id,
        '{"name":"thing ' || id || '","price":' || (id % 977) || '}',
        'http://h' || (id % 1000) || '.example/page/' || id,
        :then + id, :then + id, :then + id, id / 10, iif(id % 20 = 0, :then + id, null), id % 1000 + 1, id % 1000 + 1
        from temp.n""",
    """insert into sighting (run_id, item_id, request_id)
    select iif(id > :rows / 2, :rows, id / 100 + 1), id, id from temp.n""",
    """insert into change (id, item_id, run_id, at, what, before)
    select id, iif(id % 2, id, 5), id, :then + id, iif(id % 10 = 0, 'gone', 'changed'), '{"name":"old"}' from temp.n""",
    """insert into reject (id, run_id, request_id, kind, data, step, reason, at)
    select id, iif(id > 50000, :rows, id / 100 + 1), id, 'product', '{}', 'clean', 'no name', :then + id
        from temp.n where id <= :few""",
    """insert into event (id, at, level, name, run_id, scraper, message)
    select id, :then + id, iif(id % 1000 = 0, 'error', iif(id % 10 = 0, 'warning', 'info')), 'page.read', id % 1000 + 1,
        iif(id % 100000 = 7, 'rare', 's' || (id % 100)), 'message ' || id from temp.n""",
    """insert into trail (id, at, who, via, action, target)
    select id, :then + id, 'who' || (id % 20), 'api', iif(id % 3, 'run.start', 'host.pause'), id % 500
        from temp.n where id <= :few""",
    """insert into firing (schedule, due, at, what, run_id)
    select 's' || (id % 100), :then + id, :then + id + 1, iif(id % 100, 'started', 'skipped'), id
        from temp.n order by 1, 2""",
    """insert into alert (id, key, kind, scraper, run_id, at, title, seen)
    select id, id, iif(id % 50, 'failure', 'drift'), 's' || (id % 100), id, :then + id, 'a title',
        iif(id % 1000, :then + id, null) from temp.n where id <= :few""",
    """insert into source (host, last_hit, ready_at, breaker, paused, budget)
    select 'h' || id || '.example', :then, 0, iif(id % 10000, 'closed', 'open'), id % 5000 = 0,
        iif(id % 9999, null, 10) from temp.n where id <= :few order by 1""",
    """insert into notice (id, host, at, kind, seconds, detail)
    select id, iif(id % 2, 'h' || id || '.example', 'h1.example'), :then + id, 'slowed', 1, 'slower'
        from temp.n where id <= :few""",
    """insert into robots (id, origin, fetched, checked, status, body)
    select id, iif(id % 2, 'http://h' || id || '.example', 'http://h1.example'), :then + id, :then + id, 200,
        x'789c030000000001' from temp.n where id <= :few""",
    """insert into tick (minute, scraper, pages, failed, items, size)
    select :minute - id / 10, 's' || (id % 10), 10, 1, 5, 1000 from temp.n order by 1, 2""",
    """insert into cause (hour, scraper, reason, n)
    select :minute / 60 - id / 200, 's' || (id % 20), 'reason' || (id / 20 % 10), 3
        from temp.n where id <= :few order by 1, 2, 3""",
    """insert into scraper (name, runs, successes, failures, seconds, items, new_items)
    select 's' || id, 10000, 9800, 200, 90000, 800000, 30000 from temp.n where id < 100""",
]


def make(path: Path) -> None:
    """Write it; nothing survives of it if that is interrupted."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript((Path(migrations.__file__).with_name("head.sql")).read_text())
    db.executescript(_HASTY)
    indexes = db.execute("select name, sql from sqlite_master where type = 'index' and sql is not null").fetchall()
    for name, _ in indexes:
        db.execute(f"drop index {name}")
    db.execute("create temp table n (id integer primary key)")
    db.execute(_NUMBERS)
    now = time.time()
    for statement in _FILL:
        names = {"rows": ROWS, "few": FEW, "then": now - 2 * ROWS, "minute": int(now) // 60}
        db.execute(statement, {name: value for name, value in names.items() if f":{name}" in statement})
    for _, statement in indexes:
        db.execute(statement)
    db.close()
