-- A ledger of schema 1, as sqlite3's .dump gives it: written by the pushrouterd of 17cac3b (before schema 2) and cut
-- off by kill -9. Requests 1 to 5: a Braze push, the tap on it, an Android push, an iOS push, and one whose handler
-- was running.
PRAGMA foreign_keys=OFF;
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
) STRICT;
INSERT INTO requests VALUES(1,'deliver','a1',0,0,12927,1795242510365,12154133069806,X'99054ac9a453414595da13d36d3ff1e5','device','android','com.example.shop','pixel-1','ada','0:1',X'7b226f70223a2264656c69766572222c226964223a226131222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a22706978656c2d31222c2265787465726e616c5f6964223a22616461222c227061796c6f6164223a7b225f6162223a2274727565222c22636964223a2236346230222c22676f6f676c652e6d6573736167655f6964223a22303a31227d7d');
INSERT INTO requests VALUES(2,'interact',NULL,0,0,12927,1795242510366,12154134311611,X'99054ac9a453414595da13d36d3ff1e5','device','android','com.example.shop','pixel-1','ada','0:1',X'7b226f70223a22696e746572616374222c226b696e64223a226f70656e6564222c226d657373616765223a317d');
INSERT INTO requests VALUES(3,'deliver',NULL,0,0,12927,1795242510367,12154134837842,X'99054ac9a453414595da13d36d3ff1e5','device','android','com.example.shop','pixel-1','ada','0:2',X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a22706978656c2d31222c227374617465223a22666f726567726f756e64222c227061796c6f6164223a7b226b223a2276222c22676f6f676c652e6d6573736167655f6964223a22303a32227d7d');
INSERT INTO requests VALUES(4,'deliver',NULL,0,0,12927,1795242510367,12154135349412,X'99054ac9a453414595da13d36d3ff1e5','device','ios','com.example.shop','iphone-1',NULL,NULL,X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22696f73222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a226970686f6e652d31222c227061796c6f6164223a7b22617073223a7b22636f6e74656e742d617661696c61626c65223a317d2c22637573746f6d223a2278227d7d');
INSERT INTO requests VALUES(5,'deliver',NULL,0,0,12927,1795242510367,12154135781905,X'99054ac9a453414595da13d36d3ff1e5','device','android','com.example.shop','pixel-2',NULL,'0:3',X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a22706978656c2d32222c227061796c6f6164223a7b226a6f62223a22736c6f77222c22676f6f676c652e6d6573736167655f6964223a22303a33227d7d');
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
    decided_at INTEGER,
    PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;
INSERT INTO invocations VALUES(1,0,'onMessageReceived','braze',NULL,NULL,9000000,NULL,0,'handed_to_tracker',NULL,0,0,0,'tracker',1,'noData',NULL,1795242510365);
INSERT INTO invocations VALUES(2,0,'none','braze',NULL,NULL,9000000,NULL,0,'handed_to_tracker','direct open of delivery 1',0,0,0,NULL,NULL,NULL,NULL,1795242510366);
INSERT INTO invocations VALUES(3,0,'onMessageReceived',NULL,'99-default','journal',9000000,12163134837842,0,'handled',NULL,0,0,0,'default',1,'noData',NULL,1795242510367);
INSERT INTO invocations VALUES(4,0,'didReceiveRemoteNotification',NULL,'99-default','journal',9000000,12163135349412,0,'handled',NULL,0,0,0,'default',1,'noData',NULL,1795242510367);
INSERT INTO invocations VALUES(5,0,'onMessageReceived',NULL,'50-slow','slow',9000000,12163135781905,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE events (
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
    PRIMARY KEY (seq, id)
) STRICT, WITHOUT ROWID;
INSERT INTO events VALUES(1,X'0000000000018001931f952f43d69bea','local.pushnotification.Received',1795242510,1,'ada','pixel-1','com.example.shop','android','64b0','0:1',NULL,NULL);
INSERT INTO events VALUES(2,X'0000000000028002931f952f43d69bea','users.messages.pushnotification.Open',1795242510,1,'ada','pixel-1','com.example.shop','android','64b0','0:1',NULL,NULL);
CREATE TABLE devices (
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    platform TEXT NOT NULL,
    external_id TEXT,
    PRIMARY KEY (app, device)
) STRICT, WITHOUT ROWID;
INSERT INTO devices VALUES('com.example.shop','iphone-1','ios',NULL);
INSERT INTO devices VALUES('com.example.shop','pixel-1','android','ada');
INSERT INTO devices VALUES('com.example.shop','pixel-2','android',NULL);
CREATE TABLE meta (state_id TEXT NOT NULL, highest_seq INTEGER NOT NULL) STRICT;
INSERT INTO meta VALUES('22af94c4-b533-64b1-6ed1-c079ba690b18',0);
CREATE UNIQUE INDEX requests_by_id ON requests (uid, id) WHERE id IS NOT NULL;
CREATE INDEX requests_by_time ON requests (accepted_at);
CREATE INDEX invocations_pending ON invocations (seq, n) WHERE outcome IS NULL;
CREATE INDEX events_of_delivery ON events (delivery) WHERE delivery <> seq;
COMMIT;
PRAGMA user_version = 1;
