import CSystemd
import Glibc
import LinuxSystem

/// A connection to a D-Bus bus, for one service on it. Used on one thread.
final class BusConnection {
    /// How many messages are taken in by one call of ``process()``.
    private static let messagesAtOnce = 32

    let bus: OpaquePointer
    /// To watch for readiness: a copy of the connection's, which libsystemd closes when it likes.
    let descriptor: SharedDescriptor
    private var slots: [OpaquePointer] = []
    /// Whether nothing can be sent or taken in any more.
    private(set) var isLost = false

    /// Begins to connect.
    ///
    /// - Parameter address: of the bus; only Unix sockets, which are connected to without waiting.
    /// - Throws: why it cannot be connected to.
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

    /// Has libsystemd call a function, until the connection goes.
    ///
    /// - Parameters:
    ///   - operation: what is being done, as in ``SystemError``.
    ///   - call: gives the slot.
    func add(_ operation: String, _ call: (inout OpaquePointer?) -> Int32) throws(SystemError) {
        var slot: OpaquePointer?
        try SystemError.check(call(&slot), operation)
        if let slot { slots.append(slot) }
    }

    // MARK: The loop

    /// What to watch for: bits of poll.
    var events: UInt32 { isLost ? 0 : UInt32(max(0, sd_bus_get_events(bus))) }

    /// Until when to wait, in nanoseconds of `CLOCK_MONOTONIC`; `nil`: as long as it takes.
    var dueNanoseconds: Int64? {
        var microseconds: UInt64 = .max
        guard !isLost, sd_bus_get_timeout(bus, &microseconds) >= 0, microseconds < UInt64(Int64.max) / 1000 else {
            return nil
        }
        return Int64(microseconds) * 1000
    }

    /// Takes in and sends what there is, up to a bound; the rest is due at once.
    ///
    /// - Parameter refusal: asked after each message for a reason to end.
    /// - Returns: why the bus cannot be used any more; `nil` while it can, and once that was said.
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
