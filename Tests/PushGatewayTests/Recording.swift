import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel

/// One request of a recording, and the answer of the stand-in.
struct RecordedRequest: Sendable, CustomTestStringConvertible {
    var file: String
    var step: String
    var request: GatewayRequest
    var response: GatewayResponse

    var testDescription: String { "\(file): \(step)" }

    /// The requests of the files of a folder, in order.
    static func all(in folder: String) -> [RecordedRequest] {
        Fixture.list("recordings/\(folder)", suffix: ".json").flatMap(read)
    }

    private static func read(_ path: String) -> [RecordedRequest] {
        guard let root = try? JSONDocument(scanning: Fixture.bytes(path)).root else {
            Issue.record("\(path) is no JSON")
            return []
        }
        return (root["steps"]?.elements ?? []).flatMap { step in
            (step["requests"]?.elements ?? []).map { recorded in
                RecordedRequest(
                    file: String(path.split(separator: "/").last ?? ""), step: step["step"]?.string ?? "",
                    request: GatewayRequest(
                        method: recorded["method"]?.string ?? "", target: recorded["path"]?.string ?? "",
                        headers: headers(recorded["headers"]), body: body(recorded["body"])),
                    response: GatewayResponse(
                        status: Int(recorded["response"]?["status"]?.int64 ?? 0),
                        headers: headers(recorded["response"]?["headers"]).map {
                            GatewayRequest.Header($0.name, $0.value)
                        },
                        body: Array((recorded["response"]?["body"]?.string ?? "").utf8)))
            }
        }
    }

    private static func headers(_ list: JSONNode?) -> [(name: String, value: String)] {
        (list?.elements ?? []).compactMap { pair in
            let parts = pair.elements.compactMap(\.string)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
    }

    private static func body(_ body: JSONNode?) -> [UInt8] {
        if let text = body?["text"]?.string { return Array(text.utf8) }
        return body?["json"].map { Array($0.rawBytes) } ?? []
    }

    /// The recorded answer's value of a key that is random or that the provider chooses.
    func answered(_ key: String) -> String? {
        (try? JSONDocument(scanning: response.body).root)?[key]?.string
    }
}

extension GatewayResponse {
    /// The body without spaces between JSON tokens; unchanged if it is no JSON.
    var compactBody: String {
        let bytes = (try? JSONDocument(scanning: body).root.compactBytes) ?? body
        return String(decoding: bytes, as: UTF8.self)
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension GatewayRequest {
    static func post(_ target: String, _ body: String = "", headers: [(name: String, value: String)] = []) -> Self {
        GatewayRequest(method: "POST", target: target, headers: headers, body: Array(body.utf8))
    }
}

/// Answers requests as a gateway whose daemon accepts each line, with the ids of the recorded answer.
struct Replay {
    var injected = InjectedErrors(takesTokens: true)
    private var generator = SeededGenerator(seed: 1)
    /// The lines that the daemon got.
    private(set) var lines: [DeliverLine] = []

    mutating func answer(_ recorded: RecordedRequest) throws -> GatewayResponse {
        do {
            let route = try GatewayRoute(recorded.request)
            return try answer(recorded, route)
        } catch let error as Unrouted {
            return error.response(to: recorded.request)
        } catch let error as GoogleError {
            return error.response
        } catch let error as AccessTokenError {
            return error.response
        } catch let error as TopicBatch.Fault {
            return error.response
        } catch let error as APNsRejection {
            return error.response(to: recorded.request)
        }
    }

    private mutating func answer(_ recorded: RecordedRequest, _ route: GatewayRoute) throws -> GatewayResponse {
        switch route {
        case .send(let project): try send(recorded, project)
        case .accessToken:
            switch try AccessTokenRequest(body: recorded.request.body) {
            case .assertion, .refreshToken:
                AccessTokenRequest.response(token: recorded.answered("access_token") ?? "")
            }
        case .subscriptions(let path, let action): try topics(recorded, path, action)
        case .topicBatch(let isAdding):
            try batch(TopicBatch(isAdding: isAdding, body: recorded.request.body))
        case .device(let token): try device(recorded, token)
        case .leader: Leadership.leads.response
        case .status: GatewayResponse(status: 200)
        // GatewayProgramTests replays web pushes: they need OpenSSL.
        case .push, .message, .subscription: GatewayResponse(status: 500)
        }
    }

    private func batch(_ batch: TopicBatch) -> GatewayResponse {
        batch.response(batch.tokens.map { injected.failure(ofToken: $0)?.failure })
    }

    private mutating func send(_ recorded: RecordedRequest, _ project: String) throws -> GatewayResponse {
        let send = try FCMSend(project: project, body: recorded.request.body)
        let id = String(recorded.answered("name")?.split(separator: "/").last ?? "0:1%1")
        guard case .registration(let token) = send.recipient else { return send.accepted(messageID: id) }
        let subject = FaultSubject(service: .fcm, token: token, project: project)
        if let verdict = injected.verdict(on: subject, using: &generator) {
            return verdict.answer.response(project: project)
        }
        lines.append(send.line(to: send.presumedTarget(ofRegistration: token), messageID: id))
        return send.answer(to: .accepted(SequenceNumber(1)), messageID: id)
    }

    private mutating func topics(
        _ recorded: RecordedRequest, _ path: TopicPath, _ action: TopicPath.Action
    ) throws -> GatewayResponse {
        let request = try TopicSubscriptionRequest(path, action, recorded.request)
        let subject = FaultSubject(service: .topics, token: path.registration, project: path.project)
        if let verdict = injected.verdict(on: subject, using: &generator) {
            return verdict.answer.response(project: path.project)
        }
        return switch request.operation {
        case .subscribe(let topic, _), .show(let topic):
            TopicSubscriptionOutcome.subscribed(
                TopicSubscription(project: path.project, registration: path.registration, topic: topic)
            ).response
        case .unsubscribe: TopicSubscriptionOutcome.unsubscribed.response
        case .showAll: TopicSubscriptionOutcome.all([], next: nil).response
        }
    }

    private mutating func device(_ recorded: RecordedRequest, _ token: String) throws -> GatewayResponse {
        let subject = FaultSubject(service: .apns, token: token, topic: recorded.request.header("apns-topic"))
        if let verdict = injected.verdict(on: subject, using: &generator) {
            return verdict.answer.response(
                to: recorded.request, timestamp: WallTime(milliseconds: 1_764_000_000_000))
        }
        let hasToken = recorded.request.header("authorization") != nil
        let send = try APNsSend(
            token: token, recorded.request, from: hasToken ? .token : .certificate(topics: ["com.example.shop"]))
        lines.append(send.line(to: send.presumedTarget))
        return send.answer(
            to: .accepted(SequenceNumber(1)),
            uniqueID: recorded.response.header("apns-unique-id").flatMap { UUID128($0) })
    }
}
