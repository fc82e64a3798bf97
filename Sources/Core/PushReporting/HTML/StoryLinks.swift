import PushModel

/// Where the page has a row of its own for an invocation.
struct StoryLinks {
    /// A table of single invocations; the first one that has an invocation says most about it.
    enum Place: String, CaseIterable {
        case miss, slow, wait

        /// The identifier of an invocation's row in it.
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

    /// The name of an invocation, as a link to its row where another table than `place` has one.
    func link(_ id: InvocationID, from place: Place? = nil, mark: String = "") -> String {
        let text = mark + id.shortName
        guard let found = Place.allCases.first(where: { rows[$0]?.contains(id) == true }), found != place else {
            return text
        }
        return "<a href=\"#\(found.anchor(id))\">\(text)</a>"
    }

    /// Who was ahead of an invocation, with a link; `-` where nobody was.
    func ahead(of result: InvocationResult) -> String {
        result.aheadText(handler: markup) { link($0, mark: "#") } ?? "-"
    }
}
