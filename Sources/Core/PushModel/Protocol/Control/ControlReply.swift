/// The reason why a request to the daemon got no usable answer.
public enum ControlReplyError: Error, Hashable, Sendable {
    /// The daemon refused the request.
    case refused(ProtocolError)
    /// The line is not an answer to the request; the text says why.
    case unreadable(String)
}

/// The answer of the daemon to a line of `control.sock`, as its client reads it.
public struct ControlReply: Sendable {
    /// The whole answer.
    public let root: JSONNode

    /// Reads a line.
    ///
    /// - Throws: `refused` for an error of the daemon, `unreadable` for a line that is not an answer.
    public init(line: [UInt8]) throws(ControlReplyError) {
        do {
            // Without a limit of depth: the data of entries nest as deep as the daemon allowed, inside of the answer's
            // own levels.
            root = try JSONDocument(scanning: line, limits: JSONLimits(depth: .max)).root
        } catch {
            throw .unreadable(error.message)
        }
        guard let isDone = root["ok"]?.bool else { throw .unreadable("ok is missing") }
        guard isDone else { throw .refused(try Self.refusal(root)) }
    }

    /// Returns the number of changed entries, under its key: `settled`, `flushed`, `discarded`, `resolved`.
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
