import LinuxSystem

/// Whether there is more to do on this machine than its processors can: then a thread waits for one though it is ready to
/// run. For the thread that made it.
final class ProcessorWatch {
    private let wait = ProcessorWait()
    private var shortage = ProcessorShortage()

    /// Whether there was a shortage of late; false where the kernel does not tell.
    ///
    /// - Parameter now: monotonic nanoseconds.
    func isShort(at now: Int64) -> Bool {
        if shortage.isDue(at: now), let waited = wait?.nanoseconds() { shortage.look(waited: waited, at: now) }
        return shortage.isShort
    }
}

/// When a wait for a processor is a shortage of processors.
struct ProcessorShortage {
    /// How often it is looked at, in nanoseconds: a look takes some 2 us.
    static let interval: Int64 = 5_000_000
    /// A shortage is a wait of more than one part in so many of the time. With 2 handlers that compute on 2 processors the
    /// loop waits for two parts, without others for less than a tenth of one.
    static let part: Int64 = 5

    /// When it was looked at last, and how long the thread had waited by then, in nanoseconds.
    private var last: (time: Int64, waited: Int64)?
    /// Whether there was one between the last two looks.
    private(set) var isShort = false

    /// Whether it is time for another look.
    func isDue(at now: Int64) -> Bool { last.map { now - $0.time >= Self.interval } ?? true }

    /// Takes in a look.
    ///
    /// - Parameters:
    ///   - waited: for how long the thread has waited so far, in nanoseconds.
    ///   - now: monotonic nanoseconds.
    mutating func look(waited: Int64, at now: Int64) {
        if let last { isShort = (waited - last.waited) * Self.part > now - last.time }
        last = (now, waited)
    }
}
