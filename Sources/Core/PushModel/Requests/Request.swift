/// One request line of `inject.sock`, parsed and checked. The router has not filled in omitted fields yet.
public struct Request: Sendable {
    /// The operation and its fields. The cases hold references, since many functions hand a request on.
    public enum Action: Sendable {
        /// `op: deliver`
        case deliver(DeliverRequest)
        /// `op: interact`
        indirect case interact(InteractRequest)
        /// `op: session`
        indirect case session(SessionRequest)
        /// `op: token`
        indirect case token(TokenRequest)
        /// `op: log`
        indirect case log(LogRequest)
        /// `op: topic`
        indirect case topic(TopicRequest)
        /// `op: publish`
        indirect case publish(PublishRequest)
        /// `op: device`
        indirect case device(DeviceRequest)
    }

    /// The operation and its fields.
    public var action: Action
    /// The producer's id for the request: the idempotency key.
    public var id: String?
    /// The time of the event for the tracker; a deadline never counts from it.
    public var at: WallTime?
    /// Whether the producer gets a line for each invocation once its outcome is known.
    public var waitsForOutcome: Bool
    /// The request line, scanned.
    public var document: JSONDocument

    public init(action: Action, id: String?, at: WallTime?, waitsForOutcome: Bool, document: JSONDocument) {
        self.action = action
        self.id = id
        self.at = at
        self.waitsForOutcome = waitsForOutcome
        self.document = document
    }

    /// The operation's name.
    public var operation: Operation {
        switch action {
        case .deliver: .deliver
        case .interact: .interact
        case .session: .session
        case .token: .token
        case .log: .log
        case .topic: .topic
        case .publish: .publish
        case .device: .device
        }
    }

    /// The platform, app, device and user of the request.
    public var target: Target {
        switch action {
        case .deliver(let deliver): deliver.target
        case .interact(let interact): interact.target
        case .session(let session): session.target
        case .token(let token): token.target
        case .log(let log): log.target
        case .topic(let topic): topic.target
        case .publish(let publish): publish.deliver.target
        case .device(let device): device.target
        }
    }
}

/// The platform, app, device and user of a request. The last known value of the device replaces each omitted one.
public struct Target: Hashable, Sendable {
    /// The platform.
    public var platform: Platform?
    /// Package name or bundle id.
    public var app: String?
    /// The device, as the producer names it.
    public var device: String?
    /// The user.
    public var externalID: String?

    public init(platform: Platform? = nil, app: String? = nil, device: String? = nil, externalID: String? = nil) {
        (self.platform, self.app, self.device, self.externalID) = (platform, app, device, externalID)
    }
}

/// `op: deliver`: one payload for one app on one device in one app state. A class, since many functions hand it on.
public final class DeliverRequest: Sendable {
    /// The app on the device that the payload reaches.
    public let target: Target
    /// The transport of the payload; `nil`: the platform's own, or the one that the payload's form shows.
    public let transport: Transport?
    /// The state of the app.
    public let state: AppState
    /// Whether the screen was locked.
    public let locked: Bool
    /// The version of the operating system.
    public let osVersion: String?
    /// Whether notifications may be shown.
    public let notifications: NotificationPermission
    /// Whether the app had a Braze instance.
    public let sdk: SDKState
    /// The payload, an object in any of the accepted forms.
    public let payload: JSONNode
    /// The message id that the push service returned to the sender, for a payload without one (FCM: `google.message_id`).
    public let messageID: String?
    /// The headers of the request to APNs, by the names of ``APNsHeader``; `nil` if the line has none.
    public let headers: JSONNode?
    /// Why the send reaches no code; `nil` for a push that does.
    public let refusal: SendRefusal?

    /// Joins the parts; all but the payload have the protocol's defaults.
    public init(
        target: Target = Target(), transport: Transport? = nil, state: AppState = .background, locked: Bool = false,
        osVersion: String? = nil, notifications: NotificationPermission = .allowed, sdk: SDKState = .ready,
        payload: JSONNode, messageID: String? = nil, headers: JSONNode? = nil, refusal: SendRefusal? = nil
    ) {
        self.refusal = refusal
        self.target = target
        self.messageID = messageID
        self.headers = headers
        self.transport = transport
        self.state = state
        self.locked = locked
        self.osVersion = osVersion
        self.notifications = notifications
        self.sdk = sdk
        self.payload = payload
    }

    /// The same payload for another target, or another state of the app. Drops a transport that does not lead to the
    /// target's platform, and headers of APNs on another platform.
    public func redirected(to target: Target, state: AppState) -> DeliverRequest {
        copy(
            target, transport.flatMap { $0.platform == target.platform ? $0 : nil }, state, locked: locked,
            osVersion, notifications, sdk)
    }

    /// The same payload for a device in a given state.
    public func found(by target: Target, _ device: DeviceState) -> DeliverRequest {
        copy(
            target, transport, device.state ?? .background, locked: device.locked ?? false, device.osVersion,
            device.notifications ?? .allowed, device.sdk ?? .ready)
    }

    /// The same payload under other circumstances. Each part of a request is named here: another one has its place here, too.
    private func copy(
        _ target: Target, _ transport: Transport?, _ state: AppState, locked: Bool, _ osVersion: String?,
        _ notifications: NotificationPermission, _ sdk: SDKState
    ) -> DeliverRequest {
        DeliverRequest(
            target: target, transport: transport, state: state, locked: locked, osVersion: osVersion,
            notifications: notifications, sdk: sdk, payload: payload, messageID: messageID,
            headers: target.platform?.hasAPNsHeaders ?? true ? headers : nil)
    }
}

/// `op: interact`: a person's action on a notification.
public struct InteractRequest: Sendable {
    /// The action. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The body was tapped.
        case opened
        /// A button was pressed.
        case action
        /// The notification was dismissed.
        case dismissed
    }

    /// The reference to the delivery of the notification.
    public enum Subject: Sendable {
        /// The number of the delivery.
        case delivery(SequenceNumber)
        /// The payload's own id.
        case message(String)
        /// The payload, as the platform hands it back.
        case payload(JSONNode)
    }

    /// The user, and the app on the device.
    public var target: Target
    /// The action.
    public var kind: Kind
    /// The reference to the delivery of the notification.
    public var subject: Subject
    /// The button's id; `nil` unless `kind` is `action`.
    public var action: String?
    /// The text that the person typed into the button's text field.
    public var text: String?
    /// Whether the app had a Braze instance when the platform called it.
    public var sdk: SDKState

    public init(
        target: Target, kind: Kind, subject: Subject, action: String? = nil, text: String? = nil,
        sdk: SDKState = .ready
    ) {
        self.target = target
        self.kind = kind
        self.subject = subject
        self.action = action
        self.text = text
        self.sdk = sdk
    }
}

/// `op: session`: a session of a person in the app begins or ends.
public struct SessionRequest: Sendable {
    /// The beginning or the end. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The app came to the foreground, or another user began to use it.
        case start
        /// The app left the foreground.
        case end
    }

    /// The user, and the app on the device.
    public var target: Target
    /// The beginning or the end.
    public var kind: Kind

    public init(target: Target, kind: Kind) { (self.target, self.kind) = (target, kind) }
}

/// `op: token`: the push service gave the app on a device a token, or revoked it.
public struct TokenRequest: Sendable {
    /// The event. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The app got a new or a changed token: `onNewToken`, on iOS `didRegister`.
        case new
        /// FCM's second generation: the installation is registered, `onRegistered`.
        case registered
        /// FCM's second generation: the installation is no longer registered, `onUnregistered`.
        case unregistered
    }

    /// The user, and the app on the device.
    public var target: Target
    /// The event.
    public var kind: Kind
    /// The token or installation id; `nil` only for an installation that is no longer registered.
    public var token: String?
}

/// `op: topic`: subscribes tokens to a topic, or unsubscribes them.
public struct TopicRequest: Sendable {
    /// Subscribe or unsubscribe. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        case subscribe, unsubscribe
    }

    /// The treatment of a token that no device registered. The raw values are the wire names.
    public enum Unknown: String, Sendable, CaseIterable {
        /// Registers the token for a device with the token as its name.
        case register
        /// Skips the token.
        case refuse
    }

    /// The result for one token. The raw values are the wire names.
    public enum Result: String, Sendable, CaseIterable {
        /// The token is subscribed now.
        case subscribed
        /// The token was subscribed before.
        case exists
        /// The token is unsubscribed now.
        case unsubscribed
        /// The token was not subscribed.
        case missing
        /// Nobody registered the token.
        case unregistered
        /// The device has reached ``topicsMax``.
        case tooManyTopics = "too_many_topics"
    }

    /// The limit of tokens in one request. Source: Google's page on topic management.
    public static let tokensMax = 1000
    /// The limit of topics of one device. Source: Firebase's page on topics.
    public static let topicsMax = 2000

    /// The platform and the app for devices of tokens that no device registered.
    public var target: Target
    /// Subscribe or unsubscribe.
    public var kind: Kind
    /// The topic.
    public var topic: TopicName
    /// The tokens, in the order of the request.
    public var tokens: [String]
    /// The treatment of a token that no device registered.
    public var unknown: Unknown

    /// Joins the parts.
    public init(
        target: Target = Target(), kind: Kind, topic: TopicName, tokens: [String], unknown: Unknown = .refuse
    ) {
        (self.target, self.kind, self.topic, self.tokens, self.unknown) = (target, kind, topic, tokens, unknown)
    }
}

/// `op: publish`: one payload for all devices that are subscribed to a topic, or that meet a condition.
public struct PublishRequest: Sendable {
    /// The topic, or the condition over topics, that selects the devices.
    public enum Audience: Hashable, Sendable {
        case topic(String)
        /// An expression over topics, which the router parses.
        case condition(String)
    }

    /// The project of the topics.
    public var project: String
    /// The topic or condition that selects the devices.
    public var audience: Audience
    /// The payload. Its target has at most an app, which restricts the publish to the devices of this app.
    public var deliver: DeliverRequest
}

/// `op: device`: the state of a device for later pushes.
public struct DeviceRequest: Sendable {
    /// The device.
    public var target: Target
    /// The changes; a field that is `nil` keeps its value.
    public var state: DeviceState

    /// Joins the parts.
    public init(target: Target, state: DeviceState) { (self.target, self.state) = (target, state) }
}

/// `op: log`: custom data, to be stored for the app's next session or sent at once.
public struct LogRequest: Sendable {
    /// The limit of attributes in one request: the daemon checks each by itself, and a rejected one gets its own row.
    public static let attributesMax = 1000

    /// The app on the device, and the user.
    public var target: Target
    /// The suite that stores the entries; `nil`: the app's own, unless `brazeID` asks to send them at once.
    public var suite: String?
    /// The provider's id of the profile.
    public var brazeID: String?
    /// An event, or attributes.
    public var kind: EntryKind
    /// The object with `name` and `properties`, or `attributes`; not checked yet.
    public var object: JSONNode

    public init(target: Target, suite: String?, brazeID: String?, kind: EntryKind, object: JSONNode) {
        self.target = target
        self.suite = suite
        self.brazeID = brazeID
        self.kind = kind
        self.object = object
    }

    /// The number of attributes; an event has none.
    public var attributeCount: Int { object["attributes"]?.count ?? 0 }
}
