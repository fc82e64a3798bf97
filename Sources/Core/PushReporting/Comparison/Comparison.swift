import PushFigures
import PushModel

/// What got worse since an earlier report, beyond what chance explains.
///
/// Misses and failures are compared with Fisher's exact test. Times are compared at p50, p90 and p99: of both reports'
/// rows together, the rows above that quantile are marked, and Fisher's test says whether the later report has too many
/// of them (the quantile test of Westenberg and Mood). All tests together are wrong at most once in 100 comparisons of
/// equals: the p-values are judged by Holm's method. A time must also have grown by ``leastGrowth`` and
/// ``leastMilliseconds``.
public struct Comparison: Sendable {
    /// How likely it may be that a comparison of equals finds anything.
    public static let significance = 0.01
    /// By which factor a time must have grown.
    public static let leastGrowth = 1.1
    /// By how many milliseconds a time must have grown.
    public static let leastMilliseconds: Int64 = 1

    /// One figure that got worse.
    public struct Finding: Hashable, Sendable {
        /// Which figure; the raw values are the names in JSON.
        public enum Figure: String, Sendable { case missed, failed, p50, p90, p99 }

        /// What it is the figure of: `all`, `handler`, `route` or `provider`.
        public let part: String
        /// The name of the handler, route or provider; empty for all.
        public let name: String
        /// Which figure.
        public let figure: Figure
        /// The share, or microseconds, in the earlier report.
        public let before: Double
        /// The share, or microseconds, in this report.
        public let after: Double
        /// How likely it is that chance alone does as much.
        public let pValue: Double
    }

    /// The window of the earlier report.
    public let since: String?
    /// The end of that window.
    public let until: String?
    /// How many figures were tested.
    public private(set) var tests = 0
    /// What got worse, the surest first.
    public private(set) var worse: [Finding] = []

    /// Compares a report with an earlier one.
    public init(_ report: ComplianceReport, _ detail: ReportDetail, with baseline: Baseline) {
        (since, until) = (baseline.since, baseline.until)
        var candidates = Self.findings(part: "all", name: "", baseline.all, detail.all)
        let groups: [(Baseline.Part, [String: FigureGroup])] = [
            (.handler, report.byHandler), (.route, report.byRoute), (.provider, report.byProvider),
        ]
        for (part, now) in groups {
            for (name, before) in (baseline.groups[part] ?? [:]).sorted(by: { $0.key < $1.key }) {
                guard let group = now[name] else { continue }
                candidates += Self.findings(part: part.rawValue, name: name, before, group)
            }
        }
        tests = candidates.count
        for (index, finding) in candidates.sorted(by: { $0.pValue < $1.pValue }).enumerated() {
            guard finding.pValue <= Self.significance / Double(tests - index) else { break }
            if finding.isLarge { worse.append(finding) }
        }
    }

    private static func findings(part: String, name: String, _ before: Baseline.Figures, _ after: FigureGroup)
        -> [Finding]
    {
        var findings: [Finding] = []
        let due = (before.due, after.compliance.due)
        let counts: [(Finding.Figure, Int, Int)] = [
            (.missed, before.missed, after.compliance.missed), (.failed, before.failed, after.failed),
        ]
        for (figure, was, now) in counts where due.0 > 0 && due.1 > 0 && was <= due.0 {
            findings.append(
                Finding(
                    part: part, name: name, figure: figure, before: Double(was) / Double(due.0),
                    after: Double(now) / Double(due.1),
                    pValue: Hypergeometric.upperTail(
                        marked: now, drawn: due.1, markedInAll: was + now, rows: due.0 + due.1)))
        }
        guard before.total.count > 0, after.total.count > 0 else { return findings }
        var together = before.total
        together.merge(after.total)
        for (figure, permille) in [(Finding.Figure.p50, 500), (.p90, 900), (.p99, 990)] {
            guard let limit = together.quantile(permille: permille),
                let was = before.total.quantile(permille: permille),
                let now = after.total.quantile(permille: permille)
            else { continue }
            findings.append(
                Finding(
                    part: part, name: name, figure: figure, before: Double(was), after: Double(now),
                    pValue: chance(of: after.total, among: together, beyond: limit)))
        }
        return findings
    }

    /// Many rows may have the very time of the quantile, so rows above it and rows at or above it are both tried, and the
    /// p-value counts for two tests.
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
    /// Whether the difference is worth a word, however sure it is.
    fileprivate var isLarge: Bool {
        switch figure {
        case .missed, .failed: after > before
        case .p50, .p90, .p99:
            after >= before * Comparison.leastGrowth
                && after - before >= Double(Comparison.leastMilliseconds * 1000)
        }
    }

    /// One line for people: `handler crm: p99 120 ms, was 80 ms (p = 0.0001)`.
    public var text: String {
        "\(name.isEmpty ? part : "\(part) \(name)"): \(figure.rawValue) \(value(after)), was \(value(before)) "
            + "(p \(pValue < 0.0001 ? "< 0.0001" : "= \(rounded(pValue, decimals: 4))"))"
    }

    private func value(_ value: Double) -> String {
        switch figure {
        case .missed, .failed: "\(rounded(value * 100, decimals: 2)) %"
        case .p50, .p90, .p99: "\(groupedMilliseconds(Int64(value))) ms"
        }
    }
}
