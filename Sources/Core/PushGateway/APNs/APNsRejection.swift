public import PushDispatch
public import PushModel

/// A refusal of a request to APNs, in APNs' words.
public struct APNsRejection: Error, Hashable, Sendable {
    /// The reason in APNs' words, which determines the status.
    public let reason: APNsReason
    /// The time since when the token is invalid; set for a reason that has a timestamp.
    public let timestamp: WallTime?
    /// The value of `retry-after` in seconds; `nil`: the answer has none.
    public let retryAfter: Int64?
    /// A remark for people; the answer does not have it.
    public let remark: String?

    /// Joins the parts.
    ///
    /// - Parameters:
    ///   - reason: the reason in APNs' words.
    ///   - timestamp: the time since when the token is invalid. An answer 410 always has one: a client fails without it
    ///     (apns2-up).
    ///   - retryAfter: the value of `retry-after` in seconds.
    ///   - remark: a remark for people.
    public init(
        _ reason: APNsReason, timestamp: WallTime? = nil, retryAfter: Int64? = nil, remark: String? = nil
    ) {
        self.reason = reason
        self.timestamp = reason.hasTimestamp ? timestamp ?? WallTime(milliseconds: 0) : nil
        self.retryAfter = retryAfter
        self.remark = remark
    }

    /// Returns the answer to a request.
    public func response(to request: GatewayRequest) -> GatewayResponse { response(id: request.header("apns-id")) }

    /// Returns the answer.
    ///
    /// - Parameter id: the request's `apns-id`, byte for byte: aioapns matches answers by it, and waits for ever
    ///   without it.
    public func response(id: String?) -> GatewayResponse {
        var writer = JSONWriter()
        writer.object {
            $0.member("reason", reason.rawValue)
            if let timestamp { $0.member("timestamp", timestamp.milliseconds) }
        }
        return GatewayResponse(
            status: reason.status, headers: id.map { [GatewayRequest.Header("apns-id", $0)] } ?? [], body: writer.bytes
        ).retried(afterSeconds: retryAfter)
    }
}
