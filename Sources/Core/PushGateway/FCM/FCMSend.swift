import PushModel
import PushRouter

/// A request of FCM HTTP v1 to send a message, checked as FCM checks it.
struct FCMSend: Sendable {
    /// The recipient of a message.
    enum Recipient: Sendable {
        /// One registration, by its token or its installation id.
        case registration(String)
        /// All devices that are subscribed to a topic.
        case topic(String)
        /// All devices whose topics meet a condition.
        case condition(TopicCondition)
    }

    /// The project of the path.
    let project: String
    /// The body.
    public let body: V1Body
    /// The recipient.
    let recipient: Recipient

    /// Reads and checks a request.
    ///
    /// - Parameters:
    ///   - project: the project of the path.
    ///   - bytes: the body.
    ///   - limits: the limits of the daemon, which the line for it must keep.
    ///   - rules: the unverified facts about conditions.
    /// - Throws: the error that Google answers.
    init(
        project: String, body bytes: [UInt8], limits: JSONLimits = JSONLimits(),
        conditions rules: TopicCondition.Rules = TopicCondition.Rules()
    ) throws(GoogleError) {
        self.project = project
        try GoogleError.check(project: project)
        // The line adds one level around the body.
        let limits = JSONLimits(depth: limits.depth - 1, values: limits.values)
        let document: JSONDocument
        do {
            document = try JSONDocument(scanning: bytes, limits: limits)
        } catch {
            throw GoogleError(.invalidArgument, "Invalid JSON payload received. Unexpected token.")
                .caused(by: error.message)
        }
        do {
            body = try V1Body(document.root)
        } catch {
            throw GoogleError(
                error.answer, cause: "\(Self.fieldOfBody(error.error.field)): \(error.error.message)")
        }
        switch body.recipient {
        case .token(let name):
            try GoogleError.check(registration: name, "message.token")
            recipient = .registration(name)
        case .fid(let name):
            try GoogleError.check(registration: name, "message.fid")
            recipient = .registration(name)
        case .topic(let name): recipient = .topic(name)
        case .condition(let text):
            do {
                recipient = .condition(try TopicCondition(text, rules))
            } catch {
                throw GoogleError(.badCondition).caused(by: "message.condition: \(error.message)")
            }
        }
    }

    /// The presumed target of an unknown registration, by the message: a message with a block for iOS alone, or for the
    /// web alone, is for that platform; any other is for Android.
    func presumedTarget(ofRegistration token: String) -> Target {
        Target(platform: body.onlyPlatform ?? .android, app: body.package ?? project, device: token)
    }

    /// Returns the line that delivers the message to one device. A dry run has one too: the daemon checks it and
    /// delivers nothing.
    ///
    /// - Parameters:
    ///   - target: the device, of the registration or of a member of the topic.
    ///   - messageID: the id that ``answer(to:messageID:)`` returns to the sender.
    public func line(to target: Target, messageID: String) -> DeliverLine {
        DeliverLine(DeliverRequest(target: target, payload: body.payload, messageID: messageID))
    }

    /// Returns the line that publishes the message to its topic or condition, with its line feed.
    ///
    /// - Parameters:
    ///   - messageID: the id that ``answer(to:messageID:)`` returns to the sender.
    ///   - sender: the sender.
    func publish(messageID: String, sender: PushSender) -> [UInt8] {
        var writer = JSONWriter(reserving: body.payload.rawBytes.count + 512)
        writer.object { writer in
            switch recipient {
            case .topic(let topic): writer.members(ofPublishTo: .topic(topic), project: project)
            case .condition(let condition): writer.members(ofPublishTo: .condition(condition.text), project: project)
            case .registration: preconditionFailure("a message to one device is no publish")
            }
            let target = Target(app: body.package)
            writer.members(ofPublish: DeliverRequest(target: target, payload: body.payload, messageID: messageID))
            writer.member(sender)
        }
        return writer.line()
    }

    /// Returns the answer for the daemon's reply.
    public func answer(to reply: DaemonReply, messageID: String) -> GatewayResponse {
        switch reply {
        case .accepted: return accepted(messageID: messageID)
        case .none:
            return GoogleError(fcm: .unavailable, retryAfter: RefusalMeaning.secondsWithoutWord)
                .caused(by: "the daemon gave no answer").response
        case .refused(let refusal): return error(refusal).response
        }
    }

    /// Returns the answer to an accepted message: to one device, or to a topic, even one without members.
    public func accepted(messageID: String) -> GatewayResponse {
        // FCM does not specify the name of a dry run; all clients accepted this one.
        let id = body.isDryRun ? "fake_message_id" : messageID
        var writer = JSONWriter()
        writer.object { $0.member("name", "projects/" + project + "/messages/" + id) }
        return .googleJSON(writer.bytes)
    }

    /// Makes a message id of FCM's form: `0:<microseconds>%<16 hexadecimal digits>`.
    ///
    /// - Parameters:
    ///   - microseconds: the time, since 1970.
    ///   - random: a random number that makes the id unique.
    static func messageID(microseconds: Int64, random: UInt64) -> String {
        "0:" + String(microseconds) + "%" + random.hexadecimal
    }

    /// Returns a refusal of the daemon in Google's form.
    private func error(_ refusal: ProtocolError) -> GoogleError {
        switch RefusalMeaning(refusal) {
        case .later(let seconds):
            GoogleError(fcm: .unavailable, retryAfter: seconds).caused(by: refusal.message)
        case .gatewaysFault: GoogleError(fcm: .internalError).caused(by: refusal.message)
        case .notAllowed: GoogleError(.permissionDenied).caused(by: refusal.message)
        case .sendersFault("device"):
            GoogleError(.badToken(field: fieldOfSender("device")))
                .caused(
                    by: "no device registered the token, so it names its device, which has at most "
                        + "\(Target.longestName) bytes: register it (pushctl token)")
        case .sendersFault(let field?):
            GoogleError(.unseen(fieldOfSender(field))).caused(by: "\(fieldOfSender(field)): \(refusal.message)")
        case .sendersFault(nil): GoogleError(fcm: .invalidArgument).caused(by: refusal.message)
        }
    }

    /// Translates a field of the daemon's line to the sender's: the device is the registration.
    private func fieldOfSender(_ field: String) -> String {
        guard field == "device" else { return Self.fieldOfBody(field) }
        if case .fid = body.recipient { return "message.fid" }
        return "message.token"
    }

    /// Translates a field of the daemon's line to the sender's: the payload is the whole body.
    private static func fieldOfBody(_ field: String) -> String {
        switch field {
        case "payload": "message"
        case "app": "message.android.restricted_package_name"
        case "topic": "message.topic"
        case "condition": "message.condition"
        default: field.hasPrefix("payload.") ? String(field.dropFirst("payload.".count)) : field
        }
    }
}
