import PushModel

/// The ends of due calls, as a picture shows them.
enum CallEnd: String, CaseIterable, Sendable {
    case inTime = "in", failed = "fail", late = "out"

    init(_ outcome: Outcome) { self = outcome.isMissed ? .late : outcome == .failed ? .failed : .inTime }

    /// Its name, for people.
    var words: String {
        switch self {
        case .inTime: "in time"
        case .failed: "failed in time"
        case .late: "late"
        }
    }
}

/// How many due calls ended in which way.
struct CallCounts: Hashable, Sendable {
    var due = 0
    var failed = 0
    var late = 0

    subscript(end: CallEnd) -> Int {
        switch end {
        case .inTime: due - failed - late
        case .failed: failed
        case .late: late
        }
    }

    static func += (left: inout CallCounts, right: CallCounts) {
        left.due += right.due
        left.failed += right.failed
        left.late += right.late
    }

    mutating func add(_ end: CallEnd) {
        due += 1
        failed += end == .failed ? 1 : 0
        late += end == .late ? 1 : 0
    }
}

/// The due calls of a report, one by one while they are few, and their counts by the second while they lie close
/// together. The timeline has those of longer windows, by the minute.
public struct CallTimes: Hashable, Sendable {
    /// The most calls that are kept one by one.
    public static let fewMax = 50
    /// The longest time for which the counts by the second are kept, in seconds: from here on minutes make a picture.
    public static let secondsMax: Int64 = 1800
    /// The most bars of a picture.
    static let barsMax = 80
    /// The lengths of a bar in seconds.
    private static let widths: [Int64] = [1, 2, 5, 10, 15, 30]

    private var rows: [ReportRow] = []
    private var seconds: [Int64: CallCounts] = [:]
    /// From the first second with a call to the last one.
    private var extent: ClosedRange<Int64>?
    private var count = 0
    private var isLong = false

    /// Counts one row; ignores one that was not due.
    public mutating func add(_ row: ReportRow) {
        guard let outcome = row.invocation.result?.outcome, outcome.isDue, !row.invocation.isObserver else { return }
        count += 1
        if count <= Self.fewMax { rows.append(row) } else { rows = [] }
        guard !isLong else { return }
        let second = row.acceptedAt.seconds
        seconds[second, default: CallCounts()].add(CallEnd(outcome))
        extent = min(extent?.lowerBound ?? second, second)...max(extent?.upperBound ?? second, second)
        guard let extent, extent.upperBound - extent.lowerBound >= Self.secondsMax else { return }
        isLong = true
        seconds = [:]
    }

    /// The calls in the order of their acceptance; `nil` if there are more than a few.
    ///
    /// - Parameter due: the number of due calls of the report.
    func calls(of due: Int) -> [ReportRow]? {
        guard count == due, count <= Self.fewMax else { return nil }
        return rows.sorted { ($0.acceptedAt, $0.invocation.id) < ($1.acceptedAt, $1.invocation.id) }
    }

    /// The bars of a picture, each with its begin, and their length in seconds; `nil` if the calls lie too far apart.
    ///
    /// - Parameter due: the number of due calls of the report.
    func bars(of due: Int) -> (width: Int64, bars: [(begin: WallTime, counts: CallCounts)])? {
        guard count == due, !isLong, let extent else { return nil }
        func place(_ second: Int64, _ width: Int64) -> Int64 { (second - (second % width + width) % width) / width }
        let width = Self.widths.first {
            place(extent.upperBound, $0) - place(extent.lowerBound, $0) < Int64(Self.barsMax)
        }
        guard let width else { return nil }
        var bars: [Int64: CallCounts] = [:]
        for (second, counts) in seconds { bars[place(second, width), default: CallCounts()] += counts }
        let places = place(extent.lowerBound, width)...place(extent.upperBound, width)
        return (
            width,
            places.map { (WallTime(milliseconds: $0 * width * 1000), bars[$0] ?? CallCounts()) }
        )
    }
}
