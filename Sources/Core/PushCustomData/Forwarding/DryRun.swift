import PushModel

extension ForwardingSettings {
    /// The bodies of the requests in which entries would leave if each were answered before the next.
    ///
    /// - Parameter entries: in the order of their numbers.
    public func requestBodies(for entries: [OutgoingEntry]) -> [[UInt8]] {
        var rest = entries[...]
        var waiting: [WaitingEntry] = []
        var bodies: [[UInt8]] = []
        while !waiting.isEmpty || !rest.isEmpty {
            let more = rest.prefix(mostHeld - waiting.count)
            rest = rest.dropFirst(more.count)
            waiting += more.map { WaitingEntry($0, since: Instant(nanoseconds: 0)) }
            let batch = Batch(from: waiting, busy: [], settings: self)
            let leaving = Set(batch.entries.map(\.entry.number))
            waiting.removeAll { leaving.contains($0.entry.number) }
            bodies.append(batch.body)
        }
        return bodies
    }
}
