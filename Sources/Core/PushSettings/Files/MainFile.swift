import PushCustomData
import PushDispatch
import PushModel
import PushRouting
import PushTracking

extension Settings: Fillable {}

extension Schema<Settings> {
    /// `pushrouterd.conf` and its drop-ins.
    static let main = Schema(
        keys: [
            Key("Daemon", "RequestLengthMax", { $1(&$0.daemon.requestLengthMax) }, .byteSize(1 << 10...16 << 20)),
            Key("Daemon", "JSONDepthMax", { $1(&$0.daemon.jsonDepthMax) }, .integer(4...1000)),
            Key("Daemon", "ConnectionsMax", { $1(&$0.daemon.connectionsMax) }, .integer(1...1_000_000)),
            Key("Daemon", "ConnectionsMaxPerPeer", { $1(&$0.daemon.connectionsMaxPerPeer) }, .integer(1...1_000_000)),
            Key("Daemon", "InputSizeMax", { $1(&$0.daemon.inputSizeMax) }, .byteSize(1 << 20...16 << 30)),
            Key("Daemon", "InputSizeMaxPerPeer", { $1(&$0.daemon.inputSizeMaxPerPeer) }, .byteSize(1 << 20...16 << 30)),
            Key("Daemon", "OutputSizeMax", { $1(&$0.daemon.outputSizeMax) }, .byteSize(1 << 20...16 << 30)),
            Key(
                "Daemon", "OutputSizeMaxPerPeer", { $1(&$0.daemon.outputSizeMaxPerPeer) }, .byteSize(1 << 20...16 << 30)
            ),
            Key("Daemon", "LineTimeout", { $1(&$0.daemon.lineTimeout) }, .timeSpan(.seconds(1) ... .seconds(86_400))),
            Key("Daemon", "WriteTimeout", { $1(&$0.daemon.writeTimeout) }, .timeSpan(.seconds(1) ... .seconds(86_400))),
            Key("Daemon", "IdleTimeout", { $1(&$0.daemon.idleTimeout) }, .timeSpan(.zero ... .seconds(30 * 86_400))),
            Key("Daemon", "InjectSocketMode", { $1(&$0.daemon.injectSocket.mode) }, .fileMode),
            Key("Daemon", "InjectSocketGroup", { $1(&$0.daemon.injectSocket.group) }, Form.groupName.optional),
            Key("Daemon", "ControlSocketMode", { $1(&$0.daemon.controlSocket.mode) }, .fileMode),
            Key("Daemon", "ControlSocketGroup", { $1(&$0.daemon.controlSocket.group) }, Form.groupName.optional),
            Key("Daemon", "ReadSocketMode", { $1(&$0.daemon.readSocket.mode) }, .fileMode),
            Key("Daemon", "ReadSocketGroup", { $1(&$0.daemon.readSocket.group) }, Form.groupName.optional),
            Key("Daemon", "HTTPSocket", { $1(&$0.daemon.httpSocket) }, Form.socketPath.optional),

            Key("Dispatch", "Mode", { $1(&$0.routing.mode) }, .choice),
            Key("Dispatch", "HandlersMax", { $1(&$0.routing.limits.handlers) }, .integer(1...10_000)),
            Key("Dispatch", "ObserversMax", { $1(&$0.routing.limits.observers) }, .integer(1...10_000)),
            Key("Dispatch", "RequestsInFlightMax", { $1(&$0.routing.limits.inFlight) }, .integer(1...10_000_000)),
            Key(
                "Dispatch", "RequestsInFlightMaxPerPeer", { $1(&$0.routing.limits.inFlightPerPeer) },
                .integer(1...10_000_000)),
            Key(
                "Dispatch", "RequestsInFlightSizeMax", { $1(&$0.routing.limits.unfinishedBytes) },
                .byteSize(1 << 20...16 << 40)),
            Key(
                "Dispatch", "RequestsInFlightSizeMaxPerPeer", { $1(&$0.routing.limits.unfinishedBytesPerPeer) },
                .byteSize(1 << 20...16 << 40)),
            Key("Dispatch", "PayloadMemoryMax", { $1(&$0.routing.limits.payloadMemory) }, .byteSize(0...16 << 30)),
            Key(
                "Dispatch", "InvocationMemoryMax", { $1(&$0.routing.limits.invocationMemory) },
                .byteSize(1 << 20...16 << 30)),
            Key(
                "Dispatch", "InvocationMemoryMaxPerPeer", { $1(&$0.routing.limits.invocationMemoryPerPeer) },
                .byteSize(1 << 20...16 << 30)),
            Key("Dispatch", "DeviceMemoryMax", { $1(&$0.routing.limits.deviceMemory) }, .byteSize(1 << 20...16 << 30)),
            Key("Dispatch", "RetryDelay", { $1(&$0.routing.retry.delay) }, .timeSpan(.milliseconds(1) ... .seconds(9))),
            Key(
                "Dispatch", "RetryDelayMax", { $1(&$0.routing.retry.delayMax) },
                .timeSpan(.milliseconds(1) ... .seconds(9))),
            Key("Dispatch", "PresentationOptions", { $1(&$0.routing.completion.presentationOptions) }, .presentation),
            Key(
                "Dispatch", "DismissActionCategories",
                addingTo: { $1(&$0.routing.interaction.dismissActionCategories) }, Form.glob.list),
            Key(
                "Dispatch", "ServiceExtensionInForeground",
                { $1(&$0.routing.detection.runsServiceExtensionInForeground) }, .boolean),

            Key("Braze", "FetchResult", { $1(&$0.routing.completion.brazeFetchResult) }, .choice),
            Key(
                "Braze", "RefreshFeatureFlagsKey", { $1(&$0.routing.detection.brazeKeys.refreshFeatureFlags) },
                .payloadKey),
            Key("Braze", "RefreshBannersKey", { $1(&$0.routing.detection.brazeKeys.refreshBanners) }, .payloadKey),
            Key("Braze", "UniqueIdKey", { $1(&$0.routing.detection.brazeKeys.uniqueID) }, .payloadKey),

            Key("Deadline", "Budget", { $1(&$0.routing.budget) }, .budget),
            Key("Deadline", "Objective", { $1(&$0.objective) }, Form.objective.optional),

            Key("Store", "Retention", { $1(&$0.store.retention) }, .timeSpan(.seconds(1) ... .seconds(3650 * 86_400))),
            Key("Store", "MaxSize", { $1(&$0.store.sizeMax) }, Form.byteSize(64 << 20...16 << 40).optional),
            Key(
                "Store", "DeadLetterRetention", { $1(&$0.store.deadLetterRetention) },
                .timeSpan(.seconds(1) ... .seconds(3650 * 86_400))),
            Key("Store", "DeadLetterSizeMax", { $1(&$0.store.deadLetterSizeMax) }, .byteSize(0...16 << 40)),
            Key(
                "Store", "FiguresRetention", { $1(&$0.store.figuresRetention) },
                .timeSpan(.seconds(60) ... .seconds(3650 * 86_400))),
            Key("Store", "LogSizeMax", { $1(&$0.store.logSizeMax) }, .byteSize(64 << 20...16 << 30)),
            Key("Store", "SlowCommit", { $1(&$0.store.slowCommit) }, .timeSpan(.milliseconds(1) ... .seconds(3600))),

            Key("Journal", "SuccessLevel", { $1(&$0.journal.successLevel) }, .choice),
            Key("Journal", "QueueMax", { $1(&$0.journal.queueMax) }, .integer(1...1_000_000)),

            Key("Tracker", "InfluencedWindow", { $1(&$0.routing.tracking.influencedWindow) }, .trackerTime),
            Key("Tracker", "InfluencedWindowRule", { $1(&$0.routing.tracking.windowRule) }, .choice),
            Key("Tracker", "InfluencedCredit", { $1(&$0.routing.tracking.influencedCredit) }, .choice),
            Key("Tracker", "Grace", { $1(&$0.routing.tracking.grace) }, .timeSpan(.zero ... .seconds(600))),
            Key("Tracker", "AndroidSessionTimeout", { $1(&$0.routing.tracking.androidSessionTimeout) }, .trackerTime),
            Key("Tracker", "IosSessionTimeout", { $1(&$0.routing.tracking.appleSessionTimeout) }, .trackerTime),
            Key("Tracker", "WebSessionTimeout", { $1(&$0.routing.tracking.webSessionTimeout) }, .trackerTime),
            Key("Tracker", "IosForeground", { $1(&$0.routing.tracking.reportsForeground) }, .boolean),
            Key(
                "Tracker", "CampaignEventsOff", addingTo: { $1(&$0.routing.tracking.appsWithoutCampaignEvents) },
                Form.glob.list),
            Key("Tracker", "CampaignIdRule", { $1(&$0.campaignIDRule) }, .choice),
            Key(
                "Tracker", "Remember", { $1(&$0.routing.tracking.remember) },
                .timeSpan(.seconds(1) ... .seconds(3650 * 86_400))),
            Key("Tracker", "RememberMax", { $1(&$0.routing.tracking.rememberMax) }, .integer(1...100_000_000)),
            Key(
                "Tracker", "RememberUsersMax", { $1(&$0.routing.tracking.rememberUsersMax) }, .integer(1...100_000_000)),
            Key("Tracker", "EventTime", { $1(&$0.routing.customData.eventTime) }, .choice),

            // Who pastes a secret into one of these two must not find it in a message.
            Key("UsersTrack", "Endpoint", { $1(&$0.usersTrack.endpoint) }, Form.endpoint.optional, showsValue: false),
            Key("UsersTrack", "KeyFile", { $1(&$0.usersTrack.keyFile) }, Form.keyFile.optional, showsValue: false),
            Key(
                "UsersTrack", "BatchSize", { $1(&$0.usersTrack.batchSize) },
                .integer(1...75, reason: ": /users/track refuses more of a kind")),
            Key("UsersTrack", "CombinedLimit", { $1(&$0.usersTrack.combinedLimit) }, Form.integer(1...150).optional),
            Key("UsersTrack", "Flush", { $1(&$0.usersTrack.flush) }, .timeSpan(.zero ... .seconds(60))),
            Key("UsersTrack", "RateLimit", { $1(&$0.usersTrack.rateLimit) }, .integer(1...1_000_000)),
            Key(
                "UsersTrack", "RateInterval", { $1(&$0.usersTrack.rateInterval) },
                .timeSpan(.milliseconds(1) ... .seconds(86_400))),
            Key("UsersTrack", "Timeout", { $1(&$0.usersTrack.timeout) }, .timeSpan(.seconds(1) ... .seconds(600))),
            Key("UsersTrack", "Connections", { $1(&$0.usersTrack.connections) }, .integer(1...64)),
            Key("UsersTrack", "OnUnknown", { $1(&$0.routing.customData.onUnknown) }, .choice),
            Key("UsersTrack", "SendFlushed", { $1(&$0.routing.customData.sendsFlushed) }, .boolean),
            Key("UsersTrack", "MaxPending", { $1(&$0.routing.customData.pendingMax) }, .integer(1...100_000_000)),
            Key(
                "UsersTrack", "MaxPendingSize", { $1(&$0.routing.customData.pendingSizeMax) },
                .byteSize(64 << 10...16 << 30)),
            Key(
                "UsersTrack", "ArrayElementsMax", { $1(&$0.routing.customData.arrayElementsMax) }, .integer(1...10_000)),
        ],
        objection: objectionToSecret)
}

/// Why a key that seems to be the API key itself must not be in a file that others read.
@Sendable private func objectionToSecret(section: String, key: String) -> String? {
    let name = key.lowercased()
    guard section == "UsersTrack", name != "keyfile",
        ["key", "token", "secret", "authorization", "bearer", "password"].contains(where: { name.has($0) })
    else { return nil }
    return "do not put the API key here, where others can read it: put it alone into a file that only its owner can "
        + "read and name that with KeyFile=, or give the service the systemd credential users-track-key; "
        + "make a new key, since others may have read this one"
}

extension Form<Duration> {
    /// A window or a timeout of the tracker's rules.
    fileprivate static let trackerTime = timeSpan(.seconds(1) ... .seconds(30 * 86_400))

    /// The time an invocation has. Nine seconds are the platform's rule, so configuration can only shorten them.
    static let budget = timeSpan(
        .milliseconds(1) ... .seconds(9), reason: ": push callbacks must be done within 9s, by Braze's rule for apps")
}

extension Form<Percent> {
    /// A share of the due: below 100 %, so that there is an error budget.
    static let objective = Form { text throws(ValueError) in
        guard let percent = Percent(text), percent.millionths > 0, percent.millionths < 100_000_000 else {
            throw ValueError("must be a percentage above 0 and below 100, such as 99.9%")
        }
        return percent
    }
}

extension Form<[PresentationOption]?> {
    /// Apple's names of presentation options, or `none` of them; the default is what no text says.
    static let presentation = Form { text throws(ValueError) in
        text == "none" ? [] : try Form<PresentationOption>.choice.list.parse(text)
    }
}

extension Form<String> {
    /// A group's name or number, as `groupadd` accepts names.
    static let groupName = Form { text throws(ValueError) in
        guard text.utf8.allSatisfy({ $0.isNameByte }), text.utf8.first != UInt8(ascii: "-") else {
            throw ValueError("must be the name or number of a group")
        }
        return text
    }

    fileprivate static let keyFile = Form { text throws(ValueError) in
        do { return try absolutePath.parse(text) } catch {
            throw ValueError("must be the absolute path of the file that has the API key, never the key itself")
        }
    }

    /// A key of a payload.
    static let payloadKey = Form { text throws(ValueError) in
        guard !text.utf8.contains(where: \.isWhitespace) else { throw ValueError("must be one key, without spaces") }
        return text
    }

    /// The stem of a `.handler` or `.route` file.
    static let stem = Form { text throws(ValueError) in
        guard text.utf8.allSatisfy({ $0.isNameByte || $0 == UInt8(ascii: ".") }), text.first != ".", !text.isEmpty
        else { throw ValueError("must be a name of letters, digits, and - _ .") }
        return text
    }
}

extension UInt8 {
    fileprivate var isNameByte: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}
