import PushModel

/// A line of `inject.sock` that delivers one payload to one device.
struct DeliverLine: Sendable {
    /// The payload, and its target.
    let deliver: DeliverRequest
    /// The sender; `nil` leaves it out of the line.
    public var sender: PushSender?

    /// Joins the parts.
    init(_ deliver: DeliverRequest, sender: PushSender? = nil) {
        self.deliver = deliver
        self.sender = sender
    }

    /// The same line for a device with a given state.
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
    /// The headers as the object of a line; `nil` if there are none.
    static func object(_ headers: [Self]) -> JSONNode? {
        guard !headers.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { writer in headers.forEach { writer.member($0.name, $0.value) } }
        // The writer's JSON is always valid.
        return try? JSONDocument(scanning: writer.bytes).root
    }
}
