public import PushModel

extension [PayloadMatrix] {
    /// Returns one self-contained page for a browser or a ticket: for each payload its table, the reasons and the
    /// payload.
    ///
    /// - Parameters:
    ///   - program: the program that makes the page, with its version.
    ///   - now: the time of the page.
    public func page(by program: String, at now: WallTime) -> String {
        let overview = HTML.table(
            "All payloads", enumerated().filter { _ in count > 1 },
            [
                .name("Payload") { "<a href=\"#payload-\($0.offset + 1)\">\($0.element.name)</a>" },
                .words("Owner") { "\($0.element.owners)" }, .words("Losses") { $0.element.losses },
                .number("Warnings") { "\($0.element.warnings.count)" },
            ])
        return HTMLPage(
            title: count == 1 ? "What happens to \(self[0].name)" : "What happens to \(count) payloads",
            lead: """
                <p class="soft">\(program), \(now.rfc3339). A loss is <span class="bad">in bold</span>: nobody gets the push, or \
                counts the open. A <mark>marked</mark> cell differs from the state above it. Nothing was sent.</p>
                \(overview)
                """,
            sections: enumerated().map { HTML.section("payload-\($0 + 1)", $1.name, $1.html) }
        ).text
    }
}

extension PayloadMatrix {
    /// The different texts of the first column.
    fileprivate var owners: String {
        rows.compactMap(\.cells.first?.text).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            .joined(separator: ", ")
    }

    fileprivate var losses: Markup {
        let lost = Warning.places(
            rows.filter { ($0.isLost || $0.hasLoss) && $0.place.device == nil }.map(\.place))
        return lost.isEmpty ? "none" : "<span class=\"bad\">\(lost)</span>"
    }

    /// The decision by platform and state.
    var table: Markup {
        let cells = columns.enumerated().map { index, title -> Column<Row> in
            .name(title) { row in row.cells[index].html }
        }
        return HTML.table(
            "By platform and state of the app; a marked cell differs from the state above it", rows,
            [
                .name("Platform and state") { row in
                    let place: Markup = "\(row.place.platform.shownName), \(row.place.stateName)"
                    return row.isLost ? "<span class=\"bad\">\(place)</span>" : place
                }
            ] + cells)
    }

    fileprivate var html: Markup {
        let reasons = rows.filter { !$0.reasons.isEmpty }.map { row -> Markup in
            "<h3>\(row.place.platform.shownName), \(row.place.stateName)</h3>\n\(HTML.list(row.reasons))"
        }
        let lost = rows.filter(\.isLost).map(\.place)
        let verdict = Warning(text: "Braze never sees the push, and its open is lost", places: lost).sentence
        return """
            \(Markup.when(!lost.isEmpty, "<p class=\"bad\">\(verdict)</p>\n"))\(table)\(HTML.list(warnings.map(\.sentence), "warn"))\
            \(HTML.details("Why", "\(reasons)"))\(HTML.details("The payload", HTML.pre(String(decoding: payload, as: UTF8.self), "The payload")))
            """
    }
}

extension PayloadMatrix.Cell {
    fileprivate var html: Markup {
        let shown: Markup = isLoss ? "<span class=\"bad\">\(text)</span>" : "\(text)"
        return differs ? "<mark>\(shown)</mark>" : shown
    }
}
