import PushModel

/// A self-contained HTML page: without scripts, further files and network access.
public struct HTMLPage {
    /// The title, for a page that embeds this one.
    public let title: String
    private var summary = ""
    private var contents: [String] = []
    private var body = ""

    init(title: String) { self.title = title }

    /// Adds a section with its heading; leaves out an empty one.
    /// - Parameter folded: whether the section is closed at first.
    mutating func section(_ id: String, _ heading: String, _ content: String, folded: Bool = false) {
        guard !content.isEmpty else { return }
        let title = "<h2>\(markup(heading))</h2>"
        contents.append("<li><a href=\"#\(id)\">\(markup(heading))</a></li>")
        let shown =
            folded ? "<details><summary>\(title)</summary>\n\(content)</details>\n" : "\(title)\n\(content)"
        body += "<section id=\"\(id)\">\n\(shown)</section>\n"
    }

    /// Sets the content before the sections.
    mutating func lead(_ content: String) {
        summary = "<section id=\"summary\" aria-label=\"Summary\">\n\(content)</section>\n"
    }

    /// The list of the sections; empty for fewer than four.
    private var navigation: String {
        contents.count < 4
            ? ""
            : "<details><summary>Contents</summary>\n<nav aria-label=\"Contents\"><ul>\n\(contents.joined(separator: "\n"))</ul></nav></details>\n"
    }

    /// The content below the title, for a page that embeds this one.
    public var content: String { summary + navigation + body }

    /// The whole page.
    var text: String {
        Self.file(
            title: title, "<main class=\"whole\">\n<h1>\(title)</h1>\n\(Markup(made: content))</main>\n")
    }

    /// A page that opens anywhere: its style within, no script, nothing to load.
    static func file(title: String, _ body: Markup) -> String {
        let style = Markup(made: String(decoding: PackageResources.page_css, as: UTF8.self))
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
            <link rel="icon" href="data:,">
            <title>\(title)</title>
            <style>
            \(style)
            </style>
            </head>
            <body>
            \(body)</body>
            </html>

            """
        return page.html
    }
}

/// An HTML table.
struct HTMLTable {
    /// The kind and the heading of a column.
    enum Column {
        /// A name, or another short text.
        case name(String)
        /// A number.
        case number(String)
        /// A sentence, which may wrap.
        case words(String)
    }

    /// A heading above adjacent columns.
    typealias Span = (title: String, columns: Int)

    /// A table with more columns uses a smaller font.
    private static let dense = 10

    private let caption: String
    private let spans: [Span]
    private let columns: [Column]
    private var rows = ""

    /// A table without rows.
    /// - Parameter spans: headings above the column headings, for all columns but the first; may be empty.
    init(_ caption: String, _ columns: [Column], spans: [Span] = []) {
        let spanned = spans.reduce(1) { $0 + $1.columns }
        precondition(spans.isEmpty || spanned == columns.count, "\(spanned) columns, not \(columns.count)")
        self.caption = caption
        self.spans = spans
        self.columns = columns
    }

    /// Adds a row of markup, a cell for each column; the first one is the row's heading.
    public mutating func add(id: String? = nil, _ cells: [String]) {
        precondition(cells.count == columns.count, "\(cells.count) cells in a table of \(columns.count) columns")
        rows += "<tr\(id.map { " id=\"\(markup($0))\"" } ?? "")>"
        for (index, cell) in cells.enumerated() {
            let kind = attributes(columns[index])
            rows += index == 0 ? "<th scope=\"row\"\(kind)>\(cell)</th>" : "<td\(kind)>\(cell)</td>"
        }
        rows += "</tr>\n"
    }

    /// The markup; empty without rows. A wide table scrolls by itself, also with the keyboard.
    public var text: String {
        guard !rows.isEmpty else { return "" }
        let head = columns.map { column in
            switch column {
            case .name(let title), .number(let title), .words(let title):
                "<th scope=\"col\"\(attributes(column))>\(markup(title))</th>"
            }
        }
        return "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"\(markup(caption))\">"
            + "<table\(columns.count > Self.dense ? " class=\"dense\"" : "")>"
            + "<caption>\(markup(caption))</caption>\(spanColumns)<thead>\(spanHead)<tr>\(head.joined())</tr></thead>\n"
            + "<tbody>\n\(rows)</tbody></table></div>\n"
    }

    private var spanColumns: String {
        guard !spans.isEmpty else { return "" }
        return ([1] + spans.map(\.columns)).map { "<colgroup span=\"\($0)\"></colgroup>" }.joined()
    }

    private var spanHead: String {
        guard !spans.isEmpty else { return "" }
        let heads = spans.map { "<th scope=\"colgroup\" colspan=\"\($0.columns)\">\(markup($0.title))</th>" }
        return "<tr><td></td>\(heads.joined())</tr>"
    }

    private func attributes(_ column: Column) -> String {
        switch column {
        case .name: " class=\"name\""
        case .number: ""
        case .words: " class=\"words\""
        }
    }
}

/// The page's rows for single invocations.
struct StoryLinks {
    /// A table of single invocations. If several have an invocation, the first case has the most detail.
    enum Place: String, CaseIterable {
        case miss, slow, wait

        /// Returns the identifier of an invocation's row in this table.
        func anchor(_ id: InvocationID) -> String { "\(rawValue)-\(id.seq)-\(id.n)" }
    }

    private let rows: [Place: Set<InvocationID>]

    init(_ document: ReportDocument) {
        rows = [
            .miss: Set(document.detail.misses.rows.map(\.invocation.id)),
            .slow: Set(document.report.slowest.rows.map(\.id)),
            .wait: Set(document.report.longestWaits.rows.map(\.id)),
        ]
    }

    /// Returns the name of an invocation, as a link if a table other than `place` has its row.
    func link(_ id: InvocationID, from place: Place? = nil, mark: String = "") -> String {
        let text = mark + id.shortName
        guard let found = Place.allCases.first(where: { rows[$0]?.contains(id) == true }), found != place else {
            return text
        }
        return "<a href=\"#\(found.anchor(id))\">\(text)</a>"
    }

    /// Returns the invocations ahead of one in its lane, with a link; `-` if there were none.
    func ahead(of result: InvocationResult) -> String {
        result.aheadText(handler: markup) { link($0, mark: "#") } ?? "-"
    }
}
