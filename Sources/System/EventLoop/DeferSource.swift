import CSystemd
import Glibc
public import LinuxSystem

/// Calls its handler again and again while it is enabled, other sources of its priority in between: for work that is too
/// much for one go.
public final class DeferSource {
    /// Whether the handler is called.
    public var isEnabled = false {
        didSet {
            loop.preconditionOnThread()
            guard isEnabled != oldValue else { return }
            do throws(SystemError) {
                try handle?.setEnabled(isEnabled ? SD_EVENT_ON : SD_EVENT_OFF)
            } catch {
                loop.fail(error)
            }
        }
    }

    private let loop: EventLoop
    private let handler: () -> Void
    private var handle: SourceHandle?

    /// A source that is not enabled.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - priority: before or after which other sources.
    ///   - handler: called on the loop's thread. It may disable the source, or drop it.
    /// - Throws: when there is no memory left.
    public init(
        loop: EventLoop, priority: EventLoop.Priority = .normal, handler: @escaping () -> Void
    ) throws(SystemError) {
        loop.preconditionOnThread()
        self.loop = loop
        self.handler = handler
        let context = Unmanaged.passUnretained(self).toOpaque()
        let added = try SourceHandle(priority, "defer work") { source in
            let callback: sd_event_handler_t = { _, context in
                // The pointer is good: this object disables the source before it goes.
                guard let context else { return -EINVAL }
                Unmanaged<DeferSource>.fromOpaque(context).takeUnretainedValue().handler()
                return 0
            }
            return sd_event_add_defer(loop.handle, source, callback, context)
        }
        try added.setEnabled(SD_EVENT_OFF)
        handle = consume added
    }
}
