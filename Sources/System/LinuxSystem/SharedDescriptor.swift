import Glibc

/// A file descriptor that is open as long as anybody holds this object.
///
/// A loop's source holds the descriptor that it watches, so nobody can close it before the source is out of epoll: epoll forgets
/// a closed descriptor only with the last copy of it, and a child between fork and exec has copies of all.
public final class SharedDescriptor: Sendable {
    private let descriptor: FileDescriptor

    /// The descriptor's number, as system calls take it. It stays this object's.
    public var rawValue: Int32 { descriptor.rawValue }

    /// Takes over a descriptor.
    public init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Takes over what a system call returned; `nil` if that was a failure, and `errno` says which.
    public convenience init?(_ result: Int32) {
        guard let descriptor = FileDescriptor(result) else { return nil }
        self.init(descriptor)
    }

    /// Another descriptor of the same open file, for one that is closed by somebody else, such as a library.
    ///
    /// - Throws: when there is no descriptor left.
    public convenience init(copying number: Int32) throws(SystemError) {
        guard let copy = FileDescriptor(fcntl(number, F_DUPFD_CLOEXEC, 3)) else {
            throw SystemError(operation: "copy descriptor \(number)", errno: errno)
        }
        self.init(copy)
    }
}
