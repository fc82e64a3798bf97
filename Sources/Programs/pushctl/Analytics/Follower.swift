import Glibc
import PushModel

/// Waits between two looks at the ledger, and hears of what ends the waiting.
///
/// The ledger is looked at five times a second: one read of its index in memory, no disk. A watch on its files
/// (inotify) would tell of a commit before it can be read, and of nothing after the log begins anew, so it would need the
/// same clock beside it.
struct Follower {
    static let interval = Duration.milliseconds(200)
    private var signals = sigset_t()

    /// From now on SIGINT and SIGTERM end the waiting, not the program: what was written is accounted for first.
    init() {
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        sigprocmask(SIG_BLOCK, &signals, nil)
    }

    /// Waits for less than a second; false when it is time to end.
    func wait(_ time: Duration = interval) -> Bool {
        var signals = signals
        var interval = timespec(tv_sec: 0, tv_nsec: Int(time.nanoseconds))
        guard sigtimedwait(&signals, nil, &interval) < 0 else { return false }
        // A pipe or socket without a reader says so even to who asks for nothing.
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&output, 1, 0) <= 0 || output.revents & Int16(POLLERR | POLLHUP) == 0
    }
}
