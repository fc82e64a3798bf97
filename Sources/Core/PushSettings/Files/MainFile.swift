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
            Key("Daemon", "RequestLengthMax", \.daemon.requestLengthMax, .byteSize(1 << 10...16 << 20)),
            Key("Daemon", "JSONDepthMax", \.daemon.jsonDepthMax, .integer(4...1000)),
            Key("Daemon", "ConnectionsMax", \.daemon.connectionsMax, .integer(1...1_000_000)),
            Key("Daemon", "ConnectionsMaxPerPeer", \.daemon.connectionsMaxPerPeer, .integer(1...1_000_000)),
            Key("Daemon", "InputSizeMax", \.daemon.inputSizeMax, .byteSize(1 << 20...16 << 30)),
            Key("Daemon", "InputSizeMaxPerPeer", \.daemon.inputSizeMaxPerPeer, .byteSize(1 << 20...16 << 30)),
            Key("Daemon", "OutputSizeMax", \.daemon.outputSizeMax, .byteSize(1 << 20...16 << 30)),
            Key("Daemon", "OutputSizeMaxPerPeer", \.daemon.outputSizeMaxPerPeer, .byteSize(1 << 20...16 << 30)),
            Key("Daemon", "LineTimeout", \.daemon.lineTimeout, .timeSpan(.seconds(1) ... .seconds(86_400))),
            Key("Daemon", "WriteTimeout", \.daemon.writeTimeout, .timeSpan(.seconds(1) ... .seconds(86_400))),
            Key("Daemon", "IdleTimeout", \.daemon.idleTimeout, .timeSpan(.zero ... .seconds(30 * 86_400))),
            Key("Daemon", "InjectSocketMode", \.daemon.injectSocket.mode, .fileMode),
            Key("Daemon", "InjectSocketGroup", \.daemon.injectSocket.group, Form.groupName.optional),
            Key("Daemon", "ControlSocketMode", \.daemon.controlSocket.mode, .fileMode),
            Key("Daemon", "ControlSocketGroup", \.daemon.controlSocket.group, Form.groupName.optional),
            Key("Daemon", "ReadSocketMode", \.daemon.readSocket.mode, .fileMode),
            Key("Daemon", "ReadSocketGroup", \.daemon.readSocket.group, Form.groupName.optional),
            Key("Daemon", "HTTPSocket", \.daemon.httpSocket, Form.socketPath.optional),

            Key("Dispatch", "Mode", \.routing.mode, .choice),
            Key("Dispatch", "HandlersMax", \.routing.limits.handlers, .integer(1...10_000)),
            Key("Dispatch", "ObserversMax", \.routing.limits.observers, .integer(1...10_000)),
            Key("Dispatch", "RequestsInFlightMax", \.routing.limits.inFlight, .integer(1...10_000_000)),
            Key("Dispatch", "RequestsInFlightMaxPerPeer", \.routing.limits.inFlightPerPeer, .integer(1...10_000_000)),
            Key("Dispatch", "RequestsInFlightSizeMax", \.routing.limits.unfinishedBytes, .byteSize(1 << 20...16 << 40)),
            Key(
                "Dispatch", "RequestsInFlightSizeMaxPerPeer", \.routing.limits.unfinishedBytesPerPeer,
                .byteSize(1 << 20...16 << 40)),
            Key("Dispatch", "PayloadMemoryMax", \.routing.limits.payloadMemory, .byteSize(0...16 << 30)),
            Key("Dispatch", "InvocationMemoryMax", \.routing.limits.invocationMemory, .byteSize(1 << 20...16 << 30)),
            Key(
                "Dispatch", "InvocationMemoryMaxPerPeer", \.routing.limits.invocationMemoryPerPeer,
                .byteSize(1 << 20...16 << 30)),
            Key("Dispatch", "DeviceMemoryMax", \.routing.limits.deviceMemory, .byteSize(1 << 20...16 << 30)),
            Key("Dispatch", "RetryDelay", \.routing.retry.delay, .timeSpan(.milliseconds(1) ... .seconds(9))),
            Key("Dispatch", "RetryDelayMax", \.routing.retry.delayMax, .timeSpan(.milliseconds(1) ... .seconds(9))),
            Key("Dispatch", "PresentationOptions", \.routing.completion.presentationOptions, .presentation),
            Key(
                "Dispatch", "DismissActionCategories",
                addingTo: \.routing.interaction.dismissActionCategories, Form.glob.list),
            Key(
                "Dispatch", "ServiceExtensionInForeground",
                \.routing.detection.runsServiceExtensionInForeground, .boolean),

            Key("Braze", "FetchResult", \.routing.completion.brazeFetchResult, .choice),
            Key("Braze", "RefreshFeatureFlagsKey", \.routing.detection.brazeKeys.refreshFeatureFlags, .payloadKey),
            Key("Braze", "RefreshBannersKey", \.routing.detection.brazeKeys.refreshBanners, .payloadKey),
            Key("Braze", "UniqueIdKey", \.routing.detection.brazeKeys.uniqueID, .payloadKey),

            Key("Deadline", "Budget", \.routing.budget, .budget),
            Key("Deadline", "Objective", \.objective, Form.objective.optional),

            Key("Store", "Retention", \.store.retention, .timeSpan(.seconds(1) ... .seconds(3650 * 86_400))),
            Key("Store", "MaxSize", \.store.sizeMax, Form.byteSize(64 << 20...16 << 40).optional),
            Key(
                "Store", "DeadLetterRetention", \.store.deadLetterRetention,
                .timeSpan(.seconds(1) ... .seconds(3650 * 86_400))),
            Key("Store", "DeadLetterSizeMax", \.store.deadLetterSizeMax, .byteSize(0...16 << 40)),
            Key("Store", "LogSizeMax", \.store.logSizeMax, .byteSize(64 << 20...16 << 30)),
            Key("Store", "SlowCommit", \.store.slowCommit, .timeSpan(.milliseconds(1) ... .seconds(3600))),

            Key("Journal", "SuccessLevel", \.journal.successLevel, .choice),
            Key("Journal", "QueueMax", \.journal.queueMax, .integer(1...1_000_000)),

            Key("Tracker", "InfluencedWindow", \.routing.tracking.influencedWindow, .trackerTime),
            Key("Tracker", "InfluencedWindowRule", \.routing.tracking.windowRule, .choice),
            Key("Tracker", "InfluencedCredit", \.routing.tracking.influencedCredit, .choice),
            Key("Tracker", "Grace", \.routing.tracking.grace, .timeSpan(.zero ... .seconds(600))),
            Key("Tracker", "AndroidSessionTimeout", \.routing.tracking.androidSessionTimeout, .trackerTime),
            Key("Tracker", "IosSessionTimeout", \.routing.tracking.appleSessionTimeout, .trackerTime),
            Key("Tracker", "WebSessionTimeout", \.routing.tracking.webSessionTimeout, .trackerTime),
            Key("Tracker", "IosForeground", \.routing.tracking.reportsForeground, .boolean),
            Key("Tracker", "CampaignEventsOff", addingTo: \.routing.tracking.appsWithoutCampaignEvents, Form.glob.list),
            Key("Tracker", "CampaignIdRule", \.campaignIDRule, .choice),
            Key("Tracker", "Remember", \.routing.tracking.remember, .timeSpan(.seconds(1) ... .seconds(3650 * 86_400))),
            Key("Tracker", "RememberMax", \.routing.tracking.rememberMax, .integer(1...100_000_000)),
            Key("Tracker", "RememberUsersMax", \.routing.tracking.rememberUsersMax, .integer(1...100_000_000)),
            Key("Tracker", "EventTime", \.routing.customData.eventTime, .choice),

            // Who pastes a secret into one of these two must not find it in a message.
            Key("UsersTrack", "Endpoint", \.usersTrack.endpoint, Form.endpoint.optional, showsValue: false),
            Key("UsersTrack", "KeyFile", \.usersTrack.keyFile, Form.keyFile.optional, showsValue: false),
            Key(
                "UsersTrack", "BatchSize", \.usersTrack.batchSize,
                .integer(1...75, reason: ": /users/track refuses more of a kind")),
            Key("UsersTrack", "CombinedLimit", \.usersTrack.combinedLimit, Form.integer(1...150).optional),
            Key("UsersTrack", "Flush", \.usersTrack.flush, .timeSpan(.zero ... .seconds(60))),
            Key("UsersTrack", "RateLimit", \.usersTrack.rateLimit, .integer(1...1_000_000)),
            Key(
                "UsersTrack", "RateInterval", \.usersTrack.rateInterval,
                .timeSpan(.milliseconds(1) ... .seconds(86_400))),
            Key("UsersTrack", "Timeout", \.usersTrack.timeout, .timeSpan(.seconds(1) ... .seconds(600))),
            Key("UsersTrack", "Connections", \.usersTrack.connections, .integer(1...64)),
            Key("UsersTrack", "OnUnknown", \.routing.customData.onUnknown, .choice),
            Key("UsersTrack", "SendFlushed", \.routing.customData.sendsFlushed, .boolean),
            Key("UsersTrack", "MaxPending", \.routing.customData.pendingMax, .integer(1...100_000_000)),
            Key("UsersTrack", "MaxPendingSize", \.routing.customData.pendingSizeMax, .byteSize(64 << 10...16 << 30)),
            Key("UsersTrack", "ArrayElementsMax", \.routing.customData.arrayElementsMax, .integer(1...10_000)),
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
