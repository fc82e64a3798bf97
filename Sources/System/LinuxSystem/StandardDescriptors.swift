import Glibc

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
