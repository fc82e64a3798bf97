-- A ledger of schema 5, as Python's iterdump gives it: written by the pushrouterd of afec1fa (the last one before schema 6)
-- and cut off by kill -9 twice. Requests 1 to 7: one whose handler was running at the first kill, so that it failed with
-- daemon_crashed; one on iOS and one on Android whose time was over when the daemon came back, daemon_down with a remark
-- about the completion handler and without; a notification that iOS shows; a Braze push; a message that repeats its id;
-- one whose handler was running at the second kill. The log had request 8 and what it led to.
PRAGMA foreign_keys=OFF;
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
INSERT INTO "devices" VALUES(1,'shop','pixel-1','android',NULL);
INSERT INTO "devices" VALUES(2,'shop','iphone-1','ios',NULL);
INSERT INTO "devices" VALUES(3,'shop','pixel-2','android',NULL);
INSERT INTO "devices" VALUES(7,'shop','pixel-3','android',NULL);
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
INSERT INTO "events" VALUES(1,5,X'0000000000058001B726F63EC6032DBE','local.pushnotification.Received',1795332412,5,NULL,'pixel-1','shop','android','c1','m1',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
    decided_at INTEGER, observer INTEGER NOT NULL DEFAULT 0, waited_for_seq INTEGER, waited_for_n INTEGER, waited_for_handler TEXT,
    PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "invocations" VALUES(1,0,'onMessageReceived',NULL,'11-slow','slow',9000000,25633100458093,1,'failed','daemon_crashed',674296,0,674296,'default',1,'noData',NULL,1795332412305,0,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(2,0,'didReceiveRemoteNotification',NULL,'10-again','again',300000,25624436325093,0,'expired','daemon_down; no handler ever answered: the app completes the callback with failed',638429,0,638429,'default',1,'failed',NULL,1795332412305,0,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(3,0,'onMessageReceived',NULL,'10-again','again',300000,25624447562955,0,'expired','daemon_down',627191,0,627191,'default',1,'noData',NULL,1795332412305,0,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(4,0,'none',NULL,NULL,NULL,9000000,NULL,0,'shown_by_system','the app is not in the foreground: iOS shows the alert, badge or sound itself, no code of the app runs',0,0,0,NULL,NULL,NULL,NULL,1795332412728,0,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(5,0,'onMessageReceived','braze',NULL,NULL,9000000,NULL,0,'handed_to_tracker',NULL,0,0,0,'tracker',1,'noData',NULL,1795332412742,0,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(6,0,'none',NULL,NULL,NULL,9000000,NULL,0,'duplicate','its id is among the last ten that FCM on the device saw: FCM drops it',0,0,0,NULL,NULL,NULL,NULL,1795332412759,0,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(7,0,'onMessageReceived',NULL,'11-slow','slow',9000000,25634244218807,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL);
CREATE TABLE log_position (
    number INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    segment_end INTEGER NOT NULL
) STRICT;
INSERT INTO "log_position" VALUES(8,2187654055,1,24576);
CREATE TABLE meta (state_id TEXT NOT NULL, highest_seq INTEGER NOT NULL, highest_cursor INTEGER NOT NULL DEFAULT 0, highest_entry INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "meta" VALUES('a6c555af-b71c-f15c-7a5e-8d54af1047a7',0,0,0);
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
, state TEXT, duplicate_id TEXT, tracked INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "requests" VALUES(1,'deliver',NULL,0,0,11115,1795332411631,25624100458093,X'97D8AC4B5087494DA9D49C0837ACCD40','device','android','shop','pixel-1',NULL,NULL,X'7B226F70223A2264656C69766572222C22617070223A2273686F70222C22646576696365223A22706978656C2D31222C22706C6174666F726D223A22616E64726F6964222C227061796C6F6164223A7B22736C6F77223A2231227D7D','background',NULL,0);
INSERT INTO "requests" VALUES(2,'deliver',NULL,0,0,11131,1795332411667,25624136325093,X'97D8AC4B5087494DA9D49C0837ACCD40','device','ios','shop','iphone-1',NULL,NULL,X'7B226F70223A2264656C69766572222C22617070223A2273686F70222C22646576696365223A226970686F6E652D31222C22706C6174666F726D223A22696F73222C227061796C6F6164223A7B22617073223A7B22636F6E74656E742D617661696C61626C65223A317D2C22616761696E223A2231227D7D','background',NULL,0);
INSERT INTO "requests" VALUES(3,'deliver',NULL,0,0,11135,1795332411678,25624147562955,X'97D8AC4B5087494DA9D49C0837ACCD40','device','android','shop','pixel-2',NULL,NULL,X'7B226F70223A2264656C69766572222C22617070223A2273686F70222C22646576696365223A22706978656C2D32222C22706C6174666F726D223A22616E64726F6964222C227061796C6F6164223A7B22616761696E223A2231227D7D','background',NULL,0);
INSERT INTO "requests" VALUES(4,'deliver',NULL,0,0,11358,1795332412728,25625197651532,X'97D8AC4B5087494DA9D49C0837ACCD40','device','ios','shop','iphone-1',NULL,NULL,X'7B226F70223A2264656C69766572222C22617070223A2273686F70222C22646576696365223A226970686F6E652D31222C22706C6174666F726D223A22696F73222C227061796C6F6164223A7B22617073223A7B22616C657274223A226869227D7D7D','background',NULL,0);
INSERT INTO "requests" VALUES(5,'deliver',NULL,0,0,11362,1795332412742,25625211656286,X'97D8AC4B5087494DA9D49C0837ACCD40','device','android','shop','pixel-1',NULL,'m1',X'7B226F70223A2264656C69766572222C22617070223A2273686F70222C22646576696365223A22706978656C2D31222C22706C6174666F726D223A22616E64726F6964222C227061796C6F6164223A7B22657874726173223A7B225F6162223A2274727565222C2274223A2261222C2261223A2262222C22636964223A226331222C22676F6F676C652E6D6573736167655F6964223A226D31227D7D7D','background','m1',1);
INSERT INTO "requests" VALUES(6,'deliver',NULL,0,0,11366,1795332412759,25625228253601,X'97D8AC4B5087494DA9D49C0837ACCD40','device','android','shop','pixel-1',NULL,'m1',X'7B226F70223A2264656C69766572222C22617070223A2273686F70222C22646576696365223A22706978656C2D31222C22706C6174666F726D223A22616E64726F6964222C227061796C6F6164223A7B22657874726173223A7B22676F6F676C652E6D6573736167655F6964223A226D31227D7D7D','background','m1',0);
INSERT INTO "requests" VALUES(7,'deliver',NULL,0,0,11375,1795332412775,25625244218807,X'97D8AC4B5087494DA9D49C0837ACCD40','device','android','shop','pixel-3',NULL,NULL,X'7B226F70223A2264656C69766572222C22617070223A2273686F70222C22646576696365223A22706978656C2D33222C22706C6174666F726D223A22616E64726F6964222C227061796C6F6164223A7B22736C6F77223A2232227D7D','background',NULL,0);
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
INSERT INTO "tracked_deliveries" VALUES(1,1795332412742,1795332412742,1,1,NULL,NULL,X'',NULL,NULL,0);
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
PRAGMA user_version = 5;
