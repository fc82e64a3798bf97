import EventLoop
import HandlerProcess
import LinuxSystem

/// Tells once how a child ended, when it is reaped. Keeps the child until then.
///
/// A child whose descriptor cannot be watched is looked at from time to time. So is one whose end a tracer (ptrace) keeps for
/// itself, for as long as it likes: a source on its descriptor would be ready for ever, and have all of the loop's time.
final class ExitWatch {
    /// How soon a child is looked at again, in nanoseconds.
    private static let pause: Int64 = 20_000_000

    private let child: ChildProcess
    private let loop: EventLoop
    private let take: (ExitStatus) -> Void
    private var source: IOMember?
    private var timer: TimerSource?

    /// - Parameters:
    ///   - child: its descriptor is watched.
    ///   - system: what runs work with.
    ///   - take: gets how it ended; may drop this object.
    init(_ child: ChildProcess, _ system: InstanceSystem, take: @escaping (ExitStatus) -> Void) {
        self.child = child
        loop = system.loop
        self.take = take
        do throws(SystemError) {
            // Unowned: the member is a property of this object, and calls no more once it is gone.
            source = try IOMember(of: system.exits, descriptor: child.pidfd, interest: .read) {
                [unowned self] _ in look()
            }
        } catch {
            lookAgain()
        }
    }

    private func look() {
        if let status = child.reap() { return take(status) }
        source?.interest = []
        lookAgain()
    }

    private func lookAgain() {
        do throws(SystemError) {
            if timer == nil { timer = try TimerSource(loop: loop) { [unowned self] in look() } }
            timer?.arm(at: EventLoop.nowNanoseconds + Self.pause)
        } catch {
            preconditionFailure("cannot watch a handler's process: \(error)")
        }
    }
}
