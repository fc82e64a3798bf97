/// One request line of `control.sock`: whoever may inject can ask none of it.
public struct ControlRequest: Hashable, Sendable {
    /// What is asked.
    public enum Operation: Hashable, Sendable {
        /// What the daemon is doing now.
        case status
        /// What the daemon counts and measures, as text for a monitoring system.
        case metrics(MetricsFormat)
        /// The ledger is to have all that was acknowledged before this was asked; how long the answer may take at most.
        case sync(timeout: Duration)
        /// A run of the forwarder asks for entries to send.
        case claim(ClaimRequest)
        /// What is queued to be sent, from the entry after this one on; it stays as it is.
        case peek(after: EntryNumber, limit: Int)
        /// A run of the forwarder is about to send entries that it reserved. The reply names those that it may send.
        case depart(DepartRequest)
        /// A run of the forwarder says what became of entries.
        case settle(SettleRequest)
        /// A run of the forwarder says how sending goes.
        case sending(SendingReport)
        /// What waits is flushed, as if a session began.
        case flush(FlushRequest)
        /// What waits in a suite is discarded; of one app only, or of all.
        case reset(suite: String, app: String?)
        /// A person decides what becomes of entries of unknown outcome.
        case resolve(ResolveRequest)
        /// The dead letters of these requests are accepted again, each under a new number.
        case replay([SequenceNumber])
        /// The dead letters of these requests are none any more.
        case purge([SequenceNumber])
        /// Which entries the journal gets: from this level up, by systemd's word; `nil`: it is only asked for.
        case logLevel(String?)
        /// The configuration is read again and put in force; the answer says whether it was.
        case reload
        /// A person is to be erased: a user, or whoever used one device.
        case erase(Person)

        /// How many requests one of `replay` and `purge` may name.
        public static let requestsMax = 1000
    }

    /// The version of what `control.sock` takes and tells, as the first reply on a connection states it.
    public static let protocolVersion = 1

    /// How long a line may be at least, in bytes: a hundred entries with the longest of reasons, all of it escaped.
    public static let longestLine = 1 << 20

    /// What is asked.
    public var operation: Operation
    /// Given back in the reply.
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
    /// - Throws: the error that the client is told; it carries the request's id where that could be read.
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

    /// Lets a request of `read.sock` pass.
    ///
    /// - Throws: the error that the client is told of a request that changes something.
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
    /// The word for it on the socket.
    public var name: String { onTheWire.op.name }

    /// Whether it changes nothing, so that `read.sock` takes it too.
    public var changesNothing: Bool {
        if case .logLevel(.some) = self { false } else { onTheWire.op.readOnly != nil }
    }

    /// Its declaration, and what writes its keys.
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
        case .reload: (.reload, { _ in })
        }
    }
}
