public import PushModel

/// The requests accepted and the invocations decided in the last five minutes, for a screen that is redrawn.
///
/// It keeps figures of ten seconds each and merges them: neither memory nor the time to draw grows with the number of
/// invocations. It leaves out observers, like the report.
public struct LiveFigures: Sendable {
    /// The time that the figures reach back.
    public static let reach = Duration.seconds(300)

    /// The figures of one handler.
    struct Handler {
        var decided = 0
        var failed = 0
        var missed = 0
        /// The times from the start of the handler to its end.
        var exec = Histogram()

        mutating func add(_ result: InvocationResult) {
            decided += 1
            failed += result.outcome.isFailure ? 1 : 0
            missed += result.outcome.isMissed ? 1 : 0
            if result.exec > .zero { exec.add(microseconds: result.exec.microseconds) }
        }

        mutating func merge(_ other: Handler) {
            decided += other.decided
            failed += other.failed
            missed += other.missed
            exec.merge(other.exec)
        }
    }

    private struct Slot {
        var outcomes: [Outcome: Int] = [:]
        var handlers: [String: Handler] = [:]
        /// The shortest and the longest budget of an invocation.
        var budgets: ClosedRange<Duration>?
    }

    private static let slotSeconds: Int64 = 10
    /// The number of whole seconds that a rate averages.
    private static let rateSeconds: Int64 = 10
    /// The number of seconds in a chart.
    private static let chartSeconds: Int64 = 60
    private static let missLimit = 50

    /// The time since which everything was counted.
    private let begin: WallTime
    private var slots: [Int64: Slot] = [:]
    private var acceptedBySecond: [Int64: Int] = [:]
    private var decidedBySecond: [Int64: Int] = [:]
    /// The last missed invocations, the newest last.
    private(set) var misses: [ReportRow] = []

    /// - Parameter begin: the time from which everything is counted.
    public init(since begin: WallTime) { self.begin = begin }

    /// Counts a request.
    public mutating func add(acceptedAt time: WallTime) { acceptedBySecond[time.seconds, default: 0] += 1 }

    /// Counts a decided invocation; ignores one in flight.
    public mutating func add(_ row: ReportRow) {
        guard let result = row.invocation.result, !row.invocation.isObserver else { return }
        decidedBySecond[result.decidedAt.seconds, default: 0] += 1
        let number = Self.slot(of: result.decidedAt)
        slots[number, default: Slot()].outcomes[result.outcome, default: 0] += 1
        if result.outcome.isDue {
            let budget = row.invocation.budget...row.invocation.budget
            slots[number, default: Slot()].budgets = Self.union(slots[number]?.budgets, budget)
        }
        if let handler = row.invocation.handler {
            slots[number, default: Slot()].handlers[handler, default: Handler()].add(result)
        }
        guard result.outcome.isMissed else { return }
        misses.append(row)
        if misses.count > Self.missLimit { misses.removeFirst() }
    }

    /// Removes figures out of reach, and figures in the future after a step back of the clock.
    public mutating func forget(at now: WallTime) {
        let reach = Self.slot(of: now) - Self.reach.milliseconds / (Self.slotSeconds * 1000)
        slots = slots.filter { (reach...Self.slot(of: now) + 1).contains($0.key) }
        let seconds = now.seconds - Self.chartSeconds...now.seconds + 1
        acceptedBySecond = acceptedBySecond.filter { seconds.contains($0.key) }
        decidedBySecond = decidedBySecond.filter { seconds.contains($0.key) }
    }

    /// Returns the time that the figures reach back.
    func span(at now: WallTime) -> Duration {
        min(Self.reach, .milliseconds(max(0, now.milliseconds - begin.milliseconds)))
    }

    /// Returns the requests accepted per second over the last whole seconds, in tenths.
    func acceptedRate(at now: WallTime) -> Int { Self.tenths(acceptedBySecond, now) }

    /// Returns the invocations decided per second over the last whole seconds, in tenths.
    func decidedRate(at now: WallTime) -> Int { Self.tenths(decidedBySecond, now) }

    /// Returns the invocations decided in each interval of two seconds of the last minute, the oldest first.
    func decidedLately(at now: WallTime) -> [Int] {
        stride(from: now.seconds - Self.chartSeconds, to: now.seconds, by: 2).map {
            (decidedBySecond[$0] ?? 0) + (decidedBySecond[$0 + 1] ?? 0)
        }
    }

    /// The shortest and the longest budget; `nil` when nothing was due.
    var budgets: ClosedRange<Duration>? {
        slots.values.reduce(nil) { all, slot in slot.budgets.map { Self.union(all, $0) } ?? all }
    }

    private static func union(
        _ left: ClosedRange<Duration>?, _ right: ClosedRange<Duration>
    ) -> ClosedRange<Duration> {
        guard let left else { return right }
        return min(left.lowerBound, right.lowerBound)...max(left.upperBound, right.upperBound)
    }

    /// The number of decided invocations.
    var decided: Int { count { _ in true } }
    /// The number of these that failed in time.
    var failed: Int { count(\.isFailure) }
    /// The numbers of due and missed invocations.
    var compliance: Compliance { Compliance(due: count(\.isDue), missed: count(\.isMissed)) }

    /// The figures by handler.
    var handlers: [String: Handler] {
        slots.values.reduce(into: [:]) { merged, slot in
            for (name, handler) in slot.handlers { merged[name, default: Handler()].merge(handler) }
        }
    }

    private func count(_ isCounted: (Outcome) -> Bool) -> Int {
        slots.values.reduce(0) { sum, slot in
            slot.outcomes.reduce(sum) { $0 + (isCounted($1.key) ? $1.value : 0) }
        }
    }

    private static func tenths(_ counts: [Int64: Int], _ now: WallTime) -> Int {
        let count = (now.seconds - rateSeconds..<now.seconds).reduce(0) { $0 + (counts[$1] ?? 0) }
        return count * 10 / Int(rateSeconds)
    }

    private static func slot(of time: WallTime) -> Int64 { time.seconds / slotSeconds }
}
