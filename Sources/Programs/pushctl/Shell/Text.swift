import PushModel

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

    /// Lines of at most `width` characters: longer ones go on in another line, between words. What goes on is indented four
    /// characters more than its line. A word that is longer stays whole.
    static func folded(_ text: String, width: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.count <= width ? String($0) : fold($0, width: width) }.joined(separator: "\n")
    }

    private static func fold(_ line: Substring, width: Int) -> String {
        let indent = String(line.prefix { $0 == " " })
        var folded: [String] = []
        var current = Substring(line)
        var lead = ""
        while lead.count + current.count > width {
            let room = current.prefix(width - lead.count + 1)
            // Between words only: the indent is no place to break at.
            let blank = room.lastIndex(of: " ").flatMap { room[..<$0].contains { $0 != " " } ? $0 : nil }
            guard let blank = blank ?? current.dropFirst(room.count).firstIndex(of: " ") else { break }
            folded.append(lead + current[..<blank].trimmingEnd)
            current = current[blank...].drop { $0 == " " }
            lead = indent + "    "
        }
        if !current.isEmpty { folded.append(lead + current) }
        return folded.joined(separator: "\n")
    }

    /// Rows of cells, each column as wide as its widest cell, two spaces between; a line for each row. Control characters are
    /// shown, so that they are measured, and no cell begins a line.
    static func columns(_ rows: [[String]], indent: Int = 0) -> String {
        let rows = rows.map { $0.map { $0.showingControls() } }
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
}

extension Substring {
    /// Without the spaces at its end.
    fileprivate var trimmingEnd: Substring {
        var trimmed = self
        while trimmed.last == " " { trimmed.removeLast() }
        return trimmed
    }
}
