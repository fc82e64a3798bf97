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
        contents.count < 4 ? "" : "<nav aria-label=\"Contents\"><ul>\n\(contents.joined(separator: "\n"))</ul></nav>\n"
    }

    /// The content below the title, for a page that embeds this one.
    public var content: String { summary + navigation + body }

    /// The whole page.
    var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
        <link rel="icon" href="data:,">
        <title>\(markup(title))</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <main>
        <h1>\(markup(title))</h1>
        \(content)</main>
        </body>
        </html>

        """
    }

    /// Contrasts on the background and on cards, in both colour schemes and in print: text at least 4.5 : 1; lines,
    /// bars and chart cells at least 3 : 1. `--line` only separates rows and cards.
    static let style = """
        :root{--ground:#fff;--text:#1a1d21;--soft:#4a5058;--line:#c9ced6;--card:#f3f5f8;--link:#0b4f9e;--bar:#2f6fb5;
        --bad:#9b1c1c;--good:#14602f;--limit:#9b1c1c;
        --axis:#80878f;--heat1:#5b97d4;--heat2:#4480c2;--heat3:#2f6aac;--heat4:#1f5491;--heat5:#113e73;--heat6:#062749}
        @media(prefers-color-scheme:dark){:root{--ground:#14171b;--text:#eceff3;--soft:#b9c0c9;--line:#3c434c;
        --card:#1e2329;--link:#8fc1ff;--bar:#6ba6e8;--bad:#ff9d9d;--good:#86d9a3;--limit:#ff9d9d;
        --axis:#7b848f;--heat1:#4474aa;--heat2:#568ac4;--heat3:#6ba1da;--heat4:#87b8ea;--heat5:#a9d0f6;--heat6:#d3e8ff}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
        main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 4rem}
        h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2.25rem 0 .5rem}
        h3{font-size:1rem;margin:1.25rem 0 .25rem}
        .answer{font-size:1.15rem;margin:.4rem 0 .8rem}summary{cursor:pointer}summary h2{display:inline-block}
        nav ul{columns:15rem;column-gap:1.5rem;margin:1rem 0;padding:0 0 0 1.2rem}
        p{margin:.4rem 0}.soft{color:var(--soft)}.bad{color:var(--bad);font-weight:600}.good{color:var(--good);font-weight:600}
        a{color:var(--link)}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);outline-offset:2px}
        .cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.75rem;margin:1rem 0;padding:0}
        .cards>div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem}
        .cards dt{color:var(--soft);font-size:.85rem}.cards dd{margin:0;font-size:1.35rem;font-variant-numeric:tabular-nums}
        .cards dd small{display:block;font-size:.85rem;color:var(--soft)}
        .warnings{border-left:.3rem solid var(--bad);background:var(--card);padding:.5rem 1rem;margin:1rem 0}
        .warnings ul{margin:.25rem 0;padding-left:1.2rem}
        .wide{overflow-x:auto}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.92rem}
        caption{text-align:left;color:var(--soft);padding:.25rem 0}
        th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap;vertical-align:top}
        th.name,td.name{text-align:left}td.words,th.words{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:10rem}
        tbody th.name{white-space:normal;overflow-wrap:anywhere;min-width:7rem}
        table.dense{font-size:.85rem}.dense th,.dense td{padding:.3rem .35rem}
        th[scope=colgroup]{border-bottom:1px solid var(--line);text-align:center}
        .dense thead th.name{text-align:left}
        thead th{border-bottom:2px solid var(--line);white-space:normal;vertical-align:bottom}tbody tr:target{background:var(--card);outline:2px solid var(--link)}
        code,pre{font:.9em ui-monospace,monospace}
        pre{background:var(--card);padding:.6rem .8rem;white-space:pre-wrap;overflow-wrap:anywhere}
        mark{background:none;color:var(--text);border-bottom:2px solid var(--axis)}
        svg{display:block;width:100%;height:auto;max-width:60rem}
        svg text{fill:var(--soft);font:12px system-ui,sans-serif}
        .chart{min-width:40rem}
        .bar{fill:var(--bar)}.badbar{fill:var(--bad)}.goodbar{fill:var(--good)}.gap{fill:var(--axis)}.axis{stroke:var(--axis)}.limit{stroke:var(--limit);stroke-dasharray:4 3}
        svg text.limitname{fill:var(--limit)}.frame{fill:none;stroke:var(--axis)}
        .heat1{fill:var(--heat1)}.heat2{fill:var(--heat2)}.heat3{fill:var(--heat3)}.heat4{fill:var(--heat4)}.heat5{fill:var(--heat5)}
        .heat6{fill:var(--heat6)}
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}
        @media(max-width:30rem){.charts{grid-template-columns:1fr}.cards{grid-template-columns:1fr 1fr}caption{max-width:calc(100vw - 1.5rem)}main{padding:1rem .6rem 3rem}th,td{padding:.3rem .4rem}}
        @media print{:root{--ground:#fff;--text:#000;--soft:#333;--line:#999;--card:#fff;--link:#000;--bar:#2f6fb5;
        --bad:#9b1c1c;--good:#14602f;--limit:#9b1c1c;
        --axis:#777;--heat1:#5b97d4;--heat2:#4480c2;--heat3:#2f6aac;--heat4:#1f5491;--heat5:#113e73;--heat6:#062749}main{max-width:none;padding:0}
        body{font-size:10pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
        details::details-content{content-visibility:visible;block-size:auto}
        section,tr,svg,.cards>div{break-inside:avoid}section.long{break-inside:auto}h2,h3{break-after:avoid}
        .wide{overflow:visible}.chart{min-width:0}table{font-size:7pt}th,td,td.words{white-space:normal;min-width:0}th,td{padding:.15rem .3rem}thead{display:table-header-group}}
        """
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
