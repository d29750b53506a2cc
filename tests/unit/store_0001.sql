-- A store as the first Gossamer wrote it (form 0001): one page read, one parked, one in flight, one waiting.
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
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
    reason TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(run_id) REFERENCES run (id)
);
INSERT INTO "fetch" VALUES(1,1,NULL,'https://a.example/robots.txt','a.example',999.0,0.1,200,9,'robots');
INSERT INTO "fetch" VALUES(2,1,3,'https://a.example/slow','a.example',1001.0,2.0,0,0,'timeout');
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
    times_seen INTEGER DEFAULT '1' NOT NULL,
    PRIMARY KEY (id)
);
INSERT INTO "item" VALUES(1,'quotes','quote','k','{"n":1}','https://a.example/',1000.0,1000.0,1000.0,1);
CREATE TABLE lease (
    run_id INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    owner TEXT,
    token INTEGER NOT NULL,
    until FLOAT NOT NULL,
    PRIMARY KEY (run_id, shard),
    FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;
INSERT INTO "lease" VALUES(1,-1,'me',1,1.79478947021855688099e+09);
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
INSERT INTO "request" VALUES(1,1,'a2xwrZVqTx9Ic0l_LF4g_w','https://a.example/','a.example',460,'parse',NULL,0,0,0,NULL,1,0.0,NULL,0,0,'ok',NULL,200,10,1000.0,0.5);
INSERT INTO "request" VALUES(2,1,'Xgy2KjTO2U9168R1n5GqQA','https://a.example/post','a.example',460,'parse','{"json":{"q":1},"carry":{"n":2}}',0,0,0,NULL,0,0.0,1,1,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "request" VALUES(3,1,'Rdy8derSVo1BeVYg71H3fw','https://a.example/slow','a.example',460,'parse',NULL,0,0,0,NULL,0,5000.0,NULL,0,1,'timeout',NULL,0,0,1001.0,2.0);
INSERT INTO "request" VALUES(4,1,'CZlXHBhQTeD1rmOEME7vwA','https://a.example/next','a.example',460,'parse',NULL,1,0,0,1,0,0.0,NULL,0,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "request" VALUES(5,1,'VTr8ScsfxSvPXnrO_ySX5Q','https://b.example/','b.example',265,'parse',NULL,1,0,0,1,2,0.0,NULL,0,0,'scope',NULL,NULL,NULL,NULL,NULL);
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
    size INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (id)
);
INSERT INTO "run" VALUES(1,'quotes','quotes.py:Quotes','same','{"q":"art"}','{"depth":3}','running','',1.79478941021653914458e+09,NULL,1.5,1,1,1,1,0,1,1,10);
CREATE TABLE run_reason (
    run_id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (run_id, reason),
    FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;
INSERT INTO "run_reason" VALUES(1,'ok',1);
INSERT INTO "run_reason" VALUES(1,'scope',1);
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
INSERT INTO "sighting" VALUES(1,1,1);
CREATE TABLE source (
    host TEXT NOT NULL,
    last_hit FLOAT NOT NULL,
    ready_at FLOAT NOT NULL,
    PRIMARY KEY (host)
)
 WITHOUT ROWID;
INSERT INTO "source" VALUES('a.example',1001.0,1002.5);
CREATE UNIQUE INDEX item_known ON item (scraper, kind, "key");
CREATE INDEX run_signature ON run (signature);
CREATE INDEX fetch_request ON fetch (request_id);
CREATE INDEX fetch_run ON fetch (run_id);
CREATE INDEX request_roots ON request (run_id, host) WHERE depth = 0;
CREATE INDEX request_claimed ON request (run_id) WHERE state = 0 and token is not null;
CREATE UNIQUE INDEX request_known ON request (run_id, digest);
CREATE INDEX request_ready ON request (run_id, host, priority desc, id, depth) WHERE state = 0 and not_before = 0;
CREATE INDEX request_parked ON request (run_id, not_before) WHERE state = 0 and not_before > 0;
CREATE INDEX sighting_request ON sighting (request_id);
COMMIT;
