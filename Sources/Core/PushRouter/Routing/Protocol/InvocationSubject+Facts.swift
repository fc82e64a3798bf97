import PushModel

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
