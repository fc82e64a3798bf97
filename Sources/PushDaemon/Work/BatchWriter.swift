/// The choice of the thread that writes the next small batch: the loop's while the disk is fast, otherwise the log's.
///
/// With one slow write in a hundred, as on virtual disks, the log's thread gets only a few batches; with a disk that
/// stays slow it gets all.
struct BatchWriter {
    /// The longest write of the loop that counts as fast: half of the time within which something may be due.
    static let limit: Duration = .milliseconds(10)
    /// How many batches go to the log's thread after a slow one. Each slow write of the loop doubles the number, each
    /// fast one halves it.
    static let pauses = 8...1024

    private var pause = pauses.lowerBound
    private var leftToThread = 0

    /// Whether the loop writes the next batch.
    var isLoop: Bool { leftToThread == 0 }

    /// Notes that the loop wrote a batch, and how long that took.
    mutating func noteLoopWrite(took duration: Duration) {
        if duration > Self.limit {
            leftToThread = pause
            pause = min(2 * pause, Self.pauses.upperBound)
        } else {
            pause = max(pause / 2, Self.pauses.lowerBound)
        }
    }

    /// Notes that the log's thread wrote a batch, and how long that took.
    mutating func noteThreadWrite(took duration: Duration) {
        leftToThread = duration > Self.limit ? pause : max(leftToThread - 1, 0)
    }
}
