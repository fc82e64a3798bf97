import PushModel

/// The facts for a handler about a request other than a delivery: the person's act, or the token.
extension InvocationSubject {
    /// The kind of the act or of the token's change; `nil` for a delivery.
    var kind: String? {
        switch action {
        case .interact(let interact): interact.kind.rawValue
        case .token(let token): token.kind.rawValue
        case .deliver, .session, .log, .topic, .publish, .device, nil: nil
        }
    }

    /// The id of the pressed button; `nil`: none was pressed.
    var button: String? {
        if case .interact(let interact) = action { interact.action } else { nil }
    }

    /// Writes the member of the object on standard input. Only this object has the typed text and the token: other
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
