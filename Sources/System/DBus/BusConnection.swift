import CSystemd
import Glibc
import LinuxSystem

/// A connection to a D-Bus bus, for one service of this program on it. Used on one thread.
final class BusConnection {
    /// The largest number of messages in one call of ``process()``.
    private static let messagesAtOnce = 32

    let bus: OpaquePointer
    /// The descriptor for a loop's source: a copy, because libsystemd may close the original at any time.
    let descriptor: SharedDescriptor
    private var slots: [OpaquePointer] = []
    /// Whether the connection is closed for both directions.
    private(set) var isLost = false

    /// Begins to connect.
    ///
    /// - Parameter address: the bus's address; only Unix sockets, whose connection does not wait.
    /// - Throws: the error of the connection.
    init(address: String) throws(SystemError) {
        var created: OpaquePointer?
        try SystemError.check(sd_bus_new(&created), "create a bus")
        guard let created else { throw SystemError(operation: "create a bus", errno: ENOMEM) }
        do throws(SystemError) {
            try SystemError.check(sd_bus_set_address(created, address), "understand the address of the bus")
            try SystemError.check(sd_bus_set_bus_client(created, 1), "set up the bus")
            try SystemError.check(sd_bus_start(created), "connect to the bus \(address)")
            let number = try SystemError.check(sd_bus_get_fd(created), "watch the bus")
            descriptor = try SharedDescriptor(copying: number)
        } catch {
            sd_bus_close(created)
            sd_bus_unref(created)
            throw error
        }
        bus = created
    }

    deinit {
        for slot in slots { sd_bus_slot_unref(slot) }
        sd_bus_close(bus)
        sd_bus_unref(bus)
    }

    /// Registers a callback of libsystemd, until the connection's release.
    ///
    /// - Parameters:
    ///   - operation: the operation, as in ``SystemError``.
    ///   - call: sets the slot.
    func add(_ operation: String, _ call: (inout OpaquePointer?) -> Int32) throws(SystemError) {
        var slot: OpaquePointer?
        try SystemError.check(call(&slot), operation)
        if let slot { slots.append(slot) }
    }

    // MARK: The loop

    /// The events to watch for, as bits of poll.
    var events: UInt32 { isLost ? 0 : UInt32(max(0, sd_bus_get_events(bus))) }

    /// The end of the wait, in nanoseconds of `CLOCK_MONOTONIC`; `nil` means no limit.
    var dueNanoseconds: Int64? {
        var microseconds: UInt64 = .max
        guard !isLost, sd_bus_get_timeout(bus, &microseconds) >= 0, microseconds < UInt64(Int64.max) / 1000 else {
            return nil
        }
        return Int64(microseconds) * 1000
    }

    /// Receives and sends messages, up to a limit; the rest is due at once.
    ///
    /// - Parameter refusal: called after each message; returns a reason to end.
    /// - Returns: why the bus is unusable, once; `nil` otherwise.
    func process(until refusal: () -> String? = { nil }) -> String? {
        for _ in 0..<Self.messagesAtOnce where !isLost {
            let result = sd_bus_process(bus, nil)
            if let reason = result < 0 ? errorText(-result) : refusal() {
                isLost = true
                return reason
            }
            if result == 0 { break }
        }
        return nil
    }
}
