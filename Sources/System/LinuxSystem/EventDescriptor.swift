import CLinux
import Glibc

/// An eventfd that one thread signals and another waits for, by itself or in an event loop.
public struct EventDescriptor: ~Copyable, Sendable {
    /// To watch for readiness.
    public let descriptor: SharedDescriptor

    private var rawValue: Int32 { descriptor.rawValue }

    /// An eventfd that is not signalled.
    ///
    /// - Throws: when there is no descriptor left.
    public init() throws(SystemError) {
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

    /// Makes it unreadable; when it is so already, nothing happens.
    public func clear() {
        var count: UInt64 = 0
        _ = read(rawValue, &count, 8)
    }

    /// Waits for a signal, which stays until it is cleared.
    ///
    /// - Parameter timeoutMilliseconds: how long at most; negative is for ever.
    /// - Returns: whether it came.
    @discardableResult
    public func wait(timeoutMilliseconds: Int32 = -1) -> Bool {
        var request = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
        return retryingInterrupts { poll(&request, 1, timeoutMilliseconds) } == 1
    }
}
