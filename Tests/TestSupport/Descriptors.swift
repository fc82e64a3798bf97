import CTestProbe
import Glibc

/// A pipe that no program inherits, not even one that another test starts at the same moment: `pipe` alone would leave
/// a gap for that, and a daemon that holds an end keeps its reader waiting.
public struct Pipe: Sendable {
    /// The end to read from; to be closed by who has it.
    public let reading: Int32
    /// The end to write to; to be closed by who has it.
    public let writing: Int32

    /// Makes one; traps when that fails.
    public init() {
        let directory = TemporaryDirectory()
        let path = directory.path + "/pipe"
        precondition(mkfifo(path, 0o600) == 0, "mkfifo: \(systemReason())")
        // Without waiting for the other end, which comes next.
        reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        writing = open(path, O_WRONLY | O_CLOEXEC)
        precondition(
            reading >= 0 && writing >= 0 && fcntl(reading, F_SETFL, 0) == 0,
            "cannot open a pipe: \(systemReason())")
    }
}

/// The next connection of a listening socket, which no program inherits, or -1 with `errno`. A program of another test that
/// had it would keep it open when the test closes it.
public func acceptConnection(of listener: Int32) -> Int32 { CTestProbe_accept(listener) }
