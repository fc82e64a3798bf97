import CSystemd
import Glibc
public import LinuxSystem

/// Calls its handler on the loop's thread when the process gets a signal.
///
/// Its descriptor is ours: sd-event closes that of its own signal sources while epoll still watches it.
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
    ///   - priority: before or after which other sources.
    ///   - handler: called once for any number of the same signal that came meanwhile. It may drop the source.
    /// - Throws: `EBUSY` when the calling thread does not block the signal or the loop watches for it already.
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
        // Unowned: the source is a property of this object, and calls no more once it is gone.
        source = try IOSource(loop: loop, descriptor: descriptor, interest: .read, priority: priority) {
            [unowned self] _ in take()
        }
        loop.signals.insert(signal)
    }

    deinit { if source != nil { loop.signals.remove(signal) } }

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

    private func take() {
        var facts = signalfd_siginfo()
        let length = MemoryLayout<signalfd_siginfo>.size
        guard read(descriptor.rawValue, &facts, length) == length else { return }
        // More of them came meanwhile: of a real-time signal there may be many.
        while read(descriptor.rawValue, &facts, length) == length {}
        handler()
    }
}
