public import PushModel

extension ProtocolError {
    /// The error for a client whose request the router does not accept.
    public init(_ refusal: Refusal, id: String?) {
        switch refusal {
        case .invalidValue(let field, let message):
            self.init(.invalidValue, field: field, message: message, id: id)
        case .invalidPayload(let field, let message):
            self.init(.invalidPayload, field: field, message: message, id: id)
        case .unknownNumber(let number, let last):
            let highest = last.value == 0 ? "there is no request yet" : "the last request is \(last)"
            self.init(
                .invalidValue, field: "message",
                message: "no delivery has the number \(number): \(highest); write a message id as a string", id: id)
        case .overloaded(let message, let retryAfter):
            self.init(.overloaded, message: message, retryAfter: retryAfter, id: id)
        case .tooLong(let message): self.init(.tooLong, message: message, id: id)
        case .notReplayable(let reason): self.init(.invalidValue, message: reason, id: id)
        case .draining:
            self.init(.unavailable, message: "the daemon is stopping; send the request again after its restart", id: id)
        }
    }
}
