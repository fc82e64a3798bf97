import CSystemd
import Glibc
import LinuxSystem
import PushRouter

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
