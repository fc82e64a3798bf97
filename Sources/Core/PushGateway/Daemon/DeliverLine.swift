public import PushModel

/// A line of `inject.sock` that delivers one payload to one device.
public struct DeliverLine: Sendable {
    /// The payload and its target.
    public let deliver: DeliverRequest
    /// The sender; `nil`: the line has none.
    public var sender: PushSender?

    /// Joins the parts.
    public init(_ deliver: DeliverRequest, sender: PushSender? = nil) {
        self.deliver = deliver
        self.sender = sender
    }

    /// Returns the line for a device in a state.
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
    /// Returns headers as the object of a line; `nil` if there are none.
    static func object(_ headers: [Self]) -> JSONNode? {
        guard !headers.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { writer in headers.forEach { writer.member($0.name, $0.value) } }
        // The scan of the writer's own JSON always succeeds.
        return try? JSONDocument(scanning: writer.bytes).root
    }
}
