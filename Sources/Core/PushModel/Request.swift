/// One request line of `inject.sock`, read and checked, before the router resolved what it leaves out.
public struct Request: Sendable {
    /// What is asked. One reference: it is handed on many times.
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

    /// What is asked.
    public var action: Action
    /// The producer's id: its idempotency key.
    public var id: String?
    /// The event's time for the tracker; never the start of a deadline.
    public var at: WallTime?
    /// Whether a line follows for each invocation when its outcome is known.
    public var waitsForOutcome: Bool
    /// The line as it came, scanned.
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

    /// Whom it is about.
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

/// Whom a request is about; each may be left out, and then the device's last known holds.
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

/// `op: deliver`: one payload for one app on one device in one app state. A reference: it is handed on many times.
public final class DeliverRequest: Sendable {
    /// Whom it reaches.
    public let target: Target
    /// What brought the payload; `nil`: the platform's own, or what the payload's form shows.
    public let transport: Transport?
    /// What the app was doing.
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
    /// The id that the sender was told, for a payload that has none of its own.
    public let messageID: String?
    /// The headers of the request to APNs, by the names of ``APNsHeader``; `nil`: the line says none.
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

    /// The same payload for another target, or another state of the app. A transport that does not lead to the target's
    /// platform is left out, and so are headers of APNs on another one.
    public func redirected(to target: Target, state: AppState) -> DeliverRequest {
        let transport = transport.flatMap { $0.platform == target.platform ? $0 : nil }
        return DeliverRequest(
            target: target, transport: transport, state: state, locked: locked, osVersion: osVersion,
            notifications: notifications, sdk: sdk, payload: payload, messageID: messageID,
            headers: target.platform?.hasAPNsHeaders ?? true ? headers : nil)
    }
}

/// `op: interact`: what a person did with a notification.
public struct InteractRequest: Sendable {
    /// What was done. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The body was tapped.
        case opened
        /// A button was pressed.
        case action
        /// The notification was swept away.
        case dismissed
    }

    /// Which notification.
    public enum Subject: Sendable {
        /// By the number of the delivery.
        case delivery(SequenceNumber)
        /// By the payload's own id.
        case message(String)
        /// By the payload, as the platform hands it back.
        case payload(JSONNode)
    }

    /// Who did it, where.
    public var target: Target
    /// What was done.
    public var kind: Kind
    /// With which notification.
    public var subject: Subject
    /// The button's id; `nil` unless `kind` is `action`.
    public var action: String?
    /// What was typed into the button's text field.
    public var text: String?
    /// Whether the app had a Braze instance when its code was told.
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

/// `op: session`: a person's use of the app begins or ends.
public struct SessionRequest: Sendable {
    /// Which of the two. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The app came to the front, or another user began to use it.
        case start
        /// The app left the front.
        case end
    }

    /// Who, where.
    public var target: Target
    /// Which of the two.
    public var kind: Kind

    public init(target: Target, kind: Kind) { (self.target, self.kind) = (target, kind) }
}

/// `op: token`: the push service gave the app on a device a token, or took it back.
public struct TokenRequest: Sendable {
    /// What happened. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// A token, new or changed: `onNewToken`, on iOS `didRegister`.
        case new
        /// FCM's second generation: the installation is registered, `onRegistered`.
        case registered
        /// FCM's second generation: the installation is not registered any more, `onUnregistered`.
        case unregistered
    }

    /// Who, where.
    public var target: Target
    /// What happened.
    public var kind: Kind
    /// The token or installation id; `nil` only for what is no longer registered.
    public var token: String?
}

/// `op: topic`: tokens are subscribed to a topic, or not any more.
public struct TopicRequest: Sendable {
    /// Which of the two. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        case subscribe, unsubscribe
    }

    /// The treatment of a token that nobody registered. The raw values are the wire names.
    public enum Unknown: String, Sendable, CaseIterable {
        /// It is registered for a device of its own name.
        case register
        /// It is left out.
        case refuse
    }

    /// The result for one token. The raw values are the wire names.
    public enum Result: String, Sendable, CaseIterable {
        /// It is subscribed now.
        case subscribed
        /// It was subscribed before.
        case exists
        /// It is not subscribed any more.
        case unsubscribed
        /// It was not subscribed.
        case missing
        /// Nobody registered it.
        case unregistered
        /// Its device has as many topics as it may have.
        case tooManyTopics = "too_many_topics"
    }

    /// As many tokens as one request may have. Source: Google's page on topic management.
    public static let tokensMax = 1000
    /// As many topics as one device may have. Source: Firebase's page on topics.
    public static let topicsMax = 2000

    /// Platform and app of the devices of tokens that nobody registered.
    public var target: Target
    /// Which of the two.
    public var kind: Kind
    /// The topic.
    public var topic: TopicName
    /// The tokens, in their order.
    public var tokens: [String]
    /// The treatment of a token that nobody registered.
    public var unknown: Unknown

    /// Joins the parts.
    public init(
        target: Target = Target(), kind: Kind, topic: TopicName, tokens: [String], unknown: Unknown = .refuse
    ) {
        (self.target, self.kind, self.topic, self.tokens, self.unknown) = (target, kind, topic, tokens, unknown)
    }
}

/// `op: publish`: one payload for all devices that are subscribed to a topic, or meet a condition.
public struct PublishRequest: Sendable {
    /// Whom it is for.
    public enum Audience: Hashable, Sendable {
        case topic(String)
        /// An expression over topics; the router reads it.
        case condition(String)
    }

    /// The project of the topics.
    public var project: String
    /// Whom it is for.
    public var audience: Audience
    /// The payload. Its target has an app at most: devices of another one are left out.
    public var deliver: DeliverRequest

    /// Joins the parts.
    public init(project: String, audience: Audience, deliver: DeliverRequest) {
        (self.project, self.audience, self.deliver) = (project, audience, deliver)
    }
}

/// `op: device`: what pushes find on a device from now on.
public struct DeviceRequest: Sendable {
    /// Which device.
    public var target: Target
    /// The changes; a field that is `nil` stays as it was.
    public var state: DeviceState

    /// Joins the parts.
    public init(target: Target, state: DeviceState) { (self.target, self.state) = (target, state) }
}

/// `op: log`: custom data, to be stored for the app's next session or sent at once.
public struct LogRequest: Sendable {
    /// How many attributes one request may have: each is checked by itself, and may be set aside with a row of its own.
    public static let attributesMax = 1000

    /// Whom it is about.
    public var target: Target
    /// Where it is stored; `nil`: in the app's own storage, unless `brazeID` says that it is sent at once.
    public var suite: String?
    /// The provider's id of the profile.
    public var brazeID: String?
    /// What it tells.
    public var kind: EntryKind
    /// The object that has `name` and `properties`, or `attributes`; not checked yet.
    public var object: JSONNode

    public init(target: Target, suite: String?, brazeID: String?, kind: EntryKind, object: JSONNode) {
        self.target = target
        self.suite = suite
        self.brazeID = brazeID
        self.kind = kind
        self.object = object
    }

    /// How many attributes it has; an event has none.
    public var attributeCount: Int { object["attributes"]?.count ?? 0 }
}
