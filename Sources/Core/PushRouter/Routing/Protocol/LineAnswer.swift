public import PushModel

/// One line of a `worker` or `socket` handler: the answer to the line with the same id.
struct LineAnswer: Hashable, Sendable {
    /// The id of the answered line.
    public let id: Int64
    /// The answer.
    public let answer: HandlerAnswer
    /// The status code of the HTTP response behind the answer; `nil`: none.
    let httpStatus: Int?

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - line: the line without its line feed.
    ///   - only: the id of the only unanswered line; if given, the answer may omit its id.
    ///   - earlier: the lines before it in the same run.
    ///   - mayRequest: whether a line with `op` is a request.
    /// - Throws: `LineFault` if the line answers nothing: it is no JSON object, has no id, or is a request.
    init(
        _ line: [UInt8], toOnly only: Int64? = nil, after earlier: RunLines = RunLines(), mayRequest: Bool = false
    ) throws(LineFault) {
        guard let root = try? JSONDocument(scanning: line).root, root.kind == .object else { throw .notAnObject }
        if mayRequest, root["op"] != nil { throw .isRequest }
        let isLeftOut = root["id"] == nil
        guard let id = isLeftOut ? only : root["id"]?.int64 else { throw .noID }
        self.id = id
        answer = HandlerAnswer(line: root, after: earlier)
        httpStatus = root["http_status"]?.int64.flatMap { 100...599 ~= $0 ? Int($0) : nil }
    }
}

/// The lines of a run on a single-use connection before the line with a status. The systemd unit that saw the program
/// end may write that last line, so these lines are part of the answer.
struct RunLines: Hashable, Sendable {
    /// The most bytes that it keeps.
    private static let keptMax = 64 << 10

    private var bytes: [UInt8] = []
    private var discarded = 0
    private var count = 0

    /// No lines.
    init() {}

    /// Appends a line without a status.
    ///
    /// - Returns: whether the line has no status; if it has one, it is the answer and is not appended.
    mutating func take(_ line: [UInt8]) -> Bool {
        guard (try? JSONDocument(scanning: line).root["status"]) == nil else { return false }
        count += 1
        if bytes.count + line.count < Self.keptMax {
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
        } else {
            discarded += line.count + 1
        }
        return true
    }

    /// The content of the answers in these lines, without a status.
    var answer: HandlerAnswer.Content? {
        bytes.isEmpty ? nil : HandlerAnswer.Content(standardOutput: bytes, discarded: discarded)
    }

    /// The end of a sentence that explains why the lines are no answer; empty if there are none. It does not quote them:
    /// they may have parts of the payload.
    var objection: String {
        guard count > 0 else { return "" }
        let words = HandlerAnswer.Status.allCases.map(\.rawValue).joined(separator: ", ")
        return "; it wrote \(counted(count, "line")) without a status, which is one of \(words)"
    }
}

/// The reason why a line answers nothing.
public enum LineFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is not a JSON object.
    case notAnObject
    /// It has no id, or an id that is not an integer.
    case noID
    /// It is a request as on `inject.sock`, from a program that may send requests.
    case isRequest

    /// The fault without the line, which may contain parts of a payload.
    public var description: String {
        switch self {
        case .notAnObject: "a line that is not a JSON object"
        case .noID: "a line without the \"id\" that it answers"
        case .isRequest: "a request"
        }
    }
}

extension HandlerAnswer {
    /// Takes the answer in a line. The line must have a status, because there is no exit status.
    fileprivate init(line: JSONNode, after earlier: RunLines) {
        var content = Content(answer: line)
        if let said = earlier.answer { content.follow(said) }
        if content.status == .handled, let reason = exchange(&content.reason, with: nil) {
            content.remarks.append(reason)
        }
        switch content.status {
        case .handled: self = .handled(content)
        case .retry: self = .retry(after: Self.retryDelay(of: line), reason: content.reason)
        case .declined: self = .declined
        case .rejected: self = .rejected(reason: content.reason ?? "the answer says \"rejected\"")
        case nil:
            let words = Status.allCases.map(\.rawValue).joined(separator: ", ")
            let fault = content.remarks.first { $0.hasPrefix("status: ") }
            self = .rejected(reason: "the answer has a fault: \(fault ?? "no status, one of \(words)")")
        }
    }

    /// Returns `retry_after_ms` if it is a valid duration; `nil` asks for the configured delay.
    private static func retryDelay(of line: JSONNode) -> Duration? {
        guard let milliseconds = line["retry_after_ms"]?.int64, 0...86_400_000 ~= milliseconds else { return nil }
        return .milliseconds(milliseconds)
    }
}

extension Reply {
    /// The reply to a request that is on disk.
    ///
    /// - Parameters:
    ///   - outcomes: the number of outcome lines that follow; `nil` for a client that does not wait for them.
    ///   - members: the number of devices that a publish reaches.
    ///   - results: the result of each token of `op: topic`.
    ///   - rejected: its rejected entries.
    public static func accepted(
        _ seq: SequenceNumber, id: String?, outcomes: Int? = nil, members: Int? = nil,
        results: [TopicRequest.Result]? = nil, rejected: [Rejection] = []
    ) -> [UInt8] {
        line { writer in
            writer.member("ok", true)
            writer.member("seq", seq.value)
            if let id { writer.member("id", id) }
            if let outcomes { writer.member("outcomes", outcomes) }
            if let members { writer.member("members", members) }
            if let results { writer.member("results", array: { list in results.forEach { list.string($0.rawValue) } }) }
            guard !rejected.isEmpty else { return }
            writer.member("rejected", array: { list in rejected.forEach { list.rejection($0) } })
        }
    }
}

extension JSONWriter {
    fileprivate mutating func rejection(_ rejection: Rejection) {
        object {
            $0.member("entry", rejection.number.value)
            $0.member("field", rejection.problem.field)
            $0.member("reason_code", rejection.problem.code.rawValue)
            $0.member("message", rejection.problem.message)
        }
    }
}

extension ProtocolError {
    /// The error for a client whose request the router does not accept.
    public init(_ refusal: Refusal, id: String?) {
        switch refusal {
        case .invalidValue(let field, let message):
            self.init(.invalidValue, field: field, message: message, id: id)
        case .invalidPayload(let field, let message):
            self.init(.invalidPayload, field: field, message: message, id: id)
        case .unknownNumber(let number, let last):
            let highest = last.value == 0 ? "there is no request yet" : "the last request is \(last)"
            self.init(
                .invalidValue, field: "message",
                message: "no delivery has the number \(number): \(highest); write a message id as a string", id: id)
        case .overloaded(let message, let retryAfter):
            self.init(.overloaded, message: message, retryAfter: retryAfter, id: id)
        case .tooLong(let message): self.init(.tooLong, message: message, id: id)
        case .notReplayable(let reason): self.init(.invalidValue, message: reason, id: id)
        case .draining:
            self.init(.unavailable, message: "the daemon is stopping; send the request again after its restart", id: id)
        }
    }
}
