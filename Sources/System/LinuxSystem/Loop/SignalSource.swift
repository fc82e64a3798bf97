import CSystemd
import Glibc

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
        for signal in signals { precondition(sigaddset(&set, signal) == 0, "\(signal) is not a signal") }
        precondition(pthread_sigmask(SIG_BLOCK, &set, nil) == 0, "cannot block signals")
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
