public import PushModel

/// A line of `inject.sock` that brings one payload to one device.
public struct DeliverLine: Sendable {
    /// The payload, and whom it reaches.
    public let deliver: DeliverRequest
    /// The sender; `nil`: the line says none.
    public var sender: PushSender?

    /// Joins the parts.
    public init(_ deliver: DeliverRequest, sender: PushSender? = nil) {
        self.deliver = deliver
        self.sender = sender
    }

    /// The same, for a device of which something was said.
    func found(_ state: DeviceState) -> DeliverLine {
        DeliverLine(deliver.found(by: deliver.target, state), sender: sender)
    }

    /// The line, with its line feed.
    public var bytes: [UInt8] {
        var writer = JSONWriter(reserving: deliver.payload.rawBytes.count + 512)
        writer.object { writer in
            writer.members(of: deliver)
            if let sender { writer.member(sender) }
        }
        return writer.line()
    }
}

extension GatewayRequest.Header {
    /// Headers as the object that a line has; `nil` for none.
    static func object(_ headers: [Self]) -> JSONNode? {
        guard !headers.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { writer in headers.forEach { writer.member($0.name, $0.value) } }
        // A writer's own JSON is always read.
        return try? JSONDocument(scanning: writer.bytes).root
    }
}
