public import PushModel

/// The pushes of a search as a table, as the page's list has them.
public enum PushListing {
    /// The pushes for people: the text that a person read, what became of it, and what it cost. In the order in which they are given.
    public static func lines(_ pushes: [PushSummary], in zone: LocalZone, _ style: TextStyle) -> [ReportLine] {
        func joined(_ texts: [String], _ separator: String) -> String {
            texts.filter { !$0.isEmpty }.joined(separator: separator)
        }
        let columns: [Column<PushSummary>] = [
            .numberInText("Seq", \.facts.story.request.seq.description),
            .nameInText("Accepted", { zone.text($0.facts.story.request.acceptedAt.wall) }),
            .nameInText("Push", { joined([$0.heading, $0.subheading], ": ") }).chosen,
            .nameInText("Device", { $0.facts.story.request.device ?? "-" }).chosen, .nameInText("Became", \.word),
            .nameInText("By", { joined([$0.cost, $0.opened == nil ? "" : "opened"] + $0.marks, " · ") }).chosen,
        ]
        let widest = style.width.map { max(TextTable.leastName, $0 / 3) } ?? 60
        return TextTable(pushes, columns, widest: widest, tone: \.verdict.tone.ofReport)
            .lines(width: style.width, ellipsis: style.usesUnicode ? "…" : "...")
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
