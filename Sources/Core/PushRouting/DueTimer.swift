import PushModel

/// What is to happen to an invocation, and when.
struct DueTimer: Comparable, Sendable {
    /// At one instant a deadline comes before anything else: at the very instant it is missed.
    enum Purpose: Int, Comparable, Sendable {
        case deadline, terminate, retry

        static func < (left: Purpose, right: Purpose) -> Bool { left.rawValue < right.rawValue }
    }

    var due: Instant
    var purpose: Purpose
    var invocation: InvocationID

    static func < (left: DueTimer, right: DueTimer) -> Bool {
        (left.due, left.purpose, left.invocation) < (right.due, right.purpose, right.invocation)
    }
}
