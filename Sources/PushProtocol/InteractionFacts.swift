import PushModel

/// What a handler learns of a request that is no delivery: what the person did, or which token there is now.
///
/// Read from the request as it came, which is on disk, so that it is the same after a restart.
struct InteractionFacts {
    /// What was done or happened.
    let kind: String
    /// The id of the button; `nil` unless one was pressed.
    let action: String?
    private let operation: PushModel.Operation
    private let body: JSONNode

    /// `nil` for a delivery.
    init?(_ request: AcceptedRequest) {
        guard request.operation != .deliver,
            let document = try? JSONDocument(scanning: request.body, limits: JSONLimits(depth: .max))
        else { return nil }
        operation = request.operation
        body = document.root
        // The one kind that may be left out.
        kind = body["kind"]?.string ?? TokenRequest.Kind.new.rawValue
        action = body["action"]?.string
    }

    /// Writes the member of the object on standard input. What was typed, and the token, stand only there: others may read
    /// a program's environment.
    func write(to writer: inout JSONWriter) {
        if operation == .token {
            writer.member(
                "token",
                object: {
                    $0.member("kind", kind)
                    $0.member("token", body["token"]?.string)
                })
        } else {
            writer.member(
                "interaction",
                object: {
                    $0.member("kind", kind)
                    $0.member("action", action)
                    $0.member("text", body["text"]?.string)
                })
        }
    }
}
