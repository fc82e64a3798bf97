public import PushModel

extension [PayloadMatrix] {
    /// Returns one self-contained page for a browser or a ticket: for each payload its table, the reasons and the
    /// payload.
    ///
    /// - Parameters:
    ///   - program: the program that makes the page, with its version.
    ///   - now: the time of the page.
    public func page(by program: String, at now: WallTime) -> String {
        var page = HTMLPage(title: count == 1 ? "What happens to \(self[0].name)" : "What happens to \(count) payloads")
        page.lead(
            "<p class=\"soft\">\(markup(program)), \(now.rfc3339). A loss is <span class=\"bad\">in bold</span>: nobody gets the "
                + "push, or counts the open. An <mark>underlined</mark> cell differs from the state above it. Nothing was "
                + "sent.</p>\n" + (count > 1 ? overview : ""))
        for (index, matrix) in enumerated() { page.section("payload-\(index + 1)", matrix.name, matrix.html) }
        return page.text
    }
}

extension [PayloadMatrix] {
    /// A table with a row for each payload.
    fileprivate var overview: String {
        var table = HTMLTable(
            "All payloads",
            [.name("Payload"), .words("Owner"), .words("Losses"), .number("Warnings")])
        for (index, matrix) in enumerated() {
            let lost = matrix.rows.filter { $0.isLost || $0.hasLoss }.map(\.place)
            let losses = PayloadMatrix.Warning.places(lost)
            table.add([
                "<a href=\"#payload-\(index + 1)\">\(markup(matrix.name))</a>", markup(matrix.owners),
                losses.isEmpty ? "none" : "<span class=\"bad\">\(markup(losses))</span>", "\(matrix.warnings.count)",
            ])
        }
        return table.text
    }
}

extension PayloadMatrix {
    /// The different texts of the first column.
    fileprivate var owners: String {
        rows.compactMap(\.cells.first?.text).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            .joined(separator: ", ")
    }

    fileprivate var html: String {
        var table = HTMLTable(
            "Decision by platform and state of the app",
            [.name("Platform and state")] + columns.map { .name($0) })
        for row in rows { table.add([markup(row.place.name)] + row.cells.map(\.html)) }
        let warnings = warnings.map(\.sentence)
        let reasons = rows.filter { !$0.reasons.isEmpty }.map { row in
            "<h3>\(markup(row.place.name))</h3>\n\(list("ol", row.reasons))"
        }
        let payload = String(decoding: payload, as: UTF8.self).showingControlsInLines().escapedForMarkup
        let lost = rows.filter(\.isLost).map(\.place)
        let verdict = PayloadMatrix.Warning(text: "Braze never sees the push, and its open is lost", places: lost)
            .sentence
        return (lost.isEmpty ? "" : "<p class=\"bad\">\(markup(verdict))</p>\n") + table.text
            + (warnings.isEmpty ? "" : "<div class=\"warnings\" role=\"note\">\n\(list("ul", warnings))</div>\n")
            + (reasons.isEmpty ? "" : "<details><summary>Why</summary>\n\(reasons.joined())</details>\n")
            + "<details><summary>The payload</summary>\n<pre>\(payload)</pre></details>\n"
    }

    private func list(_ kind: String, _ items: [String]) -> String {
        "<\(kind)>\n" + items.map { "<li>\(markup($0))</li>\n" }.joined() + "</\(kind)>\n"
    }
}

extension PayloadMatrix.Place {
    fileprivate var name: String { "\(platform.rawValue), \(state.rawValue)" }
}

extension PayloadMatrix.Cell {
    fileprivate var html: String {
        let text = isLoss ? "<span class=\"bad\">\(markup(text))</span>" : markup(text)
        return differs ? "<mark>\(text)</mark>" : text
    }
}
