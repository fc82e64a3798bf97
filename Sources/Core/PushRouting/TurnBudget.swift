import PushModel

/// How much one turn of the router does of what may be very much. What is left goes on in the next turns.
struct TurnBudget: Sendable {
    /// Invocations that begin, are started, or go past a handler.
    var acts = 128
    /// Invocations that are looked at, and may be over.
    var looks = 2048

    var isSpent: Bool { acts <= 0 || looks <= 0 }
}

/// What a turn left, beside the queues that others look at.
struct WorkLeft: Sendable {
    /// Lanes whose first ones are over: who is the head now is not known yet.
    var lanes = Queue<DeviceKey>()
    /// Handlers whose places somebody may wait for, behind others that are over.
    var handlers: Set<String> = []

    var isNone: Bool { lanes.isEmpty && handlers.isEmpty }
}
