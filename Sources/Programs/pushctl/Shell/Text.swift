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

    /// Folds lines to at most `width` characters, between words. Continuation lines are indented four characters more
    /// than their line. A longer word stays whole.
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
            // Breaks only between words, never within the indent.
            let blank = room.lastIndex(of: " ").flatMap { room[..<$0].contains { $0 != " " } ? $0 : nil }
            guard let blank = blank ?? current.dropFirst(room.count).firstIndex(of: " ") else { break }
            folded.append(lead + current[..<blank].trimmingEnd)
            current = current[blank...].drop { $0 == " " }
            lead = indent + "    "
        }
        if !current.isEmpty { folded.append(lead + current) }
        return folded.joined(separator: "\n")
    }

    /// Formats rows of cells as lines, each column as wide as its widest cell, with two spaces between. Control
    /// characters are escaped, so that they have a width, and no cell begins a line.
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
    /// The text without spaces at its end.
    fileprivate var trimmingEnd: Substring {
        var trimmed = self
        while trimmed.last == " " { trimmed.removeLast() }
        return trimmed
    }
}
