/// The current state of one handler.
public struct HandlerStatus: Hashable, Sendable {
    /// The state of its circuit breaker.
    public enum BreakerState: String, Sendable, CaseIterable {
        case closed, open, probing
    }

    /// The handler's name.
    public var name: String
    /// The number of invocations that hold a place to run.
    public var running: Int
    /// The number of invocations that wait for a place.
    public var waiting: Int
    /// The number of running invocations that are observers'.
    public var observersRunning: Int
    /// The number of waiting invocations that are observers'.
    public var observersWaiting: Int
    /// The limit of running invocations; `nil`: the places.
    public var limit: Int?
    /// The limit of waiting invocations.
    public var queueLimit: Int
    /// The number of requests refused since the start because its queue was full.
    public var refused: UInt64
    /// The state of its breaker; `nil`: the handler or the mode has none.
    public var breaker: BreakerState?
    /// The rest of the pause of an open breaker; zero if it is not open.
    public var pause: Duration
    /// The number of invocations since the start that bypassed it because the breaker was open.
    public var passedOver: UInt64
    /// Whether a reload removed it from the configuration; its running invocations continue.
    public var isDraining: Bool
}
