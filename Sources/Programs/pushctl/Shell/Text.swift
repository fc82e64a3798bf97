/// Text for a terminal.
enum Text {
    /// `text` in lines of at most `width` characters, each after `indent` spaces.
    static func wrapped(_ text: String, width: Int, indent: Int = 0) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        lines.append(line)
        return lines.map { String(repeating: " ", count: indent) + $0 }.joined(separator: "\n")
    }

    /// Rows of cells, each column as wide as its widest cell, two spaces between; a line for each row.
    static func columns(_ rows: [[String]], indent: Int = 0) -> String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.reduce(into: "") { text, row in
            var line = String(repeating: " ", count: indent)
            for (column, cell) in row.enumerated() {
                let isLast = column == row.count - 1
                line += cell + (isLast ? "" : String(repeating: " ", count: widths[column] - cell.count + 2))
            }
            text += line + "\n"
        }
    }

    /// `1 error`, `2 errors`.
    static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
