public import PushModel

/// The daemon's reply to a line of the gateway.
public enum DaemonReply: Sendable {
    /// The request is on disk.
    case accepted(SequenceNumber)
    /// The daemon refused the request, and stored nothing of it.
    case refused(ProtocolError)
    /// The connection ended or timed out before the reply: the request may be on disk or not.
    case none

    /// Reads a line of the daemon; an unreadable line counts as no reply.
    public init(line: [UInt8]) {
        do {
            let reply = try ControlReply(line: line)
            self = reply.root["seq"]?.int64.map { .accepted(SequenceNumber($0)) } ?? .none
        } catch {
            switch error {
            case .refused(let refusal): self = .refused(refusal)
            case .unreadable: self = .none
            }
        }
    }
}

/// The meaning of a refusal for the sender of the push.
enum RefusalMeaning {
    /// The daemon may accept the same push after this many seconds.
    case later(seconds: Int64)
    /// The sender can correct it: the path of the field, if the daemon names one.
    case sendersFault(field: String?)
    /// The gateway's line was wrong.
    case gatewaysFault

    init(_ refusal: ProtocolError) {
        switch refusal.code {
        case .overloaded, .unavailable: self = .later(seconds: Self.seconds(refusal.retryAfter))
        case .invalidJSON, .invalidUTF8, .tooLong, .tooDeep, .duplicateKey, .invalidPayload:
            self = .sendersFault(field: refusal.field)
        // The sender gives the names of the device, the app, the topic and the condition; the gateway makes the rest of
        // the line.
        case .invalidValue:
            let isSenders = ["device", "app", "topic", "condition"].contains(refusal.field)
            self = isSenders ? .sendersFault(field: refusal.field) : .gatewaysFault
        case .unknownOperation, .missingKey, .unknownKey, .invalidType, .idConflict: self = .gatewaysFault
        }
    }

    /// The wait if the daemon gives none.
    static let secondsWithoutWord: Int64 = 1

    /// Returns whole seconds, at least one: with 0 a client retries at once.
    private static func seconds(_ duration: Duration?) -> Int64 {
        guard let duration else { return secondsWithoutWord }
        return max(secondsWithoutWord, (duration.milliseconds + 999) / 1000)
    }
}

/// Whether this machine is the one to send requests to, for a load balancer.
public enum Leadership: Hashable, Sendable {
    /// The daemon takes requests.
    case here
    /// The daemon takes no requests: the reason for people.
    case elsewhere(String)

    /// The answer to `GET /leader`, the same as that of `pushrouter-metrics`.
    public var response: GatewayResponse {
        let (status, text) =
            switch self {
            case .here: (200, "ok")
            case .elsewhere(let reason): (503, reason)
            }
        return GatewayResponse(
            status: status,
            headers: [
                GatewayRequest.Header("content-type", "text/plain; charset=utf-8"),
                GatewayRequest.Header("cache-control", "no-store"),
            ], body: Array("\(text)\n".utf8))
    }
}
