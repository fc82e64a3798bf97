/// One payload that reaches one app on one device in one app state: an `op: deliver` request with its platform
/// resolved. Takes two words, so copies are cheap.
public struct Delivery: Sendable {
    /// The platform the payload is for.
    public let platform: Platform
    private let request: DeliverRequest

    /// Creates the delivery that a request asks for.
    ///
    /// - Parameters:
    ///   - request: the request; its own platform is ignored.
    ///   - platform: the platform the payload is for.
    public init(_ request: DeliverRequest, platform: Platform) {
        (self.request, self.platform) = (request, platform)
    }

    /// Joins the parts; everything but the platform and the payload has a default.
    public init(
        platform: Platform, transport: Transport? = nil, app: String? = nil, device: String? = nil,
        externalID: String? = nil,
        state: AppState = .background, locked: Bool = false, osVersion: String? = nil,
        notifications: NotificationPermission = .allowed, sdk: SDKState = .ready, payload: JSONNode,
        messageID: String? = nil, headers: JSONNode? = nil
    ) {
        let target = Target(platform: platform, app: app, device: device, externalID: externalID)
        self.init(
            DeliverRequest(
                target: target, transport: transport, state: state, locked: locked, osVersion: osVersion,
                notifications: notifications,
                sdk: sdk, payload: payload, messageID: messageID, headers: headers), platform: platform)
    }

    /// The transport, as the request says; `nil`: the platform's own, or the one that the payload's form shows.
    public var transport: Transport? { request.transport }
    /// Package name or bundle id.
    public var app: String? { request.target.app }
    /// The state of the app.
    public var state: AppState { request.state }
    /// Whether the screen was locked; on Android a locked screen counts as background.
    public var locked: Bool { request.locked }
    /// Whether notifications may be shown.
    public var notifications: NotificationPermission { request.notifications }
    /// Whether the app had a Braze instance.
    public var sdk: SDKState { request.sdk }
    /// The payload, in any of the accepted forms; an object.
    public var payload: JSONNode { request.payload }
    /// The message id that the push service returned to the sender, for a payload without one (FCM: `google.message_id`).
    public var messageID: String? { request.messageID }
    /// The headers of the request to APNs; `nil` if none are known beyond those of a send body.
    public var headers: JSONNode? { request.headers }
    /// Why the send reaches no code.
    public var refusal: SendRefusal? { request.refusal }
}

/// An interaction's reference to its delivery, for the code that stores the requests of deliveries.
public struct DeliveryReference: Hashable, Sendable {
    /// The name of the delivery.
    public enum Name: Hashable, Sendable {
        /// The delivery's number.
        case seq(SequenceNumber)
        /// The payload's own id: the delivery that the tracker found when the interaction was accepted, or without one
        /// the latest with that id that was not for the tracker.
        case message(String)
    }

    /// The name of the delivery.
    public var name: Name
    /// The delivery's app; `nil`: any. A delivery without an app matches every app.
    public var app: String?
    /// The delivery's device; `nil`: any.
    public var device: String?
    /// The interaction's own number; `nil` until it has one. Deliveries after that number do not match.
    public var interaction: SequenceNumber?

    public init(_ name: Name, app: String?, device: String?, interaction: SequenceNumber? = nil) {
        (self.name, self.app, self.device, self.interaction) = (name, app, device, interaction)
    }

    /// Makes the reference of an interaction with a number or a message id; `nil` if the interaction has the payload
    /// instead.
    ///
    /// - Parameter number: the interaction's own number, once it has one.
    public init?(_ interact: InteractRequest, interaction number: SequenceNumber? = nil) {
        switch interact.subject {
        case .delivery(let seq): name = .seq(seq)
        case .message(let id): name = .message(id)
        case .payload: return nil
        }
        app = interact.target.app
        device = interact.target.device
        interaction = number
    }

    /// Whether a delivery matches the app and the device, as far as the reference names them.
    public func admits(_ delivery: AcceptedRequest) -> Bool {
        let (app, device) = (app.map(ExactName.init), device.map(ExactName.init))
        return (app == nil || delivery.app == nil || app == delivery.app.map(ExactName.init))
            && (device == nil || device == delivery.device.map(ExactName.init))
    }
}

/// A delivery that an interaction names, as the ledger stores it.
public struct PastDelivery: Sendable {
    /// The accepted request: its number, platform, app, device, user and message id.
    public var accepted: AcceptedRequest
    /// The provider of the payload; `nil` if no provider's rule matched.
    public var provider: String?
    /// The request, parsed again from its body (payload, OS version); `nil` if this version of the daemon cannot read
    /// it.
    public var request: DeliverRequest?

    public init(accepted: AcceptedRequest, provider: String?, request: DeliverRequest?) {
        (self.accepted, self.provider, self.request) = (accepted, provider, request)
    }
}

/// One delivery in the FCM process of a device; in order of acceptance they give its list of recent ids.
public struct RecentDelivery: Hashable, Sendable {
    /// The device of an app.
    public var device: DeviceKey
    /// The id that FCM's list of recent messages has for it; `nil` if it does not enter the list.
    public var duplicateID: String?
    /// The state of the app; `nil` if it is unknown.
    public var state: AppState?

    public init(device: DeviceKey, duplicateID: String?, state: AppState?) {
        (self.device, self.duplicateID, self.state) = (device, duplicateID, state)
    }
}

/// The devices of a publish, and the number of deliveries that the daemon has made to them.
public struct FanOut: Hashable, Sendable {
    /// The number of the publish.
    public var seq: SequenceNumber
    /// The number of devices that were subscribed when the daemon accepted the publish.
    public var members: Int
    /// The number of deliveries made and devices left out.
    public var progress: Progress
    /// The numbers of the devices, in the order of their deliveries; empty once all deliveries are made.
    public var devices: [SequenceNumber]

    /// The number of deliveries made and of devices left out.
    public struct Progress: Hashable, Sendable {
        /// The number of deliveries made.
        public var made: Int
        /// The number of devices that no longer existed, whose platform does not take the payload, or that had no
        /// delivery when the time of the publish was over.
        public var leftOut: Int

        /// Joins the parts.
        public init(made: Int = 0, leftOut: Int = 0) { (self.made, self.leftOut) = (made, leftOut) }

        /// The number of devices for which nothing is left to do.
        public var done: Int { made + leftOut }
    }

    /// Joins the parts.
    public init(
        seq: SequenceNumber, members: Int, progress: Progress = Progress(), devices: [SequenceNumber]
    ) {
        (self.seq, self.members, self.progress, self.devices) = (seq, members, progress, devices)
    }

    /// The number of deliveries yet to make.
    public var toCome: Int { members - progress.done }
}

/// A header of a request to APNs that controls the push. The raw values are the header names, in alphabetical order.
///
/// Source: Apple's "Sending notification requests to APNs".
public enum APNsHeader: String, Sendable, CaseIterable {
    case collapseID = "apns-collapse-id"
    case expiration = "apns-expiration"
    case id = "apns-id"
    case priority = "apns-priority"
    case pushType = "apns-push-type"
    case topic = "apns-topic"
}

/// `apns-push-type`: the kind of push, which selects the code that receives it. The raw values are the header's.
///
/// Source: Apple's "Sending notification requests to APNs"; `APNSPushType.swift` of APNSwift.
public enum APNsPushType: String, Sendable, CaseIterable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, controls, widgets
}

extension Platform {
    /// Whether its pushes come from APNs, with headers.
    public var hasAPNsHeaders: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }
}
