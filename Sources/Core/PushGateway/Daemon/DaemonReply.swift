public import PushModel

/// The daemon's word on a line of the gateway.
public enum DaemonReply: Sendable {
    /// The request is on disk.
    case accepted(SequenceNumber)
    /// The daemon does not take it, and nothing of it was kept.
    case refused(ProtocolError)
    /// There is none: the connection ended, or its time, and nobody knows whether the request is on disk.
    case none

    /// Reads a line of the daemon; a line that is no reply is none.
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

/// The meaning of a refusal for whoever sent the push.
enum RefusalMeaning {
    /// The same push may be taken later, after so many seconds.
    case later(seconds: Int64)
    /// The sender can put it right: the path of the field, where the daemon names one.
    case sendersFault(field: String?)
    /// The gateway's line was wrong.
    case gatewaysFault

    init(_ refusal: ProtocolError) {
        switch refusal.code {
        case .overloaded, .unavailable: self = .later(seconds: Self.seconds(refusal.retryAfter))
        case .invalidJSON, .invalidUTF8, .tooLong, .tooDeep, .duplicateKey, .invalidPayload:
            self = .sendersFault(field: refusal.field)
        // The names of a device and of an app come from the sender; all else in the line is the gateway's.
        case .invalidValue:
            let isSenders = ["device", "app", "topic", "condition"].contains(refusal.field)
            self = isSenders ? .sendersFault(field: refusal.field) : .gatewaysFault
        case .unknownOperation, .missingKey, .unknownKey, .invalidType, .idConflict: self = .gatewaysFault
        }
    }

    /// The wait where the daemon says none.
    static let secondsWithoutWord: Int64 = 1

    /// Whole seconds, and one at least: clients that are told to come at once do.
    private static func seconds(_ duration: Duration?) -> Int64 {
        guard let duration else { return secondsWithoutWord }
        return max(secondsWithoutWord, (duration.milliseconds + 999) / 1000)
    }
}

/// Whether this machine is the one to send to, for whoever shares out the requests.
public enum Leadership: Hashable, Sendable {
    /// The daemon takes requests.
    case here
    /// It does not: the reason, for people.
    case elsewhere(String)

    /// The answer to `GET /leader`, as `pushrouter-metrics` answers it.
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
