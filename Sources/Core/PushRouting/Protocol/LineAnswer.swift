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
    /// - Throws: why it answers nothing: it is no JSON object, or has no id.
    public init(_ line: [UInt8], toOnly only: Int64? = nil) throws(LineFault) {
        guard let root = try? JSONDocument(scanning: line).root, root.kind == .object else { throw .notAnObject }
        let isLeftOut = root["id"] == nil
        guard let id = isLeftOut ? only : root["id"]?.int64 else { throw .noID }
        self.id = id
        answer = HandlerAnswer(line: root)
        httpStatus = root["http_status"]?.int64.flatMap { 100...599 ~= $0 ? Int($0) : nil }
    }
}

/// Why a line answers nothing.
public enum LineFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no JSON object.
    case notAnObject
    /// It has no id, or one that is no whole number.
    case noID

    /// What is wrong, without the line, which may hold what payloads hold.
    public var description: String {
        switch self {
        case .notAnObject: "a line that is not a JSON object"
        case .noID: "a line without the \"id\" that it answers"
        }
    }
}

extension HandlerAnswer {
    /// What an answer by line says. It must have a status, since there is no exit status to go by.
    fileprivate init(line: JSONNode) {
        var content = Content(answer: line)
        if content.status == .handled, let reason = Self.reason(of: line) { content.remarks.append(reason) }
        switch content.status {
        case .handled: self = .handled(content)
        case .retry: self = .retry(after: Self.retryDelay(of: line), reason: Self.reason(of: line))
        case .declined: self = .declined
        case .rejected: self = .rejected(reason: Self.reason(of: line) ?? "its answer says \"rejected\"")
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

    /// `reason`, where that is a text; its beginning, since it stands in reports.
    private static func reason(of line: JSONNode) -> String? {
        guard let reason = line["reason"]?.string, !reason.isEmpty else { return nil }
        return reason.count <= reasonLength ? reason : reason.prefix(reasonLength) + "..."
    }

    private static let reasonLength = 300
}
