/// What one handler is doing now.
public struct HandlerStatus: Hashable, Sendable {
    /// Where its circuit breaker stands.
    public enum BreakerState: String, Sendable, CaseIterable {
        case closed, open, probing
    }

    /// The handler's name.
    public var name: String
    /// How many invocations hold a place to run.
    public var running: Int
    /// How many wait for one.
    public var waiting: Int
    /// How many of those that run are observers'.
    public var observersRunning: Int
    /// How many of those that wait are observers'.
    public var observersWaiting: Int
    /// How many may run at once; `nil`: as many as there are places.
    public var limit: Int?
    /// How many may wait.
    public var queueLimit: Int
    /// How many requests were refused since the start because too many waited.
    public var refused: UInt64
    /// Where its breaker stands; `nil` where it has none, or the mode has none.
    public var breaker: BreakerState?
    /// How long it still gets nothing; zero when it is not open.
    public var pause: Duration
    /// How many invocations went past it since the start because the breaker was open.
    public var passedOver: UInt64
    /// Whether the configuration has it no more: what it runs goes on.
    public var isDraining: Bool
}
