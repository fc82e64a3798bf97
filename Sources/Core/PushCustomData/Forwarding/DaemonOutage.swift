/// What was said of the daemon's absence: each reason once, until the daemon has answered again.
public struct DaemonOutage: Sendable {
    private var reasons: Set<String> = []

    /// The daemon is there, as far as anybody knows.
    public init() {}

    /// The daemon is away, or refuses.
    ///
    /// - Returns: whether that is to be said.
    public mutating func begin(_ reason: String) -> Bool { reasons.insert(reason).inserted }

    /// The daemon did what it was asked for; a connection alone is no sign of that.
    ///
    /// - Returns: whether that is to be said.
    public mutating func end() -> Bool {
        defer { reasons = [] }
        return !reasons.isEmpty
    }
}
