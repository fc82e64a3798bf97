import CLinux
import Glibc

/// An eventfd that one thread signals and another waits for.
struct Event: ~Copyable, Sendable {
    private let descriptor: Int32

    init() throws(JournalError) {
        descriptor = CLinux_eventfd()
        guard descriptor >= 0 else { throw JournalError(operation: "create an eventfd", errno: errno) }
    }

    deinit { close(descriptor) }

    func signal() {
        // Cannot fail: the count would have to reach 2^64 - 1 first.
        var one: UInt64 = 1
        precondition(write(descriptor, &one, 8) == 8, "cannot signal an eventfd")
    }

    /// Waits for a signal, which stays until it is cleared.
    ///
    /// - Parameter timeoutMilliseconds: how long at most; negative is for ever.
    /// - Returns: whether it came.
    @discardableResult
    func wait(timeoutMilliseconds: Int32 = -1) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let result = poll(&request, 1, timeoutMilliseconds)
            if result >= 0 || errno != EINTR { return result == 1 }
        }
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
