import Glibc

/// Tries for a second to have something that another process has. After `kill -9` a child between fork and exec may still
/// have the lock and the sockets of the daemon, and `pushctl` has the lock while it applies a log: each ends by itself.
///
/// - Parameters:
///   - isTaken: whether an error says that another process has it.
///   - make: makes it.
/// - Throws: the last error.
func patiently<Value: ~Copyable, Failure: Error>(
    while isTaken: (Failure) -> Bool, _ make: () throws(Failure) -> Value
) throws(Failure) -> Value {
    for _ in 0..<50 {
        do throws(Failure) {
            return try make()
        } catch {
            guard isTaken(error) else { throw error }
        }
        // 20 ms.
        poll(nil, 0, 20)
    }
    return try make()
}
