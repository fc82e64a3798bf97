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
