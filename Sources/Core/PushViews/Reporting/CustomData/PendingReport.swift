public import PushModel

/// The unfinished and the rejected entries of custom data, with their number in each suite.
public struct PendingReport: Sendable {
    /// The entries, in order of their numbers.
    public var entries: [EntryRecord]
    /// The number of entries by suite and state, including those that `entries` leaves out.
    public var counts: [EntryCount]
    /// Whether the report is of a selection, or of rejected entries.
    public var isSelection = false
    private let now: WallTime
    private let zone: LocalZone

    /// - Parameters:
    ///   - entries: in order of their numbers; perhaps only the first ones.
    ///   - counts: of all requested entries.
    ///   - now: the time for the entries' ages.
    ///   - zone: the zone of times for people.
    public init(entries: [EntryRecord] = [], counts: [EntryCount] = [], now: WallTime, zone: LocalZone = .utc) {
        self.entries = entries
        self.counts = counts
        self.now = now
        self.zone = zone
    }

    // MARK: Text

    /// The entries for people.
    public var text: String {
        guard !counts.isEmpty else { return isSelection ? "No entry matches.\n" : "No entry is waiting.\n" }
        return [entryTable, reasons, rest, countTable].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var entryTable: String {
        TextTable(
            entries,
            [
                .numberInText("Number", \.entry.number.description), .nameInText("Kind", \.entry.kind.rawValue),
                .nameInText("State", \.state.rawValue),
                .nameInText("Suite", { $0.entry.destination.suite ?? "(direct)" }),
                .nameInText("App", { $0.entry.app ?? "-" }), .nameInText("Device", { $0.entry.device ?? "-" }),
                .nameInText("User", { user(of: $0.entry) }),
                .nameInText("Name", { $0.entry.name ?? fields(of: $0.entry) }),
                .nameInText("Saved", { zone.text($0.entry.savedAt) }),
                .numberInText("Age", { age(since: $0.entry.savedAt) }),
            ], widest: 36
        ).text
    }

    private func user(of entry: CustomEntry) -> String {
        switch entry.destination {
        case .unidentified: "-"
        case .sent(let identifier): identifier.text
        case .stored: entry.externalID ?? "-"
        }
    }

    /// Returns the names of the fields: attributes have no name of their own.
    private func fields(of entry: CustomEntry) -> String {
        let document = try? JSONDocument(scanning: entry.data, limits: JSONLimits(depth: .max))
        let names = document?.root.members.map(\.key) ?? []
        return names.isEmpty ? "-" : names.joined(separator: ", ")
    }

    /// The reasons, on lines of their own, so that no table cuts them.
    private var reasons: String {
        entries.reduce(into: "") { text, record in
            guard let reason = record.reason?.showingControls() else { return }
            text += "\(record.entry.number) \(record.state.rawValue): \(reason)\n"
        }
    }

    private var rest: String {
        let missing = counts.reduce(0) { $0 + $1.count } - entries.count
        return missing > 0 ? "... and \(grouped(missing)) more; --limit sets the number shown.\n" : ""
    }

    private var countTable: String {
        TextTable(
            counts,
            [
                .nameInText("Suite", { $0.suite ?? "(direct)" }), .nameInText("State", \.state.rawValue),
                .numberInText("Entries", { grouped($0.count) }), .numberInText("Bytes", { grouped($0.bytes) }),
                .numberInText("Oldest", { age(since: $0.oldest) }),
            ], widest: 60
        ).text
    }

    private func age(since time: WallTime) -> String {
        spanInWords(.milliseconds(max(0, now.milliseconds - time.milliseconds)))
    }

    // MARK: JSON

    /// The entries for programs: one JSON object on one line, with its line feed; times in UTC.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.members(Self.members, of: self) }
        return writer.line()
    }

    private static let members: [ReportMember<PendingReport>] = [
        ReportMember(
            "entries",
            """
            a list: number, seq (the request), kind, state, suite (with storage, the key within it, and braze_id if it has one; null for entries that are sent, and then to: external_id, \
            braze_id or alias), platform, app, device, external_id, name, data (properties or attributes), time, saved_at, \
            age_ms, settled_at, settled_by, reason
            """
        ) { report, writer in writer.list(report.entries) { $0.write(to: &$1, now: report.now) } },
        ReportMember(
            "counts",
            "the figures of all selected entries, also above --limit: suite, state, entries, bytes, oldest_saved_at"
        ) { $1.list($0.counts) { $0.write(to: &$1) } },
    ]

    /// The members of ``json`` and their meanings.
    public static var described: [(name: String, meaning: String)] { members.map { ($0.name, $0.meaning) } }
}

extension EntryCount {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("suite", suite)
            $0.member("state", state.rawValue)
            $0.member("entries", count)
            $0.member("bytes", bytes)
            $0.member("oldest_saved_at", oldest.rfc3339)
        }
    }
}
