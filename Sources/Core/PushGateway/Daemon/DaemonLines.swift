import PushModel
import PushSettings

/// The daemon's answer to a line of the gateway.
enum DaemonReply: Sendable {
    /// The request is on disk.
    case accepted(SequenceNumber)
    /// The daemon refused the request, and stored nothing of it.
    case refused(ProtocolError)
    /// No valid reply came before the end of the connection or of its time, so the request may be on disk or not.
    case none

    /// Reads a line of the daemon; a malformed line counts as no reply.
    init(line: [UInt8]) {
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

/// The meaning of the daemon's refusal for the sender of the push.
enum RefusalMeaning {
    /// The daemon may accept the same push after this many seconds.
    case later(seconds: Int64)
    /// The sender can correct the request: the path of the field, if the daemon names one.
    case sendersFault(field: String?)
    /// A rule for producers does not let the sender do this.
    case notAllowed
    /// The gateway's line was malformed.
    case gatewaysFault

    init(_ refusal: ProtocolError) {
        switch refusal.code {
        case .overloaded, .unavailable: self = .later(seconds: Self.seconds(refusal.retryAfter))
        case .invalidJSON, .invalidUTF8, .tooLong, .tooDeep, .duplicateKey, .invalidPayload:
            self = .sendersFault(field: refusal.field)
        case .notAllowed: self = .notAllowed
        // The sender chooses the names of device, app, topic and condition; the gateway makes everything else in the
        // line.
        case .invalidValue:
            let isSenders = ["device", "app", "topic", "condition"].contains(refusal.field)
            self = isSenders ? .sendersFault(field: refusal.field) : .gatewaysFault
        case .unknownOperation, .missingKey, .unknownKey, .invalidType, .idConflict: self = .gatewaysFault
        }
    }

    /// The wait if the daemon gives none.
    static let secondsWithoutWord: Int64 = 1

    /// Whole seconds, at least one: clients obey a 0 and try again at once.
    private static func seconds(_ duration: Duration?) -> Int64 {
        guard let duration else { return secondsWithoutWord }
        return max(secondsWithoutWord, (duration.milliseconds + 999) / 1000)
    }
}

/// Whether a load balancer should send requests to this machine.
enum Leadership: Hashable, Sendable {
    /// The daemon takes requests.
    case leads
    /// The daemon takes no requests, for this reason in words for people.
    case elsewhere(String)

    /// The answer to `GET /leader`, equal to that of `pushrouter-metrics`.
    public var response: GatewayResponse {
        let (status, text) =
            switch self {
            case .leads: (200, "ok")
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

/// The daemon's answer to the question for the device of a token.
enum DaemonDevice {
    /// The device registered the token.
    case known(Target, DeviceState)
    /// No device registered the token: the presumed device.
    case presumed(Target, DeviceState)
    /// The app of the token's device replaced or unregistered it at this time.
    case ended(WallTime)
    /// The daemon refused the question.
    case refused(ProtocolError)
    /// The daemon gave no valid reply.
    case none

    /// Reads the reply to `resolve`; a malformed line counts as no reply.
    init(_ line: [UInt8]?) {
        guard let line else {
            self = .none
            return
        }
        do {
            let root = try ControlReply(line: line).root
            self = root.withView { view in
                guard let known = view.member("known")?.bool else { return .none }
                if let end = view.member("ended")?.string.flatMap(WallTime.init(rfc3339:)) { return .ended(end) }
                let target = Target(
                    platform: view.member("platform")?.string.flatMap(Platform.init), app: view.member("app")?.string,
                    device: view.member("device")?.string, externalID: view.member("external_id")?.string)
                let state = DeviceState(reply: root)
                return known ? .known(target, state) : .presumed(target, state)
            }
        } catch {
            switch error {
            case .refused(let refusal): self = .refused(refusal)
            case .unreadable: self = .none
            }
        }
    }

    /// The device that gets a push, with its state; `nil` if no device does.
    func taken(_ unknown: GatewaySettings.Unknown) -> (Target, DeviceState)? {
        switch self {
        case .known(let target, let state): (target, state)
        case .presumed(let target, let state): unknown == .accept ? (target, state) : nil
        case .ended, .refused, .none: nil
        }
    }
}

/// A line of `inject.sock` that delivers one payload to one device.
struct DeliverLine: Sendable {
    /// The payload, and its target.
    let deliver: DeliverRequest
    /// The sender; `nil` leaves it out of the line. In a box: it has many texts.
    public var sender: Indirect<PushSender>?

    /// Joins the parts.
    init(_ deliver: DeliverRequest, sender: Indirect<PushSender>? = nil) {
        self.deliver = deliver
        self.sender = sender
    }

    /// The same line for a device with a given state.
    func found(_ state: DeviceState) -> DeliverLine {
        DeliverLine(deliver.found(by: deliver.target, state), sender: sender)
    }

    /// The line, with its line feed.
    public var bytes: [UInt8] {
        var writer = JSONWriter(reserving: deliver.payload.rawBytes.count + 512)
        writer.object { writer in
            writer.members(of: deliver)
            if let sender { writer.member(sender.value) }
        }
        return writer.line()
    }
}

extension GatewayRequest.Header {
    /// The headers as the object of a line; `nil` if there are none.
    static func object(_ headers: [Self]) -> JSONNode? {
        guard !headers.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { writer in headers.forEach { writer.member($0.name, $0.value) } }
        // The writer's JSON is always valid.
        return try? JSONDocument(scanning: writer.bytes).root
    }
}
