/// The settings of a `notify` handler: the bus and the looks of its notifications.
public struct NotificationRules: Hashable, Sendable {
    /// The bus of the notification service.
    public enum Bus: Hashable, Sendable {
        /// The session bus: `DBUS_SESSION_BUS_ADDRESS`, or `$XDG_RUNTIME_DIR/bus` without it.
        case session
        /// The bus at an address of Unix sockets (D-Bus specification, Server Addresses).
        case address(String)
    }

    /// The bus.
    public var bus: Bus
    /// The app name on notifications, for people.
    public var appName: String
    /// The icon for payloads without one: a name of the icon theme, or an absolute path.
    public var icon: String?
    /// The name of the app's desktop file without its suffix; services group by it.
    public var desktopEntry: String?
    /// The time that a notification stays; `nil`: the service decides; zero: until the person acts.
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

    /// Whether a text is an address of a bus on Unix sockets. An address may have several parts; the first one that
    /// works counts.
    public static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        return text.utf8.count <= 1024 && parts.allSatisfy { $0.hasPrefix("unix:") && $0.contains("=") }
    }

    /// The shipped limit of invocations that wait for the service.
    public static let concurrentMax = 16
}
