import PushModel

/// Entries that leave storage together, and why.
struct Removal: Sendable {
    enum Purpose: Sendable {
        /// A session flushes them, by the rules that held when it began.
        indirect case flush(SessionStart, CustomDataRules)
        /// A person discards them.
        case discard
        /// A person has decided what becomes of those of unknown outcome: `queued` again, or `discarded`.
        case resolve(EntryState)

        var isOfUnknown: Bool { if case .resolve = self { true } else { false } }
    }

    var purpose: Purpose
    var entries: EntryRuns
}

/// The removals that have begun, in that order: one is carried out after the other, some entries at a time.
struct Removals: Sendable {
    private var first: Removal?
    private var others = Queue<Removal>()
    /// How many entries are still to be removed.
    private(set) var count = 0
    /// How many of these are of unknown outcome until then.
    private(set) var unknownCount = 0
    /// How many removals have begun.
    private(set) var begun = 0
    /// How many of them have ended.
    private(set) var ended = 0

    /// Adds one, which has entries.
    mutating func append(_ removal: consuming Removal) {
        begun += 1
        count += removal.entries.count
        if removal.purpose.isOfUnknown { unknownCount += removal.entries.count }
        if first == nil { first = removal } else { others.append(removal) }
    }

    /// Takes the next entry that is to be removed.
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
