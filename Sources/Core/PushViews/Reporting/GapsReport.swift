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

    private func cells(_ gap: DaemonGap) -> [String] {
        [gap.words, zone.text(gap.begin, milliseconds: true), zone.text(gap.end, milliseconds: true), gap.lengthText]
    }

    /// The table for a terminal.
    var daemonGapTable: TextTable {
        var table = TextTable(
            [("Gap", .left), ("From", .left), ("To", .left), ("Length", .right)], widest: 40)
        for gap in shown { table.add(cells(gap)) }
        return table
    }

    /// The section of a page; empty without gaps.
    var daemonGapHTML: String {
        guard !daemonGaps.isEmpty else { return "" }
        var table = HTMLTable(
            "Gaps of the daemon and steps of the clock",
            [.name("Gap"), .name("From"), .name("To"), .number("Length")])
        for gap in shown { table.add(cells(gap)) }
        return table.text + (furtherDaemonGaps.map { "<p>\(markup($0)).</p>\n" } ?? "")
    }

    /// The table in Markdown; empty without gaps.
    var daemonGapMarkdown: String {
        guard !daemonGaps.isEmpty else { return "" }
        let lines =
            ["| Gap of the daemon | From | To | Length |", "| :-- | :-- | :-- | --: |"]
            + shown.map { "| \(cells($0).joined(separator: " | ")) |" }
        return lines.joined(separator: "\n") + (furtherDaemonGaps.map { "\n\n\($0)." } ?? "")
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
