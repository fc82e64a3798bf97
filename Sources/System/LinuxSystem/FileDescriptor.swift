import Glibc

/// One open file descriptor, closed when this value goes.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor's number, as system calls take it. It stays this value's.
    public let rawValue: Int32

    /// Takes over a descriptor that is open.
    public init(owning descriptor: Int32) {
        precondition(descriptor >= 0, "a descriptor is not negative")
        rawValue = descriptor
    }

    /// Takes over what a system call returned; `nil` if that was a failure, and `errno` says which.
    public init?(_ result: Int32) {
        guard result >= 0 else { return nil }
        rawValue = result
    }

    deinit { close(rawValue) }

    /// Gives the descriptor away: whoever gets the number closes it.
    public consuming func release() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}

/// Repeats a system call that a signal interrupted.
///
/// - Returns: what the call returned; negative with `errno` set when it failed for another reason.
public func retryingInterrupts<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
