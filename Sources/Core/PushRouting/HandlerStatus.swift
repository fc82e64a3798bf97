/// The current state of one handler.
public struct HandlerStatus: Hashable, Sendable {
    /// The state of a circuit breaker.
    public enum BreakerState: String, Sendable, CaseIterable {
        case closed, open, probing
    }

    /// The handler's name.
    public var name: String
    /// The number of invocations that hold a place.
    public var running: Int
    /// The number of invocations that wait for a place.
    public var waiting: Int
    /// The number of observers' invocations in `running`.
    public var observersRunning: Int
    /// The number of observers' invocations in `waiting`.
    public var observersWaiting: Int
    /// The limit of concurrent invocations; `nil`: as many as there are places.
    public var limit: Int?
    /// The limit of waiting invocations.
    public var queueLimit: Int
    /// The number of requests refused because the queue was full, since the start.
    public var refused: UInt64
    /// The state of the breaker; `nil` if the handler or the mode has none.
    public var breaker: BreakerState?
    /// The time until the breaker admits a probe; zero if it is not open.
    public var pause: Duration
    /// The number of invocations that passed over the handler because its breaker was open, since the start.
    public var passedOver: UInt64
    /// Whether the configuration no longer has the handler; its invocations in flight still finish.
    public var isDraining: Bool
}
