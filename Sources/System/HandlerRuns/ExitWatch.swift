import EventLoop
import HandlerProcess
import LinuxSystem

/// Tells once how a child ended, when it is reaped. Keeps the child until then.
///
/// A tracer of the child (ptrace) may keep its end for itself, for as long as it likes: then the child is looked at from time
/// to time. A source on its descriptor would be ready for ever, and have all of the loop's time.
final class ExitWatch {
    /// How soon a child is looked at again whose end a tracer has, in nanoseconds.
    private static let pause: Int64 = 20_000_000

    private let child: ChildProcess
    private let loop: EventLoop
    private let take: (ExitStatus) -> Void
    private var source: IOSource?
    private var timer: TimerSource?

    /// - Parameters:
    ///   - child: its descriptor is watched.
    ///   - loop: the loop.
    ///   - take: gets how it ended; may drop this object.
    /// - Throws: when the kernel cannot watch the child.
    init(_ child: ChildProcess, on loop: EventLoop, take: @escaping (ExitStatus) -> Void) throws(SystemError) {
        self.child = child
        self.loop = loop
        self.take = take
        source = try IOSource(loop: loop, descriptor: child.pidfd, interest: .read, priority: .important) {
            // The source may outlive this object by the end of this call; its descriptor must outlive the source.
            [unowned self, child] _ in withExtendedLifetime(child) { look() }
        }
    }

    private func look() {
        if let status = child.reap() { return take(status) }
        source?.interest = []
        do throws(SystemError) {
            if timer == nil { timer = try TimerSource(loop: loop) { [unowned self] in look() } }
            timer?.arm(at: EventLoop.nowNanoseconds + Self.pause)
        } catch {
            source?.interest = .read
        }
    }
}
