/// One request line of `control.sock`. `inject.sock` takes none of these ops.
public struct ControlRequest: Hashable, Sendable {
    /// The op, with its values.
    public enum Operation: Hashable, Sendable {
        /// Asks for the daemon's current state.
        case status
        /// Asks for the daemon's counters and measurements, as text for a monitoring system.
        case metrics(MetricsFormat)
        /// Waits until the ledger has every batch that was acknowledged before; the answer comes after the timeout at
        /// the latest.
        case sync(timeout: Duration)
        /// A run of the forwarder claims entries to send.
        case claim(ClaimRequest)
        /// Lists the queued entries after a number, without changing them.
        case peek(after: EntryNumber, limit: Int)
        /// A run of the forwarder is about to send entries that it reserved. The reply has those that it may send.
        case depart(DepartRequest)
        /// A run of the forwarder reports the new states of entries.
        case settle(SettleRequest)
        /// A run of the forwarder reports the state of sending.
        case sending(SendingReport)
        /// Flushes waiting entries, as if a session began.
        case flush(FlushRequest)
        /// Discards the waiting entries of a suite, for one app or for all.
        case reset(suite: String, app: String?)
        /// A person sets the state of entries of unknown outcome.
        case resolve(ResolveRequest)
        /// Accepts the dead letters of these requests again, each under a new number.
        case replay([SequenceNumber])
        /// Drops the dead letters of these requests.
        case purge([SequenceNumber])
        /// Sets the lowest level of journal entries, by systemd's word; `nil` asks for the current level.
        case logLevel(String?)
        /// Reads the configuration again and applies it; the answer says whether it did.
        case reload
        /// Asks for a configuration that was in force, as far as explanations need it; `nil`: the last one.
        case configuration(ConfigurationID?)
        /// Erases a person: a user, or the users of one device.
        case erase(Person)
        /// Records what `pushctl` did without the daemon: the gateway's authority ends at this time.
        case gatewayRotate(until: WallTime)

        /// The limit of requests in `replay` and `purge`.
        public static let requestsMax = 1000
    }

    /// The version of the protocol of `control.sock`, which the first reply on a connection states.
    public static let protocolVersion = 1

    /// The least line limit in bytes: room for a hundred entries with the longest reasons, fully escaped.
    public static let longestLine = 1 << 20

    /// The op, with its values.
    public var operation: Operation
    /// The id, which the reply repeats.
    public var id: String?

    /// Joins the two.
    public init(_ operation: Operation, id: String? = nil) {
        self.operation = operation
        self.id = id
    }
}

extension ControlRequest {
    /// The words of all operations on the socket.
    public static var names: [String] { ControlOp.all.map(\.name) }

    /// Reads a line.
    ///
    /// - Throws: the error for the client, with the request's id if it is readable.
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
        self = try ObjectReader.read(root) { (reader) throws(ProtocolError) in
            do throws(ProtocolError) {
                return ControlRequest(try ControlOp.operation(reader), id: try reader.string(.id))
            } catch {
                var error = error
                error.id = try? reader.string(.id)
                throw error
            }
        }
    }

    /// The request as a line, with its line feed.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            let (op, keys) = operation.onTheWire
            writer.member("op", op.name)
            if let id { writer.member("id", id) }
            keys(&writer)
        }
        return writer.line()
    }

    /// Checks that `read.sock` may take the request.
    ///
    /// - Throws: the error for the client, if the request changes something.
    public func checkReadOnly() throws(ProtocolError) {
        guard !operation.changesNothing else { return }
        let words = ControlOp.all.compactMap(\.readOnly)
        throw ProtocolError(
            .unknownOperation, field: "op",
            message: "read.sock takes \(words.dropLast().joined(separator: ", ")) and \(words.last ?? ""); "
                + "\(operation.name) is for control.sock",
            id: id)
    }
}

extension ControlRequest.Operation {
    /// The word of the op on the socket.
    public var name: String { onTheWire.op.name }

    /// Whether it changes nothing, so that `read.sock` takes it too.
    public var changesNothing: Bool {
        if case .logLevel(.some) = self { false } else { onTheWire.op.readOnly != nil }
    }

    /// The declaration of the op, and the closure that writes its keys.
    fileprivate var onTheWire: (op: ControlOp, keys: (inout JSONWriter) -> Void) {
        switch self {
        case .status: (.status, { _ in })
        case .metrics(let format): (.metrics, { $0.member("format", format.rawValue) })
        case .sync(let timeout): (.sync, { $0.member("timeout_ms", timeout.milliseconds) })
        case .claim(let claim): (.claim, { claim.write(to: &$0) })
        case .peek(let after, let limit):
            (
                .peek,
                {
                    $0.member("after", after.value)
                    $0.member("limit", limit)
                }
            )
        case .depart(let depart): (.depart, { depart.write(to: &$0) })
        case .settle(let settle): (.settle, { settle.write(to: &$0) })
        case .sending(let report): (.sending, { report.write(to: &$0) })
        case .flush(let flush): (.flush, { flush.write(to: &$0) })
        case .reset(let suite, let app):
            (
                .reset,
                {
                    $0.member("suite", suite)
                    if let app { $0.member("app", app) }
                }
            )
        case .resolve(let resolve): (.resolve, { resolve.write(to: &$0) })
        case .replay(let requests): (.replay, { $0.member("requests", array: { $0.requests(requests) }) })
        case .purge(let requests): (.purge, { $0.member("requests", array: { $0.requests(requests) }) })
        case .logLevel(let level): (.logLevel, { if let level { $0.member("level", level) } })
        case .erase(let person): (.erase, { person.write(to: &$0) })
        case .gatewayRotate(let end): (.gatewayRotate, { $0.member("until", end.rfc3339) })
        case .reload: (.reload, { _ in })
        case .configuration(let id): (.configuration, { if let id { $0.member("configuration", id.description) } })
        }
    }
}

/// One op of `control.sock`: its word, its keys and its reader. `ControlOps.swift` and
/// `ForwarderOps.swift` have a type for each, with its writer and its answer.
struct ControlOp: Sendable {
    typealias Operation = ControlRequest.Operation

    /// All ops, in the order in which an error lists them.
    static let all = [
        status, metrics, sync, claim, depart, peek, settle, sending, flush, reset, resolve, replay, purge, erase,
        reload, configuration, logLevel, gatewayRotate,
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
