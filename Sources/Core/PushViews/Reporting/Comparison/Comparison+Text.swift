import PushModel

extension Comparison {
    /// Returns the summary for people: `Compared with before.json: 24 figures, none worse`, and the time that the file
    /// covers.
    func text(_ zone: LocalZone) -> String {
        "Compared with \(file.showingControls()): \(grouped(tests)) figures, "
            + (worse.isEmpty ? "none worse" : "\(grouped(worse.count)) worse")
            + (covered.map { "; it covers \(zone.text($0))" } ?? "")
    }

    /// The statistical criterion, for people.
    static let sureness =
        "The report names a figure if chance causes such a change in less than one of 100 comparisons, and a time "
        + "only if it also grew by a tenth and by 1 ms."
}

extension Comparison.Part {
    /// `handler crm`; `all invocations`.
    var words: String { name.isEmpty ? "all invocations" : "\(kind) \(name)" }
}

extension Comparison.Finding.Figure {
    /// Whether it is a time; the other figures are shares.
    var isTime: Bool {
        switch self {
        case .missed, .failed: false
        case .queueP50, .queueP90, .queueP99, .execP50, .execP90, .execP99: true
        }
    }

    /// `exec p50`.
    var words: String { rawValue.replacingUnderscores }
}

extension Comparison.Finding {
    /// `handler crm: exec p99 120.0 ms, was 80.0 ms (p = 0.0001)`.
    var text: String { "\(part.words): \(change)" }

    /// The text without the part: `exec p99 120.0 ms, was 80.0 ms (p = 0.0001)`.
    var change: String { "\(figure.words) \(shown(after)), was \(shown(before)) (p \(chance))" }

    /// The p-value: `= 0.0001`.
    var chance: String { pValue < 0.0001 ? "< 0.0001" : "= \(rounded(pValue, decimals: 4))" }

    /// Returns a value of the figure with its unit.
    func shown(_ value: Double) -> String {
        figure.isTime ? "\(groupedMilliseconds(Int64(value))) ms" : "\(rounded(value * 100, decimals: 2)) %"
    }
}
