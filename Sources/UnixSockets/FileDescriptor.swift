import Glibc

/// Owns a descriptor and closes it.
struct FileDescriptor: ~Copyable {
    let rawValue: Int32

    init(owning descriptor: Int32) { rawValue = descriptor }

    deinit { close(rawValue) }

    /// A Unix stream socket, close-on-exec from birth; nil with `errno` set when there is none left.
    static func streamSocket(nonblocking: Bool) -> FileDescriptor? {
        let flags = SOCK_CLOEXEC.rawValue | (nonblocking ? SOCK_NONBLOCK.rawValue : 0)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0)
        return descriptor < 0 ? nil : FileDescriptor(owning: descriptor)
    }
}

/// Repeats a call that a signal interrupted.
func retryingInterrupts(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
