public import PushModel

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

    /// The answer to what changes entries: how many it changed, under a word for the change.
    public static func counted(_ what: String, _ count: Int, id: String?) -> [UInt8] {
        done(id: id) { $0.member(what, count) }
    }

    /// The answer to what has nothing to tell.
    public static func done(id: String?) -> [UInt8] { done(id: id) { _ in } }

    private static func done(id: String?, _ content: (inout JSONWriter) -> Void) -> [UInt8] {
        line { writer in
            writer.member("ok", true)
            if let id { writer.member("id", id) }
            content(&writer)
        }
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
