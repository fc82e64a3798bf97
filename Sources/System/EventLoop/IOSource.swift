import CSystemd
import Glibc
public import LinuxSystem

/// What a descriptor can be ready for, as epoll says it.
public struct IOEvents: OptionSet, Sendable {
    /// The bits of epoll.
    public let rawValue: UInt32

    /// - Parameter rawValue: bits of epoll.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// There is something to read, or the end of it. A pidfd is readable when its process has ended.
    public static let read = IOEvents(rawValue: EPOLLIN.rawValue)
    /// There is room to write.
    public static let write = IOEvents(rawValue: EPOLLOUT.rawValue)
    /// The peer will write no more; only when asked for.
    public static let peerClosed = IOEvents(rawValue: EPOLLRDHUP.rawValue)
    /// Both directions are over; reported whether asked for or not.
    public static let hangup = IOEvents(rawValue: EPOLLHUP.rawValue)
    /// The descriptor has an error; reported whether asked for or not.
    public static let error = IOEvents(rawValue: EPOLLERR.rawValue)
}

/// Calls its handler while a descriptor is ready (level-triggered).
///
/// The source holds the descriptor until it is out of epoll.
public final class IOSource {
    /// What to wait for. While it is empty the descriptor is not watched at all, not even for a hangup, which
    /// epoll would otherwise report again and again.
    public var interest: IOEvents {
        didSet {
            loop.preconditionOnThread()
            if interest != oldValue { watch(previous: oldValue) }
        }
    }

    private let loop: EventLoop
    private let handler: (IOEvents) -> Void
    private var handle: SourceHandle?
    private var descriptor: SharedDescriptor?

    /// Watches `descriptor`, from the next turn on.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - descriptor: anything epoll can watch; not a regular file.
    ///   - interest: what to wait for.
    ///   - priority: before or after which other sources.
    ///   - handler: called on the loop's thread with what is ready. It may drop the source.
    /// - Throws: when the kernel cannot watch the descriptor (`EPERM` for a regular file, `ENOSPC`, `ENOMEM`).
    public init(
        loop: EventLoop, descriptor: SharedDescriptor, interest: IOEvents, priority: EventLoop.Priority = .normal,
        handler: @escaping (IOEvents) -> Void
    ) throws(SystemError) {
        loop.preconditionOnThread()
        self.loop = loop
        self.interest = interest
        self.handler = handler
        let context = Unmanaged.passUnretained(self).toOpaque()
        let added = try SourceHandle(priority, "watch descriptor \(descriptor.rawValue)") { source in
            let callback: sd_event_io_handler_t = { _, _, events, context in
                // The pointer is good: this object disables the source before it goes.
                guard let context else { return -EINVAL }
                Unmanaged<IOSource>.fromOpaque(context).takeUnretainedValue().fire(IOEvents(rawValue: events))
                return 0
            }
            return sd_event_add_io(
                loop.handle, source, descriptor.rawValue, interest.rawValue, callback, context)
        }
        if interest.isEmpty { try added.setEnabled(SD_EVENT_OFF) }
        handle = consume added
        self.descriptor = descriptor
    }

    deinit { cancel() }

    /// Watches no more, from within its own handler too, which keeps this object alive until it returns: the descriptor is out of
    /// epoll at once, and nobody here holds it any more.
    public func cancel() {
        // In this order: releasing it may close it.
        handle = nil
        descriptor = nil
    }

    private func fire(_ events: IOEvents) { handler(events) }

    private func watch(previous: IOEvents) {
        do throws(SystemError) {
            if interest.isEmpty {
                try handle?.setEnabled(SD_EVENT_OFF)
            } else {
                try handle?.setEvents(interest.rawValue)
                if previous.isEmpty { try handle?.setEnabled(SD_EVENT_ON) }
            }
        } catch {
            loop.fail(error)
        }
    }
}
