import Glibc
import PushModel

/// Waits between two reads of the ledger, and detects what ends the wait: a signal, or a reader that is gone.
///
/// The ledger is read five times a second: one read of its index in memory, none from the disk. An inotify watch on its
/// files would report a commit before it can be read, and nothing after the WAL begins anew, so that it would need the
/// same timer.
struct Follower {
    static let interval = Duration.milliseconds(200)
    private var signals = sigset_t()

    /// Blocks SIGINT and SIGTERM: from now on they end the wait and not the program, so that written output is
    /// accounted for first.
    init() {
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        sigprocmask(SIG_BLOCK, &signals, nil)
    }

    /// Waits for less than a second; returns `false` when it is time to end.
    func wait(_ time: Duration = interval) -> Bool {
        var signals = signals
        var interval = timespec(tv_sec: 0, tv_nsec: Int(time.nanoseconds))
        guard sigtimedwait(&signals, nil, &interval) < 0 else { return false }
        // poll(2) reports a pipe or socket without a reader (POLLERR, POLLHUP) even for no events.
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&output, 1, 0) <= 0 || output.revents & Int16(POLLERR | POLLHUP) == 0
    }
}
