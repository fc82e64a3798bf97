import PushModel

/// A column of a table on the screen.
struct LiveColumn<Row>: Sendable {
    let title: String
    let alignment: TextTable.Alignment
    let cell: @Sendable (Row) -> String

    init(_ title: String, _ alignment: TextTable.Alignment, _ cell: @escaping @Sendable (Row) -> String) {
        self.title = title
        self.alignment = alignment
        self.cell = cell
    }

    /// Returns the lines of a table. Leaves out the last columns of a table that is too wide, but never the first.
    static func table(
        _ columns: [LiveColumn], _ rows: [Row], width: Int, tone: (Row) -> ReportLine.Tone
    ) -> [ReportLine] {
        var shown = columns[...]
        while true {
            var table = TextTable(shown.map { ($0.title, $0.alignment) }, widest: 24)
            for row in rows { table.add(shown.map { $0.cell(row) }, tone(row)) }
            let lines = table.lines(width: nil)
            if shown.count == 1 || lines.allSatisfy({ $0.text.count <= width }) { return lines }
            shown.removeLast()
        }
    }
}
