import PushModel

/// The number of an instance, unique among those of a handler during a run of the daemon.
public struct InstanceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number, from 1.
    public let value: Int64

    /// - Parameter value: the number, from 1.
    init(_ value: Int64) { self.value = value }

    public static func < (left: InstanceID, right: InstanceID) -> Bool { left.value < right.value }

    /// The number.
    public var description: String { String(value) }
}

/// The state of one instance in an `InstancePool`.
struct Instance: Sendable {
    /// The phase of an instance.
    enum Phase: Hashable, Sendable {
        /// The pool has asked to open it.
        case opening
        /// It accepts lines.
        case open
        /// The pool has ended its input, and closes it at this time.
        case ending(Instant)
    }

    var phase = Phase.opening
    /// The unanswered invocations, by the ids of their lines.
    var outstanding: [Int64: InvocationID] = [:]
    /// The id of the last line sent to it; `nil`: the last line was a cancellation.
    var lastLine: Int64?
    /// The cancelled lines that it has not answered.
    var cancelledLines = CancelledLines()
    /// Whether it has answered any line.
    var hasAnswered = false
    /// The time since which it is idle.
    var idleSince: Instant?
    /// The number of stray lines, which answer nothing, since its last answer.
    var strayLines = 0
    /// Whether a journal entry reported a stray line since its last answer.
    var hasReportedStray = false
    /// The last line sent to it when its stray line was last reported for the unanswered invocations.
    private var strayReportedAt: Int64?
    /// The lines that it wrote before its answer, if it serves a single invocation.
    var written = RunLines()
    /// Whether it has written any line.
    var hasWritten = false
    /// Whether it has received its only invocation.
    var isSpent = false
    /// Whether it accepts no more lines because its end is near.
    var acceptsNoLines = false

    /// The sentence for people about an instance that has never written a line.
    static let silence = "the worker has never written a line; a program that writes to a pipe must flush each line"

    /// Whether the pool has ended its input.
    var isEnding: Bool {
        if case .ending = phase { true } else { false }
    }

    /// Whether it accepts lines, or will once it is open.
    var isLive: Bool { (phase == .opening || phase == .open) && !acceptsNoLines }

    /// Whether it can take one more line.
    func hasRoom(_ rules: InstanceRules) -> Bool {
        phase == .open && !isSpent && !acceptsNoLines && outstanding.count + cancelledLines.count < rules.linesAtOnce
    }

    /// Notes that it answered a line.
    ///
    /// - Returns: the invocation of the line; `nil`: it had no such line, and nothing changes.
    mutating func answered(_ line: Int64, at now: Instant) -> InvocationID? {
        guard let invocation = outstanding.removeValue(forKey: line) else { return nil }
        hasAnswered = true
        (strayLines, hasReportedStray) = (0, false)
        if isIdle { idleSince = now }
        return invocation
    }

    /// Notes that it answered a cancelled line.
    ///
    /// - Returns: whether there was such a line; if not, nothing changes.
    mutating func answeredCancelled(_ line: Int64, at now: Instant) -> Bool {
        guard cancelledLines.remove(line) else { return false }
        if isIdle { idleSince = now }
        return true
    }

    /// Returns the unanswered invocations, for reporting a stray line to them; empty if one was reported since its last
    /// line.
    mutating func unansweredAtStray() -> [InvocationID] {
        guard strayReportedAt != lastLine else { return [] }
        strayReportedAt = lastLine
        return outstanding.values.sorted()
    }

    /// Whether it owes no answer.
    var isIdle: Bool { outstanding.isEmpty && cancelledLines.isEmpty }
}

/// The ids of cancelled lines with the deadlines for their answers, the earliest first.
struct CancelledLines: Sendable {
    private var lines: Set<Int64> = []
    private var dues = Queue<(line: Int64, due: Instant)>()

    var count: Int { lines.count }
    var isEmpty: Bool { lines.isEmpty }

    /// The earliest deadline; `nil` if there is none.
    var nextDue: Instant? { dues.first?.due }

    /// - Parameter due: the deadline; not before the previous one.
    mutating func insert(_ line: Int64, due: Instant) {
        lines.insert(line)
        dues.append((line, due))
    }

    /// - Returns: whether the line was there.
    mutating func remove(_ line: Int64) -> Bool {
        guard lines.remove(line) != nil else { return false }
        while let first = dues.first, !lines.contains(first.line) { _ = dues.popFirst() }
        return true
    }
}

/// An invocation in an `InstancePool`.
struct PooledRun: Sendable {
    let run: HandlerRun
    /// The instance that has it, and the id of its line; `nil` while it waits for an instance.
    var place: (instance: InstanceID, line: Int64)?
    /// The number of instances that have had it.
    var sends = 0
}
