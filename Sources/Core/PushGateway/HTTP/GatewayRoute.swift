import PushModel
import PushRouter
import PushSettings

/// The operation of a request, by its host, path and method.
enum GatewayRoute: Hashable, Sendable {
    /// `POST /v1/projects/{project}/messages:send`.
    case send(project: String)
    /// `POST /token`: an access token for an assertion.
    case accessToken
    /// `/v1/projects/{project}/registrations/{token}/topicSubscriptions`, and the path of a single one below it.
    case subscriptions(TopicPath, TopicPath.Action)
    /// `POST /iid/v1:batchAdd`, `POST /iid/v1:batchRemove`.
    case topicBatch(isAdding: Bool)
    /// `POST /3/device/{token}`.
    case device(token: String)
    /// `POST /push/{endpoint}`: a web push.
    case push(id: String)
    /// `DELETE /m/{message}`: the withdrawal of a web push.
    case message(id: String)
    /// `POST /subscribe`: a new endpoint, for people on this machine.
    case subscription
    /// `GET /leader`: whether a load balancer should send requests to this machine.
    case leader
    /// `GET /status`: the state of the gateway, for people on this machine.
    case status

    /// - Parameters:
    ///   - request: the request.
    ///   - rules: the unverified facts about the services.
    /// - Throws: ``Unrouted``, which has the answer.
    init(_ request: GatewayRequest, _ rules: RoutingRules = RoutingRules()) throws(Unrouted) {
        let host = request.host
        guard let path = request.target.segments, let place = Place(path), host.has(place.service) else {
            throw .noSuchPath(isApples: request.isForAPNs)
        }
        guard let route = place.route(request.method) else {
            if case .ended(let name) = place { throw .ended(name) }
            if place.isOfWebPush { throw .wrongMethodOfWebPush }
            throw .wrongMethod(isApples: place.service == .apns(isSandbox: false), google: rules.googleWrongMethod)
        }
        self = route
    }
}

/// Unverified facts about misdirected requests.
struct RoutingRules: Hashable, Sendable {
    /// The status of Google's answer to a wrong method (UNVERIFIED: 404, as Google's front end answers unknown paths).
    var googleWrongMethod: GoogleStatus = .notFound

    /// Creates the likely rules.
    init() {}
}

/// The reason why a request has no route.
enum Unrouted: Error, Hashable, Sendable {
    /// No service has this path.
    case noSuchPath(isApples: Bool)
    /// The path needs another method.
    case wrongMethod(isApples: Bool, google: GoogleStatus)
    /// An endpoint of web push takes another method.
    case wrongMethodOfWebPush
    /// Google has ended the service of this path, by its name.
    case ended(String)

    /// Returns the answer.
    public func response(to request: GatewayRequest) -> GatewayResponse {
        switch self {
        case .noSuchPath(isApples: true): APNsRejection(.badPath).response(to: request)
        case .wrongMethod(isApples: true, _): APNsRejection(.methodNotAllowed).response(to: request)
        case .noSuchPath(isApples: false):
            GoogleError(.notFound, "The requested URL \(request.target) was not found on this server.").response
        case .wrongMethod(isApples: false, let status):
            GoogleError(
                status, "The requested URL \(request.target) was not found on this server for \(request.method)."
            ).response
        case .wrongMethodOfWebPush: WebPushError.wrongMethod.response(of: .google)
        case .ended(let name):
            Self.page.because("Google", "NOT_FOUND", "\(name) is gone: Google ended it in 2024")
        }
    }

    /// Google's page for a removed path.
    private static let page = GatewayResponse(
        status: 404, headers: [GatewayRequest.Header("content-type", "text/html")],
        body: Array("<html><title>Error 404 (Not Found)!!1</title></html>".utf8))
}

/// A known path.
private enum Place {
    case send(project: String)
    case token
    case subscriptions(project: String, registration: String)
    case subscription(TopicPath)
    case topicBatch(isAdding: Bool)
    case device(String)
    case push(String)
    case message(String)
    case newSubscription
    case leader
    case status
    case ended(String)

    init?(_ path: [String]) {
        switch path.count {
        case 1 where path[0] == "token": self = .token
        case 1 where path[0] == "leader": self = .leader
        case 1 where path[0] == "status": self = .status
        case 1 where path[0] == "subscribe": self = .newSubscription
        case 2 where path[0] == "push": self = .push(path[1])
        case 2 where path[0] == "m": self = .message(path[1])
        case 1... where path[0] == "batch": self = .ended("/batch")
        case 2 where path[0] == "fcm" && ["send", "notification"].contains(path[1]),
            2 where path[0] == "gcm" && path[1] == "send":
            self = .ended("the legacy API")
        case 2 where path[0] == "iid" && path[1] == "v1:batchAdd": self = .topicBatch(isAdding: true)
        case 2 where path[0] == "iid" && path[1] == "v1:batchRemove": self = .topicBatch(isAdding: false)
        // Old key files have the second form as their token_uri.
        case 3 where path[0] == "oauth2" && path[1] == "v4" && path[2] == "token",
            3 where path[0] == "o" && path[1] == "oauth2" && path[2] == "token":
            self = .token
        case 3 where path[0] == "3" && path[1] == "device": self = .device(path[2])
        case 4... where path[0] == "v1" && path[1] == "projects" && !path[2].isEmpty:
            guard let place = Self.ofProject(path[2], path.dropFirst(3)) else { return nil }
            self = place
        default: return nil
        }
    }

    private static func ofProject(_ project: String, _ rest: ArraySlice<String>) -> Place? {
        if rest.count == 1, rest.first == "messages:send" { return .send(project: project) }
        let rest = Array(rest)
        guard rest.count >= 3, rest[0] == "registrations", !rest[1].isEmpty, rest[2] == "topicSubscriptions" else {
            return nil
        }
        switch rest.count {
        case 3: return .subscriptions(project: project, registration: rest[1])
        case 4: return .subscription(TopicPath(project: project, registration: rest[1], topic: rest[3]))
        default: return nil
        }
    }

    /// The service of the path.
    var service: PushHost {
        switch self {
        case .send, .subscriptions, .subscription, .ended: .fcm
        case .token: .oauth
        case .topicBatch: .instanceID
        case .device: .apns(isSandbox: false)
        case .push, .message, .newSubscription, .leader, .status: .other
        }
    }

    /// Whether it is a path of a browser's push service.
    var isOfWebPush: Bool {
        switch self {
        case .push, .message, .newSubscription: true
        case .send, .token, .subscriptions, .subscription, .topicBatch, .device, .leader, .status, .ended: false
        }
    }

    /// The route for a method; `nil` if the path needs another.
    func route(_ method: String) -> GatewayRoute? {
        switch (self, method) {
        case (.send(let project), "POST"): .send(project: project)
        case (.token, "POST"): .accessToken
        case (.subscriptions(let project, let registration), "POST"):
            .subscriptions(TopicPath(project: project, registration: registration, topic: nil), .create)
        case (.subscriptions(let project, let registration), "GET"):
            .subscriptions(TopicPath(project: project, registration: registration, topic: nil), .list)
        case (.subscription(let path), "GET"): .subscriptions(path, .get)
        case (.subscription(let path), "PATCH"): .subscriptions(path, .patch)
        case (.subscription(let path), "DELETE"): .subscriptions(path, .delete)
        case (.topicBatch(let isAdding), "POST"): .topicBatch(isAdding: isAdding)
        case (.device(let token), "POST"): .device(token: token)
        case (.push(let id), "POST"): .push(id: id)
        case (.message(let id), "DELETE"): .message(id: id)
        case (.newSubscription, "POST"): .subscription
        case (.leader, "GET"), (.leader, "HEAD"): .leader
        case (.status, "GET"): .status
        default: nil
        }
    }
}

extension GatewayRequest {
    /// Whether Apple's service answers the request: by the host, or for another host by the version number at the
    /// beginning of the path.
    var isForAPNs: Bool {
        switch host {
        case .apns: true
        case .fcm, .oauth, .instanceID: false
        case .other: target.begins(with: "/3/") || target.begins(with: "/1/") || target.begins(with: "/4/")
        }
    }
}

/// The requests that no sender makes: those of a page in a browser, whose site may be anybody's.
///
/// A page may send a simple POST to any address, and a name of its own may lead to this one (DNS rebinding). Then
/// `Origin`, `Sec-Fetch-Site` or `Host` shows it. No client of FCM or APNs sends the first two.
struct GuestRules: Sendable {
    /// The names of `Names=`, in lower case.
    var names: Set<String> = []

    /// The answer to such a request; `nil`: it may go on.
    func refusal(of request: GatewayRequest, on connection: ConnectionFacts) -> GatewayResponse? {
        if let origin = request.header("origin") {
            return refusal(403, "a page in a browser sent it (Origin: \(origin.cut(toBytes: 100).showingControls()))")
        }
        if let site = request.header("sec-fetch-site"), site != "none" {
            return refusal(
                403, "a page in a browser sent it (Sec-Fetch-Site: \(site.cut(toBytes: 20).showingControls()))")
        }
        // A load balancer asks for the leader under a name of its own, and learns nothing else.
        guard !connection.isUnix, request.host == .other, let name = request.authority.flatMap(Self.name), !isOwn(name),
            request.target.segments != ["leader"]
        else { return nil }
        let shown = name.cut(toBytes: 100).showingControls()
        return refusal(421, "Host is \(shown): add the name to Names= in gateway.conf if it is this gateway's")
    }

    private func refusal(_ status: Int, _ cause: String) -> GatewayResponse {
        GatewayResponse(
            status: status, headers: [GatewayRequest.Header("content-type", "text/plain; charset=utf-8")],
            body: Array("pushrouter-gateway: \(cause)\n".utf8)
        ).because(nil, status == 403 ? "FORBIDDEN" : "MISDIRECTED", cause)
    }

    private func isOwn(_ name: String) -> Bool {
        name == "localhost" || name.hasSuffix(".localhost") || names.contains(name)
    }

    /// The name in an authority, in lower case; `nil` for an address, which no name leads to.
    private static func name(_ authority: String) -> String? {
        guard authority.utf8.first != UInt8(ascii: "[") else { return nil }
        let host = authority.utf8.prefix { $0 != UInt8(ascii: ":") }
        let isAddress = host.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }
        return isAddress ? nil : String(decoding: host, as: UTF8.self).lowercased()
    }
}

extension GatewayResponse {
    /// The end of a connection of HTTP/1.1 as APNs ends it: its server takes HTTP/2 alone, and says so in HTTP/2, with
    /// its settings and GOAWAY (RFC 9113, 3.4 and 6.8).
    ///
    /// Source: the bytes in reports (reactor-netty#399, vapor-apns#29); the words are those of Netty, which APNs seems to
    /// use.
    static func unexpectedHTTP1(_ request: GatewayRequest) -> GatewayResponse {
        func frame(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
            let length = payload.count
            return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, 0, 0, 0, 0, 0]
                + payload
        }
        let text = "Unexpected HTTP/1.x request: \(request.method) \(request.target) ".prefix(1024)
        // No stream was processed, and the error is PROTOCOL_ERROR.
        let goAway = frame(7, [0, 0, 0, 0, 0, 0, 0, 1] + Array(text.utf8))
        var response = GatewayResponse(status: 505).because(
            "APNs", "HTTP/1.1", "APNs takes HTTP/2 alone: the client needs a library with HTTP/2, and ALPN h2 in TLS")
        response.framesForHTTP1 = frame(4, []) + goAway
        return response
    }
}
