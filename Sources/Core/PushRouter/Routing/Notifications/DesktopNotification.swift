import PushModel

/// The arguments of one call of `org.freedesktop.Notifications.Notify` (desktop notifications specification, 1.2).
public struct DesktopNotification: Hashable, Sendable {
    /// The hints for the notification service.
    public struct Hints: Hashable, Sendable {
        /// `urgency`.
        public var urgency: UInt8?
        /// `desktop-entry`.
        public var desktopEntry: String?
        /// `image-path`.
        public var imagePath: String?
        /// `suppress-sound`.
        public var suppressesSound = false
    }

    /// `app_name`.
    public var appName: String
    /// `replaces_id`; 0: none.
    public var replaces: UInt32
    /// `app_icon`; empty: none.
    public var icon: String
    /// `summary`.
    public var summary: String
    /// `body`; escaped if the service parses markup.
    public var body: String
    /// `actions`: pairs of id and text.
    public var actions: [String]
    /// `hints`.
    public var hints: Hints
    /// `expire_timeout` in milliseconds; -1: the service decides, 0: never.
    public var expireTimeout: Int32

    /// The id of the action for a click on the notification itself.
    static let defaultAction = "default"

    /// Makes the arguments for a service with these capabilities.
    ///
    /// - Parameters:
    ///   - content: the content of the payload.
    ///   - rules: the settings of the handler's file.
    ///   - replaces: the number of the notification that this one replaces; 0: none.
    ///   - capabilities: the result of `GetCapabilities`.
    init(
        _ content: NotificationContent, _ rules: NotificationRules, replacing replaces: UInt32,
        capabilities: Set<String>
    ) {
        appName = rules.appName
        self.replaces = replaces
        icon = Self.themeName(content.icon) ?? rules.icon ?? ""
        summary = content.title
        body = capabilities.contains("body-markup") ? content.body.escapedForMarkup : content.body
        actions = []
        if capabilities.contains("actions") {
            actions = [Self.defaultAction, ""]
            for button in content.buttons where button.id != Self.defaultAction {
                actions += [button.id, button.title]
            }
        }
        hints = Hints(
            urgency: content.urgency?.rawValue, desktopEntry: rules.desktopEntry,
            imagePath: rules.takesLocalImages ? Self.localPath(content.image ?? content.icon) : nil,
            suppressesSound: content.isSilent)
        expireTimeout =
            content.stays ? 0 : rules.expires.map { Int32(clamping: $0.milliseconds) } ?? -1
    }

    /// Returns the name if it is an icon name of the theme. URLs and paths are refused: a sender must not choose the
    /// files that a service reads.
    private static func themeName(_ name: String?) -> String? {
        guard let name, name.utf8.allSatisfy({ $0.isIconNameByte }), !name.hasPrefix(".") else { return nil }
        return name
    }

    /// Returns the name if it is a path on this machine or a `file:` URL of one.
    private static func localPath(_ name: String?) -> String? {
        name.flatMap { $0.hasPrefix("file:///") || $0.hasPrefix("/") ? $0 : nil }
    }
}

extension DesktopNotification {
    /// The call as one JSON object, for testing a handler.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 512)
        writer.object { writer in
            writer.member("app_name", appName)
            writer.member("replaces_id", replaces)
            writer.member("app_icon", icon)
            writer.member("summary", summary)
            writer.member("body", body)
            writer.member("actions", array: { list in actions.forEach { list.string($0) } })
            writer.member(
                "hints",
                object: { writer in
                    if let urgency = hints.urgency { writer.member("urgency", urgency) }
                    if let entry = hints.desktopEntry { writer.member("desktop-entry", entry) }
                    if let path = hints.imagePath { writer.member("image-path", path) }
                    if hints.suppressesSound { writer.member("suppress-sound", true) }
                })
            writer.member("expire_timeout", expireTimeout)
        }
        return writer.line()
    }
}

extension UInt8 {
    fileprivate var isIconNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// The notifications that a service shows for the daemon, by the service's number, to find the delivery of a click.
/// Bounded: beyond the limit the oldest is dropped, and a click on it is ignored.
struct ShownNotifications: Sendable {
    /// One notification.
    struct Entry: Sendable {
        var invocation: InvocationID
        var target: Target
        var tag: String?
        /// A counter; the smallest is the oldest.
        fileprivate var age: Int64 = 0

        init(_ run: HandlerRun, tag: String?) {
            invocation = run.invocation.id
            let request = run.request
            target = Target(
                platform: request.platform, app: request.app, device: request.device, externalID: request.externalID)
            self.tag = tag
        }

        fileprivate var key: Key? { tag.map { Key(app: target.app, device: target.device, tag: $0) } }
    }

    /// The identity by which a later notification replaces an earlier one.
    fileprivate struct Key: Hashable {
        var app: String?
        var device: String?
        var tag: String
    }

    /// The limit of entries.
    static let limit = 1024

    private var entries: [UInt32: Entry] = [:]
    private var numbers: [Key: UInt32] = [:]
    private var order = Queue<(number: UInt32, age: Int64)>()
    private var latest: Int64 = 0

    var count: Int { entries.count }

    /// Returns the number of the notification with this tag for the same app and device, which a new one replaces; 0:
    /// none.
    func number(tag: String?, of run: HandlerRun) -> UInt32 {
        Entry(run, tag: tag).key.flatMap { numbers[$0] } ?? 0
    }

    /// Adds a notification with the service's number; it replaces an entry with the same number.
    mutating func add(_ entry: Entry, number: UInt32) {
        remove(number)
        var entry = entry
        latest += 1
        entry.age = latest
        entries[number] = entry
        if let key = entry.key { numbers[key] = number }
        order.append((number, latest))
        // Removed entries keep their place in the order until it comes up, or until there are too many.
        while entries.count > Self.limit || order.count > 2 * Self.limit, let oldest = order.popFirst() {
            if entries[oldest.number]?.age == oldest.age {
                if entries.count > Self.limit { remove(oldest.number) } else { order.append(oldest) }
            }
        }
    }

    /// Removes and returns the notification with this number; `nil` if the daemon did not show it.
    @discardableResult
    mutating func remove(_ number: UInt32) -> Entry? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        if let key = entry.key, numbers[key] == number { numbers[key] = nil }
        return entry
    }
}
