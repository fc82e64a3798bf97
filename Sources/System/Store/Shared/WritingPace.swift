import CLinux
import Glibc
import LinuxSystem
import PushModel

/// Holds whoever writes a large file to a rate, and has the kernel write it to the disk as it grows: else the syncs of others
/// would wait for all of it at once.
final class WritingPace {
    /// How many bytes are sent to the disk together.
    private static let slice: Int64 = 1 << 20
    /// How long a wait is before somebody is asked whether to stop, in nanoseconds.
    private static let longestWait: Int64 = 100_000_000

    private let file: FileDescriptor
    private let rate: Int64
    private let startedAt = SystemClock.monotonicNanoseconds
    private var sent: Int64 = 0

    /// - Parameters:
    ///   - file: the file, empty as yet.
    ///   - rate: how many bytes it may grow by in a second.
    init(of file: consuming FileDescriptor, rate: Int) {
        self.file = file
        self.rate = Int64(max(1, rate))
    }

    /// Waits until the file may grow.
    ///
    /// - Parameter isStopped: asked from time to time.
    /// - Returns: whether to stop.
    func wait(unless isStopped: () -> Bool) -> Bool {
        var facts = stat()
        guard fstat(file.rawValue, &facts) == 0 else { return isStopped() }
        let length = Int64(facts.st_size)
        if length - sent >= Self.slice {
            // It may wait for the disk, which is what the others are to be spared.
            _ = CLinux_write_back(file.rawValue, sent, length - sent)
            sent = length
        }
        let (seconds, rest) = length.quotientAndRemainder(dividingBy: rate)
        let due = startedAt + seconds * 1_000_000_000 + Int64(Double(rest) / Double(rate) * 1e9)
        repeat {
            if isStopped() { return true }
            let left = due - SystemClock.monotonicNanoseconds
            guard left > 0 else { return false }
            usleep(UInt32(min(left, Self.longestWait) / 1000))
        } while true
    }
}
