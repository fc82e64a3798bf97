public import PushModel

/// An entry of the journal that counts in a report.
public struct JournalRecord: Hashable, Sendable {
    /// The kind of entry, by its message id.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// The end of an invocation.
        case outcome
        /// Successes without entries of their own, because there were too many.
        case summed
        /// Entries that the daemon dropped because the journal did not accept them.
        case dropped
        /// Entries that journald dropped.
        case suppressed
        /// The daemon is ready.
        case started
        /// The daemon begins to stop.
        case stopping
        /// The daemon has ended.
        case stopped
        /// The wall clock was set.
        case clockStepped
        /// The log cannot be written for now.
        case storeStalled
        /// A gap of the daemon is over.
        case gap
        /// The machine comes back from a suspension.
        case resumed
    }

    /// The kind of entry.
    public var kind: Kind
    /// The time at which journald received it.
    public var time: WallTime
    /// The run of the daemon: a text that all entries of the run share, and no other entry has.
    public var run: String
    /// The path of the program that wrote it, according to the kernel.
    public var program: String?
    /// The cgroup of that program, according to the kernel.
    public var cgroup: String?
    /// Whether a program of the unit, the daemon or a handler, wrote it.
    public var isUnits: Bool
    /// The values of ``fields`` that the entry has.
    public var values: [String: String]

    /// Joins the fields.
    public init(
        kind: Kind, time: WallTime, run: String, program: String? = nil, cgroup: String? = nil,
        isUnits: Bool = false, values: [String: String] = [:]
    ) {
        self.kind = kind
        self.time = time
        self.run = run
        self.program = program
        self.cgroup = cgroup
        self.isUnits = isUnits
        self.values = values
    }

    /// The required fields.
    public static let fields =
        ReportRow.journalFields + ["PUSH_OUTCOME_NUMBER", "PUSH_OUTCOMES", "PUSH_DROPPED", "N_DROPPED"] + gapFields

    private static let gapFields = ["PUSH_GAP", "PUSH_GAP_BEGIN_USEC", "PUSH_GAP_END_USEC"]

    /// Returns the gap that the entry reports.
    ///
    /// - Throws: for a missing or invalid field.
    func gap() throws(JournalFieldError) -> DaemonGap {
        let fields = JournalFields(values)
        return DaemonGap(
            try fields.word(Self.gapFields[0]),
            begin: WallTime(milliseconds: try fields.number(Self.gapFields[1]) / 1000),
            end: WallTime(milliseconds: try fields.number(Self.gapFields[2]) / 1000))
    }

    /// Whether the daemon itself wrote the entry. Its handlers are in the same unit and may write any field. Their
    /// programs have other names, and their cgroups, if they have any, are below `runs`.
    var isDaemons: Bool {
        guard let program else { return false }
        let name = program.split(separator: "/").last.map(String.init) ?? ""
        let isInRun = cgroup?.split(separator: "/").contains("runs") ?? false
        return ["pushrouterd", "pushrouterd (deleted)"].contains(name) && !isInRun
    }
}

/// The error of a journal entry that does not make a row.
public struct JournalFieldError: Error, Hashable, Sendable {
    /// The missing or invalid field.
    public let field: String
}

extension ReportRow {
    /// Reads the journal entry of an outcome. The journal has no device, no id of the payload and no completion.
    ///
    /// - Parameters:
    ///   - fields: the values by field name.
    ///   - decidedAt: the time of the entry.
    /// - Throws: the first missing or invalid field. An entry of an earlier version, or of another program, lacks some.
    public init(journal fields: [String: String], decidedAt: WallTime) throws(JournalFieldError) {
        let entry = JournalFields(fields)
        let waitedFor = try entry.waitedFor()
        let result = InvocationResult(
            outcome: try entry.word("PUSH_OUTCOME"), reason: fields["PUSH_REASON"],
            reasonCode: try entry.optionalWord("PUSH_REASON_CODE"), queue: try entry.span("PUSH_QUEUE_USEC"),
            exec: try entry.span("PUSH_EXEC_USEC"), total: try entry.span("PUSH_TOTAL_USEC"), completion: nil,
            waitedFor: waitedFor, ahead: try entry.optionalNumber("PUSH_AHEAD").map { Int($0) },
            decidedAt: decidedAt)
        let id = InvocationID(
            seq: SequenceNumber(try entry.number("PUSH_SEQ")), n: Int(try entry.number("PUSH_N")))
        self.init(
            invocation: InvocationRecord(
                id: id, callback: try entry.word("PUSH_CALLBACK"),
                isObserver: try entry.optionalNumber("PUSH_OBSERVER") == 1, provider: fields["PUSH_PROVIDER"],
                route: fields["PUSH_ROUTE"], handler: fields["PUSH_HANDLER"],
                budget: try entry.span("PUSH_DEADLINE_USEC"), deadline: nil,
                started: try entry.optionalNumber("PUSH_STARTED") == 1, result: result),
            mode: try entry.word("PUSH_MODE"), platform: try entry.word("PUSH_PLATFORM"), app: fields["PUSH_APP"],
            device: nil, id: fields["PUSH_ID"], messageID: nil,
            acceptedAt: WallTime(milliseconds: try entry.number("PUSH_ACCEPTED_AT_USEC") / 1000),
            transport: try entry.optionalWord("PUSH_TRANSPORT"),
            originalPriority: try entry.optionalWord("PUSH_ORIGINAL_PRIORITY"),
            deliveredPriority: try entry.optionalWord("PUSH_DELIVERED_PRIORITY"),
            replayOf: try entry.optionalNumber("PUSH_REPLAY_OF").map { SequenceNumber($0) })
    }

    /// The fields that ``init(journal:)`` reads.
    static let journalFields = [
        "PUSH_OUTCOME", "PUSH_REASON", "PUSH_REASON_CODE", "PUSH_QUEUE_USEC", "PUSH_EXEC_USEC", "PUSH_TOTAL_USEC",
        "PUSH_AHEAD", "PUSH_SEQ", "PUSH_N", "PUSH_CALLBACK", "PUSH_OBSERVER", "PUSH_PROVIDER", "PUSH_ROUTE",
        "PUSH_HANDLER", "PUSH_DEADLINE_USEC", "PUSH_STARTED", "PUSH_MODE", "PUSH_PLATFORM", "PUSH_APP", "PUSH_ID",
        "PUSH_ACCEPTED_AT_USEC", "PUSH_TRANSPORT", "PUSH_ORIGINAL_PRIORITY", "PUSH_DELIVERED_PRIORITY",
        "PUSH_REPLAY_OF", "PUSH_WAITED_FOR", "PUSH_WAITED_FOR_HANDLER", "PUSH_WAITED_FOR_USEC",
    ]
}

/// The values of fields, converted to their types.
struct JournalFields {
    /// More than any daemon writes, and small enough that sums of such values do not overflow.
    private static let most: Int64 = 1 << 53

    private let fields: [String: String]

    init(_ fields: [String: String]) { self.fields = fields }

    func number(_ name: String) throws(JournalFieldError) -> Int64 {
        guard let number = try optionalNumber(name) else { throw JournalFieldError(field: name) }
        return number
    }

    /// Returns an integer from 0; `nil` for a missing field.
    func optionalNumber(_ name: String) throws(JournalFieldError) -> Int64? {
        guard let text = fields[name] else { return nil }
        return try Self.number(text[...], name)
    }

    func span(_ name: String) throws(JournalFieldError) -> Duration { .microseconds(try number(name)) }

    func word<Word: RawRepresentable<String>>(_ name: String) throws(JournalFieldError) -> Word {
        guard let word: Word = try optionalWord(name) else { throw JournalFieldError(field: name) }
        return word
    }

    /// Returns a word of a closed set; `nil` for a missing field.
    func optionalWord<Word: RawRepresentable<String>>(_ name: String) throws(JournalFieldError) -> Word? {
        guard let text = fields[name] else { return nil }
        guard let word = Word(rawValue: text) else { throw JournalFieldError(field: name) }
        return word
    }

    /// Parses `41/0`, with the facts of its other fields; `nil` if the invocation did not wait.
    func waitedFor() throws(JournalFieldError) -> Predecessor? {
        let name = "PUSH_WAITED_FOR"
        guard let text = fields[name] else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw JournalFieldError(field: name) }
        let id = InvocationID(
            seq: SequenceNumber(try Self.number(parts[0], name)), n: Int(try Self.number(parts[1], name)))
        return Predecessor(
            id: id, handler: fields["PUSH_WAITED_FOR_HANDLER"],
            took: try optionalNumber("PUSH_WAITED_FOR_USEC").map { .microseconds($0) })
    }

    private static func number(_ text: Substring, _ name: String) throws(JournalFieldError) -> Int64 {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(text), number <= most
        else { throw JournalFieldError(field: name) }
        return number
    }
}
