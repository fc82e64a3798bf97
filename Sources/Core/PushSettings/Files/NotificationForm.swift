import PushModel
import PushRouter

extension Form<NotificationRules.Bus> {
    /// `session`, or an address of Unix sockets. Other kinds of addresses would run a program, or block on a name
    /// server.
    static let notificationBus = Form { text throws(ValueError) in
        if text == "session" { return .session }
        guard NotificationRules.isAddress(text) else {
            throw ValueError("must be session, or the address of a bus such as unix:path=/run/user/1000/bus")
        }
        return .address(text)
    }
}

extension Form<String> {
    /// A short text for people, or a name.
    static let notificationText = Form { text throws(ValueError) in
        guard !text.isEmpty, text.utf8.count <= 256 else { throw ValueError("must have 1 to 256 bytes") }
        return text
    }

    /// The name of a desktop file.
    static let desktopEntry = Form { text throws(ValueError) in
        let isName = !text.isEmpty && text.utf8.count <= 256 && !text.utf8.contains(UInt8(ascii: "/"))
        guard isName, !text.hasSuffix(".desktop") else {
            throw ValueError("must be the name of a desktop file without its directory and without .desktop")
        }
        return text
    }
}

extension Form<Duration?> {
    /// The display time of a notification; `infinity`: until the person acts.
    static let expiry = Form { text throws(ValueError) in
        if text == "infinity" { return Duration.zero }
        return try Form<Duration>.timeSpan(.seconds(1) ... .seconds(86_400)).parse(text)
    }
}
