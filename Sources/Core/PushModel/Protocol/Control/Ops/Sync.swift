extension ControlOp {
    static let sync = ControlOp("sync", [.timeout], readOnly: "sync") { reader throws(ProtocolError) in
        let timeout = reader[.timeout] == nil ? 10_000 : try reader.integer(.timeout, in: 0...60_000)
        return .sync(timeout: .milliseconds(timeout))
    }
}

/// The progress of the ledger: the answer to `op: sync`.
public struct Synced: Hashable, Sendable {
    /// The id of the state directory.
    public var state: UUID128
    /// Whether the ledger has all requests acknowledged before the sync.
    public var isComplete: Bool
    /// The number of batches that are acknowledged but not yet in the ledger.
    public var batchesBehind: Int
    /// The size of their rows in bytes; 0 if unknown.
    public var bytesBehind: Int
    /// The state of this machine if it follows another one, so that its ledger is a copy; otherwise `nil`.
    public var follower: Follower?

    /// A machine that follows another one.
    public struct Follower: Hashable, Sendable {
        /// Its name.
        public var node: String
        /// The name of the leading machine; `nil`: there is none.
        public var leader: String?
        /// The age of the last state in which its copy was complete.
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
    /// The progress of the ledger: the answer to `op: sync`.
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
