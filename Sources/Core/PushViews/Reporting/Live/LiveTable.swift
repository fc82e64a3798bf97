import PushModel

/// The handlers or the lanes at one moment, for a page, with the columns of the screen.
struct LiveTable: Sendable {
    /// The headings of the columns, the row's name first, and whether a column has numbers.
    let heads: [(title: String, isNumber: Bool)]
    /// The rows, the busiest first, each with its tone.
    public private(set) var rows: [(cells: [String], tone: ReportLine.Tone)] = []

    private init<Row>(_ columns: [LiveColumn<Row>], _ rows: [Row], tone: (Row) -> ReportLine.Tone) {
        heads = columns.map { ($0.title, $0.alignment == .right) }
        self.rows = rows.map { row in (columns.map { $0.cell(row) }, tone(row)) }
    }

    /// Returns the table of the handlers, as in `pushctl top`.
    public static func handlers(_ status: JSONNode?, _ figures: LiveFigures) -> LiveTable {
        let rows = LiveHandler.all(status, figures).sorted { LiveHandler.precedes($0, $1, by: .misses) }
        return LiveTable(LiveHandler.columns, rows, tone: \.tone)
    }

    /// Returns the table of the lanes with the most waiting deliveries.
    public static func lanes(_ status: JSONNode?) -> LiveTable {
        LiveTable(LiveLane.columns, (status?["lanes"]?["longest"]?.elements ?? []).map(LiveLane.init)) { _ in .plain }
    }
}
