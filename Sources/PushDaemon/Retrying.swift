import Glibc

/// Retries for a second while another process has a lock or a socket. After `kill -9` a child between fork and exec may
/// still have the daemon's lock and sockets, and `pushctl` has the lock while it applies a log: each lets go by itself.
///
/// - Parameters:
///   - isTaken: whether an error says that another process has it.
///   - make: takes it.
/// - Throws: the last error.
func retrying<Value: ~Copyable, Failure: Error>(
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
