public import PushModel

extension ProtocolError {
    /// What a client is told when the router does not accept its request.
    public init(_ refusal: Refusal, id: String?) {
        switch refusal {
        case .invalidPayload(let field, let message):
            self.init(.invalidPayload, field: field, message: message, id: id)
        case .overloaded(let message, let retryAfter):
            self.init(.overloaded, message: message, retryAfter: retryAfter, id: id)
        case .draining:
            self.init(.unavailable, message: "the daemon is stopping; send this again when it is back", id: id)
        }
    }
}
