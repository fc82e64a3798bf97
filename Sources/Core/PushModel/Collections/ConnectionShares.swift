/// The connections of a service's clients. At the limit an idle connection makes room for a new one, so that a client
/// with many connections keeps no other client away.
public struct ConnectionShares<Peer: Hashable & Sendable>: Sendable {
    private struct Connection {
        let peer: Peer
        /// When it was opened, or its last request was answered, in monotonic nanoseconds.
        var idleSince: Int64
        /// The number of its requests without an answer, with streams.
        var asked = 0
    }

    private let limit: Int
    private var connections: [UInt64: Connection] = [:]
    private var counts: [Peer: Int] = [:]

    /// - Parameter limit: the most connections at once.
    public init(limit: Int) { self.limit = limit }

    /// The number of connections.
    public var count: Int { connections.count }

    /// The client of a connection.
    public func peer(of key: UInt64) -> Peer? { connections[key]?.peer }

    /// Adds a connection.
    ///
    /// - Returns: the connection that the caller closes for it, taken out here; `nil`: there is room, or none is idle.
    ///   The client with the most connections, of those with an idle one, loses the one that has been idle longest.
    public mutating func open(_ key: UInt64, of peer: Peer, at now: Int64) -> UInt64? {
        let closed = connections.count < limit ? nil : closeIdle()
        connections[key] = Connection(peer: peer, idleSince: now)
        counts[peer, default: 0] += 1
        return closed
    }

    /// Takes out the connection that gives way to others.
    public mutating func closeIdle() -> UInt64? {
        let idle = longestIdle
        if let idle { close(idle) }
        return idle
    }

    /// Takes a connection out.
    public mutating func close(_ key: UInt64) {
        guard let peer = connections.removeValue(forKey: key)?.peer else { return }
        let left = (counts[peer] ?? 0) - 1
        counts[peer] = left > 0 ? left : nil
    }

    /// Notes a whole request on a connection, which is not idle until the answer.
    public mutating func asks(_ key: UInt64) { connections[key]?.asked += 1 }

    /// Notes the answer, or the end of a stream.
    public mutating func answered(_ key: UInt64, at now: Int64) {
        connections[key]?.asked -= 1
        connections[key]?.idleSince = now
    }

    private var longestIdle: UInt64? {
        var best: (key: UInt64, count: Int, since: Int64)?
        for (key, connection) in connections where connection.asked == 0 {
            let (count, since) = (counts[connection.peer] ?? 0, connection.idleSince)
            // Of two that have been idle as long, the lower key is the older connection.
            if let found = best,
                (found.count, -found.since, -Int64(clamping: found.key))
                    >= (count, -since, -Int64(clamping: key))
            {
                continue
            }
            best = (key, count, since)
        }
        return best?.key
    }
}
