import PushModel

/// What the body of an answer says.
struct ResponseContent {
    /// `success`, or what was wrong; cut to a length that fits into a line.
    var message: String?
    /// What it says of the entries of one array.
    var attributes: ArrayReport
    var events: ArrayReport

    var isSuccess: Bool { message == "success" }

    /// What an answer says of one array of the request.
    struct ArrayReport {
        /// How many elements it had.
        var count: Int
        /// What is wrong with which of them.
        var errors: [Int: String] = [:]
        /// How many the endpoint says that it took in.
        var processed: Int64?
        /// An error that names no entry.
        var stray: String?

        /// What became of them, in a success. An error that names none of them may be about any: if the endpoint counts all
        /// others as taken in it is about none, else nobody knows which.
        var accepted: [Verdict.Fate] {
            let rest: Verdict.Fate =
                if let stray, processed != Int64(count - errors.count) {
                    .unknown("the answer has an error that names no entry: \(stray)")
                } else {
                    .sent
                }
            return (0..<count).map { index in errors[index].map { .rejected($0) } ?? rest }
        }
    }

    /// - Returns: `nil` for a body that is not a JSON object.
    init?(_ body: [UInt8], attributes: Int, events: Int) {
        guard let document = try? JSONDocument(scanning: body), document.root.kind == .object else { return nil }
        let root = document.root
        message = root["message"]?.string.map(shortened)
        self.attributes = ArrayReport(count: attributes, processed: root["attributes_processed"]?.int64)
        self.events = ArrayReport(count: events, processed: root["events_processed"]?.int64)
        for error in root["errors"]?.elements ?? [] { note(error) }
    }

    private mutating func note(_ error: JSONNode) {
        let text = shortened(error["type"]?.string ?? error.string ?? String(decoding: error.rawBytes, as: UTF8.self))
        let index = error["index"]?.int64.map(Int.init)
        switch (error["input_array"]?.string, index) {
        case ("attributes", let index?) where 0..<attributes.count ~= index: attributes.errors[index] = text
        case ("events", let index?) where 0..<events.count ~= index: events.errors[index] = text
        case ("attributes", _): attributes.stray = text
        case ("events", _): events.stray = text
        default:
            attributes.stray = text
            events.stray = text
        }
    }
}

/// One line of a text from outside, for the ledger and the journal.
private func shortened(_ text: String) -> String {
    guard !text.isEmpty else { return "an error without a text" }
    let limit = 300
    let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || scalar.value == 0x7F }
    let line = String(text.unicodeScalars.prefix(limit).map { isControl($0) ? " " : Character($0) })
    return text.unicodeScalars.count > limit ? line + "..." : line
}
