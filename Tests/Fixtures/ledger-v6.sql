BEGIN TRANSACTION;
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
CREATE TABLE closed_buttons (
    event INTEGER NOT NULL,
    button TEXT NOT NULL,
    PRIMARY KEY (event, button)
) STRICT, WITHOUT ROWID;
CREATE TABLE devices (
    number INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    platform TEXT NOT NULL,
    external_id TEXT
) STRICT;
INSERT INTO "devices" VALUES(1,'shop','d1','android',NULL);
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
) STRICT;
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
CREATE TABLE interactions (
    cause INTEGER PRIMARY KEY,
    delivery INTEGER,
    verdict TEXT NOT NULL,
    button TEXT,
    button_action TEXT,
    at INTEGER NOT NULL
) STRICT;
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
    decided_at INTEGER, observer INTEGER NOT NULL DEFAULT 0, waited_for_seq INTEGER, waited_for_n INTEGER, waited_for_handler TEXT, reason_code TEXT,
    PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "invocations" VALUES(1,0,'onMessageReceived',NULL,'30-j','journal',9000000,3513146361613,0,'handled',NULL,0,0,0,'default',1,'noData',NULL,1795346816338,0,NULL,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(2,0,'onMessageReceived',NULL,'10-bad','bad',9000000,3513336532608,1,'failed','exit status 3',107906,400825,508732,'default',1,'noData',NULL,1795346817037,0,NULL,NULL,NULL,'handler_rejected');
INSERT INTO "invocations" VALUES(3,0,'onMessageReceived',NULL,NULL,NULL,9000000,NULL,0,'unrouted','no route matches',0,0,0,'default',1,'noData',NULL,1795346816542,0,NULL,NULL,NULL,'no_route_matches');
INSERT INTO "invocations" VALUES(4,0,'onMessageReceived',NULL,'10-bad','bad',9000000,3513368592077,1,'failed','exit status 3',508059,362392,870451,'default',1,'noData',NULL,1795346817431,0,2,0,'bad','handler_rejected');
INSERT INTO "invocations" VALUES(5,0,'onMessageReceived',NULL,'20-slow','slow',9000000,3513380818502,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL);
CREATE TABLE log_position (
    number INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    segment_end INTEGER NOT NULL
) STRICT;
INSERT INTO "log_position" VALUES(7,1063471149,1,32768);
CREATE TABLE meta (state_id TEXT NOT NULL, highest_seq INTEGER NOT NULL, highest_cursor INTEGER NOT NULL DEFAULT 0, highest_entry INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "meta" VALUES('3a25345c-ffee-f44f-cee3-6e34eaa86ef7',0,0,0);
CREATE TABLE pending_starts (
    cause INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    external_id TEXT,
    at INTEGER NOT NULL,
    window_ms INTEGER NOT NULL,
    due_at INTEGER NOT NULL
) STRICT;
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
, state TEXT, duplicate_id TEXT, tracked INTEGER NOT NULL DEFAULT 0, transport TEXT, original_priority TEXT, delivered_priority TEXT) STRICT;
INSERT INTO "requests" VALUES(1,'deliver','v6-0',0,0,27498,1795346816338,3504146361613,X'5586B2FCE82E49EB9B0F193330DD9521','relay','android','shop','d1',NULL,NULL,X'7B226F70223A202264656C69766572222C20226964223A202276362D30222C2022706C6174666F726D223A2022616E64726F6964222C2022617070223A202273686F70222C2022646576696365223A20226431222C20227061796C6F6164223A207B2264617461223A207B226A223A202231222C2022676F6F676C652E6D6573736167655F6964223A20226D30227D7D7D','background',NULL,0,'fcm',NULL,NULL);
INSERT INTO "requests" VALUES(2,'deliver','v6-1',0,0,27498,1795346816529,3504336532608,X'5586B2FCE82E49EB9B0F193330DD9521','relay','android','shop','d1',NULL,NULL,X'7B226F70223A202264656C69766572222C20226964223A202276362D31222C2022706C6174666F726D223A2022616E64726F6964222C2022617070223A202273686F70222C2022646576696365223A20226431222C20227061796C6F6164223A207B2264617461223A207B22626164223A202231222C2022676F6F676C652E6D6573736167655F6964223A20226D31227D7D7D','background',NULL,0,'fcm',NULL,NULL);
INSERT INTO "requests" VALUES(3,'deliver','v6-2',0,0,27498,1795346816542,3504349742157,X'5586B2FCE82E49EB9B0F193330DD9521','relay','android','shop','d1',NULL,NULL,X'7B226F70223A202264656C69766572222C20226964223A202276362D32222C2022706C6174666F726D223A2022616E64726F6964222C2022617070223A202273686F70222C2022646576696365223A20226431222C20227061796C6F6164223A207B2264617461223A207B226E6F6E65223A202231222C2022676F6F676C652E6D6573736167655F6964223A20226D32227D7D7D','background',NULL,0,'fcm',NULL,NULL);
INSERT INTO "requests" VALUES(4,'deliver','v6-3',0,0,27498,1795346816561,3504368592077,X'5586B2FCE82E49EB9B0F193330DD9521','relay','android','shop','d1',NULL,NULL,X'7B226F70223A202264656C69766572222C20226964223A202276362D33222C2022706C6174666F726D223A2022616E64726F6964222C2022617070223A202273686F70222C2022646576696365223A20226431222C20227061796C6F6164223A207B2264617461223A207B22626164223A202231222C2022676F6F676C652E6D6573736167655F6964223A20226D33227D7D7D','background',NULL,0,'fcm',NULL,NULL);
INSERT INTO "requests" VALUES(5,'deliver','v6-4',0,0,27498,1795346816573,3504380818502,X'5586B2FCE82E49EB9B0F193330DD9521','relay','android','shop','d1',NULL,NULL,X'7B226F70223A202264656C69766572222C20226964223A202276362D34222C2022706C6174666F726D223A2022616E64726F6964222C2022617070223A202273686F70222C2022646576696365223A20226431222C20227061796C6F6164223A207B2264617461223A207B22736C6F77223A202231222C2022676F6F676C652E6D6573736167655F6964223A20226D34227D7D7D','background',NULL,0,'fcm',NULL,NULL);
CREATE TABLE sending (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    phase TEXT NOT NULL,
    reason TEXT,
    failures INTEGER NOT NULL,
    until_at INTEGER,
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
COMMIT;
PRAGMA user_version = 6;
