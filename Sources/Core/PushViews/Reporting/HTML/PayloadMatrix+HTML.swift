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
            "<p class=\"soft\">\(markup(program)), \(now.rfc3339). A marked cell differs from the state above it. "
                + "Nothing was sent.</p>\n")
        for (index, matrix) in enumerated() { page.section("payload-\(index + 1)", matrix.name, matrix.html) }
        return page.text
    }
}

extension PayloadMatrix {
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
    fileprivate var html: String { differs ? "<mark>\(markup(text))</mark>" : markup(text) }
}
