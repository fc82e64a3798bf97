import PushModel

/// A page of sections. As a file it is self-contained: without scripts, further files and network access.
struct HTMLPage {
    /// The title, for a page that embeds this one.
    let title: String
    /// The content below the title, for a page that embeds this one.
    let content: Markup

    /// - Parameter lead: the content before the sections.
    init(title: String, lead: Markup, sections: [Markup]) {
        self.title = title
        content = "<section id=\"summary\" aria-label=\"Summary\">\n\(lead)</section>\n\(sections)"
    }

    /// The whole page.
    var text: String {
        Self.file(title: title, "<main class=\"whole\">\n<h1>\(title)</h1>\n\(content)</main>\n")
    }

    /// A page that opens anywhere: its style within, no script, nothing to load.
    static func file(title: String, _ body: Markup) -> String {
        let style = Markup(made: String(decoding: PackageResources.page_css, as: UTF8.self))
        let head: Markup = """
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
            <style>
            \(style)
            </style>
            """
        return HTML.document(title, head, body).html
    }
}

extension HTML {
    /// A table, whose first column has the headings of the rows; empty without rows. A wide one scrolls by itself, also with
    /// the keyboard.
    static func table<Row>(_ caption: String, _ rows: some Sequence<Row>, _ columns: [Column<Row>]) -> Markup {
        let columns = columns.filter { $0.looks.contains(.page) }
        let head = columns.map { column -> Markup in "<th scope=\"col\"\(column.kindClass)>\(column.title)</th>" }
        let lines = rows.map { row -> Markup in
            let cells = columns.enumerated().map { index, column -> Markup in
                index == 0
                    ? "<th scope=\"row\"\(column.kindClass)>\(column.cell(row))</th>"
                    : "<td\(column.kindClass)>\(column.cell(row))</td>"
            }
            return "<tr>\(cells)</tr>\n"
        }
        guard !lines.isEmpty else { return "" }
        return """
            <div class="wide" role="region" tabindex="0" aria-label="\(caption)"><table><caption>\(caption)</caption><thead><tr>\(head)</tr></thead>
            <tbody>
            \(lines)</tbody></table></div>

            """
    }

    /// A section with its heading; an empty one is left out.
    /// - Parameter folded: whether it is closed at first.
    static func section(_ id: String, _ heading: String, _ content: Markup, folded: Bool = false) -> Markup {
        guard !content.isEmpty else { return "" }
        let title: Markup = "<h2 id=\"\(id)-h\">\(heading)</h2>\n"
        let shown: Markup = folded ? "<details><summary>\(title)</summary>\n\(content)</details>" : title + content
        return "<section class=\"card\" id=\"\(id)\" aria-labelledby=\"\(id)-h\">\n\(shown)</section>\n"
    }

    /// Texts as a list; empty without one.
    static func list(_ items: [String], _ kind: String = "") -> Markup {
        let lines = items.map { item -> Markup in "<li>\(item)</li>\n" }
        return items.isEmpty ? "" : "<ul class=\"plain \(kind)\">\n\(lines)</ul>\n"
    }

    /// Facts with their names, in cards if `kind` says so.
    static func facts(_ rows: [(name: String, value: Markup)], _ kind: String = "facts") -> Markup {
        let parts = rows.map { row -> Markup in "<div><dt>\(row.name)</dt><dd>\(row.value)</dd></div>\n" }
        return rows.isEmpty ? "" : "<dl class=\"\(kind)\">\(parts)</dl>\n"
    }
}
