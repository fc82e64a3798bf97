import CLinux
public import Glibc

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
        let written = write(rawValue, &one, 8)
        precondition(written == 8, "cannot signal an eventfd")
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

/// A file descriptor that stays open as long as this object exists.
///
/// A loop's source holds the descriptor that it watches, so that it cannot be closed before it is removed from epoll.
/// epoll forgets a closed descriptor only with the last copy of it, and a child between fork and exec has copies of
/// all.
public final class SharedDescriptor: Sendable {
    private let descriptor: FileDescriptor

    /// The number of the descriptor, which this object still owns.
    public var rawValue: Int32 { descriptor.rawValue }

    /// Takes over a descriptor.
    public init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Takes over the result of a system call; `nil` if it failed, with `errno` set.
    public convenience init?(_ result: Int32) {
        guard let descriptor = FileDescriptor(result) else { return nil }
        self.init(descriptor)
    }

    /// Duplicates a descriptor that other code, such as a library, will close.
    ///
    /// - Throws: if there is no descriptor left.
    public convenience init(copying number: Int32) throws(SystemError) {
        guard let copy = FileDescriptor(fcntl(number, F_DUPFD_CLOEXEC, 3)) else {
            throw SystemError(operation: "copy descriptor \(number)", errno: errno)
        }
        self.init(copy)
    }
}

/// Raises the soft limit of open files: the one that a shell sets is for select(2), and clients and handlers need more.
///
/// - Returns: the soft limit before, for programs that are started; `nil` if `getrlimit` failed.
@discardableResult
public func raiseDescriptorLimit() -> UInt64? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    let before = limit.rlim_cur
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
    // Without permission the program keeps the old limit, and turns away clients above it.
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return UInt64(before)
}

/// Waits until one of several descriptors is ready, or the time has passed; on any thread.
///
/// - Parameters:
///   - descriptors: the descriptors to wait for; `revents` has the ready events afterwards.
///   - nanoseconds: the longest wait; `nil` means no limit.
/// - Returns: whether one is ready. A signal ends the wait, too.
@discardableResult
public func waitUntilReady(_ descriptors: inout [pollfd], nanoseconds: Int64?) -> Bool {
    let count = descriptors.count
    let ready = CLinux_poll(&descriptors, UInt(count), nanoseconds.map { max(0, $0) } ?? -1)
    // After a failure or a timeout, `revents` may have old values.
    if ready <= 0 { for index in descriptors.indices { descriptors[index].revents = 0 } }
    return ready > 0
}

/// A failed system call whose error the caller cannot handle.
public struct SystemError: Error, Equatable, CustomStringConvertible {
    /// The operation, as the end of a sentence that begins with "cannot": `create the event loop`.
    public let operation: String
    /// The positive error number, as in `errno`.
    public let errno: Int32

    /// - Parameters:
    ///   - operation: the operation, as the end of a sentence that begins with "cannot".
    ///   - errno: the positive error number.
    public init(operation: String, errno: Int32) {
        self.operation = operation
        self.errno = errno
    }

    /// One sentence for the log: `cannot create the event loop: Too many open files (errno 24)`.
    public var description: String { "cannot \(operation): \(errorText(errno)) (errno \(errno))" }

    /// Returns the result of a libsystemd call, whose failures are negative error numbers.
    ///
    /// - Throws: the failure, if there is one.
    @discardableResult
    public static func check(_ result: Int32, _ operation: @autoclosure () -> String) throws(SystemError) -> Int32 {
        guard result >= 0 else { throw SystemError(operation: operation(), errno: -result) }
        return result
    }
}

/// Returns the text of an error number: `No space left on device`. On any thread.
public func errorText(_ number: Int32) -> String {
    // strerror is thread-safe since glibc 2.32: its buffer is thread-local.
    strerror(number).map { String(cString: $0) } ?? "unknown error"
}
