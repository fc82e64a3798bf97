import Glibc

/// One open descriptor, closed when this goes.
struct FileDescriptor: ~Copyable, Sendable {
    let number: Int32

    /// Takes over `number`, as a system call has returned it; nil if that was a failure, and `errno` says which.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        close(number)
    }
}
