import Glibc

/// One open file descriptor, closed at the end of this value.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number of the descriptor, which this value still owns.
    public let rawValue: Int32

    /// Takes over an open descriptor.
    public init(owning descriptor: Int32) {
        precondition(descriptor >= 0, "a descriptor is not negative")
        rawValue = descriptor
    }

    /// Takes over the result of a system call; `nil` if it failed, with `errno` set.
    public init?(_ result: Int32) {
        guard result >= 0 else { return nil }
        rawValue = result
    }

    deinit { close(rawValue) }

    /// Gives up ownership: the caller must close the descriptor.
    public consuming func release() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}

extension FileDescriptor {
    /// Writes all of `bytes` to a file, in as many calls as that takes.
    ///
    /// - Parameter offset: the offset in the file, in bytes.
    /// - Returns: 0, or the error number (`EIO` if the system writes nothing without an error); after an error it is
    ///   unknown how much was written.
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
/// - Returns: the result of the call; negative with `errno` set if it failed for another reason.
public func retryingInterrupts<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

/// The descriptors 0, 1 and 2.
public enum StandardDescriptors {
    /// Opens closed standard descriptors on `/dev/null`. To be called before any other file is opened: the kernel
    /// assigns the lowest free number, so any file could become standard input, output or error.
    public static func open() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            _ = Glibc.open("/dev/null", O_RDWR)
        }
    }
}
