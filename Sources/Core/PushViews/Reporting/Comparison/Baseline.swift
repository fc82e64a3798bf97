public import PushModel

/// An earlier report, read from its JSON, as the base of a comparison.
public struct Baseline: Sendable {
    /// The error of a file that is not a baseline.
    public struct Unreadable: Error, Hashable, Sendable {
        /// The reason, for people.
        public let message: String
    }

    /// The figures of a group to compare.
    struct Figures: Hashable, Sendable {
        var due = 0
        var missed = 0
        var failed = 0
        /// From acceptance to the start of the handler.
        var queue = Histogram()
        /// From the start of the handler to its end.
        var exec = Histogram()
    }

    /// The kinds of groups to compare; the raw values are the members of `histograms` in JSON.
    enum Part: String, CaseIterable { case handler, route, provider }

    /// The figures of all rows.
    let all: Figures
    /// The figures of each group by kind and name.
    let groups: [Part: [String: Figures]]
    /// The start of the earlier report's window, as in its JSON.
    public let since: String?
    /// The end of that window.
    public let until: String?
    /// The times of acceptance of its first and last request; `nil` if it has none, or if its version did not write
    /// them.
    let covered: ClosedRange<WallTime>?

    /// Reads the JSON of `pushctl report`.
    ///
    /// - Throws: the missing part. A report of a version that wrote no histograms is not a baseline.
    public init(_ root: JSONNode) throws(Unreadable) {
        guard let histograms = root["histograms"], let histogramsOfAll = histograms["all"] else {
            throw Unreadable(message: "the report has no histograms; write it with `pushctl report --json`")
        }
        guard let due = Self.count(root["due"]), let missed = Self.count(root["missed"]), missed <= due else {
            throw Unreadable(message: "due and missed are not counts")
        }
        all = Figures(
            due: due, missed: missed, failed: Self.count(root["outcomes"]?["failed"]) ?? 0,
            queue: try Self.histogram(histogramsOfAll["queue"]), exec: try Self.histogram(histogramsOfAll["exec"]))
        var groups: [Part: [String: Figures]] = [:]
        for part in Part.allCases {
            for (name, group) in root["by_\(part.rawValue)"]?.members ?? [] {
                guard let due = Self.count(group["due"]), let missed = Self.count(group["missed"]), missed <= due else {
                    throw Unreadable(message: "by_\(part.rawValue): due and missed are not counts")
                }
                let times = histograms["by_\(part.rawValue)"]?[name]
                groups[part, default: [:]][name] = Figures(
                    due: due, missed: missed, failed: Self.count(group["failed"]) ?? 0,
                    queue: try Self.histogram(times?["queue"]), exec: try Self.histogram(times?["exec"]))
            }
        }
        self.groups = groups
        since = root["window"]?["since"]?.string
        until = root["window"]?["until"]?.string
        let times = ["first_at", "last_at"].compactMap { root["window"]?[$0]?.string.flatMap(WallTime.init(rfc3339:)) }
        covered = times.count == 2 && times[0] <= times[1] ? times[0]...times[1] : nil
    }

    /// More than the rows of any ledger, and small enough that sums of such counts do not overflow.
    private static let largestCount: Int64 = 1 << 40

    private static func count(_ node: JSONNode?) -> Int? {
        node?.int64.flatMap { 0 <= $0 && $0 < largestCount ? Int($0) : nil }
    }

    private static func histogram(_ node: JSONNode?) throws(Unreadable) -> Histogram {
        var histogram = Histogram()
        for pair in node?.elements ?? [] {
            let values = pair.elements
            guard values.count == 2, let time = values[0].int64, time >= 0, let count = count(values[1]) else {
                throw Unreadable(message: "a histogram has pairs of microseconds and a count")
            }
            histogram.add(microseconds: time, count: count)
            guard histogram.count < largestCount else { throw Unreadable(message: "a histogram counts too much") }
        }
        return histogram
    }
}

extension Baseline.Figures {
    /// The figures of a group of the later report.
    init(_ group: FigureGroup) {
        self.init(
            due: group.compliance.due, missed: group.compliance.missed, failed: group.failed, queue: group.queue,
            exec: group.exec)
    }
}
