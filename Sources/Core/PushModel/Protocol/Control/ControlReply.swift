/// Why an answer of the daemon is none that was asked for.
public enum ControlReplyError: Error, Hashable, Sendable {
    /// The daemon refuses the request.
    case refused(ProtocolError)
    /// It is no answer to the request: what is wrong with it.
    case unreadable(String)
}

/// The answer of the daemon to a line of `control.sock`, for whoever sent it.
public struct ControlReply: Sendable {
    /// The whole answer.
    public let root: JSONNode

    /// Reads a line.
    ///
    /// - Throws: what the daemon refuses, and what is no answer at all.
    public init(line: [UInt8]) throws(ControlReplyError) {
        do {
            // Data has the depth that the daemon let pass, inside of the answer's own.
            root = try JSONDocument(scanning: line, limits: JSONLimits(depth: .max)).root
        } catch {
            throw .unreadable(error.message)
        }
        guard let isDone = root["ok"]?.bool else { throw .unreadable("ok is missing") }
        guard isDone else { throw .refused(try Self.refusal(root)) }
    }

    /// How many entries were changed, under its word: `settled`, `flushed`, `discarded`, `resolved`.
    public func count(_ what: String) throws(ControlReplyError) -> Int {
        guard let count = root[what]?.int64 else { throw .unreadable("\(what) is missing") }
        return Int(count)
    }

    private static func refusal(_ root: JSONNode) throws(ControlReplyError) -> ProtocolError {
        guard let error = root["error"], let name = error["code"]?.string, let message = error["message"]?.string,
            let code = ProtocolError.Code(rawValue: name)
        else { throw .unreadable("error is missing") }
        return ProtocolError(
            code, field: error["field"]?.string, message: message,
            retryAfter: error["retry_after_ms"]?.int64.map { .milliseconds($0) }, leader: error["leader"]?.string,
            id: root["id"]?.string)
    }
}
