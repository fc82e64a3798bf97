/// A name that a producer gave to an app, a device or a user. Two names are equal if they have the same UTF-8 bytes, as
/// in the ledger and on the wire; Swift's `String` takes two spellings of an accented letter for equal.
public struct ExactName: Hashable, Sendable {
    /// The name.
    public var text: String

    /// - Parameter text: the name.
    public init(_ text: String) { self.text = text }

    public static func == (left: ExactName, right: ExactName) -> Bool {
        left.text.isSame(as: right.text)
    }

    public func hash(into hasher: inout Hasher) {
        text.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // A byte that no UTF-8 text contains separates names, so that "a", "b" and "ab", "" hash differently.
        hasher.combine(UInt8.max)
    }
}

extension ExactName: ShardedKey {
    public var shardHash: UInt64 { text.withBytes { WordHash.ofThisProcess($0) } }
}

/// The key of a device: its app, and its name within the app.
public struct DeviceKey: Hashable, Sendable {
    private let appName: ExactName?
    private let deviceName: ExactName

    /// Package name or bundle id.
    public var app: String? { appName?.text }
    /// The device, as the producer names it.
    public var device: String { deviceName.text }

    public init(app: String?, device: String) {
        appName = app.map(ExactName.init)
        deviceName = ExactName(device)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(shardHash) }
}

extension DeviceKey: ShardedKey {
    public var shardHash: UInt64 {
        let hash = WordHash.ofThisProcess
        let device = deviceName.text.withBytes { hash($0) }
        // Two apps with the same hash do not become one: `==` decides.
        return hash.joined(device, appName?.text.withBytes { hash($0) } ?? 0)
    }
}

/// The last known facts of a device. They stand in for fields that a request omits.
public struct KnownDevice: Hashable, Sendable {
    /// The request that first named the device. It is the row's key, so that new rows come last.
    public var number: SequenceNumber
    /// The device.
    public var key: DeviceKey
    /// Its platform.
    public var platform: Platform
    /// Its user; `nil`: anonymous.
    public var externalID: String?
    /// The token that its app registered last, or the installation id; `nil` if there is none or it was revoked.
    public var token: String?
    /// The account of the request that first named the device; `nil` if a version stored the row that did not keep it.
    public var owner: Account?
    private var sharedDetail: Indirect<DeviceDetail>?

    public init(
        number: SequenceNumber, key: DeviceKey, platform: Platform, externalID: String?, token: String? = nil,
        owner: Account? = nil, detail: DeviceDetail = DeviceDetail()
    ) {
        (self.number, self.key, self.platform, self.externalID) = (number, key, platform, externalID)
        (self.token, self.owner) = (token, owner)
        self.detail = detail
    }

    /// The device's topics, its state at the time of a push, and its former tokens.
    public var detail: DeviceDetail {
        get { sharedDetail?.value ?? DeviceDetail() }
        set { sharedDetail = newValue.isEmpty ? nil : Indirect(newValue) }
    }

    /// Whether ``detail`` has anything.
    public var hasDetail: Bool { sharedDetail != nil }

    /// The device as the target of a request.
    public var target: Target {
        Target(platform: platform, app: key.app, device: key.device, externalID: externalID)
    }
}

/// The topics of a device, its state, and its former tokens. Few devices have any of them.
public struct DeviceDetail: Hashable, Sendable {
    /// The topics that its app is subscribed to, the oldest subscription first.
    public var topics: [Subscription]
    /// The state of the device at the time of a push.
    public var state: DeviceState
    /// The tokens that its app has replaced or unregistered, the latest last; at most ``formerTokensMax``.
    public var formerTokens: [FormerToken]

    /// The limit of former tokens of a device.
    public static let formerTokensMax = 4

    /// Joins the parts.
    public init(
        topics: [Subscription] = [], state: DeviceState = DeviceState(), formerTokens: [FormerToken] = []
    ) {
        (self.topics, self.state, self.formerTokens) = (topics, state, formerTokens)
    }

    /// Whether there is nothing to keep.
    public var isEmpty: Bool { topics.isEmpty && state.isEmpty && formerTokens.isEmpty }
}

/// A token that no push reaches any more. FCM answers 404 `UNREGISTERED` to it, and APNs 410 `Unregistered` with the
/// time.
public struct FormerToken: Hashable, Sendable {
    /// The token.
    public var token: String
    /// The time at which its app replaced or unregistered it.
    public var ended: WallTime

    /// Joins the two.
    public init(token: String, ended: WallTime) { (self.token, self.ended) = (token, ended) }
}

extension KnownDevice {
    /// Gives the device another token, or none. Its last one becomes a former token.
    public mutating func replaceToken(by token: String?, at now: WallTime) {
        var former = detail.formerTokens.filter { !token.isSame(as: $0.token) && !self.token.isSame(as: $0.token) }
        if let last = self.token, !token.isSame(as: last) { former.append(FormerToken(token: last, ended: now)) }
        self.token = token
        guard former != detail.formerTokens else { return }
        detail.formerTokens = former.suffix(DeviceDetail.formerTokensMax)
    }
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
    init(device: SequenceNumber, _ subscription: Subscription) {
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
    func isOf(project wanted: String) -> Bool { project == wanted || project == Self.anyProject }

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

/// The version of an operating system, written `major[.minor[.patch]]`. Only the major number changes platform rules
/// here.
public struct OSVersion: Hashable, Sendable {
    /// The first number.
    public let major: Int

    /// - Parameter text: one to three decimal numbers separated by dots; any other text gives `nil`.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 3, parts.allSatisfy({ !$0.isEmpty && $0.count <= 9 && $0.allSatisfy(\.isDigit) }),
            let major = parts.first.flatMap({ Int(Substring($0)) })
        else { return nil }
        self.major = major
    }
}
