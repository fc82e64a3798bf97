public import PushModel

extension CustomData {
    /// What a run of the forwarder has, sent or not, in order of number.
    public func claimedEntries(of claimant: UUID128) -> [EntryNumber] {
        [claims, reserved].flatMap { $0[claimant].map { Array($0.keys) } ?? [] }.sorted()
    }

    /// Whether something is to be sent.
    public var hasQueuedEntries: Bool { queue.count > 0 }

    /// What is to be sent, from the entry after a number on; it stays as it is. Linear in all that is to be sent.
    ///
    /// - Parameters:
    ///   - number: the entry before; 0 for the first.
    ///   - limit: how many entries at most.
    ///   - bytes: how many bytes of names and values at most; one entry may be longer.
    public func queuedEntries(after number: EntryNumber, limit: Int, bytes: Int) -> [CustomEntry] {
        var (queue, room) = (queue, bytes)
        var entries: [CustomEntry] = []
        while entries.count < limit, let next = queue.popFirst() {
            guard next.number > number else { continue }
            guard entries.isEmpty || next.size <= room else { break }
            room -= next.size
            entries.append(next.entry)
        }
        return entries
    }
}
