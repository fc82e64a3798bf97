import PushModel

/// One line of a `worker` or `socket` handler: the answer to the line that had the same id.
public struct LineAnswer: Hashable, Sendable {
    /// The id of the line that it answers.
    public let id: Int64
    /// What it says.
    public let answer: HandlerAnswer
    /// The status of the HTTP answer that it stands for; `nil`: there is none.
    public let httpStatus: Int?

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: without its line feed.
    ///   - only: the id of the only line that it can answer; then it needs none.
    ///   - earlier: what was written before it for that line.
    ///   - mayRequest: whether a line with `op` is a request.
    /// - Throws: why it answers nothing: it is no JSON object, has no id, or is a request.
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

/// The lines of a run on a connection of its own, before the one with a status. That one may come from the unit that saw
/// the program end, so these lines belong to the answer.
public struct RunLines: Hashable, Sendable {
    /// How much of it is kept, in bytes.
    private static let keptMax = 64 << 10

    private var bytes: [UInt8] = []
    private var discarded = 0

    /// Nothing was written.
    public init() {}

    /// Takes in a line that is not the answer.
    ///
    /// - Returns: whether the line is one: it has no status of its own.
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

    /// The content of its answers, without a status.
    var answer: HandlerAnswer.Content? {
        bytes.isEmpty ? nil : HandlerAnswer.Content(standardOutput: bytes, discarded: discarded)
    }

    /// The lines that are no answer, for people.
    var chatter: String? { HandlerAnswer.Content.chatter(in: bytes, isCut: discarded > 0) }

    /// Why what was written is no answer, as the end of a sentence; empty where nothing was written.
    var objection: String {
        guard let text = excerpt(of: bytes, isCut: discarded > 0) else { return "" }
        let words = HandlerAnswer.Status.allCases.map(\.rawValue).joined(separator: ", ")
        let fault = answer == nil ? "" : ", which has no status, one of \(words)"
        return "; it wrote \(text)\(fault)"
    }
}

/// Why a line answers nothing.
public enum LineFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no JSON object.
    case notAnObject
    /// It has no id, or one that is no whole number.
    case noID
    /// It is a request as on `inject.sock`, of a program that may send some.
    case isRequest

    /// What is wrong, without the line, which may hold what payloads hold.
    public var description: String {
        switch self {
        case .notAnObject: "a line that is not a JSON object"
        case .noID: "a line without the \"id\" that it answers"
        case .isRequest: "a request"
        }
    }
}

extension HandlerAnswer {
    /// What an answer by line says. It must have a status, since there is no exit status to go by.
    fileprivate init(line: JSONNode, after earlier: RunLines) {
        var content = Content(answer: line)
        if let said = earlier.answer { content.follow(said) }
        if content.status == .handled, let reason = exchange(&content.reason, with: nil) {
            content.remarks.append(reason)
        }
        // A failure's reason is also what its program wrote.
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

    /// `retry_after_ms`, where that is a time; anything else asks for the configured delay.
    private static func retryDelay(of line: JSONNode) -> Duration? {
        guard let milliseconds = line["retry_after_ms"]?.int64, 0...86_400_000 ~= milliseconds else { return nil }
        return .milliseconds(milliseconds)
    }
}
