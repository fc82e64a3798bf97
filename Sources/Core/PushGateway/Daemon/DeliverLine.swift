public import PushModel

/// A line of `inject.sock` that brings one payload to one device.
///
/// The keys `message_id` and `headers` are of the gateway's requests alone; a daemon that does not take them yet refuses the
/// line.
public struct DeliverLine: Sendable {
    /// The key of the id that the sender is told, and that the device sees.
    public static let messageIDKey = "message_id"
    /// The key of the headers of a request to APNs.
    public static let headersKey = "headers"

    /// The payload, and whom it reaches.
    public let deliver: DeliverRequest
    /// The id that the sender is told; `nil`: the push service has none.
    public let messageID: String?
    /// The headers of a request to APNs that say what becomes of it, in the order of their names.
    public let headers: [GatewayRequest.Header]

    /// Joins the parts.
    public init(_ deliver: DeliverRequest, messageID: String? = nil, headers: [GatewayRequest.Header] = []) {
        self.deliver = deliver
        self.messageID = messageID
        self.headers = headers
    }

    /// The line, with its line feed.
    public var bytes: [UInt8] {
        var writer = JSONWriter(reserving: deliver.payload.rawBytes.count + 512)
        writer.object { writer in
            if let messageID { writer.member(Self.messageIDKey, messageID) }
            if !headers.isEmpty {
                writer.member(
                    Self.headersKey, object: { object in headers.forEach { object.member($0.name, $0.value) } })
            }
            writer.members(of: deliver)
        }
        return writer.line()
    }
}
