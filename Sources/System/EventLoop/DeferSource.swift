public import LinuxSystem

/// Calls its handler again and again while it is enabled, in turn with the other sources of its priority that are ready:
/// for work that is too much for one go.
///
/// It is a descriptor that stays readable. sd-event's own defer sources are always served before descriptors of the same
/// priority, because they never cease to be pending.
public final class DeferSource {
    /// Whether the handler is called.
    public var isEnabled = false {
        didSet { if isEnabled != oldValue { source?.interest = isEnabled ? .read : [] } }
    }

    private let readable: EventDescriptor
    private var source: IOSource?

    /// A source that is not enabled.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - priority: before or after which other sources.
    ///   - handler: called on the loop's thread. It may disable the source, or drop it.
    /// - Throws: when there is no memory or descriptor left.
    public init(
        loop: EventLoop, priority: EventLoop.Priority = .normal, handler: @escaping () -> Void
    ) throws(SystemError) {
        readable = try EventDescriptor()
        readable.signal()
        source = try IOSource(loop: loop, descriptor: readable.descriptor, interest: [], priority: priority) { _ in
            handler()
        }
    }
}
