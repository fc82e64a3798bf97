/// The reason why a line of the daemon is not the requested answer.
public enum ControlReplyError: Error, Hashable, Sendable {
    /// The daemon refused the request.
    case refused(ProtocolError)
    /// The line is no answer to the request, with the reason.
    case unreadable(String)
}

/// The daemon's answer to a request of `control.sock`, as its sender reads it.
public struct ControlReply: Sendable {
    /// The whole answer.
    public let root: JSONNode

    /// Reads a line.
    ///
    /// - Throws: ``ControlReplyError/refused(_:)`` for a refusal, ``ControlReplyError/unreadable(_:)`` for a malformed
    ///   line.
    public init(line: [UInt8]) throws(ControlReplyError) {
        do {
            // The data of entries may be as deep as the daemon's limit, within the levels of the answer.
            root = try JSONDocument(scanning: line, limits: JSONLimits(depth: .max)).root
        } catch {
            throw .unreadable(error.message)
        }
        guard let isDone = root["ok"]?.bool else { throw .unreadable("ok is missing") }
        guard isDone else { throw .refused(try Self.refusal(root)) }
    }

    /// The number of changed entries under its key: `settled`, `flushed`, `discarded`, `resolved`.
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
