extension ControlOp {
    static let resolve = ControlOp("resolve", [.entries, .state]) { reader throws(ProtocolError) in
        .resolve(try ResolveRequest(reader))
    }
}

/// `op: resolve`
public struct ResolveRequest: Hashable, Sendable {
    /// The states that a person may set for an entry of unknown outcome.
    static let states: [EntryState] = [.queued, .discarded]
    /// The limit of entries in one request.
    public static let entriesMax = 1000

    /// The entries; `nil`: all entries of unknown outcome.
    public var entries: [EntryNumber]?
    /// `queued` again, or `discarded`.
    public var state: EntryState

    /// Joins the two.
    public init(entries: [EntryNumber]?, state: EntryState) {
        self.entries = entries
        self.state = state
    }
}

extension ResolveRequest {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        self.init(entries: try Self.entries(reader), state: try reader.state(of: Self.states))
    }

    private static func entries(_ reader: ObjectReader) throws(ProtocolError) -> [EntryNumber]? {
        let value = try reader.required(.entries)
        if value.equals("all") { return nil }
        guard value.kind == .array else {
            throw reader.wrongType(.entries, value, wanted: "a list of entry numbers, or \"all\"")
        }
        guard value.count <= Self.entriesMax else {
            throw reader.invalid(.entries, "entries has at most \(Self.entriesMax)")
        }
        return try entryNumbers(reader.node(value).elements, of: .entries)
    }

    func write(to writer: inout JSONWriter) {
        if let entries {
            writer.member("entries", array: { $0.numbers(entries) })
        } else {
            writer.member("entries", "all")
        }
        writer.member("state", state.rawValue)
    }
}

extension ControlOp {
    static let configuration = ControlOp("configuration", [.configuration], readOnly: "configuration") {
        reader throws(ProtocolError) in
        guard let text = try reader.string(.configuration) else { return .configuration(nil) }
        guard let id = ConfigurationID(text) else {
            throw ProtocolError(
                .invalidValue, field: "configuration", message: "the id of a configuration has 16 hexadecimal digits")
        }
        return .configuration(id)
    }
}

/// A configuration that was in force, as far as explanations need it: without comments, and without values that may be
/// secrets.
public struct ConfigurationText: Hashable, Sendable {
    /// The longest text in a reply, in bytes.
    public static let lengthMax = 4 << 20

    /// Its id.
    public var id: ConfigurationID
    /// When it came into force last, if that is known.
    public var since: WallTime?
    /// Whether it is the daemon's last configuration.
    public var isInForce: Bool
    /// Its files (PushSettings: `ConfigurationSources.init(keptText:)`).
    public var text: [UInt8]

    /// Joins the parts.
    public init(id: ConfigurationID, since: WallTime?, isInForce: Bool, text: [UInt8]) {
        (self.id, self.since, self.isInForce, self.text) = (id, since, isInForce, text)
    }

    /// Writes the members of the answer.
    public func write(to reply: inout JSONWriter) {
        reply.member("configuration", id.description)
        reply.member("since", since?.rfc3339)
        reply.member("in_force", isInForce)
        reply.member("files", String(decoding: text, as: UTF8.self))
    }

    /// Reads the answer; `nil` if it is none.
    public init?(_ reply: JSONNode) {
        guard let id = reply["configuration"]?.string.flatMap(ConfigurationID.init),
            let isInForce = reply["in_force"]?.bool, let text = reply["files"]?.string
        else { return nil }
        self.init(
            id: id, since: reply["since"]?.string.flatMap(WallTime.init(rfc3339:)), isInForce: isInForce,
            text: Array(text.utf8))
    }
}

extension ControlOp {
    static let replay = ControlOp("replay", [.requests]) { reader throws(ProtocolError) in
        .replay(try reader.requests())
    }

    static let purge = ControlOp("purge", [.requests]) { reader throws(ProtocolError) in
        .purge(try reader.requests())
    }
}

extension ObjectReader {
    /// The numbers of requests, without repetitions.
    fileprivate func requests() throws(ProtocolError) -> [SequenceNumber] {
        let value = try required(.requests)
        guard value.kind == .array else { throw wrongType(.requests, value, wanted: "a list") }
        guard (1...ControlRequest.Operation.requestsMax).contains(value.count) else {
            throw invalid(.requests, "requests has from 1 to \(ControlRequest.Operation.requestsMax) numbers")
        }
        let elements = node(value).elements
        var numbers: [SequenceNumber] = []
        var known: Set<Int64> = []
        for (index, element) in elements.enumerated() {
            guard let number = element.int64, number > 0 else {
                throw ProtocolError(
                    .invalidValue, field: "requests[\(index)]", message: "a request's number is a whole number above 0")
            }
            if known.insert(number).inserted { numbers.append(SequenceNumber(number)) }
        }
        return numbers
    }
}

extension ControlOp {
    static let erase = ControlOp("erase", [.externalID, .device]) { reader throws(ProtocolError) in
        .erase(try Person(reader))
    }
}

extension Person {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        switch (try reader.name(.externalID), try reader.name(.device)) {
        case (let user?, nil): self.init(externalID: user)
        case (nil, let device?): self.init(externalID: nil, devices: [device])
        case (nil, nil): throw reader.missing(.externalID, ": give external_id or device")
        case (.some, .some): throw reader.invalid(.device, "give external_id or device, not both")
        }
    }

    func write(to writer: inout JSONWriter) {
        if let externalID {
            writer.member("external_id", externalID)
        } else if let device = devices.first {
            writer.member("device", device.text)
        }
    }
}

extension ControlOp {
    static let flush = ControlOp("flush", Target.keys + [.suite]) { reader throws(ProtocolError) in
        .flush(try FlushRequest(reader))
    }
}

/// `op: flush`
public struct FlushRequest: Hashable, Sendable {
    /// The user and the app of the assumed session; the app is mandatory.
    public var target: Target
    /// The suite to flush; `nil`: all suites.
    public var suite: String?

    /// Joins the two.
    public init(target: Target, suite: String? = nil) {
        self.target = target
        self.suite = suite
    }
}

extension FlushRequest {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        _ = try reader.requiredName(.app)
        self.init(target: try Target(reader), suite: try reader.name(.suite))
    }

    func write(to writer: inout JSONWriter) {
        if let platform = target.platform { writer.member("platform", platform.rawValue) }
        if let app = target.app { writer.member("app", app) }
        if let device = target.device { writer.member("device", device) }
        if let user = target.externalID { writer.member("external_id", user) }
        if let suite { writer.member("suite", suite) }
    }
}

extension ControlOp {
    static let logLevel = ControlOp("log_level", [.level], readOnly: "log_level without level") {
        reader throws(ProtocolError) in .logLevel(try reader.name(.level))
    }
}

extension ControlOp {
    static let gatewayRotate = ControlOp("gateway_rotate", [.until]) { reader throws(ProtocolError) in
        guard let end = try reader.time(.until) else { throw reader.missing(.until) }
        return .gatewayRotate(until: end)
    }
}

extension ControlOp {
    static let metrics = ControlOp("metrics", [.format], readOnly: "metrics") { reader throws(ProtocolError) in
        .metrics(try reader.word(.format, MetricsFormat.self) ?? .openMetrics)
    }
}

extension ControlOp {
    static let reload = ControlOp("reload") { _ in .reload }
}

extension ControlOp {
    static let reset = ControlOp("reset", [.suite, .app]) { reader throws(ProtocolError) in
        .reset(suite: try reader.requiredName(.suite), app: try reader.name(.app))
    }
}

extension ControlOp {
    static let status = ControlOp("status", readOnly: "status") { _ in .status }
}

extension ControlOp {
    static let sync = ControlOp("sync", [.timeout], readOnly: "sync") { reader throws(ProtocolError) in
        let timeout = reader[.timeout] == nil ? 10_000 : try reader.integer(.timeout, in: 0...60_000)
        return .sync(timeout: .milliseconds(timeout))
    }
}

/// The state of the ledger, in the answer to a sync.
public struct Synced: Hashable, Sendable {
    /// The id of the state directory.
    public var state: UUID128
    /// Whether the ledger has every batch that was acknowledged before the sync.
    public var isComplete: Bool
    /// The number of acknowledged batches that the ledger does not have yet.
    public var batchesBehind: Int
    /// The bytes of rows in those batches; 0 if unknown.
    public var bytesBehind: Int
    /// The machine that answers, if it follows another one: then the ledger is its copy.
    public var follower: Follower?

    /// A machine that follows another one.
    public struct Follower: Hashable, Sendable {
        /// Its name.
        public var node: String
        /// The machine that leads; `nil` if none does.
        public var leader: String?
        /// The age of the last moment at which its copy was complete.
        public var behind: Duration

        /// Joins the parts.
        public init(node: String, leader: String?, behind: Duration) {
            (self.node, self.leader, self.behind) = (node, leader, behind)
        }
    }

    /// Joins the parts.
    public init(
        state: UUID128, isComplete: Bool, batchesBehind: Int, bytesBehind: Int, follower: Follower? = nil
    ) {
        self.state = state
        self.isComplete = isComplete
        self.batchesBehind = batchesBehind
        self.bytesBehind = bytesBehind
        self.follower = follower
    }
}

extension Synced {
    /// Writes the members of the answer.
    public func write(to reply: inout JSONWriter) {
        reply.member("state", state.description)
        reply.member("complete", isComplete)
        reply.member("batches_behind", batchesBehind)
        reply.member("bytes_behind", bytesBehind)
        guard let follower else { return }
        reply.member("node", follower.node)
        reply.member("leader", follower.leader)
        reply.member("behind_ms", follower.behind.milliseconds)
    }
}

extension ControlReply {
    /// The state of the ledger, in the answer to a sync.
    public func synced() throws(ControlReplyError) -> Synced {
        guard let state = root["state"]?.string.flatMap(UUID128.init(_:)), let isComplete = root["complete"]?.bool,
            let batches = root["batches_behind"]?.int64, let bytes = root["bytes_behind"]?.int64
        else { throw .unreadable("state, complete, batches_behind or bytes_behind is missing") }
        var follower: Synced.Follower?
        if let node = root["node"]?.string, let behind = root["behind_ms"]?.int64 {
            follower = Synced.Follower(node: node, leader: root["leader"]?.string, behind: .milliseconds(behind))
        }
        return Synced(
            state: state, isComplete: isComplete, batchesBehind: Int(batches), bytesBehind: Int(bytes),
            follower: follower)
    }
}
