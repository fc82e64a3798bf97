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

extension FileDescriptor {
    /// Writes all of `bytes` to a file, in as many calls as that takes.
    ///
    /// - Parameter offset: where in the file, in bytes.
    /// - Returns: 0, or the error number (`EIO` where the system writes nothing and names no error); nobody knows how much was
    ///   written then.
    public borrowing func writeAll(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = retryingInterrupts { pwrite(rawValue, rest.baseAddress, rest.count, off_t(offset + written)) }
            guard count > 0 else { return count < 0 ? errno : EIO }
            written += count
        }
        return 0
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

/// The descriptors 0, 1 and 2.
public enum StandardDescriptors {
    /// Opens those that are closed on `/dev/null`. To be called before anything else is opened: the kernel gives the lowest
    /// number that is free, so any file could become standard input, output or error.
    public static func open() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            _ = Glibc.open("/dev/null", O_RDWR)
        }
    }
}
