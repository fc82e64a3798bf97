import CSystemd
import Glibc
public import LinuxSystem

/// Calls its handler on the loop's thread when the process gets a signal.
public final class SignalSource {
    private let handler: () -> Void
    private var handle: SourceHandle?

    /// Watches for `signal`, which every thread must have blocked (see ``block(_:)``).
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - signal: its number, such as `SIGTERM`.
    ///   - priority: before or after which other sources.
    ///   - handler: called once for any number of the same signal that came meanwhile. It may drop the source.
    /// - Throws: `EBUSY` when the calling thread does not block the signal or the loop watches for it already.
    public init(
        loop: EventLoop, signal: Int32, priority: EventLoop.Priority = .normal, handler: @escaping () -> Void
    ) throws(SystemError) {
        loop.preconditionOnThread()
        self.handler = handler
        let context = Unmanaged.passUnretained(self).toOpaque()
        handle = try SourceHandle(priority, "watch for signal \(signal)") { source in
            let callback: sd_event_signal_handler_t = { _, _, context in
                // The pointer is good: this object disables the source before it goes.
                guard let context else { return -EINVAL }
                Unmanaged<SignalSource>.fromOpaque(context).takeUnretainedValue().fire()
                return 0
            }
            return sd_event_add_signal(loop.handle, source, signal, callback, context)
        }
    }

    /// Blocks signals in the calling thread and in all threads that it creates from now on. Call it first of
    /// all: a thread that does not block a signal may get it, and then the process dies of it.
    ///
    /// A child inherits the mask; whoever spawns children gives them an empty one.
    public static func block(_ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { precondition(sigaddset(&set, signal) == 0, "\(signal) is not a signal") }
        precondition(pthread_sigmask(SIG_BLOCK, &set, nil) == 0, "cannot block signals")
    }

    /// Waits for one of these signals, which every thread must have blocked; before a loop takes them.
    ///
    /// - Returns: whether one came in time.
    public static func take(_ signals: [Int32], atMost duration: Duration) -> Bool {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        let (seconds, attoseconds) = duration.components
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        return sigtimedwait(&set, nil, &limit) >= 0
    }

    private func fire() { handler() }
}
