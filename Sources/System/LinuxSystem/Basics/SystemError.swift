import Glibc

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
