import PushModel

/// What a handler learns of a request that is no delivery: what the person did, or which token there is now.
extension InvocationSubject {
    /// What was done or happened; `nil` for a delivery.
    var kind: String? {
        switch action {
        case .interact(let interact): interact.kind.rawValue
        case .token(let token): token.kind.rawValue
        case .deliver, .session, .log, .topic, .publish, .device, nil: nil
        }
    }

    /// The id of the button; `nil` unless one was pressed.
    var button: String? {
        if case .interact(let interact) = action { interact.action } else { nil }
    }

    /// Writes the member of the object on standard input. What was typed, and the token, stand only there: others may read
    /// a program's environment.
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
