import PushModel

/// One request line of `control.sock`: whoever may inject can ask none of it.
public struct ControlRequest: Sendable {
    /// What is asked.
    public enum Operation: String, Sendable, CaseIterable {
        /// What the daemon is doing now.
        case status
    }

    /// What is asked.
    public var operation: Operation
    /// Given back in the reply.
    public var id: String?

    /// Reads a line.
    ///
    /// - Throws: the error that the client is told.
    public init(line: [UInt8]) throws(ProtocolError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(scanning: line)
        } catch {
            throw ProtocolError(error)
        }
        let root = document.root
        guard root.kind == .object else {
            throw ProtocolError(
                .invalidType, message: "a request is one JSON object on one line; this is \(root.kind.name)")
        }
        let reader = ObjectReader(root)
        try reader.allow(["op", "id", "at"])
        id = try reader.string("id")
        guard let name = try reader.string("op") else {
            throw ProtocolError(.missingKey, field: "op", message: "op is missing: status", id: id)
        }
        guard let operation = Operation(rawValue: name) else {
            throw ProtocolError(.unknownOperation, field: "op", message: "control.sock takes status", id: id)
        }
        self.operation = operation
    }
}
