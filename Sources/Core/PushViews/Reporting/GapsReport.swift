import PushModel

/// The gaps of the daemon in the window of a report, in each format.
extension ReportDocument {
    /// The gaps of the daemon that overlap the window, in the order in which they were noticed.
    var daemonGaps: [DaemonGap] { report.source.journal?.daemonGaps ?? detail.daemonGaps }

    /// The most gaps in formats for people; they show the last ones.
    static let shownDaemonGaps = 20

    private var shown: ArraySlice<DaemonGap> { daemonGaps.suffix(Self.shownDaemonGaps) }

    /// The notice about omitted gaps; `nil` if none is omitted.
    var furtherDaemonGaps: String? {
        let more = daemonGaps.count - shown.count
        guard more > 0 else { return nil }
        return "\(grouped(more)) earlier gaps are in the JSON"
    }

    private var gapColumns: [Column<DaemonGap>] {
        [
            .nameInText("Gap", \.words).only(.terminal, .page),
            .nameInText("Gap of the daemon", \.words).only(.markdown),
            .nameInText("From", { zone.text($0.begin, milliseconds: true) }),
            .nameInText("To", { zone.text($0.end, milliseconds: true) }), .numberInText("Length", \.lengthText),
        ]
    }

    /// The table for a terminal.
    var daemonGapTable: TextTable { TextTable(shown, gapColumns, widest: 40) }

    /// The section of a page; empty without gaps.
    var daemonGapHTML: Markup {
        let further: Markup? = furtherDaemonGaps.map { "<p>\($0).</p>\n" }
        return HTML.table("Gaps of the daemon and steps of the clock", shown, gapColumns) + (further ?? "")
    }

    /// The table in Markdown.
    var daemonGapMarkdown: String {
        markdownTable(shown, gapColumns) + (furtherDaemonGaps.map { "\n\n\($0)." } ?? "")
    }

    /// Writes the member `daemon_gaps`.
    func writeDaemonGaps(to writer: inout JSONWriter) {
        writer.list(daemonGaps) { gap, list in
            list.object {
                $0.member("kind", gap.kind.rawValue)
                $0.member("begin", gap.begin.rfc3339)
                $0.member("end", gap.end.rfc3339)
                $0.member("length_ms", gap.length)
            }
        }
    }
}

extension DaemonGap {
    /// The kind for people.
    var words: String {
        switch kind {
        case .down: "daemon down"
        case .clockStepped: end < begin ? "clock set back" : "clock set ahead"
        case .suspended: "machine suspended"
        case .diskStalled: "disk stalled"
        case .leaderLost: "leader lost"
        case .engineAway: "database away or slow"
        case .unprotected: "no standby of the database"
        }
    }

    /// The length of the gap for people; for a step of the clock, its size without a sign.
    var lengthText: String { spanInWords(length < .zero ? .zero - length : length) }
}

/// A reason why a report is incomplete.
public struct ReportGap: Hashable, Sendable {
    /// The kind of gap; the raw values are the names in JSON.
    public enum Kind: String, Sendable, CaseIterable {
        /// Rows that are missing, repeated, or out of order.
        case outOfSequence = "out_of_sequence"
        /// Rows without an outcome.
        case inFlight = "in_flight"
        /// Rows that expired while the daemon was down.
        case daemonDown = "daemon_down"
        /// Rows whose handler was running when the daemon crashed.
        case daemonCrashed = "daemon_crashed"
        /// Rows whose handler was running when the leader of several machines was lost.
        case leaderLost = "leader_lost"
        /// Rows of both dispatch modes.
        case mixedModes = "mixed_modes"

        // Outcomes without an entry. This kind and the following ones occur in reports of the journal alone, and count
        // no invocations.
        case noEntry = "no_entry"
        /// Outcomes that the daemon left out because there were too many.
        case summedOutcomes = "summed_outcomes"
        /// Entries that the daemon dropped because the journal did not accept them.
        case droppedEntries = "dropped_entries"
        /// Entries that journald dropped.
        case suppressedEntries = "suppressed_entries"
        /// Entries of the unit that another program wrote.
        case foreignEntries = "foreign_entries"
        /// Entries that lack a field.
        case unreadableEntries = "unreadable_entries"
        /// Runs of the daemon that ended without saying so.
        case unendedRuns = "unended_runs"
        /// Times between two runs of the daemon.
        case absences
        /// Steps of the wall clock.
        case clockSteps = "clock_steps"
        /// Stalls of the disk, in which nothing could be written.
        case storeStalls = "store_stalls"
        /// Suspensions of the machine.
        case suspensions
    }

    /// The kind.
    public let kind: Kind
    /// The number of invocations, entries or events.
    public let count: Int

    /// The gap for people. The number of invocations precedes it; any other number follows it.
    public var message: String {
        switch kind {
        case .outOfSequence: "missing, doubled or out of order: the ledger is damaged"
        case .inFlight: "not decided yet: they have no outcome and no times"
        case .daemonDown: "expired while the daemon was down: their times include its absence"
        case .daemonCrashed: "interrupted by a crash of the daemon: their handlers may have finished or not"
        case .leaderLost: "interrupted by the loss of the machine that led: their handlers may have finished or not"
        case .mixedModes: "accepted in different modes: their deadlines count from different instants"
        case .noEntry: "outcomes without an entry in the journal, which the figures leave out"
        case .summedOutcomes: "successes that the daemon left out of the journal, because there were too many"
        case .droppedEntries: "entries that the daemon dropped, because the journal did not take them"
        case .suppressedEntries: "entries of the unit that journald dropped"
        case .foreignEntries: "entries of the unit that are not the daemon's, such as a handler's, which are left out"
        case .unreadableEntries: "entries that lack a field, as those of an earlier version do, which are left out"
        case .unendedRuns:
            "runs of the daemon that ended without a last entry, so that their last outcomes may have no entry"
        case .absences: "absences of the daemon between two runs"
        case .clockSteps: "steps of the clock that the daemon noticed"
        case .storeStalls: "stalls of the store, in which the daemon accepted no request"
        case .suspensions: "suspensions of the machine"
        }
    }

    /// Whether it counts invocations of the report.
    var isOfInvocations: Bool {
        switch kind {
        case .outOfSequence, .inFlight, .daemonDown, .daemonCrashed, .leaderLost, .mixedModes: true
        case .noEntry, .summedOutcomes, .droppedEntries, .suppressedEntries, .foreignEntries, .unreadableEntries,
            .unendedRuns, .absences, .clockSteps, .storeStalls, .suspensions:
            false
        }
    }

    /// Returns the whole sentence, without a full stop.
    /// - Parameter accepted: the number of invocations in the report.
    func sentence(ofAccepted accepted: Int) -> String {
        isOfInvocations
            ? "\(grouped(count)) of \(grouped(accepted)) invocations \(message)" : "\(message): \(grouped(count))"
    }
}
