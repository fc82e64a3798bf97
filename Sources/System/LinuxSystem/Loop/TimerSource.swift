import CSystemd
import Glibc
import Synchronization

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

/// Calls its handler on the loop's thread when the process gets a signal.
///
/// It owns its signalfd: sd-event closes the descriptor of its own signal sources while epoll still watches it.
public final class SignalSource {
    private let loop: EventLoop
    private let signal: Int32
    private let handler: () -> Void
    private let descriptor: SharedDescriptor
    private var source: IOSource?

    /// Watches for `signal`, which every thread must have blocked (see ``block(_:)``).
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - signal: its number, such as `SIGTERM`.
    ///   - priority: the priority among the loop's sources.
    ///   - handler: called once for all pending instances of the signal. It may release the source.
    /// - Throws: `EBUSY` if the calling thread does not block the signal, or the loop watches it already.
    public init(
        loop: EventLoop, signal: Int32, priority: EventLoop.Priority = .normal, handler: @escaping () -> Void
    ) throws(SystemError) {
        loop.preconditionOnThread()
        let operation = "watch for signal \(signal)"
        var (set, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&set)
        guard sigaddset(&set, signal) == 0 else { throw SystemError(operation: operation, errno: errno) }
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        guard sigismember(&blocked, signal) == 1, !loop.signals.contains(signal) else {
            throw SystemError(operation: operation, errno: EBUSY)
        }
        guard let descriptor = SharedDescriptor(signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC)))
        else { throw SystemError(operation: operation, errno: errno) }
        (self.loop, self.signal, self.handler, self.descriptor) = (loop, signal, handler, descriptor)
        // Unowned: this object owns the source, which makes no call after its release.
        source = try IOSource(loop: loop, descriptor: descriptor, interest: .read, priority: priority) {
            [unowned self] _ in take()
        }
        loop.signals.insert(signal)
    }

    deinit { if source != nil { loop.signals.remove(signal) } }

    /// Blocks signals in the calling thread and in all threads that it creates later. To be called first: a signal that
    /// one thread does not block may end the process.
    ///
    /// A child inherits the mask; code that spawns children must give them an empty one.
    public static func block(_ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals {
            let isAdded = sigaddset(&set, signal) == 0
            precondition(isAdded, "\(signal) is not a signal")
        }
        let isBlocked = pthread_sigmask(SIG_BLOCK, &set, nil) == 0
        precondition(isBlocked, "cannot block signals")
    }

    /// Waits for one of these signals, which every thread must have blocked; for use before a loop watches them.
    ///
    /// - Returns: whether one arrived in time.
    public static func take(_ signals: [Int32], atMost duration: Duration) -> Bool {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        let (seconds, attoseconds) = duration.components
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        return sigtimedwait(&set, nil, &limit) >= 0
    }

    private func take() {
        var facts = signalfd_siginfo()
        let length = MemoryLayout<signalfd_siginfo>.size
        guard read(descriptor.rawValue, &facts, length) == length else { return }
        // Reads further instances: there may be many of a real-time signal.
        while read(descriptor.rawValue, &facts, length) == length {}
        handler()
    }
}

/// Carries messages from any thread to the loop, in the order of posting.
public final class Mailbox<Message: Sendable>: Sendable {
    private let messages = Mutex<[Message]>([])
    private let wakeup: EventDescriptor

    /// Creates an empty mailbox.
    ///
    /// - Throws: if there is no descriptor left.
    public init() throws(SystemError) { wakeup = try EventDescriptor() }

    /// Adds a message; on any thread, without waiting. Only the first message since the last take wakes the loop.
    public func post(_ message: Message) {
        let wasEmpty = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if wasEmpty { wakeup.signal() }
    }

    /// Delivers new messages to `handler` on the calling thread's loop, at least one in each call.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread; one loop at a time receives.
    ///   - priority: the priority among the loop's sources.
    ///   - handler: called on the loop's thread.
    /// - Returns: the source, which delivers messages as long as it lives.
    /// - Throws: if the kernel cannot watch the mailbox.
    public func receive(
        on loop: EventLoop, priority: EventLoop.Priority = .normal, handler: @escaping ([Message]) -> Void
    ) throws(SystemError) -> IOSource {
        try IOSource(loop: loop, descriptor: wakeup.descriptor, interest: .read, priority: priority) { _ in
            // clear() comes first: a message posted in between signals again, and is not missed.
            self.wakeup.clear()
            let batch = self.takeAll()
            if !batch.isEmpty { handler(batch) }
        }
    }

    /// Removes and returns all messages, for a loop that takes no further turn; on the loop's thread.
    public func takeAll() -> [Message] { messages.withLock { messages in exchange(&messages, with: []) } }
}
