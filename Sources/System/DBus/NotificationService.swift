import CSystemd
import Glibc
public import LinuxSystem
public import PushRouter

/// The notification service of one D-Bus bus (`org.freedesktop.Notifications`, desktop notifications specification 1.2).
///
/// No call waits: the owner watches ``descriptor`` for ``events``, until ``dueNanoseconds``, and then calls
/// ``process()``. Each call may change the last two. Used on one thread. Its release closes the connection at once and
/// drops unsent messages.
public final class NotificationService {
    /// An event of the service.
    public enum Event {
        /// The service has these capabilities, and may be called from now on.
        case ready(capabilities: Set<String>)
        /// The answer to a call.
        case answered(token: Int64, NotificationDesk.Answer)
        /// A person invoked an action of a notification.
        case acted(UInt32, action: String)
        /// A notification was closed, and whether a person dismissed it.
        case closed(UInt32, wasDismissed: Bool)
        /// The bus or the service is gone; the text is for people. No event follows.
        case lost(String)
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// The limit for the name of an action, in bytes.
    private static let actionMax = 4096

    private let connection: BusConnection
    private var calls: [Int64: Call] = [:]
    private var happened: [Event] = []

    /// A pending call. libsystemd has its pointer until the slot is released.
    private final class Call {
        unowned let service: NotificationService
        let token: Int64
        var slot: OpaquePointer?

        init(_ service: NotificationService, _ token: Int64) {
            self.service = service
            self.token = token
        }

        deinit { if let slot { sd_bus_slot_unref(slot) } }
    }

    /// Begins to connect.
    ///
    /// - Parameter address: the bus's address; only Unix sockets, whose connection does not wait.
    /// - Throws: the error of the connection.
    public init(address: String) throws(SystemError) {
        guard NotificationRules.isAddress(address) else {
            throw SystemError(operation: "connect to the bus", errno: EINVAL)
        }
        connection = try BusConnection(address: address)
        try watch()
        try askCapabilities()
    }

    deinit {
        // Releases the slots of pending calls before the connection.
        calls = [:]
    }

    /// The address of the session bus; `nil` if the environment has none.
    public static var sessionAddress: String? {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS") { return String(cString: address) }
        guard let directory = getenv("XDG_RUNTIME_DIR") else { return nil }
        return "unix:path=" + escaped(String(cString: directory)) + "/bus"
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
    /// - Returns: the events, in order.
    public func process() -> [Event] {
        if let reason = connection.process() { happened.append(.lost(reason)) }
        defer { happened = [] }
        return happened
    }

    // MARK: Calls

    /// Shows a notification; ``process()`` returns the answer, also for a call that could not be sent.
    public func show(_ notification: DesktopNotification, token: Int64) {
        guard !connection.isLost else { return }
        let call = Call(self, token)
        do throws(SystemError) {
            let message = try Message(connection.bus, Self.name, Self.path, "Notify")
            try message.append(notification)
            let context = Unmanaged.passUnretained(call).toOpaque()
            try SystemError.check(
                sd_bus_call_async(connection.bus, &call.slot, message.pointer, Self.answered, context, .max),
                "call Notify")
            calls[token] = call
        } catch {
            let answer: NotificationDesk.Answer =
                error.errno == ENOBUFS || error.errno == ENOMEM || error.errno == ENOTCONN
                ? .unavailable(error.description) : .refused(error.description)
            happened.append(.answered(token: token, answer))
        }
    }

    /// Closes a notification, without waiting for a reply.
    public func withdraw(_ number: UInt32) {
        guard !connection.isLost, let message = try? Message(connection.bus, Self.name, Self.path, "CloseNotification")
        else { return }
        do throws(SystemError) {
            try message.append(number)
            try SystemError.check(sd_bus_message_set_expect_reply(message.pointer, 0), "call CloseNotification")
            try SystemError.check(sd_bus_send(connection.bus, message.pointer, nil), "call CloseNotification")
        } catch {
            // The notification stays until a person closes it.
        }
    }

    private func askCapabilities() throws(SystemError) {
        let message = try Message(connection.bus, Self.name, Self.path, "GetCapabilities")
        let context = Unmanaged.passUnretained(self).toOpaque()
        try connection.add("ask for capabilities") { slot in
            sd_bus_call_async(connection.bus, &slot, message.pointer, Self.capabilitiesHandler, context, .max)
        }
    }

    /// Subscribes to the service's signals and its end, before the first call, so that none is missed.
    private func watch() throws(SystemError) {
        try watch(Self.name, Self.path, Self.name, "ActionInvoked", Self.actionInvoked)
        try watch(Self.name, Self.path, Self.name, "NotificationClosed", Self.notificationClosed)
        try watch(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
            Self.nameOwnerChanged)
    }

    private func watch(
        _ sender: String, _ path: String, _ interface: String, _ member: String,
        _ handler: @escaping sd_bus_message_handler_t
    ) throws(SystemError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let filter = member == "NameOwnerChanged" ? ",arg0='\(Self.name)'" : ""
        let rule =
            "type='signal',sender='\(sender)',path='\(path)',interface='\(interface)',member='\(member)'\(filter)"
        try connection.add("watch for \(member)") { slot in
            sd_bus_add_match_async(connection.bus, &slot, rule, handler, nil, context)
        }
    }

    /// Returns a value for an address: every byte outside the allowed set is escaped (D-Bus specification, Server
    /// Addresses).
    private static func escaped(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            let isPlain =
                byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
                || "-_/.*\\".utf8.contains(byte)
            if isPlain {
                text.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }

    // MARK: What the bus says

    // The context pointers are valid: the slots are released before the objects that they point at.

    private static let answered: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        let call = Unmanaged<Call>.fromOpaque(context).takeUnretainedValue()
        let service = call.service
        service.happened.append(.answered(token: call.token, answer(in: message)))
        // The last reference: its slot is released, which libsystemd allows within the slot's own callback.
        service.calls[call.token] = nil
        return 0
    }

    private static func answer(in message: OpaquePointer) -> NotificationDesk.Answer {
        if let error = failure(of: message) { return error }
        var number: UInt32 = 0
        guard sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT32), &number) > 0, number > 0 else {
            return .refused("its answer to Notify is not a number")
        }
        return .shown(number)
    }

    /// Returns the failure in an error message; `nil` if the message is no error.
    private static func failure(of message: OpaquePointer) -> NotificationDesk.Answer? {
        guard sd_bus_message_is_method_error(message, nil) > 0 else { return nil }
        let error = sd_bus_message_get_error(message)?.pointee
        let name = error?.name.map { String(cString: $0) } ?? ""
        let words = error?.message.map { String(cString: $0).prefix(256) } ?? ""
        let text = words.isEmpty ? name : "\(words) (\(name))"
        return isTransient(name) ? .unavailable(text) : .refused(text)
    }

    /// Returns whether the same call may succeed later: the name has no owner now, or its owner does not answer.
    private static func isTransient(_ error: String) -> Bool {
        let prefix = "org.freedesktop.DBus.Error."
        guard error.hasPrefix(prefix) else { return error.hasSuffix("LimitsExceeded") || error.hasSuffix("Exceeded") }
        let names = [
            "ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected", "NoServer",
            "LimitsExceeded", "NoMemory", "UnixProcessIdUnknown",
        ]
        let name = error.dropFirst(prefix.count)
        return name.hasPrefix("Spawn.") || names.contains(String(name))
    }

    private static let capabilitiesHandler: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        let service = Unmanaged<NotificationService>.fromOpaque(context).takeUnretainedValue()
        switch failure(of: message) {
        case .unavailable(let reason)?, .refused(let reason)?:
            service.happened.append(.lost(reason))
            return 0
        case .shown?, nil: break
        }
        var capabilities: Set<String> = []
        if sd_bus_message_enter_container(message, CChar(SD_BUS_TYPE_ARRAY), "s") > 0 {
            var word: UnsafePointer<CChar>?
            while capabilities.count < 64, sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_STRING), &word) > 0 {
                if let word { capabilities.insert(String(cString: word)) }
            }
        }
        service.happened.append(.ready(capabilities: capabilities))
        return 0
    }

    private static let actionInvoked: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        var number: UInt32 = 0
        var action: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT32), &number) > 0,
            sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_STRING), &action) > 0, let action,
            strlen(action) <= actionMax
        else { return 0 }
        let service = Unmanaged<NotificationService>.fromOpaque(context).takeUnretainedValue()
        service.happened.append(.acted(number, action: String(cString: action)))
        return 0
    }

    private static let notificationClosed: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        var number: UInt32 = 0
        var reason: UInt32 = 0
        guard sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT32), &number) > 0,
            sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT32), &reason) > 0
        else { return 0 }
        let service = Unmanaged<NotificationService>.fromOpaque(context).takeUnretainedValue()
        // 1: expired, 2: dismissed by the user, 3: by a call, 4: undefined.
        service.happened.append(.closed(number, wasDismissed: reason == 2))
        return 0
    }

    private static let nameOwnerChanged: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        var name: UnsafePointer<CChar>?
        var previous: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_STRING), &name) > 0,
            sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_STRING), &previous) > 0, let previous,
            previous.pointee != 0
        else { return 0 }
        let service = Unmanaged<NotificationService>.fromOpaque(context).takeUnretainedValue()
        service.happened.append(.lost("the notification service has ended"))
        return 0
    }
}
