import CTestProbe
import Glibc

/// A pipe that no other program inherits, even one that another test starts at the same moment. `pipe` would leave a
/// gap for that, and a daemon with an inherited end would keep the reader waiting.
public struct Pipe: Sendable {
    /// The end to read from; the owner closes it.
    public let reading: Int32
    /// The end to write to; the owner closes it.
    public let writing: Int32

    /// Makes a pipe; traps on an error.
    public init() {
        let directory = TemporaryDirectory()
        let path = directory.path + "/pipe"
        precondition(mkfifo(path, 0o600) == 0, "mkfifo: \(systemReason())")
        // `O_NONBLOCK` opens this end without waiting for the other one, which the next line opens.
        reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        writing = open(path, O_WRONLY | O_CLOEXEC)
        precondition(
            reading >= 0 && writing >= 0 && fcntl(reading, F_SETFL, 0) == 0,
            "cannot open a pipe: \(systemReason())")
    }
}

/// Returns the next connection of a listening socket, or -1 with `errno`. No other program inherits it: an inherited
/// copy would keep the connection open after the test closes it.
public func acceptConnection(of listener: Int32) -> Int32 { CTestProbe_accept(listener) }
