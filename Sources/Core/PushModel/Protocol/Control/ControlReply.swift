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

    /// The entries, for a claim.
    public func claimed() throws(ControlReplyError) -> Claimed {
        guard let list = root["entries"], list.kind == .array else { throw .unreadable("entries is missing") }
        let nodes = list.elements
        var entries: [ClaimedEntry] = []
        entries.reserveCapacity(nodes.count)
        for node in nodes { entries.append(try Self.entry(node)) }
        guard let sending = root["sending"], sending.kind != .null else {
            return Claimed(entries: entries, sending: nil)
        }
        return Claimed(entries: entries, sending: try Self.state(sending))
    }

    /// The entries that may be sent, for a departure.
    public func departed() throws(ControlReplyError) -> [EntryNumber] {
        guard let list = root["entries"], list.kind == .array else { throw .unreadable("entries is missing") }
        let numbers = list.elements.compactMap(\.int64)
        guard numbers.count == list.count else { throw .unreadable("entries has more than numbers") }
        return numbers.map { EntryNumber($0) }
    }

    /// How far the ledger came, for a sync.
    public func synced() throws(ControlReplyError) -> Synced {
        guard let state = root["state"]?.string.flatMap(UUID128.init(_:)), let isComplete = root["complete"]?.bool,
            let batches = root["batches_behind"]?.int64, let bytes = root["bytes_behind"]?.int64
        else { throw .unreadable("state, complete, batches_behind or bytes_behind is missing") }
        return Synced(
            state: state, isComplete: isComplete, batchesBehind: Int(batches), bytesBehind: Int(bytes))
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
            retryAfter: error["retry_after_ms"]?.int64.map { .milliseconds($0) }, id: root["id"]?.string)
    }

    private static func entry(_ node: JSONNode) throws(ControlReplyError) -> ClaimedEntry {
        guard let number = node["number"]?.int64, let kind = node["kind"]?.string.flatMap(EntryKind.init(rawValue:)),
            let identifier = identifier(node), let data = node["data"], data.kind == .object,
            let time = node["time"]?.string.flatMap(WallTime.init(rfc3339:))
        else { throw .unreadable("an entry lacks its number, kind, identifier, data or time") }
        return ClaimedEntry(
            number: EntryNumber(number), kind: kind, identifier: identifier, app: node["app"]?.string,
            name: node["name"]?.string, data: Array(data.rawBytes), time: time)
    }

    private static func identifier(_ node: JSONNode) -> UserIdentifier? {
        if let id = node["external_id"]?.string { return .externalID(id) }
        if let id = node["braze_id"]?.string { return .brazeID(id) }
        guard let name = node["alias"]?["name"]?.string, let label = node["alias"]?["label"]?.string else { return nil }
        return .alias(name: name, label: label)
    }

    private static func state(_ node: JSONNode) throws(ControlReplyError) -> SendingState {
        guard let phase = node["phase"]?.string.flatMap(SendingState.Phase.init(rawValue:)),
            let failures = node["failures"]?.int64,
            let since = node["since"]?.string.flatMap(WallTime.init(rfc3339:))
        else { throw .unreadable("sending lacks its phase, failures or since") }
        return SendingState(
            phase: phase, reason: node["reason"]?.string, failures: Int(failures),
            until: node["until"]?.string.flatMap(WallTime.init(rfc3339:)), since: since)
    }
}

/// How far the ledger came, for a sync.
public struct Synced: Hashable, Sendable {
    /// The id of the state directory.
    public var state: UUID128
    /// Whether the ledger has all that was acknowledged before the sync was asked for.
    public var isComplete: Bool
    /// How many batches are acknowledged and not in the ledger.
    public var batchesBehind: Int
    /// How many bytes of rows they have.
    public var bytesBehind: Int

    /// Joins the parts.
    public init(state: UUID128, isComplete: Bool, batchesBehind: Int, bytesBehind: Int) {
        self.state = state
        self.isComplete = isComplete
        self.batchesBehind = batchesBehind
        self.bytesBehind = bytesBehind
    }
}
