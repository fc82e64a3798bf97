import PushModel

/// The figures that got worse since an earlier report, beyond chance.
///
/// Misses and failures are compared with Fisher's exact test. Queue and execution times are compared separately, so
/// that a handler that waits for another one is not blamed for it, each at p50, p90 and p99. The rows of both reports
/// above the common quantile are marked, and Fisher's test decides whether the later report has too many of them (the
/// quantile test of Westenberg and Mood). Holm's method judges the p-values: all tests together report a difference of
/// equal reports in at most one of 100 comparisons. A time must also have grown by ``leastGrowth`` and
/// ``leastMilliseconds``.
public struct Comparison: Sendable {
    /// The probability that a comparison of equal reports finds a difference.
    static let significance = 0.01
    /// The least factor by which a time must have grown.
    static let leastGrowth = 1.1
    /// The least number of milliseconds by which a time must have grown.
    static let leastMilliseconds: Int64 = 1

    /// The group that figures belong to.
    public struct Part: Hashable, Sendable {
        /// The kind: `all`, `handler`, `route` or `provider`.
        public let kind: String
        /// The name of the handler, route or provider; empty for all.
        public let name: String
    }

    /// One figure that got worse.
    public struct Finding: Hashable, Sendable {
        /// The kind of figure; the raw values are the names in JSON.
        public enum Figure: String, Sendable, CaseIterable {
            case missed, failed
            /// From acceptance to the start of the handler.
            case queueP50 = "queue_p50", queueP90 = "queue_p90", queueP99 = "queue_p99"
            /// From the start of the handler to its end.
            case execP50 = "exec_p50", execP90 = "exec_p90", execP99 = "exec_p99"
        }

        /// The group of the figure.
        public let part: Part
        /// The kind of figure.
        public let figure: Figure
        /// The share, or the microseconds, in the earlier report.
        public let before: Double
        /// The share, or the microseconds, in this report.
        public let after: Double
        /// The probability of such a difference by chance alone.
        let pValue: Double
    }

    /// The file of the earlier report, for people.
    public let file: String
    /// The start of the earlier report's window.
    public let since: String?
    /// The end of that window.
    public let until: String?
    /// The times of acceptance of the earlier report's first and last request; `nil` if it does not have them.
    let covered: ClosedRange<WallTime>?
    /// The compared groups; the group of all rows is first.
    public private(set) var parts: [Part] = []
    /// The number of tested figures.
    public private(set) var tests = 0
    /// The figures that got worse, by rising p-value.
    public private(set) var worse: [Finding] = []

    /// Compares a report with an earlier one. Skips a group with the figures of all rows in both reports: it adds nothing.
    /// - Parameter file: the file of the earlier report, for people.
    public init(_ report: ComplianceReport, _ detail: ReportDetail, with baseline: Baseline, file: String) {
        self.file = file
        (since, until, covered) = (baseline.since, baseline.until, baseline.covered)
        let all = Baseline.Figures(detail.all)
        var compared = [(part: Part(kind: "all", name: ""), before: baseline.all, after: all)]
        let groups: [(Baseline.Part, [String: FigureGroup])] = [
            (.handler, report.byHandler), (.route, report.byRoute), (.provider, report.byProvider),
        ]
        for (kind, now) in groups {
            for (name, before) in (baseline.groups[kind] ?? [:]).sorted(by: { $0.key < $1.key }) {
                guard let after = now[name].map(Baseline.Figures.init) else { continue }
                guard before != baseline.all || after != all else { continue }
                compared.append((part: Part(kind: kind.rawValue, name: name), before: before, after: after))
            }
        }
        parts = compared.map(\.part)
        let candidates = compared.flatMap { Self.findings($0.part, $0.before, $0.after) }
        tests = candidates.count
        for (index, finding) in candidates.sorted(by: { $0.pValue < $1.pValue }).enumerated() {
            guard finding.pValue <= Self.significance / Double(tests - index) else { break }
            if finding.isLarge { worse.append(finding) }
        }
    }

    private static func findings(_ part: Part, _ before: Baseline.Figures, _ after: Baseline.Figures) -> [Finding] {
        var findings: [Finding] = []
        for (figure, was, now) in [
            (Finding.Figure.missed, before.missed, after.missed), (.failed, before.failed, after.failed),
        ] where before.due > 0 && after.due > 0 && was <= before.due {
            findings.append(
                Finding(
                    part: part, figure: figure, before: Double(was) / Double(before.due),
                    after: Double(now) / Double(after.due),
                    pValue: Hypergeometric.upperTail(
                        marked: now, drawn: after.due, markedInAll: was + now, rows: before.due + after.due)))
        }
        return findings
            + quantiles(part, before.queue, after.queue, [(.queueP50, 500), (.queueP90, 900), (.queueP99, 990)])
            + quantiles(part, before.exec, after.exec, [(.execP50, 500), (.execP90, 900), (.execP99, 990)])
    }

    private static func quantiles(
        _ part: Part, _ before: Histogram, _ after: Histogram, _ figures: [(Finding.Figure, permille: Int)]
    ) -> [Finding] {
        guard before.count > 0, after.count > 0 else { return [] }
        var together = before
        together.merge(after)
        return figures.compactMap { figure, permille in
            guard let limit = together.quantile(permille: permille), let was = before.quantile(permille: permille),
                let now = after.quantile(permille: permille)
            else { return nil }
            return Finding(
                part: part, figure: figure, before: Double(was), after: Double(now),
                pValue: chance(of: after, among: together, beyond: limit))
        }
    }

    /// Returns the p-value at a quantile. Many rows may have exactly the quantile's time, so it tests rows above it and
    /// rows at or above it, and counts the p-value for two tests.
    private static func chance(of part: Histogram, among all: Histogram, beyond limit: Int64) -> Double {
        let tails = [
            (part.count(above: limit), all.count(above: limit)), (part.count(from: limit), all.count(from: limit)),
        ]
        let values = tails.map { marked, markedInAll in
            Hypergeometric.upperTail(marked: marked, drawn: part.count, markedInAll: markedInAll, rows: all.count)
        }
        return min(1, 2 * (values.min() ?? 1))
    }
}

extension Comparison.Finding {
    /// Whether the difference is large enough to report, regardless of its p-value.
    fileprivate var isLarge: Bool {
        guard figure.isTime else { return after > before }
        return after >= before * Comparison.leastGrowth
            && after - before >= Double(Comparison.leastMilliseconds * 1000)
    }
}

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

/// Fisher's exact test on a two-by-two table of counts.
///
/// The test is exact for any number of rows, including very few.
enum Hypergeometric {
    /// Returns the one-sided p-value: the probability that at least `marked` of `drawn` rows are marked if `drawn` rows
    /// are drawn at random from `rows`, of which `markedInAll` are marked.
    ///
    /// It computes each weight from its neighbour, from the likeliest count outwards, so it needs no factorials. It
    /// leaves out weights that are too small to change the sum.
    static func upperTail(marked: Int, drawn: Int, markedInAll: Int, rows: Int) -> Double {
        let lowest = max(0, drawn + markedInAll - rows)
        let highest = min(drawn, markedInAll)
        precondition(lowest <= marked && marked <= highest, "\(marked) of \(drawn) cannot be marked")
        let likeliest = Double(drawn + 1) * Double(markedInAll + 1) / Double(rows + 2)
        let mode = min(max(Int(likeliest), lowest), highest)
        let negligible = 1e-18

        var (all, tail) = (1.0, mode >= marked ? 1.0 : 0.0)
        var weight = 1.0
        var count = mode
        while count < highest {
            weight *=
                Double(markedInAll - count) * Double(drawn - count)
                / (Double(count + 1) * Double(rows - markedInAll - drawn + count + 1))
            count += 1
            all += weight
            if count >= marked { tail += weight }
            // Beyond `marked`, smaller weights change nothing; before it, they are the sum in question.
            if weight < negligible, count >= marked || weight < 1e-290 { break }
        }
        weight = 1
        count = mode
        while count > lowest {
            weight *=
                Double(count) * Double(rows - markedInAll - drawn + count)
                / (Double(markedInAll - count + 1) * Double(drawn - count + 1))
            count -= 1
            all += weight
            if count >= marked { tail += weight }
            if weight < negligible { break }
        }
        return min(1, tail / all)
    }
}
