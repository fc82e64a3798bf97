import PushModel

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
