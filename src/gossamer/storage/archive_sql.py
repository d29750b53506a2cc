"""The SQL of the archive. Rows travel as JSON, and their bytes as one blob of which each row names its part.

A statement then runs in one step with the interpreter lock released, as in `statements`.
"""

from __future__ import annotations

#: "goar" in the file's header: whose it is. And the form of its tables.
APPLICATION = 0x676F6172
FORM = 1

# Before the first table, or never.
FIRST_PRAGMAS = """
pragma page_size = 16384;
pragma auto_vacuum = incremental;
"""
PRAGMAS = """
pragma journal_mode = wal;
pragma synchronous = normal;
pragma cache_size = -32768;
pragma wal_autocheckpoint = 4000;
pragma journal_size_limit = 67108864;
pragma busy_timeout = 10000;
pragma temp_store = memory;
"""

# What is known of a body lies apart from its bytes: asking for it must not read the whole file.
TABLES = (
    "create table body (id integer primary key, digest blob not null unique, size integer not null, "
    "stored integer not null, dictionary integer not null)",
    "create table content (id integer primary key, data blob not null)",
    "create table page (id integer primary key, run integer not null, request integer not null, "
    "scraper text not null, digest text not null, url text not null, status integer not null, "
    "started real not null, kept real not null, size integer not null, body integer, dictionary integer not null, "
    "head blob not null, unique (run, request))",
    "create index page_digest on page (scraper, digest)",
    "create index page_body on page (body)",
    # A number is never used twice: a process that reads may still have the old one.
    "create table dictionary (id integer primary key autoincrement, data blob not null)",
    "create table shelf (name text primary key, dictionary integer, samples text not null) without rowid",
    f"pragma application_id = {APPLICATION}",
    f"pragma user_version = {FORM}",
)

LAST_BODY = "select coalesce(max(id), 0) from body"
SHELVES = "select name, dictionary, samples from shelf"
KEEP_SHELVES = """
insert into shelf (name, samples) select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(:rows)
where true on conflict (name) do update set samples = excluded.samples where shelf.dictionary is null
"""
SHELVE = """
insert into shelf (name, dictionary, samples) values (:name, :number, '[]')
on conflict (name) do update set dictionary = excluded.dictionary, samples = '[]'
"""
ADD_DICTIONARY = "insert into dictionary (data) values (?)"
DICTIONARY = "select data from dictionary where id = ?"
DICTIONARIES = "select count(*) from dictionary"

# Places of digests, 32 bytes each -> the bodies that are there already.
KNOWN = """
select json_group_array(json_array(value, body.id)) from json_each(:places)
cross join body on body.digest = substr(:digests, 32 * value + 1, 32)
"""
BODIES = """
insert into body (id, digest, size, stored, dictionary)
select json_extract(value, '$[0]'), substr(:digests, 32 * json_extract(value, '$[1]') + 1, 32),
    json_extract(value, '$[2]'), json_extract(value, '$[4]'), json_extract(value, '$[5]')
from json_each(:rows)
"""
CONTENTS = """
insert into content (id, data)
select json_extract(value, '$[0]'),
    coalesce(substr(:data, json_extract(value, '$[3]'), json_extract(value, '$[4]')), x'')
from json_each(:rows)
"""
_PAGE = "run, request, scraper, digest, url, status, started, kept, size, body, dictionary, head"
_AGAIN = """
on conflict (run, request) do update set scraper = excluded.scraper, digest = excluded.digest, url = excluded.url,
    status = excluded.status, started = excluded.started, kept = excluded.kept, size = excluded.size,
    body = excluded.body, dictionary = excluded.dictionary, head = excluded.head
"""
PAGES = f"""
insert into page ({_PAGE})
select {", ".join(f"json_extract(value, '$[{n}]')" for n in range(11))},
    substr(:data, json_extract(value, '$[11]'), json_extract(value, '$[12]'))
from json_each(:rows) where true {_AGAIN}
"""  # noqa: S608 - only our own column names are put in
# The newest earlier page of the same request that had this body lends all that is not known anew.
SAME = f"""
insert into page ({_PAGE})
select row.run, row.request, page.scraper, page.digest, page.url, page.status, row.started, :now, page.size,
    page.body, page.dictionary, page.head
from (
    select json_extract(value, '$[0]') as run, json_extract(value, '$[1]') as request,
        json_extract(value, '$[2]') as scraper, json_extract(value, '$[3]') as digest,
        json_extract(value, '$[4]') as started, substr(:digests, 32 * key + 1, 32) as sha256
    from json_each(:rows)
) as row
join page on page.id = (
    select max(page.id) from page join body on body.id = page.body
    where page.scraper = row.scraper and page.digest = row.digest and body.digest = row.sha256
)
where true {_AGAIN}
"""  # noqa: S608

# A page is the newest of its request if none was fetched later; of those fetched at the same time, the last one.
_WANTED = """
(:scraper is null or scraper = :scraper) and (:run is null or run = :run) and (:matching = 0 or matches(url))
and (:but is null or run not in (select value from json_each(:but))) and not (:newest and exists (
    select 1 from page as later where later.scraper = page.scraper and later.digest = page.digest
        and (:run is null or later.run = :run) and (later.started, later.id) > (page.started, page.id)))
"""
IDS = f"""
select json_group_array(id) from (select id from page where id > :after and {_WANTED} order by id limit :limit)
"""  # noqa: S608
COUNT = f"select count(*) from page where {_WANTED}"  # noqa: S608
RUNS = "select json_group_array(run) from (select distinct run from page where :scraper is null or scraper = :scraper)"
BY_DIGEST = "select json_group_array(id) from (select id from page where digest = ? order by started desc, id desc)"
BY_URL = "select json_group_array(id) from (select id from page where url = ? order by started desc, id desc)"
READ = """
select page.id, page.run, page.request, page.scraper, page.url, page.status, page.started, page.kept, page.size,
    page.dictionary, page.head, hex(body.digest), body.dictionary, iif(:bodies, content.data, null),
    exists (select 1 from page as later where later.scraper = page.scraper and later.digest = page.digest
        and (later.started, later.id) > (page.started, page.id))
from json_each(:ids) as wanted cross join page on page.id = wanted.value
left join body on body.id = page.body left join content on content.id = page.body and :bodies
order by wanted.key
"""
BODY = """
select content.data, body.dictionary from body join content on content.id = body.id where body.digest = ?
"""
SAMPLES = """
select content.data, body.dictionary from json_each(:ids) cross join body on body.id = value
join content on content.id = body.id
"""
# Of requests that a run's pages may be for, the pages: the newest of each.
PAGES_OF = """
select json_group_array(json_array(value, (
    select id from page where scraper = :scraper and digest = value and run = :run order by started desc, id desc
))) from json_each(:digests)
"""
HAS = """
select json_group_array(value) from json_each(:digests)
where exists (select 1 from page where scraper = :scraper and digest = value)
"""

STATS = """
select (select count(*) from page), (select count(*) from body), (select coalesce(sum(size), 0) from body),
    (select coalesce(sum(stored), 0) from body), (select count(*) from dictionary),
    (select min(kept) from page), (select max(kept) from page),
    (select json_group_object(scraper, n) from (select scraper, count(*) as n from page group by scraper))
"""

# The oldest pages are those with the smallest ids: a page that is kept again is a new row.
BEFORE = "select coalesce(max(id), 0) from page where kept < ?"
# Bodies belong to the newest page that names them. From there back, what still fits is kept.
BEYOND = """
select coalesce(max(last), 0) from (
    select last, sum(bytes) over (order by last desc) as total from (
        select page.id as last, length(page.head) + 200 + iif(
            page.body is not null and not exists (
                select 1 from page as later where later.body = page.body and later.id > page.id),
            (select stored + 60 from body where body.id = page.body), 0) as bytes
        from page
    )
) where total > ?
"""
OLDEST = "select kept from page order by id limit 1"
DELETE_PAGES = "delete from page where id in (select id from page where id <= :last order by id limit :most)"
FORGET = """
delete from page where id in (
    select id from page where (:run is null or run = :run) and (:scraper is null or scraper = :scraper) limit :most
)
"""
ORPHANS = """
select json_group_array(id) from (
    select id from body where not exists (select 1 from page where page.body = body.id) limit :most
)
"""
DELETE_BODIES = "delete from body where id in (select value from json_each(?))"
DELETE_CONTENTS = "delete from content where id in (select value from json_each(?))"
IDLE = """
select json_group_array(id) from dictionary
where id not in (select dictionary from body) and id not in (select dictionary from page)
"""
DELETE_DICTIONARIES = "delete from dictionary where id in (select value from json_each(?))"
UNSHELVE = "delete from shelf where dictionary in (select value from json_each(?))"
