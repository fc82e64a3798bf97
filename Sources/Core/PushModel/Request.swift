/// One request line of `inject.sock`, read and checked. The router has not yet resolved the fields that it leaves out.
public struct Request: Sendable {
    /// The operation with its fields. Stored as one reference, because it is passed on many times.
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

    /// The operation with its fields.
    public var action: Action
    /// The producer's id for the request: the idempotency key.
    public var id: String?
    /// The event's time for the tracker; never the start of a deadline.
    public var at: WallTime?
    /// Whether the daemon writes a line for each invocation when its outcome is known.
    public var waitsForOutcome: Bool
    /// The scanned request line.
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

    /// The target.
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

/// The target of a request. The device's last known value stands in for a field that is left out.
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

/// `op: deliver`: one payload for one app on one device in one app state. A class, because it is passed on many times.
public final class DeliverRequest: Sendable {
    /// The target.
    public let target: Target
    /// The transport of the payload; `nil`: the platform's usual one, or the one that the payload's form implies.
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
    /// The message id that the sender received, for a payload without an id of its own.
    public let messageID: String?
    /// The headers of the request to APNs, by the names of ``APNsHeader``; `nil`: the line has none.
    public let headers: JSONNode?

    /// Joins the parts; all but the payload have the protocol's defaults.
    public init(
        target: Target = Target(), transport: Transport? = nil, state: AppState = .background, locked: Bool = false,
        osVersion: String? = nil, notifications: NotificationPermission = .allowed, sdk: SDKState = .ready,
        payload: JSONNode, messageID: String? = nil, headers: JSONNode? = nil
    ) {
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

    /// Returns a request with the same payload for another target or another state of the app. Leaves out a transport
    /// of another platform than the target's, and headers of APNs if the target's platform is not iOS.
    public func redirected(to target: Target, state: AppState) -> DeliverRequest {
        let transport = transport.flatMap { $0.platform == target.platform ? $0 : nil }
        return DeliverRequest(
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
        /// The notification was swept away.
        case dismissed
    }

    /// The way in which a request names the notification.
    public enum Subject: Sendable {
        /// The number of the delivery.
        case delivery(SequenceNumber)
        /// The payload's own id.
        case message(String)
        /// The payload, as the platform hands it back.
        case payload(JSONNode)
    }

    /// The user, the app and the device.
    public var target: Target
    /// The action.
    public var kind: Kind
    /// The notification.
    public var subject: Subject
    /// The button's id; `nil` unless `kind` is `action`.
    public var action: String?
    /// The text that the person typed into the button's text field.
    public var text: String?
    /// Whether the app had a Braze instance when the platform called its code.
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
    /// The kind. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The app came to the front, or another user began to use it.
        case start
        /// The app left the front.
        case end
    }

    /// The user, the app and the device.
    public var target: Target
    /// The kind.
    public var kind: Kind

    public init(target: Target, kind: Kind) { (self.target, self.kind) = (target, kind) }
}

/// `op: token`: the push service gave the app on a device a token, or took it back.
public struct TokenRequest: Sendable {
    /// The kind. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The app got a new or a changed token: `onNewToken`, on iOS `didRegister`.
        case new
        /// FCM's second generation: the installation is registered, `onRegistered`.
        case registered
        /// FCM's second generation: the installation is no longer registered, `onUnregistered`.
        case unregistered
    }

    /// The user, the app and the device.
    public var target: Target
    /// The kind.
    public var kind: Kind
    /// The token or installation id; `nil` only for `unregistered`.
    public var token: String?
}

/// `op: topic`: subscribes tokens to a topic, or ends their subscriptions.
public struct TopicRequest: Sendable {
    /// The kind. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        case subscribe, unsubscribe
    }

    /// The treatment of a token that no device registered. The raw values are the wire names.
    public enum Unknown: String, Sendable, CaseIterable {
        /// Registers it for a device with the token as its name.
        case register
        /// Leaves it out.
        case refuse
    }

    /// The result for one token. The raw values are the wire names.
    public enum Result: String, Sendable, CaseIterable {
        /// The token is now subscribed.
        case subscribed
        /// The token was subscribed before.
        case exists
        /// The token is no longer subscribed.
        case unsubscribed
        /// The token was not subscribed.
        case missing
        /// No device registered the token.
        case unregistered
        /// The device of the token has the largest number of topics already.
        case tooManyTopics = "too_many_topics"
    }

    /// The largest number of tokens of one request. Source: Google's page on topic management.
    public static let tokensMax = 1000
    /// The largest number of topics of one device. Source: Firebase's page on topics.
    public static let topicsMax = 2000

    /// The platform and the app for devices of tokens that no device registered.
    public var target: Target
    /// The kind.
    public var kind: Kind
    /// The topic.
    public var topic: TopicName
    /// The tokens, in their order.
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

/// `op: publish`: one payload for all devices that are subscribed to a topic, or whose subscriptions meet a condition.
public struct PublishRequest: Sendable {
    /// The receivers.
    public enum Audience: Hashable, Sendable {
        case topic(String)
        /// An expression over topics; the router parses it.
        case condition(String)
    }

    /// The project of the topics.
    public var project: String
    /// The receivers.
    public var audience: Audience
    /// The payload. Its target has at most an app, which limits the receivers to devices of this app.
    public var deliver: DeliverRequest

    /// Joins the parts.
    public init(project: String, audience: Audience, deliver: DeliverRequest) {
        (self.project, self.audience, self.deliver) = (project, audience, deliver)
    }
}

/// `op: device`: sets the state of a device for later pushes.
public struct DeviceRequest: Sendable {
    /// The device.
    public var target: Target
    /// The changes; a field that is `nil` stays unchanged.
    public var state: DeviceState

    /// Joins the parts.
    public init(target: Target, state: DeviceState) { (self.target, self.state) = (target, state) }
}

/// `op: log`: custom data, to be stored for the app's next session or sent at once.
public struct LogRequest: Sendable {
    /// The largest number of attributes of one request: each is checked by itself and may be rejected with a row of its
    /// own.
    public static let attributesMax = 1000

    /// The target.
    public var target: Target
    /// The suite that stores it; `nil`: the app's own storage, or none if `brazeID` says that it is sent at once.
    public var suite: String?
    /// The provider's id of the profile.
    public var brazeID: String?
    /// The kind of entry.
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

    /// The number of attributes; 0 for an event.
    public var attributeCount: Int { object["attributes"]?.count ?? 0 }
}
