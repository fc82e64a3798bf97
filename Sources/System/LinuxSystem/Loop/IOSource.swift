import CSystemd
import Glibc

/// The readiness of a descriptor, as bits of epoll.
public struct IOEvents: OptionSet, Sendable {
    /// The bits of epoll.
    public let rawValue: UInt32

    /// - Parameter rawValue: bits of epoll.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// There is data to read, or the end of file. A pidfd is readable after its process has exited.
    public static let read = IOEvents(rawValue: EPOLLIN.rawValue)
    /// There is room to write.
    public static let write = IOEvents(rawValue: EPOLLOUT.rawValue)
    /// The peer has closed its output; reported only on request.
    static let peerClosed = IOEvents(rawValue: EPOLLRDHUP.rawValue)
    /// Both directions are closed; always reported.
    public static let hangup = IOEvents(rawValue: EPOLLHUP.rawValue)
    /// The descriptor has an error; always reported.
    public static let error = IOEvents(rawValue: EPOLLERR.rawValue)
}

/// Calls its handler while a descriptor is ready (level-triggered).
///
/// The source keeps the descriptor open until it is removed from epoll.
public final class IOSource {
    /// The events to wait for. While it is empty the descriptor is not watched at all, since epoll would report a
    /// hangup repeatedly.
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
    ///   - interest: the events to wait for.
    ///   - priority: the priority among the loop's sources.
    ///   - handler: called on the loop's thread with the ready events. It may release the source.
    /// - Throws: if the kernel cannot watch the descriptor (`EPERM` for a regular file, `ENOSPC`, `ENOMEM`).
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
                // The pointer is valid: this object disables the source in deinit.
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

    /// Ends the watch, also from within the handler, which keeps this object alive until it returns. The descriptor is
    /// removed from epoll at once, and this object releases it.
    public func cancel() {
        // The source goes first: releasing the descriptor may close it.
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
