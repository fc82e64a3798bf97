import CSystemd
import Glibc

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
