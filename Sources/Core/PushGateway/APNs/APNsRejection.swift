public import PushDispatch
public import PushModel

/// A refusal of a request to APNs, in APNs' words.
public struct APNsRejection: Error, Hashable, Sendable {
    /// APNs' word for it, which has the status.
    public let reason: APNsReason
    /// Since when the token is not valid, with a reason that says so.
    public let timestamp: WallTime?
    /// When to come again, in seconds; `nil`: the answer does not say.
    public let retryAfter: Int64?
    /// More on it, for people; the answer does not say it.
    public let remark: String?

    /// Joins the parts.
    ///
    /// - Parameters:
    ///   - reason: APNs' word.
    ///   - timestamp: since when the token is not valid. With 410 there is always one, as clients fail without (apns2-up).
    ///   - retryAfter: when to come again, in seconds.
    ///   - remark: more on it, for people.
    public init(
        _ reason: APNsReason, timestamp: WallTime? = nil, retryAfter: Int64? = nil, remark: String? = nil
    ) {
        self.reason = reason
        self.timestamp = reason.hasTimestamp ? timestamp ?? WallTime(milliseconds: 0) : nil
        self.retryAfter = retryAfter
        self.remark = remark
    }

    /// The answer to a request.
    public func response(to request: GatewayRequest) -> GatewayResponse { response(id: request.header("apns-id")) }

    /// The answer.
    ///
    /// - Parameter id: `apns-id` as the request had it, to the byte: by it aioapns finds whose answer this is, and waits for
    ///   ever without.
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
