-- A ledger of schema 3, as Python's iterdump gives it: written by the pushrouterd of bf4f6e4 (before schema 4) and cut
-- off by kill -9. Requests 1 to 5: a Braze push, the tap on it, a session that goes on, a token, a session on iOS.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE closed_buttons (
    event INTEGER NOT NULL,
    button TEXT NOT NULL,
    PRIMARY KEY (event, button)
) STRICT, WITHOUT ROWID;
CREATE TABLE devices (
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    platform TEXT NOT NULL,
    external_id TEXT,
    PRIMARY KEY (app, device)
) STRICT, WITHOUT ROWID;
INSERT INTO "devices" VALUES('com.example.shop','iphone-1','ios','bob');
INSERT INTO "devices" VALUES('com.example.shop','pixel-1','android','ada');
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
) STRICT;
INSERT INTO "events" VALUES(1,1,X'0000000000018001BDAAE31AD6BA37F4','local.pushnotification.Received',1795253582,1,'ada','pixel-1','com.example.shop','android','64b0','0:1',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(2,2,X'0000000000028005BDAAE31AD6BA37F4','users.behaviors.app.SessionStart',1795253582,2,'ada','pixel-1','com.example.shop','android',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(3,2,X'0000000000028002BDAAE31AD6BA37F4','users.messages.pushnotification.Open',1795253582,1,'ada','pixel-1','com.example.shop','android','64b0','0:1',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(4,4,X'0000000000048007BDAAE31AD6BA37F4','users.behaviors.pushnotification.TokenStateChange',1795253582,4,'ada','pixel-1','com.example.shop','android',NULL,NULL,NULL,NULL,NULL,'t-1','new');
INSERT INTO "events" VALUES(5,5,X'0000000000058005BDAAE31AD6BA37F4','users.behaviors.app.SessionStart',1795253582,5,'bob','iphone-1','com.example.shop','ios',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "interactions" VALUES(2,1,'opened',NULL,NULL,1795253582912);
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
INSERT INTO "invocations" VALUES(1,0,'onMessageReceived','braze',NULL,NULL,9000000,NULL,0,'handed_to_tracker',NULL,0,0,0,'tracker',1,'noData',NULL,1795253582909,0,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(2,0,'none','braze',NULL,NULL,9000000,NULL,0,'handed_to_tracker','direct open of delivery 1',0,0,0,NULL,NULL,NULL,NULL,1795253582912,0,NULL,NULL,NULL);
INSERT INTO "invocations" VALUES(4,0,'onNewToken',NULL,'99-default','journal',9000000,23235685096468,0,'handled',NULL,0,0,0,'default',1,'noData',NULL,1795253582917,0,NULL,NULL,NULL);
CREATE TABLE meta (state_id TEXT NOT NULL, highest_seq INTEGER NOT NULL, highest_cursor INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "meta" VALUES('ea963c63-8e4e-d0eb-1c3d-b008d4a60f39',0,0);
CREATE TABLE pending_starts (
    cause INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    external_id TEXT,
    at INTEGER NOT NULL,
    window_ms INTEGER NOT NULL,
    due_at INTEGER NOT NULL
) STRICT;
INSERT INTO "pending_starts" VALUES(2,'com.example.shop','pixel-1','ada',1795253582912,1800000,1795253587913);
INSERT INTO "pending_starts" VALUES(5,'com.example.shop','iphone-1','bob',1795253582920,1800000,1795253587921);
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
INSERT INTO "requests" VALUES(1,'deliver','a1',0,0,18939,1795253582909,23226677001875,X'99054AC9A453414595DA13D36D3FF1E5','device','android','com.example.shop','pixel-1','ada','0:1',X'7B226F70223A202264656C69766572222C20226964223A20226131222C2022706C6174666F726D223A2022616E64726F6964222C2022617070223A2022636F6D2E6578616D706C652E73686F70222C2022646576696365223A2022706978656C2D31222C202265787465726E616C5F6964223A2022616461222C20227061796C6F6164223A207B226D6573736167654964223A2022303A31222C202264617461223A207B225F6162223A202274727565222C202261223A20224869222C202274223A202253616C65222C2022636964223A202236346230227D7D7D','background','0:1',1);
INSERT INTO "requests" VALUES(2,'interact',NULL,0,0,18939,1795253582912,23226680619428,X'99054AC9A453414595DA13D36D3FF1E5','device','android','com.example.shop','pixel-1','ada','0:1',X'7B226F70223A2022696E746572616374222C20226B696E64223A20226F70656E6564222C20226D657373616765223A20317D',NULL,NULL,0);
INSERT INTO "requests" VALUES(3,'session',NULL,0,0,18939,1795253582914,23226681938307,X'99054AC9A453414595DA13D36D3FF1E5','device','android','com.example.shop','pixel-1','ada',NULL,X'7B226F70223A202273657373696F6E222C20226B696E64223A20227374617274222C2022617070223A2022636F6D2E6578616D706C652E73686F70222C2022646576696365223A2022706978656C2D31227D',NULL,NULL,0);
INSERT INTO "requests" VALUES(4,'token',NULL,0,0,18939,1795253582917,23226685096468,X'99054AC9A453414595DA13D36D3FF1E5','device','android','com.example.shop','pixel-1','ada',NULL,X'7B226F70223A2022746F6B656E222C20226B696E64223A20226E6577222C2022746F6B656E223A2022742D31222C2022617070223A2022636F6D2E6578616D706C652E73686F70222C2022646576696365223A2022706978656C2D31227D',NULL,NULL,0);
INSERT INTO "requests" VALUES(5,'session',NULL,0,0,18939,1795253582920,23226687988113,X'99054AC9A453414595DA13D36D3FF1E5','device','ios','com.example.shop','iphone-1','bob',NULL,X'7B226F70223A202273657373696F6E222C20226B696E64223A20227374617274222C2022706C6174666F726D223A2022696F73222C2022617070223A2022636F6D2E6578616D706C652E73686F70222C2022646576696365223A20226970686F6E652D31222C202265787465726E616C5F6964223A2022626F62227D',NULL,NULL,0);
CREATE TABLE session_starts (
    app TEXT NOT NULL,
    anonymous INTEGER NOT NULL,
    owner TEXT NOT NULL,
    starts BLOB NOT NULL,
    since_at INTEGER NOT NULL,
    PRIMARY KEY (app, anonymous, owner)
) STRICT, WITHOUT ROWID;
INSERT INTO "session_starts" VALUES('com.example.shop',0,'ada',X'000001A1FD73BC40',1795253582000);
INSERT INTO "session_starts" VALUES('com.example.shop',0,'bob',X'000001A1FD73BC48',1795253582000);
CREATE TABLE sessions (
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    platform TEXT NOT NULL,
    external_id TEXT,
    number INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    ended_by INTEGER,
    end_due_at INTEGER,
    since_at INTEGER NOT NULL,
    PRIMARY KEY (app, device)
) STRICT, WITHOUT ROWID;
INSERT INTO "sessions" VALUES('com.example.shop','iphone-1','ios','bob',5,1795253582920,NULL,NULL,NULL,1795253582000);
INSERT INTO "sessions" VALUES('com.example.shop','pixel-1','android','ada',2,1795253582912,NULL,NULL,NULL,1795253582000);
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
INSERT INTO "tracked_deliveries" VALUES(1,1795253582909,1795253582909,1,1,NULL,NULL,X'',1795253582912,2,0);
CREATE UNIQUE INDEX requests_by_id ON requests (uid, id) WHERE id IS NOT NULL;
CREATE INDEX requests_by_time ON requests (accepted_at);
CREATE INDEX invocations_pending ON invocations (seq, n) WHERE outcome IS NULL;
CREATE INDEX requests_by_message ON requests (message_id)
    WHERE message_id IS NOT NULL AND operation = 'deliver' AND tracked = 0;
CREATE INDEX events_by_seq ON events (seq);
CREATE INDEX events_of_delivery ON events (delivery) WHERE delivery <> seq;
COMMIT;
PRAGMA user_version = 3;
