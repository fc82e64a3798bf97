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

/// Many descriptors behind one source of the loop.
///
/// sd-event checks all ready descriptors again for each one that it serves: with hundreds of clients that is most of
/// its work. A group calls epoll_wait once for up to 32 of them. It is one source of the loop: it serves its members in
/// turn, for a limited time in each call.
public final class IOGroup {
    /// The largest number of members that one look finds.
    private static let foundAtOnce = 32
    /// The time after which a call serves no further member, in nanoseconds.
    private static let slice: Int64 = 100_000

    private let loop: EventLoop
    private let epoll: EpollDescriptor
    private var source: IOSource?
    private var members: [UInt64: Entry] = [:]
    private var lastKey: UInt64 = 0
    /// The members that were ready at the last look, and how many of them were served.
    private var found: [EpollDescriptor.Ready] = []
    private var served = 0

    private struct Entry {
        // Unowned: IOMember.deinit removes the entry.
        unowned let member: IOMember
    }

    /// Creates a group without members.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - priority: the priority of all members among the loop's sources.
    /// - Throws: if there is no memory or descriptor left.
    public init(loop: EventLoop, priority: EventLoop.Priority = .normal) throws(SystemError) {
        self.loop = loop
        epoll = try EpollDescriptor(atOnce: Self.foundAtOnce)
        source = try IOSource(loop: loop, descriptor: epoll.descriptor, interest: .read, priority: priority) {
            [unowned self] _ in serve()
        }
    }

    private func serve() {
        do throws(SystemError) {
            if served == found.count { (found, served) = (try epoll.readyDescriptors(), 0) }
        } catch {
            return loop.fail(error)
        }
        let start = EventLoop.nowNanoseconds
        while served < found.count {
            let ready = found[served]
            served += 1
            // The member may have left since the look.
            members[ready.key]?.member.fire(IOEvents(rawValue: ready.events))
            guard EventLoop.nowNanoseconds - start < Self.slice else { return }
        }
    }

    fileprivate func add(_ member: IOMember, _ descriptor: SharedDescriptor) throws(SystemError) -> UInt64 {
        loop.preconditionOnThread()
        lastKey += 1
        try epoll.add(descriptor, events: Self.events(member.interest), key: lastKey)
        members[lastKey] = Entry(member: member)
        return lastKey
    }

    fileprivate func remove(_ key: UInt64, _ descriptor: SharedDescriptor) {
        members[key] = nil
        do throws(SystemError) { try epoll.remove(descriptor) } catch { loop.fail(error) }
    }

    fileprivate func watch(_ descriptor: SharedDescriptor, _ key: UInt64, for interest: IOEvents) {
        do throws(SystemError) {
            try epoll.change(descriptor, events: Self.events(interest), key: key)
        } catch {
            loop.fail(error)
        }
    }

    /// Returns the events for epoll. epoll always reports hangups and errors; EPOLLET without interest limits that to
    /// one report each. Removing the descriptor instead would need memory and a watch to add it again, and the kernel
    /// may have none left.
    private static func events(_ interest: IOEvents) -> UInt32 {
        interest.isEmpty ? EPOLLET.rawValue : interest.rawValue
    }
}

/// Calls its handler while a descriptor is ready, in turn with the other members of its group (level-triggered).
///
/// The member keeps the descriptor open until it has left.
public final class IOMember {
    /// The events to wait for. While it is empty nothing is reported, not even a hangup.
    ///
    /// An added event is passed to epoll at once. A removed event is passed on only when it occurs: usually it is added
    /// again before.
    public var interest: IOEvents {
        didSet {
            if !interest.isSubset(of: watched) { watch(interest) }
        }
    }

    /// `nil` once it has left.
    private var descriptor: SharedDescriptor?
    private let group: IOGroup
    private let handler: (IOEvents) -> Void
    private var key: UInt64 = 0
    /// The events that epoll watches.
    private var watched: IOEvents

    /// Watches `descriptor`, from the next turn on.
    ///
    /// - Parameters:
    ///   - group: the group to join.
    ///   - descriptor: anything epoll can watch; not a regular file.
    ///   - interest: the events to wait for.
    ///   - handler: called on the loop's thread with the ready ones of these events, and with hangups and errors. It
    ///     may
    ///     release the member.
    /// - Throws: if the kernel cannot watch the descriptor (`EPERM` for a regular file, `ENOSPC`, `ENOMEM`).
    public init(
        of group: IOGroup, descriptor: SharedDescriptor, interest: IOEvents, handler: @escaping (IOEvents) -> Void
    ) throws(SystemError) {
        self.group = group
        self.interest = interest
        self.handler = handler
        watched = interest
        key = try group.add(self, descriptor)
        self.descriptor = descriptor
    }

    deinit { leave() }

    /// Ends the watch, also from within the handler, which keeps this object alive until it returns. The descriptor is
    /// removed from epoll at once, and this object releases it.
    public func leave() {
        guard let descriptor else { return }
        group.remove(key, descriptor)
        self.descriptor = nil
    }

    fileprivate func fire(_ events: IOEvents) {
        if interest != watched { watch(interest) }
        let wanted = interest.isEmpty ? [] : events.intersection(interest.union([.hangup, .error]))
        if !wanted.isEmpty { handler(wanted) }
    }

    private func watch(_ interest: IOEvents) {
        guard let descriptor else { return }
        group.watch(descriptor, key, for: interest)
        watched = interest
    }
}
