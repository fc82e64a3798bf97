import CSystemd
import Glibc
public import LinuxSystem

/// `org.freedesktop.LogControl1` on a D-Bus bus: `systemctl service-log-level` reads and sets the level with it
/// (org.freedesktop.LogControl1(5)).
///
/// No call waits: the owner watches ``descriptor`` for ``events``, until ``dueNanoseconds``, and then calls
/// ``process()``. Each call may change the three. Used on one thread. The bus's policy decides who may call.
public final class LogControlService {
    /// The properties of the interface.
    public struct Log {
        /// The levels of syslog(3), as systemd's words.
        public var levels: [String]
        /// Returns the current level, a word of ``levels``.
        public var level: () -> String
        /// Sets the level, a word of ``levels``.
        public var setLevel: (String) -> Void
        /// The destination of entries: `journal` or `console`.
        public var target: String
        /// The name of the program in its entries.
        public var identifier: String

        /// Joins the parts.
        public init(
            levels: [String], level: @escaping () -> String, setLevel: @escaping (String) -> Void, target: String,
            identifier: String
        ) {
            self.levels = levels
            self.level = level
            self.setLevel = setLevel
            self.target = target
            self.identifier = identifier
        }
    }

    private static let interface = "org.freedesktop.LogControl1"
    private static let path = "/org/freedesktop/LogControl1"

    private let connection: BusConnection
    private let log: Log
    /// Why the bus refuses the name, until it is reported.
    private var refusal: String?

    /// Begins to connect, and to request a name.
    ///
    /// - Parameters:
    ///   - address: the bus's address; only Unix sockets, whose connection does not wait.
    ///   - name: the service's name on the bus.
    ///   - log: the properties of the interface.
    /// - Throws: the error of the connection.
    public init(address: String, name: String, log: Log) throws(SystemError) {
        guard address.hasPrefix("unix:") else {
            throw SystemError(operation: "connect to the bus \(address)", errno: EINVAL)
        }
        self.log = log
        connection = try BusConnection(address: address)
        let (bus, context) = (connection.bus, Unmanaged.passUnretained(self).toOpaque())
        try connection.add("offer an object on the bus") { slot in
            sd_bus_add_object(bus, &slot, Self.path, Self.called, context)
        }
        try connection.add("ask for a name on the bus") { slot in
            sd_bus_request_name_async(bus, &slot, name, 0, Self.named, context)
        }
    }

    /// The address of the system bus.
    public static var systemAddress: String {
        getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) } ?? "unix:path=/run/dbus/system_bus_socket"
    }

    // MARK: The loop

    /// The descriptor for a loop's source.
    public var descriptor: SharedDescriptor { connection.descriptor }

    /// The events to watch for, as bits of poll.
    public var events: UInt32 { connection.events }

    /// The end of the wait, in nanoseconds of `CLOCK_MONOTONIC`; `nil` means no limit.
    public var dueNanoseconds: Int64? { connection.dueNanoseconds }

    /// Receives and sends messages, up to a limit; the rest is due at once.
    ///
    /// - Returns: why the bus is unusable; `nil` while it works. No call may follow a reason.
    public func process() -> String? { connection.process { refusal } }

    // MARK: What the bus says

    // The context pointers are valid: the slots are released before the object that they point at.

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
        // 1: primary owner; 4: already owner (D-Bus specification, RequestName).
        if result != 1, result != 4 { service.refusal = "another process has the name on the bus" }
        return 0
    }

    private static let called: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        let service = Unmanaged<LogControlService>.fromOpaque(context).takeUnretainedValue()
        return service.answer(message)
    }

    /// - Returns: 0 for another call, which sd-bus answers.
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
        case "LogLevel" where log.levels.contains(word): log.setLevel(word)
        case "LogLevel": return refuse(message, "InvalidArgs", "the levels are \(log.levels.joined(separator: ", "))")
        case "LogTarget" where word == log.target: break
        case "LogTarget": return refuse(message, "NotSupported", "the daemon sets LogTarget at its start")
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
        let sent = sd_bus_send(connection.bus, created, nil)
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
