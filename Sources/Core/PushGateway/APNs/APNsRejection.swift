public import PushDispatch
public import PushModel

/// A refusal of a request to APNs, in APNs' words.
public struct APNsRejection: Error, Hashable, Sendable {
    /// APNs' reason, which has the status.
    public let reason: APNsReason
    /// The time since which the token is invalid, for a reason with a timestamp.
    public let timestamp: WallTime?
    /// The seconds after which the client may try again; `nil` if the answer does not tell.
    public let retryAfter: Int64?
    /// A remark for people, which the answer does not contain.
    public let remark: String?

    /// Joins the parts.
    ///
    /// - Parameters:
    ///   - reason: APNs' reason.
    ///   - timestamp: the time since which the token is invalid. A 410 always has one, since clients fail without it
    ///     (apns2-up).
    ///   - retryAfter: the seconds after which the client may try again.
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
    /// - Parameter id: `apns-id` of the request, unchanged to the byte: aioapns matches answers by it, and waits
    ///   forever without it.
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
