import PushCustomData
import PushDispatch
import PushModel
import PushRouting
import PushTracking
import SettingsSyntax

extension [Key<Settings>] {
    static var daemonSection: [Key<Settings>] {
        [
            Key(
                "Daemon", "RequestLengthMax", { $1(&$0.daemon.requestLengthMax) }, .byteSize(1 << 10...16 << 20),
                default: "256K",
                meaning: """
                    The longest request that is accepted, 1K to 16M. A request may have one JSON value, keys counted too, for \
                    each four of these bytes.
                    """),
            Key(
                "Daemon", "JSONDepthMax", { $1(&$0.daemon.jsonDepthMax) }, .integer(4...1000), default: "32",
                meaning: "How deep the JSON of a request may nest, 4 to 1000."),
            Key(
                "Daemon", "ConnectionsMax", { $1(&$0.daemon.connectionsMax) }, .integer(1...1_000_000), default: "1024",
                meaning: """
                    How many clients may be connected to a socket at once, 1 to 1000000. One more gets `overloaded` and is \
                    closed.
                    """),
            Key(
                "Daemon", "ConnectionsMaxPerPeer", { $1(&$0.daemon.connectionsMaxPerPeer) }, .integer(1...1_000_000),
                default: "512",
                meaning: "How many clients with the same user id may be connected to a socket at once, 1 to 1000000."),
            Key(
                "Daemon", "InputSizeMax", { $1(&$0.daemon.inputSizeMax) }, .byteSize(1 << 20...16 << 30),
                default: "16M",
                meaning: """
                    How many bytes of requests that were received and not processed yet are held for the clients of a socket, \
                    1M to 16G; beyond it the daemon does not read from clients until others have been served, and no request \
                    is refused. A client may always have 16 KiB.
                    """),
            Key(
                "Daemon", "InputSizeMaxPerPeer", { $1(&$0.daemon.inputSizeMaxPerPeer) }, .byteSize(1 << 20...16 << 30),
                default: "8M",
                meaning: "The same limit for the clients with the same user id."),
            Key(
                "Daemon", "OutputSizeMax", { $1(&$0.daemon.outputSizeMax) }, .byteSize(1 << 20...16 << 30),
                default: "16M",
                meaning: """
                    How many bytes of replies that clients have not read yet are held for the clients of a socket, 1M to 16G; \
                    beyond it the daemon neither reads nor processes their requests until they have read some, and no request \
                    is refused. A client may always have 16 KiB of unread replies; with 256 KiB of them its requests are not \
                    processed.
                    """),
            Key(
                "Daemon", "OutputSizeMaxPerPeer", { $1(&$0.daemon.outputSizeMaxPerPeer) },
                .byteSize(1 << 20...16 << 30), default: "8M",
                meaning: "The same limit for the clients with the same user id."),
            Key(
                "Daemon", "LineTimeout", { $1(&$0.daemon.lineTimeout) }, .timeSpan(.seconds(1) ... .seconds(86_400)),
                default: "30s",
                meaning: """
                    How long a request may take from its first byte to its line feed, 1s to 1d. A client that takes longer \
                    gets an error and is disconnected. The time that it waits for room (`InputSizeMax=`) does not count. A \
                    long request that stops for two seconds, while others of the same user wait for the memory that it takes, \
                    is refused at once.
                    """),
            Key(
                "Daemon", "WriteTimeout", { $1(&$0.daemon.writeTimeout) }, .timeSpan(.seconds(1) ... .seconds(86_400)),
                default: "30s",
                meaning: "How long a client may read none of its replies before it is disconnected, 1s to 1d."),
            Key(
                "Daemon", "IdleTimeout", { $1(&$0.daemon.idleTimeout) }, .timeSpan(.zero ... .seconds(30 * 86_400)),
                default: "0",
                meaning: """
                    How long a connection may be idle, with no reply owed, before it is closed, up to 30d; 0 means never.
                    """),
            Key(
                "Daemon", "InjectSocketMode", { $1(&$0.daemon.injectSocket.mode) }, .fileMode, reload: .restart,
                default: "0660",
                meaning: """
                    Permissions and group of inject.sock, which takes payloads. To connect a process must be allowed to write. The group is a name \
                    or a number; the daemon must be in it, or root. A socket that the service manager hands over has the mode \
                    and the group that its unit gives it. Default: 0660 and the daemon's own group.
                    """),
            Key(
                "Daemon", "InjectSocketGroup", { $1(&$0.daemon.injectSocket.group) }, Form.groupName.optional,
                reload: .restart),
            Key(
                "Daemon", "ControlSocketMode", { $1(&$0.daemon.controlSocket.mode) }, .fileMode, reload: .restart,
                default: "0660",
                meaning: "The same for control.sock, which reads everything and administers."),
            Key(
                "Daemon", "ControlSocketGroup", { $1(&$0.daemon.controlSocket.group) }, Form.groupName.optional,
                reload: .restart),
            Key(
                "Daemon", "ReadSocketMode", { $1(&$0.daemon.readSocket.mode) }, .fileMode, reload: .restart,
                default: "0660",
                meaning: "The same for read.sock, which tells what the daemon does and changes nothing."),
            Key(
                "Daemon", "ReadSocketGroup", { $1(&$0.daemon.readSocket.group) }, Form.groupName.optional,
                reload: .restart),
        ]
            + installedBridges.compactMap { bridge in
                bridge.socketKey.map { key in
                    Key(
                        "Daemon", key.name, { $1(&$0.daemon.serviceSockets[bridge.name]) }, Form.socketPath.optional,
                        meaning: key.meaning)
                }
            }
    }

    static var dispatchSection: [Key<Settings>] {
        [
            Key(
                "Dispatch", "Mode", { $1(&$0.routing.mode) }, .choice, default: "device",
                meaning: """
                    The role of the router: `device` does what the platform and the app would do, `relay` is a router in \
                    production. With `device` the deliveries to one app on one Android device run one after the other, the \
                    deadline counts from the call, and handlers are not retried. With `relay` Braze payloads go to the tracker \
                    on acceptance, the deadline counts from acceptance, and handlers that ask for it are tried again.
                    """),
            Key(
                "Dispatch", "HandlersMax", { $1(&$0.routing.limits.handlers) }, .integer(1...10_000), default: "64",
                meaning: """
                    How many handlers run at once, 1 to 10000. `MaxConcurrent=` of a handler file limits one of them.
                    """),
            Key(
                "Dispatch", "ObserversMax", { $1(&$0.routing.limits.observers) }, .integer(1...10_000), default: "16",
                meaning: "How many handlers of observing routes run at once, beside those of `HandlersMax=`."),
            Key(
                "Dispatch", "RequestsInFlightMax", { $1(&$0.routing.limits.inFlight) }, .integer(1...10_000_000),
                default: "50000",
                meaning: """
                    How many requests may be unfinished, 1 to 10000000; a request beyond it is refused with `overloaded` and \
                    `retry_after_ms`.
                    """),
            Key(
                "Dispatch", "RequestsInFlightMaxPerPeer", { $1(&$0.routing.limits.inFlightPerPeer) },
                .integer(1...10_000_000), default: "20000",
                meaning: "How many unfinished requests may come from the same user id."),
            Key(
                "Dispatch", "RequestsInFlightSizeMax", { $1(&$0.routing.limits.unfinishedBytes) },
                .byteSize(1 << 20...16 << 40), default: "1G",
                meaning: """
                    How many bytes the unfinished requests may have on disk, 1M to 16384G; a request beyond it is refused in \
                    the same way.
                    """),
            Key(
                "Dispatch", "RequestsInFlightSizeMaxPerPeer", { $1(&$0.routing.limits.unfinishedBytesPerPeer) },
                .byteSize(1 << 20...16 << 40), default: "512M",
                meaning: "How many bytes on disk the unfinished requests from the same user id may have."),
            Key(
                "Dispatch", "PayloadMemoryMax", { $1(&$0.routing.limits.payloadMemory) }, .byteSize(0...16 << 30),
                default: "32M",
                meaning: """
                    How many bytes of memory unfinished requests may take with their payloads, the payload of the delivery \
                    that a tap is about included, up to 16G. The others are read from the ledger again when their handlers are \
                    to start.
                    """),
            Key(
                "Dispatch", "InvocationMemoryMax", { $1(&$0.routing.limits.invocationMemory) },
                .byteSize(1 << 20...16 << 30), default: "56M",
                meaning: """
                    About how many bytes of memory unfinished requests may take beside that, 1M to 16G: some 900 for each \
                    callback, and the texts of the request. A request beyond it is refused with `overloaded`. The default is \
                    enough for 50000 with short texts.
                    """),
            Key(
                "Dispatch", "InvocationMemoryMaxPerPeer", { $1(&$0.routing.limits.invocationMemoryPerPeer) },
                .byteSize(1 << 20...16 << 30), default: "28M",
                meaning: "How many bytes of that memory the unfinished requests from the same user id may take."),
            Key(
                "Dispatch", "DeviceMemoryMax", { $1(&$0.routing.limits.deviceMemory) }, .byteSize(1 << 20...16 << 30),
                default: "512M",
                meaning: """
                    About how many bytes of memory the known devices may take, with their platforms, users and last message \
                    ids, 1M to 16G: some 450 bytes a device. Beyond it the least recently used device is forgotten.
                    """),
            Key(
                "Dispatch", "FanOutMax", { $1(&$0.routing.limits.fanOut) }, .integer(1...100_000), default: "10000",
                meaning: "How many devices one `publish` may reach, 1 to 1000000. One with more subscribers is refused."
            ),
            Key(
                "Dispatch", "RetryDelay", { $1(&$0.routing.retry.delay) }, .timeSpan(.milliseconds(1) ... .seconds(9)),
                default: "200ms",
                meaning: """
                    How long to wait at most before a handler that asked for it the first time is tried again, 1ms to 9s; only \
                    in relay mode. The wait doubles with each attempt, and is chosen between half of that and all of it, so \
                    that callbacks that failed together are not tried again together. A handler that gives `retry_after_ms` is \
                    tried again after that time; 0, or a `Retry-After` of 0, gives none. Retries do not move the deadline: \
                    where the next attempt would begin at the deadline or later the outcome is `failed` at once.
                    """),
            Key(
                "Dispatch", "RetryDelayMax", { $1(&$0.routing.retry.delayMax) },
                .timeSpan(.milliseconds(1) ... .seconds(9)), default: "2s",
                meaning: "The longest wait before a retry, 1ms to 9s."),
            Key(
                "Dispatch", "PresentationOptions", { $1(&$0.routing.completion.presentationOptions) }, .presentation,
                meaning: """
                    The options that an iOS app in the foreground returns in `willPresent` when the owner of the notification \
                    gives no options: words of `badge`, `sound`, `alert`, `list` and `banner`, or `none`. Default: `banner \
                    list sound` from iOS 14 and where the version is not known, `alert sound` before.
                    """),
            Key(
                "Dispatch", "DismissActionCategories",
                addingTo: { $1(&$0.routing.interaction.dismissActionCategories) }, Form.glob.list,
                meaning: """
                    Patterns of the categories that the iOS app registers with `customDismissAction`: only for those iOS tells \
                    the app that a notification was dismissed. Payloads do not have this fact, so it is set here; Braze's own \
                    categories (`ab_cat_*`) always have it. Several lines add up.
                    """),
            Key(
                "Dispatch", "ServiceExtensionInForeground",
                { $1(&$0.routing.detection.runsServiceExtensionInForeground) }, .boolean, default: "no",
                meaning: """
                    Whether iOS runs the notification service extension while the app is in the foreground, before \
                    `willPresent`. Apple's documentation does not say. Two reports of users of one library see it on devices, \
                    which is no rule of a platform; so the default keeps to the documentation. Set it where your devices do \
                    it.
                    """),
        ]
    }

    static var brazeSection: [Key<Settings>] {
        [
            Key(
                "Braze", "FetchResult", { $1(&$0.routing.completion.brazeFetchResult) }, .choice, default: "noData",
                meaning: """
                    The result that Braze's SDK passes to the completion handler of `didReceiveRemoteNotification`: `newData`, \
                    `noData` or `failed`. Its code is not public.
                    """),
            Key(
                "Braze", "RefreshFeatureFlagsKey", { $1(&$0.routing.detection.brazeKeys.refreshFeatureFlags) },
                .payloadKey, default: "br_ffr",
                meaning: "The key that asks the SDK to refresh its feature flags."),
            Key(
                "Braze", "RefreshBannersKey", { $1(&$0.routing.detection.brazeKeys.refreshBanners) }, .payloadKey,
                default: "br_br",
                meaning: "The key that asks the SDK to refresh its banners."),
            Key(
                "Braze", "UniqueIdKey", { $1(&$0.routing.detection.brazeKeys.uniqueID) }, .payloadKey,
                default: "br_p_id",
                meaning: """
                    The key of the id by which the SDK drops a push that it has seen before; a blank id is ignored.
                    """),
        ]
    }

    static var deadlineSection: [Key<Settings>] {
        [
            Key(
                "Deadline", "Budget", { $1(&$0.routing.budget) }, .budget, default: "9s",
                meaning: "The time that a callback has, 1ms to 9s."),
            Key(
                "Deadline", "Objective", { $1(&$0.objective) }, Form.objective.optional,
                meaning: """
                    The share of the due invocations that must keep the deadline, above 0 and below 100 %, such as 99.9%. With \
                    it pushctl(1) shows in a report how much of the error budget is left, how fast it is used up, and which \
                    alerts that means.
                    """),
        ]
    }

    static var storeSection: [Key<Settings>] {
        [
            Key(
                "Store", "Retention", { $1(&$0.store.retention) }, .timeSpan(.seconds(1) ... .seconds(3650 * 86_400)),
                default: "30d",
                meaning: """
                    How long the ledger keeps a request with its outcomes, and knows its `id`, 1s to 3650d. After a start \
                    whose clock is more than a day later than the ledger's last sign of life nothing is deleted or forgotten \
                    by its age until the kernel calls the clock synchronized, or for an hour; nor is it while the clock is off \
                    by more than a day from what it was at the start; `pushctl status` and the journal \
                    say so.
                    """),
            Key(
                "Store", "MaxSize", { $1(&$0.store.sizeMax) }, Form.byteSize(64 << 20...16 << 40).optional,
                meaning: """
                    How large the ledger may become, 64M to 16T; beyond it the oldest requests whose outcomes are all known go \
                    before `Retention=` is over. They go by whole minutes, at most some seconds later; what is in flight, a \
                    dead letter, custom data that waits, profiles and figures stay. The journal says so, and `pushctl status \
                    --all` how many went by which rule. After each cleaning free pages are given back to the file system, but for an \
                    eighth. Default: no limit.
                    """),
            Key(
                "Store", "DeadLetterRetention", { $1(&$0.store.deadLetterRetention) },
                .timeSpan(.seconds(1) ... .seconds(3650 * 86_400)), default: "30d",
                meaning: """
                    How long a dead letter is kept, 1s to 3650d; its request stays in the ledger as long, even beyond \
                    `Retention=`. See Dead letters in pushrouterd(8).
                    """),
            Key(
                "Store", "DeadLetterSizeMax", { $1(&$0.store.deadLetterSizeMax) }, .byteSize(0...16 << 40),
                default: "64M",
                meaning: """
                    How many bytes all dead letters may have together, 0 to 16T: their request lines, and of each attempt that \
                    is kept 64 bytes, its route, handler and reason, and what the handler wrote to standard error. Beyond it \
                    the oldest are dropped, at the next cleaning, which comes once an hour; the journal says how many.
                    """),
            Key(
                "Store", "FiguresRetention", { $1(&$0.store.figuresRetention) },
                .timeSpan(.seconds(60) ... .seconds(3650 * 86_400)), default: "400d",
                meaning: """
                    How long the figures of a minute stay after its requests went by `Retention=` or `MaxSize=`, 1min to \
                    3650d. They have no payload and no person, only counts and times by app, route, handler and outcome. \
                    Reports count such minutes as a whole, and say from when on they have rows.
                    """),
            Key(
                "Store", "LogSizeMax", { $1(&$0.store.logSizeMax) }, .byteSize(64 << 20...16 << 30), reload: .restart,
                default: "256M",
                meaning: """
                    How large the log may become, 64M to 16G; it has the acknowledged requests that the ledger does not have \
                    yet. When the ledger is slower than the producers and the log is full, they wait until there is room; for \
                    requests of 16 KiB and more they wait when the log is half full. While the ledger cannot be written at \
                    all, and the log is full, new requests are refused with `unavailable` and `retry_after_ms`. The log's \
                    files grow as they are needed and do not shrink. The WAL of the ledger has the same bound while a reader \
                    keeps it from being emptied: beyond it the ledger waits for the reader, and the log fills.
                    """),
            Key(
                "Store", "SlowCommit", { $1(&$0.store.slowCommit) }, .timeSpan(.milliseconds(1) ... .seconds(3600)),
                default: "1s",
                meaning: """
                    A commit to the log that takes longer, 1ms to 1h, has an entry in the journal, and so has the first one \
                    that is fast again. `pushctl status` and the metrics show it.
                    """),
        ]
    }

    static var journalSection: [Key<Settings>] {
        [
            Key(
                "Journal", "SuccessLevel", { $1(&$0.journal.successLevel) }, .choice, default: "info",
                meaning: """
                    The priority of a success: `info` or `debug`. A missed deadline, a failed callback and one that is \
                    unrouted are always warnings. Of successes no more than 500 a second have an entry of their own; the \
                    others are counted, and the count has an entry every ten seconds.
                    """),
            Key(
                "Journal", "QueueMax", { $1(&$0.journal.queueMax) }, .integer(1...1_000_000), reload: .restart,
                default: "10000",
                meaning: """
                    How many entries wait for a slow journal before further ones are dropped and counted, 1 to 1000000.
                    """),
        ]
    }

    static var trackerSection: [Key<Settings>] {
        [
            Key(
                "Tracker", "InfluencedWindow", { $1(&$0.routing.tracking.influencedWindow) }, .trackerTime,
                default: "30min",
                meaning: """
                    A session that starts sooner than this after a Braze push was displayed is its influenced open, 1s to 30d.
                    """),
            Key(
                "Tracker", "InfluencedWindowRule", { $1(&$0.routing.tracking.windowRule) }, .choice, default: "max",
                meaning: """
                    How the window is made of `InfluencedWindow=` and the user's own rhythm: `max` takes the larger of the \
                    two, `min` the smaller, `fixed` `InfluencedWindow=` alone. The rhythm is half the mean of the intervals \
                    between the user's last ten session starts in that app. With fewer than two starts there is no rhythm.
                    """),
            Key(
                "Tracker", "InfluencedCredit", { $1(&$0.routing.tracking.influencedCredit) }, .choice, default: "all",
                meaning: "Which push gets the influenced open when several are in the window: `all` or the `latest`."),
            Key(
                "Tracker", "Grace", { $1(&$0.routing.tracking.grace) }, .timeSpan(.zero ... .seconds(600)),
                default: "5s",
                meaning: """
                    How long a session start waits for the tap that may have caused it, and how long a tap waits for its \
                    delivery, up to 600s. A push tapped within this before or after the start, both ends included, is not \
                    influenced.
                    """),
            Key(
                "Tracker", "AndroidSessionTimeout", { $1(&$0.routing.tracking.androidSessionTimeout) }, .trackerTime,
                default: "10s",
                meaning: """
                    A start within this time after the end of the same user's session resumes that session; it is not a new \
                    one.
                    """),
            Key(
                "Tracker", "IosSessionTimeout", { $1(&$0.routing.tracking.appleSessionTimeout) }, .trackerTime,
                default: "10s"),
            Key(
                "Tracker", "WebSessionTimeout", { $1(&$0.routing.tracking.webSessionTimeout) }, .trackerTime,
                default: "30min"),
            Key(
                "Tracker", "IosForeground", { $1(&$0.routing.tracking.reportsForeground) }, .boolean, default: "no",
                meaning: "Whether a push that an iOS app shows in the foreground gives an `IosForeground` event."),
            Key(
                "Tracker", "CampaignEventsOff", addingTo: { $1(&$0.routing.tracking.appsWithoutCampaignEvents) },
                Form.glob.list,
                meaning: """
                    Patterns of the apps whose own SDK logs opens: they get no campaign events here, or each open would count \
                    twice.
                    """),
            Key(
                "Tracker", "CampaignIdRule", { $1(&$0.campaignIDRule) }, .choice, default: "raw",
                meaning: """
                    How `pushctl campaigns` groups: `raw`, by the id as it came, or `decode`, also by the campaign's own part \
                    of ids that are the base64 of `campaign_$_...`. Braze has not published whether the ids of pushes are made \
                    so.
                    """),
            Key(
                "Tracker", "Remember", { $1(&$0.routing.tracking.remember) },
                .timeSpan(.seconds(1) ... .seconds(3650 * 86_400)), default: "30d",
                meaning: """
                    How long after a Braze push its open is still recognized, and how long a session without an end counts as \
                    open. Nothing is forgotten by a clock by which `Retention=` deletes nothing.
                    """),
            Key(
                "Tracker", "RememberMax", { $1(&$0.routing.tracking.rememberMax) }, .integer(1...100_000_000),
                default: "100000",
                meaning: "How many pushes are remembered, 1 to 100000000; beyond it the oldest is forgotten first."),
            Key(
                "Tracker", "RememberUsersMax", { $1(&$0.routing.tracking.rememberUsersMax) }, .integer(1...100_000_000),
                default: "1000000",
                meaning: """
                    How many sessions, and how many users' session starts, are remembered, 1 to 100000000; beyond it the least \
                    recently used is forgotten first.
                    """),
            Key(
                "Tracker", "EventTime", { $1(&$0.routing.customData.eventTime) }, .choice, default: "saved",
                meaning: """
                    The time of a custom event that waited in a suite for the app's next session: `saved`, when it was logged, \
                    or `flushed`, when the session started.
                    """),
        ]
    }

    static var usersTrackSection: [Key<Settings>] {
        [
            // Messages never show the values of the first two: a user may have pasted a secret there.
            Key(
                "UsersTrack", "Endpoint", { $1(&$0.usersTrack.endpoint) }, Form.endpoint.optional, showsValue: false,
                meaning: """
                    The address of the Braze instance, such as `https://rest.fra-01.braze.eu`, with or without `/users/track`; \
                    while it is empty nothing is sent, and the entries wait. Only `https`, but for localhost, 127.0.0.0/8 and \
                    [::1].
                    """),
            Key(
                "UsersTrack", "KeyFile", { $1(&$0.usersTrack.keyFile) }, Form.keyFile.optional, showsValue: false,
                meaning: """
                    The absolute path of a file that has nothing but the API key and that only its owner can read; never put \
                    the key itself into the configuration. Default: empty; the systemd credential `users-track-key`.
                    """),
            Key(
                "UsersTrack", "BatchSize", { $1(&$0.usersTrack.batchSize) },
                .integer(1...75, reason: ": /users/track refuses more of a kind"), default: "75",
                meaning: "How many events, and how many attribute objects, go in one request, 1 to 75."),
            Key(
                "UsersTrack", "CombinedLimit", { $1(&$0.usersTrack.combinedLimit) }, Form.integer(1...150).optional,
                meaning: """
                    How many events and attribute objects together go in one request, 1 to 150; some of Braze's plans allow \
                    50. Default: empty; no such limit.
                    """),
            Key(
                "UsersTrack", "Flush", { $1(&$0.usersTrack.flush) }, .timeSpan(.zero ... .seconds(60)), default: "1s",
                meaning: "How long the first entry of a request waits for others, up to 1min."),
            Key(
                "UsersTrack", "RateLimit", { $1(&$0.usersTrack.rateLimit) }, .integer(1...1_000_000), default: "3000",
                meaning: "How many requests may be sent in how much time: 1 to 1000000 in 1ms to 1d."),
            Key(
                "UsersTrack", "RateInterval", { $1(&$0.usersTrack.rateInterval) },
                .timeSpan(.milliseconds(1) ... .seconds(86_400)), default: "3s"),
            Key(
                "UsersTrack", "Timeout", { $1(&$0.usersTrack.timeout) }, .timeSpan(.seconds(1) ... .seconds(600)),
                default: "30s",
                meaning: "How long a request may take, from the connection to the end of its answer, 1s to 10min."),
            Key(
                "UsersTrack", "Connections", { $1(&$0.usersTrack.connections) }, .integer(1...64), default: "2",
                meaning: "How many requests may be under way at once, 1 to 64."),
            Key(
                "UsersTrack", "OnUnknown", { $1(&$0.routing.customData.onUnknown) }, .choice, default: "hold",
                meaning: """
                    How to treat an entry that was sent and whose answer was lost: `hold` keeps it until a person decides, \
                    `retry` sends it again. `/users/track` does not recognize repeated entries: an entry that is sent again \
                    may count twice, and cannot be taken back.
                    """),
            Key(
                "UsersTrack", "SendFlushed", { $1(&$0.routing.customData.sendsFlushed) }, .boolean, default: "no",
                meaning: """
                    Whether entries that a session start flushes are also sent, to the profile of that session's user.
                    """),
            Key(
                "UsersTrack", "MaxPending", { $1(&$0.routing.customData.pendingMax) }, .integer(1...100_000_000),
                default: "100000",
                meaning: """
                    How many entries wait at most, in suites and to be sent, 1 to 100000000, and how many bytes their names \
                    and values may have in all, 64K to 16G. Beyond it new ones are refused with `overloaded`.
                    """),
            Key(
                "UsersTrack", "MaxPendingSize", { $1(&$0.routing.customData.pendingSizeMax) },
                .byteSize(64 << 10...16 << 30), default: "64M"),
            Key(
                "UsersTrack", "ArrayElementsMax", { $1(&$0.routing.customData.arrayElementsMax) }, .integer(1...10_000),
                default: "500",
                meaning: """
                    How many elements an array in a custom attribute may have, 1 to 10000: the limit of your Braze workspace.
                    """),
        ]
    }
}
