extension Reply {
    /// The answer to a claim.
    public static func claimed(_ claimed: Claimed, id: String?) -> [UInt8] {
        done(id: id) { writer in
            writer.member("entries", array: { list in claimed.entries.forEach { list.entry($0) } })
            writer.key("sending")
            if let sending = claimed.sending {
                writer.object { $0.members(of: sending) }
            } else {
                writer.null()
            }
        }
    }

    /// The answer to a sync.
    public static func synced(_ synced: Synced, id: String?) -> [UInt8] {
        done(id: id) { writer in
            writer.member("state", synced.state.description)
            writer.member("complete", synced.isComplete)
            writer.member("batches_behind", synced.batchesBehind)
            writer.member("bytes_behind", synced.bytesBehind)
        }
    }

    /// The answer to what changes entries: how many it changed, under a word for the change.
    public static func counted(_ what: String, _ count: Int, id: String?) -> [UInt8] {
        done(id: id) { $0.member(what, count) }
    }

    /// The answer to what has nothing to tell.
    public static func done(id: String?) -> [UInt8] { done(id: id) { _ in } }

    /// The same line with the version of what `control.sock` takes and tells: for the first reply on a connection.
    public static func stating(version: Int, _ line: [UInt8]) -> [UInt8] {
        Array(line.dropLast(2)) + Array(#","protocol":\#(version)}"#.utf8) + [UInt8(ascii: "\n")]
    }

    private static func done(id: String?, _ content: (inout JSONWriter) -> Void) -> [UInt8] {
        line { writer in
            writer.member("ok", true)
            if let id { writer.member("id", id) }
            content(&writer)
        }
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

extension JSONWriter {
    /// The members of what is known of sending.
    public mutating func members(of state: SendingState) {
        member("phase", state.phase.rawValue)
        member("reason", state.reason)
        member("failures", state.failures)
        member("until", state.until?.rfc3339)
        member("since", state.since.rfc3339)
    }

    /// The member that says whose profile it is.
    public mutating func member(of identifier: UserIdentifier) {
        switch identifier {
        case .externalID(let id): member("external_id", id)
        case .brazeID(let id): member("braze_id", id)
        case .alias(let name, let label):
            member(
                "alias",
                object: {
                    $0.member("name", name)
                    $0.member("label", label)
                })
        }
    }

    fileprivate mutating func entry(_ entry: ClaimedEntry) {
        object { writer in
            writer.member("number", entry.number.value)
            writer.member("kind", entry.kind.rawValue)
            writer.member(of: entry.identifier)
            if let app = entry.app { writer.member("app", app) }
            if let name = entry.name { writer.member("name", name) }
            writer.member("data", raw: entry.data)
            writer.member("time", entry.time.rfc3339)
        }
    }
}
