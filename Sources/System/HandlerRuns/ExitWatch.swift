import EventLoop
import HandlerProcess
import LinuxSystem

/// Watches a child, reports its exit status once, when it is reaped, and keeps the child until then.
///
/// A timer polls a child whose pidfd cannot be watched. It also polls a child whose exit a tracer (ptrace) has not
/// released yet: its pidfd would stay readable, and the source would take all of the loop's time.
final class ExitWatch {
    /// The interval of the polls, in nanoseconds.
    private static let pause: Int64 = 20_000_000

    private let child: ChildProcess
    private let loop: EventLoop
    private let take: (ExitStatus) -> Void
    private var source: IOMember?
    private var timer: TimerSource?

    /// - Parameters:
    ///   - child: the child.
    ///   - system: the services for runs.
    ///   - take: gets the exit status; may release this object.
    init(_ child: ChildProcess, _ system: InstanceSystem, take: @escaping (ExitStatus) -> Void) {
        self.child = child
        loop = system.loop
        self.take = take
        do throws(SystemError) {
            // Unowned: this object owns the source, which makes no call after its release.
            source = try IOMember(of: system.exits, descriptor: child.pidfd, interest: .read) {
                [unowned self] _ in check()
            }
        } catch {
            scheduleCheck()
        }
    }

    private func check() {
        if let status = child.reap() { return take(status) }
        source?.interest = []
        scheduleCheck()
    }

    private func scheduleCheck() {
        do throws(SystemError) {
            if timer == nil { timer = try TimerSource(loop: loop) { [unowned self] in check() } }
            timer?.arm(at: EventLoop.nowNanoseconds + Self.pause)
        } catch {
            preconditionFailure("cannot watch a handler's process: \(error)")
        }
    }
}
