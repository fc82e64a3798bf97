import CLinux
import Glibc

/// An eventfd that one thread signals, and that another waits for directly or in an event loop.
struct EventDescriptor: ~Copyable, Sendable {
    /// The descriptor for a loop's source.
    public let descriptor: SharedDescriptor

    private var rawValue: Int32 { descriptor.rawValue }

    /// Creates an eventfd that is not signalled.
    ///
    /// - Throws: if there is no descriptor left.
    init() throws(SystemError) {
        guard let descriptor = SharedDescriptor(CLinux_eventfd()) else {
            throw SystemError(operation: "create an eventfd", errno: errno)
        }
        self.descriptor = descriptor
    }

    /// Makes it readable; on any thread.
    public func signal() {
        // Cannot fail: the count would have to reach 2^64 - 1 first.
        var one: UInt64 = 1
        precondition(write(rawValue, &one, 8) == 8, "cannot signal an eventfd")
    }

    /// Makes it unreadable, if it is readable.
    public func clear() {
        var count: UInt64 = 0
        _ = read(rawValue, &count, 8)
    }

    /// Waits for a signal, and leaves it set.
    ///
    /// - Parameter timeoutMilliseconds: the longest wait; negative means no limit.
    /// - Returns: whether it was signalled.
    @discardableResult
    public func wait(timeoutMilliseconds: Int32 = -1) -> Bool {
        var request = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
        return retryingInterrupts { poll(&request, 1, timeoutMilliseconds) } == 1
    }
}
