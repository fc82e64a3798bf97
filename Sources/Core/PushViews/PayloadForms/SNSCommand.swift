import PushModel

/// A command of Amazon's command line that publishes a message: `aws sns publish --message '{"APNS":"..."}'`.
struct SNSCommand {
    private var message: [UInt8]?

    init(_ words: [[UInt8]]) {
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            if word.elementsEqual("--message".utf8) {
                message = rest.popFirst()
            } else if word.starts(with: "--message=".utf8) {
                message = Array(word.dropFirst(10))
            }
        }
    }

    func payload() throws(PayloadFormError) -> WrittenPayload {
        guard let message else { throw PayloadFormError("the command has no message, which --message gives") }
        guard !message.starts(with: "file://".utf8) else {
            let name = String(decoding: message.dropFirst(7), as: UTF8.self)
            throw PayloadFormError("the message of the command is the file \(name): give that file")
        }
        guard (try? JSONDocument(scanning: message, limits: JSONLimits(depth: .max)))?.root.kind == .object else {
            throw PayloadFormError(
                """
                the message of the command is no JSON object: with --message-structure json it has a member for each \
                service, whose value is the payload as a text in JSON
                """)
        }
        return WrittenPayload(json: message)
    }
}
