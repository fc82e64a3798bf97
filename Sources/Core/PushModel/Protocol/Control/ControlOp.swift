/// One op of `control.sock`: its word, its keys and its reader. `Ops` has a file for each, with its writer and its
/// answer.
struct ControlOp: Sendable {
    typealias Operation = ControlRequest.Operation

    /// All ops, in the order in which an error lists them.
    static let all = [
        status, metrics, sync, claim, depart, peek, settle, sending, flush, reset, resolve, replay, purge, erase,
        reload, configuration, logLevel,
    ]

    /// The word of the op on the socket.
    let name: String
    /// The allowed keys.
    let keys: RequestKeys
    /// The op's phrase in the error of `read.sock` that lists its ops; `nil` if `read.sock` refuses the op.
    let readOnly: String?
    private let read: @Sendable (ObjectReader) throws(ProtocolError) -> Operation

    init(
        _ name: String, _ keys: RequestKeys, readOnly: String? = nil,
        _ read: @escaping @Sendable (ObjectReader) throws(ProtocolError) -> Operation
    ) {
        self.name = name
        self.keys = RequestKeys([.op, .id, .at]) + keys
        self.readOnly = readOnly
        self.read = read
    }

    init(
        _ name: String, _ keys: [RequestKey] = [], readOnly: String? = nil,
        _ read: @escaping @Sendable (ObjectReader) throws(ProtocolError) -> Operation
    ) {
        self.init(name, RequestKeys(keys), readOnly: readOnly, read)
    }

    /// Reads the op of a request and its keys.
    static func operation(_ reader: ObjectReader) throws(ProtocolError) -> Operation {
        guard let word = try reader.string(.op) else {
            throw ProtocolError(.missingKey, field: "op", message: "op is missing: \(words)")
        }
        guard let op = all.first(where: { $0.name == word }) else {
            throw ProtocolError(.unknownOperation, field: "op", message: "control.sock takes \(words)")
        }
        try reader.allow(op.keys)
        return try op.read(reader)
    }

    private static var words: String {
        let names = all.map(\.name)
        return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    }
}
