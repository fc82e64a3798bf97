import Glibc

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
