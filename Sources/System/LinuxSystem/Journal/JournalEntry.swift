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
    /// The number of rejected entries of custom data that an entry summarizes.
    public static let rejections = FieldName("PUSH_REJECTIONS")
    /// How many devices the entry counts.
    public static let devices = FieldName("PUSH_DEVICES")
    /// The user id of the client that an entry is about.
    public static let peer = FieldName("PUSH_PEER_UID")
}
