CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE item (
    id INTEGER NOT NULL,
    scraper TEXT NOT NULL,
    kind TEXT NOT NULL,
    "key" TEXT NOT NULL,
    data TEXT NOT NULL,
    url TEXT NOT NULL,
    first_seen FLOAT NOT NULL,
    last_seen FLOAT NOT NULL,
    last_changed FLOAT NOT NULL,
    times_seen INTEGER DEFAULT '1' NOT NULL, seq INTEGER DEFAULT '0' NOT NULL, gone FLOAT, first_run INTEGER DEFAULT '0' NOT NULL, last_run INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX item_known ON item (scraper, kind, "key");

CREATE TABLE run (
    id INTEGER NOT NULL,
    scraper TEXT NOT NULL,
    ref TEXT NOT NULL,
    signature TEXT NOT NULL,
    params TEXT NOT NULL,
    options TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    created FLOAT NOT NULL,
    ended FLOAT,
    seconds FLOAT DEFAULT '0' NOT NULL,
    seeded INTEGER DEFAULT '0' NOT NULL,
    settled INTEGER DEFAULT '0' NOT NULL,
    pages INTEGER DEFAULT '0' NOT NULL,
    items INTEGER DEFAULT '0' NOT NULL,
    failed INTEGER DEFAULT '0' NOT NULL,
    skipped INTEGER DEFAULT '0' NOT NULL,
    retried INTEGER DEFAULT '0' NOT NULL,
    size INTEGER DEFAULT '0' NOT NULL, rejected INTEGER DEFAULT '0' NOT NULL, verdict TEXT DEFAULT '' NOT NULL, reading TEXT DEFAULT '{}' NOT NULL, asked_by TEXT DEFAULT '' NOT NULL, via TEXT DEFAULT 'cli' NOT NULL, trusted INTEGER DEFAULT '1' NOT NULL, wanted TEXT DEFAULT '' NOT NULL, started FLOAT, crashes INTEGER DEFAULT '0' NOT NULL, alone INTEGER DEFAULT '0' NOT NULL, new_items INTEGER DEFAULT '0' NOT NULL, cluster INTEGER DEFAULT '0' NOT NULL, priority INTEGER DEFAULT '0' NOT NULL, workers INTEGER, begun_pages INTEGER DEFAULT '0' NOT NULL, begun_items INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX run_signature ON run (signature);

CREATE TABLE source (
    host TEXT NOT NULL,
    last_hit FLOAT NOT NULL,
    ready_at FLOAT NOT NULL, interval FLOAT DEFAULT '0' NOT NULL, crawl_delay FLOAT DEFAULT '0' NOT NULL, latency FLOAT DEFAULT '0' NOT NULL, breaker TEXT DEFAULT 'closed' NOT NULL, openings INTEGER DEFAULT '0' NOT NULL, open_until FLOAT DEFAULT '0' NOT NULL, why TEXT DEFAULT '' NOT NULL, paused INTEGER DEFAULT '0' NOT NULL, budget INTEGER, ruled_by TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (host)
)
 WITHOUT ROWID;

CREATE TABLE fetch (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    request_id INTEGER,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    started FLOAT NOT NULL,
    elapsed FLOAT NOT NULL,
    status INTEGER NOT NULL,
    size INTEGER NOT NULL,
    reason TEXT NOT NULL, detail TEXT,
    PRIMARY KEY (id),
    FOREIGN KEY(run_id) REFERENCES run (id)
);

CREATE INDEX fetch_request ON fetch (request_id);

CREATE INDEX fetch_run ON fetch (run_id);

CREATE TABLE lease (
    run_id INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    owner TEXT,
    token INTEGER NOT NULL,
    until FLOAT NOT NULL, ticket_at FLOAT, crashes INTEGER DEFAULT '0' NOT NULL, acquired FLOAT DEFAULT '0' NOT NULL, rest_until FLOAT DEFAULT '0' NOT NULL,
    PRIMARY KEY (run_id, shard),
    FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;

CREATE TABLE request (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    digest TEXT NOT NULL,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    shard INTEGER NOT NULL,
    handler TEXT NOT NULL,
    extra TEXT,
    depth INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    found_on INTEGER,
    state INTEGER DEFAULT '0' NOT NULL,
    not_before FLOAT DEFAULT '0' NOT NULL,
    token INTEGER,
    claims INTEGER DEFAULT '0' NOT NULL,
    attempts INTEGER DEFAULT '0' NOT NULL,
    reason TEXT,
    detail TEXT,
    status INTEGER,
    size INTEGER,
    started FLOAT,
    elapsed FLOAT,
    PRIMARY KEY (id),
    FOREIGN KEY(run_id) REFERENCES run (id)
);

CREATE INDEX request_roots ON request (run_id, host) WHERE depth = 0;

CREATE INDEX request_claimed ON request (run_id) WHERE state = 0 and token is not null;

CREATE UNIQUE INDEX request_known ON request (run_id, digest);

CREATE INDEX request_ready ON request (run_id, host, priority desc, id, depth) WHERE state = 0 and not_before = 0;

CREATE INDEX request_parked ON request (run_id, not_before) WHERE state = 0 and not_before > 0;

CREATE TABLE run_reason (
    run_id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (run_id, reason),
    FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;

CREATE TABLE sighting (
    run_id INTEGER NOT NULL,
    item_id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    PRIMARY KEY (run_id, item_id),
    FOREIGN KEY(item_id) REFERENCES item (id),
    FOREIGN KEY(request_id) REFERENCES request (id),
    FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;

CREATE INDEX sighting_request ON sighting (request_id);

CREATE TABLE robots (
    id INTEGER NOT NULL,
    origin TEXT NOT NULL,
    fetched FLOAT NOT NULL,
    checked FLOAT NOT NULL,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    closed TEXT,
    PRIMARY KEY (id)
);

CREATE INDEX robots_origin ON robots (origin);

CREATE TABLE notice (
    id INTEGER NOT NULL,
    host TEXT NOT NULL,
    at FLOAT NOT NULL,
    kind TEXT NOT NULL,
    seconds FLOAT NOT NULL,
    detail TEXT NOT NULL,
    run_id INTEGER,
    PRIMARY KEY (id)
);

CREATE INDEX notice_host ON notice (host);

CREATE TABLE start (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    at FLOAT NOT NULL,
    limits TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(run_id) REFERENCES run (id)
);

CREATE INDEX start_run ON start (run_id);

CREATE TABLE visit (
    scraper TEXT NOT NULL,
    digest TEXT NOT NULL,
    fetched FLOAT NOT NULL,
    checked FLOAT NOT NULL,
    etag TEXT,
    modified TEXT,
    sha256 TEXT NOT NULL,
    gave BLOB NOT NULL,
    PRIMARY KEY (scraper, digest)
);

CREATE INDEX item_seq ON item (seq);

CREATE TABLE change (
    id INTEGER NOT NULL,
    item_id INTEGER NOT NULL,
    run_id INTEGER,
    at FLOAT NOT NULL,
    what TEXT NOT NULL,
    "before" TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(item_id) REFERENCES item (id)
);

CREATE INDEX change_item ON change (item_id, id);

CREATE INDEX change_at ON change (at);

CREATE TABLE staged (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    "key" TEXT NOT NULL,
    data TEXT NOT NULL,
    url TEXT NOT NULL,
    request_id INTEGER NOT NULL,
    seen FLOAT NOT NULL,
    times INTEGER DEFAULT '1' NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(run_id) REFERENCES run (id)
);

CREATE UNIQUE INDEX staged_known ON staged (run_id, kind, "key");

CREATE INDEX staged_request ON staged (request_id);

CREATE TABLE reject (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    step TEXT NOT NULL,
    reason TEXT NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(run_id) REFERENCES run (id)
);

CREATE INDEX reject_run ON reject (run_id);

CREATE INDEX reject_request ON reject (request_id);

CREATE TABLE profile (
    run_id INTEGER NOT NULL,
    scraper TEXT NOT NULL,
    params TEXT NOT NULL,
    at FLOAT NOT NULL,
    data TEXT NOT NULL,
    alarm TEXT,
    PRIMARY KEY (run_id),
    FOREIGN KEY(run_id) REFERENCES run (id)
);

CREATE INDEX profile_of ON profile (scraper, run_id);

CREATE TABLE sink (
    name TEXT NOT NULL,
    scraper TEXT NOT NULL,
    cursor INTEGER NOT NULL,
    delivered INTEGER DEFAULT '0' NOT NULL,
    objects INTEGER DEFAULT '0' NOT NULL,
    failing TEXT DEFAULT '' NOT NULL,
    updated FLOAT NOT NULL,
    PRIMARY KEY (name, scraper)
)
 WITHOUT ROWID;

CREATE INDEX run_scraper ON run (scraper, id);

CREATE INDEX run_state ON run (state, id);

CREATE INDEX run_wanted ON run (id) WHERE wanted <> '';

CREATE INDEX run_verdict ON run (verdict, id);

CREATE INDEX request_run ON request (run_id, id);

CREATE INDEX item_scraper ON item (scraper, id);

CREATE INDEX request_failed ON request (reason, id) WHERE state = 3;

CREATE INDEX source_ruled ON source (host) WHERE paused = 1 or budget is not null;

CREATE TABLE schedule (
    name TEXT NOT NULL,
    scraper TEXT NOT NULL,
    declared TEXT DEFAULT '{}' NOT NULL,
    overrides TEXT DEFAULT '{}' NOT NULL,
    anchor FLOAT NOT NULL,
    next_due FLOAT,
    updated FLOAT NOT NULL,
    updated_by TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE TABLE firing (
    schedule TEXT NOT NULL,
    due FLOAT NOT NULL,
    at FLOAT NOT NULL,
    what TEXT NOT NULL,
    run_id INTEGER,
    detail TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (schedule, due)
)
 WITHOUT ROWID;

CREATE INDEX firing_at ON firing (at);

CREATE TABLE scraper (
    name TEXT NOT NULL,
    ref TEXT DEFAULT '' NOT NULL,
    enabled INTEGER DEFAULT '1' NOT NULL,
    config TEXT DEFAULT '{}' NOT NULL,
    runs INTEGER DEFAULT '0' NOT NULL,
    successes INTEGER DEFAULT '0' NOT NULL,
    failures INTEGER DEFAULT '0' NOT NULL,
    seconds FLOAT DEFAULT '0' NOT NULL,
    items INTEGER DEFAULT '0' NOT NULL,
    new_items INTEGER DEFAULT '0' NOT NULL,
    last_run INTEGER,
    last_state TEXT DEFAULT '' NOT NULL,
    last_reason TEXT DEFAULT '' NOT NULL,
    last_ended FLOAT,
    last_new FLOAT,
    streak INTEGER DEFAULT '0' NOT NULL,
    breaker TEXT DEFAULT 'closed' NOT NULL,
    openings INTEGER DEFAULT '0' NOT NULL,
    open_until FLOAT DEFAULT '0' NOT NULL,
    PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE TABLE alert (
    id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    kind TEXT NOT NULL,
    scraper TEXT DEFAULT '' NOT NULL,
    run_id INTEGER,
    at FLOAT NOT NULL,
    title TEXT NOT NULL,
    body TEXT DEFAULT '' NOT NULL,
    seen FLOAT,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX alert_key ON alert ("key");

CREATE INDEX alert_unseen ON alert (id) WHERE seen is null;

CREATE TABLE dispatch (
    alert_id INTEGER NOT NULL,
    target TEXT NOT NULL,
    state TEXT DEFAULT 'waiting' NOT NULL,
    attempts INTEGER DEFAULT '0' NOT NULL,
    next_at FLOAT NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (alert_id, target),
    FOREIGN KEY(alert_id) REFERENCES alert (id)
)
 WITHOUT ROWID;

CREATE INDEX dispatch_due ON dispatch (next_at) WHERE state = 'waiting';

CREATE TABLE event (
    id INTEGER NOT NULL,
    at FLOAT NOT NULL,
    level TEXT NOT NULL,
    name TEXT NOT NULL,
    run_id INTEGER,
    scraper TEXT DEFAULT '' NOT NULL,
    message TEXT DEFAULT '' NOT NULL,
    data TEXT DEFAULT '{}' NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX event_run ON event (run_id, id);

CREATE INDEX event_level ON event (level, id);

CREATE INDEX event_scraper ON event (scraper, id);

CREATE TABLE trail (
    id INTEGER NOT NULL,
    at FLOAT NOT NULL,
    who TEXT NOT NULL,
    via TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT DEFAULT '' NOT NULL,
    detail TEXT DEFAULT '{}' NOT NULL,
    address TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE account (
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created FLOAT NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    disabled FLOAT,
    PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE TABLE token (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created FLOAT NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    expires FLOAT,
    used FLOAT,
    revoked FLOAT,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX token_digest ON token (digest);

CREATE TABLE session (
    digest TEXT NOT NULL,
    account TEXT NOT NULL,
    created FLOAT NOT NULL,
    seen FLOAT NOT NULL,
    expires FLOAT NOT NULL,
    PRIMARY KEY (digest)
)
 WITHOUT ROWID;

CREATE INDEX session_account ON session (account);

CREATE TABLE tick (
    minute INTEGER NOT NULL,
    scraper TEXT NOT NULL,
    pages INTEGER DEFAULT '0' NOT NULL,
    failed INTEGER DEFAULT '0' NOT NULL,
    retried INTEGER DEFAULT '0' NOT NULL,
    skipped INTEGER DEFAULT '0' NOT NULL,
    items INTEGER DEFAULT '0' NOT NULL,
    size INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (minute, scraper)
)
 WITHOUT ROWID;

CREATE TABLE cause (
    hour INTEGER NOT NULL,
    scraper TEXT NOT NULL,
    reason TEXT NOT NULL,
    n INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (hour, scraper, reason)
)
 WITHOUT ROWID;

CREATE TABLE mark (
    digest TEXT NOT NULL,
    url TEXT NOT NULL,
    "by" TEXT DEFAULT '' NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (digest)
)
 WITHOUT ROWID;

CREATE TABLE worker (
    name TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started FLOAT NOT NULL,
    at FLOAT NOT NULL,
    data TEXT DEFAULT '{}' NOT NULL,
    PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE INDEX lease_owner ON lease (owner);

CREATE INDEX lease_shard ON lease (shard, until);

insert into alembic_version (version_num) values ('0005');

