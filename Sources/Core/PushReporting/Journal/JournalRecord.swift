public import PushModel

/// An entry of the journal that a report is made of.
public struct JournalRecord: Hashable, Sendable {
    /// What an entry says; by its message id.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// The end of an invocation.
        case outcome
        /// Successes that have no entry of their own, because there were too many.
        case summed
        /// Entries that the daemon dropped, because the journal did not take them.
        case dropped
        /// Entries that journald dropped.
        case suppressed
        /// The daemon is ready.
        case started
        /// The daemon begins to stop.
        case stopping
        /// The daemon has ended.
        case stopped
        /// The clock was set.
        case clockStepped
        /// Nothing can be written for now.
        case storeStalled
        /// A gap of the daemon is over.
        case gap
        /// The machine comes back from a suspension.
        case resumed
    }

    /// What it says.
    public var kind: Kind
    /// When journald took it.
    public var time: WallTime
    /// One run of the daemon: the same text in all its entries, another one in those of any other run.
    public var run: String
    /// The path of the program that wrote it, as the kernel says.
    public var program: String?
    /// Its cgroup, as the kernel says.
    public var cgroup: String?
    /// Whether a program of the unit wrote it: the daemon or a handler.
    public var isUnits: Bool
    /// The values of ``fields``, those that it has.
    public var values: [String: String]

    /// Joins the parts.
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

    /// The fields whose values are needed.
    public static let fields =
        ReportRow.journalFields + ["PUSH_OUTCOME_NUMBER", "PUSH_OUTCOMES", "PUSH_DROPPED", "N_DROPPED"] + gapFields

    private static let gapFields = ["PUSH_GAP", "PUSH_GAP_BEGIN_USEC", "PUSH_GAP_END_USEC"]

    /// The gap that it tells of.
    ///
    /// - Throws: for a field that is missing or has no such value.
    func gap() throws(JournalFieldError) -> DaemonGap {
        let fields = JournalFields(values)
        return DaemonGap(
            try fields.word(Self.gapFields[0]),
            begin: WallTime(milliseconds: try fields.number(Self.gapFields[1]) / 1000),
            end: WallTime(milliseconds: try fields.number(Self.gapFields[2]) / 1000))
    }

    /// Whether the daemon itself wrote it. Its handlers are in the same unit, run as the same user, and may write any
    /// field: their program has another name, and where they have cgroups of their own these are below `runs`.
    var isDaemons: Bool {
        guard let program else { return false }
        let name = program.split(separator: "/").last.map(String.init) ?? ""
        let isInRun = cgroup?.split(separator: "/").contains("runs") ?? false
        return ["pushrouterd", "pushrouterd (deleted)"].contains(name) && !isInRun
    }
}
