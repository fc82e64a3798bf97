import LinuxSystem
import PushModel
import PushRouter
import PushSettings

extension Trial.Attempt {
    /// The request to an `http` handler's endpoint, without ``HTTPEndpoint/addedHeaders``; `nil` for other handlers.
    func request(to handler: Handler) -> HTTPRequest? {
        guard let endpoint = handler.kind.endpoint,
            case .post(let invocation)? = try? HTTPLine(input.dropLast(), at: began ?? Instant(nanoseconds: 0))
        else { return nil }
        return invocation.request(to: endpoint, source: HTTPInvocation.source(ofHost: HostName.current))
    }
}

extension HTTPEndpoint {
    /// The headers that `pushrouter-http` adds when it sends a request, besides HTTP's own.
    var addedHeaders: [String] {
        [HTTPInvocation.budgetHeader]
            + (secretFile == nil ? [] : ["webhook-id", "webhook-timestamp", "webhook-signature"])
            + (bearerFile == nil ? [] : ["Authorization"])
    }
}
