import HTTPBridge
import LinuxSystem
import PushModel
import PushRouting

extension Trial.Attempt {
    /// What an `http` handler's endpoint gets, without what is added as it leaves; `nil` for other handlers.
    func request(to handler: Handler) -> HTTPRequest? {
        guard let endpoint = handler.kind.endpoint,
            case .post(let invocation)? = try? HTTPLine(input.dropLast(), at: began ?? Instant(nanoseconds: 0))
        else { return nil }
        return invocation.request(to: endpoint, source: HTTPInvocation.source(ofHost: HostName.current))
    }
}

extension HTTPEndpoint {
    /// The headers that `pushrouter-http` adds as a request leaves, beside those of HTTP itself.
    var addedHeaders: [String] {
        [HTTPInvocation.budgetHeader]
            + (secretFile == nil ? [] : ["webhook-id", "webhook-timestamp", "webhook-signature"])
            + (bearerFile == nil ? [] : ["Authorization"])
    }
}
