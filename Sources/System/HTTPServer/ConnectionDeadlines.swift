import Glibc
import Synchronization

/// By when each connection has to have its next answer. libmicrohttpd itself only ends connections on which nothing moves:
/// a client that sends a byte now and then would keep its place for ever.
///
/// May be used from any thread. A descriptor is shut down under the same lock under which it is taken out, which happens
/// before it is closed: it is never another connection's.
final class ConnectionDeadlines: Sendable {
    private let limit: Int64
    private let due = Mutex<[Int32: Int64]>([:])

    /// - Parameter limit: how long a request and its answer may take, from the first byte or the last answer on, in
    ///   nanoseconds.
    init(limit: Int64) { self.limit = limit }

    /// A connection came, or one of its answers was sent as a whole.
    func begin(_ descriptor: Int32, at now: Int64) {
        guard descriptor >= 0 else { return }
        due.withLock { $0[descriptor] = now + limit }
    }

    /// A connection is about to be closed.
    func end(_ descriptor: Int32) { due.withLock { _ = $0.removeValue(forKey: descriptor) } }

    /// Ends the connections whose time is up. The server closes them when it sees that.
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
