import PushModel
import PushRouter
import PushSettings

/// The entries of one request to `/users/track`; the program writes it as JSON.
struct RequestContent: Hashable, Sendable {
    /// The elements of the array `attributes`, in order.
    var attributes: [ClaimedEntry] = []
    /// The elements of the array `events`, in order.
    var events: [ClaimedEntry] = []

    /// The most bytes of a body. The provider documents no limit. Its servers and the proxies in between surely accept
    /// 1 MiB, and twenty entries of the maximum size of 50 KB fit in it.
    static let maximumLength = 1 << 20

    /// The length of a body without elements, `{"attributes":[],"events":[]}`, rounded up.
    static let frameLength = 64
}

extension ClaimedEntry {
    /// Whether the entry goes into `events`; other kinds go into `attributes`.
    var isEvent: Bool { kind == .customEvent }

    /// The most bytes that the entry takes in a request: data, escaped texts, member names.
    var lengthInRequest: Int {
        let texts: [String] =
            switch identifier {
            case .externalID(let id), .brazeID(let id): [id]
            case .alias(let name, let label): [name, label]
            }
        return (texts + [name ?? ""]).reduce(data.count + 160) { $0 + escapedLength($1) }
    }
}

/// Returns the length of a text in JSON, without its quotes.
private func escapedLength(_ text: String) -> Int {
    text.utf8.reduce(0) { length, byte in
        length + (byte < 0x20 ? 6 : byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1)
    }
}

/// The contents of an answer, matched to the entries of its request.
struct ResponseContent {
    /// `success`, or an error; cut to a length that fits into a line.
    var message: String?
    /// The report on one array of the request each.
    var attributes: ArrayReport
    var events: ArrayReport

    var isSuccess: Bool { message == "success" }

    /// Whether the answer names faulty entries.
    var blamesEntries: Bool { !attributes.errors.isEmpty || !events.errors.isEmpty }

    /// The report on one array of the request.
    struct ArrayReport {
        /// The number of its elements in the request.
        var count: Int
        /// The error texts by index.
        var errors: [Int: String] = [:]
        /// How many elements the endpoint reports as processed.
        var processed: Int64?
        /// An error that names no entry.
        var stray: String?

        /// The fates of the elements after a success. An error that names no element may concern any. If the endpoint
        /// reports all others as processed it concerns none; otherwise the fate of the others is unknown.
        var accepted: [Verdict.Fate] {
            let rest: Verdict.Fate =
                if let stray, processed != Int64(count - errors.count) {
                    .unknown("the answer has an error that names no entry: \(stray)")
                } else {
                    .sent
                }
            return (0..<count).map { index in errors[index].map { .rejected($0) } ?? rest }
        }

        /// The fates of the elements after a refusal of the whole request: blamed elements are rejected.
        var refused: [Verdict.Fate] { (0..<count).map { index in errors[index].map { .rejected($0) } ?? .queued } }
    }

    /// - Parameters:
    ///   - report: the response body.
    ///   - attributes: the number of attributes in the request.
    ///   - events: the number of events in the request.
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

/// Returns one line of an external text, for the ledger and the journal.
private func shortened(_ text: String) -> String {
    guard !text.isEmpty else { return "an error without a text" }
    let limit = 300
    let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || scalar.value == 0x7F }
    let line = String(text.unicodeScalars.prefix(limit).map { isControl($0) ? " " : Character($0) })
    return text.unicodeScalars.count > limit ? line + "..." : line
}

extension RequestContent {
    /// The JSON of a request to `/users/track`, without empty arrays.
    var body: [UInt8] {
        var body = JSONWriter()
        body.object { body in
            if !attributes.isEmpty {
                body.member("attributes", array: { list in attributes.forEach { $0.append(to: &list) } })
            }
            if !events.isEmpty { body.member("events", array: { list in events.forEach { $0.append(to: &list) } }) }
        }
        return body.bytes
    }
}

extension ClaimedEntry {
    /// Adds the entry's object to its array.
    ///
    /// Without `app_id`: it is Braze's own id of an app, and the entry has the package name or bundle id.
    fileprivate func append(to list: inout JSONWriter) {
        list.object { element in
            identifier.members(of: &element)
            // The daemon has checked the data, up to the depth of its settings.
            guard let data = try? JSONDocument(scanning: data, limits: JSONLimits(depth: .max)).root else { return }
            guard kind == .customEvent else {
                return data.members.forEach { element.member($0.key, raw: $0.value.rawBytes) }
            }
            element.member("name", name)
            element.member("time", time.rfc3339)
            if data.count > 0 { element.member("properties", raw: data.rawBytes) }
        }
    }
}

extension UserIdentifier {
    /// Writes the identifier of an element.
    fileprivate func members(of element: inout JSONWriter) {
        switch self {
        case .externalID(let id): element.member("external_id", id)
        case .brazeID(let id): element.member("braze_id", id)
        case .alias(let name, let label):
            element.member(
                "user_alias",
                object: {
                    $0.member("alias_name", name)
                    $0.member("alias_label", label)
                })
            // With an alias alone Braze would update only existing profiles and drop the rest without an error. An
            // extra profile can be seen and merged; a dropped entry cannot.
            element.member("_update_existing_only", false)
        }
    }
}
