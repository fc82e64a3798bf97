public import PushModel

extension EntryRecord {
    /// Writes the entry for programs: one object; times in UTC.
    /// - Parameter now: the time for the entry's age; `nil`: leaves the age out.
    public func write(to writer: inout JSONWriter, now: WallTime? = nil) {
        writer.object { writer in
            writer.member("number", entry.number.value)
            writer.member("seq", entry.cause.value)
            writer.member("kind", entry.kind.rawValue)
            writer.member("state", state.rawValue)
            entry.destination.write(entry.kind, to: &writer)
            writer.member("platform", entry.platform.rawValue)
            writer.member("app", entry.app)
            writer.member("device", entry.device)
            writer.member("external_id", entry.externalID)
            writer.member("name", entry.name)
            writeData(to: &writer)
            writer.member("time", entry.time.rfc3339)
            writer.member("saved_at", entry.savedAt.rfc3339)
            if let now { writer.member("age_ms", now.milliseconds - entry.savedAt.milliseconds) }
            writer.member("settled_at", settledAt?.rfc3339)
            writer.member("settled_by", settledBy?.value)
            writer.member("reason", reason)
            writer.member("reason_code", problem?.code.rawValue)
            writer.member("field", problem?.field)
        }
    }

    /// Writes the data. The data of a rejected entry may be cut and no longer JSON: then it writes a string.
    private func writeData(to writer: inout JSONWriter) {
        if (try? JSONDocument(scanning: entry.data, limits: JSONLimits(depth: .max))) != nil {
            writer.member("data", raw: entry.data)
        } else {
            writer.member("data", String(decoding: entry.data, as: UTF8.self))
        }
    }
}

extension EntryDestination {
    fileprivate func write(_ kind: EntryKind, to writer: inout JSONWriter) {
        switch self {
        case .stored(let suite, let brazeID):
            writer.member("suite", suite)
            writer.member("storage", kind.storageKey)
            if let brazeID { writer.member("braze_id", brazeID) }
        case .sent(let identifier):
            writer.member("suite", String?.none)
            writer.key("to")
            if self == .unidentified { writer.null() } else { writer.object { identifier.write(to: &$0) } }
        }
    }

    /// The suite for people; `nil` for an entry to be sent.
    var suite: String? { if case .stored(let suite, _) = self { suite } else { nil } }
}

extension UserIdentifier {
    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .externalID(let id): writer.member("external_id", id)
        case .brazeID(let id): writer.member("braze_id", id)
        case .alias(let name, let label):
            writer.member(
                "alias",
                object: {
                    $0.member("name", name)
                    $0.member("label", label)
                })
        }
    }

    /// The identifier for people.
    var text: String {
        switch self {
        case .externalID(let id): id
        case .brazeID(let id): "braze_id \(id)"
        case .alias(let name, let label): "alias \(name) (\(label))"
        }
    }
}
