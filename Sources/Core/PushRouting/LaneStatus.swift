public import PushModel

/// What is going on in the lanes of all devices.
public struct LanesStatus: Hashable, Sendable {
    /// How many lanes are named.
    public static let named = 10

    /// In how many lanes somebody waits.
    public var crowded: Int
    /// How many wait in all of them.
    public var waiting: Int
    /// The lanes in which most wait, the longest first; at most ``named``.
    public var longest: [LaneStatus]
}

/// One lane in which somebody waits.
public struct LaneStatus: Hashable, Sendable {
    /// Whose lane it is.
    public var device: DeviceKey
    /// How many wait behind its head.
    public var waiting: Int
    /// Its head, for which all others wait.
    public var head: InvocationID
    /// Who has the head; `nil` before a route was picked, and for the tracker.
    public var handler: String?
    /// How long the head has had its turn.
    public var turn: Duration
    /// How long ago the head was accepted: nothing in the lane is older.
    public var age: Duration
}

extension Router {
    /// What is going on in the lanes. It looks at each lane in which somebody waits, and at no other.
    public func lanes(at now: Instant) -> LanesStatus {
        let longest = lanes.longest(LanesStatus.named).compactMap { key, waiting -> LaneStatus? in
            guard let lane = lanes[key], let head = lane.head else { return nil }
            return invocations.read(head) { invocation in
                LaneStatus(
                    device: key, waiting: waiting, head: head, handler: invocation.record.handler,
                    turn: lane.headAge(at: now), age: now - invocation.request.acceptedAt.monotonic)
            }
        }
        return LanesStatus(crowded: lanes.crowded, waiting: lanes.waitingInAll, longest: longest)
    }
}
