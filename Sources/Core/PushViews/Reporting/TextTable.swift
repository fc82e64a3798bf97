import PushModel

/// A column of a table: its heading, and what a row has there. Each table declares its columns once for all looks.
struct Column<Row> {
    /// How a column reads. The raw value is the class of its cells on a page.
    enum Kind: String {
        /// A name, or another short text.
        case name
        /// A number, at the right.
        case number
        /// A sentence, which may wrap.
        case words
    }

    /// A form of a table.
    enum Look: CaseIterable { case terminal, markdown, page }

    typealias Cell = (Row) -> Markup

    let kind: Kind
    let title: String
    let text: (Row) -> String
    let cell: Cell
    /// The looks that have the column.
    private(set) var looks: [Look]
    /// Whether a narrow terminal may cut its names, which people chose.
    private var isChosen = false
    /// Whether Markdown has its texts as code.
    private var isCode = false

    private init(_ kind: Kind, _ title: String, _ text: @escaping (Row) -> String, _ cell: Cell?) {
        (self.kind, self.title, self.text, looks) = (kind, title, text, Look.allCases)
        self.cell = cell ?? { "\(text($0))" }
    }

    private init(_ kind: Kind, _ title: String, _ cell: @escaping Cell) {
        (self.kind, self.title, text, self.cell, looks) = (kind, title, { _ in "" }, cell, [.page])
    }

    // Columns of pages alone.
    static func name(_ title: String, _ cell: @escaping Cell) -> Self { Self(.name, title, cell) }
    static func number(_ title: String, _ cell: @escaping Cell) -> Self { Self(.number, title, cell) }
    static func words(_ title: String, _ cell: @escaping Cell) -> Self { Self(.words, title, cell) }

    // Columns of all looks; `cell` replaces the text on a page. They have names of their own: a closure for a column of
    // pages would be taken for text, and be escaped twice.
    static func nameInText(_ title: String, _ text: @escaping (Row) -> String, cell: Cell? = nil) -> Self {
        Self(.name, title, text, cell)
    }
    static func numberInText(_ title: String, _ text: @escaping (Row) -> String, cell: Cell? = nil) -> Self {
        Self(.number, title, text, cell)
    }
    static func wordsInText(_ title: String, _ text: @escaping (Row) -> String) -> Self {
        Self(.words, title, text, nil)
    }

    /// The same column, in these looks alone.
    func only(_ looks: Look...) -> Self {
        var column = self
        column.looks = looks
        return column
    }

    /// The same column of names that people chose.
    var chosen: Self {
        var column = self
        column.isChosen = true
        return column
    }

    /// The same column, as code in Markdown.
    var asCode: Self {
        var column = self
        column.isCode = true
        return column
    }

    var alignment: TextTable.Alignment {
        switch kind {
        case .name: isChosen ? .name : .left
        case .number: .right
        case .words: .sentence
        }
    }

    /// The cell of a row in Markdown.
    fileprivate func markdown(_ row: Row) -> String { isCode ? "`\(text(row))`" : markdownCell(text(row)) }

    var kindClass: Markup { kind == .number ? "" : " class=\"\(kind.rawValue)\"" }
}

/// Returns a table in GitHub's Markdown.
func markdownTable<Row>(_ rows: some Sequence<Row>, _ columns: [Column<Row>]) -> String {
    let shown = columns.filter { $0.looks.contains(.markdown) }
    let heads = [shown.map(\.title), shown.map { $0.kind == .number ? "--:" : ":--" }]
    return (heads + rows.map { row in shown.map { $0.markdown(row) } })
        .map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
}

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

    /// The rows in the columns of a terminal.
    init<Row>(
        _ rows: some Sequence<Row>, _ columns: [Column<Row>], widest: Int = .max, keys: Int = 1,
        tone: (Row) -> ReportLine.Tone = { _ in .plain }
    ) {
        let shown = columns.filter { $0.looks.contains(.terminal) }
        self.init(shown.map { ($0.title, $0.alignment) }, widest: widest, keys: keys)
        for row in rows { add(shown.map { $0.text(row) }, tone(row)) }
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
