import PushModel

/// What an answer says of the entries of its request.
struct ResponseContent {
    /// `success`, or what was wrong; cut to a length that fits into a line.
    var message: String?
    /// What it says of the entries of one array.
    var attributes: ArrayReport
    var events: ArrayReport

    var isSuccess: Bool { message == "success" }

    /// Whether it names entries that are wrong.
    var blamesEntries: Bool { !attributes.errors.isEmpty || !events.errors.isEmpty }

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

        /// What became of them, in a refusal of the whole request: what it blames is set aside.
        var refused: [Verdict.Fate] { (0..<count).map { index in errors[index].map { .rejected($0) } ?? .queued } }
    }

    /// - Parameters:
    ///   - report: what the body says.
    ///   - attributes: how many the request had.
    ///   - events: how many the request had.
    init(_ report: EndpointReport, attributes: Int, events: Int) {
        message = report.message.map(shortened)
        self.attributes = ArrayReport(count: attributes, processed: report.attributesProcessed)
        self.events = ArrayReport(count: events, processed: report.eventsProcessed)
        for problem in report.errors { note(problem) }
    }

    private mutating func note(_ problem: EndpointReport.Problem) {
        let text = shortened(problem.text)
        let index = problem.index.map { Int($0) }
        switch (problem.array, index) {
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
