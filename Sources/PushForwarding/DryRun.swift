import PushModel

extension ForwardingSettings {
    /// Where requests go; `nil` while there is no `Endpoint=`.
    public var trackURL: String? {
        guard var url = endpoint else { return nil }
        while url.hasSuffix("/") { url.removeLast() }
        return url.hasSuffix("/users/track") ? url : url + "/users/track"
    }

    /// The bodies of the requests in which entries would leave if all were answered at once.
    ///
    /// - Parameter entries: in the order of their numbers.
    public func requestBodies(for entries: [OutgoingEntry]) -> [[UInt8]] {
        var waiting = entries.map { WaitingEntry($0, since: Instant(nanoseconds: 0)) }
        var bodies: [[UInt8]] = []
        while !waiting.isEmpty {
            let batch = Batch(from: waiting, busy: [], settings: self)
            let leaving = Set(batch.entries.map(\.entry.number))
            waiting.removeAll { leaving.contains($0.entry.number) }
            bodies.append(batch.body)
        }
        return bodies
    }
}
