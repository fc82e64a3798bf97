import CSystemd
import Glibc

/// Calls its handler once at a point in time; it is not armed at first, and after each call.
///
/// Two timers of the same priority that are both due may fire in any order.
public final class TimerSource {
    private let loop: EventLoop
    private let handler: () -> Void
    private var handle: SourceHandle?

    /// Creates a timer that is not armed.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - priority: the priority among the loop's sources.
    ///   - handler: called on the loop's thread, never before the time. It may arm the timer again, or release it.
    /// - Throws: if the kernel has no descriptor or memory left.
    public init(
        loop: EventLoop, priority: EventLoop.Priority = .normal, handler: @escaping () -> Void
    ) throws(SystemError) {
        loop.preconditionOnThread()
        self.loop = loop
        self.handler = handler
        let context = Unmanaged.passUnretained(self).toOpaque()
        let added = try SourceHandle(priority, "create a timer") { source in
            let callback: sd_event_time_handler_t = { _, _, context in
                // The pointer is valid: this object disables the source in deinit.
                guard let context else { return -EINVAL }
                Unmanaged<TimerSource>.fromOpaque(context).takeUnretainedValue().fire()
                return 0
            }
            // An accuracy of 0 would mean sd-event's default, 250 ms.
            let accuracyMicroseconds: UInt64 = 1
            return sd_event_add_time(
                loop.handle, source, CLOCK_MONOTONIC, .max, accuracyMicroseconds, callback, context)
        }
        try added.setEnabled(SD_EVENT_OFF)
        handle = consume added
    }

    /// Arms the timer; replaces an earlier time. A time in the past fires in the next turn.
    ///
    /// - Parameter nanoseconds: on `CLOCK_MONOTONIC`, as ``EventLoop/nowNanoseconds``.
    public func arm(at nanoseconds: Int64) {
        loop.preconditionOnThread()
        do throws(SystemError) {
            try handle?.setTime(microseconds: TimerSource.microseconds(notBefore: nanoseconds))
            try handle?.setEnabled(SD_EVENT_ONESHOT)
        } catch {
            loop.fail(error)
        }
    }

    /// Disarms the timer: the handler is not called until it is armed again.
    public func disarm() {
        loop.preconditionOnThread()
        do throws(SystemError) { try handle?.setEnabled(SD_EVENT_OFF) } catch { loop.fail(error) }
    }

    /// Rounds up to sd-event's whole microseconds, so that a timer is never early.
    static func microseconds(notBefore nanoseconds: Int64) -> UInt64 {
        let (whole, rest) = max(0, nanoseconds).quotientAndRemainder(dividingBy: 1000)
        return UInt64(whole) + (rest > 0 ? 1 : 0)
    }

    private func fire() { handler() }
}

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
