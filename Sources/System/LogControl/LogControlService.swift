import CSystemd
import Glibc
public import LinuxSystem

/// `org.freedesktop.LogControl1` on a D-Bus bus: "systemctl service-log-level" asks and sets the level by it
/// (org.freedesktop.LogControl1(5)).
///
/// Nothing here waits: whoever holds it watches ``descriptor`` for ``events``, until ``dueNanoseconds``, and calls
/// ``process()`` then. After each call the three may have changed. Used on one thread. Who may call is the bus's policy.
public final class LogControlService {
    /// What it tells and sets.
    public struct Log {
        /// The level that is written now: a word of ``levels``.
        public var level: () -> String
        /// Sets it; only words of ``levels`` come.
        public var setLevel: (String) -> Void
        /// Where entries go: `journal` or `console`.
        public var target: String
        /// The name of the program in its entries.
        public var identifier: String

        /// Joins the parts.
        public init(
            level: @escaping () -> String, setLevel: @escaping (String) -> Void, target: String, identifier: String
        ) {
            self.level = level
            self.setLevel = setLevel
            self.target = target
            self.identifier = identifier
        }
    }

    /// The levels of syslog(3), by the words that systemd uses.
    public static let levels = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"]

    private static let interface = "org.freedesktop.LogControl1"
    private static let path = "/org/freedesktop/LogControl1"
    /// How many messages are taken in by one call of ``process()``.
    private static let messagesAtOnce = 32

    private let bus: OpaquePointer
    private let log: Log
    private var slots: [OpaquePointer] = []
    private var isLost = false
    /// Why the name cannot be had, until it was told.
    private var refusal: String?

    /// Begins to connect, and to take a name.
    ///
    /// - Parameters:
    ///   - address: of the bus; only Unix sockets, which are connected to without waiting.
    ///   - name: the service's name on the bus.
    ///   - log: what it tells and sets.
    /// - Throws: why it cannot be connected to.
    public init(address: String, name: String, log: Log) throws(SystemError) {
        self.log = log
        var created: OpaquePointer?
        try SystemError.check(sd_bus_new(&created), "create a bus")
        guard let created else { throw SystemError(operation: "create a bus", errno: ENOMEM) }
        bus = created
        do throws(SystemError) {
            guard address.hasPrefix("unix:") else {
                throw SystemError(operation: "connect to the bus \(address)", errno: EINVAL)
            }
            try SystemError.check(sd_bus_set_address(bus, address), "understand the address of the bus")
            try SystemError.check(sd_bus_set_bus_client(bus, 1), "set up the bus")
            try SystemError.check(sd_bus_start(bus), "connect to the bus \(address)")
            let context = Unmanaged.passUnretained(self).toOpaque()
            var slot: OpaquePointer?
            try SystemError.check(
                sd_bus_add_object(bus, &slot, Self.path, Self.called, context), "offer an object on the bus")
            if let slot { slots.append(slot) }
            var request: OpaquePointer?
            try SystemError.check(
                sd_bus_request_name_async(bus, &request, name, 0, Self.named, context), "ask for a name on the bus")
            if let request { slots.append(request) }
        } catch {
            close()
            throw error
        }
    }

    deinit { if !isLost { close() } }

    /// The address of the system bus.
    public static var systemAddress: String {
        getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) } ?? "unix:path=/run/dbus/system_bus_socket"
    }

    // MARK: The loop

    /// To watch for readiness; it stays the service's. -1 once the bus is gone.
    public var descriptor: Int32 { isLost ? -1 : sd_bus_get_fd(bus) }

    /// What to watch for: bits of poll.
    public var events: UInt32 { isLost ? 0 : UInt32(max(0, sd_bus_get_events(bus))) }

    /// Until when to wait, in nanoseconds of `CLOCK_MONOTONIC`; `nil`: as long as it takes.
    public var dueNanoseconds: Int64? {
        var microseconds: UInt64 = .max
        guard !isLost, sd_bus_get_timeout(bus, &microseconds) >= 0, microseconds < UInt64(Int64.max) / 1000 else {
            return nil
        }
        return Int64(microseconds) * 1000
    }

    /// Takes in and sends what there is, up to a bound; the rest is due at once.
    ///
    /// - Returns: why the bus cannot be used any more; `nil` while it can. Nothing is to be called after it.
    public func process() -> String? {
        for _ in 0..<Self.messagesAtOnce where !isLost {
            let result = sd_bus_process(bus, nil)
            if result < 0 { return lose(errorText(-result)) }
            if let refusal { return lose(refusal) }
            if result == 0 { break }
        }
        return nil
    }

    private func lose(_ reason: String) -> String {
        close()
        return reason
    }

    private func close() {
        isLost = true
        for slot in slots { sd_bus_slot_unref(slot) }
        slots = []
        sd_bus_close(bus)
        sd_bus_unref(bus)
    }

    // MARK: What the bus says

    // The pointers are good: the slots are gone before the object that they point at.

    private static let named: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        let service = Unmanaged<LogControlService>.fromOpaque(context).takeUnretainedValue()
        if sd_bus_message_is_method_error(message, nil) > 0 {
            let error = sd_bus_message_get_error(message)?.pointee
            let words = error?.message.map { String(cString: $0).prefix(256) } ?? "no reason given"
            service.refusal = "the bus does not give the name: \(words)"
            return 0
        }
        var result: UInt32 = 0
        sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT32), &result)
        // 1: it has the name; 4: it had it already (D-Bus specification, RequestName).
        if result != 1, result != 4 { service.refusal = "another process has the name on the bus" }
        return 0
    }

    private static let called: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        let service = Unmanaged<LogControlService>.fromOpaque(context).takeUnretainedValue()
        return service.answer(message)
    }

    /// - Returns: 0 for a call that is none of these: sd-bus answers it.
    private func answer(_ message: OpaquePointer) -> Int32 {
        let properties = "org.freedesktop.DBus.Properties"
        if sd_bus_message_is_method_call(message, properties, "Get") > 0 {
            guard text(message) == Self.interface, let property = text(message), let value = value(property) else {
                return refuse(message, "UnknownProperty", "LogLevel, LogTarget and SyslogIdentifier are there")
            }
            return reply(message) { reply in append(value, to: reply) }
        }
        if sd_bus_message_is_method_call(message, properties, "GetAll") > 0 {
            return reply(message) { reply in
                var result = sd_bus_message_open_container(reply, CChar(SD_BUS_TYPE_ARRAY), "{sv}")
                for property in ["LogLevel", "LogTarget", "SyslogIdentifier"] where result >= 0 {
                    result = min(
                        sd_bus_message_open_container(reply, CChar(SD_BUS_TYPE_DICT_ENTRY), "sv"),
                        appendText(property, to: reply), append(value(property) ?? "", to: reply),
                        sd_bus_message_close_container(reply))
                }
                return min(result, sd_bus_message_close_container(reply))
            }
        }
        if sd_bus_message_is_method_call(message, properties, "Set") > 0 { return set(message) }
        return 0
    }

    private func set(_ message: OpaquePointer) -> Int32 {
        guard text(message) == Self.interface, let property = text(message),
            sd_bus_message_enter_container(message, CChar(SD_BUS_TYPE_VARIANT), "s") > 0, let word = text(message)
        else { return refuse(message, "InvalidArgs", "a property of \(Self.interface) is set to a text") }
        switch property {
        case "LogLevel" where Self.levels.contains(word): log.setLevel(word)
        case "LogLevel": return refuse(message, "InvalidArgs", "the levels are \(Self.levels.joined(separator: ", "))")
        case "LogTarget" where word == log.target: break
        case "LogTarget": return refuse(message, "NotSupported", "where entries go is decided at the start")
        default: return refuse(message, "PropertyReadOnly", "\(property) cannot be set")
        }
        return reply(message) { _ in 0 }
    }

    private func value(_ property: String) -> String? {
        switch property {
        case "LogLevel": log.level()
        case "LogTarget": log.target
        case "SyslogIdentifier": log.identifier
        default: nil
        }
    }

    private func text(_ message: OpaquePointer) -> String? {
        var word: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_STRING), &word) > 0, let word, strlen(word) <= 256
        else { return nil }
        return String(cString: word)
    }

    private func appendText(_ text: String, to reply: OpaquePointer) -> Int32 {
        text.withCString { sd_bus_message_append_basic(reply, CChar(SD_BUS_TYPE_STRING), $0) }
    }

    private func append(_ value: String, to reply: OpaquePointer) -> Int32 {
        min(
            sd_bus_message_open_container(reply, CChar(SD_BUS_TYPE_VARIANT), "s"), appendText(value, to: reply),
            sd_bus_message_close_container(reply))
    }

    private func reply(_ message: OpaquePointer, _ content: (OpaquePointer) -> Int32) -> Int32 {
        var created: OpaquePointer?
        let result = sd_bus_message_new_method_return(message, &created)
        guard result >= 0, let created else { return result }
        defer { sd_bus_message_unref(created) }
        let written = content(created)
        guard written >= 0 else { return written }
        let sent = sd_bus_send(bus, created, nil)
        return sent < 0 ? sent : 1
    }

    private func refuse(_ message: OpaquePointer, _ error: String, _ words: String) -> Int32 {
        let name = "org.freedesktop.DBus.Error." + error
        let sent = name.withCString { name in
            words.withCString { words in
                var failure = sd_bus_error(name: name, message: words, _need_free: 0)
                return sd_bus_reply_method_error(message, &failure)
            }
        }
        return sent < 0 ? sent : 1
    }
}
