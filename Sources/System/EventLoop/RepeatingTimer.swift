public import LinuxSystem

/// Calls its handler again and again, from its making until it is dropped.
public final class RepeatingTimer {
    private let interval: Int64
    private let handler: () -> Void
    private var timer: TimerSource?

    /// A timer that is armed.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - priority: before or after which other sources.
    ///   - first: how long until the first call; `nil`: as long as between two.
    ///   - interval: how long from one call to the next.
    ///   - handler: called on the loop's thread.
    /// - Throws: when the kernel has no descriptor or memory left.
    public init(
        loop: EventLoop, priority: EventLoop.Priority = .normal, after first: Duration? = nil, every interval: Duration,
        handler: @escaping () -> Void
    ) throws(SystemError) {
        self.interval = Self.nanoseconds(interval)
        self.handler = handler
        // Unowned: the timer is a property of this object, and fires no more once it is gone.
        timer = try TimerSource(loop: loop, priority: priority) { [unowned self] in fire() }
        timer?.arm(at: EventLoop.nowNanoseconds + Self.nanoseconds(first ?? interval))
    }

    private func fire() {
        // Before the handler, so that nothing in it can keep the next call from coming.
        timer?.arm(at: EventLoop.nowNanoseconds + interval)
        handler()
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
