/// Who writes the next small batch: the loop, as long as the disk is fast, or the log's thread.
///
/// One slow write in a hundred, which a virtual disk has, leaves only a few batches to the thread; a disk that stays slow
/// leaves it all.
struct BatchWriter {
    /// The loop writes as long as that takes no longer than this: half of what may be due meanwhile.
    static let limit: Duration = .milliseconds(10)
    /// How many batches the loop leaves to the thread after a slow one: twice as many as the last time, half as many for
    /// each batch that it wrote in time since.
    static let pauses = 8...1024

    private var pause = pauses.lowerBound
    private var leftToThread = 0

    /// Whether the loop writes the next one.
    var isLoop: Bool { leftToThread == 0 }

    /// The loop wrote one, in this time.
    mutating func loopWrote(took duration: Duration) {
        if duration > Self.limit {
            leftToThread = pause
            pause = min(2 * pause, Self.pauses.upperBound)
        } else {
            pause = max(pause / 2, Self.pauses.lowerBound)
        }
    }

    /// The thread wrote one, in this time.
    mutating func threadWrote(took duration: Duration) {
        leftToThread = duration > Self.limit ? pause : max(leftToThread - 1, 0)
    }
}
