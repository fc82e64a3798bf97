/// Calls its handler repeatedly while it is enabled, in turn with the other ready sources of its priority: for work
/// that takes too long for one call.
///
/// Its descriptor stays readable. sd-event's own defer sources would always run before descriptors of the same
/// priority, because they stay pending.
public final class DeferSource {
    /// Whether the handler is called.
    public var isEnabled = false {
        didSet { if isEnabled != oldValue { source?.interest = isEnabled ? .read : [] } }
    }

    private let readable: EventDescriptor
    private var source: IOSource?

    /// Creates a disabled source.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - priority: the priority among the loop's sources.
    ///   - handler: called on the loop's thread. It may disable or release the source.
    /// - Throws: if there is no memory or descriptor left.
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
