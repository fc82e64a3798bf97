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

/// A fact for people with its label.
struct LabelledFact {
    let label: String
    let text: String
    var tone = ReportLine.Tone.plain

    /// Returns the line, with the text behind a label column of this width.
    func line(_ width: Int) -> ReportLine {
        ReportLine(label + String(repeating: " ", count: max(1, width - label.count)) + text, tone)
    }
}

extension LiveFigures {
    /// The accepted and decided requests and the compliance, for the screen and for a status.
    ///
    /// - Parameters:
    ///   - status: the daemon's answer to `op: status`; `nil`: it gave none.
    ///   - now: the time of the figures.
    ///   - width: the characters for a text and a chart of the last minute behind it; `nil`: no chart.
    func facts(_ status: JSONNode?, at now: WallTime, chartWithin width: Int? = nil) -> [LabelledFact] {
        let kept = compliance
        var rate = "\(Self.rate(decidedRate(at: now)))  \(grouped(decided)) in the last \(spanInWords(span(at: now)))"
        let chart = width.map { TextStyle.sparkline(decidedLately(at: now), length: $0 - rate.count - 2) }
        if let chart, !chart.isEmpty { rate += "  \(chart)" }
        return [
            LabelledFact(
                label: "Accepted",
                text: Self.rate(acceptedRate(at: now)) + (status.map { "  \(Self.accepted($0))" } ?? "")),
            LabelledFact(label: "Decided", text: rate),
            LabelledFact(
                label: "Deadline",
                text:
                    "\(kept)\(time)  due \(grouped(kept.due)), missed \(grouped(kept.missed)), failed \(grouped(failed))",
                tone: kept.missed > 0 ? .bad : kept.due > 0 && failed == 0 ? .good : .plain),
        ]
    }

    /// The range of the handlers' budgets, for people.
    private var time: String {
        guard let budgets else { return "" }
        let (least, most) = (PushViews.span(budgets.lowerBound), PushViews.span(budgets.upperBound))
        return least == most ? " of \(most)" : " of \(least) to \(most)"
    }

    /// Returns the numbers of accepted requests and of those in flight.
    static func accepted(_ status: JSONNode) -> String {
        "\(grouped(status["accepted_since_start"]?.int64 ?? 0)) since start, "
            + "in flight \(grouped(status["requests_in_flight"]?.int64 ?? 0))"
            + " (\(grouped(status["bytes_in_flight"]?.int64 ?? 0)) bytes)"
    }

    /// Returns a missed invocation for people.
    static func text(ofMiss row: ReportRow, _ zone: LocalZone) -> String? {
        guard let result = row.invocation.result else { return nil }
        return "\(zone.text(result.decidedAt, milliseconds: true))  seq \(row.invocation.id.seq.value)  "
            + "\(result.outcome.rawValue)  \(row.invocation.handler ?? "-")  \(grouped(result.total.milliseconds)) ms"
    }

    private static func rate(_ tenths: Int) -> String { "\(grouped(tenths / 10)).\(tenths % 10)/s" }
}

/// A handler's row on the screen.
struct LiveHandler {
    let name: String
    let running: Int64
    let waiting: Int64
    let limit: Int64?
    let state: String
    let figures: LiveFigures.Handler

    /// The 99th percentile of its times in microseconds; `nil`: no run counts.
    var p99: Int64? { figures.exec.quantile(permille: 990) }

    /// The tone of its row: bad if it missed deadlines.
    var tone: ReportLine.Tone {
        figures.missed > 0 ? .bad : figures.failed > 0 || !state.isEmpty ? .warning : .plain
    }

    /// Returns the handlers of the daemon's status, then former handlers with figures.
    static func all(_ status: JSONNode?, _ figures: LiveFigures) -> [LiveHandler] {
        let found = figures.handlers
        let known = status?["handlers"]?.members ?? []
        let present = known.map { name, handler in
            let breaker = handler["breaker"]?.string.flatMap { $0 == "closed" ? nil : "breaker \($0)" }
            return LiveHandler(
                name: name, running: owners("running", of: handler), waiting: owners("waiting", of: handler),
                limit: handler["limit"]?.int64, state: breaker ?? (handler["draining"]?.bool == true ? "draining" : ""),
                figures: found[name] ?? LiveFigures.Handler())
        }
        let names = Set(present.map(\.name))
        return present
            + found.filter { !names.contains($0.key) }.map {
                LiveHandler(name: $0.key, running: 0, waiting: 0, limit: nil, state: "", figures: $0.value)
            }
    }

    /// Returns the number that run or wait, without observers, which the figures leave out too.
    private static func owners(_ key: String, of handler: JSONNode) -> Int64 {
        max(0, (handler[key]?.int64 ?? 0) - (handler["observers_\(key)"]?.int64 ?? 0))
    }

    /// Returns whether `left` stands above `right`: by the larger figure, then by name.
    static func precedes(_ left: LiveHandler, _ right: LiveHandler, by order: LiveScreen.Order) -> Bool {
        let figure: (LiveHandler) -> Int64 =
            switch order {
            case .name: { _ in 0 }
            case .running: { $0.running + $0.waiting }
            case .p99: { $0.p99 ?? -1 }
            case .failures: { Int64($0.figures.failed) }
            case .misses: { Int64($0.figures.missed) }
            }
        let figures = (figure(left), figure(right))
        return figures.0 == figures.1 ? left.name < right.name : figures.0 > figures.1
    }

    /// The columns by importance: a narrow screen leaves out the last ones.
    static var columns: [Column<LiveHandler>] {
        [
            .nameInText("Handler", \.name) {
                $0.tone == .plain ? "\($0.name)" : "<span class=\"bad\">✗ \($0.name)</span>"
            },
            .numberInText("Running", { grouped($0.running) }),
            .numberInText("Waiting", { grouped($0.waiting) }),
            .numberInText("p99 ms", { groupedMilliseconds($0.p99) }),
            .numberInText("Failed", { grouped($0.figures.failed) }),
            .numberInText("Missed", { grouped($0.figures.missed) }),
            .numberInText("Decided", { grouped($0.figures.decided) }),
            .numberInText("Limit", { $0.limit.map(grouped) ?? "-" }),
            .nameInText("State", \.state),
        ]
    }
}

/// A lane's row on the screen.
struct LiveLane {
    private let node: JSONNode

    /// The lanes with the most waiting deliveries.
    static func all(_ status: JSONNode?) -> [LiveLane] {
        (status?["lanes"]?["longest"]?.elements ?? []).map { LiveLane(node: $0) }
    }

    private func number(_ key: String) -> Int64 { node[key]?.int64 ?? 0 }
    private func name(_ key: String) -> String { node[key]?.string ?? "-" }

    /// The columns by importance: a narrow screen leaves out the last ones.
    static var columns: [Column<LiveLane>] {
        [
            .nameInText("Device", { $0.name("device") }),
            .numberInText("Waiting", { grouped($0.number("waiting")) }),
            .numberInText("Oldest", { spanInWords(.milliseconds($0.number("age_ms"))) }),
            .nameInText("Has the turn", { "seq \($0.number("seq")) \($0.name("handler"))" }),
            .numberInText("for", { spanInWords(.milliseconds($0.number("turn_ms"))) }),
            .nameInText("App", { $0.name("app") }),
        ]
    }
}
