import PushModel

/// The number of an instance, unique among those of a handler during a run of the daemon.
public struct InstanceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Counts from 1.
    public let value: Int64

    /// - Parameter value: counts from 1.
    public init(_ value: Int64) { self.value = value }

    public static func < (left: InstanceID, right: InstanceID) -> Bool { left.value < right.value }

    /// The number.
    public var description: String { String(value) }
}

/// The state of one instance in an `InstancePool`.
struct Instance: Sendable {
    /// The phase of its life.
    enum Phase: Hashable, Sendable {
        /// The pool asked for it.
        case opening
        /// It reads lines.
        case open
        /// Its input is closed; at this time the pool closes it.
        case ending(Instant)
    }

    var phase = Phase.opening
    /// The unanswered invocations, by the ids of their lines.
    var outstanding: [Int64: InvocationID] = [:]
    /// The id of the line last sent to it; `nil`: the last line was a cancellation.
    var lastLine: Int64?
    /// The cancelled lines that it has not answered either.
    var takenBack = TakenBackLines()
    /// Whether it has answered any line.
    var hasAnswered = false
    /// The time since which it has been idle.
    var idleSince: Instant?
    /// The number of lines without an answer that it wrote since its last answer.
    var strayLines = 0
    /// Whether the journal has an entry on them.
    var hasToldStray = false
    /// The value of ``lastLine`` when a stray line was last reported for its unanswered invocations.
    private var strayToldAt: Int64?
    /// The lines that it wrote before its answer, if it is single-use.
    var written = RunLines()
    /// Whether it has written any line.
    var hasWritten = false
    /// Whether it gets no more lines.
    var isSpent = false
    /// Whether it reads no more, shortly before its end.
    var takesNoMore = false

    /// The explanation, for people, of a worker that has never written anything.
    static let silence = "the worker has never written a line; a program that writes to a pipe must flush each line"

    /// Whether its input is closed.
    var isEnding: Bool {
        if case .ending = phase { true } else { false }
    }

    /// Whether it gets lines, now or once it is open.
    var isLive: Bool { (phase == .opening || phase == .open) && !takesNoMore }

    /// Whether it can get another line.
    func hasRoom(_ rules: InstanceRules) -> Bool {
        phase == .open && !isSpent && !takesNoMore && outstanding.count + takenBack.count < rules.linesAtOnce
    }

    /// Notes an answer to a line.
    ///
    /// - Returns: the invocation of the line; `nil`: there is none, and nothing changes.
    mutating func answered(_ line: Int64, at now: Instant) -> InvocationID? {
        guard let invocation = outstanding.removeValue(forKey: line) else { return nil }
        hasAnswered = true
        (strayLines, hasToldStray) = (0, false)
        if isIdle { idleSince = now }
        return invocation
    }

    /// Notes an answer to a cancelled line.
    ///
    /// - Returns: whether there is such a line; if not, nothing changes.
    mutating func answeredTakenBack(_ line: Int64, at now: Instant) -> Bool {
        guard takenBack.remove(line) else { return false }
        if isIdle { idleSince = now }
        return true
    }

    /// Returns the unanswered invocations to report a stray line for: at most once after each line that it gets.
    mutating func unansweredAtStray() -> [InvocationID] {
        guard strayToldAt != lastLine else { return [] }
        strayToldAt = lastLine
        return outstanding.values.sorted()
    }

    /// Whether it has no line to answer.
    var isIdle: Bool { outstanding.isEmpty && takenBack.isEmpty }
}

/// The ids of cancelled lines, and the times by which each must be answered, in order.
struct TakenBackLines: Sendable {
    private var lines: Set<Int64> = []
    private var dues = Queue<(line: Int64, due: Instant)>()

    var count: Int { lines.count }
    var isEmpty: Bool { lines.isEmpty }

    /// The time by which the first of them must be answered; `nil`: there is none.
    var nextDue: Instant? { dues.first?.due }

    /// - Parameter due: not before that of the last line.
    mutating func insert(_ line: Int64, due: Instant) {
        lines.insert(line)
        dues.append((line, due))
    }

    /// - Returns: whether the line was in it.
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
    /// The number of instances that got it.
    var sends = 0
}
