import CSystemd
import Glibc
import LinuxSystem
import PushRouter

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

/// A method call under construction.
struct Message: ~Copyable {
    let pointer: OpaquePointer

    init(_ bus: OpaquePointer, _ service: String, _ path: String, _ method: String) throws(SystemError) {
        var created: OpaquePointer?
        let result = sd_bus_message_new_method_call(bus, &created, service, path, service, method)
        guard result >= 0, let created else { throw SystemError(operation: "write a call", errno: -result) }
        pointer = created
    }

    deinit { sd_bus_message_unref(pointer) }

    /// Appends the arguments of `Notify`: `susssasa{sv}i`.
    func append(_ notification: DesktopNotification) throws(SystemError) {
        try append(notification.appName)
        try append(notification.replaces)
        try append(notification.icon)
        try append(notification.summary)
        try append(notification.body)
        try container(SD_BUS_TYPE_ARRAY, "s") { () throws(SystemError) in
            for text in notification.actions { try append(text) }
        }
        let hints = notification.hints
        try container(SD_BUS_TYPE_ARRAY, "{sv}") { () throws(SystemError) in
            if var urgency = hints.urgency {
                try hint("urgency", "y") { () throws(SystemError) in try append(SD_BUS_TYPE_BYTE, &urgency) }
            }
            if let entry = hints.desktopEntry {
                try hint("desktop-entry", "s") { () throws(SystemError) in try append(entry) }
            }
            if let path = hints.imagePath {
                try hint("image-path", "s") { () throws(SystemError) in try append(path) }
            }
            if hints.suppressesSound {
                // A D-Bus boolean is an int in C.
                var yes: Int32 = 1
                try hint("suppress-sound", "b") { () throws(SystemError) in try append(SD_BUS_TYPE_BOOLEAN, &yes) }
            }
        }
        var timeout = notification.expireTimeout
        try append(SD_BUS_TYPE_INT32, &timeout)
    }

    /// Appends a number.
    func append(_ number: UInt32) throws(SystemError) {
        var number = number
        try append(SD_BUS_TYPE_UINT32, &number)
    }

    private func append(_ text: String) throws(SystemError) {
        let result = text.withCString { sd_bus_message_append_basic(pointer, CChar(SD_BUS_TYPE_STRING), $0) }
        try SystemError.check(result, "write a call")
    }

    private func append(_ type: some BinaryInteger, _ value: UnsafeRawPointer) throws(SystemError) {
        try SystemError.check(sd_bus_message_append_basic(pointer, CChar(type), value), "write a call")
    }

    private func hint(_ name: String, _ type: String, _ value: () throws(SystemError) -> Void) throws(SystemError) {
        try container(SD_BUS_TYPE_DICT_ENTRY, "sv") { () throws(SystemError) in
            try append(name)
            try container(SD_BUS_TYPE_VARIANT, type, value)
        }
    }

    private func container(
        _ type: some BinaryInteger, _ contents: String, _ body: () throws(SystemError) -> Void
    ) throws(SystemError) {
        try SystemError.check(sd_bus_message_open_container(pointer, CChar(type), contents), "write a call")
        try body()
        try SystemError.check(sd_bus_message_close_container(pointer), "write a call")
    }
}
