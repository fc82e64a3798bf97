import Glibc
import Synchronization

/// The deadlines of connections for their next answer. libmicrohttpd itself ends idle connections only: a client that
/// sends a byte at intervals would keep its place for ever.
///
/// May be used from any thread. `shutdown` and the removal of a descriptor happen under the same lock, and the removal
/// precedes its close, so the descriptor cannot be another connection's by then.
final class ConnectionDeadlines: Sendable {
    private let limit: Int64
    private let due = Mutex<[Int32: Int64]>([:])

    /// - Parameter limit: the time for a request and its answer, from the first byte or the previous answer on, in
    ///   nanoseconds.
    init(limit: Int64) { self.limit = limit }

    /// Begins the deadline of a connection that was opened, or whose answer was completely sent.
    func begin(_ descriptor: Int32, at now: Int64) {
        guard descriptor >= 0 else { return }
        due.withLock { $0[descriptor] = now + limit }
    }

    /// Removes a connection that is about to be closed.
    func end(_ descriptor: Int32) { due.withLock { _ = $0.removeValue(forKey: descriptor) } }

    /// Shuts down the connections past their deadline; the server then closes them.
    ///
    /// - Returns: how many there were.
    func endOverdue(at now: Int64) -> Int {
        due.withLock { due in
            let overdue = due.filter { $0.value <= now }.keys
            for descriptor in overdue {
                shutdown(descriptor, Int32(SHUT_RDWR))
                due[descriptor] = nil
            }
            return overdue.count
        }
    }
}
