extension InteractRequest {
    static let keys = Request.keys + Target.keys + [.kind, .message, .payload, .action, .text, .sdk]

    init(_ reader: ObjectReader) throws(ProtocolError) {
        guard let kind = try reader.word(.kind, Kind.self) else {
            throw reader.missing(.kind, ": \(Kind.inWords)")
        }
        let target = try Target(reader)
        let subject = try Self.subject(reader)
        let action = try reader.name(.action)
        guard kind != .action || action != nil else {
            throw reader.missing(.action, ": the id of the button that was pressed")
        }
        for key in [RequestKey.action, .text] where kind != .action && reader[key] != nil {
            throw reader.invalid(key, "only kind action has \(key.word); this is \(kind.rawValue)")
        }
        self.init(
            target: target, kind: kind, subject: subject, action: action, text: try reader.text(.text),
            sdk: try reader.word(.sdk, SDKState.self) ?? .ready)
    }

    private static func subject(_ reader: ObjectReader) throws(ProtocolError) -> Subject {
        switch (reader[.message], reader[.payload]) {
        case (let message?, nil): return try subject(message, reader)
        case (nil, .some): return .payload(try reader.object(.payload))
        case (nil, nil):
            throw ProtocolError(
                .missingKey, field: RequestKey.message.word,
                message: "give message or payload to name the notification")
        case (.some, .some):
            throw reader.invalid(.payload, "give message or payload, not both")
        }
    }

    private static func subject(_ message: JSONView, _ reader: ObjectReader) throws(ProtocolError) -> Subject {
        switch message.kind {
        case .number:
            guard let seq = message.int64, seq > 0 else {
                throw reader.invalid(.message, "message as a number is a seq: a whole number above 0")
            }
            return .delivery(SequenceNumber(seq))
        case .string:
            guard let text = try reader.name(.message) else { preconditionFailure("a member vanished") }
            return .message(text)
        default:
            throw reader.wrongType(.message, message, wanted: "a seq (a number) or a message id (a string)")
        }
    }
}
