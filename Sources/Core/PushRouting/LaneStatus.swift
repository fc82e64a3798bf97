public import PushModel

/// The current state of the lanes of all devices.
public struct LanesStatus: Hashable, Sendable {
    /// The limit of lanes in ``longest``.
    public static let named = 10

    /// The number of lanes with a waiting invocation.
    public var crowded: Int
    /// The number of waiting invocations in all lanes.
    public var waiting: Int
    /// The lanes with the most waiting invocations, the longest first; at most ``named``.
    public var longest: [LaneStatus]
}

/// A lane with a waiting invocation.
public struct LaneStatus: Hashable, Sendable {
    /// The app and device of the lane.
    public var device: DeviceKey
    /// The number of invocations behind the head.
    public var waiting: Int
    /// The head, for which all others wait.
    public var head: InvocationID
    /// The handler of the head; `nil` before a route was picked, and for the tracker.
    public var handler: String?
    /// The time since the head's turn began.
    public var turn: Duration
    /// The time since the head was accepted: the oldest of the lane.
    public var age: Duration
}

extension Router {
    /// Returns the state of the lanes. Reads only lanes with a waiting invocation.
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
