/// How a `notify` handler shows notifications, and on which bus.
public struct NotificationRules: Hashable, Sendable {
    /// Where the notification service is reached.
    public enum Bus: Hashable, Sendable {
        /// The session bus: `DBUS_SESSION_BUS_ADDRESS`, else `$XDG_RUNTIME_DIR/bus`.
        case session
        /// The bus at an address, which is one of Unix sockets (D-Bus specification, Server Addresses).
        case address(String)
    }

    /// The bus.
    public var bus: Bus
    /// The name of the app that notifications come from, for people.
    public var appName: String
    /// The icon where the payload names none: a name of the icon theme, or an absolute path.
    public var icon: String?
    /// The name of the desktop file of that app, without its suffix; services group by it.
    public var desktopEntry: String?
    /// How long a notification stays; `nil`: as long as the service likes; zero: until the person acts.
    public var expires: Duration?
    /// Whether a payload may name an image by a local path.
    public var takesLocalImages: Bool

    /// Joins the parts; the defaults are the shipped ones.
    public init(
        bus: Bus = .session, appName: String = "pushrouterd", icon: String? = nil, desktopEntry: String? = nil,
        expires: Duration? = nil, takesLocalImages: Bool = false
    ) {
        self.bus = bus
        self.appName = appName
        self.icon = icon
        self.desktopEntry = desktopEntry
        self.expires = expires
        self.takesLocalImages = takesLocalImages
    }

    /// Whether a text is an address of a bus on Unix sockets. It may have several parts, of which the first one that works
    /// counts.
    public static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        return text.utf8.count <= 1024 && parts.allSatisfy { $0.hasPrefix("unix:") && $0.contains("=") }
    }

    /// How many invocations wait for the service at once, unless the file says.
    public static let concurrentMax = 16
}
