import PushModel
import PushSettings

extension Command {
    static let open = Command(
        name: "open", summary: "send a tap on a notification",
        description: [
            """
            Tells the daemon that the user opened a notification by its body. MESSAGE is the number (seq) that "inject" \
            printed, or the payload's own message id if it is not all digits. With a message id the latest delivery to \
            the device counts. Where the platform hands the payload back, --payload names it instead.
            """,
            """
            A number or message id is looked up among the deliveries of Braze that the tracker remembers. A tap on \
            another provider's notification is routed to a handler on iOS and the web; say which with --platform, as \
            nothing else does unless the device is known. On Android no push callback runs for it: swallowed.
            """,
            """
            The exit status says whether the request was accepted: with --wait too it is 0 whatever the outcome is.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [.payload, .platform, .app, .device, .externalID, .at, .id, .wait, .json],
        examples: [
            Example(line: "pushctl open 41", meaning: "a tap on the delivery with the number 41"),
            Example(
                line: "pushctl open --device pixel-1 --wait 0:1700000000%31bd1c96",
                meaning: "a tap on the message with this id, and what became of it"),
        ]
    ) { arguments, session throws(Failure) in
        let line = try OpenRequest(arguments).line
        let connection = try DaemonConnection(session.directories.injectSocket)
        var exchange = Exchange(connection, arguments, output: session.output)
        try exchange.send(line, from: "open")
        try exchange.finish()
        return exchange.refused > 0 ? .no : .done
    }
}

/// The request that a tap is.
private struct OpenRequest {
    let line: [UInt8]

    init(_ arguments: Arguments) throws(Failure) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("op", Operation.interact.rawValue)
        writer.member("kind", InteractRequest.Kind.opened.rawValue)
        if let at = arguments[.at] { try Self.write(at: at, to: &writer, arguments) }
        switch (arguments.operands.first, arguments[.payload]) {
        case (let message?, nil):
            if let seq = Self.number(message) {
                writer.member("message", seq)
            } else {
                writer.member("message", message)
            }
        case (nil, let file?): writer.member("payload", raw: try Self.payload(in: file).rawBytes)
        default: throw arguments.usageFailure("MESSAGE or --payload FILE says which notification: give one of them")
        }
        writer.endObject()
        let document: JSONDocument
        do { document = try JSONDocument(scanning: writer.bytes, limits: JSONLimits(depth: .max)) } catch {
            preconditionFailure("what was written is JSON: \(error.message)")
        }
        line = RequestTemplate(arguments).line(for: document.root, isAPNs: false)
    }

    private static func write(at: String, to writer: inout JSONWriter, _ arguments: Arguments) throws(Failure) {
        if let milliseconds = number(at) {
            writer.member("at", milliseconds)
        } else if WallTime(rfc3339: at) != nil {
            writer.member("at", at)
        } else {
            throw arguments.usageFailure(
                "--at \(at): a time is written as 2026-11-21T09:00:00Z, or as Unix milliseconds")
        }
    }

    private static func payload(in operand: String) throws(Failure) -> JSONNode {
        let file = try InputFile(operand)
        var payloads = PayloadReader(file)
        guard let record = try payloads.next() else { preconditionFailure("the reader throws when there is none") }
        return record.document.root
    }

    /// The value of digits; `nil` for anything else.
    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
    }
}
