import Glibc

/// Why the journal's thread could not be started.
public struct JournalError: Error, Equatable, CustomStringConvertible {
    /// What was being done, as the end of a sentence that begins with "cannot".
    public let operation: String
    /// The positive error number, as in `errno`.
    public let errno: Int32

    /// One sentence for the log.
    public var description: String {
        // strerror may be called from any thread since glibc 2.32: its buffer is the thread's own.
        let reason = strerror(errno).map { String(cString: $0) } ?? "unknown error"
        return "cannot \(operation): \(reason) (errno \(errno))"
    }
}
