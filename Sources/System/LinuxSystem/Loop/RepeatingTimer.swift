/// Calls its handler repeatedly, from its creation until its release.
public final class RepeatingTimer {
    private let interval: Int64
    private let handler: () -> Void
    private var timer: TimerSource?

    /// Creates an armed timer.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - priority: the priority among the loop's sources.
    ///   - first: the time until the first call; `nil` uses the interval.
    ///   - interval: the time between two calls.
    ///   - handler: called on the loop's thread.
    /// - Throws: if the kernel has no descriptor or memory left.
    public init(
        loop: EventLoop, priority: EventLoop.Priority = .normal, after first: Duration? = nil, every interval: Duration,
        handler: @escaping () -> Void
    ) throws(SystemError) {
        self.interval = Self.nanoseconds(interval)
        self.handler = handler
        // Unowned: this object owns the timer, which makes no call after its release.
        timer = try TimerSource(loop: loop, priority: priority) { [unowned self] in fire() }
        timer?.arm(at: EventLoop.nowNanoseconds + Self.nanoseconds(first ?? interval))
    }

    private func fire() {
        // Arms first, so that nothing in the handler can prevent the next call.
        timer?.arm(at: EventLoop.nowNanoseconds + interval)
        handler()
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
