BEGIN TRANSACTION;
CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    operation TEXT NOT NULL,
    id TEXT,
    uid INTEGER NOT NULL,
    gid INTEGER NOT NULL,
    pid INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    accepted_ns INTEGER NOT NULL,
    boot BLOB NOT NULL,
    mode TEXT NOT NULL,
    platform TEXT NOT NULL,
    app TEXT,
    device TEXT,
    external_id TEXT,
    message_id TEXT,
    body BLOB NOT NULL
, state TEXT, duplicate_id TEXT, tracked INTEGER NOT NULL DEFAULT 0, transport TEXT, original_priority TEXT, delivered_priority TEXT, replay_of INTEGER) STRICT;
INSERT INTO requests VALUES(1,'deliver','v8-0',0,0,915,1795408105741,64793548492795,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','shop','d1',NULL,NULL,X'7b226f70223a202264656c69766572222c20226964223a202276382d30222c2022706c6174666f726d223a2022616e64726f6964222c2022617070223a202273686f70222c2022646576696365223a20226431222c20227061796c6f6164223a207b2264617461223a207b226a223a202231222c2022676f6f676c652e6d6573736167655f6964223a20226d30227d7d2c202277616974223a20226f7574636f6d65227d','background',NULL,0,'fcm',NULL,NULL,NULL);
INSERT INTO requests VALUES(2,'deliver','v8-1',0,0,915,1795408105776,64793584178187,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','shop','d1',NULL,NULL,X'7b226f70223a202264656c69766572222c20226964223a202276382d31222c2022706c6174666f726d223a2022616e64726f6964222c2022617070223a202273686f70222c2022646576696365223a20226431222c20227061796c6f6164223a207b2264617461223a207b22626164223a202231222c2022676f6f676c652e6d6573736167655f6964223a20226d31227d7d2c202277616974223a20226f7574636f6d65227d','background',NULL,0,'fcm',NULL,NULL,NULL);
INSERT INTO requests VALUES(3,'deliver','v8-2',0,0,915,1795408105840,64793648218119,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','shop','d1',NULL,NULL,X'7b226f70223a202264656c69766572222c20226964223a202276382d32222c2022706c6174666f726d223a2022616e64726f6964222c2022617070223a202273686f70222c2022646576696365223a20226431222c20227061796c6f6164223a207b2264617461223a207b226e6f6e65223a202231222c2022676f6f676c652e6d6573736167655f6964223a20226d32227d7d2c202277616974223a20226f7574636f6d65227d','background',NULL,0,'fcm',NULL,NULL,NULL);
INSERT INTO requests VALUES(4,'deliver','v8-3',0,0,915,1795408105845,64793652624679,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','shop','d1',NULL,NULL,X'7b226f70223a202264656c69766572222c20226964223a202276382d33222c2022706c6174666f726d223a2022616e64726f6964222c2022617070223a202273686f70222c2022646576696365223a20226431222c20227061796c6f6164223a207b2264617461223a207b22626164223a202231222c2022676f6f676c652e6d6573736167655f6964223a20226d33227d7d2c202277616974223a20226f7574636f6d65227d','background',NULL,0,'fcm',NULL,NULL,NULL);
INSERT INTO requests VALUES(5,'deliver','v8-4',0,0,915,1795408105865,64793672422561,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','shop','d1',NULL,NULL,X'7b226f70223a202264656c69766572222c20226964223a202276382d34222c2022706c6174666f726d223a2022616e64726f6964222c2022617070223a202273686f70222c2022646576696365223a20226431222c20227061796c6f6164223a207b2264617461223a207b22736c6f77223a202231222c2022676f6f676c652e6d6573736167655f6964223a20226d34227d7d7d','background',NULL,0,'fcm',NULL,NULL,NULL);
CREATE TABLE invocations (
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    callback TEXT NOT NULL,
    provider TEXT,
    route TEXT,
    handler TEXT,
    budget_us INTEGER NOT NULL,
    deadline_ns INTEGER,
    started INTEGER NOT NULL,
    outcome TEXT,
    reason TEXT,
    queue_us INTEGER,
    exec_us INTEGER,
    total_us INTEGER,
    completed_by TEXT,
    completed_times INTEGER,
    completed_result TEXT,
    completed_options TEXT,
    decided_at INTEGER, observer INTEGER NOT NULL DEFAULT 0, waited_for_seq INTEGER, waited_for_n INTEGER, waited_for_handler TEXT, reason_code TEXT, ahead INTEGER, waited_for_us INTEGER,
    PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;
INSERT INTO invocations VALUES(1,0,'onMessageReceived',NULL,'30-j','journal',9000000,64802548492795,0,'handled',NULL,0,0,0,'default',1,'noData',NULL,1795408105741,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO invocations VALUES(2,0,'onMessageReceived',NULL,'10-bad','bad',9000000,64802584178187,1,'failed','exit status 1',20531,28428,48960,'default',1,'noData',NULL,1795408105825,0,NULL,NULL,NULL,'handler_rejected',NULL,NULL);
INSERT INTO invocations VALUES(3,0,'onMessageReceived',NULL,NULL,NULL,9000000,NULL,0,'unrouted','no route matches',0,0,0,'default',1,'noData',NULL,1795408105840,0,NULL,NULL,NULL,'no_route_matches',NULL,NULL);
INSERT INTO invocations VALUES(4,0,'onMessageReceived',NULL,'10-bad','bad',9000000,64802652624679,1,'failed','exit status 1',3878,6992,10871,'default',1,'noData',NULL,1795408105856,0,NULL,NULL,NULL,'handler_rejected',NULL,NULL);
INSERT INTO invocations VALUES(5,0,'onMessageReceived',NULL,'20-slow','slow',9000000,64802672422561,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE meta (state_id TEXT NOT NULL, highest_seq INTEGER NOT NULL, highest_cursor INTEGER NOT NULL DEFAULT 0, highest_entry INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO meta VALUES('1c852be4-0489-e260-7956-1dcf72897600',0,0,0);
CREATE TABLE events (
    cursor INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    time INTEGER NOT NULL,
    delivery INTEGER NOT NULL,
    external_user_id TEXT,
    device_id TEXT,
    app_id TEXT,
    platform TEXT NOT NULL,
    campaign_id TEXT,
    message_id TEXT,
    button_action_type TEXT,
    button_string TEXT,
    duration_us INTEGER,
    push_token TEXT,
    token_change TEXT
, name TEXT, properties TEXT) STRICT;
CREATE TABLE tracked_deliveries (
    event INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    since_at INTEGER NOT NULL,
    displayed INTEGER NOT NULL,
    own_id INTEGER NOT NULL,
    unique_id TEXT,
    digest INTEGER,
    buttons BLOB NOT NULL,
    opened_at INTEGER,
    opened_by INTEGER,
    influenced INTEGER NOT NULL
) STRICT;
CREATE TABLE closed_buttons (
    event INTEGER NOT NULL,
    button TEXT NOT NULL,
    PRIMARY KEY (event, button)
) STRICT, WITHOUT ROWID;
CREATE TABLE interactions (
    cause INTEGER PRIMARY KEY,
    delivery INTEGER,
    verdict TEXT NOT NULL,
    button TEXT,
    button_action TEXT,
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE pending_starts (
    cause INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    external_id TEXT,
    at INTEGER NOT NULL,
    window_ms INTEGER NOT NULL,
    due_at INTEGER NOT NULL
) STRICT;
CREATE TABLE held_interactions (
    cause INTEGER PRIMARY KEY,
    delivery INTEGER,
    message_id TEXT,
    digest INTEGER,
    act TEXT NOT NULL,
    button TEXT,
    platform TEXT NOT NULL,
    app TEXT,
    device TEXT,
    external_id TEXT,
    at INTEGER NOT NULL,
    due_at INTEGER NOT NULL
) STRICT;
CREATE TABLE devices (
    number INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    platform TEXT NOT NULL,
    external_id TEXT
) STRICT;
INSERT INTO devices VALUES(1,'shop','d1','android',NULL);
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    platform TEXT NOT NULL,
    external_id TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    ended_by INTEGER,
    end_due_at INTEGER,
    since_at INTEGER NOT NULL
) STRICT;
CREATE TABLE session_starts (
    number INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    anonymous INTEGER NOT NULL,
    owner TEXT NOT NULL,
    starts BLOB NOT NULL,
    since_at INTEGER NOT NULL
) STRICT;
CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    cause INTEGER NOT NULL,
    kind TEXT NOT NULL,
    suite TEXT,
    identifier_kind TEXT,
    identifier TEXT,
    identifier_label TEXT,
    platform TEXT NOT NULL,
    app TEXT,
    device TEXT,
    external_id TEXT,
    name TEXT,
    data BLOB NOT NULL,
    time INTEGER NOT NULL,
    saved_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    settled_at INTEGER,
    settled_by INTEGER,
    claimant BLOB,
    reason TEXT
, reason_code TEXT, field TEXT) STRICT;
CREATE TABLE attributes (
    anonymous INTEGER NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (anonymous, owner, kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE sending (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    phase TEXT NOT NULL,
    reason TEXT,
    failures INTEGER NOT NULL,
    until_at INTEGER,
    since_at INTEGER NOT NULL
) STRICT;
CREATE TABLE log_position (
    number INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    segment_end INTEGER NOT NULL
) STRICT;
INSERT INTO log_position VALUES(7,124067879,1,32768);
CREATE TABLE attempts (
    number INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    route TEXT,
    handler TEXT NOT NULL,
    asked_us INTEGER NOT NULL,
    started_us INTEGER,
    ended_us INTEGER NOT NULL,
    answer TEXT NOT NULL,
    status INTEGER,
    signal INTEGER,
    retry_after_us INTEGER,
    reason TEXT,
    errors BLOB,
    errors_cut INTEGER
) STRICT;
INSERT INTO attempts VALUES(1,2,0,'10-bad','bad',0,20531,48960,'rejected',1,NULL,NULL,'exit status 1',NULL,NULL);
INSERT INTO attempts VALUES(2,4,0,'10-bad','bad',0,3878,10871,'rejected',1,NULL,NULL,'exit status 1',NULL,NULL);
CREATE TABLE dead_letters (
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;
INSERT INTO dead_letters VALUES(2,0,1795408105825,166);
INSERT INTO dead_letters VALUES(3,0,1795408105840,167);
INSERT INTO dead_letters VALUES(4,0,1795408105856,166);
CREATE TABLE figures_by_minute (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
INSERT INTO figures_by_minute VALUES(128520316442902528,X'01050004040300010000010100000000000000000003c0fe020200f7540400000100000000');
INSERT INTO figures_by_minute VALUES(128520316442902529,X'0101c0a8a504000000000000000000000000010001000100010001000100');
INSERT INTO figures_by_minute VALUES(128520316442902530,X'0102c0a8a50400000000000000000000000002f20501ad0201b3a00102da06018302018cde0102a90701950201c0fe02');
INSERT INTO figures_by_minute VALUES(128520316442902531,X'0101c0a8a504000000000000000000000000000000');
CREATE TABLE figures_by_hour (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
CREATE TABLE figures_by_days (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
CREATE TABLE figure_keys (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    last_minute INTEGER NOT NULL
) STRICT;
INSERT INTO figure_keys VALUES(1,'["relay","android","onMessageReceived","handled",false,false,"shop",null,"30-j","journal","fcm",null,null,null]',29923519);
INSERT INTO figure_keys VALUES(2,'["relay","android","onMessageReceived","failed",false,false,"shop",null,"10-bad","bad","fcm",null,null,null]',29923519);
INSERT INTO figure_keys VALUES(3,'["relay","android","onMessageReceived","unrouted",false,false,"shop",null,null,null,"fcm",null,null,null]',29923519);
CREATE TABLE figure_state (version INTEGER NOT NULL, first_minute INTEGER NOT NULL) STRICT;
INSERT INTO figure_state VALUES(1,0);
CREATE TABLE clock_steps (seq INTEGER PRIMARY KEY, accepted_at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX requests_by_id ON requests (uid, id) WHERE id IS NOT NULL;
CREATE INDEX requests_by_time ON requests (accepted_at);
CREATE INDEX invocations_pending ON invocations (seq, n) WHERE outcome IS NULL;
CREATE INDEX requests_by_message ON requests (message_id)
    WHERE message_id IS NOT NULL AND operation = 'deliver' AND tracked = 0;
CREATE INDEX events_by_seq ON events (seq);
CREATE INDEX events_of_delivery ON events (delivery) WHERE delivery <> seq;
CREATE INDEX entries_of_request ON entries (cause);
CREATE INDEX entries_unfinished ON entries (number)
    WHERE state IN ('pending', 'queued', 'claimed', 'unknown');
CREATE INDEX entries_finished ON entries (state, coalesce(settled_at, saved_at))
    WHERE state IN ('flushed', 'sent', 'rejected', 'discarded');
CREATE INDEX attributes_by_value ON attributes (name, substr(value, 1, 64)) WHERE anonymous = 0;
CREATE INDEX requests_by_replay ON requests (replay_of) WHERE replay_of IS NOT NULL;
CREATE INDEX attempts_of_request ON attempts (seq);
COMMIT;
PRAGMA user_version = 8;
