import PushModel
import PushRouter

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
                meaning: "The maximum nesting depth of a request's JSON, 4 to 1000."),
            Key(
                "Daemon", "ConnectionsMax", { $1(&$0.daemon.connectionsMax) }, .integer(1...1_000_000), default: "1024",
                meaning: """
                    The maximum number of clients of a socket at once, 1 to 1000000. The daemon closes a further \
                    connection with `overloaded`.
                    """),
            Key(
                "Daemon", "ConnectionsMaxPerPeer", { $1(&$0.daemon.connectionsMaxPerPeer) }, .integer(1...1_000_000),
                default: "512",
                meaning: "The maximum number of clients of a socket with the same user id at once, 1 to 1000000."),
            Key(
                "Daemon", "InputSizeMax", { $1(&$0.daemon.inputSizeMax) }, .byteSize(1 << 20...16 << 30),
                default: "16M",
                meaning: """
                    The maximum size of received and unprocessed requests of a socket's clients, 1M to 16G; beyond it \
                    the daemon does not read from clients until it has served others, and refuses no request. A client \
                    may always have 16 KiB.
                    """),
            Key(
                "Daemon", "InputSizeMaxPerPeer", { $1(&$0.daemon.inputSizeMaxPerPeer) }, .byteSize(1 << 20...16 << 30),
                default: "8M",
                meaning: "The same limit for the clients with the same user id."),
            Key(
                "Daemon", "OutputSizeMax", { $1(&$0.daemon.outputSizeMax) }, .byteSize(1 << 20...16 << 30),
                default: "16M",
                meaning: """
                    The maximum size of unread replies to a socket's clients, 1M to 16G; beyond it the daemon neither \
                    reads nor processes requests of these clients until they have read replies, and refuses no \
                    request. A client may always have 16 KiB of unread replies; with 256 KiB of unread replies the \
                    daemon does not process its requests.
                    """),
            Key(
                "Daemon", "OutputSizeMaxPerPeer", { $1(&$0.daemon.outputSizeMaxPerPeer) },
                .byteSize(1 << 20...16 << 30), default: "8M",
                meaning: "The same limit for the clients with the same user id."),
            Key(
                "Daemon", "LineTimeout", { $1(&$0.daemon.lineTimeout) }, .timeSpan(.seconds(1) ... .seconds(86_400)),
                default: "30s",
                meaning: """
                    The maximum time of a request from its first byte to its line feed, 1s to 1d. The daemon \
                    disconnects a client that takes longer, with an error. A wait for room (`InputSizeMax=`) does not \
                    count. The daemon refuses a long request at once if it stops for two seconds while other requests \
                    of the same user wait for its memory.
                    """),
            Key(
                "Daemon", "WriteTimeout", { $1(&$0.daemon.writeTimeout) }, .timeSpan(.seconds(1) ... .seconds(86_400)),
                default: "30s",
                meaning: """
                    The maximum time in which a client reads none of its replies, 1s to 1d; then the daemon \
                    disconnects it.
                    """),
            Key(
                "Daemon", "IdleTimeout", { $1(&$0.daemon.idleTimeout) }, .timeSpan(.zero ... .seconds(30 * 86_400)),
                default: "0",
                meaning: """
                    The maximum time of an idle connection without an outstanding reply, up to 30d; then the daemon \
                    closes it; 0 means no limit.
                    """),
            Key(
                "Daemon", "InjectSocketMode", { $1(&$0.daemon.injectSocket.mode) }, .fileMode, reload: .restart,
                default: "0660",
                meaning: """
                    Permissions and group of inject.sock, which takes payloads. A process needs write permission to \
                    connect. The group is a name or a number; the daemon must be in it, or root. A socket that the \
                    service manager hands over has the mode and the group that its unit gives it. Default: 0660 and \
                    the daemon's own group.
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
                meaning: "The same for read.sock, which reports the state of the daemon and changes nothing."),
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
                    The role of the router: `device` does what the platform and the app would do, `relay` is a router \
                    in production. With `device` the deliveries to one app on one Android device run one after the \
                    other, the deadline counts from the call, and handlers have no retries. With `relay` Braze \
                    payloads go to the tracker on acceptance, the deadline counts from acceptance, and a handler may \
                    ask for a retry.
                    """),
            Key(
                "Dispatch", "HandlersMax", { $1(&$0.routing.limits.handlers) }, .integer(1...10_000), default: "64",
                meaning: """
                    The maximum number of running handlers, 1 to 10000. `MaxConcurrent=` of a handler file limits a \
                    single handler.
                    """),
            Key(
                "Dispatch", "ObserversMax", { $1(&$0.routing.limits.observers) }, .integer(1...10_000), default: "16",
                meaning: "The maximum number of running handlers of observing routes, in addition to `HandlersMax=`."),
            Key(
                "Dispatch", "RequestsInFlightMax", { $1(&$0.routing.limits.inFlight) }, .integer(1...10_000_000),
                default: "50000",
                meaning: """
                    The maximum number of unfinished requests, 1 to 10000000; the daemon refuses further requests with \
                    `overloaded` and `retry_after_ms`.
                    """),
            Key(
                "Dispatch", "RequestsInFlightMaxPerPeer", { $1(&$0.routing.limits.inFlightPerPeer) },
                .integer(1...10_000_000), default: "20000",
                meaning: "The maximum number of unfinished requests from the same user id."),
            Key(
                "Dispatch", "RequestsInFlightSizeMax", { $1(&$0.routing.limits.unfinishedBytes) },
                .byteSize(1 << 20...16 << 40), default: "1G",
                meaning: """
                    The maximum size of the unfinished requests on disk, 1M to 16384G; the daemon refuses further \
                    requests in the same way.
                    """),
            Key(
                "Dispatch", "RequestsInFlightSizeMaxPerPeer", { $1(&$0.routing.limits.unfinishedBytesPerPeer) },
                .byteSize(1 << 20...16 << 40), default: "512M",
                meaning: "The maximum size on disk of the unfinished requests from the same user id."),
            Key(
                "Dispatch", "PayloadMemoryMax", { $1(&$0.routing.limits.payloadMemory) }, .byteSize(0...16 << 30),
                default: "32M",
                meaning: """
                    The maximum memory of the payloads of unfinished requests, up to 16G; the payload of a tap's \
                    delivery counts too. The daemon reads other payloads from the ledger again when their handlers \
                    start.
                    """),
            Key(
                "Dispatch", "InvocationMemoryMax", { $1(&$0.routing.limits.invocationMemory) },
                .byteSize(1 << 20...16 << 30), default: "56M",
                meaning: """
                    The approximate maximum memory of unfinished requests without their payloads, 1M to 16G: some 900 \
                    bytes for each callback, and the texts of the request. The daemon refuses further requests with \
                    `overloaded`. The default is enough for 50000 requests with short texts.
                    """),
            Key(
                "Dispatch", "InvocationMemoryMaxPerPeer", { $1(&$0.routing.limits.invocationMemoryPerPeer) },
                .byteSize(1 << 20...16 << 30), default: "28M",
                meaning: "The maximum of that memory for the unfinished requests from the same user id."),
            Key(
                "Dispatch", "DeviceMemoryMax", { $1(&$0.routing.limits.deviceMemory) }, .byteSize(1 << 20...16 << 30),
                default: "512M",
                meaning: """
                    The approximate maximum memory of the known devices, with their platforms, users and last message \
                    ids, 1M to 16G: some 450 bytes a device, and 100 bytes and its name for each topic of a device. \
                    Beyond it the user whose devices take the most loses devices: those without a token and topics \
                    first, then the least recently used.
                    """),
            Key(
                "Dispatch", "FanOutMax", { $1(&$0.routing.limits.fanOut) }, .integer(1...100_000), default: "10000",
                meaning: """
                    The maximum number of devices of one `publish`, 1 to 100000. The daemon refuses a `publish` with \
                    more subscribers.
                    """
            ),
            Key(
                "Dispatch", "PublishTimeMax", { $1(&$0.routing.publishTimeMax) },
                .timeSpan(.seconds(1) ... .seconds(28 * 86_400)), default: "1h",
                meaning: """
                    The longest time of a `publish`, 1s to 28d. A publish ends so long after its acceptance, or when                     the payload's own time is over: `ttl` of FCM and of web push, `apns-expiration`. The daemon makes                     no delivery afterwards and leaves the remaining devices out, also after a restart.
                    """),
            Key(
                "Dispatch", "RetryDelay", { $1(&$0.routing.retry.delay) }, .timeSpan(.milliseconds(1) ... .seconds(9)),
                default: "200ms",
                meaning: """
                    The maximum wait before the first retry of a handler that asked for it, 1ms to 9s; only in relay \
                    mode. The maximum doubles with each attempt. The wait is a random time from half of the maximum to \
                    the maximum, so that callbacks that failed together do not retry together. After `retry_after_ms` \
                    of a handler the daemon waits that time; 0, or a `Retry-After` of 0, counts as no time. Retries do \
                    not move the deadline: if the next attempt would begin at the deadline or later, the outcome is \
                    `failed` at once.
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
                    Patterns of the categories that the iOS app registers with `customDismissAction`: only for these \
                    categories iOS tells the app that a notification was dismissed. Payloads do not contain this fact, \
                    so you set it here; Braze's own categories (`ab_cat_*`) always have it. Several lines add up.
                    """),
            Key(
                "Dispatch", "ReceiverApps", addingTo: { $1(&$0.routing.interaction.receiverApps) }, Form.glob.list,
                meaning: """
                    Patterns of the Android apps that have a receiver beside their messaging service: the receivers of \
                    React Native Firebase and FlutterFire run code of the app for every message, also for one that the \
                    system shows. Routes with `Observe=yes` get a copy of such a message as `onMessageReceived`. \
                    Payloads do not contain this fact. Several lines add up.
                    """),
            Key(
                "Dispatch", "ServiceExtensionInForeground",
                { $1(&$0.routing.detection.runsServiceExtensionInForeground) }, .boolean, default: "no",
                meaning: """
                    Whether iOS runs the notification service extension while the app is in the foreground, before \
                    `willPresent`. Apple's documentation does not say. Two users of one library report it on devices, \
                    but two reports are no rule of the platform, so the default follows the documentation. Set it to \
                    `yes` if your devices do it.
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
                meaning: "The budget of a callback, 1ms to 9s."),
            Key(
                "Deadline", "Objective", { $1(&$0.objective) }, Form.objective.optional,
                meaning: """
                    The share of the due invocations that must keep the deadline, above 0 and below 100 %, such as \
                    99.9%. With it pushctl(1) shows in a report the remaining error budget, its burn rate, and the \
                    resulting alerts.
                    """),
        ]
    }

    static var storeSection: [Key<Settings>] {
        [
            Key(
                "Store", "Retention", { $1(&$0.store.retention) }, .timeSpan(.seconds(1) ... .seconds(3650 * 86_400)),
                default: "30d",
                meaning: """
                    The time for which the ledger keeps a request with its outcomes and its `id`, 1s to 3650d. If the \
                    clock at a start is more than a day later than the ledger's last sign of life, the daemon deletes \
                    and forgets nothing by age until the kernel reports a synchronized clock, or for an hour. It also \
                    deletes nothing while the clock differs by more than a day from the clock at the start. `pushctl \
                    status` and the journal report this.
                    """),
            Key(
                "Store", "MaxSize", { $1(&$0.store.sizeMax) }, Form.byteSize(64 << 20...16 << 40).optional,
                meaning: """
                    The maximum size of the ledger, 64M to 16T; beyond it the daemon deletes the oldest requests whose \
                    outcomes are all known before `Retention=` is over. It deletes whole minutes, at most some seconds \
                    later; requests in flight, dead letters, waiting custom data, profiles and figures stay. The \
                    journal has an entry, and `pushctl status --all` the number of requests deleted by each rule. \
                    After each cleaning the daemon returns free pages to the file system, but for an eighth. Default: \
                    no limit.
                    """),
            Key(
                "Store", "DeadLetterRetention", { $1(&$0.store.deadLetterRetention) },
                .timeSpan(.seconds(1) ... .seconds(3650 * 86_400)), default: "30d",
                meaning: """
                    The time for which the daemon keeps a dead letter, 1s to 3650d; its request stays in the ledger as \
                    long, even beyond `Retention=`. See Dead letters in pushrouterd(8).
                    """),
            Key(
                "Store", "DeadLetterSizeMax", { $1(&$0.store.deadLetterSizeMax) }, .byteSize(0...16 << 40),
                default: "64M",
                meaning: """
                    The maximum size of all dead letters, 0 to 16T: their request lines, and for each kept attempt 64 \
                    bytes, its route, handler and reason, and the handler's standard error. Beyond it the daemon drops \
                    the oldest dead letters at the next cleaning, which runs once an hour; the journal has their \
                    number.
                    """),
            Key(
                "Store", "FiguresRetention", { $1(&$0.store.figuresRetention) },
                .timeSpan(.seconds(60) ... .seconds(3650 * 86_400)), default: "400d",
                meaning: """
                    The time for which the figures of a minute stay after `Retention=` or `MaxSize=` deleted its \
                    requests, 1min to 3650d, and for which the audit keeps an administrative act (100,000 acts at \
                    most). Figures have no payload and no person, only counts and times by app, route, handler and \
                    outcome. Reports count such minutes as a whole, and name the time from which they have rows.
                    """),
            Key(
                "Store", "LogSizeMax", { $1(&$0.store.logSizeMax) }, .byteSize(64 << 20...16 << 30), reload: .restart,
                default: "256M",
                meaning: """
                    The maximum size of the log, 64M to 16G; the log has the acknowledged requests that the ledger \
                    does not have yet. When the ledger is slower than the producers and the log is full, the producers \
                    wait until there is room; with requests of 16 KiB and more they wait when the log is half full. \
                    The log holds at least four batches, each of `RequestLengthMax=` and 1 MiB: `pushctl verify` warns of \
                    a smaller value, and the log may grow to that size. \
                    While the daemon cannot write the ledger at all, and the log is full, it refuses new requests with \
                    `unavailable` and `retry_after_ms`. The log's files grow on demand and do not shrink. The WAL of \
                    the ledger has the same limit while a reader keeps the daemon from emptying it: beyond it the \
                    ledger waits for the reader, and the log fills.
                    """),
            Key(
                "Store", "SlowCommit", { $1(&$0.store.slowCommit) }, .timeSpan(.milliseconds(1) ... .seconds(3600)),
                default: "1s",
                meaning: """
                    The time from which a commit to the log counts as slow, 1ms to 1h. The journal has an entry for a \
                    slow commit, and for the next fast commit. `pushctl status` and the metrics show slow commits.
                    """),
        ]
    }

    static var journalSection: [Key<Settings>] {
        [
            Key(
                "Journal", "SuccessLevel", { $1(&$0.journal.successLevel) }, .choice, default: "info",
                meaning: """
                    The priority of a success: `info` or `debug`. A missed deadline, a failed callback and one that is \
                    unrouted are always warnings. At most 500 successes a second have an entry of their own; the \
                    daemon counts the others, and one entry every ten seconds has the count.
                    """),
            Key(
                "Journal", "HandlerOutput", { $1(&$0.journal.hasHandlerOutput) }, .boolean, default: "no",
                meaning: "The default of `LogOutput=` for handlers that do not set it."),
            Key(
                "Journal", "QueueMax", { $1(&$0.journal.queueMax) }, .integer(1...1_000_000), reload: .restart,
                default: "10000",
                meaning: """
                    The maximum number of entries that wait for a slow journal, 1 to 1000000; the daemon drops and \
                    counts further entries.
                    """),
        ]
    }

    static var trackerSection: [Key<Settings>] {
        [
            Key(
                "Tracker", "InfluencedWindow", { $1(&$0.routing.tracking.influencedWindow) }, .trackerTime,
                default: "30min",
                meaning: """
                    A session that starts sooner than this after the display of a Braze push is an influenced open of \
                    the push, 1s to 30d.
                    """),
            Key(
                "Tracker", "InfluencedWindowRule", { $1(&$0.routing.tracking.windowRule) }, .choice, default: "max",
                meaning: """
                    The rule that makes the window from `InfluencedWindow=` and the user's own rhythm: `max` takes the \
                    larger of the two, `min` the smaller, `fixed` `InfluencedWindow=` alone. The rhythm is half the \
                    mean of the intervals between the user's last ten session starts in that app. With fewer than two \
                    starts there is no rhythm.
                    """),
            Key(
                "Tracker", "InfluencedCredit", { $1(&$0.routing.tracking.influencedCredit) }, .choice, default: "all",
                meaning: """
                    The push that gets the influenced open when several are in the window: `all` or the `latest`.
                    """),
            Key(
                "Tracker", "Grace", { $1(&$0.routing.tracking.grace) }, .timeSpan(.zero ... .seconds(600)),
                default: "5s",
                meaning: """
                    The time for which a session start waits for the tap that may have caused it, and a tap for its \
                    delivery, up to 600s. A push tapped within this before or after the start, both ends included, is \
                    not influenced.
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
                    Patterns of the apps whose own SDK logs opens: the tracker gives them no campaign events, because \
                    each open would count twice.
                    """),
            Key(
                "Tracker", "CampaignIdRule", { $1(&$0.campaignIDRule) }, .choice, default: "raw",
                meaning: """
                    The grouping of `pushctl campaigns`: `raw`, by the unchanged id, or `decode`, also by the \
                    campaign's own part of ids that are the base64 of `campaign_$_...`. Braze has not published \
                    whether the ids of pushes have this form.
                    """),
            Key(
                "Tracker", "Remember", { $1(&$0.routing.tracking.remember) },
                .timeSpan(.seconds(1) ... .seconds(3650 * 86_400)), default: "30d",
                meaning: """
                    The time for which the tracker recognizes the open of a Braze push, and for which a session \
                    without an end counts as open. The tracker forgets nothing while the daemon deletes nothing by \
                    `Retention=` because of its clock.
                    """),
            Key(
                "Tracker", "RememberMax", { $1(&$0.routing.tracking.rememberMax) }, .integer(1...100_000_000),
                default: "100000",
                meaning: """
                    The maximum number of remembered pushes, 1 to 100000000; beyond it the tracker forgets the oldest \
                    push first.
                    """),
            Key(
                "Tracker", "RememberUsersMax", { $1(&$0.routing.tracking.rememberUsersMax) }, .integer(1...100_000_000),
                default: "1000000",
                meaning: """
                    The maximum number of remembered sessions, and of users with remembered session starts, 1 to \
                    100000000; beyond it the tracker forgets the least recently used first.
                    """),
            Key(
                "Tracker", "EventTime", { $1(&$0.routing.customData.eventTime) }, .choice, default: "saved",
                meaning: """
                    The time of a custom event that waited in a suite for the app's next session: `saved`, when it was logged, \
                    or `flushed`, when the session started.
                    """),
        ]
    }
}
