public import PushModel

/// The pushes of a search as a table, as the page's list has them.
public enum PushListing {
    /// The pushes for people: the text that a person read, what became of it, and what it cost. In the order in which they are given.
    public static func lines(_ pushes: [PushSummary], in zone: LocalZone, _ style: TextStyle) -> [ReportLine] {
        var table = TextTable(
            [
                ("Seq", .right), ("Accepted", .left), ("Push", .name), ("Device", .name), ("Became", .left),
                ("By", .name),
            ], widest: style.width.map { max(TextTable.leastName, $0 / 3) } ?? 60)
        for push in pushes {
            let request = push.facts.story.request
            let texts = [push.heading, push.subheading].filter { !$0.isEmpty }
            let ends = [push.cost, push.opened == nil ? "" : "opened"].filter { !$0.isEmpty } + push.marks
            table.add(
                [
                    request.seq.description, zone.text(request.acceptedAt.wall), texts.joined(separator: ": "),
                    request.device ?? "-", push.word, ends.joined(separator: " · "),
                ], push.verdict.tone.ofReport)
        }
        return table.lines(width: style.width, ellipsis: style.usesUnicode ? "…" : "...")
    }

    /// The line with the names of the columns, with its line end.
    public static let csvHeader = CSVReport.line(columns.map(\.rawValue))

    /// A push as a row of CSV (RFC 4180), with its line end: the members of the API that are no object.
    public static func csv(_ push: PushSummary) -> String {
        CSVReport.line(CSVReport.cells(of: push.json, columns.map(\.rawValue)))
    }

    private static let columns = PushMember.allCases.filter { $0.type != "object" }
}

extension PushVerdict.Tone {
    /// The tone of a line in a terminal.
    var ofReport: ReportLine.Tone {
        switch self {
        case .good, .plain: .plain
        case .warn: .warning
        case .bad: .bad
        }
    }
}
