import CSystemd
import Glibc
public import LinuxSystem
public import PushRouting

/// The notification service of one D-Bus bus (`org.freedesktop.Notifications`, desktop notifications specification 1.2).
///
/// Nothing here waits: whoever holds it watches ``descriptor`` for ``events``, until ``dueNanoseconds``, and calls
/// ``process()`` then. After each call to it the two may have changed. Used on one thread. Dropping it closes the connection
/// at once; what was not sent is not sent.
public final class NotificationService {
    /// What happened.
    public enum Event {
        /// The service can do this; now it may be called.
        case ready(capabilities: Set<String>)
        /// A call has its answer.
        case answered(token: Int64, NotificationDesk.Answer)
        /// A person invoked an action of a notification.
        case acted(UInt32, action: String)
        /// A notification is gone; whether a person swept it away.
        case closed(UInt32, wasDismissed: Bool)
        /// The bus or the service is gone; the reason is for people. Nothing comes after it.
        case lost(String)
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// The longest action that is read, in bytes.
    private static let actionMax = 4096

    private let connection: BusConnection
    private var calls: [Int64: Call] = [:]
    private var happened: [Event] = []

    /// A call that waits for its answer. libsystemd has its pointer until its slot is gone.
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
    /// - Parameter address: of the bus; only Unix sockets, which are connected to without waiting.
    /// - Throws: why it cannot be connected to.
    public init(address: String) throws(SystemError) {
        guard NotificationRules.isAddress(address) else {
            throw SystemError(operation: "connect to the bus", errno: EINVAL)
        }
        connection = try BusConnection(address: address)
        try watch()
        try askCapabilities()
    }

    deinit {
        // Their slots go before the connection.
        calls = [:]
    }

    /// The address of the session bus; `nil` where the environment names none.
    public static var sessionAddress: String? {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS") { return String(cString: address) }
        guard let directory = getenv("XDG_RUNTIME_DIR") else { return nil }
        return "unix:path=" + escaped(String(cString: directory)) + "/bus"
    }

    // MARK: The loop

    /// To watch for readiness.
    public var descriptor: SharedDescriptor { connection.descriptor }

    /// What to watch for: bits of poll.
    public var events: UInt32 { connection.events }

    /// Until when to wait, in nanoseconds of `CLOCK_MONOTONIC`; `nil`: as long as it takes.
    public var dueNanoseconds: Int64? { connection.dueNanoseconds }

    /// Takes in and sends what there is, up to a bound; the rest is due at once.
    ///
    /// - Returns: what happened, in order.
    public func process() -> [Event] {
        if let reason = connection.process() { happened.append(.lost(reason)) }
        defer { happened = [] }
        return happened
    }

    // MARK: Calls

    /// Has a notification shown; ``process()`` brings the answer. A call that cannot be made is answered at once.
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

    /// Has a notification taken back; nobody waits for that.
    public func withdraw(_ number: UInt32) {
        guard !connection.isLost, let message = try? Message(connection.bus, Self.name, Self.path, "CloseNotification")
        else { return }
        do throws(SystemError) {
            try message.append(number)
            try SystemError.check(sd_bus_message_set_expect_reply(message.pointer, 0), "call CloseNotification")
            try SystemError.check(sd_bus_send(connection.bus, message.pointer, nil), "call CloseNotification")
        } catch {
            // It stays until a person closes it.
        }
    }

    private func askCapabilities() throws(SystemError) {
        let message = try Message(connection.bus, Self.name, Self.path, "GetCapabilities")
        let context = Unmanaged.passUnretained(self).toOpaque()
        try connection.add("ask for capabilities") { slot in
            sd_bus_call_async(connection.bus, &slot, message.pointer, Self.toldCapabilities, context, .max)
        }
    }

    /// Watches for the signals of the service, and for its end. Before the first call is sent, so that none is missed.
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

    /// A value of an address: everything but these bytes is escaped (D-Bus specification, Server Addresses).
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

    // The pointers are good: the slots are gone before the objects that they point at.

    private static let answered: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        let call = Unmanaged<Call>.fromOpaque(context).takeUnretainedValue()
        let service = call.service
        service.happened.append(.answered(token: call.token, answer(in: message)))
        // The last reference: its slot is released, which libsystemd allows from its own callback.
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

    /// What an error says; `nil` for an answer that is none.
    private static func failure(of message: OpaquePointer) -> NotificationDesk.Answer? {
        guard sd_bus_message_is_method_error(message, nil) > 0 else { return nil }
        let error = sd_bus_message_get_error(message)?.pointee
        let name = error?.name.map { String(cString: $0) } ?? ""
        let words = error?.message.map { String(cString: $0).prefix(256) } ?? ""
        let text = words.isEmpty ? name : "\(words) (\(name))"
        return isPassing(name) ? .unavailable(text) : .refused(text)
    }

    /// Whether the same call may do later: nobody has the name now, or who has it cannot answer.
    private static func isPassing(_ error: String) -> Bool {
        let prefix = "org.freedesktop.DBus.Error."
        guard error.hasPrefix(prefix) else { return error.hasSuffix("LimitsExceeded") || error.hasSuffix("Exceeded") }
        let names = [
            "ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected", "NoServer",
            "LimitsExceeded", "NoMemory", "UnixProcessIdUnknown",
        ]
        let name = error.dropFirst(prefix.count)
        return name.hasPrefix("Spawn.") || names.contains(String(name))
    }

    private static let toldCapabilities: sd_bus_message_handler_t = { message, context, _ in
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
