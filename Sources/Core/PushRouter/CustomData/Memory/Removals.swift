import PushModel

/// Entries to be removed from storage together, and the purpose.
struct Removal: Sendable {
    enum Purpose: Sendable {
        /// A session flushes them, by the settings at its beginning.
        indirect case flush(SessionStart, CustomDataRules)
        /// A person discards them.
        case discard
        /// A person has decided about the unknown entries: `queued` again, or `discarded`.
        case resolve(EntryState)

        var isOfUnknown: Bool { if case .resolve = self { true } else { false } }
    }

    var purpose: Purpose
    var entries: EntryRuns
}

/// The removals that have begun, in order. Each is carried out in parts, the next one after its end.
struct Removals: Sendable {
    private var first: Removal?
    private var others = Queue<Removal>()
    /// The number of entries still to be removed.
    private(set) var count = 0
    /// The number of these entries that are unknown until their removal.
    private(set) var unknownCount = 0
    /// The number of removals that have begun.
    private(set) var begun = 0
    /// The number of removals that have ended.
    private(set) var ended = 0

    /// Adds a removal, which has at least one entry.
    mutating func append(_ removal: consuming Removal) {
        begun += 1
        count += removal.entries.count
        if removal.purpose.isOfUnknown { unknownCount += removal.entries.count }
        if first == nil { first = removal } else { others.append(removal) }
    }

    /// Removes the next entry from the oldest removal.
    mutating func popFirst() -> (entry: HeldEntry, purpose: Removal.Purpose)? {
        guard let purpose = first?.purpose, let held = first?.entries.popFirst() else { return nil }
        count -= 1
        if purpose.isOfUnknown { unknownCount -= 1 }
        if first?.entries.count == 0 {
            first = others.popFirst()
            ended += 1
        }
        return (held, purpose)
    }
}
