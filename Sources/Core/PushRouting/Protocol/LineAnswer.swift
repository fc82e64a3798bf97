import PushModel

/// A line of a handler that answers by lines: the answer to the line with the same id.
public struct LineAnswer: Hashable, Sendable {
    /// The id of the line that it answers.
    public let id: Int64
    /// The answer.
    public let answer: HandlerAnswer
    /// The status of the HTTP answer behind it; `nil`: there is none.
    public let httpStatus: Int?

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: the line without its line feed.
    ///   - only: the id of the only line that it can answer; the answer then needs no id.
    ///   - earlier: the earlier lines of the same run.
    ///   - mayRequest: whether a line with `op` is a request.
    /// - Throws: the reason why it is no answer: it is no JSON object, has no id, or is a request.
    public init(
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

/// The lines of a run on its own connection before the line with a status. The status may come from the service
/// manager's unit, which saw the program end, so these lines belong to the answer.
public struct RunLines: Hashable, Sendable {
    /// The limit of stored bytes.
    private static let keptMax = 64 << 10

    private var bytes: [UInt8] = []
    private var discarded = 0

    /// Creates a run without lines.
    public init() {}

    /// Stores a line if it has no status.
    ///
    /// - Returns: whether it stored the line; if not, the line is the answer.
    mutating func take(_ line: [UInt8]) -> Bool {
        guard (try? JSONDocument(scanning: line).root["status"]) == nil else { return false }
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

    /// The lines that are no answers, for people.
    var chatter: String? { HandlerAnswer.Content.chatter(in: bytes, isCut: discarded > 0) }

    /// The reason why the lines are no answer, as the end of a sentence; empty without lines.
    var objection: String {
        guard let text = excerpt(of: bytes, isCut: discarded > 0) else { return "" }
        let words = HandlerAnswer.Status.allCases.map(\.rawValue).joined(separator: ", ")
        let fault = answer == nil ? "" : ", which has no status, one of \(words)"
        return "; it wrote \(text)\(fault)"
    }
}

/// The reason why a line answers no invocation.
public enum LineFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line is no JSON object.
    case notAnObject
    /// The line has no id, or an id that is no whole number.
    case noID
    /// The line is a request as on `inject.sock`, of a program that may send requests.
    case isRequest

    /// The fault, without the line, which may hold data of payloads.
    public var description: String {
        switch self {
        case .notAnObject: "a line that is not a JSON object"
        case .noID: "a line without the \"id\" that it answers"
        case .isRequest: "a request"
        }
    }
}

extension HandlerAnswer {
    /// Reads an answer by line. It must have a status: there is no exit status.
    fileprivate init(line: JSONNode, after earlier: RunLines) {
        var content = Content(answer: line)
        if let said = earlier.answer { content.follow(said) }
        if content.status == .handled, let reason = exchange(&content.reason, with: nil) {
            content.remarks.append(reason)
        }
        // The reason of a failure includes the earlier lines of its program.
        let reason = [content.reason, earlier.chatter].compactMap(\.self).joined(separator: ": ")
        switch content.status {
        case .handled: self = .handled(content)
        case .retry: self = .retry(after: Self.retryDelay(of: line), reason: reason.isEmpty ? nil : reason)
        case .declined: self = .declined
        case .rejected: self = .rejected(reason: reason.isEmpty ? "its answer says \"rejected\"" : reason)
        case nil:
            let words = Status.allCases.map(\.rawValue).joined(separator: ", ")
            let fault = content.remarks.first { $0.hasPrefix("status: ") }
            self = .rejected(reason: "its answer is not understood: \(fault ?? "it has no status, one of \(words)")")
        }
    }

    /// Returns `retry_after_ms` if it is a valid time; any other value stands for the configured delay.
    private static func retryDelay(of line: JSONNode) -> Duration? {
        guard let milliseconds = line["retry_after_ms"]?.int64, 0...86_400_000 ~= milliseconds else { return nil }
        return .milliseconds(milliseconds)
    }
}
