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

/// A level-triggered epoll instance. Its descriptor is readable while a watched descriptor is ready.
struct EpollDescriptor: ~Copyable {
    /// A descriptor that is ready.
    struct Ready: Sendable {
        /// The key that it was added with.
        var key: UInt64
        /// The events that it is ready for, as bits of epoll.
        var events: UInt32
    }

    /// The descriptor of the epoll instance.
    let descriptor: SharedDescriptor
    private let found: UnsafeMutableBufferPointer<epoll_event>

    /// Creates an epoll instance that watches nothing.
    ///
    /// - Parameter atOnce: the largest number of ready descriptors that one look returns.
    /// - Throws: if there is no descriptor left.
    init(atOnce: Int) throws(SystemError) {
        guard let descriptor = SharedDescriptor(epoll_create1(Int32(EPOLL_CLOEXEC))) else {
            throw SystemError(operation: "create an epoll instance", errno: errno)
        }
        self.descriptor = descriptor
        found = .allocate(capacity: atOnce)
        found.initialize(repeating: epoll_event())
    }

    deinit { found.deallocate() }

    /// Adds a descriptor (EPOLL_CTL_ADD).
    ///
    /// - Parameters:
    ///   - file: anything epoll can watch; not a regular file. The caller keeps it open until it is removed.
    ///   - events: the events to watch for, as bits of epoll.
    ///   - key: the key that a look returns for it.
    /// - Throws: if the kernel cannot watch it (`EPERM` for a regular file, `ENOSPC`, `ENOMEM`).
    func add(_ file: SharedDescriptor, events: UInt32, key: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_ADD, file, events, key)
    }

    /// Changes the events of a descriptor (EPOLL_CTL_MOD).
    func change(_ file: SharedDescriptor, events: UInt32, key: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_MOD, file, events, key)
    }

    /// Removes a descriptor (EPOLL_CTL_DEL).
    func remove(_ file: SharedDescriptor) throws(SystemError) { try control(EPOLL_CTL_DEL, file, 0, 0) }

    /// Returns descriptors that are ready now; those of the last look come last.
    ///
    /// - Returns: at most `atOnce` of them; none if none is ready.
    func readyDescriptors() throws(SystemError) -> [Ready] {
        let count = retryingInterrupts { epoll_wait(descriptor.rawValue, found.baseAddress, Int32(found.count), 0) }
        guard count >= 0 else { throw SystemError(operation: "look at an epoll instance", errno: errno) }
        return found[..<Int(count)].map { Ready(key: $0.data.u64, events: $0.events) }
    }

    private func control(_ operation: Int32, _ file: SharedDescriptor, _ events: UInt32, _ key: UInt64)
        throws(SystemError)
    {
        var event = epoll_event(events: events, data: epoll_data_t(u64: key))
        guard epoll_ctl(descriptor.rawValue, operation, file.rawValue, &event) == 0 else {
            throw SystemError(operation: "watch descriptor \(file.rawValue)", errno: errno)
        }
    }
}

/// Owns one `sd_event_source`. Its owner is the object that the callback points at, so it is freed before that object.
struct SourceHandle: ~Copyable {
    private let source: OpaquePointer

    /// Takes over the reference that an `sd_event_add_...` call returned.
    ///
    /// - Throws: the error of that call.
    init(
        _ priority: EventLoop.Priority, _ operation: @autoclosure () -> String,
        add: (UnsafeMutablePointer<OpaquePointer?>) -> Int32
    ) throws(SystemError) {
        var added: OpaquePointer?
        let result = add(&added)
        guard result >= 0, let added else { throw SystemError(operation: operation(), errno: -result) }
        let prioritized = sd_event_source_set_priority(added, priority.rawValue)
        guard prioritized >= 0 else {
            sd_event_source_disable_unref(added)
            throw SystemError(operation: operation(), errno: -prioritized)
        }
        source = added
    }

    deinit { sd_event_source_disable_unref(source) }

    /// `SD_EVENT_OFF`, `SD_EVENT_ON` or `SD_EVENT_ONESHOT`.
    func setEnabled(_ state: Int) throws(SystemError) {
        try SystemError.check(sd_event_source_set_enabled(source, Int32(state)), "enable or disable an event source")
    }

    func setEvents(_ events: UInt32) throws(SystemError) {
        try SystemError.check(sd_event_source_set_io_events(source, events), "change the events of a descriptor")
    }

    func setTime(microseconds: UInt64) throws(SystemError) {
        try SystemError.check(sd_event_source_set_time(source, microseconds), "set a timer")
    }
}

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
