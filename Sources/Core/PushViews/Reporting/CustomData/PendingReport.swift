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
        var table = TextTable(
            [
                ("Number", .right), ("Kind", .left), ("State", .left), ("Suite", .left), ("App", .left),
                ("Device", .left), ("User", .left), ("Name", .left), ("Saved", .left), ("Age", .right),
            ], widest: 36)
        for record in entries {
            let entry = record.entry
            table.add([
                entry.number.description, entry.kind.rawValue, record.state.rawValue,
                entry.destination.suite ?? "(direct)",
                entry.app ?? "-", entry.device ?? "-", user(of: entry), entry.name ?? fields(of: entry),
                zone.text(entry.savedAt), age(since: entry.savedAt),
            ])
        }
        return table.text
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
        var table = TextTable(
            [("Suite", .left), ("State", .left), ("Entries", .right), ("Bytes", .right), ("Oldest", .right)],
            widest: 60)
        for count in counts {
            table.add([
                count.suite ?? "(direct)", count.state.rawValue, grouped(count.count), grouped(count.bytes),
                age(since: count.oldest),
            ])
        }
        return table.text
    }

    private func age(since time: WallTime) -> String {
        spanInWords(.milliseconds(max(0, now.milliseconds - time.milliseconds)))
    }

    // MARK: JSON

    /// The entries for programs: one JSON object on one line, with its line feed; times in UTC.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("entries", array: { list in entries.forEach { $0.write(to: &list, now: now) } })
            $0.member("counts", array: { list in counts.forEach { $0.write(to: &list) } })
        }
        return writer.line()
    }
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
