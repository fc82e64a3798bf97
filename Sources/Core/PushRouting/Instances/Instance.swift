import PushModel

/// The number of an instance, unique among those of a handler as long as the daemon runs.
public struct InstanceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Counts from 1.
    public let value: Int64

    /// - Parameter value: counts from 1.
    public init(_ value: Int64) { self.value = value }

    public static func < (left: InstanceID, right: InstanceID) -> Bool { left.value < right.value }

    /// The number.
    public var description: String { String(value) }
}

/// What an `InstancePool` knows of one instance.
struct Instance: Sendable {
    /// Where it is on its way.
    enum Phase: Hashable, Sendable {
        /// It was asked for.
        case opening
        /// It takes lines.
        case open
        /// It was told that no more will come; at this time it is closed.
        case ending(Instant)
    }

    var phase = Phase.opening
    /// What it was given and has not answered, by the ids of the lines.
    var outstanding: [Int64: InvocationID] = [:]
    /// The id of the line that was sent to it last; `nil`: what was sent last is none of an invocation.
    var lastLine: Int64?
    /// What was taken back and has not been answered either.
    var takenBack = TakenBackLines()
    /// Whether it has answered anything.
    var hasAnswered = false
    /// Since when it has nothing to do.
    var idleSince: Instant?
    /// How many lines it wrote since its last answer that answer nothing.
    var strayLines = 0
    /// Whether that was told since then.
    var hasToldStray = false
    /// The line that it had been given last when that was told of what it has not answered.
    private var strayToldAt: Int64?
    /// The lines that it wrote before its answer, where it is one run.
    var written = RunLines()
    /// Whether it has written anything.
    var hasWritten = false
    /// Whether it has been given all that it will be given.
    var isSpent = false
    /// Whether it takes no more, and its end is near.
    var takesNoMore = false

    /// The fact, for people, that one has never written anything.
    static let silence = "the worker has never written a line; a program that writes to a pipe must flush each line"

    /// Whether it was told that no more will come.
    var isEnding: Bool {
        if case .ending = phase { true } else { false }
    }

    /// Whether it gets lines, or will.
    var isLive: Bool { (phase == .opening || phase == .open) && !takesNoMore }

    /// Whether it can be given one more.
    func hasRoom(_ rules: InstanceRules) -> Bool {
        phase == .open && !isSpent && !takesNoMore && outstanding.count + takenBack.count < rules.linesAtOnce
    }

    /// Takes in that it answered a line.
    ///
    /// - Returns: which invocation it had been given with it; `nil`: none, and nothing is changed.
    mutating func answered(_ line: Int64, at now: Instant) -> InvocationID? {
        guard let invocation = outstanding.removeValue(forKey: line) else { return nil }
        hasAnswered = true
        (strayLines, hasToldStray) = (0, false)
        if isIdle { idleSince = now }
        return invocation
    }

    /// Takes in that it answered a line that was taken back.
    ///
    /// - Returns: whether there was such a line; else nothing is changed.
    mutating func answeredTakenBack(_ line: Int64, at now: Instant) -> Bool {
        guard takenBack.remove(line) else { return false }
        if isIdle { idleSince = now }
        return true
    }

    /// The invocations that wait for its answer, to be told of a line that answers nothing: once for each line that it is given.
    mutating func unansweredAtStray() -> [InvocationID] {
        guard strayToldAt != lastLine else { return [] }
        strayToldAt = lastLine
        return outstanding.values.sorted()
    }

    /// Whether it has nothing to answer.
    var isIdle: Bool { outstanding.isEmpty && takenBack.isEmpty }
}

/// The ids of lines that were taken back, and when each must be answered: those that were taken back first, first.
struct TakenBackLines: Sendable {
    private var lines: Set<Int64> = []
    private var dues = Queue<(line: Int64, due: Instant)>()

    var count: Int { lines.count }
    var isEmpty: Bool { lines.isEmpty }

    /// When the first of them must be answered; `nil` when there is none.
    var nextDue: Instant? { dues.first?.due }

    /// - Parameter due: not before that of the one before.
    mutating func insert(_ line: Int64, due: Instant) {
        lines.insert(line)
        dues.append((line, due))
    }

    /// - Returns: whether it was there.
    mutating func remove(_ line: Int64) -> Bool {
        guard lines.remove(line) != nil else { return false }
        while let first = dues.first, !lines.contains(first.line) { _ = dues.popFirst() }
        return true
    }
}

/// An invocation that an `InstancePool` has.
struct PooledRun: Sendable {
    let run: HandlerRun
    /// The instance that has it, and the id of its line; `nil` while it waits for one.
    var place: (instance: InstanceID, line: Int64)?
    /// To how many instances it was given.
    var sends = 0
}
