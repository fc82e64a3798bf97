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
    case leader
    case status
    case ended(String)

    init?(_ path: [String]) {
        switch path.count {
        case 1 where path[0] == "token": self = .token
        case 1 where path[0] == "leader": self = .leader
        case 1 where path[0] == "status": self = .status
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
        let rest = Array(rest)
        if rest == ["messages:send"] { return .send(project: project) }
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
        case .leader, .status: .other
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
        case .other: ["/1/", "/3/", "/4/"].contains { target.description.hasPrefix($0) }
        }
    }
}
