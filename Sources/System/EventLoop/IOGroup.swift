import CSystemd
public import LinuxSystem

/// Many descriptors behind one source of the loop.
///
/// sd-event looks at all descriptors that are ready again for each that it serves: with hundreds of clients that is most of
/// its work. A group looks once for some of them. It is one source among others: what it serves in one go is bounded in
/// time, and who is ready waits for its turn among the members.
public final class IOGroup {
    /// How many members one look finds at most.
    private static let foundAtOnce = 32
    /// For how long members are served in one go, in nanoseconds; the one that is being served then is the last.
    private static let slice: Int64 = 100_000

    private let loop: EventLoop
    private let epoll: EpollDescriptor
    private var source: IOSource?
    private var members: [UInt64: Entry] = [:]
    private var lastKey: UInt64 = 0
    /// Who was ready at the last look, and how many of them had their turn.
    private var found: [EpollDescriptor.Ready] = []
    private var served = 0

    private struct Entry {
        // A member takes its entry away before it goes: IOMember.deinit.
        unowned let member: IOMember
    }

    /// A group without members.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - priority: of all members, before or after which other sources.
    /// - Throws: when there is no memory or descriptor left.
    public init(loop: EventLoop, priority: EventLoop.Priority = .normal) throws(SystemError) {
        self.loop = loop
        epoll = try EpollDescriptor(atOnce: Self.foundAtOnce)
        source = try IOSource(loop: loop, descriptor: epoll.descriptor, interest: .read, priority: priority) {
            [unowned self] _ in serve()
        }
    }

    private func serve() {
        do throws(SystemError) {
            if served == found.count { (found, served) = (try epoll.look(), 0) }
        } catch {
            return loop.fail(error)
        }
        let start = EventLoop.nowNanoseconds
        while served < found.count {
            let ready = found[served]
            served += 1
            // It may have left since the look.
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

    /// What epoll is told. It reports hangups and errors always, so without interest each only once. Out of epoll the
    /// descriptor would need memory and a watch to get in again, and the kernel may have none left.
    private static func events(_ interest: IOEvents) -> UInt32 {
        interest.isEmpty ? EPOLLET.rawValue : interest.rawValue
    }
}

/// Calls its handler while a descriptor is ready, in turn with the other members of its group (level-triggered).
///
/// The member holds the descriptor until it has left.
public final class IOMember {
    /// What to wait for. While it is empty nothing is reported, not even a hangup.
    ///
    /// epoll is told at once of what is to be watched too. Of what is not to be watched any more it is told when that comes:
    /// most often it is wanted again before.
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
    /// What epoll watches.
    private var watched: IOEvents

    /// Watches `descriptor`, from the next turn on.
    ///
    /// - Parameters:
    ///   - group: whose member it is.
    ///   - descriptor: anything epoll can watch; not a regular file.
    ///   - interest: what to wait for.
    ///   - handler: called on the loop's thread with what is ready of that, and with hangups and errors. It may drop the
    ///     member.
    /// - Throws: when the kernel cannot watch the descriptor (`EPERM` for a regular file, `ENOSPC`, `ENOMEM`).
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

    /// Watches no more, from within its own handler too, which keeps this object alive until it returns: the descriptor is out of
    /// epoll at once, and nobody here holds it any more.
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
