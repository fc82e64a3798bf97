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

    /// `41`; with the place in the request where it is not the first, `41.1`.
    static func name(_ id: InvocationID) -> String { id.n == 0 ? "\(id.seq)" : "\(id.seq).\(id.n)" }

    /// The name of an invocation, as a link to its row where another table than `place` has one.
    func link(_ id: InvocationID, from place: Place? = nil, mark: String = "") -> String {
        let text = mark + Self.name(id)
        guard let found = Place.allCases.first(where: { rows[$0]?.contains(id) == true }), found != place else {
            return text
        }
        return "<a href=\"#\(found.anchor(id))\">\(text)</a>"
    }

    /// How many were ahead of an invocation and which of them took longest: `behind 60, longest #90 (hangs, 702 ms)`; `-`
    /// where none was.
    func ahead(of result: InvocationResult) -> String {
        guard let longest = result.waitedFor else { return "-" }
        let facts = [longest.handler ?? "tracker", longest.took.map(roundedSpan)].compactMap(\.self)
        let behind = result.ahead.map { "behind \(grouped($0)), " } ?? ""
        return "\(behind)longest \(link(longest.id, mark: "#")) (\(markup(facts.joined(separator: ", "))))"
    }
}
