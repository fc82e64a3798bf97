public import PushModel

extension CustomData {
    /// Returns the entries that a run of the forwarder holds, sent or not, in order of number.
    public func claimedEntries(of claimant: UUID128) -> [EntryNumber] {
        [claims, reserved].flatMap { $0[claimant].map { Array($0.keys) } ?? [] }.sorted()
    }

    /// The numbers of the entries of unknown outcome, in order, until a person decides about them.
    public var unknownEntries: [EntryNumber] { unknown.numbers }

    /// Whether entries wait to be sent.
    public var hasQueuedEntries: Bool { queue.count > 0 }

    /// Returns the entries to be sent that follow `number`, without removing them.
    ///
    /// - Parameters:
    ///   - number: the entry before; 0 for the first.
    ///   - limit: how many entries at most.
    ///   - bytes: how many bytes of names and values at most; one entry may be longer.
    public func queuedEntries(after number: EntryNumber, limit: Int, bytes: Int) -> [CustomEntry] {
        var room = bytes
        var entries: [CustomEntry] = []
        queue.forEach(after: number) { next in
            guard entries.count < limit, entries.isEmpty || next.size <= room else { return false }
            room -= next.size
            entries.append(next.entry)
            return true
        }
        return entries
    }
}
