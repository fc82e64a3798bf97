import PushRouter
import PushSettings

/// The reported reasons for the daemon's absence: reports each once, until the daemon answers again.
struct DaemonOutage: Sendable {
    private var reasons: Set<String> = []

    /// A daemon that is not known to be absent.
    init() {}

    /// Notes that the daemon is away, or refuses.
    ///
    /// - Returns: whether to report it.
    mutating func begin(_ reason: String) -> Bool { reasons.insert(reason).inserted }

    /// Notes that the daemon carried out a request. An accepted connection does not count.
    ///
    /// - Returns: whether to report it.
    mutating func end() -> Bool {
        defer { reasons = [] }
        return !reasons.isEmpty
    }
}
