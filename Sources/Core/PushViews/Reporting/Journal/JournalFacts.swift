public import PushModel

/// The facts of a journal beside the figures: its number of entries, and its gaps.
///
/// The caller passes entries one by one, in the order in which journald received them.
public struct JournalFacts: Hashable, Sendable {
    /// The name of the unit that wrote the entries.
    public let unit: String
    /// The directory of the journal; `nil`: this machine's journal.
    public let directory: String?
    /// The time of the journal's oldest entry of any program; `nil` if unknown.
    public let begin: WallTime?
    /// Entries of outcomes that the report counts.
    public private(set) var entries = 0
    /// The times of the first and of the last entry that was read.
    public private(set) var first: WallTime?
    public private(set) var last: WallTime?

    /// The number of outcomes without an entry, by the numbers in adjacent entries.
    private var lacking = 0
    /// The number of these that the daemon reports as left out because there were too many.
    private var summed = 0
    private var dropped = 0
    private var suppressed = 0
    /// The number of entries dropped since the last number: whether outcomes were among them is not known yet.
    private var unproven = 0
    /// The number of the unit's entries from other programs, and of entries without the required fields.
    private var foreign = 0
    private var unreadable = 0
    /// The number of runs that ended without saying so, and of times without a daemon.
    private var unended = 0
    private var absences = 0
    private var absent: Duration = .zero
    private var clockSteps = 0
    private var stalls = 0
    private var suspensions = 0
    /// The last gaps that overlap the window; at most as many as the ledger keeps.
    private(set) var daemonGaps: [DaemonGap] = []
    private static let daemonGapsMax = 4096

    private var run: Run?
    /// The names of handlers, routes and providers so far. The configuration has tens, but an entry may have any text.
    private var names: Set<String> = []

    /// The most names to count, and the longest name in bytes.
    private static let namesMax = 1000
    private static let nameLengthMax = 1024

    /// The current run of the daemon.
    private struct Run: Hashable {
        let name: String
        /// The highest number of an outcome; `nil` before the first outcome.
        var number: Int64?
        var hasStopped = false
        var last: WallTime
    }

    /// Facts without entries.
    public init(unit: String, directory: String? = nil, begin: WallTime? = nil) {
        self.unit = unit
        self.directory = directory
        self.begin = begin
    }

    /// Adds the next entry.
    ///
    /// - Parameters:
    ///   - record: the entry.
    ///   - window: the time of acceptance that the report covers. An entry without an outcome counts by its own time.
    /// - Returns: the row of an outcome, even outside the window; `nil` for other entries.
    public mutating func take(_ record: JournalRecord, in window: ReportWindow) -> ReportRow? {
        let isInside = window.contains(record.time)
        switch record.kind {
        case .suppressed where !record.isUnits:
            if isInside {
                Self.add(record, "N_DROPPED", to: &suppressed)
                unproven += 1
            }
            return nil
        case .resumed where !record.isUnits:
            if isInside { suspensions += 1 }
            return nil
        case .suppressed, .resumed:
            if isInside { foreign += 1 }
            return nil
        case .outcome, .summed, .dropped, .started, .stopping, .stopped, .clockStepped, .storeStalled, .gap: break
        }
        guard record.isDaemons else {
            if isInside { foreign += 1 }
            return nil
        }
        if isInside {
            first = first ?? record.time
            last = record.time
        }
        follow(record, isInside, window)
        switch record.kind {
        case .outcome: return row(record, isInside, window)
        case .summed: if isInside { Self.add(record, "PUSH_OUTCOMES", to: &summed) }
        case .dropped:
            if isInside {
                Self.add(record, "PUSH_DROPPED", to: &dropped)
                unproven += 1
            }
        case .clockStepped: if isInside { clockSteps += 1 }
        case .storeStalled: if isInside { stalls += 1 }
        case .gap: take(gap: record, isInside, window)
        case .stopped: run?.hasStopped = true
        case .started, .stopping, .suppressed, .resumed: break
        }
        return nil
    }

    private mutating func take(gap record: JournalRecord, _ isInside: Bool, _ window: ReportWindow) {
        guard let gap = try? record.gap() else {
            if isInside { unreadable += 1 }
            return
        }
        guard gap.touches(since: window.since, until: window.until) else { return }
        if daemonGaps.count == Self.daemonGapsMax { daemonGaps.removeFirst() }
        daemonGaps.append(gap)
    }

    private mutating func row(_ record: JournalRecord, _ isInside: Bool, _ window: ReportWindow) -> ReportRow? {
        do throws(JournalFieldError) {
            let row = try ReportRow(journal: record.values, decidedAt: record.time)
            guard hasRoom(for: row) else {
                if isInside { unreadable += 1 }
                return nil
            }
            if window.contains(row.acceptedAt) {
                entries += 1
                first = first ?? record.time
                last = record.time
            }
            return row
        } catch {
            if isInside { unreadable += 1 }
            return nil
        }
    }

    /// Notes the row's names and returns whether they fit; bounds the memory for names.
    private mutating func hasRoom(for row: ReportRow) -> Bool {
        let invocation = row.invocation
        let own = [invocation.handler, invocation.route, invocation.provider].compactMap(\.self)
        for name in own where !names.contains(name) {
            guard names.count < Self.namesMax, name.utf8.count <= Self.nameLengthMax else { return false }
            names.insert(name)
        }
        return true
    }

    /// Notes the entry's run of the daemon, and the number of outcomes between its previous entry and this one. Those
    /// outcomes are missing if any part of the time between the two entries is in the window.
    private mutating func follow(_ record: JournalRecord, _ isInside: Bool, _ window: ReportWindow) {
        let before = run?.last ?? record.time
        let touches =
            (window.until.map { before < $0 } ?? true) && (window.since.map { record.time >= $0 } ?? true)
        if run?.name != record.run {
            if touches, run?.hasStopped == false { unended += 1 }
            if let run, isInside {
                absences += 1
                absent += .milliseconds(max(0, record.time.milliseconds - run.last.milliseconds))
            }
            // A run that is read from its beginning starts at the number 0.
            run = Run(name: record.run, number: record.kind == .started || run != nil ? 0 : nil, last: record.time)
        }
        run?.last = record.time
        guard let number = try? JournalFields(record.values).optionalNumber("PUSH_OUTCOME_NUMBER") else { return }
        let isOutcome = record.kind == .outcome
        let last = run?.number
        if let last {
            if touches { Self.add(max(0, number - last - (isOutcome ? 1 : 0)), to: &lacking) }
            // The numbers show how many outcomes have no entry; other dropped entries were not outcomes.
            unproven = 0
        }
        run?.number = max(number, last ?? 0)
    }

    private static func add(_ record: JournalRecord, _ field: String, to sum: inout Int) {
        add((try? JournalFields(record.values).optionalNumber(field)) ?? 0, to: &sum)
    }

    /// Adds an entry's count; saturates, so that no entry makes the sum overflow.
    private static func add(_ count: Int64, to sum: inout Int) { sum = min(sum + Int(count), 1 << 60) }

    // MARK: What is said of it

    /// The parts of a report that the journal does not record; the words are the members of the JSON.
    public static let unknown = ["accepted", "in_flight", "requests", "declined", "retries", "clock_set_back"]

    /// The journal's gaps, and the events in the window that leave out outcomes; empty without any.
    var gaps: [ReportGap] {
        [
            ReportGap(kind: .noEntry, count: lacking), ReportGap(kind: .summedOutcomes, count: summed),
            ReportGap(kind: .droppedEntries, count: dropped), ReportGap(kind: .suppressedEntries, count: suppressed),
            ReportGap(kind: .foreignEntries, count: foreign), ReportGap(kind: .unreadableEntries, count: unreadable),
            ReportGap(kind: .unendedRuns, count: unended), ReportGap(kind: .absences, count: absences),
            ReportGap(kind: .clockSteps, count: clockSteps), ReportGap(kind: .storeStalls, count: stalls),
            ReportGap(kind: .suspensions, count: suspensions),
        ].filter { $0.count > 0 }
    }

    /// The total time without a daemon between two runs.
    var timeAbsent: Duration { absent }

    /// Whether outcomes are known to be missing.
    public var isIncomplete: Bool { lacking + unproven + unreadable + unended > 0 }

    /// Returns whether the journal begins after the window does, so that older outcomes are gone.
    func beginsLate(for window: ReportWindow) -> Bool {
        guard let begin else { return false }
        return window.since.map { $0 < begin } ?? true
    }

    /// Returns the source in a few words, with its outcomes and the time that they span.
    func text(_ zone: LocalZone) -> String {
        guard let first, let last else { return "\(name): the journal has no entry of that time" }
        return
            "\(name): \(grouped(entries)) \(entries == 1 ? "outcome" : "outcomes"), observers' too, entries from \(zone.text(first)) to \(zone.text(last))"
    }

    /// The source in a few words.
    var name: String { "the journal of \(unit)" + (directory.map { " in \($0)" } ?? "") }
}

/// The source of a report's rows.
public enum ReportSource: Hashable, Sendable {
    /// The ledger: all accepted requests, with those in flight.
    case ledger
    /// The journal alone: outcomes that have an entry.
    case journal(JournalFacts)

    /// The name in formats for programs.
    public var word: String {
        switch self {
        case .ledger: "ledger"
        case .journal: "journal"
        }
    }

    /// The facts of the journal; `nil` for the ledger.
    public var journal: JournalFacts? {
        switch self {
        case .ledger: nil
        case .journal(let facts): facts
        }
    }

    /// The notice about facts that the source does not record; `nil`: it records all.
    var unprovable: String? {
        switch self {
        case .ledger: nil
        case .journal:
            "The journal does not have the invocations in flight, the number of requests without an invocation, and "
                + "the declines and retries of handlers; the ledger has them."
        }
    }
}
