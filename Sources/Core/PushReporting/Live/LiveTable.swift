public import PushModel

/// The handlers, or the lanes, of a moment: for a page, with the columns of the screen.
public struct LiveTable: Sendable {
    /// The heads of the columns, the first the name of a row, and whether a column has numbers.
    public let heads: [(title: String, isNumber: Bool)]
    /// The rows, the busiest first, and whether each is bad.
    public private(set) var rows: [(cells: [String], tone: ReportLine.Tone)] = []

    private init<Row>(_ columns: [LiveColumn<Row>], _ rows: [Row], tone: (Row) -> ReportLine.Tone) {
        heads = columns.map { ($0.title, $0.alignment == .right) }
        self.rows = rows.map { row in (columns.map { $0.cell(row) }, tone(row)) }
    }

    /// The handlers, as `pushctl top` shows them.
    public static func handlers(_ status: JSONNode?, _ figures: LiveFigures) -> LiveTable {
        let rows = LiveHandler.all(status, figures).sorted { LiveHandler.precedes($0, $1, by: .misses) }
        return LiveTable(LiveHandler.columns, rows, tone: \.tone)
    }

    /// The lanes in which most wait.
    public static func lanes(_ status: JSONNode?) -> LiveTable {
        LiveTable(LiveLane.columns, (status?["lanes"]?["longest"]?.elements ?? []).map(LiveLane.init)) { _ in .plain }
    }
}
