import LinuxSystem

/// Watches whether the machine has more work than its processors can do: then a thread that is ready to run waits.
/// Measures the thread that made it.
final class ProcessorWatch {
    private let wait = ProcessorWait()
    private var shortage = ProcessorShortage()

    /// Whether there was a shortage at the last look; `false` if the kernel does not tell.
    ///
    /// - Parameter now: monotonic nanoseconds.
    func isShort(at now: Int64) -> Bool {
        if shortage.isDue(at: now), let waited = wait?.nanoseconds() { shortage.check(waited: waited, at: now) }
        return shortage.isShort
    }
}

/// Decides from a thread's waits for a processor whether the processors are short.
struct ProcessorShortage {
    /// The time between two looks, in nanoseconds: a look takes some 2 us.
    static let interval: Int64 = 5_000_000
    /// A shortage is a wait of more than 1 part in 5 of the time. With 2 handlers that compute on 2 processors the loop
    /// waits 2 parts in 5, without them less than a tenth of one.
    static let part: Int64 = 5

    /// The time of the last look, and the thread's total wait by then, in nanoseconds.
    private var last: (time: Int64, waited: Int64)?
    /// Whether there was a shortage between the last two looks.
    private(set) var isShort = false

    /// Whether it is time for another look.
    func isDue(at now: Int64) -> Bool { last.map { now - $0.time >= Self.interval } ?? true }

    /// Notes a look.
    ///
    /// - Parameters:
    ///   - waited: the thread's total wait, in nanoseconds.
    ///   - now: monotonic nanoseconds.
    mutating func check(waited: Int64, at now: Int64) {
        if let last { isShort = (waited - last.waited) * Self.part > now - last.time }
        last = (now, waited)
    }
}
