import PushModel

/// Why a request was refused: what the answer says of it, and what the answer of the real service leaves out.
struct GatewayRefusal: Hashable, Sendable {
    /// The service whose answer it is, in words; `nil`: the gateway's own answer.
    let service: String?
    /// The reason in the service's own word: `BadDeviceToken`, `UNREGISTERED`.
    let reason: String
    /// The cause, for people; `nil` if the reason says it all.
    let cause: String?
    /// Whether somebody asked for this answer (errors on demand).
    var isOnDemand = false

    init(_ service: String?, _ reason: String, _ cause: String?) {
        (self.service, self.reason, self.cause) = (service, reason, cause)
    }
}

/// A refused request.
struct RefusedRequest: Hashable, Sendable {
    /// The time of the request.
    let at: WallTime
    /// The peer and the connection's number.
    let connection: String
    /// The client program, as it names itself.
    let client: String?
    /// The method and the path, with secrets shortened.
    let request: String
    /// The HTTP status of the answer.
    let answer: Int
    /// The reason.
    let refusal: GatewayRefusal
}

/// The refusals since the start: how many for each reason, and the latest ones.
public struct Refusals: Sendable {
    /// The number of refusals by reason. The reasons are those of the services, a closed set.
    private(set) var counts: [String: Int] = [:]
    /// The latest refusals, the latest last.
    private(set) var latest: [RefusedRequest] = []
    private var told = (minute: Int64.min, count: 0)

    /// The limit of the latest refusals.
    static let latestMax = 16
    /// The limit of refusals that are told in a minute, in the journal and as rows of the ledger: a sender may repeat
    /// one without an end.
    static let toldPerMinute = 30

    /// Counts a refusal.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: whether it may be told, and whether it is the last one of this minute.
    mutating func note(_ request: RefusedRequest, at now: Int64) -> (mayBeTold: Bool, isLast: Bool) {
        counts[request.refusal.reason, default: 0] += 1
        latest.append(request)
        if latest.count > Self.latestMax { latest.removeFirst() }
        let minute = now / 60_000_000_000
        if told.minute != minute { told = (minute, 0) }
        told.count += 1
        return (told.count <= Self.toldPerMinute, told.count == Self.toldPerMinute)
    }
}

/// A request that is being answered, for the case that it is refused.
struct SenderRequest: Sendable {
    let request: GatewayRequest
    let connection: ConnectionFacts
    let now: GatewayDesk.Now
    /// The target of a send; `nil` for any other request.
    var target: Target?

    /// The sender's facts that need no credentials.
    var sender: PushSender {
        var sender = PushSender()
        sender.client = request.client
        sender.connection = connection.name
        sender.method = request.method
        sender.path = request.target.shortened
        return sender
    }

    /// The bytes of a refused body that its row keeps.
    private static let bodyMax = 4096

    /// Returns the line by which the daemon keeps a refused send: a delivery that reaches no device. Its payload is the
    /// body as a text, for a body that no service takes is perhaps no payload.
    func line(_ answer: GatewayResponse, _ refusal: GatewayRefusal) -> [UInt8]? {
        guard var target else { return nil }
        // A sender chooses these names, and the daemon takes neither an empty one nor a NUL.
        func name(_ text: String?) -> String? {
            let name = text.map { String($0.showingControls()).cut(toBytes: Target.longestName) }
            return name?.isEmpty == true ? nil : name
        }
        (target.app, target.device) = (name(target.app), name(target.device))
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("body", String(decoding: request.body.prefix(Self.bodyMax), as: UTF8.self))
        }
        guard let payload = try? JSONDocument(scanning: writer.bytes).root else { return nil }
        var sender = sender
        sender.answer = Int64(answer.status)
        sender.reason = refusal.reason
        sender.cause = refusal.isOnDemand ? "an error on demand" : refusal.cause
        return DeliverLine(DeliverRequest(target: target, payload: payload), sender: sender).bytes
    }
}

extension GatewayResponse {
    /// Returns the same answer with the reason of its refusal.
    func because(_ service: String?, _ reason: String, _ cause: String?) -> GatewayResponse {
        var response = self
        response.refusal = GatewayRefusal(service, reason, cause)
        return response
    }

    /// Returns the same answer as one that somebody asked for.
    func onDemand() -> GatewayResponse {
        var response = self
        response.refusal?.isOnDemand = true
        return response
    }
}
