/// The topics of a device and its state. Few devices have either.
public struct DeviceDetail: Hashable, Sendable {
    /// The topics that its app is subscribed to, the oldest subscription first.
    public var topics: [Subscription]
    /// The state of the device at the time of a push.
    public var state: DeviceState

    /// Joins the parts.
    public init(topics: [Subscription] = [], state: DeviceState = DeviceState()) {
        (self.topics, self.state) = (topics, state)
    }

    /// Whether there is nothing to keep.
    public var isEmpty: Bool { topics.isEmpty && state.isEmpty }
}

/// The state of a device at the time of a push, as `op: device` set it. `nil` means the default of `op: deliver`.
public struct DeviceState: Hashable, Sendable {
    /// The state of the app.
    public var state: AppState?
    /// Whether the screen is locked.
    public var locked: Bool?
    /// The version of the operating system.
    public var osVersion: String?
    /// Whether notifications may be shown.
    public var notifications: NotificationPermission?
    /// Whether the app has a Braze instance.
    public var sdk: SDKState?

    /// Creates a state without any value.
    public init() {}

    /// Whether no value is set.
    public var isEmpty: Bool { self == DeviceState() }

    /// Returns a copy in which the values that `other` sets replace its own.
    public func changed(by other: DeviceState) -> DeviceState {
        var state = self
        state.state = other.state ?? state.state
        state.locked = other.locked ?? locked
        state.osVersion = other.osVersion ?? osVersion
        state.notifications = other.notifications ?? notifications
        state.sdk = other.sdk ?? sdk
        return state
    }
}

extension DeliverRequest {
    /// The same payload for a device in a given state.
    public func found(by target: Target, _ state: DeviceState) -> DeliverRequest {
        DeliverRequest(
            target: target, transport: transport, state: state.state ?? .background, locked: state.locked ?? false,
            osVersion: state.osVersion, notifications: state.notifications ?? .allowed, sdk: state.sdk ?? .ready,
            payload: payload, messageID: messageID,
            headers: target.platform?.hasAPNsHeaders ?? true ? headers : nil)
    }
}

/// A subscription of a device's app to a topic of a project.
public struct Subscription: Hashable, Sendable {
    /// The topic.
    public var topic: TopicName
    /// The start of the subscription, in seconds since 1970.
    public var since: Int64

    /// Joins the parts.
    public init(topic: TopicName, since: Int64) { (self.topic, self.since) = (topic, since) }

    /// The largest valid number of seconds: the end of year 9999.
    public static let secondsMax: Int64 = 253_402_300_799
}

/// A change of subscriptions by one request: the row of the log has the topic once, however many devices there are.
public struct SubscriptionChange: Hashable, Sendable {
    /// The topic.
    public var topic: TopicName
    /// The start of the subscriptions, in seconds since 1970; `nil`: the subscriptions end.
    public var since: Int64?
    /// The numbers of the devices (``KnownDevice/number``).
    public var devices: [SequenceNumber]

    /// Joins the parts.
    public init(topic: TopicName, since: Int64?, devices: [SequenceNumber]) {
        (self.topic, self.since, self.devices) = (topic, since, devices)
    }
}

/// A subscription as the ledger stores it: a row for each device and topic.
public struct SubscriptionRow: Hashable, Sendable {
    /// The number of the device.
    public var device: SequenceNumber
    /// The subscription.
    public var subscription: Subscription

    /// Joins the two.
    public init(device: SequenceNumber, _ subscription: Subscription) {
        (self.device, self.subscription) = (device, subscription)
    }
}

/// The name of a topic: its project and its own.
public struct TopicName: Hashable, Sendable {
    /// The longest name of a project or a topic, in bytes. Source: Firebase's page on topics has 900 for a topic.
    public static let lengthMax = 900

    /// The project name for an account that has no project: such a topic belongs to every project.
    public static let anyProject = "-"

    /// The project.
    public let project: String
    /// The topic.
    public let topic: String

    /// Joins the parts.
    ///
    /// - Returns: `nil` if a part is empty, too long, or has a space, a slash or a control character.
    public init?(project: String, topic: String) {
        guard Self.isPart(project), Self.isPart(topic) else { return nil }
        (self.project, self.topic) = (project, topic)
    }

    /// Whether the topic belongs to a project.
    public func isOf(project wanted: String) -> Bool { project == wanted || project == Self.anyProject }

    /// Whether a text can be a part of a name.
    public static func isPart(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= lengthMax && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }
    }
}

// Rows of batches before version 3 have the topics of a device as one text: project/topic/seconds for each
// subscription, separated by a space.
extension [Subscription] {
    /// The text; `nil` for an empty list.
    var columnText: String? {
        isEmpty
            ? nil : map { "\($0.topic.project)/\($0.topic.topic)/\($0.since)" }.joined(separator: " ")
    }

    /// Reads the text; `nil` if it is malformed.
    public init?(columnText text: String) {
        self = []
        for entry in text.utf8.split(separator: 0x20) {
            let parts = entry.split(separator: 0x2F).map { String(decoding: $0, as: UTF8.self) }
            guard parts.count == 3, let name = TopicName(project: parts[0], topic: parts[1]),
                let since = Int64(parts[2]), (0...Subscription.secondsMax).contains(since)
            else { return nil }
            append(Subscription(topic: name, since: since))
        }
    }
}
