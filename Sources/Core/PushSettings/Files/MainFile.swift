public import PushModel
import PushRouter

extension Settings: Fillable {}

extension Schema<Settings> {
    /// `pushrouterd.conf` and its drop-ins.
    static let main = Schema(
        keys: .daemonSection + .dispatchSection + .brazeSection + .deadlineSection + .storeSection + .sharedLogKeys
            + .journalSection
            + .trackerSection + .usersTrackSection,
        objection: objectionToSecret)
}

/// Returns the objection to a key that seems to hold the API key itself in a file that others can read.
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
    static let trackerTime = timeSpan(.seconds(1) ... .seconds(30 * 86_400))

    /// The budget of an invocation. The platform's rule is 9 s, so the configuration can only shorten it.
    static let budget = timeSpan(
        .milliseconds(1) ... .seconds(9), reason: ": push callbacks must be done within 9s, by Braze's rule for apps")
}

extension Form<Percent> {
    /// A share of due invocations, below 100 %, so that there is an error budget.
    static let objective = Form { text throws(ValueError) in
        guard let percent = Percent(text), percent.millionths > 0, percent.millionths < 100_000_000 else {
            throw ValueError("must be a percentage above 0 and below 100, such as 99.9%")
        }
        return percent
    }
}

extension Form<[PresentationOption]?> {
    /// Apple's names of presentation options, or `none`; without a text the default applies.
    static let presentation = Form { text throws(ValueError) in
        text == "none" ? [] : try Form<PresentationOption>.choice.list.parse(text)
    }
}

extension Form<String> {
    /// A group's name or number, with the names that `groupadd` accepts.
    static let groupName = Form { text throws(ValueError) in
        guard text.utf8.allSatisfy({ $0.isNameByte }), text.utf8.first != UInt8(ascii: "-") else {
            throw ValueError("must be the name or number of a group")
        }
        return text
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

extension [Key<Settings>] {
    static var sharedLogKeys: [Key<Settings>] {
        [
            Key(
                "Store", "Log", { $1(&$0.store.shared.database) }, Form.databaseURI.optional, showsValue: false,
                reload: .restart,
                meaning: """
                    The PostgreSQL database that has the log of several machines, as a connection URI such as \
                    `postgresql://push@a.example,b.example/push`. One of the machines leads and acknowledges a request \
                    when the database has committed it; the others follow, and one of them takes over. Only \
                    pushrouterd-fleet(8) accepts this setting. Write no password into the URI: `passfile=` names a \
                    file. Default: the log is in the state directory, and this machine runs alone.
                    """),
            Key(
                "Store", "Durability", { $1(&$0.store.shared.durability) }, .choice, reload: .restart,
                default: "standby",
                meaning: """
                    The part that keeps an acknowledged request when the database's machine is lost: `standby`, a \
                    synchronous standby, so the leader acknowledges no request while `synchronous_standby_names` is \
                    empty; or `engine`, the service itself, as you declare, such as a managed database that replicates \
                    below PostgreSQL.
                    """),
            Key(
                "Store", "Node", { $1(&$0.store.shared.node) }, Form.nodeName.optional, reload: .restart,
                meaning: """
                    The name of this machine among those that share the log: letters, digits, `.`, `-` and `_`, at most 32. \
                    Default: the host name.
                    """),
            Key(
                "Store", "Lease", { $1(&$0.store.shared.lease) }, .timeSpan(.milliseconds(500) ... .seconds(60)),
                reload: .restart, default: "3s",
                meaning: """
                    The time without an answer of the database after which another machine takes over from the leader, \
                    500ms to 1min, the same on all machines. After this time the leader starts no handler until the \
                    database confirms the lease.
                    """),
            Key(
                "Store", "SnapshotEvery", { $1(&$0.store.shared.snapshotInterval) },
                .timeSpan(.seconds(1) ... .seconds(30 * 86_400)), reload: .restart, default: "1d",
                meaning: """
                    The maximum age of the newest copy of the ledger in the database, 1s to 30d. A follower writes the \
                    copy, or the leader if no machine follows; also after 8 GiB of new batches. The database keeps two \
                    copies. The leader deletes batches from the log that are before the older copy and older than ten \
                    minutes, so a machine without a ledger reads the batches of about one interval after a copy. A \
                    copy needs free space of the ledger's size in the state directory while the machine writes it.
                    """),
            Key(
                "Store", "SnapshotRate", { $1(&$0.store.shared.snapshotRate) }, .byteSize(64 << 10...1 << 30),
                reload: .restart, default: "16M",
                meaning: """
                    The maximum number of bytes of that copy that the machine sends to the database in a second, 64K \
                    to 1G, and then reads back.
                    """),
        ]
    }
}

extension [Key<Settings>] {
    static var usersTrackSection: [Key<Settings>] {
        [
            // Messages never show the values of the first two: a user may have pasted a secret there.
            Key(
                "UsersTrack", "Endpoint", { $1(&$0.usersTrack.endpoint) }, Form.endpoint.optional, showsValue: false,
                meaning: """
                    The address of the Braze instance, such as `https://rest.fra-01.braze.eu`, with or without \
                    `/users/track`; while it is empty the forwarder sends nothing, and the entries wait. Only `https`, \
                    but for localhost, 127.0.0.0/8 and [::1].
                    """),
            Key(
                "UsersTrack", "KeyFile", { $1(&$0.usersTrack.keyFile) }, Form.secretFile.optional, showsValue: false,
                meaning: """
                    The absolute path of a file that has nothing but the API key and that only its owner can read; never put \
                    the key itself into the configuration. Default: empty; the systemd credential `users-track-key`.
                    """),
            Key(
                "UsersTrack", "BatchSize", { $1(&$0.usersTrack.batchSize) },
                .integer(1...75, reason: ": /users/track refuses more of a kind"), default: "75",
                meaning: "The maximum number of events, and of attribute objects, in one request, 1 to 75."),
            Key(
                "UsersTrack", "CombinedLimit", { $1(&$0.usersTrack.combinedLimit) }, Form.integer(1...150).optional,
                meaning: """
                    The maximum number of events and attribute objects together in one request, 1 to 150; some of \
                    Braze's plans allow 50. Default: empty; no such limit.
                    """),
            Key(
                "UsersTrack", "Flush", { $1(&$0.usersTrack.flush) }, .timeSpan(.zero ... .seconds(60)), default: "1s",
                meaning: "The time for which the first entry of a request waits for others, up to 1min."),
            Key(
                "UsersTrack", "RateLimit", { $1(&$0.usersTrack.rateLimit) }, .integer(1...1_000_000), default: "3000",
                meaning: "The maximum number of requests in an interval: 1 to 1000000 in 1ms to 1d."),
            Key(
                "UsersTrack", "RateInterval", { $1(&$0.usersTrack.rateInterval) },
                .timeSpan(.milliseconds(1) ... .seconds(86_400)), default: "3s"),
            Key(
                "UsersTrack", "Timeout", { $1(&$0.usersTrack.timeout) }, .timeSpan(.seconds(1) ... .seconds(600)),
                default: "30s",
                meaning: "The maximum time of a request, from the connection to the end of its answer, 1s to 10min."),
            Key(
                "UsersTrack", "Connections", { $1(&$0.usersTrack.connections) }, .integer(1...64), default: "2",
                meaning: "The maximum number of requests under way at once, 1 to 64."),
            Key(
                "UsersTrack", "OnUnknown", { $1(&$0.routing.customData.onUnknown) }, .choice, default: "hold",
                meaning: """
                    The treatment of an entry that was sent and whose answer was lost: `hold` keeps the entry until a \
                    person decides, `retry` sends it again. `/users/track` does not recognize repeated entries: an \
                    entry that is sent again may count twice, and cannot be taken back.
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
                    The maximum number of waiting entries, in suites and to be sent, 1 to 100000000, and the maximum \
                    size of their names and values, 64K to 16G. Beyond it the daemon refuses new entries with \
                    `overloaded`.
                    """),
            Key(
                "UsersTrack", "MaxPendingSize", { $1(&$0.routing.customData.pendingSizeMax) },
                .byteSize(64 << 10...16 << 30), default: "64M"),
            Key(
                "UsersTrack", "ArrayElementsMax", { $1(&$0.routing.customData.arrayElementsMax) }, .integer(1...10_000),
                default: "500",
                meaning: """
                    The maximum number of elements of an array in a custom attribute, 1 to 10000: the limit of your \
                    Braze workspace.
                    """),
        ]
    }
}
