import CSystemd

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
