import PushModel

/// Columns for a terminal: names to the left, numbers to the right, two spaces between.
struct TextTable {
    /// How the cells of a column stand, and what becomes of them where a line has no room for all.
    enum Alignment {
        /// Words, at its left; and numbers, at its right. They stay whole.
        case left, right
        /// Names that somebody chose, at its left. They may be cut.
        case name
        /// Sentences, which may go on below themselves. Only the last column has them.
        case sentence
    }

    private let columns: [(title: String, alignment: Alignment)]
    private let widest: Int
    private let keys: Int
    private var rows: [(cells: [String], tone: ReportLine.Tone)] = []

    /// A table without rows, whose cells are cut to `widest` characters whatever the width is.
    /// - Parameter keys: how many columns at the left say what a row is about.
    init(_ columns: [(title: String, alignment: Alignment)], widest: Int = .max, keys: Int = 1) {
        self.columns = columns
        self.widest = widest
        self.keys = keys
    }

    /// Adds a row, a cell for each column. Control characters are shown, so that they are measured, and none begins a
    /// line.
    mutating func add(_ cells: [String], _ tone: ReportLine.Tone = .plain) {
        precondition(cells.count == columns.count, "\(cells.count) cells in a table of \(columns.count) columns")
        rows.append((cells: cells.map { shortened($0.showingControls(), to: widest) }, tone: tone))
    }

    /// The lines, each with a line feed; a table without rows has none, so that no heading stands alone.
    var text: String { lines(width: nil).reduce(into: "") { $0 += $1.text + "\n" } }

    /// The lines. In a table that is wider than `width` long names are cut in the middle, as much as it takes and to
    /// ``leastName`` characters at least, and so that no two names of a column look equal. A table that is wider still
    /// becomes several, one below the other, that all begin with the key columns.
    /// - Parameter ellipsis: what stands for what is cut.
    func lines(width: Int?, ellipsis: String = "…") -> [ReportLine] {
        guard !rows.isEmpty else { return [] }
        guard let width, total(naturalWidths) > width else {
            return lines(rows.map(\.cells), [Array(columns.indices)], naturalWidths, nil)
        }
        let (cells, widths) = cut(to: limits(width), ellipsis)
        return lines(cells, total(widths) > width ? parts(widths, width) : [Array(columns.indices)], widths, width)
    }

    /// To how many characters a name may be cut, so that a table need not become several.
    static let leastName = 16

    private var naturalWidths: [Int] {
        columns.indices.map { column in
            rows.reduce(columns[column].title.count) { max($0, $1.cells[column].count) }
        }
    }

    private func total(_ widths: [Int]) -> Int { widths.reduce(-2) { $0 + $1 + 2 } }

    /// The least width of a column of sentences beside all other columns.
    static let leastSentence = 32

    /// How wide each column may be: first sentences are broken, then the longest names cut, until the table fits. If that
    /// is not enough, names leave half of the width to the figures beside them.
    private func limits(_ width: Int) -> [Int] {
        var limits = naturalWidths
        let names = columns.indices.filter { columns[$0].alignment == .name }
        func reduce(_ names: [Int], to least: Int, until fits: ([Int]) -> Bool) {
            while !fits(limits), let name = names.filter({ limits[$0] > least }).max(by: { limits[$0] < limits[$1] }) {
                limits[name] -= 1
            }
        }
        reduce(columns.indices.filter { columns[$0].alignment == .sentence }, to: Self.leastSentence) {
            total($0) <= width
        }
        reduce(names, to: Self.leastName) { total($0) <= width }
        guard total(limits) > width else { return limits }
        limits = naturalWidths
        reduce(names.filter { $0 < keys }, to: 4) { total(Array($0.prefix(keys))) <= width / 2 }
        for name in names where name >= keys {
            reduce([name], to: 4) { total(Array($0.prefix(keys)) + [$0[name]]) <= width }
        }
        if columns.last?.alignment == .sentence, let sentence = limits.indices.last {
            limits[sentence] = min(limits[sentence], width - total(Array(limits.prefix(keys))) - 2)
        }
        return limits
    }

    /// The cells, none of a name's column wider than its limit as far as that keeps names apart; and how wide the
    /// columns are then.
    private func cut(to limits: [Int], _ ellipsis: String) -> (cells: [[String]], widths: [Int]) {
        var cells = rows.map(\.cells)
        for column in columns.indices where columns[column].alignment == .name {
            let names = shortenedApart(Set(cells.map { $0[column] }), to: limits[column], ellipsis)
            for row in cells.indices { cells[row][column] = names[cells[row][column]] ?? cells[row][column] }
        }
        let widths = columns.indices.map { column in
            columns[column].alignment == .sentence
                ? limits[column] : cells.reduce(columns[column].title.count) { max($0, $1[column].count) }
        }
        return (cells, widths)
    }

    private func lines(_ cells: [[String]], _ parts: [[Int]], _ widths: [Int], _ width: Int?) -> [ReportLine] {
        var lines: [ReportLine] = []
        for part in parts {
            if !lines.isEmpty { lines.append(ReportLine("")) }
            lines.append(ReportLine(line(columns.map(\.title), part, widths), .heading))
            for (row, cells) in zip(rows, cells) {
                let indent = total(part.filter { columns[$0].alignment != .sentence }.map { widths[$0] }) + 2
                let hasSentence = part.contains { columns[$0].alignment == .sentence }
                lines += TextStyle(width: hasSentence ? width : nil)
                    .wrapped(line(cells, part, widths), indent: indent).map { ReportLine($0, row.tone) }
            }
        }
        return lines
    }

    /// The columns of each part of the table.
    private func parts(_ widths: [Int], _ width: Int) -> [[Int]] {
        let key = Array(0..<keys)
        let taken = key.reduce(-2) { $0 + widths[$1] + 2 }
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
            let padding = String(repeating: " ", count: max(0, widths[column] - cells[column].count))
            line += place == 0 ? "" : "  "
            line += columns[column].alignment == .right ? padding + cells[column] : cells[column] + padding
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}

/// `text`, cut to `width` characters; what is cut ends in an ellipsis.
func shortened(_ text: String, to width: Int) -> String {
    text.count > width ? text.prefix(width - 1) + "…" : text
}

/// Each name with what is shown of it: at most `width` characters, cut in the middle, and never two names that look equal.
/// Where one place to cut does not keep them apart another one does; where none does, a number behind the ellipsis does.
/// Names that are so alike that the number has no room are wider.
func shortenedApart(_ names: Set<String>, to width: Int, _ ellipsis: String = "…") -> [String: String] {
    let whole = names.filter { $0.count <= width }
    let long = names.subtracting(whole).sorted()
    let room = width - ellipsis.count
    func shown(_ heads: Int, _ mark: (Int) -> String) -> [String: String]? {
        var shown = Dictionary(uniqueKeysWithValues: whole.map { ($0, $0) })
        for (index, name) in long.enumerated() {
            let tail = max(0, room - heads - (mark(index).count - ellipsis.count))
            shown[name] = name.prefix(heads) + mark(index) + name.suffix(tail)
        }
        return Set(shown.values).count == names.count ? shown : nil
    }
    let middle = max(1, (room + 1) / 2)
    for step in 0..<max(1, room) {
        let heads = middle + (step.isMultiple(of: 2) ? -step / 2 : (step + 1) / 2)
        if (1...max(1, room)).contains(heads), let shown = shown(heads, { _ in ellipsis }) { return shown }
    }
    let head = max(1, room / 2)
    return shown(head) { "\(ellipsis)\($0 + 1)\(ellipsis)" } ?? Dictionary(uniqueKeysWithValues: names.map { ($0, $0) })
}
