/// Columns for a terminal: names to the left, numbers to the right, two spaces between.
struct TextTable {
    enum Alignment { case left, right }

    private let columns: [(title: String, alignment: Alignment)]
    private let widest: Int
    private var rows: [[String]] = []

    /// A table without rows, whose cells are cut to `widest` characters.
    init(_ columns: [(title: String, alignment: Alignment)], widest: Int) {
        self.columns = columns
        self.widest = widest
    }

    /// Adds a row, a cell for each column. What is cut ends in an ellipsis; a line feed within a name begins no line.
    mutating func add(_ cells: [String]) {
        precondition(cells.count == columns.count, "\(cells.count) cells in a table of \(columns.count) columns")
        rows.append(cells.map { shortened(inOneLine($0), to: widest) })
    }

    /// The lines, each with a line feed; a table without rows has none, so that no heading stands alone.
    var text: String {
        guard !rows.isEmpty else { return "" }
        let lines = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.reduce(into: "") { text, cells in
            var line = ""
            for (column, cell) in cells.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? "" : "  "
                line += columns[column].alignment == .left ? cell + padding : padding + cell
            }
            while line.last == " " { line.removeLast() }
            text += line + "\n"
        }
    }
}

/// `text` with its line feeds as the terminal's other controls are shown.
private func inOneLine(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "\n")) else { return text }
    return text.unicodeScalars.reduce(into: "") { line, scalar in
        if scalar == "\n" { line += "\\x0a" } else { line.unicodeScalars.append(scalar) }
    }
}

/// `text`, cut to `width` characters; what is cut ends in an ellipsis.
func shortened(_ text: String, to width: Int) -> String {
    text.count > width ? text.prefix(width - 1) + "…" : text
}
