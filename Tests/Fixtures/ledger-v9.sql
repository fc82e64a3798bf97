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
INSERT INTO requests VALUES(1,'session','v-0',0,0,10273,1795417052561,73740368524820,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','com.example.shop','pixel-1','ada',NULL,X'7b226f70223a2273657373696f6e222c226b696e64223a227374617274222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a22706978656c2d31222c2265787465726e616c5f6964223a22616461222c226964223a22762d30227d',NULL,NULL,0,NULL,NULL,NULL,NULL);
INSERT INTO requests VALUES(2,'deliver','v-1',0,0,10273,1795417052682,73740489839916,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','com.example.shop','pixel-1','ada',NULL,X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a22706978656c2d31222c2265787465726e616c5f6964223a22616461222c226964223a22762d31222c227061796c6f6164223a7b2264617461223a7b225f6162223a2274727565222c2261223a2262222c2274223a2274222c22636964223a2263616d706169676e2d31227d7d7d','background',NULL,1,'fcm',NULL,NULL,NULL);
INSERT INTO requests VALUES(3,'deliver','v-2',0,0,10273,1795417052792,73740600269749,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','com.example.shop','pixel-2','bob',NULL,X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a22706978656c2d32222c2265787465726e616c5f6964223a22626f62222c226964223a22762d32222c227061796c6f6164223a7b2264617461223a7b225f6162223a2274727565222c2261223a2262222c2274223a2274222c22636964223a2263616d706169676e2d31227d7d7d','background',NULL,1,'fcm',NULL,NULL,NULL);
INSERT INTO requests VALUES(4,'deliver','v-3',0,0,10273,1795417052901,73740708615951,X'5586b2fce82e49eb9b0f193330dd9521','relay','ios','com.example.crm','iphone-1','eve','v-3',X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22696f73222c22617070223a22636f6d2e6578616d706c652e63726d222c22646576696365223a226970686f6e652d31222c2265787465726e616c5f6964223a22657665222c226964223a22762d33222c227374617465223a22666f726567726f756e64222c227061796c6f6164223a7b22617073223a7b22616c657274223a226869222c22636f6e74656e742d617661696c61626c65223a317d2c2278223a2279227d7d','foreground',NULL,0,'apns',NULL,NULL,NULL);
INSERT INTO requests VALUES(5,'deliver','v-4',0,0,10273,1795417053005,73740812789339,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','com.example.crm','pixel-1','ada',NULL,X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e63726d222c22646576696365223a22706978656c2d31222c2265787465726e616c5f6964223a22616461222c226964223a22762d34222c227061796c6f6164223a7b226d657373616765223a7b22746f6b656e223a2274222c22616e64726f6964223a7b227072696f72697479223a2248494748227d2c2264617461223a7b226b223a2276227d7d7d7d','background',NULL,0,'fcm','high','high',NULL);
INSERT INTO requests VALUES(6,'deliver','v-5',0,0,10273,1795417053110,73740917561158,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','com.example.broken','pixel-1',NULL,NULL,X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e62726f6b656e222c22646576696365223a22706978656c2d31222c226964223a22762d35222c227061796c6f6164223a7b2264617461223a7b226b223a2276227d7d7d','background',NULL,0,'fcm',NULL,NULL,NULL);
INSERT INTO requests VALUES(7,'deliver','v-6',0,0,10273,1795417053212,73741019452941,X'5586b2fce82e49eb9b0f193330dd9521','relay','web','com.example.none','web-1',NULL,'v-6',X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22776562222c22617070223a22636f6d2e6578616d706c652e6e6f6e65222c22646576696365223a227765622d31222c226964223a22762d36222c227061796c6f6164223a7b226b223a2276227d7d','background',NULL,0,'web_push',NULL,NULL,NULL);
INSERT INTO requests VALUES(8,'deliver','v-7',0,0,10273,1795417053320,73741128155557,X'5586b2fce82e49eb9b0f193330dd9521','relay','ios','com.example.shop','iphone-2',NULL,'v-7',X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22696f73222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a226970686f6e652d32222c226964223a22762d37222c227374617465223a22666f7263655f71756974222c227061796c6f6164223a7b22617073223a7b22636f6e74656e742d617661696c61626c65223a317d7d7d','force_quit',NULL,0,'apns',NULL,NULL,NULL);
INSERT INTO requests VALUES(9,'token','v-8',0,0,10273,1795417053421,73741229253810,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','com.example.shop','pixel-1','ada',NULL,X'7b226f70223a22746f6b656e222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a22706978656c2d31222c226b696e64223a226e6577222c22746f6b656e223a22746f6b222c226964223a22762d38227d',NULL,NULL,0,NULL,NULL,NULL,NULL);
INSERT INTO requests VALUES(10,'interact','v-9',0,0,10273,1795417053537,73741344690226,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','com.example.shop','pixel-1','ada',NULL,X'7b226f70223a22696e746572616374222c226b696e64223a226f70656e6564222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e73686f70222c22646576696365223a22706978656c2d31222c2265787465726e616c5f6964223a22616461222c226d657373616765223a322c226964223a22762d39227d',NULL,NULL,0,NULL,NULL,NULL,NULL);
INSERT INTO requests VALUES(11,'deliver','v-10',0,0,10273,1795417053638,73741445562677,X'5586b2fce82e49eb9b0f193330dd9521','relay','android','com.example.hang','pixel-3',NULL,NULL,X'7b226f70223a2264656c69766572222c22706c6174666f726d223a22616e64726f6964222c22617070223a22636f6d2e6578616d706c652e68616e67222c22646576696365223a22706978656c2d33222c226964223a22762d3130222c227061796c6f6164223a7b2264617461223a7b226b223a2276227d7d7d','background',NULL,0,'fcm',NULL,NULL,NULL);
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
INSERT INTO invocations VALUES(2,0,'onMessageReceived','braze',NULL,NULL,9000000,NULL,0,'handed_to_tracker',NULL,0,0,0,'tracker',1,'noData',NULL,1795417052682,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO invocations VALUES(3,0,'onMessageReceived','braze',NULL,NULL,9000000,NULL,0,'handed_to_tracker',NULL,0,0,0,'tracker',1,'noData',NULL,1795417052792,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO invocations VALUES(4,0,'willPresent',NULL,'10-crm','crm',9000000,73749708615951,1,'handled',NULL,2980,6250,9231,'default',1,'noData','banner,list,sound',1795417052910,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO invocations VALUES(4,1,'didReceiveRemoteNotification',NULL,'10-crm','crm',9000000,73749708615951,1,'handled',NULL,3070,6443,9514,'default',1,'noData',NULL,1795417052910,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO invocations VALUES(5,0,'onMessageReceived',NULL,'10-crm','crm',9000000,73749812789339,1,'handled',NULL,4007,2198,6205,'default',1,'noData',NULL,1795417053011,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO invocations VALUES(6,0,'onMessageReceived',NULL,'20-broken','broken',9000000,73749917561158,1,'failed','exit status 1',1529,38040,39569,'default',1,'noData',NULL,1795417053149,0,NULL,NULL,NULL,'handler_rejected',NULL,NULL);
INSERT INTO invocations VALUES(7,0,'push',NULL,NULL,NULL,9000000,NULL,0,'unrouted','no route matches',0,0,0,'default',1,'noData',NULL,1795417053212,0,NULL,NULL,NULL,'no_route_matches',NULL,NULL);
INSERT INTO invocations VALUES(8,0,'none',NULL,NULL,NULL,9000000,NULL,0,'not_woken','aps.content-available is 1, but the user has force-quit the app: iOS does not wake it',0,0,0,NULL,NULL,NULL,NULL,1795417053320,0,NULL,NULL,NULL,'content_available_after_force_quit',NULL,NULL);
INSERT INTO invocations VALUES(9,0,'onNewToken',NULL,NULL,NULL,9000000,NULL,0,'unrouted','no route matches',0,0,0,'default',1,'noData',NULL,1795417053421,0,NULL,NULL,NULL,'no_route_matches',NULL,NULL);
INSERT INTO invocations VALUES(10,0,'none','braze',NULL,NULL,9000000,NULL,0,'handed_to_tracker','direct open of delivery 2',0,0,0,NULL,NULL,NULL,NULL,1795417053537,0,NULL,NULL,NULL,'direct_open',NULL,NULL);
INSERT INTO invocations VALUES(11,0,'onMessageReceived',NULL,'30-hang','hang',9000000,73750445562677,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE meta (state_id TEXT NOT NULL, highest_seq INTEGER NOT NULL, highest_cursor INTEGER NOT NULL DEFAULT 0, highest_entry INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO meta VALUES('5bce8604-54b6-dfd2-6160-d1f1f816f57e',0,0,0);
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
INSERT INTO events VALUES(1,1,X'00000000000180058eab95fd6b280aab','users.behaviors.app.SessionStart',1795417052,1,'ada','pixel-1','com.example.shop','android',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO events VALUES(2,2,X'00000000000280018eab95fd6b280aab','local.pushnotification.Received',1795417052,2,'ada','pixel-1','com.example.shop','android','campaign-1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO events VALUES(3,3,X'00000000000380018eab95fd6b280aab','local.pushnotification.Received',1795417052,3,'bob','pixel-2','com.example.shop','android','campaign-1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO events VALUES(4,9,X'00000000000980078eab95fd6b280aab','users.behaviors.pushnotification.TokenStateChange',1795417053,9,'ada','pixel-1','com.example.shop','android',NULL,NULL,NULL,NULL,NULL,'tok','new',NULL,NULL);
INSERT INTO events VALUES(5,10,X'00000000000a80028eab95fd6b280aab','users.messages.pushnotification.Open',1795417053,2,'ada','pixel-1','com.example.shop','android','campaign-1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO tracked_deliveries VALUES(2,1795417052682,1795417052682,1,0,NULL,6977256711862433025,X'',1795417053537,10,0);
INSERT INTO tracked_deliveries VALUES(3,1795417052792,1795417052792,1,0,NULL,6977256711862433025,X'',NULL,NULL,0);
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
INSERT INTO interactions VALUES(10,2,'opened',NULL,NULL,1795417053537);
CREATE TABLE pending_starts (
    cause INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    device TEXT NOT NULL,
    external_id TEXT,
    at INTEGER NOT NULL,
    window_ms INTEGER NOT NULL,
    due_at INTEGER NOT NULL
) STRICT;
INSERT INTO pending_starts VALUES(1,'com.example.shop','pixel-1','ada',1795417052561,1800000,1795417057562);
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
INSERT INTO devices VALUES(1,'com.example.shop','pixel-1','android','ada');
INSERT INTO devices VALUES(3,'com.example.shop','pixel-2','android','bob');
INSERT INTO devices VALUES(4,'com.example.crm','iphone-1','ios','eve');
INSERT INTO devices VALUES(5,'com.example.crm','pixel-1','android','ada');
INSERT INTO devices VALUES(6,'com.example.broken','pixel-1','android',NULL);
INSERT INTO devices VALUES(7,'com.example.none','web-1','web',NULL);
INSERT INTO devices VALUES(8,'com.example.shop','iphone-2','ios',NULL);
INSERT INTO devices VALUES(11,'com.example.hang','pixel-3','android',NULL);
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
INSERT INTO sessions VALUES(1,'com.example.shop','pixel-1','android','ada',1795417052561,NULL,NULL,NULL,1795417052000);
CREATE TABLE session_starts (
    number INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    anonymous INTEGER NOT NULL,
    owner TEXT NOT NULL,
    starts BLOB NOT NULL,
    since_at INTEGER NOT NULL
) STRICT;
INSERT INTO session_starts VALUES(1,'com.example.shop',0,'ada',X'000001a207321591',1795417052000);
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
INSERT INTO log_position VALUES(15,692706812,1,65536);
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
INSERT INTO attempts VALUES(1,6,0,'20-broken','broken',0,1529,39569,'rejected',1,NULL,NULL,'exit status 1',X'62726f6b656e0a',0);
CREATE TABLE dead_letters (
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;
INSERT INTO dead_letters VALUES(6,0,1795417053149,123);
INSERT INTO dead_letters VALUES(7,0,1795417053212,106);
INSERT INTO dead_letters VALUES(9,0,1795417053421,117);
CREATE TABLE figures_by_minute (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
INSERT INTO figures_by_minute VALUES(128520956393029632,X'010b01090a040003000300010000000000000000000791b5020600aa4a04018f480400bd300500000200000300000a00000000');
INSERT INTO figures_by_minute VALUES(128520956393029633,X'0102c0a8a504000000000000000000000000010002000100020001000200');
INSERT INTO figures_by_minute VALUES(128520956393029634,X'0101c0a8a50400000000000000000000000001ba0501a41701c30601ea30019007018f48');
INSERT INTO figures_by_minute VALUES(128520956393029635,X'0101c0a8a50400000000000000000000000001bf0501fe1701c90601ab3201940701aa4a');
INSERT INTO figures_by_minute VALUES(128520956393029636,X'0101c0a8a50400000000000000000000000001fa0501a71f01890501961101c10601bd30');
INSERT INTO figures_by_minute VALUES(128520956393029637,X'0101c0a8a50400000000000000000000000001bf0401f90b0194090198a902019a090191b502');
INSERT INTO figures_by_minute VALUES(128520956393029638,X'0101c0a8a504000000000000000000000000000000');
INSERT INTO figures_by_minute VALUES(128520956393029639,X'0101c0a8a504000000000000000000000000000000');
INSERT INTO figures_by_minute VALUES(128520956393029640,X'0101c0a8a504000000000000000000000000000000');
INSERT INTO figures_by_minute VALUES(128520956393029641,X'0101c0a8a504000000000000000000000000010001000100010001000100');
CREATE TABLE figures_by_hour (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
CREATE TABLE figures_by_days (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
CREATE TABLE figure_keys (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    last_minute INTEGER NOT NULL
) STRICT;
INSERT INTO figure_keys VALUES(1,'["relay","android","onMessageReceived","handed_to_tracker",false,false,"com.example.shop","braze",null,null,"fcm",null,null,null]',29923647);
INSERT INTO figure_keys VALUES(2,'["relay","ios","willPresent","handled",false,false,"com.example.crm",null,"10-crm","crm","apns",null,null,null]',29923647);
INSERT INTO figure_keys VALUES(3,'["relay","ios","didReceiveRemoteNotification","handled",false,false,"com.example.crm",null,"10-crm","crm","apns",null,null,null]',29923647);
INSERT INTO figure_keys VALUES(4,'["relay","android","onMessageReceived","handled",false,false,"com.example.crm",null,"10-crm","crm","fcm","high","high",null]',29923647);
INSERT INTO figure_keys VALUES(5,'["relay","android","onMessageReceived","failed",false,false,"com.example.broken",null,"20-broken","broken","fcm",null,null,null]',29923647);
INSERT INTO figure_keys VALUES(6,'["relay","web","push","unrouted",false,false,"com.example.none",null,null,null,"web_push",null,null,null]',29923647);
INSERT INTO figure_keys VALUES(7,'["relay","ios","none","not_woken",false,false,"com.example.shop",null,null,null,"apns",null,null,null]',29923647);
INSERT INTO figure_keys VALUES(8,'["relay","android","onNewToken","unrouted",false,false,"com.example.shop",null,null,null,null,null,null,null]',29923647);
INSERT INTO figure_keys VALUES(9,'["relay","android","none","handed_to_tracker",false,false,"com.example.shop","braze",null,null,null,null,null,null]',29923647);
CREATE TABLE figure_state (version INTEGER NOT NULL, first_minute INTEGER NOT NULL) STRICT;
INSERT INTO figure_state VALUES(1,0);
CREATE TABLE clock_steps (seq INTEGER PRIMARY KEY, accepted_at INTEGER NOT NULL) STRICT;
CREATE TABLE gaps (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    begin_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL
) STRICT;
INSERT INTO gaps VALUES(1,'down',1795416000000,1795416001000);
CREATE TABLE life (one INTEGER PRIMARY KEY CHECK (one = 1), seen_at INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT;
INSERT INTO life VALUES(1,1795416002000,11);
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
PRAGMA user_version = 9;
