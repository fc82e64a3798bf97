@testable import PushModel
@testable import PushRouter

extension Request {
    /// A delivery, with a payload of no known provider unless one is given.
    static func deliver(
        _ payload: String = #"{"k":"v"}"#, to device: String? = nil, app: String? = "shop",
        platform: Platform? = .android, user: String? = nil, id: String? = nil, at: WallTime? = nil,
        state: AppState = .background, sdk: SDKState = .ready
    ) -> Request {
        let document = JSONDocument(test: payload)
        let target = Target(platform: platform, app: app, device: device, externalID: user)
        return Request(
            action: .deliver(DeliverRequest(target: target, state: state, sdk: sdk, payload: document.root)),
            id: id, at: at, waitsForOutcome: false, document: document)
    }

    /// A tap on the body of a notification.
    static func open(
        _ subject: InteractRequest.Subject, on device: String? = nil, app: String? = nil, platform: Platform? = nil,
        user: String? = nil, at: WallTime? = nil, sdk: SDKState = .ready
    ) -> Request {
        let target = Target(platform: platform, app: app, device: device, externalID: user)
        return Request(
            action: .interact(InteractRequest(target: target, kind: .opened, subject: subject, sdk: sdk)),
            id: nil, at: at, waitsForOutcome: false, document: JSONDocument(test: "{}"))
    }

    /// A new token.
    static func token(
        _ kind: TokenRequest.Kind = .new, to device: String? = nil, app: String? = "shop",
        platform: Platform? = .android
    ) -> Request {
        let target = Target(platform: platform, app: app, device: device)
        return Request(
            action: .token(TokenRequest(target: target, kind: kind, token: "t1")), id: nil, at: nil,
            waitsForOutcome: false, document: JSONDocument(test: "{}"))
    }

    /// The start of a session.
    static func session(on device: String?, app: String? = "shop", user: String? = nil) -> Request {
        let target = Target(app: app, device: device, externalID: user)
        return Request(
            action: .session(SessionRequest(target: target, kind: .start)), id: nil, at: nil, waitsForOutcome: false,
            document: JSONDocument(test: "{}"))
    }

    static func open(
        seq: Int64, on device: String? = nil, user: String? = nil, sdk: SDKState = .ready
    ) -> Request {
        open(.delivery(SequenceNumber(seq)), on: device, user: user, sdk: sdk)
    }
}

/// Payloads in their original form; in `{}` a test may put more members.
enum Payload {
    static func braze(message: String? = nil, campaign: String? = "summer") -> String {
        let id = message.map { #","google.message_id":"\#($0)""# } ?? ""
        let cid = campaign.map { #","cid":"\#($0)""# } ?? ""
        return #"{"extras":{"_ab":"true","t":"Title","a":"Text"\#(cid)\#(id)}}"#
    }

    static func brazeIOS(campaign: String? = "summer", contentAvailable: Bool = false) -> String {
        let c = campaign.map { #""\#($0)""# } ?? "null"
        return #"{"aps":{"alert":"Text"\#(contentAvailable ? #","content-available":1"# : "")},"ab":{"c":\#(c)}}"#
    }

    /// FCM deleted the messages that it had stored for the app.
    static let deletedMessages = #"{"extras":{"message_type":"deleted_messages"}}"#

    /// A message of no known provider, with an id.
    static func message(_ id: String) -> String { #"{"extras":{"google.message_id":"\#(id)"}}"# }

    /// An iOS push of another provider; in the foreground it leads to two callbacks.
    static let otherIOS = #"{"aps":{"alert":"Text","content-available":1},"custom":{"i":"1"}}"#
}

extension JSONDocument {
    /// Parses a text that the test wrote itself.
    init(test text: String) {
        do {
            try self.init(scanning: Array(text.utf8))
        } catch {
            preconditionFailure("\(text): \(error.message)")
        }
    }
}

extension RoutingTable {
    /// One route to the handler `crm`, which is not idempotent, unless the test says otherwise.
    static func testing(
        _ mode: DispatchMode = .device, routes: [Route] = [.all(to: "crm")], handlers: [Handler] = [.exec("crm")],
        places: Int = 64, observers: Int = 2, inFlight: Int = 1000, inFlightPerPeer: Int = 1000,
        bytes: Int = 1 << 30, bytesPerPeer: Int = 1 << 30, payloadMemory: Int = 32 << 20,
        invocationMemory: Int = 1 << 30, invocationMemoryPerPeer: Int = 1 << 30
    ) -> RoutingTable {
        var table = RoutingTable(
            mode: mode, routes: routes, handlers: Dictionary(uniqueKeysWithValues: handlers.map { ($0.name, $0) }))
        table.limits = RoutingLimits(
            handlers: places, observers: observers, inFlight: inFlight, inFlightPerPeer: inFlightPerPeer,
            unfinishedBytes: bytes, unfinishedBytesPerPeer: bytesPerPeer, payloadMemory: payloadMemory,
            invocationMemory: invocationMemory, invocationMemoryPerPeer: invocationMemoryPerPeer)
        return table
    }
}

extension Route {
    /// A route that matches everything.
    static func all(to handler: String, budget: Duration? = nil) -> Route {
        Route(name: "all-\(handler)", match: RouteMatch(), handler: handler, budget: budget)
    }

    /// A route for payloads with a key.
    static func key(_ key: String, to handler: String, budget: Duration? = nil) -> Route {
        Route(
            name: "\(key)-\(handler)", match: RouteMatch(data: [.init(key: key, pattern: nil)]), handler: handler,
            budget: budget)
    }
}

extension Handler {
    static func exec(_ name: String, idempotent: Bool = false, grace: Duration? = nil) -> Handler {
        Handler(
            name: name, kind: .exec(Command(arguments: ["/usr/bin/\(name)"])), idempotent: idempotent, grace: grace)
    }
}
