import PushModel

/// Columns for a terminal: names to the left, numbers to the right, two spaces between.
struct TextTable {
    enum Alignment { case left, right }

    private let columns: [(title: String, alignment: Alignment)]
    private let widest: Int
    private let keys: Int
    private var rows: [(cells: [String], tone: ReportLine.Tone)] = []

    /// A table without rows, whose cells are cut to `widest` characters.
    /// - Parameter keys: how many columns at the left say what a row is about.
    init(_ columns: [(title: String, alignment: Alignment)], widest: Int, keys: Int = 1) {
        self.columns = columns
        self.widest = widest
        self.keys = keys
    }

    /// Adds a row, a cell for each column. What is cut ends in an ellipsis; control characters are shown, so
    /// that they are measured, and none begins a line.
    mutating func add(_ cells: [String], _ tone: ReportLine.Tone = .plain) {
        precondition(cells.count == columns.count, "\(cells.count) cells in a table of \(columns.count) columns")
        rows.append((cells: cells.map { shortened($0.showingControls(), to: widest) }, tone: tone))
    }

    /// The lines, each with a line feed; a table without rows has none, so that no heading stands alone.
    var text: String { lines(width: nil).reduce(into: "") { $0 += $1.text + "\n" } }

    /// The lines. A table that is wider than `width` becomes several, one below the other, that all begin with the key
    /// columns.
    func lines(width: Int?) -> [ReportLine] {
        guard !rows.isEmpty else { return [] }
        let widths = columns.indices.map { column in
            rows.reduce(columns[column].title.count) { max($0, $1.cells[column].count) }
        }
        var lines: [ReportLine] = []
        for part in parts(widths, width: width) {
            if !lines.isEmpty { lines.append(ReportLine("")) }
            lines.append(ReportLine(line(columns.map(\.title), part, widths), .heading))
            lines += rows.map { ReportLine(line($0.cells, part, widths), $0.tone) }
        }
        return lines
    }

    /// The columns of each part of the table.
    private func parts(_ widths: [Int], width: Int?) -> [[Int]] {
        let key = Array(0..<keys)
        let taken = key.reduce(-2) { $0 + widths[$1] + 2 }
        guard let width, columns.indices.reduce(-2, { $0 + widths[$1] + 2 }) > width else {
            return [Array(columns.indices)]
        }
        var parts: [[Int]] = []
        var used = 0
        for column in keys..<columns.count {
            if parts.isEmpty || used + 2 + widths[column] > width {
                parts.append(key)
                used = taken
            }
            parts[parts.count - 1].append(column)
            used += 2 + widths[column]
        }
        return parts
    }

    private func line(_ cells: [String], _ part: [Int], _ widths: [Int]) -> String {
        var line = ""
        for (place, column) in part.enumerated() {
            let padding = String(repeating: " ", count: widths[column] - cells[column].count)
            line += place == 0 ? "" : "  "
            line += columns[column].alignment == .left ? cells[column] + padding : padding + cells[column]
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}

/// `text`, cut to `width` characters; what is cut ends in an ellipsis.
func shortened(_ text: String, to width: Int) -> String {
    text.count > width ? text.prefix(width - 1) + "…" : text
}
