import PushModel

/// A table for a terminal: names on the left, numbers on the right, two spaces between columns.
struct TextTable {
    /// The alignment of a column, and how its cells shrink in a narrow line.
    enum Alignment {
        /// Words on the left, and numbers on the right. They are never cut.
        case left, right
        /// Names chosen by users, on the left. They may be cut.
        case name
        /// Sentences, which may wrap below themselves. Only the last column has them.
        case sentence
    }

    private let columns: [(title: String, alignment: Alignment)]
    private let widest: Int
    private let keys: Int
    private var rows: [(cells: [String], tone: ReportLine.Tone)] = []

    /// A table without rows, which cuts cells to `widest` characters at any width.
    /// - Parameter keys: the number of columns on the left that identify a row.
    init(_ columns: [(title: String, alignment: Alignment)], widest: Int = .max, keys: Int = 1) {
        self.columns = columns
        self.widest = widest
        self.keys = keys
    }

    /// The rows in those of the columns that have words.
    ///
    /// - Parameter widest: the length to which names are cut, at any width.
    init<Row>(_ rows: some Sequence<Row>, _ columns: [Column<Row>], widest: Int, keys: Int = 1) {
        let shown = columns.compactMap { column in column.words.map { (column: column, words: $0) } }
        self.init(
            shown.map { ($0.column.title, $0.column.kind == .number ? .right : .left) }, widest: widest, keys: keys)
        for row in rows { add(shown.map { $0.words(row) }) }
    }

    /// Adds a row with a cell for each column. Makes control characters visible, so that they have a width and start no
    /// line.
    mutating func add(_ cells: [String], _ tone: ReportLine.Tone = .plain) {
        precondition(cells.count == columns.count, "\(cells.count) cells in a table of \(columns.count) columns")
        rows.append((cells: cells.map { shortened($0.showingControls(), to: widest) }, tone: tone))
    }

    /// The lines, each with a line feed; empty without rows, so that no heading stands alone.
    var text: String { lines(width: nil).reduce(into: "") { $0 += $1.text + "\n" } }

    /// Returns the lines. A table wider than `width` cuts long names in the middle, as far as necessary and down to
    /// ``leastName`` characters, so that no two names of a column look equal. A table that is still too wide becomes
    /// several, one below the other, which all begin with the key columns.
    /// - Parameter ellipsis: replaces the omitted characters.
    func lines(width: Int?, ellipsis: String = "…") -> [ReportLine] {
        guard !rows.isEmpty else { return [] }
        guard let width, total(naturalWidths) > width else {
            return lines(rows.map(\.cells), [Array(columns.indices)], naturalWidths, nil)
        }
        let (cells, widths) = cut(to: limits(width), ellipsis)
        return lines(cells, total(widths) > width ? parts(widths, width) : [Array(columns.indices)], widths, width)
    }

    /// The length to which a name may be cut before the table is split.
    static let leastName = 16

    private var naturalWidths: [Int] {
        columns.indices.map { column in
            rows.reduce(columns[column].title.count) { max($0, $1.cells[column].count) }
        }
    }

    private func total(_ widths: [Int]) -> Int { widths.reduce(-2) { $0 + $1 + 2 } }

    /// The least width of a column of sentences.
    static let leastSentence = 32

    /// Returns the width limit of each column: sentences wrap first, then the longest names are cut, until the table
    /// fits. If it does not fit, names leave half of the width to the figures beside them.
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

    /// Returns the cells with names cut to their limits, unless two would look equal, and the resulting widths.
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

    /// Returns the columns of each part of a split table.
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

/// Returns `text` cut to `width` characters, with an ellipsis at the cut.
func shortened(_ text: String, to width: Int) -> String {
    text.count > width ? text.prefix(width - 1) + "…" : text
}

/// Returns the text to show for each name: at most `width` characters, cut in the middle, and different for all names.
/// If a place to cut makes two names equal, another place is tried; if all do, a number follows the ellipsis. Names too
/// similar for that are wider.
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
