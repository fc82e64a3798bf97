import Glibc
import LedgerReports
import LinuxSystem
import PushModel
import PushViews

/// The journal, and the unit whose entries make a report.
struct JournalSelection {
    /// The unit of the service that is installed.
    private static let installedUnit = "pushrouterd.service"

    /// The directory of the journal; `nil`: this machine's.
    let directory: String?
    /// The unit that wrote the entries.
    let unit: String
    /// Whether the unit belongs to this user's service manager.
    private let isUsers: Bool

    /// - Returns: `nil` without `--from-journal`.
    init?(_ arguments: Arguments) throws(Failure) {
        guard arguments.has(.fromJournal) else {
            let others = [Option.journalDirectory, .unit, .userUnit]
            guard let option = others.first(where: arguments.has) else { return nil }
            throw arguments.usageFailure("--\(option.name) needs --from-journal")
        }
        if arguments.has(.unit), arguments.has(.userUnit) {
            throw arguments.usageFailure("--unit and --user-unit exclude each other")
        }
        directory = arguments[.journalDirectory]
        isUsers = arguments.has(.userUnit)
        let name = arguments[.userUnit] ?? arguments[.unit] ?? Self.installedUnit
        // As in systemctl, a name without a suffix is a service's.
        unit = [".service", ".scope"].contains(where: name.hasSuffix) ? name : name + ".service"
    }

    /// The field in which entries of journald name the unit that they are about.
    fileprivate var objectField: String { isUsers ? "OBJECT_SYSTEMD_USER_UNIT" : "OBJECT_SYSTEMD_UNIT" }

    /// The fields of an entry's origin. journald itself writes them, and no program can forge them.
    fileprivate var origin: [(name: String, values: [String])] {
        isUsers
            ? [("_SYSTEMD_USER_UNIT", [unit])] + (directory == nil ? [("_UID", [String(geteuid())])] : [])
            : [("_SYSTEMD_UNIT", [unit])]
    }
}

/// Makes a report from entries of the journal. It keeps no entry, only the sums of the figures.
struct JournalReading {
    private var figures: ReportReading
    private var facts: JournalFacts
    private let window: ReportWindow
    private let unit: String
    /// Called with each row of the window, in the order of the journal.
    private let body: (ReportRow) -> Void

    /// Reads the entries of a window.
    ///
    /// - Parameters:
    ///   - selection: the journal, and the unit of the entries.
    ///   - figures: the empty figures.
    ///   - body: called with each row, in the order of the journal.
    /// - Returns: the figures, with the facts about their source.
    static func read(
        _ selection: JournalSelection, _ figures: ReportReading, body: @escaping (ReportRow) -> Void = { _ in }
    ) throws(Failure) -> ReportReading {
        do throws(SystemError) {
            let reader = try JournalReader(directory: selection.directory)
            try reader.matchOwn(selection)
            guard try reader.hasMatch() else { throw Self.nothing(selection) }
            try reader.matchOthers(selection)
            let begin = reader.beginMicroseconds.map { WallTime(milliseconds: Int64(clamping: $0 / 1000)) }
            var reading = JournalReading(
                figures: figures,
                facts: JournalFacts(unit: selection.unit, directory: selection.directory, begin: begin),
                window: figures.report.window, unit: selection.unit, body: body)
            try reader.read(from: reading.firstTime, fields: Self.fields) { reading.add($0) }
            reading.figures.report.source = .journal(reading.facts)
            return reading.figures
        } catch {
            throw Self.failure(error, selection)
        }
    }

    /// The begin of reading in microseconds: `lookBack` before the window, or the begin of the burn rates' windows;
    /// `nil`: the begin of the journal. The entry before the window has the number from which on outcomes are missing.
    /// If the clock was set back, an entry may have an earlier time than the acceptance of its request.
    private var firstTime: UInt64? {
        guard let since = window.since?.milliseconds else { return nil }
        let first = min(since - Self.lookBack, figures.rates?.begins.min()?.milliseconds ?? since)
        return UInt64(clamping: max(0, first)) * 1000
    }

    /// An hour, in milliseconds.
    private static let lookBack: Int64 = 3_600_000

    private static let fields = Set(JournalRecord.fields).union([
        "MESSAGE_ID", "_SYSTEMD_INVOCATION_ID", "_PID", "_EXE", "_SYSTEMD_CGROUP", "_SYSTEMD_UNIT",
        "_SYSTEMD_USER_UNIT",
    ])

    private mutating func add(_ entry: JournalReader.Entry) {
        guard let kind = entry.values["MESSAGE_ID"].flatMap({ JournalRecord.Kind.byMessageID[$0] }) else { return }
        let run = "\(entry.values["_SYSTEMD_INVOCATION_ID"] ?? "")/\(entry.values["_PID"] ?? "")"
        let record = JournalRecord(
            kind: kind, time: WallTime(milliseconds: Int64(clamping: entry.realtimeMicroseconds / 1000)), run: run,
            program: entry.values["_EXE"], cgroup: entry.values["_SYSTEMD_CGROUP"],
            isUnits: [entry.values["_SYSTEMD_UNIT"], entry.values["_SYSTEMD_USER_UNIT"]].contains(unit),
            values: entry.values)
        guard let row = facts.take(record, in: window) else { return }
        figures.rates?.add(row)
        guard window.contains(row.acceptedAt) else { return }
        figures.report.add(unordered: row)
        figures.detail.add(row)
        body(row)
    }

    private static func failure(_ error: SystemError, _ selection: JournalSelection) -> Failure {
        let place = selection.directory ?? "this machine's journal"
        let status: ExitStatus =
            switch error.errno {
            case ENODATA, ENOENT, ENOTDIR: .noInput
            case EACCES, EPERM: .noPermission
            default: .inputOutput
            }
        guard error.errno != ENODATA else {
            return Failure(
                status,
                """
                \(place): there is no entry of \(selection.unit) that this user can read
                root and members of the group systemd-journal read all entries; --unit UNIT names another unit
                """)
        }
        return Failure(status, "\(place): \(error)")
    }

    /// The error for a journal without a matching entry.
    private static func nothing(_ selection: JournalSelection) -> SystemError {
        SystemError(operation: "find an entry of \(selection.unit)", errno: ENODATA)
    }
}

extension JournalReader {
    /// Matches the unit's own entries that a report needs.
    fileprivate func matchOwn(_ selection: JournalSelection) throws(SystemError) {
        let own = JournalRecord.Kind.byMessageID.filter { ![.suppressed, .resumed].contains($0.value) }.keys.sorted()
        try alsoMatch(selection.origin + [("MESSAGE_ID", own)])
    }

    /// Matches the entries of journald and of systemd that a report needs.
    fileprivate func matchOthers(_ selection: JournalSelection) throws(SystemError) {
        // journald's own entries belong to no unit: OBJECT_SYSTEMD_UNIT names the unit that they are about.
        try alsoMatch([
            ("_TRANSPORT", ["driver"]), (selection.objectField, [selection.unit]),
            ("MESSAGE_ID", [JournalRecord.Kind.suppressedID]),
        ])
        try alsoMatch([("_UID", ["0"]), ("MESSAGE_ID", [JournalRecord.Kind.resumedID])])
    }
}

extension JournalRecord.Kind {
    /// `SD_MESSAGE_JOURNAL_DROPPED` of sd-messages.h.
    fileprivate static let suppressedID = "a596d6fe7bfa4994828e72309e95d61e"
    /// `SD_MESSAGE_SLEEP_STOP` of sd-messages.h.
    fileprivate static let resumedID = "8811e6df2a8e40f58a94cea26f8ebf14"

    /// The kinds of entries by their message ids.
    fileprivate static let byMessageID: [String: JournalRecord.Kind] = {
        let own: [(MessageID, JournalRecord.Kind)] = [
            (.outcome, .outcome), (.miss, .outcome), (.failure, .outcome), (.outcomesSummed, .summed),
            (.entriesDropped, .dropped), (.started, .started), (.stopping, .stopping), (.stopped, .stopped),
            (.clockStepped, .clockStepped), (.storeStalled, .storeStalled), (.gap, .gap),
        ]
        var kinds = Dictionary(uniqueKeysWithValues: own.map { ($0.rawValue, $1) })
        kinds[suppressedID] = .suppressed
        kinds[resumedID] = .resumed
        return kinds
    }()
}
