public import PushModel

/// The state of the lanes of all devices.
public struct LanesStatus: Hashable, Sendable {
    /// The most lanes that the status names.
    public static let named = 10

    /// The number of lanes with a waiting invocation.
    public var crowded: Int
    /// The number of waiting invocations in all lanes.
    public var waiting: Int
    /// The lanes with the most waiting invocations, the longest first; at most ``named``.
    public var longest: [LaneStatus]
}

/// One lane with a waiting invocation.
public struct LaneStatus: Hashable, Sendable {
    /// The app and the device of the lane.
    public var device: DeviceKey
    /// The number of invocations behind the head.
    public var waiting: Int
    /// The head, for which all others wait.
    public var head: InvocationID
    /// The handler of the head; `nil` before a route is picked, and for the tracker.
    public var handler: String?
    /// How long the head has been the head.
    public var turn: Duration
    /// The age of the head since acceptance: no invocation in the lane is older.
    public var age: Duration
}

extension Router {
    /// Returns the state of the lanes. Reads only the lanes with a waiting invocation.
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
