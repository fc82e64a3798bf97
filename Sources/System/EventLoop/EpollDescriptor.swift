import CSystemd
import Glibc
import LinuxSystem

/// An epoll instance: tells which of many descriptors are ready (level-triggered). It is readable while one is.
struct EpollDescriptor: ~Copyable {
    /// A descriptor that is ready.
    struct Ready: Sendable {
        /// What it was added as.
        var key: UInt64
        /// For what it is ready: bits of epoll.
        var events: UInt32
    }

    /// To watch for readiness.
    let descriptor: SharedDescriptor
    private let found: UnsafeMutableBufferPointer<epoll_event>

    /// An epoll instance that watches nothing.
    ///
    /// - Parameter atOnce: how many ready descriptors one look finds at most.
    /// - Throws: when there is no descriptor left.
    init(atOnce: Int) throws(SystemError) {
        guard let descriptor = SharedDescriptor(epoll_create1(Int32(EPOLL_CLOEXEC))) else {
            throw SystemError(operation: "create an epoll instance", errno: errno)
        }
        self.descriptor = descriptor
        found = .allocate(capacity: atOnce)
        found.initialize(repeating: epoll_event())
    }

    deinit { found.deallocate() }

    /// Watches a descriptor.
    ///
    /// - Parameters:
    ///   - file: anything epoll can watch; not a regular file. The caller holds it until it is removed.
    ///   - events: what for, as bits of epoll.
    ///   - key: what it is called when it is ready.
    /// - Throws: when the kernel cannot watch it (`EPERM` for a regular file, `ENOSPC`, `ENOMEM`).
    func add(_ file: SharedDescriptor, events: UInt32, key: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_ADD, file, events, key)
    }

    /// Watches a descriptor for something else.
    func change(_ file: SharedDescriptor, events: UInt32, key: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_MOD, file, events, key)
    }

    /// Watches a descriptor no more.
    func remove(_ file: SharedDescriptor) throws(SystemError) { try control(EPOLL_CTL_DEL, file, 0, 0) }

    /// Looks which descriptors are ready now; those that were found last come last.
    ///
    /// - Returns: some of them; none if none is.
    func look() throws(SystemError) -> [Ready] {
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
