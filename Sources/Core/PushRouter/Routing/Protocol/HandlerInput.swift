public import PushModel

/// The input of a handler: one JSON object, and the same facts as environment variables.
public enum HandlerInput {
    /// Returns the line that cancels another line.
    public static func cancellation(of id: Int64) -> [UInt8] {
        var writer = JSONWriter(reserving: 32)
        writer.object { $0.member("cancel", id) }
        return writer.line()
    }

    /// Returns the object for standard input or as a line, with a line feed.
    ///
    /// - Parameters:
    ///   - run: the run.
    ///   - id: the id that the answer must repeat; `nil` for a program whose exit ends the answer.
    ///   - now: the time of the start, from which the remaining time counts.
    public static func object(_ run: HandlerRun, id: Int64? = nil, at now: Moment) -> [UInt8] {
        var writer = JSONWriter(reserving: run.request.body.count + 512)
        writer.object { writer in
            if let id { writer.member("id", id) }
            // The line may wait before a bridge reads it, and "remaining_ms" counts from now.
            if run.handler.kind.isBridge { writer.member("deadline_ns", run.deadline.nanoseconds) }
            writer.member(
                "delivery",
                object: { delivery in
                    delivery.member("seq", run.request.seq.value)
                    delivery.member("n", run.invocation.id.n)
                    delivery.member("id", run.request.id)
                    delivery.member("attempt", run.attempt)
                    if let epoch = run.epoch { delivery.member("epoch", epoch) }
                    if let replayOf = run.request.replayOf { delivery.member("replay_of", replayOf.value) }
                    delivery.member("op", run.request.operation.rawValue)
                    delivery.member("callback", run.invocation.callback.rawValue)
                    delivery.member("platform", run.request.platform.rawValue)
                    delivery.member("app", run.request.app)
                    delivery.member("device", run.request.device)
                    delivery.member("lane", run.lane)
                    delivery.member("external_id", run.request.externalID)
                    delivery.member("message_id", run.request.messageID)
                    delivery.member("provider", run.invocation.provider)
                    delivery.member("route", run.invocation.route)
                    delivery.member("handler", run.invocation.handler)
                    delivery.member("accepted_at", run.request.acceptedAt.wall.rfc3339)
                })
            run.subject.write(to: &writer)
            if let payload = run.subject.payload {
                writer.member("payload", raw: payload.rawBytes)
            } else {
                writer.key("payload")
                writer.null()
            }
            writer.member(
                "deadline",
                object: { deadline in
                    deadline.member("remaining_ms", run.remaining(at: now).milliseconds)
                    deadline.member("at", run.deadlineWall(at: now).rfc3339)
                })
        }
        return writer.line()
    }

    /// Returns the facts as environment variables; the code that starts the process adds the mark `PUSH_RUN`.
    public static func environment(_ run: HandlerRun, at now: Moment) -> [(name: String, value: String)] {
        var variables = [
            ("PUSH_SEQ", String(run.request.seq.value)),
            ("PUSH_N", String(run.invocation.id.n)),
            ("PUSH_ATTEMPT", String(run.attempt)),
            ("PUSH_OP", run.request.operation.rawValue),
            ("PUSH_CALLBACK", run.invocation.callback.rawValue),
            ("PUSH_PLATFORM", run.request.platform.rawValue),
            ("PUSH_HANDLER", run.handler.name),
            ("PUSH_ACCEPTED_AT", run.request.acceptedAt.wall.rfc3339),
            ("PUSH_DEADLINE_REMAINING_MS", String(run.remaining(at: now).milliseconds)),
            ("PUSH_DEADLINE_AT", run.deadlineWall(at: now).rfc3339),
        ]
        let optional = [
            ("PUSH_ID", run.request.id), ("PUSH_APP", run.request.app), ("PUSH_DEVICE", run.request.device),
            ("PUSH_LANE", run.lane), ("PUSH_EXTERNAL_ID", run.request.externalID),
            ("PUSH_MESSAGE_ID", run.request.messageID), ("PUSH_PROVIDER", run.invocation.provider),
            ("PUSH_ROUTE", run.invocation.route), ("PUSH_REPLAY_OF", run.request.replayOf.map { String($0.value) }),
            ("PUSH_KIND", run.subject.kind), ("PUSH_ACTION", run.subject.button),
            ("PUSH_EPOCH", run.epoch.map(String.init)),
        ]
        // The object on standard input has every value complete. A variable is complete or omitted: a NUL would
        // truncate the value, perhaps to another person's name, and the kernel would refuse to exec with a value that
        // is too long.
        for case (let name, let value?) in optional where value.utf8.count <= longestValue && !value.utf8.contains(0) {
            variables.append((name, value))
        }
        return variables
    }

    /// Half of Linux's limit for one variable (`MAX_ARG_STRLEN`).
    private static let longestValue = 65_536

    /// Returns the mark of one run: `<owner>:<seq>:<n>`.
    public static func mark(_ id: InvocationID, owner: String) -> String { "\(owner):\(id.seq):\(id.n)" }
}

extension HandlerRun {
    fileprivate func remaining(at now: Moment) -> Duration { max(deadline - now.monotonic, .zero) }

    /// The name of the invocation's lane: equal for two runs only if one waits for the other. `nil` for an observer's
    /// copy.
    fileprivate var lane: String? {
        guard !invocation.isObserver, let lane = request.lane else { return nil }
        var app = lane.app ?? ""
        if app.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "%") }) {
            app = app.map { $0 == "/" ? "%2F" : $0 == "%" ? "%25" : String($0) }.joined()
        }
        return "\(app)/\(lane.device)"
    }

    fileprivate func deadlineWall(at now: Moment) -> WallTime {
        WallTime(milliseconds: now.wall.milliseconds + remaining(at: now).milliseconds)
    }
}

/// The handler's facts about a request that is no delivery: the person's act, or the token.
extension InvocationSubject {
    /// The kind of the interaction or of the token request; `nil` for a delivery.
    var kind: String? {
        switch action {
        case .interact(let interact): interact.kind.rawValue
        case .token(let token): token.kind.rawValue
        case .deliver, .session, .log, .topic, .publish, .device, nil: nil
        }
    }

    /// The id of the pressed button; `nil` for other acts.
    var button: String? {
        if case .interact(let interact) = action { interact.action } else { nil }
    }

    /// Writes the member of the object on standard input. The typed text and the token are only there, because other
    /// processes may read a program's environment.
    func write(to writer: inout JSONWriter) {
        switch action {
        case .interact(let interact):
            writer.member(
                "interaction",
                object: {
                    $0.member("kind", interact.kind.rawValue)
                    $0.member("action", interact.action)
                    $0.member("text", interact.text)
                })
        case .token(let token):
            writer.member(
                "token",
                object: {
                    $0.member("kind", token.kind.rawValue)
                    $0.member("token", token.token)
                })
        case .deliver, .session, .log, .topic, .publish, .device, nil: break
        }
    }
}

// Facts about platforms that the router needs; the switches make a new platform answer each.
extension Platform {
    /// Whether the push service delivers messages to an app one after the other, on one thread.
    var hasLanes: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether the push service's library remembers message ids in the app's process. The list is lost with the
    /// process, even if a message restarts it.
    var keepsRecentIDs: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether payloads have an id of their own. A plain APNs or web payload has none, and the request's id replaces
    /// it.
    var hasMessageIDs: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether the notification's category decides whether the app receives dismissals.
    var reportsDismissalsByCategory: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether the system itself shows the alert of a payload.
    public var showsAlerts: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether an app may run without an instance of Braze's SDK. On Android the SDK makes one when needed; on the web
    /// the service worker needs none.
    var appMayLackSDK: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether a callback needs an instance of Braze's SDK that the app may lack.
    public func mayLackInstance(for callback: Callback) -> Bool { appMayLackSDK && callback.needsAppInstance }
}
