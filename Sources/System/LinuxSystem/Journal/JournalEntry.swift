public import PushModel

/// One entry for the journal.
public struct JournalEntry: Sendable {
    /// The priority of an entry: the levels of syslog(3).
    public enum Priority: Int, CaseIterable, Sendable {
        case emergency, alert, critical, error, warning, notice, info, debug

        /// The full word for it.
        var name: String { Self.names[rawValue] }

        private static let names = allCases.map { "\($0)" }

        /// The word for it in systemd's programs, on `control.sock` and on D-Bus.
        public var word: String {
            switch self {
            case .emergency: "emerg"
            case .alert: "alert"
            case .critical: "crit"
            case .error: "err"
            case .warning: "warning"
            case .notice: "notice"
            case .info: "info"
            case .debug: "debug"
            }
        }

        /// - Parameter word: one of systemd's words; `nil` for any other.
        public init?(word: String) {
            guard let level = Self.allCases.first(where: { $0.word == word }) else { return nil }
            self = level
        }
    }

    /// A field of an entry besides the message.
    public struct Field: Sendable {
        /// Its name.
        public let name: FieldName
        /// Its value.
        public let value: Value

        /// Pairs a name and a text.
        public init(_ name: FieldName, _ text: String) {
            self.name = name
            value = .text(text)
        }

        /// Pairs a name and a number.
        public init(_ name: FieldName, _ number: some BinaryInteger) {
            self.name = name
            value = .integer(Int64(clamping: number))
        }
    }

    /// The value of a field. A number becomes text on the journal's thread only.
    public enum Value: Equatable, Sendable {
        case text(String)
        case integer(Int64)
    }

    /// The priority.
    public var priority: Priority
    /// One sentence for people.
    public var message: String
    /// The kind of event, if the catalog has it.
    public var messageID: MessageID?
    /// The fields for programs, in the order in which they are written.
    public var fields: [Field]
    /// Whether it is written at every level, because it explains missing entries.
    public var isWrittenAlways: Bool

    /// Returns whether it is written at a level.
    func isWritten(at level: Priority) -> Bool { isWrittenAlways || priority.rawValue <= level.rawValue }

    /// Joins the parts.
    public init(
        _ priority: Priority, _ message: String, messageID: MessageID? = nil, fields: [Field] = [],
        isWrittenAlways: Bool = false
    ) {
        self.priority = priority
        self.message = message
        self.messageID = messageID
        self.fields = fields
        self.isWrittenAlways = isWrittenAlways
    }
}

extension JournalEntry {
    /// The entry for an administrative act, without an id of a person. It is written at every level.
    public init(_ record: AuditRecord) {
        var fields = [
            Field(.act, record.subject.act.rawValue), Field(.entrance, record.entrance.rawValue),
            Field(.result, record.result.rawValue), Field(.times, record.times),
        ]
        if let what = record.subject.what { fields.append(Field(.object, what)) }
        if let uid = record.uid { fields.append(Field(.peer, uid)) }
        if let pid = record.pid { fields.append(Field(.peerProcess, pid)) }
        if let count = record.count { fields.append(Field(.count, count)) }
        if let reason = record.reason { fields.append(Field(.reason, reason)) }
        self.init(.notice, record.sentence, messageID: .audited, fields: fields, isWrittenAlways: true)
    }
}

/// The name of a journal field: capital letters, digits and underscores, 1 to 64 of them, beginning with a letter.
///
/// The journal silently drops fields with other names (systemd.journal-fields(7), `journal_field_valid`), so an invalid
/// name is a programming error and traps.
public struct FieldName: Hashable, Sendable {
    /// The name.
    public let text: String
    /// The name in logfmt: in lower case.
    let lowerCase: String

    /// - Parameter text: a valid name.
    init(_ text: String) {
        precondition(FieldName.isValid(text), "\(text) is not a name for a journal field")
        self.text = text
        lowerCase = text.lowercased()
    }

    static func isValid(_ text: String) -> Bool {
        guard let first = text.utf8.first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first else { return false }
        return text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension FieldName {
    /// The request's number in this state directory.
    public static let seq = FieldName("PUSH_SEQ")
    /// The invocation's place in its request, from 0.
    public static let invocation = FieldName("PUSH_N")
    /// The number of the request that this one replays.
    public static let replayOf = FieldName("PUSH_REPLAY_OF")
    /// The producer's id of the request.
    public static let id = FieldName("PUSH_ID")
    /// `android`, `ios` or `web`.
    public static let platform = FieldName("PUSH_PLATFORM")
    /// Package name or bundle id.
    public static let app = FieldName("PUSH_APP")
    /// The provider of the payload.
    public static let provider = FieldName("PUSH_PROVIDER")
    /// The platform's callback.
    public static let callback = FieldName("PUSH_CALLBACK")
    /// The route that matched.
    public static let route = FieldName("PUSH_ROUTE")
    /// The handler that ran.
    public static let handler = FieldName("PUSH_HANDLER")
    /// The outcome, a word of a closed set.
    public static let outcome = FieldName("PUSH_OUTCOME")
    /// The time from acceptance to the start of the handler, in microseconds.
    public static let queueMicroseconds = FieldName("PUSH_QUEUE_USEC")
    /// The time from the start of the handler to its end, in microseconds.
    public static let executionMicroseconds = FieldName("PUSH_EXEC_USEC")
    /// The time from acceptance to the outcome, in microseconds.
    public static let totalMicroseconds = FieldName("PUSH_TOTAL_USEC")
    /// The time from acceptance to the deadline, in microseconds.
    public static let deadlineMicroseconds = FieldName("PUSH_DEADLINE_USEC")
    /// 1 for the copy of an observing route.
    public static let observer = FieldName("PUSH_OBSERVER")
    /// The invocation that it waited for in its lane: the request's number and the place in it, `41/0`.
    public static let waitedFor = FieldName("PUSH_WAITED_FOR")
    /// The handler of the invocation that it waited for.
    public static let waitedForHandler = FieldName("PUSH_WAITED_FOR_HANDLER")
    /// The duration of that invocation's turn, in microseconds.
    public static let waitedForMicroseconds = FieldName("PUSH_WAITED_FOR_USEC")
    /// The number of invocations ahead of it in its lane at its arrival.
    public static let ahead = FieldName("PUSH_AHEAD")
    /// `device` or `relay`: the router's mode.
    public static let mode = FieldName("PUSH_MODE")
    /// The time of acceptance, in microseconds of Unix time; the clock is read to the millisecond.
    public static let acceptedAtMicroseconds = FieldName("PUSH_ACCEPTED_AT_USEC")
    /// 1 if the handler of the invocation had started.
    public static let started = FieldName("PUSH_STARTED")
    /// The reason, for people.
    public static let reason = FieldName("PUSH_REASON")
    /// The reason code, of a closed set.
    public static let reasonCode = FieldName("PUSH_REASON_CODE")
    /// The transport of a delivery.
    public static let transport = FieldName("PUSH_TRANSPORT")
    /// The priority with which a delivery was sent over FCM.
    public static let originalPriority = FieldName("PUSH_ORIGINAL_PRIORITY")
    /// The priority with which FCM delivered the delivery.
    public static let deliveredPriority = FieldName("PUSH_DELIVERED_PRIORITY")
    /// The number of outcomes since the daemon's start, with this one; outcomes without an entry count, too.
    public static let outcomeNumber = FieldName("PUSH_OUTCOME_NUMBER")
    /// The number of dropped entries.
    public static let dropped = FieldName("PUSH_DROPPED")
    /// The number of outcomes that an entry summarizes.
    public static let outcomes = FieldName("PUSH_OUTCOMES")
    /// The kind of the gap of the daemon.
    public static let gap = FieldName("PUSH_GAP")
    /// The begin of the gap, in microseconds of Unix time; the clock is read to the millisecond.
    public static let gapBeginMicroseconds = FieldName("PUSH_GAP_BEGIN_USEC")
    /// The end of the gap, in microseconds of Unix time.
    public static let gapEndMicroseconds = FieldName("PUSH_GAP_END_USEC")
    /// The reason of a client's refusal, of a closed set.
    public static let refusal = FieldName("PUSH_REFUSAL")
    /// The number of refusals that an entry summarizes.
    public static let refusals = FieldName("PUSH_REFUSALS")
    /// The rule of `producers.d` that refused the last of them.
    public static let rule = FieldName("PUSH_RULE")
    /// The number of rejected entries of custom data that an entry summarizes.
    public static let rejections = FieldName("PUSH_REJECTIONS")
    /// How many devices the entry counts.
    public static let devices = FieldName("PUSH_DEVICES")
    /// The user id of the client that an entry is about.
    public static let peer = FieldName("PUSH_PEER_UID")
    /// The process of that client.
    public static let peerProcess = FieldName("PUSH_PEER_PID")
    /// An administrative act, of a closed set.
    public static let act = FieldName("PUSH_ACT")
    /// The object of the act.
    public static let object = FieldName("PUSH_OBJECT")
    /// The way by which the act came, of a closed set.
    public static let entrance = FieldName("PUSH_ENTRANCE")
    /// `done` or `refused`.
    public static let result = FieldName("PUSH_RESULT")
    /// How many requests, entries or rows the act changed.
    public static let count = FieldName("PUSH_COUNT")
    /// How many such acts the entry stands for.
    public static let times = FieldName("PUSH_TIMES")
}

/// The kinds of events, each with the id by which `journalctl MESSAGE_ID=...` finds it and the message catalog
/// (`packaging/catalog/pushrouterd.catalog`) explains it. The ids are random; a released id never changes.
public enum MessageID: String, CaseIterable, Sendable {
    /// An invocation had its outcome in time.
    case outcome = "ad9eb882bbd1c83cf684c225a04c2a81"
    /// An invocation missed its deadline: `timed_out` or `expired`.
    case miss = "fdf4b3661109424cbd66d4bba36b3d34"
    /// An invocation ended in time, without success: `failed` or `unrouted`.
    case failure = "7d1c9be25a4e4d1f9a60c7f2be3a8054"
    /// The daemon is ready.
    case started = "c0b8a6be878da8eb52404fca55bc8182"
    /// The daemon continues the unfinished work of an earlier run.
    case recovered = "e3b8476d0f1b4c0d8f5ce27a91d36b4c"
    /// The daemon has begun to stop.
    case stopping = "2810d340f19a035d366e5fa6f29b719e"
    /// The daemon ends: no outcome follows.
    case stopped = "4c2fa914e05d4f4f8cf2f4b33db32ca1"
    /// A new configuration is in force.
    case reloaded = "efeca6acd58f953473f6fc0979b52dc2"
    /// A new configuration was refused; the last good one stays in force.
    case reloadFailed = "4731c6261ea168910d23f5814698302a"
    /// Entries were dropped because the journal did not accept them fast enough.
    case entriesDropped = "df5fefc0fff7c5e9a51211bf7291ba91"
    /// A commit takes longer than `SlowCommit=`: requests wait for it.
    case storeSlow = "121bb79d36a387e81705d5c459f486af"
    /// Commits are within `SlowCommit=` again.
    case storeFast = "f341fbce5a8e4a0f9213815c2329f415"
    /// Nothing can be written now: the disk or the log is full.
    case storeStalled = "9dd3644c9dc54e72995d896212c3f22a"
    /// Writing works again.
    case storeResumed = "05d21616597c469c9eeb012e6bd76cde"
    /// The wall clock was set while the daemon ran: nothing is deleted by its time.
    case clockStepped = "c92f23a52e93415b97c3d838f86098e9"
    /// A gap: the daemon was down, the clock was set, the machine was suspended or the disk stalled, with begin and
    /// end.
    case gap = "99cd294cf08241798e4e3f936c6dc2e6"
    /// This machine now leads a shared log.
    case leads = "5d0c4c1e8a5b4d0e9b6f2f6f5a3c9e17"
    /// This machine follows a shared log; another machine leads it, or none does.
    case follows = "b6a1f0e2c7d94a5fb9ed3f8a44c0d2b1"
    /// Another machine leads the shared log: this one makes no further acknowledgement, and ends.
    case fenced = "e17f6c0c2d8e4b43a6d1905c7b3f2a68"
    /// No copy of the ledger could be written to the database that machines share.
    case snapshotFailed = "0f6b7e0d51c94a7f8a3e2d6c94b1e7a5"
    /// A log was damaged; the daemon has begun another.
    case logSetAside = "e86786c7635541b6a39c4390ae442de1"
    /// Ledger and log had another format; the daemon has begun new ones.
    case formatSetAside = "6c0f8f2d1f6a4b0a9d0c6a1e2f7b4d35"
    /// A client's request or connection was refused.
    case refused = "85a6d5f7954b48f282ea9d3c0e0bd4c2"
    /// Successes have no entries of their own, because there were too many; this entry sums them up.
    case outcomesSummed = "3b2fb7bf8ac14822b95d42f339ec63d7"
    /// A handler repeatedly failed to answer: it gets no invocations for a while.
    case breakerOpened = "4ad6a8b6fb124aa281525b7e2b2ba8da"
    /// A handler whose breaker was open answers again.
    case breakerClosed = "9b0e6f0d5c1f4a37a6b1d1e6c7a2f4d8"
    /// The endpoint refuses the entries sent to it: sending stops until a person has fixed the cause.
    case sendingStopped = "a971ceb7df0442ef8971856725c52365"
    /// Sending waits after a failure, or for the rate limit.
    case sendingWaits = "857cf3ca156b4d81b8ddfd613ba0e714"
    /// Sending continues after a wait or a stop.
    case sendingResumed = "0dc3f839353c440cbf744ca5ebb5398a"
    /// The endpoint refused entries of custom data; they are kept and not sent.
    case entriesRejected = "070400ba0fbe4d7eaa28a4f5b7f5aaca"
    /// Entries of custom data broke a rule and were rejected on arrival.
    case customDataRejected = "5b0f9c1c3a694d0d8c7a4e6a90f2be71"
    /// The memory of devices is full, and devices with a token or a topic were forgotten.
    case devicesEvicted = "c36be3b1b6f94d86a5f20dc38d7e41f9"
    /// Entries of custom data were sent, and it is unknown whether the endpoint accepted them.
    case entriesUnknown = "e680936ef1914e368d7e8701ff61ebb5"
    /// A person was erased: ledger and log have no data that names the person.
    case erased = "f230e7a82c1f08038eba3825e09192d1"
    /// An administrative act: who did what, on how many, and with which result.
    case audited = "d1734b3d583e43319b3efad578363d02"
    /// An erasure waits for a reader of the ledger, or for room.
    case erasureWaits = "f8167527753c9965f6296863b278f7ee"
    /// Requests were deleted before the end of their retention, because the ledger was larger than its limit.
    case prunedBySize = "434a9e69ab18b0eff28fc83ac83c92bf"
}
